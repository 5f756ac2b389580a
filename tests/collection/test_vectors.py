"""The vectors that every client must agree on."""

from __future__ import annotations

import importlib.util
import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from scipy.stats import chi2

from chequered import times
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.channels.read_channel import channel_from_dict, channel_kinds
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.collection.collector import read_batch
from deniable.collection.report_cells import Acceptor
from deniable.collection.session import Session
from deniable.core.randomness import Seeded
from deniable.device import verify as verifying
from deniable.device.channels import KINDS, kind_from_dict
from deniable.device.channels.mixture import MixtureWeights
from deniable.device.epsilon import exp_below
from deniable.device.protocol import messages
from deniable.device.protocol.answer_encoding import Coded, codes_of
from deniable.device.protocol.canonical_json import decode
from deniable.device.protocol.fake_blocks import Block, check, check_chain
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import Attribute, Bins, Choices, Problem, Report, Rule
from deniable.device.protocol.partner import Seeker
from deniable.device.verify import verify
from deniable.errors import InputError, MessageError, PrivacyError, RefusedDesignError
from deniable.extensions.blocks.served_blocks import ServedBlocks
from deniable.extensions.paired.pair_privacy import PairedPrivacy
from deniable.extensions.paired.pairing import Coins

VECTORS = Path(__file__).parent.parent / "vectors"


def load(name):
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def test_the_files_are_what_the_generator_writes():
    spec = importlib.util.spec_from_file_location("generate_vectors", VECTORS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert {name: (VECTORS / name).read_text(encoding="utf-8") for name in generate.files()} == generate.files()


def refusal(read, *given):
    """What is read, and None; or None, and why it was refused."""
    try:
        return read(*given), None
    except RefusedDesignError as error:
        return None, error.code if error.code in str(error) else f"{error.code}, which is not said"


def test_a_design_is_accepted_or_refused_for_the_stated_reason():
    for vector in load("designs.json"):
        found, reason = refusal(verify, vector["body"].encode(), vector["hash"])
        assert reason == vector["reason"], vector["name"]
        if found is not None:
            stated = [Fraction(vector[key]) if key in vector else None for key in ("ratio", "claim", "found")]
            assert [found.ratio, found.claim, found.found_again] == stated, vector["name"]
            if "answers" in vector:
                codes = codes_of(found.asked_coded, found.public_coded, json.loads(vector["answers"]))
                assert codes == vector["codes"], vector["name"]


def test_an_answer_has_the_stated_code_or_none():
    for vector in load("encodings.json"):
        asked, value = vector["attribute"], vector["value"]
        coder = Bins(tuple(asked["coder"]["edges"])) if "edges" in asked["coder"] else Choices()
        rules = (Rule("public", ("a",)),) if asked["ruled"] else ()
        coded = Coded(Attribute("asked", tuple(asked["categories"])), coder, rules)
        is_number = isinstance(value, dict)
        for given in [float(value["number"]), np.float64(value["number"])] if is_number else [value]:
            if vector["code"] is not None:
                assert coded.code(given) == vector["code"], vector
                continue
            with pytest.raises(InputError) as caught:
                coded.code(given)
            shown = value["number"] if is_number else str(value)
            assert len(shown) < 4 or shown in asked["categories"] or shown not in str(caught.value), vector


def test_numbers_of_every_library_have_the_same_code():
    bins = Coded(Attribute("asked", ("a", "b", "c")), Bins(("0.3", "10")))
    for given in (
        5,
        5.0,
        Fraction(5),
        Decimal(5),
        np.int8(5),
        np.uint64(5),
        np.float32(5),
        np.array(5),
        Decimal("5e0"),
    ):
        assert bins.code(given) == 1
    assert [bins.code(Fraction(3, 10)), bins.code(Fraction(299, 1000)), bins.code(Decimal("1e999999"))] == [1, 0, 2]
    for given in (
        float("nan"),
        np.nan,
        Decimal("NaN"),
        Decimal("-Infinity"),
        np.float32("inf"),
        np.array([5]),
        5j,
        b"5",
    ):
        with pytest.raises(InputError):
            bins.code(given)
    texts = Coded(Attribute("asked", ("no", "yes")), Choices())
    assert texts.code(np.str_("yes")) == 1
    flags = Coded(Attribute("asked", (False, True)), Choices())
    assert flags.code(np.True_) == 1


def test_words_fit_the_design_or_are_refused_for_the_stated_reason():
    for vector in load("forms.json"):
        body = vector["design"].encode()
        found, reason = refusal(read_form, vector["body"].encode(), verify(body, messages.design_id(body)))
        assert reason == vector["reason"], vector["name"]
        assert found is None or found.survey == "around", vector["name"]


def test_a_design_beyond_the_size_that_a_device_reads():
    body = b" " * (messages.MOST_DESIGN_BYTES + 1)
    with pytest.raises(RefusedDesignError) as caught:
        verify(body, messages.design_id(body))
    assert caught.value.code == "too-large"


def test_every_reason_in_the_documentation_has_a_vector():
    listed = {line.split("`")[1] for line in verifying.__doc__.splitlines() if line.startswith("`")}
    assert listed == {vector["reason"] for vector in load("designs.json")} - {None} | {"too-large"}


@pytest.mark.parametrize("vector", load("outcomes.json"), ids=lambda vector: json.dumps(vector["channel"])[:50])
def test_draws_make_the_stated_reports(vector):
    channel, kind = channel_from_dict(vector["channel"]), kind_from_dict(vector["channel"])
    assert channel.ratio == kind.ratio == Fraction(vector["ratio"])
    assert channel.inputs == kind.truths
    for truth, draws, report in vector["outcomes"]:
        left = iter(draws)
        assert kind.disguise(truth, lambda _bits, left=left: next(left)) == report
        assert kind.can_be(report)
        assert list(left) == []
    if channel.bits and not channel.is_support:
        truths, draws, reports = zip(*vector["outcomes"], strict=True)
        assert channel.outcome(truths, np.concatenate(draws)).tolist() == list(reports)
    for kept, draws, report in vector.get("resent", []):
        left = iter(draws)
        assert kind.resend(kept, lambda _bits, left=left: next(left)) == report
        assert list(left) == []


def test_every_kind_of_channel_has_outcomes():
    kinds = {vector["channel"]["kind"] for vector in load("outcomes.json")}
    assert {*KINDS} - kinds == {"adaptive", "paired"}  # these have files of their own


SETS = [
    Unary(3, 1.0),
    SubsetSelection(5, 0.5),
    SubsetSelection(4, 0.5, d=3),
    LocalHashing(2, 1.0, g=3),
    HadamardResponse(5, 1.0),
    BlockDesign(9, 1.0, order=3),
    BlockDesign(10, 1.0, order=4),
    TwoLevel(SubsetSelection(4, 1.0), KRR(2, 1.5)),
]


@pytest.mark.parametrize("channel", SETS, ids=lambda channel: channel.name)
def test_a_device_draws_what_a_batch_does(channel):
    # Two samples of the same size from what should be one law: chi-square of their difference, over the reports that
    # come often enough. Of hashes, only which categories they hold is compared: there are more functions than people.
    n, stream, truth = times(20_000, 6_000), Seeded(5).stream(), channel.inputs - 2
    kind = kind_from_dict(channel.to_dict())
    device = np.array([kind.disguise(truth, lambda bits: int(stream.words(1, bits)[0])) for _ in range(n)])
    batch = channel.randomize(np.full(n, truth), source=Seeded(6)).astype(np.int64)
    if isinstance(channel, LocalHashing):
        device, batch = (channel.members(codes)[:, :-1] @ [1, 2] for codes in (device, batch))
    reports, cells = np.unique(np.concatenate([device, batch]), return_inverse=True)
    one, two = np.bincount(cells[:n], minlength=len(reports)), np.bincount(cells[n:], minlength=len(reports))
    often = one + two >= 20
    statistic = ((one - two) ** 2 / np.maximum(one + two, 1))[often].sum()
    assert often.sum() >= 3
    assert chi2.sf(statistic, often.sum()) > 1e-7  # eight channels: below 1e-6 in all


@pytest.mark.parametrize("vector", load("accounts.json"), ids=str)
def test_a_ratio_fits_an_epsilon_or_not(vector):
    assert (Fraction(vector["ratio"]) <= exp_below(float(vector["epsilon"]))) is vector["fits"]


@pytest.mark.parametrize("batched", [False, True])
def test_a_report_is_taken_or_refused_for_the_stated_reason(batched):
    good = load("designs.json")[0]
    design = verify(good["body"].encode(), good["hash"])
    for vector in load("reports.json"):
        assert problem_of(vector["body"].encode(), batched, design) == vector["reason"], vector["name"]


def problem_of(body, batched, design):
    if batched:
        found = read_batch(b"[" + body + b"]")
        (found,) = found if isinstance(found, list) else (found,)
    else:
        try:
            found = decode(body, Report, most=messages.MOST_REPORT_BYTES)
        except MessageError as error:
            found = error
    if isinstance(found, Report):
        if found.design != design.id:
            return "unknown-design"
        found = Acceptor(design, Session()).cell(found)
    return found.code if isinstance(found, Problem | MessageError) else None


# -- blocks and pairs -------------------------------------------------------------------------------------------------

BLOCKS, PAIRS = load("blocks.json"), load("pairs.json")


def design_of(vectors):
    return verify(vectors["design"]["body"].encode(), vectors["design"]["hash"])


def reason_of(action):
    try:
        action()
    except InputError:
        return "malformed"
    except PrivacyError as error:
        return error.details["problem"]
    return None


@pytest.mark.parametrize("vector", BLOCKS["blocks"], ids=lambda vector: vector["name"])
def test_a_block_is_used_or_refused_for_the_stated_reason(vector):
    design = ServedBlocks(design_of(BLOCKS))
    assert reason_of(lambda: check(Block.parse(vector["body"].encode()), design)) == vector["reason"]
    if vector["reason"] is None:
        assert Block.parse(vector["body"].encode()).id == vector["id"]


@pytest.mark.parametrize("vector", BLOCKS["chains"], ids=lambda vector: vector["name"])
def test_a_chain_is_followed_or_refused_for_the_stated_reason(vector):
    blocks = [Block.parse(body.encode()) for body in vector["blocks"]]
    assert reason_of(lambda: check_chain(blocks, ServedBlocks(design_of(BLOCKS)))) == vector["reason"]


def test_every_channel_that_no_device_runs_has_a_vector():
    refused = [json.loads(vector["body"]) for vector in load("designs.json") if vector["reason"] == "unknown-channel"]
    kinds = {question["channel"]["kind"] for design in refused for question in design["plan"]["questions"]}
    assert {*channel_kinds()} - {*KINDS} <= kinds


def test_every_reason_to_refuse_a_block_has_a_vector():
    listed = set(re.findall(r'"([a-z]+)"', f"{check.__doc__} {check_chain.__doc__}"))
    found = {vector["reason"] for vector in [*BLOCKS["blocks"], *BLOCKS["chains"]]} - {None, "malformed"}
    assert listed - found == {"epsilon"}  # what the other rules imply


def test_draws_make_the_stated_reports_in_a_block():
    block = Block.parse(BLOCKS["outcomes"]["block"].encode())
    for place, truth, draw, report in BLOCKS["outcomes"]["rows"]:
        channel = Mixture.from_weights(block.keep[place], block.fakes[place], 32)
        assert channel.outcome(np.array([truth]), np.array([draw], dtype=np.uint32)).tolist() == [report]
        kind = MixtureWeights(block.keep[place], block.fakes[place], 32)
        assert kind.disguise(truth, lambda _bits, draw=draw: draw) == report


def seeker_of(vector):
    seeker = Seeker(design_of(PAIRS))
    seeker._secret = X25519PrivateKey.from_private_bytes(bytes.fromhex(vector["secret"]))
    seeker.key = vector["key"]
    return seeker


@pytest.mark.parametrize("vector", PAIRS["sides"], ids=lambda vector: vector["key"][:8])
def test_two_keys_give_the_stated_sides(vector):
    seeker = seeker_of(vector)
    assert seeker._secret.public_key().public_bytes_raw().hex() == vector["key"]
    assert seeker.sides(vector["partner"]) == vector["sides"]


@pytest.mark.parametrize("vector", PAIRS["alone"], ids=lambda vector: vector["partner"][:8])
def test_a_key_without_a_secret_is_no_partner(vector):
    seen = {tuple(seeker_of(vector).sides(vector["partner"])) for _ in range(200)}
    assert len(seen) == 4  # one of four outcomes is missing after 200 tosses of two coins: below 1e-24


def test_a_coin_and_a_draw_make_the_stated_report():
    kind = design_of(PAIRS).questions[0].channel
    coins = Coins(kind.truthful, kind.shift, kind.bits)
    for truth, draw, side, report in PAIRS["outcomes"]:
        assert kind.beside(truth, lambda _bits, draw=draw: draw, side) == report
        truthful = coins.truthful_at(np.array([side]), np.array([draw], dtype=np.uint32))[0]
        assert (truth if truthful else 1 - truth) == report
    assert {tuple(row[1:3]) for row in PAIRS["outcomes"] if row[0] != row[3]}


@pytest.mark.parametrize("vector", PAIRS["statements"], ids=lambda vector: vector["coin"])
def test_the_four_numbers_of_a_paired_design(vector):
    body = vector["body"].encode()
    channels = [question.channel for question in verify(body, messages.design_id(body)).questions]
    coins = [Coins(channel.truthful, channel.shift, channel.bits) for channel in channels]
    told = PairedPrivacy(tuple((coin.p, coin.d) for coin in coins))
    lines = " ".join(told.lines())
    for key in ("claimed", "partner", "coin"):
        assert vector[key] in lines
    assert told.is_ldp or f"the claimed {vector['claimed']} holds at delta {vector['delta']} only" in lines

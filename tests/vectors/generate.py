"""Write the vectors that every client must agree on: `python tests/vectors/generate.py`, then read the diff.

designs.json: a design's bytes and the hash it was asked for by; accepted (with the exact ratio of its dearest
ballot) or refused (with the reason's code); of some, `answers` and their `codes`. `outcomes.json`: a channel, and which
report some draws, in order, make of a truth; for two levels also what they make of a kept set. `members`: which
categories a report holds. `sums`: how many independent sums of the shares the reports of patterns tell.
`accounts.json`: whether an exact ratio fits into an epsilon. `reports.json`: a body and what a collector makes of it.
`blocks.json`: a design in blocks, and blocks that a device uses or refuses, alone and in a chain. `pairs.json`: the
sides that two keys give to each question, the report of every side and draw, and the numbers of the privacy statement.
`encodings.json`: an attribute with its coder, and the code of an answer, or that it has none. `forms.json`: a design,
and words that fit it or not.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from deniable.channels.bitmask import Bitmask
from deniable.channels.dense import Dense
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.channels.patterns import Patterns
from deniable.channels.read_channel import channel_from_dict
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.some_sets import SomeSets
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.channels.some_truths import SomeTruths
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.device.channels import kind_from_dict
from deniable.device.epsilon import exp_below
from deniable.device.fake_limits import WHOLE, Limits
from deniable.device.privacy_statement import rounded_up
from deniable.device.protocol.answer_encoding import Coded
from deniable.device.protocol.fake_blocks import Block
from deniable.device.protocol.messages import Attribute, Bins, Choices, Rule
from deniable.device.protocol.partner import Seeker
from deniable.device.verify import verify
from deniable.errors import InputError
from deniable.extensions.channels.blockwise import Blockwise
from deniable.extensions.designs.paired import Paired
from deniable.extensions.paired.pairing import Coins

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels.channel import Channel

HERE = Path(__file__).parent

ORIGIN = "https://survey.example.org"


def whole(asked: dict, **more: object) -> dict:
    """A design: what is asked, and everything else that bears on an answer, at its plainest."""
    public = [{"coder": {"kind": "choice"}, "kind": "choice", **each} for each in asked["public"]]
    adaptive = any(question["channel"]["kind"] == "adaptive" for question in asked["plan"]["questions"])
    return {
        **asked,
        "admission": "open",
        "audience": [ORIGIN],
        "blocks": {"size": 100, "update": "pooled"} if adaptive else None,
        "deniability": False,
        "issuer": None,
        "items": [
            {"coder": {"kind": "choice"}, "kind": "choice", "name": each["name"], "show_if": []}
            for each in asked["plan"]["domain"]
        ],
        "panel": None,
        "public": public,
        "published": None,
        "replaces": None,
        "texts": "ab" * 32,
        "version": 3,
        "wave": None,
        "weights": None,
        **more,
    }


GOOD_REGION = {"categories": ["north", "south"], "name": "region"}
ASKED = {
    "epsilon": "2.1",
    "plan": {
        "ballots": [[0, 1], [2]],
        "domain": [
            {"categories": ["no", "yes"], "name": "smokes"},
            {"categories": ["bad", "fair", "good"], "name": "sleep"},
            {"categories": [False, True], "name": "moved"},
        ],
        "format": 1,
        "kind": "design",
        "questions": [
            {"attributes": ["smokes"], "channel": KRR(2, 1.0).to_dict()},
            {"attributes": ["sleep"], "channel": Mixture.from_weights(20000, [20000, 15536, 10000], 16).to_dict()},
            {
                "attributes": ["moved"],
                "channel": {
                    "bits": 32,
                    "columns": [[3 << 30, 1 << 30], [1 << 30, 3 << 30]],
                    "kind": "dense",
                    "name": "coin",
                },
            },
        ],
    },
    "public": [GOOD_REGION],
    "survey": 'vectors é \u2028 "quoted" \\ \u0001',
}
GOOD = whole(ASKED)

LIMITS = {3: Limits.of(3, 1.0, Fraction(1, 2)), 2: Limits.of(2, 1.0, Fraction(1, 2))}
COINS = Coins.of(0.7, -0.1)


def plan(kind: str, questions: dict[str, dict], ballots: list[list[int]]) -> dict:
    """A plan with one question an attribute."""
    return {
        "ballots": ballots,
        "domain": [
            {"categories": ["low", "middle", "high"][:cells], "name": name}
            for name, cells in ((name, channel.get("cells", 2)) for name, channel in questions.items())
        ],
        "format": 1,
        "kind": kind,
        "questions": [{"attributes": [name], "channel": channel} for name, channel in questions.items()],
    }


def adaptive(cells: int) -> dict:
    limits = LIMITS[cells]
    return {"bits": 32, "cells": cells, "kind": "adaptive", "least_fake": limits.floor, "most_kept": limits.keep}


BLOCKS = whole(
    {
        "epsilon": "2",
        "plan": plan("blocks", {"a": adaptive(3), "b": adaptive(2)}, [[0, 1], [0]]),
        "public": [],
        "survey": "blocks",
    }
)
PAIRED = {
    "epsilon": "3.4",
    "plan": plan("paired", {name: {"kind": "paired", **COINS.to_dict()} for name in "ab"}, [[0, 1]]),
    "public": [],
    "survey": "pairs",
}
PAIRS = whole(PAIRED)


_SETS = {
    "drug": Unary(3, 1.0),
    "town": SubsetSelection(5, 1.0),
    "job": LocalHashing(6, 1.0),
    "faith": HadamardResponse(7, 1.0),
    "born": TwoLevel(SubsetSelection(4, 1.0), KRR(2, 0.5)),
    "party": TwoLevel(Unary(3, 0.5), KRR(2, 0.3)),
}


def declared(*repeats: str, people: int = 100_000) -> dict:
    """What makes a design a panel's."""
    return {"admission": "invited", "panel": {"name": "the panel", "people": people, "repeats": list(repeats)}}


def sets(*names: str, repeats: tuple[str, ...] = ()) -> dict:
    """A design that asks these by sets: all on one ballot, the first on another as well."""
    asked = {name: _SETS[name] for name in names}
    return whole(
        {
            "epsilon": "5.5",
            "plan": {
                "ballots": [list(range(len(asked))), [0]] if len(asked) > 1 else [[0]],
                "domain": [
                    {"categories": [f"{name} {v}" for v in range(channel.inputs)], "name": name}
                    for name, channel in asked.items()
                ],
                "format": 1,
                "kind": "design",
                "questions": [{"attributes": [name], "channel": channel.to_dict()} for name, channel in asked.items()],
            },
            "public": [],
            "survey": "sets",
        },
        **(declared(*repeats) if repeats else {}),
    )


SETS = sets(*_SETS, repeats=("born", "party"))
# Numbers in bins, a question that is put to some, ballots of different weights: everything that stands around a plan.
BINNED = {
    "epsilon": "2.2",
    "plan": {
        "ballots": [[0], [1]],
        "domain": [
            {
                "categories": ["< 1.5", "1.5 to < 10", ">= 10", "prefer not to say", "does not apply"],
                "name": "drinks",
            },
            {"categories": ["no", "yes"], "name": "drives"},
        ],
        "format": 1,
        "kind": "design",
        "questions": [
            {"attributes": ["drinks"], "channel": KRR(5, 1.0).to_dict()},
            {"attributes": ["drives"], "channel": KRR(2, 1.0).to_dict()},
        ],
    },
    "public": [
        {"categories": ["under 18", "18 and older"], "name": "age"},
        {"categories": [1, 2, 3], "name": "wave"},
    ],
    "survey": "around",
}
AROUND = whole(
    BINNED,
    items=[
        {
            "coder": {"edges": ["1.5", "10"], "kind": "bins"},
            "kind": "number",
            "name": "drinks",
            "show_if": [{"attribute": "age", "is": ["18 and older"]}, {"attribute": "wave", "is": [1, 3]}],
        },
        {"coder": {"kind": "choice"}, "kind": "yes-no", "name": "drives", "show_if": []},
    ],
    admission="blind",
    issuer="cd" * 32,
    audience=["http://localhost", ORIGIN],
    published="the notice board",
    replaces="ef" * 32,
    wave=2,
    weights=[3, 2],
)


def canonical(message: object) -> str:
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def changed(path: str, value: object, original: dict = GOOD) -> dict:
    """A good design with one thing changed; `path` is keys and positions with dots between."""
    message = copy.deepcopy(original)
    *way, last = [int(step) if step.lstrip("-").isdigit() else step for step in path.split(".")]
    place = message
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return message


def design_vectors() -> list[dict]:  # noqa: PLR0915 - one line a vector
    found = []

    def add(
        name: str,
        body: object,
        reason: str | None,
        *,
        asked_for: str | None = None,
        ratio: str | None = None,
        **more: object,
    ):
        text = body if isinstance(body, str) else canonical(body)
        name_ = asked_for or hashlib.sha256(text.encode()).hexdigest()
        if reason is None and "found" not in more and (share := verify(text.encode(), name_).found_again) is not None:
            more["found"] = _text(share)
        found.append({"name": name, "hash": name_, "body": text, "reason": reason, "ratio": ratio, **more})

    krr, mixture = KRR(2, 1.0).ratio, Fraction(30000, 10000)
    add("good", GOOD, None, ratio=f"{(krr * mixture).numerator}/{(krr * mixture).denominator}")
    add("ballots that overlap", changed("plan.ballots", [[0, 1], [2], [2, 0]]), None, ratio=_text(krr * mixture))
    add("another hash was asked for", GOOD, "wrong-hash", asked_for="0" * 64)
    add("not JSON", canonical(GOOD)[:-1], "malformed")
    add("not a number", canonical(GOOD).replace('"version":3', '"version":NaN'), "malformed")
    add("nested without end", "[" * 5_000, "malformed")
    add("a field is missing", changed("epsilon", ...), "malformed")
    add("a wrong type", changed("plan.questions.0.channel.other", "17626"), "malformed")
    add("a number with a point", canonical(GOOD).replace('"bits":32', '"bits":32.0'), "malformed")
    add("epsilon is not a decimal", changed("epsilon", "2e0"), "malformed")
    add("epsilon is zero", changed("epsilon", "0"), "malformed")
    add("categories of two types", changed("plan.domain.0.categories", ["no", 1]), "malformed")
    add("an unknown version", changed("version", 4), "unknown-version")
    add("version 2", changed("version", 2), "unknown-version")
    add("version 1", {**ASKED, "static": ["smokes"], "version": 1}, "unknown-version")
    add("an unknown format", changed("plan.format", 2), "unknown-version")
    add("an unknown field", changed("expires", 1), "unknown-field")
    add("an unknown field of a channel", changed("plan.questions.0.channel.seed", 7), "unknown-field")
    add("an unknown channel", changed("plan.questions.0.channel.kind", "plain"), "unknown-channel")
    add("white space", json.dumps(GOOD, sort_keys=True, ensure_ascii=False), "not-canonical")
    add("keys in another order", "{" + '"version":3,' + canonical(changed("version", ...))[1:], "not-canonical")
    add("a key twice", canonical(GOOD).replace('"version":3', '"version":3,"version":3'), "not-canonical")
    add("an escape too many", canonical(GOOD).replace('"smokes"', '"smok\\u0065s"'), "not-canonical")
    add("nothing said of a panel", changed("panel", ...), "malformed")
    add("nothing said of public attributes", changed("public", ...), "malformed")
    add("two attributes of one name", changed("plan.domain.1.name", "smokes"), "repeated-name")
    add("public and disguised", changed("public.0.name", "smokes"), "repeated-name")
    add("a category twice", changed("plan.domain.1.categories", ["bad", "bad", "good"]), "repeated-name")
    add("one category", changed("plan.domain.0.categories", ["no"]), "too-few-categories")
    add("an undeclared attribute", changed("plan.questions.0.attributes", ["salary"]), "unknown-attribute")
    add("8-bit draws", changed("plan.questions.0.channel.bits", 8), "wrong-bits")
    add("no draw for the other answer", changed("plan.questions.0.channel.other", 0), "zero-weight")
    add("no draw for the truth", changed("plan.questions.0.channel.other", 1 << 16), "zero-weight")
    add("a negative weight", changed("plan.questions.0.channel.other", -5), "zero-weight")
    add("more draws than there are", changed("plan.questions.0.channel.other", (1 << 16) + 1), "wrong-sum")
    add("a fake that never comes", changed("plan.questions.1.channel.fakes", [20000, 25536, 0]), "zero-weight")
    add("fakes that do not add up", changed("plan.questions.1.channel.fakes", [20000, 15536, 10001]), "wrong-sum")
    add("the truth is never kept", changed("plan.questions.1.channel.keep", 0), "zero-weight")
    add("a zero in a column", changed("plan.questions.2.channel.columns.0", [1 << 32, 0]), "zero-weight")
    add("a column that does not add up", changed("plan.questions.2.channel.columns.0", [1 << 31, 1 << 30]), "wrong-sum")
    add("columns of two lengths", changed("plan.questions.2.channel.columns.1", [1 << 32]), "wrong-sum")
    add("every answer reported alike", changed("plan.questions.0.channel.other", 1 << 15), "tells-nothing")
    add("a channel for more answers", changed("plan.questions.0.channel", KRR(3, 1.0).to_dict()), "wrong-cells")
    add("a ballot without a question", changed("plan.ballots", [[0], []]), "empty-ballot")
    add("a question that is not there", changed("plan.ballots", [[0, 3]]), "unknown-question")
    add("a negative question", changed("plan.ballots", [[-1]]), "unknown-question")
    add("a question twice on a ballot", changed("plan.ballots", [[0, 0]]), "attribute-twice")
    twice = copy.deepcopy(GOOD)
    twice["plan"]["questions"].append({"attributes": ["smokes", "moved"], "channel": KRR(4, 0.5).to_dict()})
    twice["plan"]["ballots"] = [[0, 3]]
    add("an attribute twice on a ballot", twice, "attribute-twice")
    add(
        "an attribute twice in a question",
        changed("plan.questions.0.attributes", ["smokes", "smokes"]),
        "attribute-twice",
    )
    add("more than was promised", changed("epsilon", "1.9"), "epsilon-exceeded")
    add("a hair more than was promised", changed("plan.questions.0.channel.other", 17000), "epsilon-exceeded")
    add_around(add)
    add_unserved(add)
    add_blocks(add)
    add_pairs(add)
    add_sets(add)
    add_planes(add)
    add_patterns(add)
    return found


def add_around(add: Callable[..., None]) -> None:  # noqa: PLR0915 - one line a vector
    """Everything that stands around a plan and bears on an answer."""

    def around(name: str, path: str, value: object, reason: str | None) -> None:
        ratio = None if reason else _text(max(KRR(5, 1.0).ratio, KRR(2, 1.0).ratio))
        add(name, changed(path, value, AROUND), reason, ratio=ratio)

    around("bins, rules, weights and all", "survey", "around", None)
    for text in ("1.5000", "01.5", "1.23456", "1.", ".5", "+1", "1e0", "10000", "2.20"):
        around(f"epsilon written as {text}", "epsilon", text, "malformed")
    for text in ("marked for you", "Joint", "9", "_", "", "a" * 33, "v\u00e9lo", "joint\n", 1, None):
        around(f"a kind of plan called {text!r}", "plan.kind", text, "malformed")
        around(f"a kind of item called {text!r}", "items.0.kind", text, "malformed")
        around(f"a kind of public item called {text!r}", "public.0.kind", text, "malformed")
    strange = changed("plan.kind", "so-far_unknown-2", AROUND)
    for path, kind in (("items.0", "slider"), ("items.1", "traffic-light"), ("public.0", "x"), ("public.1", "a" * 32)):
        strange = changed(f"{path}.kind", kind, strange)
    add(
        "kinds that no device knows",
        strange,
        None,
        ratio=_text(KRR(5, 1.0).ratio),
        answers=canonical({"age": "18 and older", "drinks": 7, "drives": "yes", "wave": 3}),
        codes={"age": 1, "drinks": 1, "drives": 1, "wave": 2},
    )
    around("a coder that nobody knows", "items.0.coder", {"kind": "date"}, "unknown-coder")
    around("a coder without a kind", "items.0.coder", {"edges": ["1"]}, "malformed")
    around("edges of a choice", "items.1.coder", {"edges": ["1"], "kind": "choice"}, "unknown-field")
    around("an edge as a number", "items.0.coder.edges", [1, 10], "malformed")
    around("no edge", "items.0.coder.edges", [], "malformed")
    around("an item too few", "items", AROUND["items"][:1], "wrong-items")
    around("items in another order", "items", AROUND["items"][::-1], "wrong-items")
    around("an item of another name", "items.1.name", "walks", "wrong-items")
    around("what is called a number, by its categories", "items.0.coder", {"kind": "choice"}, None)
    around("what is called a choice, in bins", "items.0.kind", "choice", None)
    for text in ("1.50", "01.5", "-0", "1e1", "+2", " 2", "1,5", "NaN", "2.", "1234567890123456", "0.1234567890123456"):
        around(f"the edge {text}", "items.0.coder.edges", [text, "10"], "wrong-coder")
    around("edges that fall", "items.0.coder.edges", ["10", "1.5"], "wrong-coder")
    around("an edge twice", "items.0.coder.edges", ["10", "10"], "wrong-coder")
    around("edges that only differ as texts", "items.0.coder.edges", ["9", "10"], None)
    around("negative edges", "items.0.coder.edges", ["-10.25", "-10"], None)
    around("399 edges over five categories", "items.0.coder.edges", [str(i) for i in range(399)], "wrong-coder")
    around("an edge too few", "items.0.coder.edges", ["10"], "wrong-coder")
    around("an edge too many", "items.0.coder.edges", ["1", "5", "10"], "wrong-coder")
    around("not answering as a bin", "items.0.coder.edges", ["1", "5", "10", "20"], "wrong-coder")
    around("a rule about a disguised answer", "items.0.show_if.0.attribute", "drives", "wrong-rule")
    around("a rule about nothing", "items.0.show_if.0.attribute", "height", "wrong-rule")
    around("a rule without categories", "items.0.show_if.0.is", [], "wrong-rule")
    around("a rule with a strange category", "items.0.show_if.0.is", ["old"], "wrong-rule")
    around("a rule with a category of another type", "items.0.show_if.1.is", ["1"], "wrong-rule")
    around("a rule with true for 1", "items.0.show_if.1.is", [True], "wrong-rule")
    around("a rule out of order", "items.0.show_if.1.is", [3, 1], "wrong-rule")
    around("a rule with a category twice", "items.0.show_if.1.is", [1, 1], "wrong-rule")
    around("two rules about one attribute", "items.0.show_if.1", AROUND["items"][0]["show_if"][0], "wrong-rule")
    rule = [{"attribute": "age", "is": ["18 and older"]}]
    around("a rule and no way to say that it does not apply", "items.1.show_if", rule, "wrong-rule")
    around("a rule with a field more", "items.0.show_if.0.unless", [], "unknown-field")
    around(
        "a public attribute in bins that do not fit",
        "public.0.coder",
        {"edges": ["9", "18"], "kind": "bins"},
        "wrong-coder",
    )
    bins = {
        "categories": ["< 18", ">= 18"],
        "coder": {"edges": ["18"], "kind": "bins"},
        "kind": "number",
        "name": "age",
    }
    older = changed("public.0", bins, AROUND)
    older["items"][0]["show_if"][0]["is"] = [">= 18"]
    add("a public attribute in bins", older, None, ratio=_text(KRR(5, 1.0).ratio))
    around("an admission that nobody knows", "admission", "friends", "malformed")
    around("blind without an issuer", "issuer", None, "wrong-admission")
    around("an issuer without blind tokens", "admission", "invited", "wrong-admission")
    around("nobody to send it to", "audience", [], "wrong-audience")
    around("an audience out of order", "audience", [ORIGIN, "http://localhost"], "wrong-audience")
    around("an audience twice", "audience", [ORIGIN, ORIGIN], "wrong-audience")
    around("too large an audience", "audience", [f"https://{i:02}.example" for i in range(17)], "wrong-audience")
    for text in (
        "https://Survey.example.org",
        "https://survey.example.org/",
        "https://survey.example.org:443",
        "http://localhost:80",
        "ftp://survey.example.org",
        "https://user@survey.example.org",
        "https://survey.example.org:65536",
        "https://",
        "*",
    ):
        around(f"the audience {text}", "audience", [text], "wrong-audience")
    for text in ("https://survey.example.org:8443", "http://127.0.0.1:8000", "http://[::1]:8000"):
        around(f"the audience {text}", "audience", [text], None)
    around("blocks where there are none", "blocks", {"size": 100, "update": "pooled"}, "wrong-blocks")
    add("blocks without a size", changed("blocks", None, BLOCKS), "wrong-blocks")
    add("blocks of nobody", changed("blocks.size", 0, BLOCKS), "malformed")
    add("blocks in which a report does not hide", changed("blocks.size", 19, BLOCKS), "malformed")
    add("blocks updated in a way that nobody knows", changed("blocks.update", "last", BLOCKS), "malformed")
    around("a weight too few", "weights", [3], "wrong-weights")
    around("a ballot that is never drawn", "weights", [1, 0], "wrong-weights")
    around("a negative weight of a ballot", "weights", [3, -1], "wrong-weights")
    around("weights that are all alike", "weights", [1, 1], "wrong-weights")
    around("weights not in lowest terms", "weights", [6, 4], "wrong-weights")
    around("weights beyond 32 bits", "weights", [(1 << 32) - 2, 1], None)
    around("weights beyond 32 bits in all", "weights", [(1 << 32) - 1, 2], "wrong-weights")
    around("no weights", "weights", None, None)
    around("a wave of nothing", "wave", 0, "malformed")
    around("no words", "texts", None, "malformed")
    around("words without a hash", "texts", "ab", "malformed")
    around("a question on no ballot", "plan.ballots", [[0], [0]], "leftover")
    spare = copy.deepcopy(AROUND)
    spare["plan"]["domain"].append({"categories": ["no", "yes"], "name": "mark"})
    spare["items"].append({"coder": {"kind": "choice"}, "kind": "yes-no", "name": "mark", "show_if": []})
    add("an attribute in no question", spare, "leftover")
    add_repeated(add)
    add_panels(add)
    add("a channel with a name like a letter", changed("plan.questions.2.channel.name", "x" * 101), "leftover")


def many(number: int, channel: Channel, **more: object) -> dict:
    """A design that asks so many questions through one channel, all of them on its ballot."""
    names = [f"q{i}" for i in range(number)]
    return whole(
        {
            "epsilon": "900",
            "plan": {
                "ballots": [list(range(number))],
                "domain": [{"categories": list(range(channel.inputs)), "name": name} for name in names],
                "format": 1,
                "kind": "independent",
                "questions": [{"attributes": [name], "channel": channel.to_dict()} for name in names],
            },
            "public": [],
            "survey": "many",
        },
        **more,
    )


# A wave of a panel: two answers are kept, and one is drawn anew; of so few people that a little more gives them away.
WAVE = many(3, TwoLevelKRR(KRR(2, 1.0), KRR(2, 2.0)), **declared("q0", "q1", people=120))
WAVE["plan"]["questions"][2]["channel"] = KRR(2, 1.0).to_dict()
WAVE["epsilon"] = "3"


def add_panels(add: Callable[..., None]) -> None:  # noqa: PLR0915 - one line a vector
    """What is repeated: declared, through two levels, by people whom nobody finds again."""
    coin, half = KRR(2, 1.0), KRR(2, other=1 << 14, bits=16)
    low = KRR(2, 0.7)
    twice, exact = TwoLevelKRR(coin, low), TwoLevelKRR(coin, half)  # k p = 1.5, exactly
    one, twelve = many(1, exact), many(12, twice)
    q = [f"q{i}" for i in range(12)]
    told = (2 * Fraction(low.keep, 1 << low.bits)) ** 12

    def kept(name: str, design: dict, found: Fraction | None, **more: object) -> None:
        """Accepted, with the share that is found again, or too large a share."""
        message = {**design, **declared(*more.pop("repeats", ["q0"]), **more)}
        questions = message["plan"]["questions"]
        dearest = max(
            math.prod(kind_from_dict(questions[index]["channel"]).ratio for index in ballot)
            for ballot in message["plan"]["ballots"]
        )
        if found is None:
            add(name, message, "pseudonym")
        else:
            add(name, message, None, ratio=_text(dearest), found=_text(found))

    kept("5 in 100 of a panel, exactly", one, Fraction(1, 20), people=30)
    kept("one fewer in the panel", one, None, people=29)
    kept("twelve answers of a panel", twelve, told / 900, people=900, repeats=q)
    kept("twelve answers of too small a panel", twelve, None, people=500, repeats=q)
    kept("a thousand people", one, Fraction(3, 2000), people=1000)
    kept("more people count as a thousand", one, Fraction(3, 2000), people=1001)
    kept("as many people as can be said", one, Fraction(3, 2000), people=(1 << 31) - 1)
    loud = many(12, TwoLevelKRR(coin, KRR(2, 6.0)))
    kept("twelve answers that hardly change, of as many", loud, None, people=(1 << 31) - 1, repeats=q)
    region = {"public": [{"coder": {"kind": "choice"}, "kind": "choice", **GOOD_REGION}]}
    kept("a panel parted by a public attribute", {**one, **region}, Fraction(1, 20), people=60)
    kept("too small a panel, parted by a public attribute", {**one, **region}, None, people=59)
    two = many(2, exact)
    two["plan"]["questions"][1]["channel"] = KRR(2, other=1 << 14, bits=16).to_dict()
    kept("an answer that is kept beside one drawn anew", two, Fraction(9, 4 * 45), people=45)
    kept("an answer drawn anew tells too much", two, None, people=44)
    apart = changed("plan.ballots", [[0], [0, 1]], two)
    kept("a panel's ballots are drawn anew", apart, Fraction(15, 8 * 40), people=40)
    kept("and by their weights", {**apart, "weights": [2, 1]}, Fraction(7, 4 * 35), people=35)
    unary, subset = TwoLevel(Unary(4, 1.0), half), TwoLevel(SubsetSelection(4, 1.0, d=2), half)
    kept("a kept set", many(1, unary), Fraction(81, 16 * 200), people=200)
    # Of the sets of two, one of four, none, one and three turn two, two, one and one bits over.
    chance = (2 * 9 + (4 + 4) * 27 + 6 * 81) / Fraction(256)
    kept("a kept set of two", many(1, subset), chance / 100, people=100)
    kept("a kept set of too few people", many(1, subset), None, people=50)
    for admission, issuer in (("open", None), ("blind", "cd" * 32)):
        message = {**one, **declared("q0"), "admission": admission, "issuer": issuer}
        add(f"a panel under {admission} admission", message, "wrong-panel")
    add("a second level without a panel", one, "wrong-panel")
    add("a second level without a panel, of a set", many(1, unary), "wrong-panel")
    add("an answer repeated as it is", {**many(1, coin), **declared("q0")}, "wrong-panel")
    add("a second level of what is not repeated", {**many(2, exact), **declared("q0")}, "wrong-panel")
    add("a panel that repeats something twice", {**many(2, exact), **declared("q0", "q0")}, "wrong-panel")
    add("a panel out of order", {**many(2, exact), **declared("q1", "q0")}, "wrong-panel")
    add("a panel of an attribute that is not there", {**one, **declared("q0", "salary")}, "wrong-panel")
    add("a panel that repeats nothing", {**one, **declared()}, "malformed")
    add("a panel of nobody", {**one, **declared("q0", people=0)}, "malformed")
    add("a panel of 2^31 people", {**one, **declared("q0", people=1 << 31)}, "malformed")
    add("a panel without a name", changed("panel.name", "", {**one, **declared("q0")}), "malformed")
    add("a mark in a panel", changed("panel.note", "Ada", {**one, **declared("q0")}), "unknown-field")
    pair = many(2, coin)
    pair["plan"]["questions"] = [
        {"attributes": ["q0", "q1"], "channel": TwoLevelKRR(KRR(4, 1.0), KRR(4, 1.0)).to_dict()}
    ]
    pair["plan"]["ballots"] = [[0]]
    add("a question that is repeated in part", {**pair, **declared("q0")}, "wrong-panel")
    both = 4 * Fraction(KRR(4, 1.0).keep, 1 << 16)
    kept("two attributes that are kept together", pair, both / 100, people=100, repeats=["q0", "q1"])
    add("a panel in blocks", {**BLOCKS, **declared("a")}, "wrong-panel")
    add("a panel in pairs", {**PAIRS, **declared("a")}, "wrong-panel")
    where = "plan.questions.0.channel"
    add("a wave of a panel", WAVE, None, ratio=_text(KRR(2, 1.0).ratio ** 3))
    good = {**one, **declared("q0")}
    add("8-bit draws of what is kept", changed(f"{where}.first.bits", 8, good), "wrong-bits")
    add("8-bit draws of what is sent", changed(f"{where}.again.bits", 8, good), "wrong-bits")
    add("a kept answer of sets", changed(f"{where}.first", Unary(2, 1.0).to_dict(), good), "unknown-channel")
    add("more categories are sent than kept", changed(f"{where}.again", KRR(3, 1.0).to_dict(), good), "wrong-cells")
    for level in ("first", "again"):
        add(f"mostly lies ({level})", changed(f"{where}.{level}.other", 40000, good), "tells-nothing")
        add(f"nothing told ({level})", changed(f"{where}.{level}.other", 1 << 15, good), "tells-nothing")
        add(f"no draw for a lie ({level})", changed(f"{where}.{level}.other", 0, good), "zero-weight")
        add(f"a field more ({level})", changed(f"{where}.{level}.seed", 7, good), "unknown-field")
        add(f"a level is missing ({level})", changed(f"{where}.{level}", ..., good), "malformed")


def add_repeated(add: Callable[..., None]) -> None:
    """More than a report can hold."""
    coin = KRR(2, 1.0)
    add("as many answers as a report holds", many(200, coin), None, ratio=_text(coin.ratio**200))
    add("more answers than a report holds", many(201, coin), "too-many")
    public = changed("public", [{**GOOD["public"][0], "name": f"p{i}"} for i in range(201)], GOOD)
    add("more public attributes than a report holds", public, "too-many")
    huge = many(1, coin)
    huge["plan"]["questions"][0]["channel"]["other"] = 10**30
    add("a number beyond 64 bits", huge, "malformed")
    adaptive_ = changed("plan.domain.0.categories", list(range(1025)), BLOCKS)
    adaptive_["plan"]["domain"][1]["categories"] = list(range(1025))
    adaptive_["plan"]["questions"] = [
        {"attributes": ["a", "b"], "channel": {**adaptive(2), "cells": 1025**2, "most_kept": 1, "least_fake": 1}}
    ]
    adaptive_["plan"]["ballots"] = [[0]]
    add("a million possible answers", adaptive_, "wrong-cells")


def add_unserved(add: Callable[..., None]) -> None:
    """Channels that the package has, and that no device runs as they are."""
    bit = KRR(2, 0.5)
    for name, channel in (
        ("a bit mask", Bitmask(2, bit)),
        ("mixtures in blocks", Blockwise([20000], [[25536, 20000]], [10], 16)),
        ("a product of channels", Kronecker([bit])),
        ("part of a channel", SomeTruths(KRR(3, 0.5), [0, 1])),
        ("part of a channel of sets", SomeSets(Unary(3, 0.5), [0, 1])),
    ):
        add(name, changed("plan.questions.0.channel", channel.to_dict()), "unknown-channel")
    with_bits = {**Bitmask(2, bit).to_dict(), "bits": 16}
    add("a bit mask with draws of its own", changed("plan.questions.0.channel", with_bits), "unknown-channel")
    sharp = {"bit": {"bits": 16, "k": 2, "kind": "krr", "other": 0}, "k": 2, "kind": "bitmask"}
    add("a bit mask that hides nothing", changed("plan.questions.0.channel", sharp), "unknown-channel")
    stated = Mixture(Fraction(1, 3), [Fraction(1, 2), Fraction(1, 2)]).to_dict()
    add("stated shares in the place of integers", changed("plan.questions.0.channel", stated), "unknown-field")
    add("stated columns", changed("plan.questions.2.channel.columns", [["3/4", "1/4"], ["1/4", "3/4"]]), "malformed")


def add_blocks(add: Callable[..., None]) -> None:
    ratios = [1 + Fraction(LIMITS[cells].keep, LIMITS[cells].floor) for cells in (3, 2)]
    add("in blocks", BLOCKS, None, ratio=_text(ratios[0] * ratios[1]))
    add("the smallest blocks", changed("blocks.size", 20, BLOCKS), None, ratio=_text(ratios[0] * ratios[1]))
    claim = math.prod(Fraction(WHOLE, WHOLE - LIMITS[cells].keep) for cells in (3, 2))
    deniable = changed("deniability", True, BLOCKS)
    add("blocks that claim deniability", deniable, None, ratio=_text(ratios[0] * ratios[1]), claim=_text(claim))
    add("deniability beyond the true epsilon", changed("epsilon", "1.9", deniable), "epsilon-exceeded")
    add("deniability without blocks", changed("deniability", True), "wrong-blocks")
    add("deniability that is not said", changed("deniability", ..., BLOCKS), "malformed")
    for value in ("true", 1, None):
        add(f"deniability as {value!r}", changed("deniability", value, BLOCKS), "malformed")
    limits = "plan.questions.0.channel."
    add("limits with a point", canonical(BLOCKS).replace('"cells":3', '"cells":3.0'), "malformed")
    add("limits without a floor", changed(limits + "least_fake", ..., BLOCKS), "malformed")
    add("limits with a field more", changed(limits + "keep", 7, BLOCKS), "unknown-field")
    add("blocks of 16 bits", changed(limits + "bits", 16, BLOCKS), "wrong-bits")
    add("a floor of nothing", changed(limits + "least_fake", 0, BLOCKS), "zero-weight")
    add("a negative floor", changed(limits + "least_fake", -5, BLOCKS), "zero-weight")
    add("the truth is never kept in a block", changed(limits + "most_kept", 0, BLOCKS), "zero-weight")
    add("limits for more draws than there are", changed(limits + "most_kept", WHOLE, BLOCKS), "wrong-sum")
    add("limits for other cells", changed(limits + "cells", 2, BLOCKS), "wrong-cells")
    fixed = {"bits": 16, "fakes": [20000, 15536, 10000], "keep": 20000, "kind": "mixture"}
    add("only some channels in blocks", changed("plan.questions.0.channel", fixed, BLOCKS), "unknown-channel")
    add("limits beyond the promise", changed("epsilon", "1.9", BLOCKS), "epsilon-exceeded")
    lower = changed(limits + "least_fake", LIMITS[3].floor - 1000, BLOCKS)
    add("a floor a hair too low", lower, "epsilon-exceeded")


def add_pairs(add: Callable[..., None]) -> None:
    draws, lies = COINS.truthful + COINS.shift, WHOLE - COINS.truthful
    add("in pairs", PAIRS, None, ratio=_text(Fraction(draws, WHOLE - draws) ** 2))
    mixed = changed("plan.questions.0.channel", KRR(2, 1.0).to_dict(), PAIRS)
    add("one question in pairs, one not", mixed, None, ratio=_text(KRR(2, 1.0).ratio * Fraction(draws, WHOLE - draws)))
    coin = "plan.questions.0.channel."
    add("a coin with a field more", changed(coin + "rho", 0, PAIRS), "unknown-field")
    add("a coin as a text", changed(coin + "shift", "7", PAIRS), "malformed")
    add("a coin of 8 bits", changed(coin + "bits", 8, PAIRS), "wrong-bits")
    add("the corner", changed(coin + "shift", lies, PAIRS), "zero-weight")
    add("beyond the corner", changed(coin + "shift", lies + 1, PAIRS), "wrong-sum")
    add("a coin that moves backwards", changed(coin + "shift", -1, PAIRS), "wrong-sum")
    add("more truths than draws", changed(coin + "truthful", WHOLE + 1, PAIRS), "wrong-sum")
    add("half of it lies", changed(coin + "truthful", WHOLE // 2, PAIRS), "tells-nothing")
    three = changed("plan.domain.0.categories", ["no", "yes", "perhaps"], PAIRS)
    add("a coin for three answers", three, "wrong-cells")
    add("the coin is not paid for", changed("epsilon", "3.3", PAIRS), "epsilon-exceeded")


def add_sets(add: Callable[..., None]) -> None:  # noqa: PLR0915 - one line a vector
    whole = 1 << 16
    add("sets of every kind", SETS, None, ratio=_text(math.prod(channel.ratio for channel in _SETS.values())))

    def each(name: str, places: list[int], path: str, value: object, reason: str) -> None:
        for place in places:
            kind = list(_SETS.values())[place].to_dict()["kind"]
            add(f"{name} ({kind})", changed(f"plan.questions.{place}.channel.{path}", value, SETS), reason)

    unary, subset, hashing, hadamard, kept_subset, kept_unary = range(6)
    plain, wide = [unary, subset, hadamard], "plan.questions.0.channel"
    for name in ("drug", "town", "job", "faith"):
        add(f"a set repeated as it is ({name})", {**sets(name), **declared(name)}, "wrong-panel")
        add(f"a set each time anew ({name})", sets(name), None, ratio=_text(_SETS[name].ratio))
    add("more than sets were promised", changed("epsilon", "5.4", SETS), "epsilon-exceeded")
    each("8-bit draws", plain, "bits", 8, "wrong-bits")
    each("8-bit draws inside", [hashing], "value.bits", 8, "wrong-bits")
    each("8-bit draws of the kept set", [kept_subset, kept_unary], "first.bits", 8, "wrong-bits")
    each("8-bit draws each time", [kept_subset], "again.bits", 8, "wrong-bits")
    each("a text for a number", [*plain, hashing], "k", "3", "malformed")
    each("a number is missing", plain, "bits", ..., "malformed")
    each("no channel of the value", [hashing], "value", ..., "malformed")
    each("a list for the channel of the value", [hashing], "value", [], "malformed")
    each("no kept set", [kept_subset], "first", ..., "malformed")
    each("no kind of kept set", [kept_subset], "first.kind", ..., "malformed")
    each("no kind of coin", [kept_subset], "again.kind", ..., "not-canonical")
    each("no kind of value", [hashing], "value.kind", ..., "not-canonical")
    each("a field more", [*plain, hashing, kept_unary], "seed", 7, "unknown-field")
    each("a field more inside", [hashing], "value.seed", 7, "unknown-field")
    each("draws of its own", [hashing, kept_unary], "bits", 16, "unknown-field")
    each("a value through sets", [hashing], "value", Unary(3, 1.0).to_dict(), "unknown-channel")
    each("a value of another kind", [hashing], "value.kind", "hadamard", "unknown-channel")
    each("categories that are kept", [kept_subset], "first", KRR(4, 1.0).to_dict(), "unknown-channel")
    each("hashes that are kept", [kept_subset], "first", LocalHashing(4, 1.0).to_dict(), "unknown-channel")
    each("a set kept twice", [kept_subset], "first", _SETS["born"].to_dict(), "unknown-channel")
    each("another kind of coin", [kept_subset], "again.kind", "unary", "unknown-channel")
    each("one category", [*plain, hashing], "k", 1, "wrong-cells")
    each("categories too many", [unary, subset, hashing], "k", 8, "wrong-cells")
    each("a category too few", [hadamard], "k", 6, "wrong-cells")
    each("sets of 54 categories", [unary, subset], "k", 54, "wrong-cells")
    each("a kept set of 54 categories", [kept_subset, kept_unary], "first.k", 54, "wrong-cells")
    each("more categories than there are residues", [hashing], "k", 65538, "wrong-cells")
    each("more categories than there are rows", [hadamard], "k", 1 << 20, "wrong-cells")
    each("sets of nothing", [subset], "d", 0, "wrong-cells")
    each("sets of everything", [subset], "d", 5, "wrong-cells")
    each("one hash value", [hashing], "value.k", 1, "wrong-cells")
    each("32 hash values", [hashing], "value", KRR(32, 1.0).to_dict(), "wrong-cells")
    each("a coin with three sides", [kept_subset], "again", KRR(3, 1.0).to_dict(), "wrong-cells")
    each("the truth is never in it", [unary, subset], "own", 0, "zero-weight")
    each("the truth is always in it", [unary, subset], "own", whole, "zero-weight")
    each("no other is ever in it", [unary, hadamard], "other", 0, "zero-weight")
    each("every other is always in it", [unary], "other", whole, "zero-weight")
    each("a negative weight", [unary, hadamard], "other", -5, "zero-weight")
    each("only disliked columns", [hadamard], "other", 2 * whole // 8, "zero-weight")
    each("the hash is never changed", [hashing], "value.other", 0, "zero-weight")
    each("no bit is ever turned over", [kept_subset], "again.other", 0, "zero-weight")
    each("more draws than there are", [unary, subset], "own", whole + 1, "wrong-sum")
    each("more draws for others than there are", [unary, hadamard], "other", whole + 1, "wrong-sum")
    each("more draws for a bit than there are", [kept_unary], "again.other", whole + 1, "wrong-sum")
    each("all alike", [unary], "other", _SETS["drug"].own, "tells-nothing")
    each("every column alike", [hadamard], "other", whole // 8, "tells-nothing")
    each("mostly disliked columns", [hadamard], "other", whole // 8 + 1, "tells-nothing")
    even = {"bits": 16, "d": 2, "k": 4, "kind": "subset", "own": whole // 2}
    each("every set alike", [kept_subset], "first", even, "tells-nothing")
    each("a fair coin", [kept_subset], "again.other", whole // 2, "tells-nothing")
    each("a coin that mostly turns over", [kept_subset], "again.other", whole // 2 + 1, "tells-nothing")
    most = {"bits": 16, "k": 3, "kind": "krr", "other": whole // 3 + 1}
    each("hashes that are mostly changed", [hashing], "value", most, "tells-nothing")
    rare = changed(wide, {**_SETS["drug"].to_dict(), "other": _SETS["drug"].own, "own": _SETS["drug"].other}, SETS)
    add("the truth is the rarer member", rare, None, ratio=_text(math.prod(c.ratio for c in _SETS.values())))
    hair = {**_SETS["drug"].to_dict(), "other": _SETS["drug"].other - 12000}
    add("sets a hair too clear", changed(wide, hair, SETS), "epsilon-exceeded")


_PLANE = BlockDesign(9, 1.0, order=3)
PLANE = whole(
    {
        "epsilon": "1",
        "plan": {
            "ballots": [[0]],
            "domain": [{"categories": [f"party {v}" for v in range(9)], "name": "party"}],
            "format": 1,
            "kind": "design",
            "questions": [{"attributes": ["party"], "channel": _PLANE.to_dict()}],
        },
        "public": [],
        "survey": "plane",
    }
)


def add_planes(add: Callable[..., None]) -> None:
    whole, where = 1 << 16, "plan.questions.0.channel"

    def plane(name: str, field: str, value: object, reason: str) -> None:
        add(f"{name} (block_design)", changed(f"{where}.{field}", value, PLANE), reason)

    add("a line of a plane", PLANE, None, ratio=_text(_PLANE.ratio))
    add("a line repeated as it is", {**PLANE, **declared("party")}, "wrong-panel")
    rare = {**_PLANE.to_dict(), "own": whole - 3 * (whole // 4)}
    add("lines through the truth are the rarer ones", changed(where, rare, PLANE), None, ratio=_text(_rarer(rare)))
    add("a line a hair too clear", changed(f"{where}.own", _PLANE.own + 1, PLANE), "epsilon-exceeded")
    plane("8-bit draws", "bits", 8, "wrong-bits")
    plane("a text for a number", "own", "3", "malformed")
    plane("a number is missing", "own", ..., "malformed")
    plane("a field more", "q", 3, "unknown-field")
    plane("one point", "k", 1, "wrong-cells")
    plane("less than no point", "k", -9, "wrong-cells")
    plane("no square", "k", 8, "wrong-cells")
    plane("the square of no prime", "k", 16, "wrong-cells")
    plane("a plane too large", "k", 101**2, "wrong-cells")
    plane("another plane", "k", 4, "wrong-cells")
    plane("never through the truth", "own", 0, "zero-weight")
    plane("always through the truth", "own", whole, "zero-weight")
    plane("a negative weight", "own", -5, "zero-weight")
    plane("more draws than there are", "own", whole + 1, "wrong-sum")
    even = {"bits": 16, "k": 4, "kind": "block_design", "own": whole // 2}
    four = changed("plan.domain.0.categories", ["a", "b", "c", "d"], PLANE)
    add("every line alike (block_design)", changed(where, even, four), "tells-nothing")
    space = {**BlockDesign(9, 1.0, order=4).to_dict()}
    add("a part of a plane over four elements", changed(where, space, PLANE), None, ratio=_text(_ratio(space)))
    over = changed(where, space, PLANE)

    def part(name: str, field: str, value: object, reason: str) -> None:
        add(f"{name} (block_design)", changed(f"{where}.{field}", value, over), reason)

    part("an order that no field has", "order", 6, "wrong-cells")
    part("a plane written with its order", "order", 3, "wrong-cells")
    part("an order too large", "order", 521, "wrong-cells")
    part("no order", "order", 0, "malformed")
    part("nothing for an order", "order", None, "malformed")
    part("a negative order", "order", -4, "malformed")
    part("a text for an order", "order", "4", "malformed")
    part("two points", "k", 2, "wrong-cells")
    part("a space too large", "k", (1 << 22) + 1, "wrong-cells")
    part("an order a hair too clear", "own", space["own"] + 20, "epsilon-exceeded")
    wide = LocalHashing(9, 1.0, g=40).to_dict()
    add("forty hash values", changed(where, wide, PLANE), None, ratio=_text(LocalHashing(9, 1.0, g=40).ratio))
    for name, prime in (("no prime", 4), ("a prime too large", 65539), ("a prime that leaves no room", 65537)):
        add(f"{name} (hashing)", changed(f"{where}.prime", prime, changed(where, wide, PLANE)), "wrong-cells")
    add("a prime too small (hashing)", changed(f"{where}.prime", 7, changed(where, wide, PLANE)), "wrong-cells")
    few = LocalHashing(9, 1.0, g=4).to_dict()
    add("a prime that goes without saying", changed(where, {**few, "prime": 65537}, PLANE), "wrong-cells")


def _ratio(fields: dict) -> Fraction:
    return channel_from_dict(fields).ratio


def _rarer(fields: dict) -> Fraction:
    return BlockDesign.from_integers(fields["k"], fields["own"], fields["bits"]).ratio


_MEAN = Patterns(5, [[0, 1], [3, 4], [2]], [8000, 8000, 5000], [21000, 21000, 13000], 16)  # some sums of five shares
PATTERNS = whole(
    {
        "epsilon": "1",
        "plan": {
            "ballots": [[0], [1]],
            "domain": [
                {"categories": [f"{v} times" for v in range(5)], "name": "often"},
                {"categories": ["no", "yes"], "name": "ever"},
            ],
            "format": 1,
            "kind": "optimal",
            "questions": [
                {"attributes": ["often"], "channel": _MEAN.to_dict()},
                {"attributes": ["ever"], "channel": KRR(2, 1.0).to_dict()},
            ],
        },
        "public": [],
        "survey": "patterns",
    }
)


def add_patterns(add: Callable[..., None]) -> None:
    where, good = "plan.questions.0.channel", changed("weights", [3, 1], PATTERNS)
    dearest = _text(max(_MEAN.ratio, KRR(2, 1.0).ratio))

    def pattern(name: str, field: str, value: object, reason: str | None) -> None:
        add(f"{name} (patterns)", changed(f"{where}.{field}", value, good), reason, ratio=None if reason else dearest)

    add("patterns, on ballots of different weights", good, None, ratio=dearest)
    add("patterns, on ballots drawn alike", PATTERNS, None, ratio=dearest)
    add("a pattern repeated as it is", {**good, **declared("often")}, "wrong-panel")
    add("weights that have a factor in common", changed("weights", [6, 2], good), "wrong-weights")
    add("weights that are all the same", changed("weights", [1, 1], good), "wrong-weights")
    add("a ballot that is never drawn", changed("weights", [3, 0], good), "wrong-weights")
    add("more weights than ballots", changed("weights", [3, 1, 1], good), "wrong-weights")
    # The patterns rise: 3 is {0, 1}, 4 is {2}, 18 is {3, 4}.
    pattern("8-bit draws", "bits", 8, "wrong-bits")
    pattern("a text for a number", "low.0", "3", "malformed")
    pattern("a number for a pattern", "large.0", 3, "malformed")
    pattern("the weights are missing", "low", ..., "malformed")
    pattern("a field more", "rest", [1, 1, 1, 1, 1], "unknown-field")
    pattern("one truth", "k", 1, "wrong-cells")
    pattern("less than no truth", "k", -5, "wrong-cells")
    pattern("truths beyond the largest", "k", 257, "wrong-cells")
    pattern("more truths than answers", "k", 6, "wrong-cells")
    pattern("an empty pattern", "large.0", "0", "wrong-cells")
    pattern("no pattern", "large.0", "", "wrong-cells")
    pattern("a pattern of all", "large.2", "1f", "wrong-cells")
    pattern("a truth that is none", "large.2", "20", "wrong-cells")
    pattern("a pattern with a zero in front", "large.0", "03", "wrong-cells")
    pattern("a pattern in large letters", "large.2", "1B", "wrong-cells")
    pattern("a pattern with a sign", "large.2", "+8", "wrong-cells")
    pattern("patterns out of order", "large", ["4", "3", "18"], "wrong-cells")
    pattern("a pattern twice", "large", ["3", "3", "18"], "wrong-cells")
    pattern("a pattern without weights", "large", ["3", "4", "8", "18"], "wrong-sum")
    pattern("a weight without a pattern", "high", [21000, 13000, 21000, 9], "wrong-sum")
    add(
        "no patterns at all (patterns)",
        changed(where, {**_MEAN.to_dict(), "large": [], "low": [], "high": []}, good),
        "wrong-sum",
    )
    pattern("no draw for other truths", "low.0", 0, "zero-weight")
    pattern("a negative weight", "low.0", -8000, "zero-weight")
    pattern("a report that comes alike", "high.0", 8000, "tells-nothing")
    pattern("a report that is rarer for its pattern", "high.0", 7000, "tells-nothing")
    pattern("more draws than there are", "high.0", 65536, "wrong-sum")
    pattern("draws that no truth has left", "high.0", 53000, "wrong-sum")
    pattern("a remainder that rules truths out", "high.0", 65536 - 13000, "zero-weight")
    pattern("a pattern a hair too clear", "high.1", 13592, "epsilon-exceeded")
    unlike = Patterns(5, [[0], [0, 1]], [10000, 10000], [27000, 27000], 16)  # its rows keep epsilon, the remainder not
    add("a remainder that is too clear (patterns)", changed(where, unlike.to_dict(), good), "epsilon-exceeded")


# -- blocks -----------------------------------------------------------------------------------------------------------


def block_vectors() -> dict:
    body = canonical(BLOCKS)
    design = verify(body.encode(), hashlib.sha256(body.encode()).hexdigest())
    keep = tuple(LIMITS[cells].keep for cells in (3, 2))
    even = tuple(LIMITS[cells].start for cells in (3, 2))
    plan_ = design.plan_id
    first = Block(plan_, 0, plan_, keep, even)
    spare = even[0][2] - LIMITS[3].floor
    second = Block(plan_, 1, first.id, keep, ((even[0][0] + spare, even[0][1], even[0][2] - spare), even[1]))
    text = first.canonical().decode()

    def block(number: int, kept: int, *fakes: int) -> str:
        """The first block, with other integers for one of its questions."""
        keeps, rows = list(keep), list(even)
        keeps[number], rows[number] = kept, fakes
        return Block(plan_, 0, plan_, tuple(keeps), tuple(rows)).canonical().decode()

    a, b, c = even[0]
    singles: list[tuple[str, str, str | None]] = [
        ("good", text, None),
        ("good, the rarest fake at the floor", second.canonical().decode(), None),
        ("good, the truth kept less often", block(0, keep[0] - 9, a + 9, b, c), None),
        ("good, in another order", json.dumps(dict(sorted(json.loads(text).items()))), None),
        ("good, without its format", text.replace(',"format":1', ""), None),
        ("not JSON", text[:-1], "malformed"),
        ("an unknown format", text.replace('"format":1', '"format":2'), "malformed"),
        ("an unknown field", text.replace('"format":1', '"format":1,"note":1'), "malformed"),
        ("a field is missing", text.replace(f'"previous":"{plan_}",', ""), "malformed"),
        ("a wrong type", text.replace('"index":0', '"index":"0"'), "malformed"),
        ("a number with a point", text.replace(str(a), f"{a}.0", 1), "malformed"),
        ("for another design", text.replace(f'"design":"{plan_}"', f'"design":"{"0" * 64}"'), "design"),
        ("a question too few", Block(plan_, 0, plan_, keep[:1], even[:1]).canonical().decode(), "questions"),
        ("keeps for a question more", text.replace('"keep":[', '"keep":[7,'), "questions"),
        ("a fake too few", block(0, keep[0], a + c, b), "questions"),
        ("no fake at all", block(0, keep[0]), "questions"),
        ("a fake that never comes", block(0, keep[0], a + c, b, 0), "zero"),
        ("a negative fake", block(0, keep[0], a + c + 5, b, -5), "zero"),
        ("draws that do not add up", block(0, keep[0], a + 1, b, c), "sum"),
        ("the truth is never kept", block(0, 0, a + keep[0], b, c), "sum"),
        ("the truth kept too often", block(1, keep[1] + 1, even[1][0] - 1, even[1][1]), "keep"),
        ("a fake below the floor", block(0, keep[0], a + spare + 1, b, c - spare - 1), "floor"),
    ]
    third = Block(plan_, 2, second.id, keep, even)
    other = Block(plan_, 1, first.id, keep, even)
    chains: list[tuple[str, list[Block], str | None]] = [
        ("three in a row", [first, second, third], None),
        ("the first is missing", [second, third], "chain"),
        ("one is left out", [first, third], "chain"),
        ("one was exchanged", [first, other, third], "chain"),
        ("the first follows something else", [Block(plan_, 0, "0" * 64, keep, even)], "chain"),
        ("the second breaks the bound", [first, Block(plan_, 1, first.id, keep, (even[0], even[0]))], "questions"),
    ]
    rows = []
    for place, start in enumerate([second.fakes[0], second.fakes[1]]):
        channel = Mixture.from_weights(keep[place], start, 32)
        edges = sorted({draw for first_, end, _ in channel.intervals(0) for draw in (first_, end - 1)})
        truths = np.repeat(np.arange(channel.inputs), len(edges))
        draws = np.tile(np.array(edges, dtype=np.uint32), channel.inputs)
        reports = channel.outcome(truths, draws)
        rows += [[place, *row] for row in zip(truths.tolist(), draws.tolist(), reports.tolist(), strict=True)]
    return {
        "design": {"hash": design.id, "plan": plan_, "body": body},
        "blocks": [
            {"name": name, "body": body_, "reason": reason, "id": None if reason else Block.parse(body_.encode()).id}
            for name, body_, reason in singles
        ],
        "chains": [
            {"name": name, "blocks": [block_.canonical().decode() for block_ in blocks], "reason": reason}
            for name, blocks, reason in chains
        ],
        "outcomes": {"block": second.canonical().decode(), "rows": rows},
    }


# -- pairs ------------------------------------------------------------------------------------------------------------


def pair_vectors() -> dict:
    body = canonical(PAIRS)
    design = verify(body.encode(), hashlib.sha256(body.encode()).hexdigest())
    seekers = []
    for number in range(1, 7):
        seeker = Seeker.__new__(Seeker)
        secret = hashlib.sha256(b"vector %d" % number).digest()
        seeker._design, seeker._secret = design, X25519PrivateKey.from_private_bytes(secret)
        seeker.key = seeker._secret.public_key().public_bytes_raw().hex()
        seekers.append((secret.hex(), seeker))
    sides = [
        {"secret": secret, "key": one.key, "partner": two.key, "sides": one.sides(two.key)}
        for place, (secret, one) in enumerate(seekers)
        for _, two in [seekers[place ^ 1]]
    ]
    secret, one = seekers[0]
    # Nobody to share a coin with: a key of small order, and a mirror.
    alone = [{"secret": secret, "key": one.key, "partner": key} for key in ("00" * 32, "01" + "00" * 31, one.key)]
    edges = [COINS.truthful + step * COINS.shift + near for step in (-1, 0, 1) for near in (-1, 0)]
    outcomes = [
        [
            truth,
            draw,
            side,
            truth if COINS.truthful_at(np.array([side]), np.array([draw], dtype=np.uint32))[0] else 1 - truth,
        ]
        for truth in (0, 1)
        for draw in [0, *edges, WHOLE - 1]
        for side in (1, -1)
    ]
    statements = []
    for p, rho, names in ((0.7, -0.1, "ab"), (0.6, -0.3, "a"), (0.9, -0.05, "abc"), (0.51, 0.0, "a")):
        coins = Coins.of(p, rho)
        privacy = Paired({name: ["low", "middle"] for name in names}, p, rho).privacy
        asked = {name: {"kind": "paired", **coins.to_dict()} for name in names}
        ballots = [list(range(len(names)))]
        message = whole({**PAIRED, "epsilon": "50", "plan": plan("paired", asked, ballots)})
        told = privacy.claimed_epsilon, privacy.partner_epsilon, privacy.epsilon
        claimed, partner, coin = (f"{math.ceil(number * 1e4) / 1e4:.4f}" for number in told)
        statements.append(
            {
                "body": canonical(message),
                "claimed": claimed,
                "partner": partner,
                "coin": coin,
                "delta": rounded_up(privacy.server_delta),
            }
        )
    return {
        "design": {"hash": design.id, "body": body},
        "sides": sides,
        "alone": alone,
        "outcomes": outcomes,
        "statements": statements,
    }


def outcome_vectors() -> list[dict]:
    channels = [
        KRR(2, 1.0),
        KRR(5, 0.5),
        KRR(3, other=1000000000, bits=32),
        KRR(300, 2.0),
        Mixture.from_weights(20000, [20000, 15536, 10000], 16),
        Mixture.from_weights(1 << 30, [1 << 30, 1 << 31], 32),
        Dense.from_weights([[40000, 10000], [20000, 15536], [5536, 40000]], 16, name="three reports"),
        Dense.from_weights([[3 << 30, 1 << 30], [1 << 30, 3 << 30]], 32, name="coin"),
        _MEAN,
        Patterns(2, [[0], [1]], [17626, 17626], [47910, 47910], 16),
        Patterns(70, [[v, v + 35] for v in range(35)], [1 << 25] * 35, [1 << 26] * 35, 32),
    ]
    found = []
    for channel in channels:
        rows = []
        for truth in sorted({0, 1, channel.inputs // 2, channel.inputs - 1}):
            intervals = [part for part in channel.intervals(truth) if part[0] < part[1]]
            for first, end, report in intervals if len(intervals) < 8 else [*intervals[:3], *intervals[-3:]]:
                rows += [[truth, [draw], report] for draw in sorted({first, (first + end) // 2, end - 1})]
        sums = {"sums": channel.sums} if isinstance(channel, Patterns) else {}
        found.append({"channel": channel.to_dict(), "ratio": _text(channel.ratio), "outcomes": rows, **sums})
        assert channel_from_dict(channel.to_dict()) == channel
    return found + [set_outcomes(channel) for channel in set_channels()]


def set_channels() -> list[Channel]:
    return [
        HadamardResponse(2, 1.0),
        HadamardResponse(7, 0.5),
        HadamardResponse(500, other=3000000, bits=32),
        Unary(2, 1.0),
        Unary(12, 2.0, symmetric=True),
        Unary(53, own=1 << 31, other=1 << 29, bits=32),
        SubsetSelection(2, 1.0),
        SubsetSelection(12, 1.0),
        SubsetSelection(53, d=17, own=3 << 30, bits=32),
        LocalHashing(3, 1.0),
        LocalHashing(1000, 1.0),
        LocalHashing(65537, g=31, epsilon=4.0),
        TwoLevel(Unary(12, 1.0), KRR(2, 2.0)),
        TwoLevelKRR(KRR(2, 1.0), KRR(2, 2.0)),
        TwoLevelKRR(KRR(7, other=1 << 28, bits=32), KRR(7, 2.0)),
        TwoLevel(SubsetSelection(53, 3.0), KRR(2, other=1 << 28, bits=32)),
        BlockDesign(4, 1.0, order=2),
        BlockDesign(25, 0.5, order=5),
        BlockDesign(9409, own=1 << 30, bits=32),
        BlockDesign(20, 1.0, order=4),
        BlockDesign(700, 2.0, order=9),
        BlockDesign(30_000, order=16, own=1 << 29, bits=32),
        LocalHashing(500, 4.0, g=55),
    ]


def edges(channel: Channel) -> list[int]:
    """The draws at which something changes, on either side; the largest one (which is drawn again); some between."""
    found = []
    for part in (channel, *(getattr(channel, name) for name in ("first", "again", "value") if hasattr(channel, name))):
        found += [weight + near for name in ("own", "other") if (weight := getattr(part, name, 0)) for near in (-1, 0)]
    return [*found, (1 << 32) - 1, *(int(hashlib.sha256(b"draw %d" % i).hexdigest()[:8], 16) for i in range(9)), 0]


class Given:
    """Draws that are given, shortened to the bits that are asked for; it notes what was used of them."""

    def __init__(self, given: list[int], start: int) -> None:
        self._given, self._next = given, start
        self.used: list[int] = []

    def __call__(self, bits: int) -> int:
        drawn = self._given[self._next % len(self._given)] % (1 << bits)
        self._next += 1 + self._next // len(self._given)  # another order each time round
        self.used.append(drawn)
        return drawn


def set_outcomes(channel: Channel) -> dict:
    given = edges(channel)
    found: dict = {"channel": channel.to_dict(), "ratio": _text(channel.ratio), "outcomes": []}
    for truth in sorted({0, 1, channel.inputs // 2, channel.inputs - 1}):
        for start in range(0, len(given), 3):
            draw = Given(given, start)
            report = kind_from_dict(channel.to_dict()).disguise(truth, draw)
            found["outcomes"].append([truth, draw.used, report])
    if isinstance(channel, TwoLevel | TwoLevelKRR):
        found["resent"] = []
        for start in range(0, len(given), 3):
            draw, kept = Given(given, start), found["outcomes"][start % len(found["outcomes"])][2]
            report = kind_from_dict(channel.to_dict()).resend(kept, draw)
            found["resent"].append([kept, draw.used, report])
    reports = [row[2] for row in found["outcomes"][:3]]
    if not isinstance(channel, TwoLevelKRR):  # whose report is one category
        found["members"] = [[report, holders(channel, report)] for report in reports]
    assert channel_from_dict(channel.to_dict()) == channel
    return found


def holders(channel: Channel, report: int) -> list[int]:
    """The first hundred categories that a report speaks for; of a column, those that like it; of a line, its points."""
    if isinstance(channel, HadamardResponse):
        return np.flatnonzero(channel.weights()[report] == channel.keep).tolist()[:100]
    if isinstance(channel, BlockDesign):
        direction, value = divmod(report, channel.q)
        held = channel.space.through(np.arange(channel.inputs), np.array(direction)) == value
        return np.flatnonzero(held).tolist()[:100]
    return np.flatnonzero(channel.members(np.array([report], dtype=np.uint64))[0, :-1]).tolist()[:100]


def account_vectors() -> list[dict]:
    found = []
    for epsilon in ("0.1", "0.5", "1", "1.5", "5", "0.0000001", "20"):
        bound = exp_below(float(epsilon))
        nearest = bound.limit_denominator(10**12)
        near = [nearest * (1 + Fraction(step, 10**20)) for step in (-(10**10), -1, 0, 1, 10**10)]
        found += [{"epsilon": epsilon, "ratio": _text(ratio), "fits": ratio <= bound} for ratio in near if ratio >= 1]
    return found


def _text(ratio: Fraction) -> str:
    return f"{ratio.numerator}/{ratio.denominator}"


def report_vectors() -> list[dict]:
    design = hashlib.sha256(canonical(GOOD).encode()).hexdigest()
    good = {
        "answers": [1, 2],
        "ballot": 0,
        "block": None,
        "design": design,
        "id": "ab" * 32,
        "public": [1],
        "signature": None,
        "token": None,
        "version": 2,
    }

    def with_(**fields: object) -> str:
        return canonical({**good, **fields})

    def without(name: str) -> str:
        return canonical({key: value for key, value in good.items() if key != name})

    cases: list[tuple[str, str, str | None]] = [
        ("good", canonical(good), None),
        ("good, with white space", json.dumps(good), None),
        ("good, without its block", without("block"), None),
        ("not JSON", "{", "malformed"),
        ("not a number", with_(ballot=0).replace('"ballot":0', '"ballot":NaN'), "malformed"),
        ("nested without end", '{"answers":' + "[" * 10_000, "malformed"),
        ("no id", without("id"), "malformed"),
        ("a short id", with_(id="ab"), "malformed"),
        ("an id in capitals", with_(id="AB" * 32), "malformed"),
        ("an answer that is a text", with_(answers=["yes", 2]), "malformed"),
        ("an answer with a point", with_(answers=[1.5, 2]), "malformed"),
        ("a negative answer", with_(answers=[-1, 2]), "malformed"),
        ("a huge answer", with_(answers=[10**30, 2]), "malformed"),
        ("an answer that not every reader holds exactly", with_(answers=[1 << 53, 2]), "malformed"),
        ("the largest set", with_(answers=[(1 << 53) - 1, 2]), "unfit"),
        ("true for 1", with_(answers=[True, 2]), "malformed"),
        ("no answer", with_(answers=[]), "malformed"),
        ("another version", with_(version=3), "unknown-version"),
        ("version 1", with_(version=1), "unknown-version"),
        ("a token that nobody asked for", with_(token="ab" * 64, signature="ab" * 384), "unfit"),
        ("a signature alone", with_(signature="ab" * 384), "unfit"),
        ("half a token", with_(token="ab" * 32), "malformed"),
        ("a field more", with_(name="Ada"), "unknown-field"),
        ("a key twice", canonical(good).replace('"ballot":0', '"ballot":1,"ballot":0'), "repeated-key"),
        ("another design", with_(design="0" * 64), "unknown-design"),
        ("another ballot", with_(ballot=2), "unfit"),
        ("too many answers", with_(answers=[1, 2, 0]), "unfit"),
        ("an answer out of range", with_(answers=[1, 3]), "unfit"),
        ("no public attribute", with_(public=[]), "unfit"),
        ("a public attribute out of range", with_(public=[2]), "unfit"),
        ("a block", with_(block="0" * 64), "unknown-block"),
    ]
    return [{"name": name, "body": body, "reason": reason} for name, body, reason in cases]


# -- answers and words ------------------------------------------------------------------------------------------------


class Number(str):
    """A number in an encoding vector, as the decimal it was typed as."""

    __slots__ = ()


def encoding_vectors() -> list[dict]:
    choice = {"kind": "choice"}

    def attribute(categories: list, coder: dict = choice, rules: bool = False) -> dict:
        return {"name": "asked", "categories": categories, "coder": coder, "ruled": rules}

    words = attribute(["no", "yes"])
    polite = attribute(["no", "yes", "prefer not to say"])
    ruled = attribute(["no", "yes", "does not apply"], rules=True)
    plainly = attribute(["no", "yes", "does not apply"])
    steps = attribute([1, 2, 3])
    truths = attribute([False, True])
    bins = attribute(["< 0.3", "0.3 to < 10", ">= 10", "prefer not to say"], {"edges": ["0.3", "10"], "kind": "bins"})
    cold = attribute(["< -5", "-5 to < 0", ">= 0"], {"edges": ["-5", "0"], "kind": "bins"})
    cases: list[tuple[dict, object]] = [
        *((words, value) for value in ("no", "yes", "Yes", "", "maybe", None, 0, 1, True, Number("1"))),
        *((polite, value) for value in ("yes", "prefer not to say", None, "does not apply")),
        *((ruled, value) for value in ("yes", "does not apply", None)),
        *((plainly, value) for value in ("yes", "does not apply")),
        *((steps, value) for value in (1, 3, 4, 0, "1", True, None, Number("1.5"))),
        *((truths, value) for value in (True, False, 1, 0, "true", None)),
        *((bins, value) for value in (0, 9, 10, 11, -1, 10**15, True, None, "0.3", "< 0.3", "prefer not to say", "5")),
        *(
            (bins, Number(text))
            for text in ("0.3", "0.29999999999999993", "0.30000000000000004", "10.0", "9.999999999999998", "1e1", "1E1")
        ),
        *((bins, Number(text)) for text in ("-0.0", "1e-300", "1e300", "12.5", "0.1", "NaN", "Infinity", "-Infinity")),
        *((cold, Number(text)) for text in ("-5", "-5.000000000000001", "-4.9", "-0.0", "0", "-1e-300")),
    ]
    found = []
    for asked, value in cases:
        coder = Bins(tuple(asked["coder"]["edges"])) if "edges" in asked["coder"] else Choices()
        rules = (Rule("public", ("a",)),) if asked["ruled"] else ()
        coded = Coded(Attribute("asked", tuple(asked["categories"])), coder, rules)
        try:
            code: int | None = coded.code(float(value) if isinstance(value, Number) else value)
        except InputError:
            code = None
        given = {"number": str(value)} if isinstance(value, Number) else value
        found.append({"attribute": asked, "value": given, "code": code})
    return found


UNFIT = "form-unfit"
TEXTS: list[tuple[str, str, str | None]] = [
    ("a control character", "Drive\x07?", UNFIT),
    ("a new line", "Drive\nor walk?", None),
    ("an embedding", "Do \u202ayou\u202c drive?", UNFIT),
    ("an override", "Do you \u202edrive?", UNFIT),
    ("an isolate", "Do \u2066you\u2069 drive?", UNFIT),
    ("marks of direction", "Do you drive?\u200e \u200f", None),
    ("a space without width", "Do you\u200b drive?", UNFIT),
    ("a joiner between Latin letters", "Do you dri\u200dve?", UNFIT),
    ("a non-joiner in Persian", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None),
    ("a non-joiner at the end", "\u0645\u06cc\u200c", UNFIT),
    ("a family", "\U0001f468\u200d\U0001f469\u200d\U0001f467", None),
    ("a joiner between digits", "1\u200d2?", UNFIT),
    ("a heart", "\u2764\ufe0f", None),
    ("a key", "1\ufe0f\u20e3", None),
    ("a digit with a selector", "1\ufe0f", UNFIT),
    ("a letter with a selector", "Driv\ufe0fe?", UNFIT),
    ("the flag of Wales", "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", None),
    ("tags of nothing", "Drive\U000e0067?", UNFIT),
    ("a form of an ideograph", "\u8fbb\U000e0100", None),
    ("a soft hyphen", "Donau\u00addampf", UNFIT),
    ("a private character", "Drive \ue000?", UNFIT),
    ("Cyrillic in a Latin word", "Do you driv\u0435?", UNFIT),
    ("Greek in a Latin word", "D\u03bf you drive?", UNFIT),
    ("Latin and Cyrillic words", "Do you \u0435\u0434\u0435\u0448\u044c?", None),
    ("a mark between two alphabets", "Do you driv\u0301\u0435?", UNFIT),
    ("Latin beside Japanese", "T\u30b7\u30e3\u30c4", None),
    ("a micro sign", "How many \u00b5g?", None),
    ("a sign for ohm", "How many k\u2126?", None),
    ("a mark of direction between two alphabets", "\u0440\u200eay?", UNFIT),
    ("the other mark of direction", "p\u200f\u0430y?", UNFIT),
    ("an Arabic mark of direction", "\u0440\u061cay?", UNFIT),
    ("an accent and a mark of direction", "\u0440\u0301\u200e\u0301ay?", UNFIT),
    ("a letter that all share between two alphabets", "\u0440\u02bcay?", UNFIT),
    ("an apostrophe that is a letter", "\u043e\u0431\u02bc\u0454\u043a\u0442", None),
    ("Lisu in a Latin word", "YE\ua4e2", UNFIT),
    ("Coptic in a Latin word", "\u2ca4ES", UNFIT),
    ("Coptic of the Greek block in a Greek word", "\u03e2\u03b1", UNFIT),
    ("Hebrew in a Latin word", "No\u05d0", UNFIT),
    ("Georgian in a Russian word", "\u0434\u10d0", UNFIT),
    ("Gothic in an Old Italic word", "\U00010330\U00010300", UNFIT),
    ("a Lisu word", "\ua4e0\ua4f3", None),
    ("Latin between Thai without a space", "\u0e43\u0e0aFacebook\u0e44\u0e2b\u0e21", None),
    ("Latin before a Korean particle", "Facebook\uc744", None),
    ("a Greek letter before a Chinese one", "\u03b1\u6ce2", None),
    ("two words with an apostrophe between", "l'\u0430", None),
    ("a blank of Braille", "Drive\u2800?", UNFIT),
    ("a filler of Khitan", "Drive\U00016fe4?", UNFIT),
    ("a note without a head", "Drive\U0001d159?", UNFIT),
    ("a place for an object", "Drive\ufffc?", UNFIT),
    ("what is no character", "Drive\ufdd0?", UNFIT),
    ("what is no character, at the end of a plane", "Drive\U0002ffff?", UNFIT),
    ("what nobody has assigned", "Drive\u0378?", UNFIT),
    ("a filler of Hangul", "Drive\u115f?", UNFIT),
    ("a line separator", "Drive\u2028?", UNFIT),
    ("a line that was ended", "Drive\x85?", UNFIT),
]
# Beside "No (de)" and "No", the texts of the first choice.
ALIKE: list[tuple[str, str, str | None]] = [
    ("the same again", "No", UNFIT),
    ("in other case", "nO", UNFIT),
    ("with a space", " N o", UNFIT),
    ("in wide letters", "\uff2e\uff4f", UNFIT),
    ("in Greek letters", "\u039d\u03bf", UNFIT),
    ("with a mark of direction", "No\u200e", UNFIT),
    ("that says more", "No!", None),
    ("with an accent", "N\u00f3", None),
    ("in Lisu letters", "\ua4e0\ua4f3", UNFIT),
    ("in Cherokee letters that are others", "\u13a0\u13a1", None),
    ("in Greek that is another", "\u039d\u03b1\u03b9", None),
]


def form_vectors() -> dict:
    def item(name: str, *choices: str) -> dict:
        words = [{"de": f"{choice} (de)", "en": choice} for choice in choices]
        return {"choices": words, "name": name, "text": {"de": f"{name} auf Deutsch?", "en": f"{name}?"}}

    good = {
        "languages": ["en", "de"],
        "public": [item("age", "younger", "older"), item("wave", "1", "2", "3")],
        "questions": [
            item("drinks", "few", "some", "many", "prefer not to say", "does not apply"),
            item("drives", "No", "Yes"),
        ],
        "survey": "around",
        "texts": {"welcome": {"de": "Willkommen", "en": "Welcome"}},
        "title": {"de": "Titel", "en": "Title"},
        "version": 2,
    }
    cases: list[tuple[str, object, str | None]] = [
        ("good", good, None),
        ("another hash", good, "wrong-texts"),
        ("white space", json.dumps(good, sort_keys=True, ensure_ascii=False), "not-canonical"),
        ("another version", changed("version", 3, good), "unknown-version"),
        ("a field more", changed("promise", "epsilon 1", good), "unknown-field"),
        ("a choice too many", changed("questions.1", item("drives", "No", "Yes", "Both"), good), "form-unfit"),
        ("a choice too few", changed("public.0", item("age", "younger"), good), "form-unfit"),
        ("another name", changed("questions.1.name", "walks", good), "form-unfit"),
        ("another order", changed("questions", good["questions"][::-1], good), "form-unfit"),
        ("a question too few", changed("questions", good["questions"][:1], good), "form-unfit"),
        ("a language too few", changed("questions.0.text.de", ..., good), "form-unfit"),
        ("a language too many", changed("title.fr", "Titre", good), "form-unfit"),
        ("a language twice", changed("languages", ["en", "en"], good), "form-unfit"),
        ("no language", changed("languages", [], good), "malformed"),
        ("an empty text", changed("title.en", "", good), "malformed"),
        ("another survey", changed("survey", "beside", good), "form-unfit"),
        ("words in the place of the program's own", changed("texts.belief", good["title"], good), "form-unfit"),
        ("a plain word", changed("texts.begin", {"de": "Los", "en": "Go"}, good), None),
    ]

    def pair(one: str, other: str) -> dict:
        return changed("questions.1.choices.1.en", one, changed("questions.1.choices.0.en", other, good))

    for name, text, reason in TEXTS:
        cases.append((f"a question with {name}", changed("questions.1.text.en", text, good), reason))
    for name, text, reason in ALIKE:
        cases.append((f"a choice {name}", changed("questions.1.choices.1.en", text, good), reason))
    cases += [
        ("a question of 3000 letters", changed("questions.1.text.en", "x" * 3000, good), None),
        ("a question of 3001 letters", changed("questions.1.text.en", "x" * 3001, good), "form-unfit"),
        ("a choice of 501 letters", changed("questions.1.choices.1.en", "x" * 501, good), "form-unfit"),
        ("a welcome of 30000 letters", changed("texts.welcome.en", "x" * 30000, good), None),
        ("a welcome of 30001 letters", changed("texts.welcome.en", "x" * 30001, good), "form-unfit"),
        (
            "answers turned round in another language",
            changed("questions.1.choices", [{"de": "Yes", "en": "No"}, {"de": "No", "en": "Yes"}], good),
            UNFIT,
        ),
        (
            "an answer in other signs as another in another language",
            changed("questions.1.choices", [{"de": "Ja", "en": "No"}, {"de": " no.", "en": "Yes"}], good),
            UNFIT,
        ),
        (
            "answers that only signs tell apart, in both languages",
            changed("questions.1.choices", [{"de": "No", "en": "No"}, {"de": "No!", "en": "No!"}], good),
            None,
        ),
        (
            "the same answers in both languages",
            changed("questions.1.choices", [{"de": "Nein", "en": "Nein"}, {"de": "Ja", "en": "Ja"}], good),
            None,
        ),
        ("public answers turned round", changed("public.1.choices.0", {"de": "2", "en": "1"}, good), UNFIT),
        *(
            (f"{one} and {other} as choices", pair(one, other), reason)
            for one, other, reason in (
                ("\u0451", "\u00eb", UNFIT),
                ("\u04e6", "\u00d6", UNFIT),
                ("\u03cc", "\u00f3", UNFIT),
                ("\u0441\u0430\u0451", "ca\u00eb", UNFIT),
                ("\u04c0", "I", UNFIT),
                ("\u0475", "v", UNFIT),
                ("\u04ae", "Y", UNFIT),
                ("\u22121", "-1", UNFIT),
                ("1\u20132", "1-2", UNFIT),
                ("\u2ca5\u2c9f\u2ca5", "cOc", UNFIT),
                ("caf\u00e9", "cafe\u0301", UNFIT),
                ("a\u00f1o", "ano", None),
                ("b\u00f2", "b\u01a1", None),
                ("\u0e14\u0e35", "\u0e14\u0e34", None),
                ("\u0438", "\u0439", None),
                ("I", "l", None),
            )
        ),
        ("two public choices alike", changed("public.0.choices.1.de", "younger (DE)", good), "form-unfit"),
    ]
    typed = {"max": "99.5", "min": "-3", "step": "0.5"}
    entries: list[tuple[str, str, object, str | None]] = [
        ("how a number may be typed", "questions.0", typed, None),
        ("how it may be typed, half said", "questions.0", {"max": None, "min": "0", "step": None}, None),
        ("a hint where no number is asked", "questions.1", typed, "form-unfit"),
        ("a hint for a choice that is public", "public.1", typed, "form-unfit"),
        ("from more to less", "questions.0", typed | {"min": "99.5"}, "form-unfit"),
        ("a step that goes nowhere", "questions.0", typed | {"step": "0"}, "form-unfit"),
        ("a step back", "questions.0", typed | {"step": "-1"}, "form-unfit"),
        ("a hint that is no decimal", "questions.0", typed | {"min": "1e3"}, "malformed"),
        ("a hint with a zero too many", "questions.0", typed | {"min": "-0"}, "malformed"),
        ("a hint with a field more", "questions.0", typed | {"pattern": "."}, "unknown-field"),
        ("a hint without a field", "questions.0", {"max": None, "min": None}, "malformed"),
        ("a hint that says nothing", "questions.0", None, "malformed"),
    ]
    cases += [(name, changed(f"{where}.entry", entry, good), reason) for name, where, entry, reason in entries]
    found = []
    for replaces, among in ((None, cases), (REPLACED, corrected_forms(good))):
        around = changed("replaces", replaces, AROUND)
        for name, body, reason in among:
            text = body if isinstance(body, str) else canonical(body)
            texts = "0" * 64 if reason == "wrong-texts" else hashlib.sha256(text.encode()).hexdigest()
            design = canonical(changed("texts", texts, around))
            found.append({"name": name, "body": text, "design": design, "reason": reason})
    return found


REPLACED = "ef" * 32


def corrected_forms(good: dict) -> list[tuple[str, object, str | None]]:
    """Forms of a design that replaces `REPLACED`."""

    def change(path: str, before: str, after: str, language: str = "en") -> dict:
        part, name, place = [*path.split("."), "", ""][:3]
        at = int(place) if place else None
        return {"part": part, "name": name, "place": at, "language": language, "before": before, "after": after}

    def one(*changes: dict, why: str = "a misprint", replaces: str = REPLACED) -> dict:
        return {"replaces": replaces, "why": why, "changes": list(changes)}

    def with_(*corrections: object, form: dict = good) -> dict:
        return {**form, "corrections": list(corrections)}

    asked = change("question.drives", "driwes?", "drives?")
    swapped = [change("choice.drives.0", "Yes", "No"), change("choice.drives.1", "No", "Yes")]
    twice = [change("choice.drives.0", "Yes", "Never"), change("choice.drives.1", "No", "Often")]
    back = [change("choice.drives.0", "Never", "No"), change("choice.drives.1", "Often", "Yes")]
    loud = [change("choice.drives.0", "Yes!", "No"), change("choice.drives.1", "no.", "Yes")]

    def said_of(path: str | None = None, before: str | None = None, form: dict = good) -> list[dict]:
        """All that German changes where there was English, one of the texts having been another."""
        found = [change("languages", "en", "en de", "")]
        texts = {"title": form["title"], "text.welcome": form["texts"]["welcome"]}
        for item in (*form["questions"], *form["public"]):
            texts[f"question.{item['name']}"] = item["text"]
            texts |= {f"choice.{item['name']}.{at}": words for at, words in enumerate(item["choices"])}
        for where, words in texts.items():
            stood = before if where == path and before is not None else words["en"]
            if stood != words["de"]:
                found.append(change(where, stood, words["de"], "de"))
        return found

    german = said_of()
    same_title = changed("title.de", "Title", good)
    crossing = changed("questions.1.choices", [{"de": "Yes", "en": "No"}, {"de": "No", "en": "Yes"}], good)
    across = said_of(form=crossing)
    loaned = changed("questions.1.choices.0.de", "Never", good)
    once = [change("choice.drives.1", "Never", "Yes")]
    said_again = said_of(form=loaned)
    hinted = changed("questions.0.entry", {"max": "99.5", "min": None, "step": "0.5"}, good)
    cases: list[tuple[str, object, str | None]] = [
        ("a correction", with_(one(asked)), None),
        (
            "corrections of one text",
            with_(one(change("question.drives", "?", "driwes?"), replaces="0" * 64), one(asked)),
            None,
        ),
        ("of a title", with_(one(change("title", "Titles", "Title"))), None),
        ("of a choice", with_(one(change("choice.age.1", "elder", "older"))), None),
        ("of a choice in case", with_(one(change("choice.drives.1", "YES", "Yes"))), None),
        ("of what stands around", with_(one(change("text.welcome", "Hello", "Welcome"))), None),
        ("what stood around is left out", with_(one(change("text.thanks", "Thanks", ""))), None),
        ("what stands around is new", with_(one(change("text.welcome", "", "Willkommen", "de"))), None),
        ("of a hint", with_(one(change("entry.drinks", "0..9", "..99.5 / 0.5", "")), form=hinted), None),
        ("a hint is left out", with_(one(change("entry.drinks", "0..9", "", ""))), None),
        ("a further language", with_(one(*german)), None),
        ("another first language", with_(one(change("languages", "de en", "en de", ""))), None),
        (
            "a further language, and a text",
            with_(one(*said_of("question.drives", "driwes?"), asked)),
            None,
        ),
        ("a further language of which nothing is said", with_(one(german[0])), "form-unfit"),
        ("a further language of which a text is not said", with_(one(*german[:-1])), "form-unfit"),
        (
            "a further language beside other words than stood there",
            with_(one(*said_of("question.drives", "walks?"))),
            "form-unfit",
        ),
        (
            "a further language with the same text, said to be another",
            with_(one(*said_of("choice.drives.0", "No (de)"))),
            "form-unfit",
        ),
        (
            "a further language with the same text",
            with_(one(*(each for each in german if each["part"] != "title")), form=same_title),
            None,
        ),
        ("a further language that turns answers round", with_(one(*across), form=crossing), "form-unfit"),
        (
            "a further language with what once was another answer",
            with_(one(*once, replaces="0" * 64), one(*said_again), form=loaned),
            "form-unfit",
        ),
        (
            "that turns answers round between languages",
            with_(one(change("choice.drives.0", "Nope", "No"), change("choice.drives.1", "No", "Yes (de)", "de"))),
            "form-unfit",
        ),
        ("that says what another language says", with_(one(change("choice.drives.0", "No (de)", "No"))), None),
        ("none, where a design is replaced", good, "form-unfit"),
        ("an empty list", with_(), "malformed"),
        ("of another design", with_(one(asked, replaces="0" * 64)), "form-unfit"),
        ("too many", with_(*[one(asked)] * 21), "malformed"),
        ("without a change", with_(one()), "malformed"),
        ("without a reason", with_(one(asked, why="")), "malformed"),
        ("with a reason that hides something", with_(one(asked, why="a mis\u200bprint")), "form-unfit"),
        ("with a field more", with_({**one(asked), "when": "today"}), "unknown-field"),
        ("of an unknown part", with_(one(change("promise", "a", "b"))), "malformed"),
        ("to what is not shown", with_(one(change("question.drives", "driwes?", "driven?"))), "form-unfit"),
        ("that changes nothing", with_(one(change("question.drives", "drives?", "drives?"))), "form-unfit"),
        ("of one text twice", with_(one(asked, asked)), "form-unfit"),
        ("of what was not there", with_(one(change("question.drives", "", "drives?"))), "form-unfit"),
        ("of what nobody reads", with_(one(change("text.belief", "Safe", ""))), "form-unfit"),
        ("of a hint for nothing", with_(one(change("entry.walks", "0..9", "", ""))), "form-unfit"),
        ("of a choice that there is not", with_(one(change("choice.drives.2", "Both", ""))), "form-unfit"),
        ("with what hides something", with_(one(change("question.drives", "dri\u200bves?", "drives?"))), "form-unfit"),
        ("that takes a language away", with_(one(change("languages", "en de fr", "en de", ""))), "form-unfit"),
        (
            "in a language that was new",
            with_(one(change("languages", "en", "en de", ""), change("title", "a", "Titel", "de"))),
            "form-unfit",
        ),
        ("that turns answers round", with_(one(*swapped)), "form-unfit"),
        (
            "that turns them round in another language",
            with_(
                one(
                    change("choice.drives.0", "Yes (de)", "No (de)", "de"),
                    change("choice.drives.1", "No (de)", "Yes (de)", "de"),
                )
            ),
            "form-unfit",
        ),
        ("that turns them round in two steps", with_(one(*twice, replaces="0" * 64), one(*back)), "form-unfit"),
        ("that turns them round in other signs", with_(one(*loud)), "form-unfit"),
        (
            "that moves one label",
            with_(one(change("choice.drives.1", "No", "Yes"), change("choice.drives.0", "Never", "No"))),
            "form-unfit",
        ),
        (
            "that gives one question another's text",
            with_(one(change("question.drives", "Drinks", "drives?"), change("question.drinks", "drives", "drinks?"))),
            "form-unfit",
        ),
    ]
    return [(f"corrected: {name}", body, reason) for name, body, reason in cases]


def files() -> dict[str, str]:
    """Every file's text."""
    made = {
        "designs.json": design_vectors(),
        "outcomes.json": outcome_vectors(),
        "accounts.json": account_vectors(),
        "reports.json": report_vectors(),
        "blocks.json": block_vectors(),
        "pairs.json": pair_vectors(),
        "encodings.json": encoding_vectors(),
        "forms.json": form_vectors(),
    }
    texts = {name: json.dumps(content, indent=1, ensure_ascii=False) + "\n" for name, content in made.items()}
    texts["outcomes.json"] = (
        "[\n" + ",\n".join(map(json.dumps, made["outcomes.json"])) + "\n]\n"
    )  # draws: a line a channel
    return texts


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")

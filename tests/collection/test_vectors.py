"""The vectors that every client must agree on."""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from deniable.channels.codec import channel_from_dict
from deniable.collection import messages
from deniable.collection import verify as verifying
from deniable.collection.acceptor import Acceptor
from deniable.collection.collector import read_batch
from deniable.collection.messages import Problem, Report, decode
from deniable.collection.verify import verify
from deniable.errors import MessageError, RefusedDesignError
from deniable.privacy.epsilon import exp_below

VECTORS = Path(__file__).parent.parent / "vectors"


def load(name):
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def named(name):
    return [pytest.param(vector, id=vector["name"]) for vector in load(name)]


def test_the_files_are_what_the_generator_writes():
    spec = importlib.util.spec_from_file_location("generate_vectors", VECTORS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert {name: (VECTORS / name).read_text(encoding="utf-8") for name in generate.files()} == generate.files()


@pytest.mark.parametrize("vector", named("designs.json"))
def test_a_design_is_accepted_or_refused_for_the_stated_reason(vector):
    body = vector["body"].encode()
    if vector["reason"] is None:
        assert verify(body, vector["hash"]).ratio == Fraction(vector["ratio"])
        return
    with pytest.raises(RefusedDesignError) as caught:
        verify(body, vector["hash"])
    assert caught.value.code == vector["reason"]
    assert vector["reason"] in str(caught.value)


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
    channel = channel_from_dict(vector["channel"])
    truths, draws, reports = np.array(vector["outcomes"]).T
    assert channel.outcome(truths, draws).tolist() == reports.tolist()
    assert channel.ratio == Fraction(vector["ratio"])


@pytest.mark.parametrize("vector", load("accounts.json"), ids=str)
def test_a_ratio_fits_an_epsilon_or_not(vector):
    assert (Fraction(vector["ratio"]) <= exp_below(float(vector["epsilon"]))) is vector["fits"]


@pytest.mark.parametrize("vector", named("reports.json"))
@pytest.mark.parametrize("batched", [False, True])
def test_a_report_is_taken_or_refused_for_the_stated_reason(vector, batched):
    good = load("designs.json")[0]
    body = vector["body"].encode()
    if batched:
        found = read_batch(b"[" + body + b"]")
        (found,) = found if isinstance(found, list) else (found,)
    else:
        try:
            found = decode(body, Report, most=messages.MOST_REPORT_BYTES)
        except MessageError as error:
            found = error
    if isinstance(found, Report):
        if found.design != good["hash"]:
            assert vector["reason"] == "unknown-design"
            return
        found = Acceptor(verify(good["body"].encode(), good["hash"])).cell(found)
    assert (found.code if isinstance(found, Problem | MessageError) else None) == vector["reason"]

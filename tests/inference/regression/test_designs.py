"""Regressions on reports of every kind of design: right, or refused with the way out; never silently wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.channels.dense import Dense
from deniable.designs import codec
from deniable.designs.base import Design, Question
from deniable.designs.paired.items import PairedItems
from deniable.errors import DesignError, EstimationError, InputError, MissingColumnError

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
TWO = dn.Domain({"a": ["no", "yes"], "c": ["no", "yes"]})
N = 6000
SLOPE, Z_SLOPE = 2.0, 0.5
FORMULAS = {"c ~ a": "a[T.yes]", "c ~ z": "z", "c ~ a + z": "a[T.yes]"}


def lopsided(cells):
    """A channel that treats no two truths alike, so that it has no form for part of the attributes."""
    weights = np.random.default_rng(3).integers(1, 5, size=(cells + 1, cells)) * 1000
    weights[1:] += 30_000 * np.eye(cells, dtype=int)
    weights[0] += (1 << 16) - weights.sum(axis=0)
    return Dense.from_weights(weights.tolist(), 16)


DESIGNS = {
    "independent": dn.Independent(DOMAIN, 6.0),
    "joint": dn.Joint(DOMAIN, 3.0),
    "clusters": dn.Clusters(DOMAIN, [["a", "c"], ["b"]], 5.0),
    "views": dn.Views(DOMAIN, 2, 3.0),
    "sampled": dn.Sampled(DOMAIN, 3.0),
    "blocks": dn.Blocks(DOMAIN, 2, 3.0, block_size=1000),
    "unary": dn.Joint(DOMAIN, 3.0, channel="unary"),
    "subset": dn.Views(DOMAIN, 2, 3.0, channel="subset"),
    "hashing": dn.Joint(DOMAIN, 3.0, channel="hashing"),
    "hadamard": dn.Views(DOMAIN, 2, 3.0, channel="hadamard"),
    "dense": Design(DOMAIN, [Question(("a", "c"), lopsided(4)), Question(("b",), lopsided(3))], [[0, 1]]),
    "dense on three": Design(DOMAIN, [Question(("a", "b", "c"), lopsided(12))], [[0]]),
    "paired": dn.Paired(TWO, respondents=N, p=0.9, rho=-0.1),
    "paired items": PairedItems(TWO, 0.9, -0.1),
}
READ = {"independent"}  # the others are refused with the way out


def people(seed=4, n=N):
    """Truths: c depends strongly on a and weakly on the public z; b depends on both."""
    rng = np.random.default_rng(seed)
    z = rng.integers(-1, 2, n)
    a = (rng.random(n) < 1 / (1 + np.exp(-0.5 * z))).astype(int)
    c = (rng.random(n) < 1 / (1 + np.exp(1 - SLOPE * a - Z_SLOPE * z))).astype(int)
    b = rng.binomial(2, 0.15 + 0.3 * a + 0.4 * c)
    words = np.array(["no", "yes"])
    return pd.DataFrame({"a": words[a], "b": b, "c": words[c], "z": z})


@pytest.fixture(scope="module")
def truths():
    return people()


@pytest.fixture(scope="module")
def undisguised(truths):
    coded = truths.assign(c=(truths.c == "yes").astype(int))
    return {formula: dn.logit(formula, coded).params[term] for formula, term in FORMULAS.items()}


def test_the_designs_are_of_every_kind_that_there_is():
    assert {design.kind for design in DESIGNS.values()} == set(codec._READERS)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("name", DESIGNS)
def test_a_disguised_answer_is_never_taken_for_a_direct_one(name, formula, truths, undisguised):
    reports = DESIGNS[name].randomize(truths, keep=["z"], source=dn.Seeded(5))
    if name not in READ:
        with pytest.raises((DesignError, EstimationError), match="design"):
            dn.logit(formula, reports)
        return
    fit = dn.logit(formula, reports)
    # The undisguised estimate is the truth plus an error of its own, far smaller than that of the reports. Six standard
    # errors of a fixed seed: a false alarm in 2e-9 of all seeds.
    term = FORMULAS[formula]
    assert abs(fit.params[term] - undisguised[formula]) < 6 * fit.std_error[term]
    assert "direct" not in str(fit.summary())


@pytest.mark.parametrize("name", DESIGNS)
def test_no_disguised_answer_says_how_a_row_counts(name, truths):
    reports = DESIGNS[name].randomize(truths, keep=["z"], source=dn.Seeded(5))
    for option in (
        {"clusters": "c"},
        {"clusters": "a"},
        {"weights": "a"},
        {"design_column": "a", "channel": {"yes": dn.Warner(0.8)}},
    ):
        with pytest.raises((MissingColumnError, DesignError, EstimationError, InputError)):
            dn.logit("c ~ z", reports, **option)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_linear_model_takes_no_disguised_number_for_a_direct_one(name, truths):
    reports = DESIGNS[name].randomize(truths, keep=["z"], source=dn.Seeded(5))
    with pytest.raises((DesignError, EstimationError, InputError, MissingColumnError)):
        dn.linear("b ~ z", reports)

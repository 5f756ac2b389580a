"""Two phases: what is asked again, how often by mistake, and estimates from both."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InputError
from deniable.planning.two_phases import looks_dependent

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})
PAIRS = [["a", "b"], ["a", "c"], ["b", "c"]]
TRUTH = dn.Table(DOMAIN, np.einsum("ab,c->abc", [[0.3, 0.1, 0.05], [0.05, 0.15, 0.35]], [0.6, 0.4]))


@pytest.fixture(scope="module")
def first():
    return dn.Optimal(DOMAIN, PAIRS, 2.0)


def test_independent_pairs_are_taken_for_dependent_as_often_as_said(first):
    source = dn.Seeded(3)
    taken = sum(looks_dependent(first.simulate(TRUTH, 4000, source=source), ["a", "c"], 0.2) for _ in range(150))
    # Binomial(150, .2) has mean 30 and deviation 4.9; six deviations are passed with probability below 1e-6.
    assert abs(taken - 30) < 30


def test_dependent_pairs_are_asked_again_and_both_phases_are_pooled(first):
    n = 20_000
    reports = first.simulate(TRUTH, n, source=dn.Seeded(5))
    second = dn.second_phase(reports, PAIRS, 2.0, level=1e-6)
    assert [str(one) for one in second.wanted] == ["a * b", "c"]
    assert second.epsilon <= 2.0
    more = second.simulate(TRUTH, n, source=dn.Seeded(6))
    both = dn.estimate([reports, more], ["a", "b"])
    alone = dn.estimate(reports, ["a", "b"])
    assert both.std_error.sum() < 0.75 * alone.std_error.sum()  # more than twice the reports for it
    assert (np.abs(both.efficient.values - TRUTH.project(["a", "b"]).values) < 6 * both.std_error).all()


def test_a_level_is_one(first):
    with pytest.raises(InputError, match="between 0 and 1"):
        dn.second_phase(first.simulate(TRUTH, 100, source=dn.Seeded(1)), PAIRS, 2.0, level=5)

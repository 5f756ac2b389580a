"""The measurement of optimal designs, small."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from benchmarks.accuracy.optimal_designs import cdf_errors, measure, over_the_best_other
from benchmarks.accuracy.random_aims import held_back, in_one_thread
from benchmarks.calibration.all_pairs_errors import asked, parts, simulated
from deniable.errors import InputError
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.gather import gather


def test_its_rows_and_claims():
    found = measure({"survey": 1}, epsilons=(1.0,), respondents=2000, lists=0, cdf_surveys=1, channels=2)
    assert found.rows["times the floor"][0] <= 1.2
    assert found.claims[0].met
    assert len(found.claims) == 8


DOMAIN = dn.Domain({"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2], "d": [0, 1]})
PAIRS = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]


def test_simulated_errors_are_the_forecast():
    # 60 surveys of four pairs, of which at least one square each errs by itself: 240 squares, so a relative deviation
    # of at most sqrt(2 / 240) = 9%; five of these are passed with probability below 1e-6.
    design = dn.Optimal(DOMAIN, PAIRS, 2.0)
    assert simulated(design, PAIRS, 5000, 60, seed=3) == pytest.approx(design.loss, rel=0.45)


def test_the_parts_of_a_pair_are_those_of_the_efficient_estimate():
    design = dn.Optimal(DOMAIN, PAIRS, 1.5)
    reports = asked(design, 3000, np.random.default_rng(1), dn.Seeded(1))
    found = parts(reports)
    for pair in PAIRS:
        evidence, (k, m) = gather(reports, pair), found[pair].shape
        exact = efficient_from(evidence, likely=np.full(evidence.cells, 1 / evidence.cells)).values
        table = 1 / (k * m) + found[pair] + found[pair[:1]][:, None] / m + found[pair[1:]][None] / k
        assert table == pytest.approx(exact, abs=1e-12)


def test_channels_made_for_some_numbers_are_not_taken_for_others():
    design = dn.Optimal({"x": list(range(5))}, "mean(x)", 1.0)
    with pytest.raises(InputError, match="whole tables"):
        parts(asked(design, 100, np.random.default_rng(1), dn.Seeded(1)))


def test_channels_for_random_numbers_keep_what_they_must():
    found = held_back(4, seed=1)
    assert all(claim.met for claim in found[:3])
    alone = in_one_thread(4, seed=1)
    assert [claim.what for claim in alone] == [claim.what for claim in found]
    assert [claim.measured for claim in alone[:3]] == pytest.approx([claim.measured for claim in found[:3]], rel=1e-6)


def test_a_random_list_is_not_lost():
    assert over_the_best_other(np.random.default_rng(2)) <= 1.002


def test_errors_of_a_distribution_function():
    # 60 surveys of six points that err together: sqrt(2 / 60) = 18%, five times.
    design = dn.Optimal({"x": list(range(7))}, "cdf(x)", 2.0)
    assert cdf_errors(design, 2000, 60, 4) == pytest.approx(4.53, rel=0.9)

"""The measurement of optimal designs, small."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.bench.optimal import cdf_errors, measure, over_the_best_other, simulated


def test_its_rows_and_claims():
    found = measure(networks=("survey",), epsilons=(1.0,), surveys=1, lists=0, cdf_surveys=1)
    assert found.rows["times the floor"][0] <= 1.2
    assert found.claims[0].met
    assert len(found.claims) == 4


def test_simulated_errors_are_the_forecast():
    # 20 surveys of three pairs of yes/no: at least 60 squares, so a relative deviation of at most sqrt(2 / 60) = 18%;
    # five of these are passed with probability below 1e-6.
    domain = dn.Domain({name: [0, 1] for name in "abcde"})
    pairs = [("a", "b"), ("b", "c"), ("d", "e")]
    design = dn.Optimal(domain, pairs, 2.0)
    measured, forecast = simulated(design, pairs, 20, seed=3)
    assert measured == pytest.approx(forecast, rel=0.9)
    assert dn.loss_of(design, design.wanted) == pytest.approx(forecast)


def test_a_random_list_is_not_lost():
    assert over_the_best_other(np.random.default_rng(2)) <= 1.002


def test_errors_of_a_distribution_function():
    # 60 surveys of six points that err together: sqrt(2 / 60) = 18%, five times.
    design = dn.Optimal({"x": list(range(7))}, "cdf(x)", 2.0)
    assert cdf_errors(design, 2000, 60, 4) == pytest.approx(4.53, rel=0.9)

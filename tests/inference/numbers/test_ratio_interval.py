"""The interval of a group's mean: against Fieller's where reports are many, and what it holds where they are few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import deniable as dn
from deniable.inference.measures.two_by_two import fieller
from deniable.inference.numbers.ratio_interval import score_interval_of_ratio

DOMAIN = dn.Domain({"group": ["a", "b"], "score": [0, 1, 2, 3, 10]})
TRUTH = dn.Table(DOMAIN, np.tile([0.35, 0.1, 0.03, 0.015, 0.005], (2, 1)))
MEAN = 0.255 / 0.5
ALONG = np.stack([np.kron([1, 0], [0, 1, 2, 3, 10]), np.kron([1, 0], np.ones(5))], axis=1)
RANGE = (0.0, 10.0)


def estimated(n, seed, epsilon=4.0):
    reports = dn.Joint(DOMAIN, epsilon).simulate(TRUTH, n, source=dn.Seeded(seed))
    return dn.estimate(reports, ["group", "score"], "norm_sub")


def test_of_many_reports_it_is_fieller_s():
    found = estimated(1_000_000, 1)
    told = found.pooled.along(ALONG)
    assert score_interval_of_ratio(found.pooled, ALONG, 3.84, RANGE) == pytest.approx(
        fieller(*told.values, told.covariance, 3.84), rel=1e-2
    )


def test_at_its_ends_the_mean_is_just_refuted():
    found = estimated(400, 2)
    low, high = score_interval_of_ratio(found.pooled, ALONG, 3.84, RANGE)
    for end in (low, high):
        of = found.pooled.along(ALONG[:, :1] - end * ALONG[:, 1:])
        a, b, c = (float(part[0]) for part in of.variance_at)
        f = float(of.values[0])
        assert f**2 == pytest.approx(3.84 * (a - b * f + c * f**2), rel=1e-3)


def test_a_group_that_may_be_empty_leaves_an_end_open():
    reports = dn.Joint(DOMAIN, 0.5).simulate(TRUTH, 50, source=dn.Seeded(3))
    found = dn.means_by(reports, "score", "group")
    low, high = found.measures[0].interval(clip=False)
    assert np.isinf([float(low), float(high)]).any()


def test_intervals_of_small_groups_hold_the_mean():
    held = 0
    for seed in range(150):
        (low, *_), (high, *_) = dn.means_by(estimated(60, seed), "score", "group").interval()
        held += low <= MEAN <= high
    # Fieller's held it in 86%. Of 150 surveys fewer than this many hold it with a chance of 1e-6 if 93% of all do.
    assert held >= stats.binom.ppf(1e-6, 150, 0.93)


def test_small_groups_are_said_to_be_rough():
    few = dn.means_by(estimated(40, 1), "score", "group").measures[0]
    assert few.method == "score interval of a ratio"
    assert any("so the interval is rough" in told for told in few.warnings)
    many = dn.means_by(estimated(2000, 1), "score", "group").measures[0]
    assert not any("rough" in told for told in many.warnings)

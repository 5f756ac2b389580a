"""Block designs: subset selection's variance with reports that are categories."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from deniable.device.kinds.block_design import ORDERS
from deniable.errors import DesignError, ProbabilityError, SingularChannelError

PLANES = [4, 9, 25, 49]


def test_the_orders_are_the_primes_below_a_hundred():
    assert [n for n in range(2, 100) if all(n % d for d in range(2, n))] == list(ORDERS)


@pytest.mark.parametrize("k", PLANES)
def test_every_two_points_are_on_one_line(k):
    channel = dn.BlockDesign(k, 1.0)
    q, on = channel.q, [set(line) for line in channel.points.tolist()]
    assert {len(line) for line in on} == {q}
    assert [sum({a, b} <= line for line in on) for a, b in combinations(range(k), 2)] == [1] * (k * (k - 1) // 2)
    assert [sorted(u for u, line in enumerate(on) if v in line) for v in range(k)] == channel.lines.tolist()


@pytest.mark.parametrize("k", PLANES)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_its_variance_is_that_of_subset_selection(k, epsilon):
    channel = dn.BlockDesign(k, epsilon)
    same = dn.SubsetSelection(k, d=channel.q, own=channel.own, bits=channel.draw_bits)
    assert channel.ratio == same.ratio
    assert dn.SubsetSelection(k, epsilon, d=channel.q).own == channel.own
    # With p and s the shares of reports that hold the truth and another category: exactly, of the same integers.
    p, s = same.chances.p, same.chances.q
    assert (Fraction(channel.own, 1 << channel.draw_bits), float(s)) == (p, pytest.approx(channel.s, rel=1e-14))
    pi = np.random.default_rng(1).dirichlet(np.ones(k))
    closed = pi * float((1 - s) ** 2 * p + s**2 * (1 - p)) + (1 - pi) * float((1 - s) ** 2 * s + s**2 * (1 - s))
    closed = closed / float(p - s) ** 2 - pi**2
    np.testing.assert_allclose(channel.variance(pi, 1), closed, rtol=1e-10)
    np.testing.assert_allclose(channel.variance(pi, 1), same.variance(pi, 1), rtol=1e-10)


def test_a_second_moment_by_a_short_way_is_the_long_one():
    channel = dn.BlockDesign(25, 1.0)
    q = channel.solve(np.eye(30))
    both = (q**2) @ channel.matrix()
    diagonal, rows = channel.spread()
    np.testing.assert_allclose(np.diag(both), diagonal, rtol=1e-12)
    np.testing.assert_allclose(both.sum(axis=1), rows, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 8, 16, 36, 101**2, -9])
def test_other_numbers_of_categories_have_no_plane(k):
    with pytest.raises(DesignError, match="square of a prime"):
        dn.BlockDesign(k, 1.0)


def test_what_would_tell_all_or_nothing_is_refused():
    with pytest.raises(ProbabilityError, match="give the truth away"):
        dn.BlockDesign(9, own=1 << 16, bits=16)
    with pytest.raises(SingularChannelError, match="nothing can be recovered"):
        dn.BlockDesign(4, own=1 << 15, bits=16)
    with pytest.raises(DesignError, match="needs an epsilon"):
        dn.BlockDesign(9)
    with pytest.raises(DesignError, match="two steps"):
        dn.BlockDesign(9, 1.0).weights()


def test_every_analysis_of_categories_takes_it():
    domain = dn.Domain({"a": ["x", "y", "z"], "b": [0, 1, 2]})
    design = dn.Joint(domain, channel=dn.BlockDesign(9, 3.0))
    assert dn.design_from_dict(design.to_dict()) == design
    truth = dn.Table(domain, np.array([[8, 1, 1], [1, 8, 1], [1, 1, 8]]) / 30)
    tallied = design.simulate(truth, 20_000, source=dn.Seeded(3))
    assert not design.questions[0].channel.is_support
    for method in ("inversion", "mle"):
        found = dn.estimate(tallied, ["a", "b"], method=method)
        # Nine cells and two methods at six standard errors: below 4e-8 in all.
        assert (np.abs(found.values - truth.values) < 6 * found.std_error).all()
    assert dn.independence(tallied, "a", "b", method="wald").pvalue < 1e-6

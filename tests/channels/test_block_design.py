"""Block designs: subset selection's variance with reports that are categories."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import isqrt

import numpy as np
import pytest

import deniable as dn
from deniable.channels.best_channel import best_channel, planned_for, steps
from deniable.channels.sets import finite_geometry as geometry
from deniable.device.channels import kind_from_dict
from deniable.device.channels.block_design import PLANES as ORDERS
from deniable.device.channels.finite_field import MODULI, digits, is_field, less, prime_of, times
from deniable.errors import DesignError, ProbabilityError, SingularChannelError

PLANES = [4, 9, 25, 49]


def test_the_orders_are_the_primes_below_a_hundred():
    assert [n for n in range(2, 100) if all(n % d for d in range(2, n))] == list(ORDERS)


@pytest.mark.parametrize("k", PLANES)
def test_every_two_points_are_on_one_line(k):
    channel = dn.BlockDesign(k, 1.0, order=isqrt(k))
    q, on = channel.q, [set(line.tolist()) for line in channel.points]
    assert {len(line) for line in on} == {q}
    assert [sum({a, b} <= line for line in on) for a, b in combinations(range(k), 2)] == [1] * (k * (k - 1) // 2)
    assert [sorted(u for u, line in enumerate(on) if v in line) for v in range(k)] == channel.lines.tolist()


@pytest.mark.parametrize("k", PLANES)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_its_variance_is_that_of_subset_selection(k, epsilon):
    channel = dn.BlockDesign(k, epsilon, order=isqrt(k))
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
    channel = dn.BlockDesign(25, 1.0, order=5)
    q = channel.solve(np.eye(30))
    both = (q**2) @ channel.matrix()
    diagonal, rows = channel.spread()
    np.testing.assert_allclose(np.diag(both), diagonal, rtol=1e-12)
    np.testing.assert_allclose(both.sum(axis=1), rows, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, -9, (1 << 22) + 1])
def test_other_numbers_of_categories_have_no_space(k):
    with pytest.raises(DesignError, match="3 to 4194304"):
        dn.BlockDesign(k, 1.0)


@pytest.mark.parametrize("order", [1, 6, 521, -3])
def test_an_order_is_that_of_a_field(order):
    with pytest.raises(DesignError, match="prime or a prime power"):
        dn.BlockDesign(20, 1.0, order=order)


def test_fields_are_fields():
    """All laws that a geometry rests on; the polynomials are the least irreducible ones."""
    for q in (4, 8, 9, 16, 25, 27, 7):
        product = np.array([[times(a, b, q) for b in range(q)] for a in range(q)])
        assert (product == product.T).all()
        assert (np.sort(product[1:, 1:], axis=1) == np.arange(1, q)).all()  # every element but zero has an inverse
        for a, b, c in np.random.default_rng(q).integers(0, q, (50, 3)).tolist():
            assert times(a, times(b, c, q), q) == times(times(a, b, q), c, q)
            assert times(a, less(b, c, q), q) == less(times(a, b, q), times(a, c, q), q)
    for q, (p, code) in MODULI.items():
        r = prime_of(q)[1]
        assert p**r == q
        for candidate in range(code + 1):
            roots = [_value(digits(candidate, p, r), x, p) for x in range(p)]
            if r <= 3:  # without a root it has no factor
                assert all(roots) == (candidate == code)
    assert not is_field(1)


def _value(lower, x, p):
    return (sum(c * x**i for i, c in enumerate(lower)) + x ** len(lower)) % p


@pytest.mark.parametrize(("k", "order"), [(16, 4), (20, 4), (27, 3), (11, 2), (60, 8), (70, 9), (26, 5)])
def test_transforms_are_sums(k, order, monkeypatch):
    """Second way: the same sums over lists, and the matrix written out from the device's own numbers."""
    channel = dn.BlockDesign(k, 1.0, order=order)
    kind = kind_from_dict(channel.to_dict())
    held = np.array([[kind.through(v, i) == c for v in range(k)] for i in range(kind.directions) for c in range(order)])
    matrix = np.where(held, channel.p / kind.directions, (1 - channel.p) / (kind.directions * (order - 1)))
    np.testing.assert_allclose(channel.matrix(), matrix)
    monkeypatch.setattr(geometry, "_LISTED", 0)
    space = geometry.Space(order, channel.space.dimension, k)
    assert space.lines is None
    x, y = np.random.default_rng(1).random((1, k, 2)), np.random.default_rng(2).random((1, len(held), 2))
    np.testing.assert_allclose(space.on(x)[0], held @ x[0], atol=1e-10)
    np.testing.assert_allclose(space.at(y)[0], held.T @ y[0], atol=1e-10)
    np.testing.assert_allclose(space.sizes, held.sum(axis=1))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_many_categories_come_close_to_the_least_variance(epsilon):
    """FRONTIER's bound: at most 1.031 for the best prime power, and what truncation costs is next to nothing."""
    odds, k = np.exp(epsilon), 3000
    channel = dn.BlockDesign(k, epsilon)
    even = np.full(k, 1 / k)
    least = min(
        (m * odds + k - m) ** 2 * (k - 1) / (m * (k - m) * (odds - 1) ** 2) * (k - 1) / k for m in range(1, k // 2)
    )
    assert 1 < channel.variance(even, 1).sum() / least < 1.035


def test_what_is_planned_decides_what_work_is_worth():
    assert best_channel(500, 1.0, "least_variance").name.startswith("LocalHashing")  # as ever: survey files say so
    chosen = best_channel(500, 1.0, "least_variance", n=1000)
    assert chosen.name == "BlockDesign(500, order=4)"
    hashing = dn.LocalHashing(500, 1.0)
    assert steps(chosen, 10**6) < 0.01 * steps(hashing, 10**6)
    design = dn.Joint({"x": range(500)}, 1.0, channel=planned_for(1000))
    assert design.questions[0].channel == chosen
    assert dn.Joint({"x": range(500)}, 1.0, channel="block_design").questions[0].channel == chosen
    assert best_channel(3, 1.0, "least_variance", n=1000).name == "KRR(3)"
    assert best_channel(2, 1.0, "least_variance", n=1000).name == "KRR(2)"  # two points have no lines


def test_a_plan_weighs_the_work_at_the_planned_number():
    wanted = [["a", "b"], ["b", "c"]]
    found = dn.plan({name: range(4) for name in "abc"}, 1.0, wanted, 5000)
    by_name = {one.name: one.design for one in found.candidates}
    assert {question.channel.kind for question in by_name["tables, least variance"].questions} == {"block_design"}
    assert "subset" not in {question.channel.kind for question in by_name["optimal"].questions}


def test_a_hundred_thousand_categories_from_end_to_end():
    k, n = 100_000, 50_000
    design = dn.Joint({"shop": range(k)}, channel=dn.BlockDesign(k, 3.0))
    truth = np.zeros(n, dtype=np.int64)
    truth[: n // 2] = 77_777
    sent = design.questions[0].channel.randomize(truth, source=dn.Seeded(1))
    reports = dn.Reports.of_codes(design, np.zeros(n, dtype=np.int64), sent[:, None])
    found = dn.estimate(reports, "shop", "norm_sub")
    # Six standard errors of the two cells: below 1e-8.
    for code in (0, 77_777):
        assert abs(found.efficient.values[code] - 0.5) < 6 * found.std_error[code] < 0.1
    assert found.values.sum() == pytest.approx(1)


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
    design = dn.Joint(domain, channel=dn.BlockDesign(9, 3.0, order=3))
    assert dn.design_from_dict(design.to_dict()) == design
    truth = dn.Table(domain, np.array([[8, 1, 1], [1, 8, 1], [1, 1, 8]]) / 30)
    tallied = design.simulate(truth, 20_000, source=dn.Seeded(3))
    assert not design.questions[0].channel.is_support
    for method in ("inversion", "mle"):
        found = dn.estimate(tallied, ["a", "b"], method=method)
        # Nine cells and two methods at six standard errors: below 4e-8 in all.
        assert (np.abs(found.values - truth.values) < 6 * found.std_error).all()
    assert dn.independence(tallied, "a", "b", method="wald").pvalue < 1e-6

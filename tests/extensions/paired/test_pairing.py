"""Paired coins: the joint distribution is the integers', and the variance theorem is an enumeration's."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from deniable.core.randomness import Seeded
from deniable.errors import DesignError, InputError, ProbabilityError
from deniable.extensions.paired.pairing import Coins, checked_rho, count_variance, joint_truthfulness, lowest_rho

CASES = [(0.8, -0.25), (0.8, -0.1), (0.55, -0.8), (0.9, 0), (0.501, -0.99), (0.99, -0.01)]


@pytest.mark.parametrize(("p", "rho"), [*CASES, (0.8, 0.7), (0.6, 1)])
def test_the_joint_distribution_has_the_right_margins_and_correlation(p, rho):
    (both_lie, lie_truth), (truth_lie, both) = joint_truthfulness(p, rho)
    exact, value = Fraction(str(p)), Fraction(str(rho))
    assert both_lie + lie_truth + truth_lie + both == 1
    assert truth_lie + both == lie_truth + both == exact
    assert both - exact**2 == value * exact * (1 - exact)
    assert min(both_lie, lie_truth, both) >= 0


@pytest.mark.parametrize(("p", "rho"), [(0.8, -0.26), (0.8, 1.01), (0.6, -1), (0.5001, -1)])
def test_an_impossible_correlation_is_refused_with_its_range(p, rho):
    with pytest.raises(ProbabilityError, match=r"between -q/p = -.* and 1") as caught:
        joint_truthfulness(p, rho)
    assert caught.value.lowest == pytest.approx(-(1 - p) / p)


@pytest.mark.parametrize("p", [0.5, 0.3, 1, 1.2, float("nan")])
def test_p_must_lie_between_a_half_and_one(p):
    with pytest.raises(ProbabilityError):
        lowest_rho(p)


@pytest.mark.parametrize("rho", [float("nan"), float("inf"), "much", None])
def test_rho_must_be_a_number(rho):
    with pytest.raises(ProbabilityError, match="correlation"):
        checked_rho(0.8, rho)


def test_a_p_too_near_a_half_for_the_width_is_refused():
    with pytest.raises(ProbabilityError, match="more than half"):
        Coins.of(0.500001, -0.1, bits=16)
    assert Coins.of(0.500001, -0.1).p <= Fraction(500001, 10**6)


def test_a_corner_stated_as_a_float_is_the_corner():
    for p in np.linspace(0.51, 0.99, 40):
        corner = -(1 - p) / p
        assert checked_rho(float(p), corner) == lowest_rho(float(p))
        coins = Coins.of(float(p), corner)
        assert coins.is_corner
        assert coins.joint[0][0] == 0


def test_a_positive_correlation_exists_but_is_not_run():
    assert joint_truthfulness(0.8, 0.5)[1][1] > Fraction(64, 100)
    with pytest.raises(DesignError, match="one part in n"):
        Coins.of(0.8, 0.5)


@pytest.mark.parametrize("bad", [(1 << 15, 0, 16), (1 << 16, 0, 16), (50000, 20000, 16), (50000, -1, 16), (50, 0, 7)])
def test_impossible_integers_are_refused(bad):
    with pytest.raises(DesignError):
        Coins(*bad)


@pytest.mark.parametrize(("p", "rho"), CASES)
@pytest.mark.parametrize("bits", [16, 32])
def test_integers_are_rounded_towards_privacy(p, rho, bits):
    coins = Coins.of(p, rho, bits=bits)
    exact, value = Fraction(str(p)), Fraction(str(rho))
    assert coins.p <= exact
    assert exact - coins.p < Fraction(1, 1 << bits)
    if not coins.is_corner:
        assert value <= coins.rho <= 0
    assert float(coins.rho) == pytest.approx(rho, abs=2e-3 if bits == 16 else 1e-6)
    assert coins.channel.p == float(coins.p)


@pytest.mark.parametrize(("p", "rho"), CASES)
def test_all_draws_give_exactly_the_joint_distribution(p, rho):
    coins = Coins.of(p, rho, bits=16)
    draws = np.arange(1 << 16, dtype=np.uint16)
    favoured = int(coins.truthful_at(np.full(1 << 16, 1), draws).sum())
    against = int(coins.truthful_at(np.full(1 << 16, -1), draws).sum())
    assert (favoured, against) == (coins.truthful + coins.shift, coins.truthful - coins.shift)
    # One member has the coin for it, the other against it; given the coin their draws are independent.
    both = Fraction(favoured * against, 1 << 32)
    assert both == coins.joint[1][1]
    assert Fraction(favoured + against, 1 << 17) == coins.p
    assert both - coins.p**2 == coins.rho * coins.p * (1 - coins.p)


def test_a_threshold_is_the_published_construction():
    coins = Coins(50000, 9000, 16)
    draws = np.arange(1 << 16, dtype=np.uint16)
    ends = np.cumsum([50000 - 9000, 9000, 9000])  # {p - d, d, d, q - d}
    c = np.array([1.5, 0.5, -0.5, -1.5])[np.searchsorted(ends, draws, side="right")]
    for s in (1, -1):
        np.testing.assert_array_equal(coins.truthful_at(np.full(len(draws), s), draws), c + s > 0)


@pytest.mark.parametrize("bits", [16, 32])
def test_the_ends_of_the_stretches_at_full_width(bits):
    coins = Coins.of(0.75, -0.2, bits=bits)
    for side in (1, -1):
        end = coins.truthful + side * coins.shift
        draws = np.array([0, end - 1, end, (1 << bits) - 1], dtype=f"u{bits // 8}")
        assert coins.truthful_at(np.full(4, side), draws).tolist() == [True, True, False, False]


def test_two_devices_that_exchanged_one_bit_have_the_joint_distribution():
    coins, source, runs = Coins.of(0.7, -0.3), Seeded(11), 4000
    seen = np.zeros((2, 2))
    coin = source.stream().words(runs, 8) & 1
    for bit in coin.tolist():
        side = 1 - 2 * bit
        a, b = coins.answer(1, side, source=source), coins.answer(0, -side, source=source)
        seen[int(a == 1), int(b == 0)] += 1
    expected = np.array(coins.joint, dtype=float) * runs
    # Chi-square with 3 degrees of freedom; a right program exceeds this with probability 1e-7.
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-7, 3)


def test_a_device_refuses_what_is_no_answer_and_no_side():
    for code, side in ((2, 1), (0, 0), (1, 2)):
        with pytest.raises(InputError):
            Coins.of(0.8, -0.1).answer(code, side)


def enumerated_variance(p, rho, truth, pairs):
    """The variance of the estimated count, over every choice of `pairs` pairs and every outcome of their coins."""
    n, q = len(truth), 1 - p
    joint = {(0, 0): q * q + rho * p * q, (1, 1): p * p + rho * p * q}
    joint[0, 1] = joint[1, 0] = (1 - rho) * p * q
    mean = square = total = 0.0
    for matching in all_matchings(n, pairs):
        alone = [i for i in range(n) if all(i not in pair for pair in matching)]
        for t in product((0, 1), repeat=n):
            chance = 1.0
            for i, j in matching:
                chance *= joint[t[i], t[j]]
            for i in alone:
                chance *= p if t[i] else q
            said = sum(x if keep else 1 - x for x, keep in zip(truth, t, strict=True))
            value = (said - n * q) / (p - q)
            mean, square, total = mean + chance * value, square + chance * value**2, total + chance
    mean, square = mean / total, square / total
    return mean, square - mean**2


def all_matchings(n, pairs):
    """Every set of disjoint pairs of the given size."""

    def grow(chosen, left):
        if len(chosen) == pairs:
            yield chosen
            return
        for index, i in enumerate(left):
            for j in left[index + 1 :]:
                if not chosen or (i, j) > chosen[-1]:
                    yield from grow([*chosen, (i, j)], [x for x in left if x not in (i, j)])

    yield from grow([], list(range(n)))


@pytest.mark.parametrize(("p", "rho"), [(0.8, -0.25), (0.6, -0.3), (0.7, 0.5)])
@pytest.mark.parametrize(
    ("n", "yes", "pairs"), [(2, 2, 1), (2, 1, 1), (4, 1, 2), (4, 3, 1), (5, 1, 2), (5, 4, 1), (6, 0, 3), (6, 2, 2)]
)
def test_the_variance_theorem_is_the_enumerated_variance(p, rho, n, yes, pairs):
    truth = [1] * yes + [0] * (n - yes)
    mean, variance = enumerated_variance(p, rho, truth, pairs)
    assert mean == pytest.approx(yes)  # unbiased for any rho
    assert count_variance(p, rho, n, yes, pairs) == pytest.approx(variance)


def test_with_everybody_paired_it_is_the_published_formula():
    p, rho, n, yes = 0.7, -0.2, 100, 13
    published = p * (1 - p) / (2 * p - 1) ** 2 * (n + rho * ((2 * yes - n) ** 2 - n) / (n - 1))
    assert count_variance(p, rho, n, yes) == pytest.approx(published)
    assert count_variance(p, rho, n, yes, 0) == pytest.approx(p * (1 - p) / (2 * p - 1) ** 2 * n)
    assert count_variance(p, rho, 1, 1) == pytest.approx(p * (1 - p) / (2 * p - 1) ** 2)
    with pytest.raises(InputError, match="cannot complete"):
        count_variance(p, rho, n, yes, 51)

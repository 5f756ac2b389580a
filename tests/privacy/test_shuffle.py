"""The second number: against laws written out, and against what is known of binary randomized response."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.errors import InputError
from deniable.privacy.shuffle import Amplified, _delta, _likely, amplified, usual_delta


def exactly(epsilon, odds, n, share, heard):
    """Delta between the two laws, cell by cell, in floats of numbers made of Fractions."""
    p, found = odds / (odds + 1), Fraction(0)
    wanted = Fraction(exp(epsilon))
    for c in range(n):
        here = comb(n - 1, c) * share**c * (1 - share) ** (n - 1 - c)
        half = Fraction(1, 2**c)
        for a in range(c + 2):
            one, none = (comb(c, a - 1) if a else 0) * half, (comb(c, a) if a <= c else 0) * half
            found += here * max(0, p * one + (1 - p) * none - wanted * ((1 - p) * one + p * none))
    return float(heard * found)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
@pytest.mark.parametrize(("odds", "share"), [(Fraction(3), Fraction(1, 3)), (Fraction(5, 2), Fraction(4, 7))])
def test_delta_is_that_of_the_two_laws(epsilon, odds, share):
    for n in (1, 2, 7, 30):
        found = _delta(epsilon, float(odds), n, (float(share), 1.0))
        true = exactly(epsilon, odds, n, share, 1)
        assert true <= found <= true * (1 + 1e-8) + 1e-12


@pytest.mark.parametrize(
    ("local", "n", "delta", "at_most"),
    [(2, 10**4, 1e-6, 0.115), (2, 10**5, 1e-8, 0.045), (4, 10**4, 1e-6, 0.42), (4, 10**5, 1e-8, 0.16)],
)
def test_binary_randomized_response_meets_what_is_known(local, n, delta, at_most):
    design = dn.Joint({"answer": ["no", "yes"]}, float(local))
    found = design.amplified(n, delta=delta)
    assert 0.9 * at_most < found.epsilon <= at_most
    assert found.local == design.epsilon


def shuffled_delta(channel, epsilon, n, other):
    """The true delta for one neighbour pair: every multiset of reports, others' truth all the same."""
    matrix = [[Fraction(w) for w in row] for row in weights_of(channel)]
    total = sum(row[0] for row in matrix)
    laws = []
    for truth in (0, 1):
        law = {}
        for cells in product(range(len(matrix)), repeat=n):
            chance = matrix[cells[0]][truth] / total
            for cell in cells[1:]:
                chance *= matrix[cell][other] / total
            key = tuple(sorted(cells))
            law[key] = law.get(key, 0) + chance
        laws.append(law)
    wanted = Fraction(exp(epsilon))
    return float(sum(max(0, laws[0][key] - wanted * laws[1].get(key, 0)) for key in laws[0]))


def weights_of(channel):
    return np.round(channel.matrix() * 2**40).astype(object).tolist()


@pytest.mark.parametrize("channel", [dn.KRR(3, 1.0), dn.BlockDesign(4, 1.5, order=2), dn.KRR(4, 2.0)], ids=repr)
def test_it_bounds_what_counts_of_real_channels_tell(channel):
    """Second way: the whole law of the shuffled reports, for a few respondents."""
    n = 4 if channel.outputs <= 4 else 3
    for epsilon in (0.2, 0.8):
        bounds = [
            _delta(epsilon, float(channel.ratio), n, (float(s), float(h)))
            for s, h in [(1 / channel.ratio, Fraction(1)), *channel.clones()]
        ]
        for other in range(channel.inputs):
            assert shuffled_delta(channel, epsilon, n, other) <= min(bounds) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("channel", [dn.SubsetSelection(5, 1.0, d=2), dn.BlockDesign(9, 1.0, order=3)], ids=repr)
def test_clones_are_what_the_law_of_sets_gives(channel):
    """R_i >= (s / 2)(Q_0 + Q_1) with Q_0, Q_1 the sets that hold exactly one of the two, and h their share."""
    ((share, heard),) = channel.clones()
    every = channel.every_report(1000) if channel.is_support else np.arange(channel.outputs)
    law = channel.likelihood(every)
    first, second = law[:, 0] > law[:, 1], law[:, 0] < law[:, 1]
    assert law[first | second, 0].sum() == pytest.approx(float(heard))
    assert law[first, 0] / law[first, 1] == pytest.approx(float(channel.ratio))
    least = law[first].min(axis=1).sum()
    assert least == pytest.approx(float(share) / 2)


def test_clones_of_k_rr_are_what_its_own_draws_give():
    """Both statements at once: every report's least law over truths, and the two truths' own reports."""
    channel = dn.KRR(4, 1.0)
    law = channel.weights().tolist()
    draws = sum(row[0] for row in law)
    (share, heard), (own, told) = channel.clones()
    assert all(2 * min(row) >= share * (row[0] + row[1]) for row in law)
    assert (share, heard) == (2 * Fraction(law[1][0], law[0][0] + law[1][0]), 1)
    assert (own, told) == (Fraction(2 * law[2][0], draws), Fraction(law[0][0] + law[1][0], draws))
    assert dn.KRR(2, other=2**15 + 1, bits=16).clones() == ()  # which lies more often than not


def test_sets_of_more_than_two_chances_or_that_leave_the_truth_out_have_none():
    lying = dn.SubsetSelection(5, d=2, own=1 << 14, bits=16)  # holds the truth a quarter of the time, each other 7/16
    assert lying.chances.p < lying.chances.q
    assert lying.clones() == dn.Unary(5, 1.0).clones() == ()


@pytest.mark.parametrize("p", [1e-9, 0.01, 0.3, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("n", [0, 1, 40, 3000, 1_000_000])
def test_likely_numbers_are_those_of_the_binomial_law(n, p):
    count, weight = _likely(n, p)
    assert np.allclose(weight, binom.pmf(count, n, p), rtol=1e-9, atol=1e-14)
    assert binom.cdf(count[0] - 1, n, p) <= 1e-14
    assert binom.sf(count[-1], n, p) <= 1e-14


def test_it_stands_beside_the_local_one():
    design = dn.Joint({"a": ["no", "yes"], "b": ["no", "yes"]}, 1.0)
    plain, more = design.describe(), design.describe(published=5000)
    assert more.epsilon == plain.epsilon
    assert more.lines()[: len(plain.lines())] == plain.lines()
    assert "Readers of published counts of 5000" in more.lines()[-1]
    assert "stays the epsilon per respondent" in more.lines()[-1]
    assert usual_delta(5000) == 1e-6
    assert usual_delta(10**6) == 1e-8
    many = dn.Views({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, k=2, epsilon=1.0).amplified(5000)
    assert design.amplified(5000).epsilon < many.epsilon < 1  # ballots: what holds of any channel
    assert design.amplified(1).epsilon <= design.epsilon
    assert isinstance(many, Amplified)


def test_what_has_no_second_number_is_refused():
    with pytest.raises(InputError, match="no second number"):
        dn.Paired({"a": [0, 1]}, p=0.7, rho=-0.2).describe(published=100)
    with pytest.raises(InputError, match="at least one respondent"):
        amplified(Fraction(3), 0)
    with pytest.raises(InputError, match="delta is a probability"):
        amplified(Fraction(3), 10, delta=0.0)
    assert amplified(float("inf"), 10).epsilon == float("inf")

"""Optimal channels: every printed optimum, exact epsilons, held-back problems, and what they refuse to tell."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from deniable.aims.aim import matrix_of
from deniable.aims.parse import gathered
from deniable.channels.read_channel import channel_from_dict
from deniable.device.epsilon import exp_below
from deniable.errors import InputError, NotIdentifiedError, PrecisionError, SingularChannelError
from deniable.optimal.channel_problem import Problem
from deniable.optimal.column_generation import solution
from deniable.optimal.optimal_channel import closed_form
from deniable.optimal.round_patterns import whole_weights

THREE = dn.Domain({name: ["no", "yes"] for name in "abc"})
PAIRS = list(combinations("abc", 2))


def cdf(t):
    return np.tril(np.ones((t, t)))[:-1]


WANTED = {
    "cdf 7": cdf(7),
    "cdf 11": cdf(11),
    "all pairs of 3": matrix_of(THREE, gathered(PAIRS)),
    "mean and shares": np.vstack([np.arange(5.0), 0.1 * np.eye(5)]),
    "mean of 0..10": np.arange(11.0),
    "associations of 3": matrix_of(THREE, [dn.Wanted.association(*pair) for pair in PAIRS]),
}
OPTIMA = [
    ("cdf 7", 0.5, 81.534),
    ("cdf 7", 1.0, 19.299),
    ("cdf 7", 2.0, 4.5309),
    ("cdf 7", 3.0, 2.1266),
    ("cdf 11", 1.0, 42.234),
    ("cdf 11", 2.0, 9.2825),
    ("all pairs of 3", 1.0, 48.412),
    ("all pairs of 3", 2.0, 11.285),
    ("mean and shares", 1.0, 18.175),
    ("mean of 0..10", 0.5, 409.93),
    ("mean of 0..10", 1.0, 108.01),
    ("mean of 0..10", 2.0, 29.852),
    ("mean of 0..10", 3.0, 16.707),
    ("associations of 3", 1.0, 8.3062),
]


def holds(channel, wanted, epsilon):
    """What every optimal channel owes: exact integers, the stated loss, and a bound below it."""
    assert channel.ratio <= exp_below(epsilon)  # fractions of integers: never above the asked epsilon
    assert channel.epsilon <= epsilon
    weights = channel.weights()
    assert (weights.sum(axis=0) == 1 << channel.bits).all()
    assert weights.min() > 0
    assert channel.loss == pytest.approx(channel.problem.loss(channel.matrix()), rel=1e-9)
    assert channel.bound <= channel.loss
    for row in np.atleast_2d(wanted):
        assert channel.tells(row)


@pytest.mark.parametrize(("name", "epsilon", "optimum"), OPTIMA, ids=str)
def test_every_printed_optimum_is_met_and_certified(name, epsilon, optimum):
    channel = dn.optimal_channel(WANTED[name], epsilon)
    holds(channel, WANTED[name], epsilon)
    assert channel.loss == pytest.approx(optimum, rel=1.1e-3)  # whole numbers may cost .1%
    assert channel.bound == pytest.approx(optimum, rel=5e-5)
    assert channel.bound == (channel.certificate.check() if channel.certificate else closed_form(channel.problem))
    assert solution(channel.problem).point.loss <= channel.bound * (1 + 1e-6)
    # A corner has no more patterns than there are equations; one more report takes the remainder.
    assert channel.outputs <= channel.inputs * (channel.inputs + 1) // 2 + 1


def test_held_back_problems_and_skewed_truths(cases):
    for wanted, epsilon, truth in cases(7, 25, 8):
        channel = dn.optimal_channel(wanted, epsilon, truth)
        holds(channel, wanted, epsilon)
        assert channel.times <= 1.0011
        assert closed_form(channel.problem) <= channel.bound * (1 + 1e-6)


def test_channels_of_today_are_as_far_off_as_they_are_printed():
    for name, epsilon, times in (("cdf 7", 0.5, 1.95), ("cdf 7", 1.0, 1.53), ("cdf 11", 2.0, 1.45)):
        bound = dn.optimal_channel(WANTED[name], epsilon).bound
        krr = Problem.of(WANTED[name], epsilon).loss(dn.KRR(WANTED[name].shape[1], epsilon).matrix())
        assert krr / bound == pytest.approx(times, abs=0.006)


def test_one_bit_is_near_the_best_for_a_mean_when_epsilon_is_small():
    e = np.e
    high = (1 + (e - 1) * np.arange(11) / 10) / (e + 1)
    problem = Problem.of(np.arange(11.0), 1.0)
    assert problem.loss([high, 1 - high]) / 108.01 == pytest.approx(1.08, abs=0.005)


def test_associations_tell_no_margin():
    channel = dn.optimal_channel(WANTED["associations of 3"], 1.0)
    assert channel.is_partial
    assert np.linalg.matrix_rank(channel.matrix()) == 4
    assert channel.times == pytest.approx(1, abs=1e-3)
    assert not channel.tells(matrix_of(THREE, [dn.Wanted.shares("a")])[0])
    with pytest.raises(SingularChannelError, match="tells only some sums"):
        channel.solve(np.full(channel.outputs, 1 / channel.outputs))
    with pytest.raises(NotIdentifiedError, match="row space"):
        Problem.of(np.eye(8), 1.0).loss(channel.matrix())


def test_weights_of_the_reports_estimate_what_is_wanted():
    # Simulated: 400 surveys of 500. The mean of n x squared error has a relative deviation of sqrt(2 / 400) = 7%, and
    # five deviations are passed with probability below 1e-6.
    channel = dn.optimal_channel(WANTED["mean of 0..10"], 1.0)
    truth = np.full(11, 1 / 11)
    estimator = channel.solve_adjoint(np.arange(11.0))
    counts = channel.draw(truth, 500, dn.Seeded(3).stream().generator(), 400)
    errors = estimator @ counts / 500 - 5
    assert 500 * (errors**2).mean() == pytest.approx(channel.loss, rel=0.36)


def test_a_large_ordered_question():
    wanted = cdf(18)
    channel = dn.optimal_channel(wanted, 1.0)
    holds(channel, wanted, 1.0)
    assert channel.certificate is None
    assert channel.times <= 1.06
    assert "as the best possible channel, at even shares" in repr(channel)
    assert channel.name == "Searched(18)"  # within a few hundredths of the floor, but nobody knows how many
    slope = dn.optimal_channel(np.arange(20.0), 2.0)  # rank one: the closed form is far below
    holds(slope, np.arange(20.0), 2.0)
    assert slope.loss < 0.8 * Problem.of(np.arange(20.0), 2.0).loss(dn.KRR(20, 2.0).matrix())


def test_the_same_content_is_the_same_channel():
    once = dn.optimal_channel(cdf(4), 1.0)
    assert dn.optimal_channel([list(row) for row in cdf(4)], 1.0) is once
    assert channel_from_dict(once.to_dict()) == once
    assert "needs at most 1.01 times as many" in repr(once)
    assert once.name == "Optimal(4)"


def test_three_answers_may_need_five_patterns():
    # t (t - 1) / 2 + 1 = 4 would not do: the information of the best channel is unique, and so are its patterns.
    problem = Problem.of(np.random.default_rng(1).normal(size=(3, 3)), 1.0)
    patterns, point = solution(problem)
    tight = patterns[point.p > 1e-4]
    x = problem.rows(tight)
    assert len(tight) == 5
    assert np.linalg.matrix_rank(np.array([np.outer(row, row).ravel() for row in x]), 1e-6) == 5


def test_what_cannot_be_made_is_refused():
    with pytest.raises(InputError, match="at most 256"):
        dn.optimal_channel(np.arange(257.0), 1.0)
    problem = Problem.of([0, 1], 1e-9)
    with pytest.raises(PrecisionError, match="32-bit draws"):
        whole_weights(problem, np.array([[True, False], [False, True]]), np.array([0.5, 0.5]), 1e18)

"""Means, quantiles and distribution functions: against closed forms, and how often their intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

import deniable as dn
from deniable.errors import EstimationError, InputError
from deniable.inference.measures.two_by_two import fieller
from deniable.inference.numbers.ordered_attribute import ordered

K = 11
TRUTH = np.linspace(3, 1, K) / np.linspace(3, 1, K).sum()
SCALE = dn.Domain({"trust": list(range(K))})


def observed(channel=None, n=4000, seed=1, truth=TRUTH):
    channel = channel or dn.KRR(K, 1.5)
    return dn.Observation(SCALE, channel, channel.draw(truth, n, np.random.default_rng(seed), 1)[:, 0])


def test_a_mean_of_one_question_is_the_inverted_channel_s():
    """Second way: the weights Q's of single reports, and their variance."""
    seen = observed()
    scores = np.arange(K)
    weight = seen.channel.solve_adjoint(scores)
    value = weight @ seen.shares
    variance = (weight**2 @ seen.shares - value**2) / (seen.n - 1)
    found = dn.mean(seen, "trust")
    assert found.value == pytest.approx(value)
    assert found.std_error == pytest.approx(np.sqrt(variance), rel=1e-6)
    low, high = found.interval()
    assert low < found.value < high
    assert high - low == pytest.approx(2 * norm.ppf(0.975) * np.sqrt(variance), rel=0.01)


def test_a_sum_is_so_many_means():
    seen = observed()
    one, all_of_them = dn.mean(seen, "trust"), dn.total(seen, "trust", size=5000)
    assert all_of_them.value == pytest.approx(5000 * one.value)
    assert all_of_them.std_error == pytest.approx(5000 * one.std_error)
    assert all_of_them.interval().low == pytest.approx(5000 * one.interval().low)


def test_a_mean_needs_no_table():
    """A channel of one bit tells the mean, and nothing else."""
    rising = 17_000 + 3000 * np.arange(K)
    channel = dn.Dense.from_weights(np.stack([65_536 - rising, rising]), 16, partial=True)
    seen = dn.Observation(SCALE, channel, [2300, 1700])
    share = 1700 / 4000
    line = channel.matrix()[1]
    slope = (line[-1] - line[0]) / (K - 1)
    found = dn.mean(seen, "trust")
    assert found.value == pytest.approx((share - line[0]) / slope, abs=1e-6)
    assert found.std_error == pytest.approx(np.sqrt(share * (1 - share) / 3999) / slope, rel=1e-3)
    with pytest.raises(EstimationError, match="do not tell this"):
        dn.cdf(seen, "trust")


def test_who_stands_aside_does_not_count():
    variable = dn.Domain({"trust": [*map(str, range(4)), "no answer"]})
    channel = dn.KRR(5, 2.0)
    truth = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    seen = dn.Observation(variable, channel, 10_000 * channel.apply(truth))
    scores = [0, 1, 2, 3, None]
    assert dn.mean(seen, "trust", scores=scores).value == pytest.approx(1.4 / 0.8)
    named = dict(zip(variable["trust"].categories, scores, strict=True))
    assert dn.mean(seen, "trust", scores=named).value == pytest.approx(1.75)
    assert dn.total(seen, "trust", size=100, scores=scores).value == pytest.approx(140)
    function = dn.cdf(seen, "trust", scores=scores)
    assert function.values == pytest.approx([0.125, 0.375, 0.75], abs=2e-3)
    assert function.efficient == pytest.approx([0.125, 0.375, 0.75])
    assert "'no answer'" in str(function)
    assert dn.median(seen, "trust", scores=scores).value == 2
    low, high = function.interval(simultaneous=False)
    assert ((low < function.efficient) & (function.efficient < high)).all()


def test_groups_have_means_and_differ():
    table = dn.Table(dn.Domain({"sex": ["F", "M"], "trust": [0, 1, 2]}), [[0.1, 0.2, 0.3], [0.2, 0.1, 0.1]])
    channel = dn.KRR(6, 3.0)
    seen = dn.Observation(table.domain, channel, 9000 * channel.apply(table.values.ravel()))
    means = dn.means_by(seen, "trust", "sex")
    assert means.values == pytest.approx([0.8 / 0.6, 0.3 / 0.4])
    difference = dn.mean_difference(seen, "trust", "sex")
    assert difference.value == pytest.approx(0.75 - 0.8 / 0.6)
    assert difference.value == pytest.approx(-dn.mean_difference(seen, "trust", "sex", groups=("M", "F")).value)
    # Second way: the derivative by differences, through the covariance of the cells.
    found = dn.estimate(seen, ["sex", "trust"])

    def contrast(x):
        return x[1] @ [0, 1, 2] / x[1].sum() - x[0] @ [0, 1, 2] / x[0].sum()

    slope = np.zeros((2, 3))
    for place in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[place] = 1e-6
        slope[place] = (contrast(table.values + step) - contrast(table.values - step)) / 2e-6
    assert difference.std_error == pytest.approx(np.sqrt(found.covariance.quadratic(slope)), rel=1e-4)


def test_a_group_that_may_be_empty_has_an_interval_without_end():
    assert fieller(1.0, 0.1, np.diag([0.01, 0.01]), 4.0) == (-np.inf, np.inf)
    low, high = fieller(2.0, 1.0, np.array([[0.04, 0.01], [0.01, 0.02]]), 4.0)
    for end in (low, high):  # the ends solve the equation that they are defined by
        assert (2 - end) ** 2 == pytest.approx(4 * (0.04 - 2 * end * 0.01 + end**2 * 0.02))


def test_quantiles_of_bins_are_interpolated_and_of_points_are_points():
    channel = dn.KRR(4, 3.0)
    domain = dn.Domain({"age": ["< 20", "20 to < 40", "40 to < 70", ">= 70"]})
    seen = dn.Observation(domain, channel, 20_000 * channel.apply(np.array([0.2, 0.4, 0.3, 0.1])))
    found = dn.quantile(seen, [0.4, 0.75], "age")
    assert found.values == pytest.approx([30, 55], rel=1e-3)
    low, high = found.interval()
    assert ((low < found.values) & (found.values < high)).all()
    # To first order the ends lie z errors beside the value.
    assert high - low == pytest.approx(2 * norm.ppf(0.975) * found.std_error, rel=0.05)
    assert dn.quantile(seen, 0.95, "age").interval().high == np.inf
    with pytest.raises(InputError, match="edges=, all of them finite"):
        dn.mean(seen, "age")
    assert dn.mean(seen, "age", edges=[0, 20, 40, 70, 90]).value == pytest.approx(0.2 * 10 + 0.4 * 30 + 0.3 * 55 + 8)
    points = dn.Observation(dn.Domain({"x": [1, 2, 5, 9]}), channel, seen.counts)
    middle = dn.median(points, "x")
    assert (middle.value, middle.interval().low, middle.interval().high) == (2, 2, 2)


def test_scores_may_stand_in_any_order():
    seen = dn.Observation(dn.Domain({"x": ["high", "low", "middle"]}), dn.KRR(3, 2.0), [500, 300, 200])
    function = dn.cdf(seen, "x", scores={"low": 0, "middle": 1, "high": 2})
    assert function.read.labels == ["low", "middle", "high"]
    assert function.efficient[0] == pytest.approx(dn.estimate(seen, "x").efficient.values[1])


def test_a_band_is_wider_than_points_and_narrower_than_bonferroni():
    function = dn.cdf(observed(), "trust")
    assert norm.ppf(0.975) < function.critical_value(0.95) < norm.ppf(1 - 0.025 / (K - 1))
    band, points = function.interval(), function.interval(simultaneous=False)
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    assert (band.high - band.low > 0.9 * (points.high - points.low)).all()
    assert function.interval() is not band
    assert (function.interval().low == band.low).all()  # the draws are the same every time


def test_intervals_hold_the_truth_as_often_as_they_say():
    """50 surveys; a right program would miss these bounds with probability below 1e-6 each."""
    runs, n, channel = 50, 600, dn.KRR(K, 2.0)
    counts = channel.draw(TRUTH, n, np.random.default_rng(7), runs)
    truth, edges = np.cumsum(TRUTH)[:-1], np.arange(K + 1.0)
    before = np.concatenate([[0], truth])
    middle = int(np.searchsorted(before, 0.5)) - 1
    median = middle + (0.5 - before[middle]) / TRUTH[middle]
    held = np.zeros(3, dtype=int)
    for run in range(runs):
        found = dn.estimate(dn.Observation(SCALE, channel, counts[:, run]), "trust", "norm_sub")
        held[0] += bool(dn.mean(found).interval().contains(TRUTH @ np.arange(K)))
        held[1] += bool(dn.median(found, edges=edges).interval().contains(median))
        held[2] += bool(dn.cdf(found).interval().contains(truth).all())
    least, most = binom.ppf([5e-7, 1 - 5e-7], runs, 0.95)
    assert ((least <= held) & (held <= most)).all()


def test_a_density_is_smoother_and_nearer():
    middle = np.arange(24)
    truth = np.exp(-0.5 * ((middle - 11) / 4) ** 2)
    truth /= truth.sum()
    channel = dn.KRR(24, 2.0)
    counts = channel.draw(truth, 8000, np.random.default_rng(2), 1)[:, 0]
    seen = dn.Observation(dn.Domain({"x": middle.tolist()}), channel, counts)
    found = dn.density(seen, "x")
    assert found.shares.sum() == pytest.approx(1)
    assert (found.heights >= 0).all()
    # A third of the squared errors or less.
    assert ((found.heights - truth) ** 2).sum() < 0.35 * ((found.rough - truth) ** 2).sum()
    inside = found.interval().contains(truth)
    assert inside.mean() > 0.7


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scores": [1, 2]}, "2 scores were given for the 3"),
        ({"scores": [1, None, None]}, "at least two categories"),
        ({"scores": {"a": 1, "b": 2, "d": 3}}, "no category of"),
        ({"scores": {"a": 1, "b": 2}}, "no number for 'c'"),
        ({"edges": [1, 2, 3]}, "4 rising numbers"),
        ({"edges": [1, 2, 2, 3]}, "rising"),
        ({"edges": [1, 2, 3, 4], "scores": [1, 2, 3]}, "not both"),
    ],
)
def test_what_is_no_number_is_refused(given, told):
    variable = dn.Variable("x", ("a", "b", "c"))
    with pytest.raises(InputError, match=told):
        ordered(variable, **given)
    seen = dn.Observation(dn.Domain([variable]), dn.KRR(3, 2.0), [5, 3, 2])
    with pytest.raises(InputError, match="give scores="):
        dn.mean(seen, "x")
    with pytest.raises(InputError, match="are no numbers"):
        dn.median(seen, "x")
    with pytest.raises(InputError, match="say which attribute"):
        dn.mean(seen)
    with pytest.raises(InputError, match="between 0 and 1"):
        dn.quantile(seen, [0.5, 1.0], "x", scores=[1, 2, 3])
    with pytest.raises(InputError, match="size above 0"):
        dn.total(seen, "x", size=0, scores=[1, 2, 3])


def test_a_group_that_the_estimate_has_nobody_in_leaves_everything_open():
    channel = dn.KRR(4, 1.0)
    counts = 500 * channel.apply([-0.05, -0.05, 0.5, 0.6])
    found = dn.estimate(dn.Observation(dn.Domain({"a": ["x", "y"], "b": [0, 1]}), channel, counts), ["a", "b"])
    for told in (dn.mean_difference(found, "b", by="a"), dn.means_by(found, "b", by="a").measures[0]):
        assert np.isnan(told.value)
        assert list(told.interval()) == [-np.inf, np.inf]
        assert "More respondents" in told.warnings[-1]

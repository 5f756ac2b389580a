"""Intervals: Wilson through the channel, checked exactly where a cell is one binomial and by simulation elsewhere."""

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from chequered import one_of
from deniable.errors import InputError

Z = 6.0  # standard errors: with the some 200 comparisons below, a false alarm has a chance under 1e-6


def interval_of(channel, counts, attributes="x", **options):
    return dn.estimate(dn.Observation(attributes, channel, counts), attributes, "inversion").interval(**options)


@pytest.mark.parametrize(
    "channel",
    [dn.KRR(4, 1.0), dn.Mixture(0.4, [0.1, 0.2, 0.3, 0.4]), dn.Mixture(0.4, [0.1, 0.2, 0.3, 0.4]).executed()],
    ids=str,
)
def test_where_a_cell_is_one_binomial_it_is_wilsons_interval_mapped(channel):
    from statsmodels.stats.proportion import proportion_confint

    counts = np.array([400, 90, 10, 0])
    interval = interval_of(channel, counts)
    low, high = proportion_confint(counts, counts.sum(), method="wilson")
    scale, offset = channel.affine()
    assert interval.low == pytest.approx((low - offset) / scale, abs=1e-12)
    assert interval.high == pytest.approx((high - offset) / scale, abs=1e-12)


def test_a_two_by_two_channel_is_one_binomial():
    from statsmodels.stats.proportion import proportion_confint

    channel = dn.Dense([[0.9, 0.3], [0.1, 0.7]])
    interval = interval_of(channel, [70, 30])
    low, high = proportion_confint(30, 100, method="wilson")
    assert (interval.low[1], interval.high[1]) == pytest.approx(((low - 0.1) / 0.6, (high - 0.1) / 0.6), abs=1e-12)


@pytest.mark.parametrize("t", [2, 4, 10, 32])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("n", [500, 5000])
def test_coverage_of_k_rr_cells_computed_exactly(t, epsilon, n):
    """Every possible count, weighed by its binomial probability: no simulation, no tolerance."""
    channel = dn.KRR(t, epsilon)
    scale, offset = channel.affine()
    low, high = ((end - offset[0]) / scale[0] for end in _wilson(n))
    # These are the program's: looked at for counts from end to end, and for those that decide about coverage.
    rare = round(n * (offset[0] + 0.002 * scale[0]))
    for count in {0, 1, rare, rare + 1, n // t, n // 2, n - 1, n}:
        shown = interval_of(channel, [count, n - count, *[0] * (t - 2)])
        assert (shown.low[0], shown.high[0]) == pytest.approx((low[count], high[count]), rel=1e-9, abs=1e-12)
    for pi in (0.0, 0.002, 0.01, 0.05, 1 / t, 0.5, 0.9):
        held = (low <= pi) & (pi <= high)
        coverage = binom.pmf(np.arange(n + 1), n, offset[0] + scale[0] * pi)[held].sum()
        assert 0.93 <= coverage <= 0.975, (pi, coverage)


def _wilson(n):
    from statsmodels.stats.proportion import proportion_confint

    return proportion_confint(np.arange(n + 1), n, method="wilson")


def shapes(shape):
    t = int(np.prod(shape))
    empty = np.zeros(t)
    empty[:2] = 0.95, 0.05
    sparse = np.r_[1 - 0.002 * (t - 1), np.full(t - 1, 0.002)]
    return {"even": np.full(t, 1 / t), "empty": empty, "sparse": sparse}


@pytest.mark.parametrize(
    ("kind", "shape", "epsilon"),
    one_of(
        2,
        [
            ("even", (2, 2), 1.0),
            ("even", (3, 4), 4.0),
            ("empty", (3, 4), 1.0),
            ("empty", (2, 2), 2.0),
            ("sparse", (2, 2), 4.0),
            ("sparse", (3, 4), 2.0),
        ],
    ),
)
def test_coverage_of_independently_randomized_cells(shape, epsilon, kind):
    repetitions, n = 200, 2000
    channel = dn.Kronecker([dn.KRR(size, epsilon) for size in shape])
    truth = shapes(shape)[kind].reshape(shape)
    names = [f"x{i}" for i in range(len(shape))]
    rng = np.random.default_rng([*shape, round(epsilon)])
    drawn = rng.multinomial(n, channel.apply(truth).ravel(), size=repetitions)
    each = np.array([interval_of(channel, counts.reshape(shape), names).contains(truth) for counts in drawn])
    held = each.sum(axis=0)
    error = np.sqrt(0.05 * 0.95 / repetitions)
    assert 0.93 - Z * error <= (held / repetitions).min()
    assert (held / repetitions).max() <= 0.975 + Z * error
    # Cells together say more than one alone; how much is seen in the repetitions.
    error = each.reshape(repetitions, -1).mean(axis=1).std() / np.sqrt(repetitions)
    assert 0.93 - Z * error <= held.mean() / repetitions <= 0.975 + Z * error


def test_coverage_of_pooled_samples():
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1], "d": [0, 1]})
    truth = dn.Table(domain, np.r_[0.6, 0.2, 0.1, np.full(21, 0.1 / 21)])
    design = dn.Views(domain, 2, 1.5, answer="all")
    source, each, repetitions = dn.Seeded(1), [], 200
    for _ in range(repetitions):
        estimate = dn.estimate(design.simulate(truth, 3000, source=source), ["b", "c"], "inversion")
        assert len(estimate.dispersion.samples) > 1
        each.append(estimate.interval().contains(truth.project(["b", "c"]).values))
    error = np.sqrt(0.05 * 0.95 / repetitions)
    assert (0.93 - Z * error <= np.mean(each, axis=0)).all()
    error = np.mean(each, axis=(1, 2)).std() / np.sqrt(repetitions)
    assert 0.93 - Z * error <= np.mean(each) <= 0.975 + Z * error


def test_pooled_samples_weigh_by_the_square():
    """Of very many reports Wilson's interval is Wald's, whose variance is computed elsewhere: sum of weight^2 var."""
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1], "d": [0, 1]})
    truth = dn.Table(domain, np.random.default_rng(3).dirichlet(np.full(24, 5.0)))
    design = dn.Views(domain, 2, 1.5, answer="all")
    estimate = dn.estimate(design.simulate(truth, 10**8, source=dn.Seeded(3)), ["b", "c"], "inversion")
    assert len({sample.weight for sample in estimate.dispersion.samples}) > 1
    wilson, wald = estimate.interval(), estimate.interval(method="wald")
    assert wilson.high - wilson.low == pytest.approx(wald.high - wald.low, rel=1e-3)


def test_fixed_population_intervals_cover_the_people_at_hand():
    import pyarrow as pa

    people = np.repeat([0, 1, 2], [700, 250, 50])
    frame = pa.table({"x": people})
    design = dn.Independent({"x": [0, 1, 2]}, 2.0)
    held, repetitions = np.zeros(3), 250
    for seed in range(repetitions):
        reports = design.randomize(frame, source=dn.Seeded(seed))
        held += dn.estimate(reports, "x", population="fixed").interval().contains(np.array([0.7, 0.25, 0.05]))
    error = np.sqrt(0.05 * 0.95 / repetitions)
    assert (0.93 - Z * error <= held / repetitions).all()
    assert (held / repetitions <= 0.975 + Z * error).all()


def test_ends_are_not_clipped_and_levels_nest():
    interval = interval_of(dn.KRR(4, 0.5), [30, 30, 30, 0])
    assert interval.low.min() < 0
    wide = interval_of(dn.KRR(4, 0.5), [30, 30, 30, 0], level=0.99)
    assert (wide.low[:3] < interval.low[:3]).all()
    assert wide.low[3] == pytest.approx(interval.low[3])  # of no report at all, the lowest share is zero at any level
    assert (wide.high > interval.high).all()
    low, high = interval
    assert (low < high).all()


def test_wald_is_the_estimate_plus_or_minus_z_errors():
    estimate = dn.estimate(dn.Observation("x", dn.KRR(3, 1.0), [50, 30, 20]), "x", "inversion")
    interval = estimate.interval(method="wald")
    assert interval.low == pytest.approx(estimate.values - 1.959963984540054 * estimate.covariance.variances**0.5)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_impossible_levels_are_refused(level):
    with pytest.raises(InputError, match="between 0 and 1"):
        interval_of(dn.KRR(2, 1.0), [5, 5], level=level)


def test_unknown_methods_are_refused():
    with pytest.raises(InputError, match='"wilson"'):
        interval_of(dn.KRR(2, 1.0), [5, 5], method="magic")


@pytest.mark.parametrize("method", ["clopper_pearson", "profile", "bootstrap"])
def test_what_needs_a_channel_that_can_be_inverted_is_refused_where_there_is_none(method):
    # Channels made for two tables tell b only together.
    design = dn.Optimal({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]}, ["a * b", "a * c"], 2.0)
    people = {"a": ["no", "yes"] * 30, "b": [0, 1, 2] * 20, "c": ["no", "no", "yes"] * 20}
    found = dn.estimate(design.randomize(people, source=dn.Seeded(1)), "b")
    with pytest.raises(InputError, match='Use "wilson" or "wald"'):
        found.interval(method=method, replicates=99, source=dn.Seeded(2))
    assert (found.interval().high > found.interval().low).all()

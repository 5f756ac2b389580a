"""Several sources: the test of one population against textbook ones, its size, and the average over respondents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import deniable as dn
from deniable.errors import InputError, UnknownAttributeError
from deniable.estimation.several_sources import agreement
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.gather import gather

QUESTION = dn.Domain({"x": ["no", "yes"]})


def seen(share, n, epsilon, rng):
    channel = dn.KRR(2, epsilon)
    return dn.Observation(QUESTION, channel, rng.multinomial(n, channel.apply(np.array([1 - share, share]))))


def waves(shares, seed, people=(5000, 1000)):
    rng = np.random.default_rng(seed)
    return [seen(share, n, e, rng) for share, n, e in zip(shares, people, (1.0, 4.0), strict=True)]


def compared(sources, names):
    told = gather(list(sources), names)
    return agreement(told, sources, efficient_from(told))


def test_two_samples_through_one_channel_are_pearson_s_test():
    # Through one channel sources agree where their reports do. The plausible table mixes 1% of the even one in.
    channel = dn.KRR(3, 2.0)
    counts = np.array([[310, 205, 485], [270, 250, 380]])
    found = compared([dn.Observation("x", channel, each) for each in counts], ["x"])
    assert found.df == 2
    assert found.statistic == pytest.approx(stats.chi2_contingency(counts, correction=False).statistic, rel=0.01)
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, 2))


def test_two_channels_are_the_test_of_two_shares():
    first, second = waves((0.1, 0.2), 1)
    found = compared([first, second], ["x"])
    parts = [dn.estimate(each, "x", "inversion") for each in (first, second)]
    shares = [part.values[1] for part in parts]
    # Variances at the common share, as the score has them.
    common = dn.estimate([first, second], "x").efficient.values
    variances = [
        part.dispersion.at(common).variances[1] * (each.n - 1) / each.n
        for part, each in zip(parts, (first, second), strict=True)
    ]
    z2 = (shares[0] - shares[1]) ** 2 / sum(variances)
    assert found.statistic == pytest.approx(z2, rel=0.02)
    assert found.df == 1


def test_the_test_holds_its_level():
    pvalues = [compared(waves((0.1, 0.1), seed, (500, 300)), ["x"]).pvalue for seed in range(400)]
    # Of 400 surveys more than 44 are rejected with a chance of 4e-7, fewer than 3 with 4e-7.
    assert 3 <= sum(p <= 0.05 for p in pvalues) <= 44


def test_differing_waves_are_said_and_their_average_is_that_over_respondents():
    sources = waves((0.1, 0.2), 1)
    common = dn.estimate(sources, "x")
    assert "p < 0.001" in common.reason
    (told,) = common.warnings
    assert told.startswith("The sources differ")
    assert 'combine="average"' in told
    assert dn.mean(common, scores=[0, 1]).warnings == common.warnings
    average = dn.estimate(sources, "x", combine="average")
    each = [dn.estimate(source, "x") for source in sources]
    weights = np.array([5, 1]) / 6
    assert average.values == pytest.approx(weights @ [one.values for one in each])
    assert average.unbiased.values == pytest.approx(weights @ [one.unbiased.values for one in each])
    assert average.std_error**2 == pytest.approx(weights**2 @ [one.std_error**2 for one in each])
    assert average.n == 6000
    assert not average.warnings
    alike = dn.estimate(waves((0.1, 0.1), 3), "x")
    assert "test of one common population" in alike.reason
    assert not alike.warnings


def test_intervals_of_the_average_hold_it():
    held = 0
    for seed in range(400):
        low, high = dn.estimate(waves((0.02, 0.2), seed, (300, 300)), "x", "inversion", combine="average").interval()
        held += low[1] <= 0.11 <= high[1]
    assert stats.binom.ppf(1e-6, 400, 0.93) <= held  # of 400 surveys, if 93% hold it


def test_measures_of_an_average_are_the_delta_method_s():
    domain = dn.Domain({"a": [0, 1], "b": [0, 1]})
    rng = np.random.default_rng(1)
    sources = [
        dn.Observation(domain, dn.KRR(4, e), rng.multinomial(2000, dn.KRR(4, e).apply(np.array(pi))).reshape(4))
        for e, pi in ((2.0, [0.4, 0.2, 0.2, 0.2]), (3.0, [0.3, 0.1, 0.2, 0.4]))
    ]
    found = dn.odds_ratio(dn.estimate(sources, ["a", "b"], combine="average"))
    assert found.method == "delta method"
    low, high = found.interval()
    assert low < found.value < high


def test_sources_that_speak_of_different_attributes_differ_in_what_both_tell():
    wide, narrow = dn.Joint({"x": ["no", "yes"], "y": [0, 1, 2]}, 3.0), dn.Joint({"x": ["no", "yes"]}, 2.0)
    truth = dn.Table(wide.domain, np.full((2, 3), 1 / 6))
    sources = [
        wide.simulate(truth, 2000, source=dn.Seeded(1)),
        narrow.simulate(truth.project("x"), 900, source=dn.Seeded(2)),
    ]
    assert compared(sources, ["x", "y"]).df == 1  # the narrow one tells x alone
    with pytest.raises(UnknownAttributeError):
        dn.estimate(sources, ["x", "y"], combine="average")


def test_clusters_make_sources_differ_less():
    rng, design = np.random.default_rng(4), dn.Joint({"x": ["no", "yes"]}, 4.0)
    village = np.repeat(np.arange(20), 50)
    yes = (rng.random(1000) < rng.beta(1, 3, 20)[village]).astype(int)
    sent = dn.Reports.of_codes(design, *design.randomize_codes(yes[:, None], source=dn.Seeded(1)))
    sources = [sent._rows(np.flatnonzero(village < 10)), sent._rows(np.flatnonzero(village >= 10))]
    alone, clustered = dn.estimate(sources, "x"), dn.estimate(sources, "x", clusters=village)
    effect = float(clustered.covariance.variances[0] / alone.covariance.variances[0])
    assert effect > 3
    squares = [float(each.reason.split("chi-square ")[1].split()[0]) for each in (alone, clustered)]
    assert squares[0] / squares[1] == pytest.approx(effect, rel=0.05)
    with pytest.raises(InputError, match='leave combine="average" out'):
        dn.estimate(sources, "x", clusters=village, combine="average")
    with pytest.raises(InputError, match='"common" or "average"'):
        dn.estimate(sources, "x", combine="mean")

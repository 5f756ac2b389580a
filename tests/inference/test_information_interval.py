"""Mutual information where cells are empty, or nearly: intervals that hold the truth, and values in their range."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2, ncx2

import deniable as dn
from chequered import black, one_of
from deniable.designs.observation import Observation
from deniable.inference.measures.information_interval import LikelyInformation, _limit_below, _mixed_quantile
from deniable.inference.measures.inverted_intervals import _least_share
from deniable.inference.measures.phi_squared import information, phi_squared

TABLES = {
    "one empty": [[0.5, 0.3], [0.2, 0.0]],
    "rare": [[0.5, 0.3], [0.195, 0.005]],
    "near": [[0.28, 0.02, 0.0], [0.05, 0.33, 0.02], [0.0, 0.02, 0.28]],
    "only the diagonal": [[0.3, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.3]],
}


def survey(table, n, seed, epsilon=2.0):
    """A table estimated from n simulated people."""
    truth = np.array(table)
    domain = dn.Domain({"a": range(truth.shape[0]), "b": range(truth.shape[1])})
    return dn.estimate(
        dn.Joint(domain, epsilon).simulate(dn.Table(domain, truth), n, source=dn.Seeded(seed)), ["a", "b"]
    )


@pytest.mark.parametrize(("name", "n"), black(TABLES, [1000, 10_000], of=3))
def test_intervals_hold_the_truth_where_cells_are_nearly_empty(name, n):
    truth, held = float(information(np.array(TABLES[name]))), 0
    for seed in range(20):
        found = dn.mutual_information(survey(TABLES[name], n, seed))
        low, high = found.interval()
        assert 0 <= low <= found.value <= high <= np.log(len(TABLES[name])) + 1e-12
        held += bool(low <= truth <= high)
    # At least 93% do, so that fewer than 11 of 20 have a chance below 1e-6; of the first and the last about 6 did.
    assert binom.cdf(10, 20, 0.93) < 1e-6
    assert held >= 11


def test_both_ends_are_likely_tables_and_nothing_beyond_them_is():
    found = survey(TABLES["rare"], 2000, 5)
    likely = LikelyInformation(found)
    low, high = likely(0.95)
    # Looked for by trying: tables of two rows and two columns, a hundred thousand about the likeliest.
    best, top = likely._best
    rng = np.random.default_rng(1)
    tried = rng.dirichlet(1 + 400 * best, 100_000)
    limit = likely.limit(0.95)
    loglik = likely._seen.counts[:, 0] @ np.log(likely._seen.forward(tried.T.reshape(2, 2, -1)))
    inside = tried[2 * (top - loglik) <= limit].reshape(-1, 2, 2)
    values = [float(information(each)) for each in inside]
    assert low <= min(values) < low + 0.01
    assert high - 0.01 < max(values) <= high


def weakly(strength):
    table = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    table[:2, :2] += strength * np.array([[1, -1], [-1, 1]])
    return table


def intervals(table, n, surveys, epsilon=2.0):
    domain = dn.Domain({"a": range(table.shape[0]), "b": range(table.shape[1])})
    channel = dn.Joint(domain, epsilon).questions[0].channel
    reports = channel.apply(table.ravel())
    for counts in np.random.default_rng(7).multinomial(n, reports, size=surveys):
        heard = Observation(domain, channel, counts.reshape(table.shape))
        found = dn.estimate(heard, ["a", "b"])
        yield heard, found, dn.mutual_information(found).interval()


@pytest.mark.parametrize("strength", one_of(2, [0.0, 0.01]))
def test_intervals_hold_no_and_little_information_of_many_directions(strength):
    table = weakly(strength)
    truth = float(information(table))
    held = sum(low <= truth + 1e-12 and truth <= high for _, _, (low, high) in intervals(table, 5000, 36))
    # At least 95% do; of the least among likely tables, in every direction alike, 59% did at independence.
    assert binom.cdf(24, 36, 0.95) < 1e-6
    assert held >= 25


def test_the_lower_end_is_zero_where_a_test_does_not_reject_independence():
    seen = set()
    for heard, found, (low, _) in intervals(weakly(0.03), 5000, 12):
        likely = LikelyInformation(found)
        test = dn.independence(heard, ["a", "b"], method="lrt", replicates=39, source=dn.Seeded(1))
        assert likely._fall == pytest.approx(test.statistic, abs=1e-3)
        if likely.empty.any():
            rejected = bool(chi2.sf(test.statistic, 6) < 0.025)
            assert (low > 0) == rejected
            seen.add(rejected)
    assert seen == {True, False}


def test_the_lower_limit_inverts_a_noncentral_chi_square_and_is_that_of_one_direction_far_from_zero():
    assert _limit_below(0.025, chi2.isf(0.025, 6) - 1e-9, 6) == np.inf
    for df in (1, 6):
        limit = _limit_below(0.025, 30.0, df)
        assert ncx2.sf(30.0, df, (np.sqrt(30.0) - np.sqrt(limit)) ** 2) == pytest.approx(0.025)
        assert _limit_below(0.025, 1e6, df) == pytest.approx(chi2.isf(0.05, 1), rel=0.01)


def test_the_limit_is_the_quantile_of_a_mixture():
    for empty in (0, 1, 5):
        x = _mixed_quantile(0.1, empty)
        df = np.arange(empty + 1)
        assert binom.pmf(df, empty, 0.5) @ chi2.sf(x, 1 + df) == pytest.approx(0.1)
    draws = np.random.default_rng(2).standard_normal((200_000, 3))
    drawn = draws[:, 0] ** 2 + (np.maximum(draws[:, 1:], 0) ** 2).sum(axis=1)
    # Of 200,000 draws a tenth, within five of its errors, .0034.
    assert (drawn > _mixed_quantile(0.1, 2)).mean() == pytest.approx(0.1, abs=0.0034)


def test_information_is_at_least_a_share_of_phi_squared():
    for table in np.random.default_rng(3).dirichlet(np.full(6, 0.4), 200).reshape(-1, 2, 3):
        ratio = float((1 / np.maximum(table.sum(axis=1)[:, None], table.sum(axis=0))).max())
        assert information(table) >= _least_share(ratio) * phi_squared(table) - 1e-12


@pytest.mark.parametrize("measure", [dn.chi2, dn.g2, dn.mutual_information, dn.cramers_v])
def test_corrected_values_stay_in_their_range_and_what_was_left_is_kept(measure):
    even = np.full((8, 7), 1 / 56)
    found = measure(survey(even, 300, 1, epsilon=0.5))
    low, high = found.interval()
    assert found.value == low == 0 < high
    assert found.warnings[0].startswith("Too few reports to tell")
    if measure is not dn.cramers_v:
        assert found.unbiased < -10 * found.within[1] / 300
    plain = measure(survey([[0.4, 0.1], [0.1, 0.4]], 20_000, 1))
    assert plain.unbiased == plain.value > 0
    assert not any("Too few" in told for told in plain.warnings)

"""Tests from reports that are sets: quasi-likelihood against what it stands for, its level and its power."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from chequered import one_of, times
from deniable.designs.observation import Observation
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.quasi_likelihood import Quasi, as_counts, countable, quasi_of

DOMAIN = dn.Domain({"a": range(3), "b": range(4)})
NULL = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
SHIFT = np.zeros((3, 4))
SHIFT[:2, :2] = [[0.04, -0.04], [-0.04, 0.04]]
CHANNELS = [dn.SubsetSelection(12, 1.0), dn.Unary(12, 1.0), dn.LocalHashing(12, 1.0), dn.KRR(12, 1.0)]


def observed(channel, table, n, seed=1):
    counts = channel.draw(table.ravel(), n, np.random.default_rng(seed), 1)[..., 0]
    return Observation(DOMAIN, channel, counts)


def surveys(channel, table, n, many, rng):
    """Evidence of many simulated surveys at once: that of the first, and the counts of all."""
    drawn = channel.draw(table.ravel(), n, rng, many)
    seen = countable(of_counts([Observation(DOMAIN, channel, drawn[..., 0])]))
    said = seen.groups[0].said
    if not isinstance(said, Quasi):
        return seen, drawn.reshape(12, many)
    return seen, as_counts(channel.solve(drawn / n), n, said.channel.affine()[0][0])


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: c.name)
def test_second_moments_of_replicates_are_those_of_the_channel(channel):
    tables = np.random.default_rng(2).dirichlet(np.ones(12), size=3).T
    for ours, pi in zip(channel.second_moments(channel.apply(tables)), tables.T, strict=True):
        shares = channel.apply(pi)
        theirs = np.stack([channel.moments_times(shares, w) for w in np.eye(12)], axis=1)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_of_k_rr_quasi_likelihood_is_the_likelihood():
    seen = observed(CHANNELS[3], NULL, 5000)
    quasi = quasi_of(seen, DOMAIN)
    np.testing.assert_allclose(quasi.counts, seen.counts.ravel(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(quasi.channel.matrix(), CHANNELS[3].matrix(), atol=1e-6)


@pytest.mark.parametrize("channel", CHANNELS[:3], ids=lambda c: c.name)
def test_quasi_counts_are_as_precise_as_the_sets_they_stand_for(channel):
    """s = 1 / sqrt(k v): the k-RR's variance at even shares is the channel's own."""
    even = np.full(12, 1 / 12)
    quasi = quasi_of(Observation(DOMAIN, channel, 1000 * channel.apply(even)), DOMAIN)
    s = quasi.channel.affine()[0][0]
    second = channel.second_moments(channel.apply(even[:, None]))[0]
    centred = np.eye(12) - 1 / 12
    assert np.trace(centred @ second @ centred) / 11 == pytest.approx(1 / (12 * s**2), rel=2e-3)
    # and the best table of the quasi-likelihood is the unbiased one wherever that has no negative cell
    counts = 10**6 * channel.apply(NULL.ravel())
    found = fit(countable(of_counts([Observation(DOMAIN, channel, counts)]))).pi[..., 0]
    np.testing.assert_allclose(found, NULL, atol=1e-9)


@pytest.mark.parametrize("channel", one_of(2, CHANNELS[:3]), ids=lambda c: c.name)
def test_the_level_is_held_and_dependence_is_found(channel):
    """Level 4 / 82: of surveys without dependence, more than so many are rejected with a chance below 1e-6."""
    from scipy.stats import binom

    rng, n, many = np.random.default_rng(3), 10_000, times(600, 200)
    seen, counts = surveys(channel, NULL, n, many, rng)
    rejected = independence_ratio(seen, "a", "b").rejects(counts, rng, most=81, limit=4).sum()
    assert rejected <= binom.isf(1e-6, many, 0.06)
    seen, counts = surveys(channel, NULL + SHIFT, n, many // 3, rng)
    assert independence_ratio(seen, "a", "b").rejects(counts, rng, most=81, limit=4).mean() > 0.5


def test_more_is_found_through_sets_than_through_single_answers():
    """At the same epsilon, 12 cells: the reason to have sets at all."""
    rng, found = np.random.default_rng(4), []
    for channel in (CHANNELS[0], CHANNELS[3]):
        seen, counts = surveys(channel, NULL + SHIFT, 15_000, 500, rng)
        statistics = independence_ratio(seen, "a", "b").statistic(counts).value
        found.append((statistics > 12.59).mean())  # chi-square, 6 degrees of freedom
    assert found[0] > found[1] + 0.05


def test_public_functions_take_sets():
    part = dn.Domain({"a": [0, 1, 2], "b": [0, 1, 2, 3], "c": [0, 1]})
    rng = np.random.default_rng(5)
    a, b, c = rng.integers(3, size=4000), rng.integers(4, size=4000), rng.integers(2, size=4000)
    frame = pd.DataFrame({"a": a, "b": np.where(rng.random(4000) < 0.7, a, b), "c": c, "group": c})
    design = dn.Joint(part, 6.0, channel="subset")
    reports = design.randomize(frame, keep=["group"], source=dn.Seeded(6))
    seen = {"replicates": 199}
    assert dn.independence(reports, "a", "b", **seen).pvalue == 1 / 200
    assert dn.independence(reports, "a", "c", **seen).pvalue > 1e-2  # fixed seed: an ordinary p-value
    assert dn.independence(reports, "a", "b", given="c", **seen).pvalue == 1 / 200
    assert dn.independence(reports, "a", "b", given="group", **seen).pvalue == 1 / 200
    assert dn.independence(reports, "a", "b", "wald").pvalue < 1e-6
    pairs = dn.all_pairs(reports, ["a", "b"], **seen)
    assert pairs["a", "b"].pvalue == 1 / 200
    names = ["a", "b", "c"]
    assert dn.homogeneity(reports, names, by="group", **seen).pvalue == 1 / 200  # c is the group
    even = np.full((3, 4, 2), 1 / 24)
    assert dn.goodness_of_fit(reports, names, even, **seen).pvalue == 1 / 200
    told = dn.power(
        design,
        2000,
        table=dn.Table(part.project(["a", "b"]), even.sum(axis=2)),
        replicates=200,
        source=dn.Seeded(8),
    )
    assert "likelihood ratio" in told.test


@pytest.mark.parametrize("n", [300, 2500])
def test_sets_of_several_attributes_are_tested(n):
    """Drawn anew person by person while that is quick, as the normal law has them beyond."""
    part = dn.Domain({"a": range(3), "b": range(2)})
    design = dn.Independent(part, channels={"a": dn.Unary(3, 3.0), "b": dn.KRR(2, 3.0)})
    table = dn.Table(part, [[0.3, 0.1], [0.2, 0.1], [0.05, 0.25]])
    made = dn.independence(design.simulate(table, n, source=dn.Seeded(1)), "a", "b", replicates=99)
    assert made.pvalue == 0.01  # V = .5: hardly ever missed
    even = dn.Table(part, np.outer([0.5, 0.3, 0.2], [0.6, 0.4]))
    assert dn.independence(design.simulate(even, n, source=dn.Seeded(2)), "a", "b", replicates=99).pvalue > 0.01


def test_goodness_of_fit_is_exact_whatever_the_number_of_reports():
    """H0 leaves nothing to estimate, so p-values are uniform: 300 of them at 8 reports each."""
    channel, even = dn.Unary(12, 1.0), NULL
    p = [
        dn.goodness_of_fit(observed(channel, even, 8, seed), ["a", "b"], even, replicates=19, source=dn.Seeded(seed))
        for seed in range(300)
    ]
    # At most .05 of them are .05: a binomial with sd .0126, so .13 is beyond six of them.
    assert np.mean([found.pvalue <= 0.05 for found in p]) < 0.13


def test_only_the_named_attributes_are_compared_between_groups():
    """a is alike in both groups, b is not: that must not be taken for a difference in a."""
    part = dn.Domain({"a": range(3), "b": range(3)})
    one, two = (np.outer([0.5, 0.3, 0.2], b) for b in ([0.8, 0.1, 0.1], [0.1, 0.1, 0.8]))
    for channel in ("subset", "unary", "hashing", "hadamard"):
        design = dn.Joint(part, 2.0, channel=channel)
        groups = {
            g: design.simulate(dn.Table(part, t), 20_000, source=dn.Seeded(i))
            for i, (g, t) in enumerate({"one": one, "two": two}.items())
        }
        found = dn.homogeneity(groups, "a", replicates=99)
        assert found.df == 2
        assert found.pvalue > 0.02  # fixed seeds: ordinary p-values
        assert dn.homogeneity(groups, "b", replicates=99).pvalue == 0.01


def test_a_rare_layer_does_not_stop_the_test():
    part = dn.Domain({"a": range(2), "b": range(3), "c": range(3)})
    table = dn.Table(part, np.einsum("i,j,k->ijk", [0.6, 0.4], [0.5, 0.3, 0.2], [0.9, 0.08, 0.02]))
    for seed in range(3):
        for channel in ("subset", "unary"):
            tallies = dn.Joint(part, 1.0, channel=channel).simulate(table, 1000, source=dn.Seeded(seed))
            found = dn.independence(tallies, "a", "b", given="c", replicates=99)
            assert found.df == 6
            assert 0 < found.pvalue <= 1


def test_many_categories_are_tested():
    channel = dn.LocalHashing(600, 2.0)
    even = np.full(600, 1 / 600)
    counts = channel.draw(even, 20_000, np.random.default_rng(12), 1)[..., 0]
    found = dn.goodness_of_fit(Observation("v", channel, counts), "v", even, replicates=99)
    assert found.df == 599
    assert found.pvalue > 0.01


def test_sets_about_different_attributes_are_pooled():
    design = dn.Views(dn.Domain({"a": range(3), "b": range(3), "c": range(3)}), 2, 2.0, channel="unary")
    other = dn.Joint(design.domain, 2.0, channel="unary")
    associated = np.full((3, 3, 3), 1 / 54) + np.eye(3)[:, :, None] / 18
    table = dn.Table(design.domain, associated)
    seen = [d.simulate(table, 4000, source=dn.Seeded(10)) for d in (design, other)]
    both = dn.independence(seen, "a", "b", replicates=99)
    assert both.statistic > max(dn.independence(one, "a", "b", replicates=9).statistic for one in seen)
    assert both.pvalue == 0.01

"""Bootstrap Wald: its algebra against the plain Wald test, its level and its power."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.designs.observation import Observation
from deniable.errors import InputError, InvalidTestError
from deniable.inference.wald import BootstrapWald, Given, InEach, Same
from deniable.inference.wald import Independent as IndependentAxes

DOMAIN = dn.Domain({"a": range(3), "b": range(4)})
NULL = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
SHIFT = np.zeros((3, 4))
SHIFT[:2, :2] = [[0.04, -0.04], [-0.04, 0.04]]
CHANNELS = [dn.SubsetSelection(12, 1.0), dn.Unary(12, 1.0), dn.LocalHashing(12, 1.0), dn.KRR(12, 1.0)]


def observed(channel, table, n, seed=1):
    counts = channel.draw(table.ravel(), n, np.random.default_rng(seed), 1)[..., 0]
    return Observation(DOMAIN, channel, counts)


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: c.name)
def test_second_moments_of_replicates_are_those_of_the_channel(channel):
    tables = np.random.default_rng(2).dirichlet(np.ones(12), size=3).T
    for ours, pi in zip(channel.second_moments(channel.apply(tables)), tables.T, strict=True):
        shares = channel.apply(pi)
        theirs = np.stack([channel.moments_times(shares, w) for w in np.eye(12)], axis=1)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_statistic_is_that_of_the_plain_test_with_the_covariance_under_h0():
    from deniable.inference.association import wald_statistics

    for channel in (CHANNELS[0], CHANNELS[3]):  # whose tables sum to one by themselves
        seen = observed(channel, NULL + SHIFT, 400_000)  # so many that the projection changes nothing
        test = BootstrapWald([[seen]], IndependentAxes(0, 1))
        ours = test.statistic([[seen.counts[..., None]]])[0][0]
        _, under_h0, df = wald_statistics(dn.estimate(seen, ["a", "b"], "inversion"))
        assert test.df == df == 6
        assert ours == pytest.approx(under_h0, rel=5e-3)


@pytest.mark.parametrize("channel", CHANNELS[:3], ids=lambda c: c.name)
def test_the_level_is_held_and_dependence_is_found(channel):
    """4,000 surveys: a true level of .05 has an sd of .0049, the reference's own included; .03 is six of them."""
    rng, n, surveys = np.random.default_rng(3), 10_000, 4000
    counts = channel.draw(NULL.ravel(), n, rng, surveys)
    test = BootstrapWald([[Observation(DOMAIN, channel, counts[..., 0])]], IndependentAxes(0, 1))
    statistics, reference = test.warp_speed([[counts]], rng)
    critical = np.quantile(reference, 0.95)
    assert 0.02 < (statistics > critical).mean() < 0.08
    dependent, _ = test.statistic([[channel.draw((NULL + SHIFT).ravel(), n, rng, surveys)]])
    assert (dependent > critical).mean() > 0.5


def test_more_is_found_through_sets_than_through_single_answers():
    """At the same epsilon, 12 cells: the reason to have sets at all (power .94 against .75 at 20,000, measured)."""
    rng, n = np.random.default_rng(4), 15_000
    found = []
    for channel in (CHANNELS[0], CHANNELS[3]):
        counts = channel.draw((NULL + SHIFT).ravel(), n, rng, 2000)
        test = BootstrapWald([[Observation(DOMAIN, channel, counts[..., 0])]], IndependentAxes(0, 1))
        found.append((test.statistic([[counts]])[0] > 12.59).mean())  # chi-square, 6 degrees of freedom
    assert found[0] > found[1] + 0.05


def test_public_functions_pick_it_for_sets():
    part = dn.Domain({"a": [0, 1, 2], "b": [0, 1, 2, 3], "c": [0, 1]})
    rng = np.random.default_rng(5)
    a, b, c = rng.integers(3, size=4000), rng.integers(4, size=4000), rng.integers(2, size=4000)
    frame = pd.DataFrame({"a": a, "b": np.where(rng.random(4000) < 0.7, a, b), "c": c, "group": c})
    design = dn.Joint(part, 6.0, channel="subset")
    reports = design.randomize(frame, keep=["group"], source=dn.Seeded(6))
    seen = {"source": dn.Seeded(7), "replicates": 199}
    assert dn.independence(reports, "a", "b", **seen).method == "Wald on the unbiased table, bootstrap"
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
    assert "bootstrap Wald" in told.test


@pytest.mark.parametrize("n", [300, 2500])
def test_power_is_that_of_the_test_that_would_be_made(n):
    """Sets of several attributes: drawn anew person by person while that is quick, Wald's own reference beyond."""
    part = dn.Domain({"a": range(3), "b": range(2)})
    design = dn.Independent(part, channels={"a": dn.Unary(3, 3.0), "b": dn.KRR(2, 3.0)})
    table = dn.Table(part, [[0.3, 0.1], [0.2, 0.1], [0.05, 0.25]])
    made = dn.independence(design.simulate(table, n, source=dn.Seeded(1)), "a", "b", replicates=99, source=dn.Seeded(2))
    planned = dn.power(design, n, table=table, replicates=60, source=dn.Seeded(3))
    assert ("bootstrap" in made.method) == ("bootstrap" in planned.test) == (n < 2000)
    assert planned > 0.5  # V = .5 and n = 300: hardly ever missed


def test_goodness_of_fit_is_exact_whatever_the_number_of_reports():
    """H0 leaves nothing to estimate, so p-values are uniform: 300 of them at 8 reports each."""
    channel, even = dn.Unary(12, 1.0), NULL
    p = [
        dn.goodness_of_fit(observed(channel, even, 8, seed), ["a", "b"], even, replicates=19, source=dn.Seeded(seed))
        for seed in range(300)
    ]
    # At most .05 of them are .05: a binomial with sd .0126, so .13 is beyond six of them.
    assert np.mean([found.pvalue <= 0.05 for found in p]) < 0.13


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: c.name)
def test_the_order_of_categories_does_not_matter(channel):
    seen = observed(channel, NULL + SHIFT, 3000)
    back = seen.counts.copy()
    back[:12] = back[:12][::-1]
    turned = Observation(DOMAIN, channel, back)
    for hypothesis, other in ((Given(NULL), Given(NULL[::-1, ::-1])), (IndependentAxes(0, 1), IndependentAxes(0, 1))):
        one, two = (BootstrapWald([[o]], h) for o, h in ((seen, hypothesis), (turned, other)))
        first, second = (t.statistic([[o.counts[..., None]]])[0][0] for t, o in ((one, seen), (two, turned)))
        assert first == pytest.approx(second, rel=1e-9)


def test_only_the_named_attributes_are_compared_between_groups():
    """a is alike in both groups, b is not: that must not be taken for a difference in a."""
    part = dn.Domain({"a": range(3), "b": range(3)})
    one, two = (np.outer([0.5, 0.3, 0.2], b) for b in ([0.8, 0.1, 0.1], [0.1, 0.1, 0.8]))
    for channel in ("subset", "unary", "hashing"):
        design = dn.Joint(part, 2.0, channel=channel)
        groups = {
            g: design.simulate(dn.Table(part, t), 20_000, source=dn.Seeded(i))
            for i, (g, t) in enumerate({"one": one, "two": two}.items())
        }
        seen = {"source": dn.Seeded(11), "replicates": 99}
        found = dn.homogeneity(groups, "a", **seen)
        assert found.df == 2
        assert found.pvalue > 0.02  # fixed seeds: ordinary p-values
        assert dn.homogeneity(groups, "b", **seen).pvalue == 0.01
    plain = dn.Joint(part, 2.0, channel="hadamard")
    groups = {g: plain.simulate(dn.Table(part, t), 2000, source=dn.Seeded(1)) for g, t in (("one", one), ("two", two))}
    with pytest.raises(InputError, match="Test all of them together"):
        dn.homogeneity(groups, "a")


def test_a_rare_layer_does_not_stop_the_test():
    part = dn.Domain({"a": range(2), "b": range(3), "c": range(3)})
    table = dn.Table(part, np.einsum("i,j,k->ijk", [0.6, 0.4], [0.5, 0.3, 0.2], [0.9, 0.08, 0.02]))
    for seed in range(6):
        for channel in ("subset", "unary"):
            tallies = dn.Joint(part, 1.0, channel=channel).simulate(table, 1000, source=dn.Seeded(seed))
            found = dn.independence(tallies, "a", "b", given="c", replicates=99, source=dn.Seeded(seed))
            assert found.df == 6
            assert 0 < found.pvalue <= 1


def test_many_categories_are_tested_in_bounded_memory():
    channel = dn.LocalHashing(600, 2.0)
    even = np.full(600, 1 / 600)
    counts = channel.draw(even, 20_000, np.random.default_rng(12), 1)[..., 0]
    found = dn.goodness_of_fit(Observation("v", channel, counts), "v", even, replicates=99, source=dn.Seeded(13))
    assert found.df == 599
    assert found.pvalue > 0.01
    with pytest.raises(InvalidTestError, match="too large for this test"):
        BootstrapWald([[Observation("v", dn.LocalHashing(2000, 1.0), np.full(2001, 9.0))]], Given(np.full(2000, 5e-4)))


def test_hypotheses_are_zero_where_they_hold():
    table = NULL[..., None]
    np.testing.assert_allclose(IndependentAxes(0, 1).residuals(table), 0, atol=1e-15)
    np.testing.assert_allclose(Given(NULL).residuals(table), 0, atol=1e-15)
    np.testing.assert_allclose(Same((0, 1)).residuals(np.stack([table, table])), 0, atol=1e-15)
    np.testing.assert_allclose(InEach(IndependentAxes(0, 1)).residuals(np.stack([table, table])), 0, atol=1e-15)
    three = np.einsum("ik,jk,k->ijk", [[0.2, 0.6], [0.8, 0.4]], [[0.5, 0.1], [0.5, 0.9]], [0.3, 0.7])[..., None]
    np.testing.assert_allclose(IndependentAxes(0, 1, (2,)).residuals(three), 0, atol=1e-15)
    assert np.abs(IndependentAxes(0, 1).residuals(three)).max() > 0.01
    for null in (IndependentAxes(0, 1), IndependentAxes(0, 1, (2,))):
        noisy = three + 0.05 * np.random.default_rng(9).normal(size=three.shape)
        np.testing.assert_allclose(null.residuals(null.null(noisy, 1e-9)), 0, atol=1e-12)


def test_sets_about_different_attributes_are_not_pooled():
    design = dn.Views(dn.Domain({"a": range(3), "b": range(3), "c": range(3)}), 2, 1.0, channel="unary")
    other = dn.Joint(design.domain, 1.0, channel="unary")
    table = dn.Table(design.domain, np.full((3, 3, 3), 1 / 27))
    seen = [d.simulate(table, 1000, source=dn.Seeded(10)) for d in (design, other)]
    with pytest.raises(InvalidTestError, match="different attributes"):
        dn.independence(seen, "a", "b")

"""RRBA's two-step test: its projection, its level, its rule of five."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

import deniable as dn
from deniable.errors import InputError, NotCoveredError
from deniable.estimation.inversion import pooled_inverse
from deniable.inference.hypothesis_tests.two_step import independent_rows, null_tables, pearson, two_step
from deniable.likelihood.gather import tabulated
from deniable.numerics.simplex import norm_sub

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2]})
APART = np.outer([0.4, 0.6], [0.3, 0.3, 0.4])
DEPENDENT = APART + 0.06 * np.array([[1, 0, -1], [-1, 0, 1]])


def survey(pi, n, seed, epsilon=2.0, design=dn.Joint):
    return design(DOMAIN, epsilon=epsilon).simulate(dn.Table(DOMAIN, pi), n, source=dn.Seeded(seed))


@pytest.mark.parametrize("gamma", [0.0, 0.01, 0.5, 0.9])
def test_the_elastic_net_step_is_the_projection_to_the_simplex(gamma):
    rng = np.random.default_rng(1)
    for _ in range(5):
        t = rng.normal(scale=0.4, size=5)
        t += (1 - t.sum()) / 5

        def objective(x, t=t):
            return gamma * np.abs(t - x).sum() ** 2 + (1 - gamma) * ((t - x) ** 2).sum()

        best = norm_sub(t)
        for _ in range(200):  # no other distribution does better, near or far
            other = norm_sub(best + rng.normal(scale=rng.choice([1e-3, 0.1, 1.0]), size=5))
            assert objective(other) >= objective(best) - 1e-12
    found = minimize(
        lambda x: ((t - x) ** 2).sum(),
        np.full(5, 0.2),
        bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
    )
    np.testing.assert_allclose(found.x, best, atol=1e-4)


def test_pearson_is_pearsons():
    table = np.array([[30.0, 10.0], [20.0, 40.0]])
    expected = stats.contingency.expected_freq(table)
    ours = independent_rows(table[None])
    np.testing.assert_allclose(ours[0], expected)
    statistic = stats.chi2_contingency(table, correction=False).statistic
    assert pearson(table.reshape(1, -1), ours.reshape(1, -1))[0] == pytest.approx(statistic)
    cube = np.random.default_rng(0).random((4, 2, 3, 2))
    for one, fitted in zip(cube, independent_rows(cube), strict=True):
        np.testing.assert_allclose(fitted / fitted.sum(), stats.contingency.expected_freq(one) / one.sum(), atol=1e-12)
    empty = np.array([[5.0, 5.0, 0.0, 0.0]])  # a row that nobody is in adds nothing
    assert pearson(empty, independent_rows(empty.reshape(1, 2, 2)).reshape(1, -1))[0] == pytest.approx(0)


def test_the_null_tables_are_noisy_estimates_of_the_null():
    # Means of 4000 tables within 6 standard errors of the null, variances as the channel says within 15% (6.7 sd).
    samples = pooled_inverse(tabulated(survey(APART, 3000, 1), ["a", "b"])).samples
    drawn = null_tables(samples, APART, 4000, dn.Seeded(2))
    variance = samples[0].observation.channel.variance(APART.ravel(), 3000)
    z = (drawn.mean(axis=0) - APART.ravel()) / np.sqrt(variance / 4000)
    assert np.abs(z).max() < 6
    np.testing.assert_allclose(drawn.var(axis=0) / variance, 1, atol=0.15)


def in_blocks(domain, epsilon):
    return dn.Blocks(domain, epsilon=epsilon)


@pytest.mark.parametrize("design", [dn.Joint, in_blocks])
def test_it_holds_its_level_and_sees_dependence(design):
    # 120 surveys at nominal .05. A true level of .05 gives more than 20 rejections with probability below 1e-6.
    def rejections(pi, times):
        source, seeds = dn.Seeded(4), range(times)
        surveys = (survey(pi, 4000, seed, epsilon=2.5, design=design) for seed in seeds)
        return sum(two_step(tabulated(s, ["a", "b"]), replicates=99, source=source).pvalue <= 0.05 for s in surveys)

    assert rejections(APART, 120) <= 20
    assert rejections(DEPENDENT, 40) >= 20


def test_the_threshold_and_the_pvalue_agree():
    for seed in range(20):
        result = two_step(tabulated(survey(DEPENDENT, 2000, seed), ["a", "b"]), replicates=99, source=dn.Seeded(seed))
        threshold = float(result.notes[0].split(": ")[1].split(",")[0])
        if len(result.notes) == 1 and abs(result.statistic - threshold) > 1e-2 * threshold:
            assert (result.pvalue <= 0.05) == (result.statistic > threshold)
    assert result.df is None
    assert "two-step" in str(result)


def test_the_rule_of_five_can_be_switched_off():
    reports = survey(np.array([[0.5, 0.0, 0.1], [0.1, 0.2, 0.1]]), 1000, 4)
    with_rule = two_step(tabulated(reports, ["a", "b"]), source=dn.Seeded(1))
    without = two_step(tabulated(reports, ["a", "b"]), source=dn.Seeded(1), rule_of_five=False)
    assert with_rule.pvalue == 1
    assert f"would be {without.pvalue:.4f}" in with_rule.notes[1]
    assert with_rule.statistic == without.statistic
    assert without.pvalue < 1


def test_three_attributes_and_blocks():
    domain = dn.Domain({name: [0, 1] for name in "abc"})
    apart = dn.Table(domain, np.einsum("i,j,k->ijk", [0.4, 0.6], [0.3, 0.7], [0.5, 0.5]))
    joined = dn.Table(domain, apart.values + 0.05 * np.array([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]))
    design = dn.Blocks(domain, k=3, mode="deniability", keep=0.5)
    for table, rejected in ((apart, False), (joined, True)):
        reports = design.simulate(table, 8000, source=dn.Seeded(8))
        result = two_step(tabulated(reports, ["a", "b", "c"]), source=dn.Seeded(7))
        assert (result.pvalue <= 0.01) == rejected


def test_attributes_in_another_order_give_the_same_statistic():
    reports = survey(DEPENDENT, 3000, 8)
    one, two = (two_step(tabulated(reports, names), source=dn.Seeded(1)) for names in (["a", "b"], ["b", "a"]))
    assert one.statistic == pytest.approx(two.statistic)


def test_what_cannot_be_tested_is_refused():
    reports = survey(APART, 500, 1)
    with pytest.raises(InputError, match="more than 20 replicates"):
        two_step(tabulated(reports, ["a", "b"]), replicates=20)
    with pytest.raises(InputError, match="two or more"):
        two_step(tabulated(reports, ["a"]))
    apart = survey(APART, 500, 1, design=dn.Sampled)
    with pytest.raises(NotCoveredError):
        two_step(tabulated(apart, ["a", "b"]))

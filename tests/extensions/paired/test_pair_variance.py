"""Errors of paired estimates: the plug-in is unbiased, intervals cover, and pairing is worth what was promised."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm

import deniable as dn
from chequered import times
from deniable.extensions.paired.pair_variance import PairedDispersion
from deniable.extensions.paired.pairing import count_variance

YES_NO = {"smokes": ["no", "yes"]}


def people(n, yes):
    return pd.DataFrame({"smokes": ["no"] * (n - yes) + ["yes"] * yes})


def estimates(design, frame, runs, seed, answered):
    """Unbiased shares of "yes" and their estimated variances, over many runs."""
    source = dn.Seeded(seed)
    found = []
    for _ in range(runs):
        reports = design.randomize(frame, answered=answered, source=source)
        est = dn.estimate(reports, "smokes", method="inversion", population="fixed")
        found.append((est.values[1], est.std_error[1] ** 2))
    return np.array(found).T


@pytest.mark.parametrize("share_answering", [1.0, 0.6])
def test_the_estimate_is_unbiased_and_so_is_its_variance(share_answering):
    n, yes, runs = 400, 40, times(700, 200)
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    rng = np.random.default_rng(1)
    answered = rng.permutation(n) < share_answering * n
    values, variances = estimates(design, people(n, yes), runs, 21, answered)
    left = int(answered.sum())
    true_yes = int(answered[n - yes :].sum())
    # Over random pairings of all n, two who answered are a pair with probability 1 / (n - 1).
    expected = count_variance(0.8, -0.25, left, true_yes, left * (left - 1) / 2 / (n - 1)) / left**2
    z = (values.mean() - true_yes / left) / math.sqrt(expected / runs)
    assert abs(z) < norm.isf(1e-7)
    # The sample variance of runs near-normal estimates, as a chi-square: 2e-7 on either side.
    assert chi2.isf(1 - 2e-7, runs - 1) < values.var(ddof=1) * (runs - 1) / expected < chi2.isf(2e-7, runs - 1)
    # The estimated variance is right on average; its own spread is seen in the runs.
    assert abs(variances.mean() / expected - 1) < 6 * variances.std() / expected / math.sqrt(runs) + 1e-3


def test_the_superpopulation_adds_the_sampling_of_respondents():
    n, share, runs = 300, 0.1, times(700, 200)
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    table = dn.Table(design.domain, [1 - share, share])
    source = dn.Seeded(31)
    found = [dn.estimate(design.simulate(table, n, source=source), "smokes", method="inversion") for _ in range(runs)]
    values = np.array([est.values[1] for est in found])
    noise = 0.16 / 0.36
    expected = share * (1 - share) / n + noise / n + 2 * noise * -0.25 * (n // 2) * (1 - 2 * share) ** 2 / n**2
    assert abs(values.mean() - share) < norm.isf(1e-7) * math.sqrt(expected / runs)
    assert chi2.isf(1 - 2e-7, runs - 1) < values.var(ddof=1) * (runs - 1) / expected < chi2.isf(2e-7, runs - 1)
    assert np.mean([est.std_error[1] ** 2 for est in found]) == pytest.approx(expected, rel=times(2, 4) / 100)
    # Intervals of 95% hold the truth that often; 5.5 standard deviations either way: below 1e-6.
    covered = sum(est.interval().contains([1 - share, share])[1] for est in found)
    assert abs(covered - 0.95 * runs) < 5.5 * math.sqrt(0.0475 * runs) + 0.01 * runs


def test_the_standard_error_follows_the_theorem():
    n, yes = 10_000, 200
    optimum = dn.paired_optimum(1.0, n, 0, yes / n)
    design = dn.Paired.best(YES_NO, 1.0, n, expected={"smokes": yes / n})
    reports = design.randomize(people(n, yes), source=dn.Seeded(7))
    est = dn.estimate(reports, "smokes", population="fixed")
    assert isinstance(est.dispersion, PairedDispersion)
    # An estimate five standard errors (.0078) off would put these 8% off.
    assert (n * est.std_error[1]) ** 2 == pytest.approx(optimum.variance, rel=0.09)
    assert est.dispersion.design_effect == pytest.approx(0.661, abs=0.06)
    assert "respondents were paired" in str(est)
    wide = dn.estimate(dn.Reports(reports.to_frame(), design), "smokes")
    narrow = dn.estimate(reports, "smokes")
    lengths = [np.ptp(np.stack([*e.interval()]), axis=0)[1] for e in (narrow, wide)]
    assert lengths[0] < 0.9 * lengths[1]


def test_unknown_pairs_leave_the_errors_of_unpaired_respondents():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    reports = design.randomize(people(1000, 50), source=dn.Seeded(7))
    est = dn.estimate(dn.Reports(reports.to_frame(), design), "smokes")
    plain = dn.estimate(
        [dn.Observation(design.domain, design.questions[0].channel, o.counts) for o in reports.tabulate()], "smokes"
    )
    np.testing.assert_allclose(est.std_error, plain.std_error)
    assert "no completed pair is known" in str(est)
    assert "paired" not in str(plain)


def test_the_covariance_is_that_of_one_question():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    est = dn.estimate(design.randomize(people(1000, 50), source=dn.Seeded(7)), "smokes")
    matrix = est.covariance.matrix()
    np.testing.assert_allclose(np.diagonal(matrix), est.std_error**2)
    np.testing.assert_allclose(matrix, est.std_error[0] ** 2 * np.array([[1, -1], [-1, 1]]), atol=1e-12)


def test_groups_get_their_expected_share_of_pairs():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    frame = people(1000, 50).assign(region=["a", "b"] * 500)
    reports = design.randomize(frame, keep=["region"], source=dn.Seeded(7))
    parts = dict(reports.groups("region"))
    assert parts["a"].pairs == pytest.approx(500 * 500 * 499 / (1000 * 999))
    by = dn.estimate(reports, "smokes", by="region")
    assert all(isinstance(est.dispersion, PairedDispersion) for est in by.values())


def test_paired_and_unpaired_samples_pool():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    other = dn.Independent(YES_NO, channels={"smokes": design.questions[0].channel})
    paired = design.randomize(people(1000, 50), source=dn.Seeded(7))
    plain = other.randomize(people(1000, 50), source=dn.Seeded(8))
    both = dn.estimate([paired, plain], "smokes")
    assert both.n == 2000
    effect = both.dispersion.design_effect[0]
    assert dn.estimate(paired, "smokes").dispersion.design_effect[0] < effect < 1


def test_a_handful_of_reports_claims_no_gain():
    design = dn.Paired(YES_NO, p=0.51, rho=-0.96)
    est = dn.estimate(design.randomize(people(20, 0), source=dn.Seeded(7)), "smokes")
    np.testing.assert_allclose(est.dispersion.design_effect, 1)
    fixed = dn.estimate(design.randomize(people(20, 0), source=dn.Seeded(7)), "smokes", population="fixed")
    assert (fixed.dispersion.variances > 0).all()


def test_more_categories_gain_as_their_bits_do():
    """Eight categories, one coin each, claimed epsilon 1: ratio near 1 - e^(-1/2) (1 - 2f)^2, .46 at f = .03."""
    n, runs, k = 1000, 400, 8
    shares = np.array([0.79] + [0.03] * 7)
    counts = (shares * n).round().astype(int)
    frame = pd.DataFrame({"drug": np.repeat(range(k), counts)})
    optimum = dn.paired_optimum(1.0, n, 0, shares.tolist())
    design = dn.Paired.best({"drug": range(k)}, 1.0, n, expected={"drug": shares.tolist()})
    p, rho = optimum.p, optimum.rho
    assert p == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert design.claimed_epsilon <= 1.0
    source = dn.Seeded(41)
    found = [
        dn.estimate(design.randomize(frame, source=source), "drug", method="inversion", population="fixed")
        for _ in range(runs)
    ]
    values = np.array([est.values for est in found]) * n
    paired = np.array([count_variance(p, rho, n, count) for count in counts])
    plain = np.array([count_variance(p, 0.0, n, count) for count in counts])
    ratio = paired / plain
    np.testing.assert_allclose(ratio, 1 - math.exp(-0.5) * (1 - 2 * shares) ** 2, atol=2e-3)
    assert ratio[1] == pytest.approx(0.465, abs=2e-3)
    # Sixteen statements, each wrong with probability 1e-8 (mean) and 2e-8 (variance, a chi-square).
    assert (np.abs(values.mean(axis=0) - counts) < norm.isf(5e-9) * np.sqrt(paired / runs)).all()
    spread = values.var(axis=0, ddof=1) * (runs - 1) / paired
    assert (spread > chi2.isf(1 - 1e-8, runs - 1)).all()
    assert (spread < chi2.isf(1e-8, runs - 1)).all()
    # Different bits have different coins, so no correlation appears between categories: 28 correlations of 400 runs.
    correlations = np.corrcoef(values.T)[np.triu_indices(k, 1)]
    assert np.abs(correlations).max() < norm.isf(1e-8) / math.sqrt(runs)
    # And what each run says about its own error is right.
    told = np.mean([est.dispersion.variances for est in found], axis=0) * n**2
    np.testing.assert_allclose(told, paired, rtol=0.05)


def test_maximum_likelihood_takes_bit_masks():
    design = dn.Paired({"drug": ["none", "a", "b"]}, p=0.8, rho=-0.2)
    table = dn.Table(design.domain, [0.7, 0.2, 0.1])
    est = dn.estimate(design.simulate(table, 20_000, source=dn.Seeded(3)), "drug")
    assert est.method == "mle"
    assert est.values.sum() == pytest.approx(1)
    # Six standard errors (of the unbiased cells, which are no smaller): below 1e-8.
    assert (np.abs(est.values - table.values) < 6 * est.std_error).all()


def test_reports_that_are_all_alike_have_a_design_effect():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.25)
    reports = dn.PairedReports(pd.DataFrame({"dn_answer_smokes": [1] * 6}), design, pairs=3)
    est = dn.estimate(reports, "smokes")
    assert np.isfinite(est.dispersion.design_effect).all()
    assert np.isfinite(est.interval(0.95).low).all()


def test_few_pairs_are_said_to_be_rough():
    for n, told in ((20, True), (40, False)):
        design = dn.Paired({"a": [0, 1]}, 0.75, -0.2, respondents=n)
        found = dn.estimate(design.randomize({"a": [0, 1] * (n // 2)}, source=dn.Seeded(1)), "a")
        assert any("rough" in each for each in found.warnings) is told

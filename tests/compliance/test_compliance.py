"""Models of compliance: closed forms, published formulas, simulation, edges."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, chi2

import deniable as dn
from deniable.errors import (
    ConvergenceError,
    DesignError,
    DivergenceError,
    InputError,
    NotIdentifiedError,
    TooFewReportsError,
    UnknownCategoryError,
)

FAR = 5.5  # standard errors: false alarm 4e-8 per comparison


def groups_of(n, names=("a", "b")):
    return np.array([names[i % len(names)] for i in range(n)])


def inside(found, truth):
    """Every estimate within FAR standard errors of the truth."""
    for name, value in truth.items():
        assert abs(found.params[name] - value) < FAR * found.std_error[name], name


# -- cheating detection --------------------------------------------------------------------------------------


def test_cdm_closed_form():
    found = dn.compliance.cdm({"a": (550, 450), "b": (700, 1300)}, p={"a": 0.25, "b": 0.75})
    beta = (0.45 - 0.65) / (0.25 - 0.75)
    pi = 0.45 - 0.25 * beta
    assert found.params["honest others"] == pytest.approx(beta, rel=1e-12)
    assert found.params["honest carriers"] == pytest.approx(pi, rel=1e-12)
    assert found.params["cheaters"] == pytest.approx(1 - pi - beta, rel=1e-12)
    # Var beta = (v1 + v2) / (p1 - p2)^2; pi = (p1 lam2 - p2 lam1) / (p1 - p2).
    v1, v2 = 0.45 * 0.55 / 999, 0.65 * 0.35 / 1999
    assert found.std_error["honest others"] == pytest.approx(np.sqrt(v1 + v2) / 0.5, rel=1e-12)
    assert found.std_error["honest carriers"] == pytest.approx(np.sqrt(0.75**2 * v1 + 0.25**2 * v2) / 0.5, rel=1e-12)
    spread = np.sqrt((0.25 / 0.5) ** 2 * v1 + (0.75 / 0.5) ** 2 * v2)
    assert found.std_error["cheaters"] == pytest.approx(spread, rel=1e-9)
    for name, value in found.constrained.items():
        assert value == pytest.approx(found.params[name], abs=1e-5)
    assert found.fit is None
    assert "between 0.350 (no cheater carries the trait) and 0.600" in str(found)


def test_cdm_finds_cheaters_and_tests_for_them():
    rng = np.random.default_rng(1)
    n, p = 20_000, {"a": 0.2, "b": 0.7}
    groups = groups_of(n)
    forced = rng.random(n) < np.array([p[g] for g in groups])
    kind = rng.choice(3, n, p=[0.2, 0.65, 0.15])
    reports = np.where(kind == 2, 0, np.where(forced, 1, kind == 0)).astype(int)
    found = dn.compliance.cdm(reports, groups, p=p)
    inside(found, {"honest carriers": 0.2, "honest others": 0.65, "cheaters": 0.15})
    assert found.compliance.pvalue < 1e-6
    honest = dn.compliance.cdm(np.where(forced, 1, kind == 0).astype(int), groups, p=p)
    assert abs(honest.params["cheaters"]) < FAR * honest.std_error["cheaters"]


def test_cdm_compliance_test_is_half_a_chi_square():
    # Counts with cheating estimated at 25%: the likelihood ratio against pi alone, maximised on a grid.
    yes, n, p = np.array([450, 1300]), np.array([1000, 2000]), np.array([0.25, 0.75])
    found = dn.compliance.cdm({"a": (550, 450), "b": (700, 1300)}, p={"a": 0.25, "b": 0.75})
    pi = np.linspace(0.0001, 0.9999, 200_001)[:, None]
    lam = pi + p * (1 - pi)
    best = (yes * np.log(lam) + (n - yes) * np.log(1 - lam)).sum(axis=1).max()
    assert found.compliance.statistic == pytest.approx(2 * (found.loglik - best), abs=1e-3)
    assert found.compliance.pvalue == pytest.approx(chi2.sf(found.compliance.statistic, 1) / 2)


def test_negative_cheaters_are_shown_and_explained():
    found = dn.compliance.cdm({"a": (600, 400), "b": (100, 900)}, p={"a": 0.25, "b": 0.75})
    assert found.params["cheaters"] < 0
    assert found.constrained["cheaters"] == pytest.approx(0, abs=1e-9)
    assert sum(found.constrained.values()) == pytest.approx(1)
    assert found.compliance.pvalue == 1.0
    assert any("negative" in note for note in found.notes)
    assert "share" in found._repr_html_()


def test_cdm_symmetric_and_three_groups():
    forced = {"a": (0.3, 0.1), "b": (0.1, 0.3)}
    lam = {name: (1 - no) * 0.2 + yes * 0.7 for name, (no, yes) in forced.items()}
    counts = {name: (1e6 * (1 - share), 1e6 * share) for name, share in lam.items()}
    found = dn.compliance.cdm_symmetric(counts, forced=forced)
    assert found.params["honest carriers"] == pytest.approx(0.2, rel=1e-9)
    assert found.params["cheaters"] == pytest.approx(0.1, rel=1e-9)
    # A third group over-determines the model; its fit is exact here, and fails when that group is off.
    devices = {name: dn.ForcedResponse(list(pair)) for name, pair in {**forced, "c": (0.2, 0.2)}.items()}
    right = 0.8 * 0.2 + 0.2 * 0.7
    good = dn.compliance.cheating_detection({**counts, "c": (1e6 * (1 - right), 1e6 * right)}, channels=devices)
    assert good.fit.df == 1
    assert good.fit.statistic == pytest.approx(0, abs=1e-6)
    assert good.params["cheaters"] == pytest.approx(0.1, rel=1e-6)
    bad = dn.compliance.cheating_detection({**counts, "c": (6e5, 4e5)}, channels=devices)
    assert bad.fit.pvalue < 1e-6


# -- stochastic lie detector ---------------------------------------------------------------------------------


def test_sld_closed_form_and_simulation():
    rng = np.random.default_rng(2)
    n, p = 40_000, {"a": 0.85, "b": 0.4}
    groups = groups_of(n)
    carrier, truthful = rng.random(n) < 0.3, rng.random(n) < 0.7
    told = rng.random(n) < np.array([p[g] for g in groups])
    reports = np.where(carrier, truthful, ~told).astype(int)
    found = dn.compliance.sld(reports, groups, p=p)
    inside(found, {"carriers": 0.3, "truthful carriers": 0.7})
    lam = np.array([reports[groups == g].mean() for g in "ab"])
    pi = 1 - (lam[1] - lam[0]) / (0.85 - 0.4)
    assert found.params["carriers"] == pytest.approx(pi, rel=1e-12)
    assert found.params["truthful carriers"] == pytest.approx((lam[0] - (1 - pi) * 0.15) / pi, rel=1e-12)
    assert found.compliance.pvalue < 1e-6
    # Standard errors against a numerical delta method.
    variance = lam * (1 - lam) / (n / 2 - 1)

    def solve(a, b):
        share = 1 - (b - a) / 0.45
        return np.array([share, (a - (1 - share) * 0.15) / share])

    h = 1e-6
    slopes = np.stack([(solve(*(lam + h * e)) - solve(*(lam - h * e))) / (2 * h) for e in np.eye(2)], axis=1)
    np.testing.assert_allclose(list(found.std_error.values()), np.sqrt(slopes**2 @ variance), rtol=1e-6)


def test_sld_at_its_edges():
    honest = dn.compliance.sld({"a": (600, 400), "b": (240, 760)}, p={"a": 0.8, "b": 0.2})
    assert honest.params["truthful carriers"] > 0.5
    none = dn.compliance.sld({"a": (950, 50), "b": (50, 950)}, p={"a": 0.8, "b": 0.2})
    assert none.params["carriers"] < 0
    assert np.isnan(none.params["truthful carriers"])
    assert "No carriers" in str(none)
    few = dn.compliance.sld({"a": (790, 210), "b": (210, 790)}, p={"a": 0.8, "b": 0.2})
    assert any("two standard errors" in note for note in few.notes)
    three = dn.compliance.sld({"a": (688, 312), "b": (352, 648), "c": (520, 480)}, p={"a": 0.82, "b": 0.4, "c": 0.61})
    assert three.fit.df == 1


# -- crosswise -----------------------------------------------------------------------------------------------


def test_extended_crosswise_pools_complementary_groups():
    # With p2 = 1 - p1 the second group's "different" is the first one's "same": one binomial of the pooled reports.
    found = dn.compliance.extended_crosswise({"a": (380, 620), "b": (1260, 740)}, p={"a": 0.2, "b": 0.8})
    pooled = (620 + 1260) / 3000
    assert found.params["carriers"] == pytest.approx((pooled - 0.8) / -0.6, rel=1e-10)
    # Its groups of 1000 and 2000 lose a respondent each to their means.
    each = pooled * (1 - pooled) * (1000**2 / 999 + 2000**2 / 1999) / 3000**2
    assert found.std_error["carriers"] == pytest.approx(np.sqrt(each) / 0.6, rel=1e-9)
    expected = np.array([[380, 620], [1260, 740]])
    fitted = np.array([[1000 * (1 - pooled), 1000 * pooled], [2000 * pooled, 2000 * (1 - pooled)]])
    g2 = 2 * (expected * np.log(expected / fitted)).sum()
    assert found.fit.statistic == pytest.approx(g2, rel=1e-9)
    assert found.fit.df == 1


def test_extended_crosswise_detects_answers_at_random():
    rng = np.random.default_rng(3)
    n, p = 8000, {"a": 0.2, "b": 0.7}
    groups = groups_of(n)
    carrier = rng.random(n) < 0.3
    innocent = rng.random(n) < np.array([p[g] for g in groups])
    good = (carrier == innocent).astype(int)
    inside(dn.compliance.extended_crosswise(good, groups, p=p), {"carriers": 0.3})
    bad = np.where(rng.random(n) < 0.4, 1, good)  # 40% say "the same" whatever is asked
    found = dn.compliance.extended_crosswise(bad, groups, p=p)
    assert found.fit.pvalue < 1e-6
    assert any("do not do as told" in note for note in found.notes)
    with pytest.raises(NotIdentifiedError):
        dn.compliance.extended_crosswise({"a": (5, 5), "b": (5, 5)}, p={"a": 0.2, "b": 0.2})
    low = dn.compliance.extended_crosswise({"a": (10, 990), "b": (990, 10)}, p={"a": 0.2, "b": 0.8})
    assert low.params["carriers"] < 0
    assert low.constrained["carriers"] == pytest.approx(0, abs=1e-9)


def test_anchored_crosswise_equals_the_published_correction():
    # pi_bc = pi_cm - B,  B = (1/2 - 1/(2 a)) (lambda - 1/2) / (p - 1/2),  a = (lambda' - 1/2) / (1/2 - p').
    rng = np.random.default_rng(4)
    n, p, anchor_p, pi, attentive = 30_000, 0.15, 0.2, 0.2, 0.75
    reading = rng.random(n) < attentive
    item = (rng.random(n) < pi) == (rng.random(n) < p)
    anchor = rng.random(n) >= anchor_p
    reports = np.where(reading, item, rng.random(n) < 0.5)
    anchors = np.where(reading, anchor, rng.random(n) < 0.5)
    found = dn.compliance.anchored_crosswise(reports, anchors, p=p, anchor_p=anchor_p)
    lam, lam_anchor = reports.mean(), anchors.mean()
    a = (lam_anchor - 0.5) / (0.5 - anchor_p)
    naive = (lam + p - 1) / (2 * p - 1)
    bias = (0.5 - 0.5 / a) * (lam - 0.5) / (p - 0.5)
    assert found.params["attentive"] == pytest.approx(a, rel=1e-12)
    assert found.params["carriers, uncorrected"] == pytest.approx(naive, rel=1e-12)
    assert found.params["carriers"] == pytest.approx(naive - bias, rel=1e-12)
    inside(found, {"carriers": pi, "attentive": attentive})
    assert abs(naive - pi) > 5 * found.std_error["carriers, uncorrected"]  # without the correction: biased


def test_anchored_crosswise_standard_errors():
    # 600 samples of 600: the mean stated standard error against the actual spread, which is known to 3%. Six of these.
    rng, estimates, errors = np.random.default_rng(5), [], []
    for _ in range(600):
        reading = rng.random(600) < 0.8
        item = (rng.random(600) < 0.3) == (rng.random(600) < 0.2)
        reports = np.where(reading, item, rng.random(600) < 0.5)
        anchors = np.where(reading, rng.random(600) >= 0.2, rng.random(600) < 0.5)
        found = dn.compliance.anchored_crosswise(reports, anchors, p=0.2, anchor_p=0.2)
        estimates.append(found.params["carriers"])
        errors.append(found.std_error["carriers"])
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.18)


def test_anchored_crosswise_refusals():
    zeros, ones = np.zeros(10, int), np.ones(10, int)
    with pytest.raises(NotIdentifiedError, match="fair coin"):
        dn.compliance.anchored_crosswise(zeros, ones, p=0.5, anchor_p=0.2)
    with pytest.raises(NotIdentifiedError, match="no attentive"):
        dn.compliance.anchored_crosswise(ones, zeros, p=0.2, anchor_p=0.2)
    with pytest.raises(InputError, match="same respondents"):
        dn.compliance.anchored_crosswise(zeros, ones[:5], p=0.2, anchor_p=0.2)
    with pytest.raises(TooFewReportsError):
        dn.compliance.anchored_crosswise(zeros[:2], ones[:2], p=0.2, anchor_p=0.2)
    with pytest.raises(InputError, match="codes"):
        dn.compliance.anchored_crosswise(zeros + 3, ones, p=0.2, anchor_p=0.2)
    sure = dn.compliance.anchored_crosswise(ones, np.r_[ones[:8], zeros[:2]], p=0.2, anchor_p=0.2)
    assert "Outside [0, 1]" in str(sure)


# -- several items -------------------------------------------------------------------------------------------


def items(rng, n, prevalence, device, protective=0.0):
    truths = (rng.random((n, len(prevalence))) < prevalence).astype(int)
    flips = rng.random(truths.shape) < np.where(truths == 1, device.matrix()[1, 1], device.matrix()[1, 0])
    return np.where((rng.random(n) < protective)[:, None], 0, flips.astype(int)), truths


def test_self_protective_simulation_and_brute_force():
    rng, device = np.random.default_rng(6), dn.ForcedResponse([1 / 6, 1 / 6])
    prevalence = np.array([0.2, 0.4, 0.3])
    reports, _ = items(rng, 6000, prevalence, device, protective=0.2)
    found = dn.compliance.self_protective(reports, [device] * 3)
    inside(found, {"self-protective": 0.2, **{f"item {j + 1} among the others": prevalence[j] for j in range(3)}})
    assert found.fit.df == 3
    assert found.compliance.pvalue < 1e-6
    codes, counts = np.unique(reports, axis=0, return_counts=True)

    def loss(p):
        share = 1 / (1 + np.exp(-p[:3]))
        yes = device.matrix()[1, 0] * (1 - share) + device.matrix()[1, 1] * share
        chance = (1 - p[3]) * np.where(codes == 1, yes, 1 - yes).prod(axis=1) + p[3] * (codes.sum(axis=1) == 0)
        return -(counts * np.log(chance)).sum()

    best = minimize(loss, np.array([-1, -1, -1, 0.1]), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
    assert found.loglik == pytest.approx(-best.fun, rel=1e-9)
    assert found.params["self-protective"] == pytest.approx(best.x[3], abs=1e-4)


def test_self_protective_without_any():
    rng, device = np.random.default_rng(7), dn.Warner(0.8)
    reports, _ = items(rng, 5000, np.array([0.2, 0.3, 0.3, 0.5]), device)
    for order, df in ((1, 10), (2, 4)):
        found = dn.compliance.self_protective(reports, [device] * 4, order=order)
        assert abs(found.params["self-protective"]) < FAR * found.std_error["self-protective"]
        assert found.fit.df == df
        assert found.fit.pvalue > 1e-6
    silent = np.flatnonzero(reports.sum(axis=1) == 0)
    reports[silent[::2], 0] = 1  # half of those who said no to everything do not: theta is negative
    negative = dn.compliance.self_protective(reports, [device] * 4)
    assert negative.params["self-protective"] < 0
    assert negative.constrained["self-protective"] == 0
    assert negative.compliance.pvalue == 1.0
    assert "no sign of it" in str(negative)
    reports[silent, 0] = 1
    with pytest.raises(TooFewReportsError, match="nobody said no"):
        dn.compliance.self_protective(reports, [device] * 4)


def test_self_protective_refusals():
    device = dn.Warner(0.8)
    with pytest.raises(NotIdentifiedError, match="items"):
        dn.compliance.self_protective(np.zeros((10, 1), int), [device])
    with pytest.raises(NotIdentifiedError, match="lower order"):
        dn.compliance.self_protective(np.zeros((10, 2), int), [device] * 2, order=2)
    with pytest.raises(InputError, match="one column per item"):
        dn.compliance.self_protective(np.zeros((10, 3), int), [device] * 2)
    with pytest.raises(DesignError):
        dn.compliance.self_protective(np.zeros((10, 2), int), [device, dn.Kuk(0.7, 0.3, repetitions=2)])
    with pytest.raises((DivergenceError, ConvergenceError, NotIdentifiedError)):
        dn.compliance.self_protective(np.zeros((50, 3), int), [device] * 3)


def test_sum_score_is_unbiased_for_dependent_traits():
    # All patterns of two dependent traits and all their reports, weighted by their probabilities: exact unbiasedness.
    first, second = dn.Warner(0.8), dn.Kuk(0.7, 0.2, repetitions=2)
    joint = np.array([[0.5, 0.1], [0.1, 0.3]])
    total, weight = 0.0, 0.0
    for u in range(2):
        for w in range(3):
            chance = first.matrix()[u] @ joint @ second.matrix()[w]
            score = dn.compliance.sum_score(np.array([[u, w], [u, w]]), [first, second]).values
            total, weight = total + chance * score, weight + chance
    assert weight == pytest.approx(1)
    np.testing.assert_allclose(total, [0.5, 0.2, 0.3], atol=1e-12)


def test_sum_score_simulation():
    rng, device = np.random.default_rng(8), dn.Warner(0.8)
    reports, truths = items(rng, 20_000, np.array([0.1, 0.3, 0.2, 0.5]), device)
    found = dn.compliance.sum_score(reports, [device] * 4)
    shares = np.bincount(truths.sum(axis=1), minlength=5) / len(truths)
    assert (np.abs(found.values - shares) < FAR * found.std_error).all()
    assert found.values.sum() == pytest.approx(1)
    assert abs(found.mean - 1.1) < FAR * found.mean_std_error
    each = (reports.mean(axis=0) - 0.2) / 0.6
    assert found.mean == pytest.approx(each.sum(), rel=1e-9)
    assert found.constrained.min() >= 0
    assert found.constrained.sum() == pytest.approx(1)
    low, high = found.interval()
    np.testing.assert_allclose(high - low, 2 * 1.959963984540054 * found.std_error)
    assert "mean number of traits" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.to_frame().num_rows == 5


def test_sum_score_refusals():
    device = dn.Warner(0.8)
    with pytest.raises(InputError, match="one column per item"):
        dn.compliance.sum_score(np.zeros((5, 3), int), [device])
    with pytest.raises(TooFewReportsError):
        dn.compliance.sum_score(np.zeros((1, 1), int), [device])
    with pytest.raises(DesignError, match="truths"):
        dn.compliance.sum_score(np.zeros((5, 1), int), [dn.KRR(3, epsilon=1.0)])
    with pytest.raises(InputError, match="outside"):
        dn.compliance.sum_score(np.full((5, 1), 2), [device])


@pytest.mark.parametrize("analysis", [dn.compliance.self_protective, dn.compliance.sum_score])
def test_odd_items_are_refused(analysis):
    device, reports = dn.Warner(0.8), [[0, 1], [0, 0], [1, 0]]
    for strange in (device, None, ["Warner", "Warner"], [1, 2]):
        with pytest.raises(InputError, match=r"one column per item|a list of channels, such as"):
            analysis(reports, strange)
    with pytest.raises(InputError, match="rows of one length"):
        analysis([[0, 1], [1]], [device] * 2)
    for clusters in ({}, {"clusters": []}):
        with pytest.raises(TooFewReportsError, match="only 0 respondents"):
            analysis(np.zeros((0, 2), int), [device] * 2, **clusters)


@pytest.mark.parametrize("order", [0, -1, 1.5, "all", None])
def test_an_order_of_interaction_is_a_whole_number_from_1_on(order):
    with pytest.raises(InputError, match="a whole number from 1 on"):
        dn.compliance.self_protective([[0, 1], [0, 0], [1, 0]], [dn.Warner(0.8)] * 2, order=order)


def test_clusters_that_happen_to_agree_leave_no_error_and_no_nan():
    reports = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1]])
    found = dn.compliance.sum_score(reports, [dn.Warner(0.8)] * 3, clusters=[0, 0, 1])
    assert found.mean_std_error == pytest.approx(0, abs=1e-7)
    assert np.isfinite(found.std_error).all()


# -- shared input --------------------------------------------------------------------------------------------


def test_counts_and_groups_are_checked():
    p = {"a": 0.2, "b": 0.7}
    with pytest.raises(UnknownCategoryError):
        dn.compliance.cdm({"a": (5, 5), "c": (5, 5)}, p=p)
    with pytest.raises(UnknownCategoryError, match="'c'"):
        dn.compliance.cdm([0, 1, 1], ["a", "b", "c"], p=p)
    with pytest.raises(InputError, match="two numbers"):
        dn.compliance.cdm({"a": (5, -5), "b": (5, 5)}, p=p)
    with pytest.raises(InputError, match="one value per report"):
        dn.compliance.cdm([0, 1, 1], ["a", "b"], p=p)
    with pytest.raises(InputError, match="codes"):
        dn.compliance.cdm([0, 1, 2], ["a", "b", "a"], p=p)
    with pytest.raises(TooFewReportsError):
        dn.compliance.cdm({"a": (1, 0), "b": (5, 5)}, p=p)
    with pytest.raises(NotIdentifiedError, match="must differ"):
        dn.compliance.cdm({"a": (5, 5), "b": (5, 5)}, p={"a": 0.4, "b": 0.4})
    with pytest.raises(DesignError, match="two truths"):
        dn.compliance.cheating_detection({"a": (5, 5)}, channels={"a": dn.KRR(3, epsilon=1.0)})


def test_reports_and_counts_agree_and_show_themselves():
    reports, groups = np.array([0, 1, 1, 0, 1, 1] * 50).astype(bool), groups_of(300)
    p = {"a": 0.2, "b": 0.7}
    counts = {g: tuple(np.bincount(reports[groups == g], minlength=2)) for g in "ab"}
    one, two = dn.compliance.cdm(reports, groups, p=p), dn.compliance.cdm(counts, p=p)
    assert one.params == two.params
    assert one.to_frame().num_rows == 3
    assert "nobody cheats" in str(one)
    assert one.interval(0.9).level == 0.9


def test_how_truthful_few_carriers_are_is_a_ratio():
    # Fieller by hand: with (pi t, pi) and their covariance, from the two groups' shares of yes.
    counts, p = {"a": (688, 312), "b": (352, 648)}, {"a": 0.82, "b": 0.4}
    found = dn.compliance.sld(counts, p=p)
    lam = np.array([0.312, 0.648])
    to = np.linalg.inv(np.stack([np.ones(2), [0.18, 0.6]], axis=1))
    to = np.array([[1, 0], [0, -1]]) @ to  # from shares of yes to pi t and -(1 - pi)
    spread = to @ np.diag(lam * (1 - lam) / 1000) @ to.T
    top, bottom = to @ lam + [0, 1]
    low, high = (float(end[1]) for end in found.interval())
    for m in (low, high):
        assert (top - m * bottom) ** 2 == pytest.approx(
            1.959964**2 * (spread[0, 0] - 2 * m * spread[0, 1] + m**2 * spread[1, 1]), rel=2e-3
        )
    rng, held = np.random.default_rng(1), 0
    for _ in range(300):
        yes = {group: int(rng.binomial(150, 0.16 + 0.8 * (1 - q))) for group, q in p.items()}
        low, high = dn.compliance.sld({group: (150 - y, y) for group, y in yes.items()}, p=p).interval()
        held += low[1] <= 0.8 <= high[1]
    # Wald's held it in 80%. Of 300 surveys fewer than this hold it with a chance of 1e-6 if 93% of all do.
    assert held >= binom.ppf(1e-6, 300, 0.93)

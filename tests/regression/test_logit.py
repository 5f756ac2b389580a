"""RR regressions of a yes-or-no outcome against statsmodels, a long-double Newton of our own, and scipy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import norm

import deniable as dn

FORMULA = "report ~ age + C(sex)"
MODELS = {"logit": dn.logit, "probit": dn.probit, "cloglog": dn.cloglog, "cauchit": dn.cauchit}
CDF = {
    "logit": lambda eta: 1 / (1 + np.exp(-eta)),
    "probit": norm.cdf,
    "cloglog": lambda eta: 1 - np.exp(-np.exp(eta)),
    "cauchit": lambda eta: 0.5 + np.arctan(eta) / np.pi,
}


def matrix_of(frame):
    return np.c_[np.ones(len(frame)), frame.age, frame.sex == "m"].astype(float)


def reports_of(truth, channel, seed=1):
    return channel.randomize(np.asarray(truth), source=dn.Seeded(seed))


def longdouble_logit(design, r0, r1, steps=60):
    """Newton's method on the RR logit likelihood in extended precision: estimates, standard errors, log-likelihood."""
    x, r0, r1 = (np.asarray(a, dtype=np.longdouble) for a in (design, r0, r1))
    beta = np.zeros(x.shape[1], dtype=np.longdouble)
    for _ in range(steps):
        share = 1 / (1 + np.exp(-(x @ beta)))
        chance = r0 * (1 - share) + r1 * share
        first = (r1 - r0) * share * (1 - share) / chance
        second = (r1 - r0) * share * (1 - share) * (1 - 2 * share) / chance - first**2
        gradient, information = x.T @ first, -(x.T * second) @ x
        beta += invert(information) @ gradient
    return beta, np.sqrt(np.diagonal(invert(information))), np.log(chance).sum()


def invert(matrix):
    """Gauss-Jordan in extended precision."""
    size = len(matrix)
    work = np.concatenate([matrix, np.eye(size, dtype=np.longdouble)], axis=1)
    for k in range(size):
        work[k] /= work[k, k]
        for row in set(range(size)) - {k}:
            work[row] -= work[row, k] * work[k]
    return work[:, size:]


@pytest.mark.parametrize(
    "channel",
    [
        dn.Warner(0.8),
        dn.Crosswise(0.2),
        dn.ForcedResponse([1 / 6, 1 / 6]),
        dn.UnrelatedQuestion(0.7, 0.3),
        dn.Kuk(0.75, 0.2, repetitions=2),
    ],
    ids=lambda c: c.name,
)
def test_logit_equals_the_extended_precision_reference(survey, channel):
    frame = survey.assign(report=reports_of(survey.truth, channel))
    fit = dn.logit(FORMULA, frame, channel=channel)
    rows = channel.matrix()[frame.report]
    beta, errors, loglik = longdouble_logit(matrix_of(frame), rows[:, 0], rows[:, 1])
    np.testing.assert_allclose(fit.params, beta.astype(float), rtol=1e-9)
    np.testing.assert_allclose(fit.std_error, errors.astype(float), rtol=1e-8)
    assert fit.loglik == pytest.approx(float(loglik), rel=1e-13)


@pytest.mark.parametrize("channel", [dn.Triangular(0.3), dn.Mangat(0.7)], ids=lambda c: c.name)
def test_devices_with_a_certain_report(survey, channel):
    # Not executable by our code (a report rules a truth out), so the device is simulated here.
    rng = np.random.default_rng(2)
    report = (rng.random(len(survey)) < channel.matrix()[1][survey.truth]).astype(int)
    fit = dn.logit(FORMULA, survey.assign(report=report), channel=channel)
    rows = channel.matrix()[report]
    beta, errors, _ = longdouble_logit(matrix_of(survey), rows[:, 0], rows[:, 1])
    np.testing.assert_allclose(fit.params, beta.astype(float), rtol=1e-9)
    np.testing.assert_allclose(fit.std_error, errors.astype(float), rtol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_every_link_equals_a_brute_force_optimum(survey, name):
    channel = dn.Warner(0.85)
    frame = survey.assign(report=reports_of(survey.truth, channel))
    fit = MODELS[name](FORMULA, frame, channel=channel)
    rows, design = channel.matrix()[frame.report], matrix_of(frame)

    def loss(beta):
        share = CDF[name](design @ beta)
        return -np.log(rows[:, 0] * (1 - share) + rows[:, 1] * share).sum()

    found = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-6})
    assert fit.loglik == pytest.approx(-found.fun, rel=1e-10)
    np.testing.assert_allclose(fit.params, found.x, atol=2e-5)
    assert loss(fit.params.to_numpy()) == pytest.approx(-fit.loglik, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("logit", sm.families.links.Logit()),
        ("probit", sm.families.links.Probit()),
        ("cloglog", sm.families.links.CLogLog()),
        ("cauchit", sm.families.links.Cauchy()),
    ],
)
def test_a_direct_question_is_an_ordinary_regression(survey, name, link):
    design = matrix_of(survey)
    fit = MODELS[name]("truth ~ age + C(sex)", survey)
    peer = sm.GLM(survey.truth, design, family=sm.families.Binomial(link)).fit(method="newton", tol=1e-12)
    np.testing.assert_allclose(fit.params, peer.params, rtol=1e-6)
    observed = np.sqrt(np.diagonal(np.linalg.inv(-peer.model.hessian(peer.params, observed=True))))
    np.testing.assert_allclose(fit.std_error, observed, rtol=1e-6)
    assert fit.loglik == pytest.approx(peer.llf, rel=1e-10)


def test_covariances_equal_statsmodels(survey):
    design = matrix_of(survey)
    peer = sm.Logit(survey.truth, design)
    plain = peer.fit(disp=0, tol=1e-12)
    formula = "truth ~ age + C(sex)"
    np.testing.assert_allclose(dn.logit(formula, survey).std_error, plain.bse, rtol=1e-7)
    robust = peer.fit(disp=0, cov_type="HC0")
    np.testing.assert_allclose(dn.logit(formula, survey, covariance="sandwich").std_error, robust.bse, rtol=1e-7)
    scores = peer.score_obs(plain.params.to_numpy())
    opg = np.sqrt(np.diagonal(np.linalg.inv(scores.T @ scores)))
    np.testing.assert_allclose(dn.logit(formula, survey, covariance="opg").std_error, opg, rtol=1e-6)
    grouped = peer.fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": survey.village.to_numpy(), "use_correction": False}
    )
    clusters = survey.village.nunique()
    fit = dn.logit(formula, survey, clusters="village")
    assert fit.kind == "survey"
    np.testing.assert_allclose(fit.std_error, grouped.bse * np.sqrt(clusters / (clusters - 1)), rtol=1e-7)


def test_weights_repeat_rows_or_represent_people(survey):
    channel = dn.Warner(0.8)
    frame = survey.assign(report=reports_of(survey.truth, channel), copies=np.arange(len(survey)) % 3 + 1)
    repeated = frame.loc[frame.index.repeat(frame.copies)]
    once = dn.logit(FORMULA, frame, channel=channel, weights="copies", covariance="hessian")
    every = dn.logit(FORMULA, repeated, channel=channel)
    np.testing.assert_allclose(once.params, every.params, rtol=1e-9)
    np.testing.assert_allclose(once.std_error, every.std_error, rtol=1e-9)
    # As survey weights: n / (n - 1) times the sandwich, unchanged when all weights are doubled.
    fit = dn.logit(FORMULA, frame, channel=channel, weights="weight")
    double = dn.logit(FORMULA, frame, channel=channel, weights=2 * frame.weight.to_numpy())
    assert fit.kind == "survey"
    np.testing.assert_allclose(fit.std_error, double.std_error, rtol=1e-9)
    weighted = sm.GLM(survey.truth, matrix_of(survey), family=sm.families.Binomial(), var_weights=survey.weight).fit(
        tol=1e-12, cov_type="HC0"
    )
    direct = dn.logit("truth ~ age + C(sex)", survey, weights="weight")
    np.testing.assert_allclose(direct.params, weighted.params, rtol=1e-6)
    n = len(survey)
    np.testing.assert_allclose(direct.std_error, weighted.bse * np.sqrt(n / (n - 1)), rtol=1e-6)


def test_mixed_designs_row_by_row(survey):
    channels = {"a": dn.Warner(0.8), "b": dn.Kuk(0.8, 0.3, repetitions=2), "direct": None}
    report = survey.truth.to_numpy().copy()
    chance = np.eye(2)[report]
    for name, channel in channels.items():
        rows = np.flatnonzero(survey.group == name)
        if channel is not None:
            report[rows] = reports_of(survey.truth.to_numpy()[rows], channel)
            chance[rows] = channel.matrix()[report[rows]]
    frame = survey.assign(report=report)
    fit = dn.logit(FORMULA, frame, channel=channels, design_column="group")
    beta, errors, loglik = longdouble_logit(matrix_of(frame), chance[:, 0], chance[:, 1])
    np.testing.assert_allclose(fit.params, beta.astype(float), rtol=1e-9)
    np.testing.assert_allclose(fit.std_error, errors.astype(float), rtol=1e-8)
    assert fit.loglik == pytest.approx(float(loglik), rel=1e-12)
    listed = dn.logit(FORMULA, frame, channel=[channels[name] for name in frame.group])
    np.testing.assert_allclose(listed.params, fit.params, rtol=1e-12)
    assert "direct question" in str(fit)


def test_the_forced_response_likelihood_by_hand():
    # Four reports, an intercept only: 3 of 4 "yes" gives lambda = 3/4 = 1/12 + (3/4) pi, so pi = 8/9.
    channel = dn.ForcedResponse([1 / 6, 1 / 12])
    fit = dn.logit("report ~ 1", pd.DataFrame({"report": [1, 1, 1, 0]}), channel=channel)
    assert 1 / (1 + np.exp(-fit.params["Intercept"])) == pytest.approx(8 / 9, rel=1e-9)
    assert fit.loglik == pytest.approx(3 * np.log(3 / 4) + np.log(1 / 4), rel=1e-12)
    assert fit.loglik_null == pytest.approx(fit.loglik, rel=1e-12)


def test_categories_frames_and_reports(survey):
    channel = dn.Warner(0.8, categories=("no", "yes"))
    report = reports_of(survey.truth, channel)
    frame = survey.assign(report=np.array(["no", "yes"])[report])
    fit = dn.logit(FORMULA, frame, channel=channel)
    same = dn.logit(FORMULA, pl.from_pandas(frame), channel=channel)
    np.testing.assert_allclose(fit.params, same.params, rtol=1e-12)
    assert isinstance(same.predict(), pl.DataFrame)
    coded = dn.logit(FORMULA, survey.assign(report=report == 1), channel=dn.Warner(0.8), categories=(False, True))
    np.testing.assert_allclose(fit.params, coded.params, rtol=1e-12)
    # Reports know their channels: the outcome's, and a disguised predictor's.
    domain = dn.Domain({"answer": ["no", "yes"], "sex": ["f", "m"]})
    design = dn.Independent(domain, channels={"answer": dn.Warner(0.8), "sex": dn.Warner(0.9)})
    coarse = survey.age.round().clip(-2, 2)  # public columns must not single anybody out
    given = survey.assign(answer=np.array(["no", "yes"])[survey.truth], age=coarse)[["answer", "sex", "age"]]
    reports = design.randomize(given, keep=["age"], source=dn.Seeded(3))
    known = dn.logit("answer ~ age + sex", reports)
    labelled = reports.labelled()
    stated = dn.logit(
        "answer ~ age + sex",
        labelled,
        channel=design.questions[0].channel,
        categories=("no", "yes"),
        rr={"sex": dn.Warner(0.9, categories=("f", "m"))},
    )
    assert known.hidden == ("sex",)
    np.testing.assert_allclose(known.params, stated.params, rtol=1e-6)


def test_many_rows_start_from_a_sample():
    rng = np.random.default_rng(8)
    n = 60_000
    x = rng.normal(size=n)
    truth = (rng.random(n) < 1 / (1 + np.exp(1 - x))).astype(int)
    channel = dn.Warner(0.75)
    frame = pd.DataFrame({"x": x, "report": reports_of(truth, channel)})
    fit = dn.logit("report ~ x", frame, channel=channel)
    rows = channel.matrix()[frame.report]
    beta, errors, _ = longdouble_logit(np.c_[np.ones(n), x], rows[:, 0], rows[:, 1], steps=25)
    np.testing.assert_allclose(fit.params, beta.astype(float), rtol=1e-8)
    np.testing.assert_allclose(fit.std_error, errors.astype(float), rtol=1e-8)


@pytest.mark.slow
def test_coverage_of_wald_intervals():
    # 100 samples, two coefficients: fewer than 79 intervals of 100 that hold with .94 have a chance of 1e-7. The
    # calibration looks at thousands.
    channel, n, hits = dn.Warner(0.8), 1500, []
    rng = np.random.default_rng(11)
    for seed in range(100):
        x = rng.normal(size=n)
        truth = (rng.random(n) < 1 / (1 + np.exp(0.5 - 0.7 * x))).astype(int)
        data = pd.DataFrame({"x": x, "report": reports_of(truth, channel, seed)})
        fit = dn.logit("report ~ x", data, channel=channel)
        hits.append(fit.interval(0.95).contains([-0.5, 0.7]))
    assert (np.sum(hits, axis=0) >= 79).all()

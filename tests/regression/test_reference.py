"""Every estimator against log-likelihoods written again from scratch in extended precision.

From a disturbed estimate, Newton with differences in long double (rounding near 1e-19) finds the maximum and its
curvature on its own: coefficients and log-likelihood must agree to 1e-6 and better, standard errors to 1e-5.
"""

import numpy as np
import pytest

import deniable as dn

LD = np.longdouble
H = LD(1e-5)


def maximum(loglik, start, steps=8):
    """Maximise by Newton with central differences: parameters, standard errors, value."""
    params = np.asarray(start, dtype=LD)
    size = len(params)
    unit = np.eye(size, dtype=LD) * H
    for _ in range(steps):
        middle = loglik(params)
        above, below = ([loglik(params + side * e) for e in unit] for side in (1, -1))
        gradient = np.array([(a - b) / (2 * H) for a, b in zip(above, below, strict=True)])
        hessian = np.empty((size, size), dtype=LD)
        for j in range(size):
            hessian[j, j] = (above[j] - 2 * middle + below[j]) / H**2
            for k in range(j):
                corners = [loglik(params + s * unit[j] + t * unit[k]) * s * t for s in (1, -1) for t in (1, -1)]
                hessian[j, k] = hessian[k, j] = sum(corners) / (4 * H**2)
        step = np.linalg.solve(hessian.astype(float), gradient.astype(float))
        params = params - step
        if np.abs(step).max() < 1e-10:
            break
    return params.astype(float), np.sqrt(np.diagonal(np.linalg.inv(-hessian.astype(float)))), float(loglik(params))


def normal_cdf(x):
    """1/2 + phi(x) (x + x^3/3 + x^5/15 + ...), to extended precision for moderate x."""
    term, total = x.copy(), x.copy()
    for k in range(1, 120):
        term = term * x**2 / (2 * k + 1)
        total = total + term
    return LD(0.5) + np.exp(-(x**2) / 2) / np.sqrt(2 * LD(np.pi)) * total


CDF = {
    "logit": lambda eta: 1 / (1 + np.exp(-eta)),
    "probit": normal_cdf,
    "cloglog": lambda eta: 1 - np.exp(-np.exp(eta)),
    "cauchit": lambda eta: LD(0.5) + np.arctan(eta) / LD(np.pi),
}


def agree(fit, loglik, errors=True):
    rng = np.random.default_rng(0)
    params, spread, value = maximum(loglik, fit.values + 0.02 * rng.normal(size=len(fit.values)))
    np.testing.assert_allclose(fit.values, params, rtol=1e-6, atol=1e-7)
    if errors:
        np.testing.assert_allclose(np.sqrt(np.diagonal(fit.matrix)), spread, rtol=1e-5)
    return value


def disguised(frame, truth, channel, seed=1):
    return channel.randomize(frame[truth].to_numpy(), source=dn.Seeded(seed))


@pytest.mark.parametrize("name", CDF)
def test_links(survey, name):
    channel = dn.UnrelatedQuestion(0.75, 0.4)
    frame = survey.assign(report=disguised(survey, "truth", channel))
    fit = getattr(dn, name)("report ~ age + C(sex)", frame, channel=channel)
    x = np.c_[np.ones(len(frame)), frame.age, frame.sex == "m"].astype(LD)
    rows = channel.matrix()[frame.report].astype(LD)

    def loglik(beta):
        share = CDF[name](x @ beta)
        return np.log(rows[:, 0] * (1 - share) + rows[:, 1] * share).sum()

    assert fit.loglik == pytest.approx(agree(fit, loglik), rel=1e-9)


def test_multinomial(survey):
    channel = dn.KRR(3, epsilon=1.5)
    frame = survey.assign(report=disguised(survey, "three", channel))
    fit = dn.multinomial("report ~ age", frame, channel=channel)
    x = np.c_[np.ones(len(frame)), frame.age].astype(LD)
    rows = channel.matrix()[frame.report].astype(LD)

    def loglik(flat):
        power = np.exp(np.c_[np.zeros(len(x), dtype=LD), x @ flat.reshape(2, 2).T])
        return (np.log((rows * power).sum(axis=1)) - np.log(power.sum(axis=1))).sum()

    assert fit.loglik == pytest.approx(agree(fit, loglik), rel=1e-9)


def test_linear_with_a_disguised_predictor(survey):
    channel = dn.Warner(0.75)
    frame = survey.assign(x=disguised(survey, "truth", channel))
    fit = dn.linear("y ~ x + age", frame, rr={"x": channel})
    rows, age, y = channel.matrix()[frame.x].astype(LD), frame.age.to_numpy().astype(LD), frame.y.to_numpy().astype(LD)

    def loglik(p):
        share, total = 1 / (1 + np.exp(-(p[4] + p[5] * age))), LD(0)
        for x, prior in ((0, 1 - share), (1, share)):
            error = (y - p[0] - p[1] * x - p[2] * age) / np.exp(p[3])
            total = total + rows[:, x] * prior * np.exp(-(error**2) / 2)
        return (np.log(total) - p[3] - np.log(2 * LD(np.pi)) / 2).sum()

    assert fit.loglik == pytest.approx(agree(fit, loglik), rel=1e-9)


def test_logit_with_both_sides_disguised(survey):
    rng = np.random.default_rng(4)
    outcome = (rng.random(len(survey)) < 1 / (1 + np.exp(0.5 - 1.2 * survey.truth - 0.3 * survey.age))).astype(int)
    first, second = dn.Warner(0.8), dn.Warner(0.9)
    frame = survey.assign(outcome=outcome)
    frame = frame.assign(x=disguised(frame, "truth", first), report=disguised(frame, "outcome", second, 2))
    fit = dn.logit("report ~ x + age", frame, channel=second, rr={"x": first})
    rows, told = first.matrix()[frame.x].astype(LD), second.matrix()[frame.report].astype(LD)
    age = frame.age.to_numpy().astype(LD)

    def loglik(p):
        share, total = 1 / (1 + np.exp(-(p[3] + p[4] * age))), LD(0)
        for x, prior in ((0, 1 - share), (1, share)):
            yes = 1 / (1 + np.exp(-(p[0] + p[1] * x + p[2] * age)))
            total = total + rows[:, x] * prior * (told[:, 0] * (1 - yes) + told[:, 1] * yes)
        return np.log(total).sum()

    assert fit.loglik == pytest.approx(agree(fit, loglik), rel=1e-9)


def test_the_penalised_fit(survey):
    channel = dn.Warner(0.7)
    frame = survey.iloc[:300].assign(report=lambda d: disguised(d, "truth", channel))
    fit = dn.logit("report ~ age", frame, channel=channel, penalty="jeffreys")
    x, rows = np.c_[np.ones(300), frame.age].astype(LD), channel.matrix()[frame.report].astype(LD)

    def penalised(beta):
        share = 1 / (1 + np.exp(-(x @ beta)))
        lam = LD(0.3) + LD(0.4) * share
        weight = (LD(0.4) * share * (1 - share)) ** 2 / (lam * (1 - lam))
        (a, b), (_, d) = x.T @ (weight[:, None] * x)
        return np.log(rows[:, 0] * (1 - share) + rows[:, 1] * share).sum() + np.log(a * d - b * b) / 2

    agree(fit, penalised, errors=False)

"""Analytic derivatives against central differences, for every response, alone and mixed over hidden predictors."""

import numpy as np
import pytest

import deniable as dn
from deniable.regression.likelihood.disguised_outcome import Disguised
from deniable.regression.likelihood.jeffreys_prior import Jeffreys
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood
from deniable.regression.likelihood.responses import (
    CAUCHIT,
    CLOGLOG,
    LOGIT,
    PROBIT,
    Binary,
    Normal,
    Softmax,
    Spread,
    Written,
)

N = 200


def rows_of(matrix, reports):
    return np.asarray(matrix)[reports]


def softmax_factor(truths, data, design, offset):
    places = tuple(slice(offset + k * design.shape[1], offset + (k + 1) * design.shape[1]) for k in range(truths - 1))
    return Factor(Softmax(truths), data, (design,) * (truths - 1), places)


def one_cell(name, rng):
    design = np.c_[np.ones(N), rng.normal(size=(N, 2))]
    weights = rng.uniform(0.5, 2, N)
    if name == "normal":
        factor = Factor(Normal(), rng.normal(size=(N, 1)), (design, np.ones((N, 1))), (slice(0, 3), slice(3, 4)))
        return Likelihood((Cell((factor,)),), weights, 4)
    if name == "softmax":
        data = rows_of(dn.KRR(3, epsilon=1.0).matrix(), rng.integers(0, 3, N))
        return Likelihood((Cell((softmax_factor(3, data, design, 0),)),), weights, 6)
    if name == "kuk":
        data = rows_of(dn.Kuk(0.7, 0.2, repetitions=3).matrix(), rng.integers(0, 4, N))
        return Likelihood((Cell((Factor(Binary(LOGIT), data, (design,), (slice(0, 3),)),)),), weights, 3)
    link = {"logit": LOGIT, "probit": PROBIT, "cloglog": CLOGLOG, "cauchit": CAUCHIT}[name]
    data = rows_of(dn.Warner(0.75).matrix(), rng.integers(0, 2, N))
    return Likelihood((Cell((Factor(Binary(link), data, (design,), (slice(0, 3),)),)),), weights, 3)


def mixture(name, rng):
    """A hidden predictor of two categories with its own logit, under a linear or a disguised logistic outcome."""
    z = rng.normal(size=N)
    own = np.c_[np.ones(N), z]
    chance = rows_of(dn.Warner(0.7).matrix(), rng.integers(0, 2, N))
    cells = []
    for x in (0, 1):
        design = np.c_[np.ones(N), np.full(N, x), z]
        if name == "linear":
            y = np.linspace(-2, 2, N)[:, None]
            outcome = Factor(Normal(), y, (design, np.ones((N, 1))), (slice(0, 3), slice(3, 4)))
            offset = 4
        else:
            reports = rows_of(dn.Warner(0.8).matrix(), np.arange(N) % 2)
            outcome, offset = Factor(Binary(LOGIT), reports, (design,), (slice(0, 3),)), 3
        truth = np.zeros((N, 2))
        truth[:, x] = 1
        cells.append(Cell((outcome, softmax_factor(2, truth, own, offset)), np.log(chance[:, x])))
    return Likelihood(tuple(cells), rng.uniform(0.5, 2, N), offset + 2)


def check_derivatives(objective, params, atol=1e-5):
    value, gradient, hessian = objective.evaluate(params)
    if isinstance(objective, Likelihood):
        assert objective.value(params) == pytest.approx(value, rel=1e-13)
    h = 1e-5
    for place in range(len(params)):
        step = np.zeros(len(params))
        step[place] = h
        above, below = objective.evaluate(params + step), objective.evaluate(params - step)
        assert gradient[place] == pytest.approx((above[0] - below[0]) / (2 * h), abs=atol)
        np.testing.assert_allclose(hessian[place], (above[1] - below[1]) / (2 * h), atol=atol)
    return value, gradient


@pytest.mark.parametrize("name", ["logit", "probit", "cloglog", "cauchit", "kuk", "softmax", "normal"])
def test_derivatives(name):
    rng = np.random.default_rng(1)
    likelihood = one_cell(name, rng)
    params = rng.normal(size=likelihood.size) / 2
    _, gradient = check_derivatives(likelihood, params)
    np.testing.assert_allclose(likelihood.scores(params).sum(axis=0), gradient, atol=1e-10)


@pytest.mark.parametrize("name", ["linear", "logit"])
def test_derivatives_of_a_mixture(name):
    rng = np.random.default_rng(2)
    likelihood = mixture(name, rng)
    params = rng.normal(size=likelihood.size) / 2
    _, gradient = check_derivatives(likelihood, params)
    np.testing.assert_allclose(likelihood.scores(params).sum(axis=0), gradient, atol=1e-10)


@pytest.mark.parametrize("name", ["logit", "probit", "cloglog", "cauchit", "softmax"])
def test_derivatives_of_the_penalty(name):
    rng = np.random.default_rng(3)
    likelihood = one_cell(name, rng)
    channel = dn.KRR(3, epsilon=1.0) if name == "softmax" else dn.Warner(0.75)
    truths = channel.inputs
    nothing = np.empty((N, truths))
    outcome = Disguised("y", tuple(range(truths)), nothing, nothing, (channel.matrix(),), np.zeros(N, dtype=int))
    check_derivatives(Jeffreys(likelihood, outcome), rng.normal(size=likelihood.size) / 2, atol=1e-4)


def test_blocks_and_samples_change_nothing(monkeypatch):
    likelihood = one_cell("softmax", np.random.default_rng(4))
    params = np.linspace(-1, 1, likelihood.size)
    whole = likelihood.evaluate(params)
    monkeypatch.setattr("deniable.regression.likelihood.mixture_likelihood.BLOCK", 7)
    for a, b in zip(whole, likelihood.evaluate(params), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-10)
    halves = [likelihood.take(np.arange(0, 100)), likelihood.take(np.arange(100, N))]
    assert sum(half.evaluate(params)[0] for half in halves) == pytest.approx(whole[0], rel=1e-12)


@pytest.mark.parametrize("between", [(0, 0), (0, 2), (1, 2)])
def test_curves_are_summed_over_rows_without_writing_them_out(between):
    rng = np.random.default_rng(3)
    after, before = (rng.dirichlet(np.ones(4), 50)[:, 1:] for _ in range(2))
    left, right, weight = rng.normal(size=(50, 2)), rng.normal(size=(50, 3)), rng.uniform(size=50)
    spread = Spread(after, before)
    # (diag(q) - q q') - (diag(pi) - pi pi'), row by row.
    rows = np.array(
        [np.diag(q) - np.outer(q, q) - np.diag(p) + np.outer(p, p) for q, p in zip(after, before, strict=True)]
    )
    one_by_one = sum(w * h[between] * np.outer(x, z) for w, h, x, z in zip(weight, rows, left, right, strict=True))
    for curve in (spread, Written(rows)):
        np.testing.assert_allclose(curve.summed(weight, left, right, between), one_by_one, rtol=1e-12, atol=1e-13)
    whole = sum(w * np.kron(h, np.outer(x, x)) for w, h, x in zip(weight, rows, left, strict=True))
    for curve in (spread, Written(rows)):
        np.testing.assert_allclose(curve.shared(weight, left), whole, rtol=1e-12, atol=1e-13)

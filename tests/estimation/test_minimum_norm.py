"""Least squares and least absolute deviations on the simplex, against SciPy's own solvers."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import deniable as dn
from deniable.errors import MissingExtraError
from deniable.estimation.joint_tables.minimum_norm import fit_quadratic, summing

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})


@pytest.fixture
def margins():
    """Contradicting tables, some of their cells negative."""
    rng = np.random.default_rng(1)
    found = []
    for pair in combinations("abc", 2):
        part = DOMAIN.project(pair)
        values = rng.dirichlet(np.ones(part.cells)) + rng.normal(scale=0.1, size=part.cells)
        found.append((dn.Table(part, values / values.sum()), float(rng.uniform(0.5, 2))))
    return found


def test_summing_is_projecting():
    table = dn.Table(DOMAIN, np.arange(12.0))
    for names in (["c"], ["c", "a"], ["a", "b", "c"]):
        part = DOMAIN.project(names)
        np.testing.assert_allclose(summing(part, DOMAIN) @ table.values.ravel(), table.project(names).values.ravel())


def test_l2_is_nonnegative_least_squares(margins):
    ours = fit_quadratic(margins, DOMAIN, ridge=1e-3)
    least = min(variance for _, variance in margins)
    rows = [np.sqrt(least / v) * summing(m.domain, DOMAIN).toarray() for m, v in margins]
    wanted = [np.sqrt(least / v) * m.values.ravel() for m, v in margins]
    rows += [np.sqrt(1e-3) * np.eye(12), 1e4 * np.ones((1, 12))]
    other, _ = nnls(np.vstack(rows), np.concatenate([*wanted, np.zeros(12), [1e4]]))
    np.testing.assert_allclose(ours.values.ravel(), other, atol=1e-5)


def test_with_feasible_margins_it_is_the_papers_smallest_norm(margins):
    table = dn.Table(DOMAIN, np.random.default_rng(2).dirichlet(np.ones(12)))
    exact = [(table.project(m.domain.names), 1.0) for m, _ in margins]
    ours = fit_quadratic(exact, DOMAIN, ridge=1e-7)
    for m, _ in exact:
        np.testing.assert_allclose(ours.project(m.domain.names).values, m.values, atol=1e-4)
    assert (ours.values**2).sum() <= (table.values**2).sum() + 1e-6


def test_l1_is_linear_programming(margins):
    ours = fit_quadratic(margins, DOMAIN, "l1")
    least = min(variance for _, variance in margins)
    m = np.vstack([summing(t.domain, DOMAIN).toarray() for t, _ in margins])
    y = np.concatenate([t.values.ravel() for t, _ in margins])
    w = np.concatenate([np.full(t.values.size, np.sqrt(least / v)) for t, v in margins])
    k = len(y)
    best = linprog(
        np.concatenate([np.zeros(12), w]),
        A_ub=np.block([[m, -np.eye(k)], [-m, -np.eye(k)]]),
        b_ub=np.concatenate([y, -y]),
        A_eq=np.concatenate([np.ones(12), np.zeros(k)])[None],
        b_eq=[1.0],
    )
    assert (w * np.abs(m @ ours.values.ravel() - y)).sum() == pytest.approx(best.fun, abs=1e-6)


def test_without_the_extra_the_command_is_named(margins, monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deniable\[optimize\]'"):
        fit_quadratic(margins, DOMAIN)

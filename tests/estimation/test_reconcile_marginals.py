"""Reconciled marginals: consistent, unbiased, and as good as least squares over the whole table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import NotCoveredError
from deniable.estimation.joint_tables.minimum_norm import summing
from deniable.estimation.joint_tables.reconcile_marginals import from_moments, reconcile, to_moments

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})
PI = dn.Table(DOMAIN, np.random.default_rng(0).dirichlet(np.ones(12)))


def observed(n=(500, 900, 2000), epsilon=2.0, seed=1, draw=True):
    rng = np.random.default_rng(seed)
    found = []
    for names, size in zip((("b", "a"), ("a", "c"), ("c", "b")), n, strict=True):
        part = DOMAIN.project(names)
        channel = dn.KRR(part.cells, epsilon)
        lam = channel.apply(PI.project(names).values.ravel())
        found.append(dn.Observation(part, channel, rng.multinomial(size, lam) if draw else size * lam))
    return found


def test_moments_and_cells_are_two_ways_to_write_a_table():
    values = np.random.default_rng(2).normal(size=(2, 3, 4))
    np.testing.assert_allclose(from_moments(to_moments(values)), values, atol=1e-12)
    moments = to_moments(values)
    assert moments[0, 0, 0] == pytest.approx(values.sum())
    assert moments[1, 0, 2] == pytest.approx(values[1, :, 2].sum())
    batch = np.stack([values, 2 * values], axis=-1)
    np.testing.assert_allclose(to_moments(batch, trailing=1)[..., 1], 2 * moments, atol=1e-12)


def test_exact_tables_stay_as_they_are():
    known = reconcile(observed(draw=False))
    for pair in combinations("abc", 2):
        np.testing.assert_allclose(known.table(pair).values, PI.project(pair).values, atol=1e-9)


def test_reconciled_tables_agree_on_what_they_share():
    known = reconcile(observed())
    for pair in combinations("abc", 2):
        table = known.table(pair)
        assert table.total == pytest.approx(1)
        for name in pair:
            np.testing.assert_allclose(table.project(name).values, known.table(name).values, atol=1e-12)
    np.testing.assert_allclose(known.table(["b", "a"]).values, known.table(["a", "b"]).values.T, atol=1e-12)


def test_it_is_least_squares_over_the_whole_table():
    # The other way: an unconstrained (signed) table over all cells with total 1, weighted least squares on every
    # observed table with its covariance inverted on the space where it lives, and that table's margins.
    tables = observed()
    rows, wanted = [], []
    for o in tables:
        inverse = o.channel.solve(np.eye(o.channel.outputs))
        even = np.full(o.channel.outputs, 1 / o.channel.outputs)
        mean = inverse @ even
        covariance = ((inverse * even) @ inverse.T - np.outer(mean, mean)) / o.n
        values, vectors = np.linalg.eigh(covariance)
        half = (vectors[:, 1:] / np.sqrt(values[1:])).T  # the direction of the total has no variance
        rows.append(half @ summing(o.domain, DOMAIN).toarray())
        wanted.append(half @ o.channel.solve(o.shares))
    total = 1e6 * np.ones((1, 12))
    joint, *_ = np.linalg.lstsq(np.vstack([*rows, total]), np.concatenate([*wanted, [1e6]]), rcond=1e-14)
    known = reconcile(tables)
    for pair in combinations("abc", 2):
        np.testing.assert_allclose(known.table(pair).values, dn.Table(DOMAIN, joint).project(pair).values, atol=1e-6)


def test_it_is_unbiased_with_the_covariance_it_says():
    # 250 repetitions: means within 6 standard errors; variances .57 to 1.6 times (2e-8 of a chi-square of 249).
    found = [reconcile(observed(seed=s)) for s in range(250)]
    values = np.array([k.table(["a", "b"]).values.ravel() for k in found])
    stated = np.mean([np.diagonal(k.covariance_of(["a", "b"])) for k in found], axis=0)
    z = (values.mean(axis=0) - PI.project(["a", "b"]).values.ravel()) / np.sqrt(stated / 250)
    assert np.abs(z).max() < 6
    ratio = values.var(axis=0, ddof=1) / stated
    assert ((ratio > 0.57) & (ratio < 1.6)).all()


def test_the_others_help():
    tables = observed()
    known = reconcile(tables)
    alone = reconcile(tables[:1])
    assert (np.diagonal(known.covariance_of(["a", "b"])) < np.diagonal(alone.covariance_of(["a", "b"]))).all()
    # Nothing but reconciling with itself: the observation's own unbiased table.
    own = tables[0].truth_shape(tables[0].channel.solve(tables[0].shares))
    np.testing.assert_allclose(alone.table(["b", "a"]).values, own, atol=1e-12)


def test_what_nobody_was_asked_together_is_not_known():
    with pytest.raises(NotCoveredError, match="no observation covers"):
        reconcile(observed()).table(["a", "b", "c"])

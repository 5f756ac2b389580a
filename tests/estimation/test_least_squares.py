"""Weighted least squares on the simplex, checked by its optimality conditions and by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.estimation.least_squares import nearest
from deniable.numerics.simplex import norm_sub


def covariance(k, seed, *, fixed_total):
    root = np.random.default_rng(seed).normal(size=(k, 2 * k))
    v = root @ root.T / k
    if fixed_total:  # as of shares that sum to one: the total does not vary
        centre = np.eye(k) - 1 / k
        v = centre @ v @ centre
    return v


@pytest.mark.parametrize("fixed_total", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_no_direction_leads_nearer(seed, fixed_total):
    """Karush-Kuhn-Tucker: the slope is the same in every positive cell, and no smaller in any empty one."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 15))
    v = covariance(k, seed, fixed_total=fixed_total)
    u = rng.dirichlet(np.ones(k)) + rng.multivariate_normal(np.zeros(k), 0.01 * v, check_valid="ignore")
    x = nearest(u, v)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1)
    slope = np.linalg.pinv(v, rcond=1e-8, hermitian=True) @ (x - u)
    inside = x > 1e-9
    np.testing.assert_allclose(slope[inside], slope[inside].mean(), atol=1e-6 * np.abs(slope).max() + 1e-9)
    assert (slope[~inside] >= slope[inside].mean() - 1e-6 * np.abs(slope).max()).all()


def test_with_equal_variances_it_is_the_projection():
    for seed in range(10):
        u = np.random.default_rng(seed).normal(0.1, 0.2, size=12)
        np.testing.assert_allclose(nearest(u, 0.3 * np.eye(12)), norm_sub(u), atol=1e-9)


def test_a_possible_table_stays_as_it_is():
    u = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(nearest(u, covariance(3, 1, fixed_total=True)), u, atol=1e-12)

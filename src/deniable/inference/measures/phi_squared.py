"""phi^2 and mutual information of a table, and what phi^2 is where there is no association: its mean and its spread.

Both are too large where cells are noisy; `measures` subtracts the mean that is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError
from deniable.inference.attribute_pairs import residual_of, two_way
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.estimate import Estimate
    from deniable.likelihood.efficient_estimate import Efficient


def phi_squared(x: NDArray[Any]) -> np.inexact[Any]:
    """Mean square contingency, sum pi_ij^2 / (pi_i pi_j) - 1: zero at independence."""
    expected = x.sum(axis=1)[:, None] * x.sum(axis=0)[None, :]
    inside = np.abs(expected) > 0
    return (x[inside] ** 2 / expected[inside]).sum() - x.sum()


def information(x: NDArray[Any]) -> np.inexact[Any]:
    """Mutual information sum pi_ij log(pi_ij / (pi_i pi_j)), in nats."""
    expected = x.sum(axis=1)[:, None] * x.sum(axis=0)[None, :]
    inside = np.abs(x) > 0
    return (x[inside] * np.log(x[inside] / expected[inside])).sum()


def null_mean(estimate: Estimate) -> float:
    """The mean of n phi^2 if the two attributes were independent: what noise alone would show."""
    table = two_way(estimate)
    rows, columns = (_positive(table.sum(axis=1 - axis)) for axis in (0, 1))
    samples, domain = estimate.dispersion.samples, estimate.table.domain
    alone = len(samples) == 1 and (estimate.pooled is None or len(estimate.pooled.evidence.groups) == 1)
    if alone and samples[0].is_direct and np.all(estimate.dispersion.design_effect == 1):
        channel = samples[0].observation.channel
        if len(channel.factors) == 2:
            order = domain.axes(samples[0].observation.domain)
            margins = [(rows, columns)[axis] for axis in order]
            factors = [
                float((factor.solve_squared(factor.apply(pi)) / pi).sum()) - 1
                for factor, pi in zip(channel.factors, margins, strict=True)
            ]
            return factors[0] * factors[1]
    if table.size > DENSE_CELLS:
        raise InputError(f"the null mean of {table.size} cells is too large to compute; use correct=False")
    return float(np.trace(_null_weights(estimate, rows, columns)))


def _null_weights(estimate: Estimate, rows: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """At independence n phi^2 is a sum of squares of normal numbers with this covariance."""
    product = np.outer(rows, columns)
    half = residual_of(_covariance_at(estimate, product), rows, columns)
    root = np.sqrt(product.ravel())
    return np.asarray(estimate.n * residual_of(half.T, rows, columns) / root[:, None] / root)


def null_spread(estimate: Estimate, mean: float) -> float:
    """The standard deviation of n phi^2 at independence, sqrt(2 tr W^2); of large tables the largest it can be."""
    table = two_way(estimate)
    if table.size > DENSE_CELLS:
        return float(np.sqrt(2.0)) * mean
    rows, columns = (_positive(table.sum(axis=1 - axis)) for axis in (0, 1))
    return float(np.sqrt(2.0) * np.linalg.norm(_null_weights(estimate, rows, columns)))


def _covariance_at(estimate: Estimate, product: NDArray[np.float64]) -> NDArray[np.float64]:
    """The covariance of the efficient cells if they were the given table."""
    if estimate.pooled is None:
        return estimate.dispersion.at(product).matrix()
    return _at(estimate.pooled, product)


def strength(efficient: Efficient) -> float:
    """Cramer's V of a two-way efficient estimate, phi^2 less its mean at independence: `cramers_v` in short."""
    table = efficient.values
    if not all((table.sum(axis=axis) > 0).all() for axis in (0, 1)):
        table = norm_sub(table)
    rows, columns = (_positive(table.sum(axis=1 - axis)) for axis in (0, 1))
    product = np.outer(rows, columns)
    half = residual_of(_at(efficient, product), rows, columns)
    mean = float((np.diagonal(residual_of(half.T, rows, columns)) / product.ravel()).sum())
    return float(np.sqrt(max(float(phi_squared(table)) - mean, 0.0) / (min(table.shape) - 1)))


def _at(pooled: Efficient, product: NDArray[np.float64]) -> NDArray[np.float64]:
    """The covariance of the asked cells if they were the given table."""
    if pooled.evidence.nuisance or pooled.sampling is not None:
        # How the others go together, and how clusters differ, is known from the reports only.
        return pooled.matrix()
    return efficient_from(pooled.evidence, product).inverse


def _positive(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    """A margin without zeros, so that it can be divided by: no category is rarer than a hundredth of an even share."""
    share = np.maximum(norm_sub(margin), 0.01 / len(margin))
    return share / share.sum()

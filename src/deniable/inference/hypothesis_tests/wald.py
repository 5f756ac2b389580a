"""Wald's statistic of independence, out of an unbiased table and its covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import TooFewReportsError
from deniable.inference.attribute_pairs import residual_jacobian

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SINGULAR = 1e-12  # smallest eigenvalue of a covariance, relative to their sum, that can be divided by


def wald_statistics(found: Any) -> tuple[float, float, int]:
    """Wald's d' V^-1 d, d_ij = pi_ij - pi_i pi_j (last row and column left out): V under H1, under H0; and the df."""
    table = found.unbiased.values
    # Sets miss a total of one by chance: spread evenly, or the cells that are left out would carry it.
    centre = np.eye(table.size) - 1 / table.size
    table = table - (table.sum() - 1) / table.size
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    keep = np.zeros(table.shape, dtype=bool)
    keep[:-1, :-1] = True
    d = (table - np.outer(rows, columns))[keep]
    j = residual_jacobian(rows, columns)[keep.ravel()] @ centre
    null_rows, null_columns = _inside(rows), _inside(columns)
    j0 = residual_jacobian(null_rows, null_columns)[keep.ravel()] @ centre
    under_h1 = j @ found.dispersion.matrix() @ j.T
    under_h0 = j0 @ found.dispersion.at(np.outer(null_rows, null_columns)).matrix() @ j0.T
    if not all(np.linalg.eigvalsh(v)[0] > _SINGULAR * np.trace(v) for v in (under_h1, under_h0)):
        raise TooFewReportsError(
            'the estimated covariance is singular: too few reports for Wald\'s test. Use method="lrt"', n=found.n
        )
    w1, w0 = (float(d @ np.linalg.solve(v, d)) for v in (under_h1, under_h0))
    return w1, w0, int(keep.sum())


def _inside(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    share = np.maximum(margin, 1e-6)
    return share / share.sum()

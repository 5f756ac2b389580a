"""Weighted least squares on the simplex: the nearest table without negative cells, in units of its own errors.

For reports that are sets the likelihood of their counts is out of reach, but the unbiased table u and its covariance V
are not. The table x >= 0, sum x = 1, that minimizes (x - u)' V^-1 (x - u) uses them to the full. With B'B = V^-1
and sum x = 1 the distance is |C x|^2 for C = B - (B u) 1', and then

    minimize |C x|^2 + (sum x - 1)^2  over  x >= 0

has the same solution but for its length: for x = s y with sum y = 1 the least value over s is c / (c + 1), c = |C y|^2,
which grows with c. That is an ordinary non-negative least-squares problem, solved exactly in finitely many steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.likelihood.covariance_operator import Dispersion

_SINGULAR = 1e-10  # an eigenvalue below this share of the largest belongs to something that does not vary: the total
_ROUNDING = 1e-12


def least_squares(unbiased: NDArray[np.float64], dispersion: Dispersion) -> NDArray[np.float64]:
    """The table on the simplex nearest to an unbiased one, its covariance taken at the plain projection."""
    if unbiased.size > DENSE_CELLS:
        raise EstimationError(
            f"a table of {unbiased.size} cells is too large for weighted least squares (at most {DENSE_CELLS}); use "
            f'method="norm_sub" or "inversion"',
            cells=unbiased.size,
        )
    covariance = dispersion.at(norm_sub(unbiased)).matrix()
    return nearest(unbiased.ravel(), covariance).reshape(unbiased.shape)


def nearest(u: NDArray[np.float64], covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimize (x - u)' V^-1 (x - u) over the simplex; a table that lies on it is itself the nearest.

    >>> nearest(np.array([0.7, 0.4, -0.1]), np.diag([1.0, 1.0, 1.0])).round(3).tolist()
    [0.65, 0.35, 0.0]
    >>> nearest(np.array([0.5, 0.25, 0.25]), np.diag([1.0, 2.0, 3.0])).tolist()
    [0.5, 0.25, 0.25]
    """
    if u.min() >= 0 and abs(u.sum() - 1) < _ROUNDING:
        return np.asarray(u / u.sum())
    from scipy.optimize import nnls

    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    varies = values > _SINGULAR * values[-1]
    whitened = vectors[:, varies].T / np.sqrt(values[varies])[:, None]
    distance = whitened - (whitened @ u)[:, None]
    found, _ = nnls(np.vstack([distance, np.ones(len(u))]), np.append(np.zeros(len(distance)), 1.0))
    return np.asarray(found / found.sum())

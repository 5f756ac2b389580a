"""The best use of given patterns: a convex program over their probabilities, by Newton's method with a barrier.

    minimise  tr(K F(p)^-1) - mu sum log p    subject to  sum p x = 1,       F(p) = sum p x x',  K = V'V

The gradient is -x'Ax with A = F^-1 K F^-1; the Hessian is the elementwise product of two Gram matrices, 2 (x'Ay)
(x'F^-1 y). With mu above zero every pattern keeps some probability, so F is invertible whatever is wanted; as mu falls,
the loss comes within (number of patterns) mu of the best. Steps are scaled by p, and may start where the sum is not yet
1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FAR = 0.9  # of the way to where the first probability would be zero
_CLOSE = 1e-3
_SUMS_TO_ONE = 1e-10


class Point(NamedTuple):
    """Probabilities, the prices y of the answers, and what follows: F^-1 and the loss tr(K F^-1)."""

    p: NDArray[np.float64]
    y: NDArray[np.float64]
    inverse: NDArray[np.float64]
    loss: float


def descend(
    x: NDArray[np.float64],
    gram: NDArray[np.float64],
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    mu: float,
    steps: int,
) -> Point:
    """Go to the minimum for this mu, which is a share of the loss and divided among the patterns."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    barrier = mu * _loss(x, gram, p)[0] / len(p)
    for _ in range(steps):
        _, inverse = _loss(x, gram, p)
        curved = x @ (inverse @ gram @ inverse)
        scaled = x * p[:, None]
        hessian = 2 * (curved @ x.T) * (x @ inverse @ x.T) * np.outer(p, p)
        hessian[np.diag_indices_from(hessian)] += barrier
        gradient = -p * (curved * x).sum(axis=1) - barrier
        missing = 1 - scaled.sum(axis=0)
        try:
            factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
        except LinAlgError:
            break  # nothing is left of mu in double precision
        solved = cho_solve(factor, np.column_stack([gradient, scaled]), check_finite=False)
        y = np.linalg.solve(scaled.T @ solved[:, 1:], -missing - scaled.T @ solved[:, 0])
        step = -(solved[:, 0] + solved[:, 1:] @ y)
        decrement = float(step @ -(gradient + scaled @ y))
        p = p * (1 + min(1.0, _FAR / max(float(-step.min()), _FAR)) * step)
        if decrement < _CLOSE**2 * barrier * len(p) and np.abs(missing).max() < _SUMS_TO_ONE:
            break
    loss, inverse = _loss(x, gram, p)
    return Point(p, y, inverse, loss)


def _loss(
    x: NDArray[np.float64], gram: NDArray[np.float64], p: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    inverse = np.asarray(np.linalg.inv((x * p[:, None]).T @ x), dtype=np.float64)
    return float((gram * inverse).sum()), inverse

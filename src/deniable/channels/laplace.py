"""The Laplace mechanism on category numbers, rounded back to a category: a comparator.

Add Laplace noise of scale (t - 1) / epsilon to the category's number and take the nearest category (Wang, Wu & Hu 2016,
eq 11 for two categories, eq 21 for more; the scale in eq 21 is meant, not its inverse). Rounding is itself a
disguise, so the true epsilon lies below the nominal one: budget that is paid for and not used.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.channels.dense import Dense
from deniable.errors import DesignError


def BinnedLaplace(t: int, epsilon: float) -> Dense:
    """Laplace noise on 1 .. t, binned at the midpoints. `epsilon` is nominal; `.epsilon` of the result is the truth.

    With b = (t - 1) / epsilon and S(x) = Pr(noise > x):  P[u, v] = S(u - 1/2 - v) - S(u + 1/2 - v) inside, and the end
    categories take the tails.

    >>> channel = BinnedLaplace(2, 1.0)
    >>> round(channel.epsilon, 4), round(math.log(2 * math.exp(0.5) - 1), 4)
    (0.8318, 0.8318)
    """
    if t < 2:
        raise DesignError(f"BinnedLaplace needs at least 2 categories, not {t}", t=t)
    if not 0 < epsilon < math.inf:
        raise DesignError(f"epsilon must be positive and finite, not {epsilon}", epsilon=epsilon)
    scale = (t - 1) / epsilon
    matrix = np.empty((t, t))
    for v in range(t):
        # Interval (low, high] of the noise that leads to report u. Differences of small tails, never of numbers near 1.
        for u in range(t):
            low = -math.inf if u == 0 else u - 0.5 - v
            high = math.inf if u == t - 1 else u + 0.5 - v
            if low >= 0:
                matrix[u, v] = _tail(low / scale) - _tail(high / scale)
            elif high <= 0:
                matrix[u, v] = _tail(-high / scale) - _tail(-low / scale)
            else:
                matrix[u, v] = 1 - _tail(-low / scale) - _tail(high / scale)
    return Dense(matrix, name=f"BinnedLaplace({t}, {epsilon:g})").executed()


def _tail(x: float) -> float:
    """Pr(standard Laplace > x) for x >= 0."""
    return 0.5 * math.exp(-x)

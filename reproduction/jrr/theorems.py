"""The slides' theorems as they are printed, and pairs as they are simulated.

With q = 1 - p, each of two paired respondents says the truth with probability p, and rho is the correlation of their
truthfulness.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Stream

    Numbers = float | NDArray[np.float64]


def count_variance(p: Numbers, rho: Numbers, n: int, yes: float) -> Any:
    """The utility theorem (slide 25): the variance of the estimated number of yeses, n even and everybody paired.

    >>> round(count_variance(0.8, -0.25, 2, 2) * 0.6**2, 12)
    0.24
    """
    return p * (1 - p) / (2 * p - 1) ** 2 * (n + rho * ((2 * yes - n) ** 2 - n) / (n - 1))


def joint_truthfulness(p: float, rho: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """((P(00), P(01)), (P(10), P(11))): how often both say the truth (11), one of them, or neither.

    >>> [[round(each, 12) for each in row] for row in joint_truthfulness(0.8, -0.25)]
    [[0.0, 0.2], [0.2, 0.6]]
    """
    q = 1 - p
    one = (1 - rho) * p * q
    return (q**2 + rho * p * q, one), (one, p**2 + rho * p * q)


def allowed(p: NDArray[np.float64], rho: NDArray[np.float64], epsilon: float, n: int, m: int) -> NDArray[np.bool_]:
    """The privacy theorem (slide 33): whether such pairs exist and keep epsilon against m colluders of n."""
    q = 1 - p
    most = np.maximum((1 - rho) * p, p + rho * q)
    least = np.maximum(1 - most, 0.0)
    others = n - 1 - m
    within = m * most + others * p <= exp(epsilon) * (m * least + others * q) * (1 + 1e-12)
    return (rho >= -q / p - 1e-12) & (rho <= 1) & within


def sides(n: int, stream: Stream) -> NDArray[np.int8]:
    """Pair n people at random and toss a coin a pair: +1 for one member, -1 for the other; one may be left alone."""
    order = stream.permutation(n)
    coins = (1 - 2 * (stream.words(n, 8) & 1).astype(np.int8)).astype(np.int8)
    one, other = order[0 : n - n % 2 : 2], order[1:n:2]
    coins[np.minimum(one, other)] = -coins[np.maximum(one, other)]
    return coins

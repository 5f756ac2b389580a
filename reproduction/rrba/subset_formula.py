"""Subset selection in closed form: what the best report of many cells costs at a given epsilon.

A person of cell v sends d of the t cells: with probability p one of the subsets that hold v, else one of those that do
not, d = round(t / (e^eps + 1)) (Ye & Barg 2018). A cell is in the subset with probability p when it is the person's
own, else q, and (support / n - q) / (p - q) is unbiased.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def support(t: int, epsilon: float) -> tuple[int, float, float]:
    """d, and how often one's own cell and another one are in the subset.

    >>> d, p, q = support(16, 0.5)
    >>> d, round(p, 4), round(q, 4)
    (6, 0.4973, 0.3669)
    """
    d = max(1, round(t / (exp(epsilon) + 1)))
    p = d * exp(epsilon) / (d * exp(epsilon) + t - d)
    return d, p, (p * (d - 1) + (1 - p) * d) / (t - 1)


def variance(pi: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The variance of each estimated share of people drawn from pi, times their number.

    >>> (variance(np.full(2, 0.5), 1.0) / 0.5).round(2).tolist()  # with two cells it is k-RR
    [2.34, 2.34]
    """
    _, p, q = support(pi.size, epsilon)
    lam = pi * p + (1 - pi) * q
    spread: NDArray[np.float64] = lam * (1 - lam) / (p - q) ** 2
    return spread


def typical_distance(pi: NDArray[np.float64], epsilon: float, n: int) -> NDArray[np.float64]:
    """Root mean square l2 distance of estimated counts from those of n given people, for every row of pi."""
    _, p, q = support(pi.shape[-1], epsilon)
    each = pi * p * (1 - p) + (1 - pi) * q * (1 - q)  # the people are given: only their reports vary
    spread: NDArray[np.float64] = np.sqrt(n * each.sum(axis=-1)) / (p - q)
    return spread

"""The interval of a ratio whose denominator may be nearly nothing (Fieller 1954).

That a risk ratio is rho says: A - rho B = 0, with A = x_bk x_a. and B = x_ak x_b. (a cell and the other group's share
each). Whether that could be is asked of A - rho B, which is smooth whatever the cells are, with its own variance:

    (A - rho B)^2  <=  z^2 (Var A - 2 rho Cov(A, B) + rho^2 Var B).

The interval holds every rho of which it is true. Where B could be zero it has no upper end; where both could, it holds
everything. A normal interval for log(A / B) misses there, on one side, however many reports there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.intervals import critical_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.estimation.estimate import Estimate


def ratio_between(a: float, b: float, *, var: tuple[float, float], cov: float, z: float) -> tuple[float, float]:
    """The least and the largest ratio A / B of two numbers that are not negative.

    >>> ratio_between(4.0, 2.0, var=(0.0, 0.0), cov=0.0, z=1.96)
    (2.0, 2.0)
    >>> ratio_between(4.0, 0.1, var=(1.0, 1.0), cov=0.0, z=1.96)[1]
    inf
    """
    # c2 rho^2 - 2 c1 rho + c0 <= 0
    c2, c1, c0 = b**2 - z**2 * var[1], a * b - z**2 * cov, a**2 - z**2 * var[0]
    within = c1**2 - c2 * c0
    if c2 > 0 and b > 0:  # B is surely above zero: what lies between two roots
        root = float(np.sqrt(max(within, 0.0)))
        low, high = (c1 - root) / c2, (c1 + root) / c2
        return (max(low, 0.0), high) if high > 0 else (0.0, np.inf)
    if c2 <= 0 < c0 and a > 0:  # A surely is: all but what lies between two roots, the smaller of which is below zero
        return c0 / (c1 + float(np.sqrt(max(within, 0.0)))), np.inf
    return 0.0, np.inf


def risk_ratio_ends(estimate: Estimate, a: int, b: int, k: int) -> Callable[[float], tuple[float, float]]:
    """A function from the level to the interval of Pr(k | b) / Pr(k | a), of the efficient cells."""
    table = estimate.efficient.values
    top, bottom = table[b, k] * table[a].sum(), table[a, k] * table[b].sum()
    slopes = []
    for own, other in ((b, a), (a, b)):
        slope = np.zeros(table.shape)
        slope[own, k] += table[other].sum()
        slope[other] += table[own, k]
        slopes.append(slope)
    of = estimate.covariance
    var = float(of.quadratic(slopes[0])), float(of.quadratic(slopes[1]))
    both = float(((of @ slopes[0]) * slopes[1]).sum())

    def ends(level: float) -> tuple[float, float]:
        z = float(critical_value(1 - level, of.df))
        return ratio_between(float(top), float(bottom), var=var, cov=both, z=z)

    return ends

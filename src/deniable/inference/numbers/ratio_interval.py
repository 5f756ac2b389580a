"""The score interval of a ratio N / D of two functionals of a table: a mean of a group.

It holds every m that the reports do not refute as the ratio: with f = N - m D, all m with

    f^2  <=  z^2 Var(f if it were zero),

where the variance is that of reports from the table nearest to the estimate in which f is zero (`efficient`). Fieller's
interval takes the variance at the estimate instead, which is too small where a group is small and a score is rare: of
30 people, with a score of 10 that one in a hundred has, it held the mean in 85% of surveys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.numerics.root_finding import bracketed_root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.likelihood.efficient_estimate import Efficient

    Array = NDArray[np.float64]

_POINTS = 49  # at which a ratio is tried at first, over three times the range there is


def score_interval_of_ratio(of: Efficient, along: Array, z2: float, within: tuple[float, float]) -> tuple[float, float]:
    """The ends, infinite where they lie further outside of the range than it is wide.

    Args:
        of: the efficient estimate.
        along: N and D as columns over the cells of the asked table.
        z2: the squared critical value.
        within: the least and the largest value that the ratio can have.
    """
    top, bottom = along.T @ of.values.ravel()

    def left(ratios: Array) -> Array:
        """By how much a ratio is nearer than it must be to be refuted."""
        found = of.along(along[:, :1] - along[:, 1:] * ratios)
        return z2 * found.variances_at(np.zeros(len(ratios))) - found.values**2

    width = within[1] - within[0]
    tried = np.linspace(within[0] - width, within[1] + width, _POINTS)
    tried = np.unique(np.append(tried, top / bottom))  # at the estimate f is zero, which nothing refutes
    kept = np.flatnonzero(left(tried) >= 0)
    first, last = int(kept[0]), int(kept[-1])
    low, high = bracketed_root(left, tried[[first, last]], tried[[max(first - 1, 0), min(last + 1, len(tried) - 1)]])
    return -np.inf if first == 0 else float(low), np.inf if last == len(tried) - 1 else float(high)

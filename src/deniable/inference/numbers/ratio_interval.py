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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.likelihood.efficient_estimate import Efficient

    Array = NDArray[np.float64]

_POINTS = 49  # at which a ratio is tried at first, over three times the range there is
_WITHIN, _ROUNDS = 9, 7  # points between two of these, and how often: to 1e-7 of the range


def score_interval_of_ratio(of: Efficient, along: Array, z2: float, within: tuple[float, float]) -> tuple[float, float]:
    """The ends, infinite where they lie further outside of the range than it is wide.

    Args:
        of: the efficient estimate.
        along: N and D as columns over the cells of the asked table.
        z2: the squared critical value.
        within: the least and the largest value that the ratio can have.
    """
    top, bottom = along.T @ of.values.ravel()

    def refuted(ratios: Array) -> NDArray[np.bool_]:
        found = of.along(along[:, :1] - along[:, 1:] * ratios)
        return found.values**2 > z2 * found.variances_at(np.zeros(len(ratios)))

    width = within[1] - within[0]
    tried = np.linspace(within[0] - width, within[1] + width, _POINTS)
    tried = np.unique(np.append(tried, top / bottom))  # at the estimate f is zero, which nothing refutes
    kept = np.flatnonzero(~refuted(tried))
    first, last = int(kept[0]), int(kept[-1])

    def edge(outside: float, inside: float) -> float:
        for _ in range(_ROUNDS):
            between = np.linspace(outside, inside, _WITHIN + 2)
            place = int(refuted(between[1:-1]).cumprod().sum())
            outside, inside = float(between[place]), float(between[place + 1])
        return inside

    low = -np.inf if first == 0 else edge(float(tried[first - 1]), float(tried[first]))
    high = np.inf if last == len(tried) - 1 else edge(float(tried[last + 1]), float(tried[last]))
    return float(low), float(high)

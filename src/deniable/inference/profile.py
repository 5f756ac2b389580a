"""Profile likelihood for the odds ratio: all tables of a given odds ratio, fitted at once for a grid of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.domain import listed
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.inference.fit import Part, saturated
from deniable.inference.models import OddsRatio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.domain import Domain

_WIDEST = 16.0  # log odds ratios are looked for in -16 .. 16; beyond, an end is 0 or infinite
_POINTS = 17
_ROUNDS = 5  # each narrows a bracket sixteenfold: 32 / 16^5 = 3e-5


def odds_ratio_interval(
    observations: Sequence[Observation], domain: Domain, rows: tuple[int, int], columns: tuple[int, int]
) -> Callable[[float], tuple[float, float]]:
    """A function from the level to the interval's ends: { psi: 2 (best - best at psi) <= z^2 }."""
    whole = saturated(observations)
    if set(whole.domain) != set(domain):
        raise InputError(
            f"the profile needs reports about exactly {listed(domain)}; these speak of {listed(whole.domain)}. Use "
            f'method="delta" or "bootstrap"'
        )
    if whole.domain.names != domain.names:
        # The rows and columns of the asked table, in the order the observations speak of them.
        rows, columns = columns, rows
    best = whole.fit()
    at = best.pi

    def fall(log_psi: NDArray[np.float64]) -> NDArray[np.float64]:
        part = Part(observations, OddsRatio(rows, columns, np.exp(log_psi)))
        counts = [np.repeat(y, len(log_psi), axis=-1) for y in part.counts]
        fits = part.fit(counts, near=np.repeat(at, len(log_psi), axis=-1))
        return 2 * (best.loglik[0] - fits.loglik)

    def ends(level: float) -> tuple[float, float]:
        limit = critical_value(1 - level) ** 2
        grid = np.linspace(-_WIDEST, _WIDEST, 4 * _POINTS)
        falls = fall(grid)
        middle = grid[int(np.argmin(falls))]
        return (
            float(np.exp(_edge(fall, limit, -_WIDEST, middle))) if falls[0] > limit else 0.0,
            float(np.exp(_edge(fall, limit, _WIDEST, middle))) if falls[-1] > limit else np.inf,
        )

    return ends


def _edge(
    fall: Callable[[NDArray[np.float64]], NDArray[np.float64]], limit: float, outside: float, inside: float
) -> float:
    """Where the fall crosses the limit, between a point outside the interval and one inside."""
    for _ in range(_ROUNDS):
        grid = np.linspace(inside, outside, _POINTS)
        first = int(np.argmax(fall(grid) > limit))  # the first point beyond, seen from inside
        if first == 0:
            first = _POINTS - 1
        inside, outside = float(grid[first - 1]), float(grid[first])
    return (inside + outside) / 2

"""How far a coefficient can go before the likelihood falls, where it is no parabola.

Where reports say little about who is in which group, a smaller group farther away fits as well as a larger one nearby,
and an error from the curvature at the top sees none of that. So each coefficient is held z errors to either side, and
everything else fitted again. Where the likelihood has not fallen there by what a parabola falls, z^2 / 2, or nearly so,
all coefficients are walked outwards until it has, from every hill that is known: the error is a z-th of the way. No
walk goes farther than the range of the numbers themselves: the mean of a group with anybody in it lies among them.

Where the error that is stated is k times that of the curvature (weights, clusters), a parabola falls k^2 z^2 / 2, and
what is looked for is as many times more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import ConvergenceError
from deniable.regression.likelihood.covariance import inverse
from deniable.regression.likelihood.maximize import ascend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.regression.likelihood.maximize import Optimum
    from deniable.regression.likelihood.mixture_likelihood import Likelihood

    Array = NDArray[np.float64]

Z = 1.959963984540054
FALL = Z**2 / 2  # nats
_ROUGH = 1e-3  # nats, twice, that the last step of a climb may still have to gain: it leaves far less
_SAME = 1e-3  # nats between ends that are one
_ENOUGH = 0.8  # of it, z errors away, where the likelihood is as good as a parabola
_GROWTH = 1.4  # of the steps of a walk
_FRONTS = 2  # from which it goes on
_STEPS = 14  # at most: 0.5 z errors, grown so often, are 100 of them


@dataclass(frozen=True)
class Held:
    """A likelihood with one parameter held where it is."""

    likelihood: Likelihood
    place: int
    at: float

    def whole(self, free: Array) -> Array:
        """All parameters."""
        return np.insert(free, self.place, self.at)

    def evaluate(self, free: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian in the others."""
        value, gradient, hessian = self.likelihood.evaluate(self.whole(free))
        kept = np.delete(np.arange(self.likelihood.size), self.place)
        return value, gradient[kept], hessian[np.ix_(kept, kept)]

    def value(self, free: Array) -> float:
        """The value alone."""
        return self.likelihood.value(self.whole(free))

    def reach(self, step: Array) -> float:
        """The largest change of any linear predictor."""
        return self.likelihood.reach(np.insert(step, self.place, 0.0))


def profile(likelihood: Likelihood, place: int, value: float, starts: Sequence[Array]) -> list[tuple[float, Array]]:
    """The ends of climbs with one parameter held, the highest first, those that are the same once."""
    held = Held(likelihood, place, value)
    found: list[tuple[float, Array]] = []
    for start in starts:
        try:
            end = ascend(held, np.delete(start, place), left=_ROUGH)
        except ConvergenceError:
            continue
        if not any(abs(end.value - other) < _SAME for other, _ in found):
            found.append((end.value, held.whole(end.params)))
    return sorted(found, key=lambda one: -one[0])


def walked(
    likelihood: Likelihood, best: Optimum, errors: Array, starts: Sequence[Array], fall: float, *, sure: bool
) -> Array:
    """Errors of the first parameters that reach as far as the likelihood does.

    Args:
        likelihood: of a number.
        best: its highest point.
        errors: as they are stated of these parameters.
        starts: other places that walks begin at.
        fall: where they end, in nats.
        sure: whether nothing else says that it is no parabola.
    """
    main = len(errors)
    nats = errors**2 / np.diagonal(inverse(-best.hessian))[:main]
    if sure and all(_falls(likelihood, best, errors, place, nats[place]) for place in range(main)):
        return errors
    numbers = likelihood.cells[0].factors[0].data[:, 0]
    span = float(numbers.max() - numbers.min())
    found = np.empty(main)
    for place in range(main):
        column = max(float(np.abs(cell.factors[0].designs[0][:, place]).max()) for cell in likelihood.cells)
        farthest = span / max(column, 1e-300)
        step, low = min(Z * errors[place], farthest) / 2, float(nats[place] * fall)
        ways = [_way(likelihood, best, place, (side * step, farthest), fall=low, starts=starts) for side in (-1, 1)]
        found[place] = max(*ways, min(Z * errors[place], farthest)) / Z
    return found


def _falls(likelihood: Likelihood, best: Optimum, errors: Array, place: int, nat: float) -> bool:
    """Whether the likelihood has fallen z errors away, on both sides."""
    for side in (-1, 1):
        ends = profile(likelihood, place, best.params[place] + side * Z * errors[place], [best.params])
        if not ends or best.value - ends[0][0] < _ENOUGH * nat * FALL:
            return False
    return True


def _way(
    likelihood: Likelihood,
    best: Optimum,
    place: int,
    steps: tuple[float, float],
    *,
    fall: float,
    starts: Sequence[Array],
) -> float:
    """How far to one side the profile stays within the fall, by steps of a first size and a farthest end."""
    (step, farthest), fronts, away, last = steps, [best.params, *starts], 0.0, 0.0
    for _ in range(_STEPS):
        away = float(np.clip(away + step, -farthest, farthest))
        ends = profile(likelihood, place, best.params[place] + away, fronts)
        if not ends:
            return abs(away)
        here = max(best.value - ends[0][0], 0.0)
        if here > fall:
            share = (np.sqrt(fall) - np.sqrt(last)) / (np.sqrt(here) - np.sqrt(last))
            return float(abs(away) - (1 - share) * abs(step))
        if abs(away) >= farthest:
            return farthest
        fronts, last, step = [params for _, params in ends[:_FRONTS]], here, step * _GROWTH
    return abs(away)

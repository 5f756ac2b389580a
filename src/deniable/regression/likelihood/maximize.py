"""Finding the maximum of a likelihood that need not be concave.

Newton steps, with negative curvature turned around and every step shortened until the likelihood rises. From several
starts, since a disguised outcome's likelihood can have more than one maximum; and with an eye on coefficients that run
away, since its highest point can lie at infinity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from deniable.errors import ConvergenceError
from deniable.numerics.newton_step import newton_step
from deniable.regression.likelihood.mixture_likelihood import Likelihood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.regression.likelihood.cell_likelihood import Tabled

    Array = NDArray[np.float64]

STEPS = 300  # Newton steps before giving up; a dozen is usual
DECREMENT = 1e-14  # g' (-H)^-1 g at the end: coefficients are within 1e-7 standard errors of the maximum
FLAT = 1e-10  # a rise of the log-likelihood, relative to its size, that counts as none
VAGUE = 1e6  # a standard error of a linear predictor beyond this is none
LONGEST = 10.0  # how far one step may move a linear predictor that is near zero
SAMPLE = 20_000  # rows on which starts are compared when there are many more


class Objective(Protocol):
    """What can be maximised."""

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Value, gradient, Hessian (or a negative definite stand-in for it)."""

    def reach(self, step: Array) -> float:
        """The largest change of any linear predictor."""


@runtime_checkable
class Quick(Protocol):
    """What can say its value for far less than its derivatives: steps are then tried by that."""

    def value(self, params: Array) -> float:
        """The value alone."""


@dataclass(frozen=True)
class Optimum:
    """Where an ascent ended.

    Attributes:
        params: the parameters there.
        value: the objective there.
        hessian: its second derivatives.
        steps: how many steps it took.
        diverged: the objective stopped rising while the parameters kept running, so its supremum lies at infinity.
        direction: where they were running to.
    """

    params: Array
    value: float
    hessian: Array
    steps: int
    diverged: bool
    direction: Array


def ascend(objective: Objective, start: Array, *, left: float = DECREMENT) -> Optimum:
    """Climb from one start to a maximum, or along a rise that never ends.

    Args:
        objective: what is maximised.
        start: where to begin.
        left: g' (-H)^-1 g, twice the rise that is left, before the last step. Where more than `DECREMENT` may be left
            only the height is wanted, and nobody looks whether the maximum is at infinity.
    """
    params = np.array(start, dtype=np.float64)
    value, gradient, hessian = objective.evaluate(params)
    if not _usable(value, gradient, hessian):
        raise ConvergenceError("the likelihood is zero at the start: some report is impossible under its channel")
    halved = 0
    for steps in range(1, STEPS + 1):
        step, concave = newton_step(gradient, hessian)
        decrement = float(gradient @ step)
        length = objective.reach(step)
        if length > LONGEST and length > (longest := LONGEST + objective.reach(params)):
            step *= longest / length
        here = (value, float(gradient @ step), decrement)
        found, trial = _shortened(objective, params, step, here, hopeful=halved == 0)
        if found is None:
            if concave and decrement < 1e-8:
                return _arrived(objective, Optimum(params, value, hessian, steps, diverged=False, direction=step))
            raise ConvergenceError(f"the likelihood stopped rising after {steps} steps, short of a maximum")
        params, rise, halved = params + step * 0.5**found, trial[0] - value, found
        value, gradient, hessian = trial
        if concave and DECREMENT < decrement < left:
            return Optimum(params, value, hessian, steps, diverged=False, direction=step)
        if concave and decrement < DECREMENT and length < 1e-3:
            return _arrived(objective, Optimum(params, value, hessian, steps, diverged=False, direction=step))
        if rise < FLAT * (1 + abs(value)) and length > 0.05 and decrement < 1e-6:
            return Optimum(params, value, hessian, steps, diverged=True, direction=step)
    raise ConvergenceError(f"no maximum within {STEPS} steps")


def _shortened(
    objective: Objective, params: Array, step: Array, here: tuple[float, float, float], *, hopeful: bool
) -> tuple[int | None, tuple[float, Array, Array]]:
    """How often a step is halved until it rises, None where it never does, and what is there.

    Where it is hoped to rise at once, since the one before it did, derivatives are taken at once as well.
    """
    value, slope, decrement = here
    trial = value, step, np.zeros((0, 0))
    # Near the top a rise is lost in rounding: a full step that loses no more than that is taken as well.
    lost = 1e-13 * abs(value) if decrement < 1e-6 else -np.inf
    for halving in range(40):
        there, least = params + step * 0.5**halving, min(1e-4 * slope * 0.5**halving, -lost)
        whole = hopeful and halving == 0
        if not whole and isinstance(objective, Quick) and not objective.value(there) - value >= least:
            continue
        trial = objective.evaluate(there)
        if _usable(*trial) and trial[0] - value >= least:
            return halving, trial
    return None, trial


def _arrived(objective: Objective, end: Optimum) -> Optimum:
    """A last look: where links saturate fast, steps shrink although the maximum is at infinity.

    There is then no curvature left, and a linear predictor's standard error has no size any more.
    """
    information = np.maximum(np.diagonal(-end.hessian), 1e-300)
    scale = 1 / np.sqrt(information)
    values, vectors = np.linalg.eigh(-end.hessian * scale[:, None] * scale[None, :])
    spread = scale * np.sqrt((vectors**2 / np.maximum(values, 1e-300)).sum(axis=1))
    if objective.reach(spread) < VAGUE:
        return end
    return replace(end, diverged=True, direction=spread)


def _usable(value: float, gradient: Array, hessian: Array) -> bool:
    return bool(np.isfinite(value) and np.isfinite(gradient).all() and np.isfinite(hessian).all())


def search(objective: Objective, starts: Sequence[Array]) -> tuple[Optimum, list[Optimum]]:
    """Climb from every start; return the highest end and all of them. Ties go to an end that is not at infinity."""
    ends, trouble = [], None
    for start in starts:
        try:
            ends.append(ascend(objective, start))
        except ConvergenceError as error:
            trouble = error
    if not ends:
        assert trouble is not None
        raise trouble
    top = max(end.value for end in ends)
    close = [end for end in ends if end.value > top - 1e-7 * (1 + abs(top))]
    return min(close, key=lambda end: end.diverged), ends


def maximise(likelihood: Likelihood | Tabled, starts: Sequence[Array]) -> tuple[Optimum, list[Optimum]]:
    """The best maximum over all starts, and all ends.

    With many rows, starts are compared on a sample of them first; not where a row costs little.
    """
    if likelihood.rows <= 2 * SAMPLE or not isinstance(likelihood, Likelihood):
        return search(likelihood, starts)
    chosen = np.sort(np.random.default_rng(0).choice(likelihood.rows, SAMPLE, replace=False))
    try:
        best = search(likelihood.take(chosen), starts)[0]
    except ConvergenceError:
        return search(likelihood, starts)
    return search(likelihood, starts[:1] if best.diverged else [best.params])


def lower_maxima(best: Optimum, ends: Sequence[Optimum]) -> tuple[str, ...]:
    """A remark when other maxima were found: the likelihood is not concave, and a reader should know."""
    lower = {round(best.value - end.value, 3) for end in ends if not end.diverged and best.value - end.value > 1e-3}
    if not lower:
        return ()
    return (f"The likelihood has other maxima; the next lies {min(lower):.3f} below this one. Compare with a profile.",)


def jitter(start: Array, likelihood: Likelihood | Tabled, count: int) -> list[Array]:
    """A few more starts around one: each coefficient moves its linear predictor by about one."""
    rng = np.random.default_rng(0)
    square, times = np.zeros_like(start), np.zeros_like(start)
    for cell in likelihood.cells:  # a hidden predictor is zero throughout in some of them
        for factor in cell.factors:
            for design, place in zip(factor.designs, factor.places, strict=True):
                square[place] += np.mean(design[: 2 * SAMPLE] ** 2, axis=0) * design.shape[1]
                times[place] += 1
    size = np.sqrt(square / np.maximum(times, 1))
    return [start + rng.normal(size=len(start)) / np.maximum(size, 1e-12) for _ in range(count)]

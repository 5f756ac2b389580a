"""Why a likelihood has no finite maximum: separation, or noise.

Separation: some change V of the coefficients makes no report less likely and some report more likely, from wherever
it starts. For row i let v* be the truth that its report speaks for most; then  x_i'V_v* >= x_i'V_v  for every truth v
and every row, with at least one strict. That is a linear program.

Without separation a disguised outcome can still have its highest likelihood at infinity: the estimate of a share near
0 is negative in many samples, and the likelihood then rises all the way to minus infinity on the logit scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

from deniable.errors import DivergenceError, EstimationError, SeparationError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.regression.likelihood.maximize import Optimum

    Array = NDArray[np.float64]

_ROWS = 5_000  # the linear program looks at this many rows first: no separation there is none anywhere


def separating(design: Array, chance: Array) -> Array | None:
    """A direction (equations x q, flattened) that separates the reports, or None."""
    equations, width = chance.shape[1] - 1, design.shape[1]
    best = np.argmax(chance, axis=1)
    # Rows of  eta_best - eta_v  as functions of V; the first truth is the reference, whose predictor is 0.
    informative = np.ptp(chance, axis=1) > 0
    differences = []
    for truth in range(equations + 1):
        rows = informative & (best != truth)
        part = np.zeros((int(rows.sum()), equations, width))
        here = np.flatnonzero(rows)
        ahead = best[here]
        inside = np.flatnonzero(ahead > 0)
        part[inside, ahead[inside] - 1] += design[here[inside]]
        if truth > 0:
            part[:, truth - 1] -= design[here]
        differences.append(part.reshape(len(here), equations * width))
    system = np.concatenate(differences)
    size = np.sqrt((system**2).mean(axis=0))
    system = system / np.where(size > 0, size, 1.0)
    found = _direction(system[np.random.default_rng(0).permutation(len(system))[:_ROWS]])
    if found is None:
        return None
    if (system @ found).min() < -1e-9:  # separates the sample only: ask all rows
        found = _direction(system)
    return None if found is None else found / np.where(size > 0, size, 1.0)


def _direction(system: Array) -> Array | None:
    """V in [-1, 1]^q with  system v >= 0  and the largest sum; None when that sum is zero."""
    width = system.shape[1]
    total = system.mean(axis=0)
    solved = linprog(-total, A_ub=-system, b_ub=np.zeros(len(system)), bounds=[(-1, 1)] * width, method="highs")
    if not solved.success or -solved.fun < 1e-7:
        return None
    return np.asarray(solved.x)


def refusal(
    optimum: Optimum, design: Array, chance: Array | None, terms: Sequence[str], *, penalty: bool = True
) -> EstimationError:
    """The error to raise for coefficients that ran away; `penalty` says whether the model can be penalised."""
    finite = ', or use penalty="jeffreys", whose estimates are always finite' if penalty else ""
    direction = None if chance is None else separating(design, chance)
    if direction is not None:
        names = _largest(direction, design, terms)
        return SeparationError(
            f"the predictors tell the reports apart without error, so no finite coefficient fits best (those running "
            f"away: {listed(names)}). Leave the predictor out, or join categories that have one kind of report "
            f"only{finite}",
            terms=names,
            loglik=optimum.value,
        )
    names = _largest(optimum.direction, design, terms)
    return DivergenceError(
        f"the likelihood keeps rising as coefficients go to infinity (those running away: {listed(names)}), although "
        "no predictor separates the reports. Noise does this when the share of the sensitive category is close to 0 or "
        f"1 somewhere: an unbiased estimate of it would be outside [0, 1]. Take more reports or fewer "
        f"predictors{finite}",
        terms=names,
        loglik=optimum.value,
    )


def _largest(direction: Array, design: Array, terms: Sequence[str]) -> list[str]:
    size = np.abs(direction[: len(terms)]) * np.resize(np.sqrt((design**2).mean(axis=0)), len(terms))
    return [term for term, part in zip(terms, size, strict=True) if part > 0.05 * max(size.max(), 1e-300)]

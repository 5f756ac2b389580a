"""Other coefficients that fit an open number nearly as well: categories of a disguised predictor exchanged.

Two groups show in a number by themselves, as a mixture of two normal laws, and reports say which group is which. Where
these say little (few respondents, much noise), the likelihood has a second hill, of the same groups named the other way
round, and errors that know of one hill only are far too small: a slope of 1.2 is then found as -1.4 -+ 0.15. So every
row's posterior is given to another category, the model fitted to that, and climbed from there. What lies within the
fall of a 95% interval, z^2 / 2, cannot be told from the best, and errors are made to reach it and its own interval:

    s_j  <-  max(s_j, (|theta_j - theta'_j| + z s'_j) / z).

What lies f nats below, farther than that, has the chance w = 1 / (1 + e^f) to be the right one: s_j^2 is at least
s_j^2 + w (theta_j - theta'_j)^2.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import ConvergenceError, NotIdentifiedError
from deniable.inference.regression.completed import Completed
from deniable.inference.regression.covariance import inverse
from deniable.inference.regression.fit import ascend
from deniable.inference.regression.likelihood import Cell, Likelihood

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.inference.regression.fit import Optimum

    Array = NDArray[np.float64]
    Other = tuple[float, Array]

_Z = 1.959963984540054
_FALL = _Z**2 / 2  # nats
_NOTHING = 1e-3  # nats between names that the reports do not tell apart
_HOPELESS = 20.0  # nats below the best from which nobody climbs
_FEW = 4  # combinations of disguised predictors of which any two are exchanged; of more, the first with the last, ...


def renamed(likelihood: Likelihood, params: Array, riding: int = 0) -> Iterator[Array]:
    """The coefficients with categories of the disguised predictors exchanged.

    The last `riding` of them are of attributes that ride along, which stand in each cell's last factor: they stay.
    """
    posterior, size = likelihood.posterior(params), likelihood.size - riding
    cells = tuple(Cell(cell.factors[:-1]) for cell in likelihood.cells) if riding else likelihood.cells
    known = Likelihood(cells, likelihood.weights, size)
    many = len(posterior)
    orders = (
        [_exchanged(many, *two) for two in combinations(range(many), 2)] if many <= _FEW else [[*range(many)][::-1]]
    )
    for order in orders:
        try:
            end = ascend(Completed(known, posterior[order] * likelihood.weights), params[:size])
        except ConvergenceError:
            continue
        if not end.diverged:
            yield np.append(end.params, params[size:])


def parted(likelihood: Likelihood, params: Array, riding: int = 0) -> Iterator[Array]:
    """Starts that take rows for members of a category by their outcome alone: the lowest for the first, and so on.

    Where reports say next to nothing, climbs from what they say end where a category has nobody, far below the hill of
    two groups that the outcome shows by itself.
    """
    outcome, many = likelihood.cells[0].factors[0].data[:, 0], len(likelihood.cells)
    place = np.minimum(many * np.argsort(np.argsort(outcome)) // len(outcome), many - 1)
    size = likelihood.size - riding
    cells = tuple(Cell(cell.factors[:-1]) for cell in likelihood.cells) if riding else likelihood.cells
    known = Likelihood(cells, likelihood.weights, size)
    for order in (place, many - 1 - place):
        shares = (order == np.arange(many)[:, None]) * likelihood.weights
        try:
            end = ascend(Completed(known, shares), np.zeros(size))
        except ConvergenceError:
            continue
        if not end.diverged:
            yield np.append(end.params, params[size:])


def _exchanged(many: int, first: int, second: int) -> list[int]:
    order = [*range(many)]
    order[first], order[second] = second, first
    return order


def with_others(
    likelihood: Likelihood, found: Optimum, ends: Sequence[Optimum], riding: int = 0
) -> tuple[Optimum, list[Other]]:
    """The best of all hills, and what else there is, with how far it lies below."""
    hills, points = [end for end in (found, *ends) if not end.diverged], []
    for start in renamed(likelihood, found.params, riding):
        value = likelihood.evaluate(start)[0]
        if not value > found.value - _HOPELESS:
            continue
        points.append((value, start))
        try:
            end = ascend(likelihood, start)
        except ConvergenceError:
            continue
        if not end.diverged:
            hills.append(end)
    best = max(hills, key=lambda end: end.value)
    if any(best.value - value < _NOTHING and _apart(best, params) for value, params in points):
        raise NotIdentifiedError(
            "the coefficients with categories of a disguised predictor exchanged are as likely: the reports do not say "
            "which category is which. Take more reports, or a channel with less noise"
        )
    points += [(end.value, end.params) for end in hills]
    return best, [(best.value - value, params) for value, params in points if _apart(best, params)]


def _apart(best: Optimum, params: Array) -> bool:
    """Whether it is another point than the best one."""
    step = params - best.params
    return float(-step @ best.hessian @ step) > 1e-4


def reaching(likelihood: Likelihood, matrix: Array, best: Array, others: Sequence[Other]) -> Array:
    """A covariance whose errors reach the others and their own intervals."""
    errors = np.sqrt(np.diagonal(matrix))
    needed = errors
    for fall, params in others:
        if fall > _FALL:
            needed = np.maximum(needed, np.sqrt(errors**2 + (params - best) ** 2 / (1 + np.exp(fall))))
            continue
        try:
            own = np.sqrt(np.diagonal(inverse(-likelihood.evaluate(params)[2])))
        except NotIdentifiedError:
            own = errors
        needed = np.maximum(needed, (np.abs(params - best) + _Z * np.nan_to_num(own, nan=0.0)) / _Z)
    return np.asarray(matrix * np.outer(needed / errors, needed / errors))


def told(others: Sequence[Other]) -> tuple[str, ...]:
    """What a reader must know of it."""
    if not any(fall <= _FALL for fall, _ in others):
        return ()
    note = (
        "Other coefficients fit nearly as well, with categories of a disguised predictor exchanged: reports hardly say "
        "which is which. Standard errors are so large that they reach them. Ask more people, or with a larger epsilon."
    )
    return (note,)

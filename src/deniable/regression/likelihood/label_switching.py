"""Other coefficients that fit an open number nearly as well: categories of a disguised predictor exchanged.

Two groups show in a number by themselves, as a mixture of two normal laws, and reports say which group is which. Where
these say little (few respondents, much noise), the likelihood has a second hill, of the same groups named the other way
round, and errors that know of one hill only are far too small: a slope of 1.2 is then found as -1.4 -+ 0.15. So every
row's posterior is given to another category, with the shares of what rides along, the model fitted to that, and climbed
from there. A hill is another place of all p parameters: one that lies within their region, chi2_p(.95) / 2 nats below,
cannot be told from the best, and errors are made to reach it and its own interval:

    s_j  <-  max(s_j, (|theta_j - theta'_j| + z s'_j) / z).

What lies f nats below, farther than that, has the chance w = 1 / (1 + e^f) to be the right one: s_j^2 is at least
s_j^2 + w (theta_j - theta'_j)^2. And no hill is taken for a parabola before that was looked at: see `profiled`.

A nat is that of a sample as large as this one is worth. Weights multiply the log-likelihood, and clusters make it worth
less: where the errors that are stated are k times those of its curvature, k^2 nats of it are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from deniable.errors import ConvergenceError, NotIdentifiedError
from deniable.regression.likelihood.covariance import inverse
from deniable.regression.likelihood.maximize import ascend
from deniable.regression.likelihood.mixture_likelihood import Cell, Likelihood
from deniable.regression.likelihood.profile_interval import FALL, Z, walked
from deniable.regression.likelihood.starting_values import Completed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.regression.likelihood.maximize import Optimum

    Array = NDArray[np.float64]
    Other = tuple[float, Array]

_NOTHING = 1e-3  # nats between names that the reports do not tell apart
_HOPELESS = 20.0  # nats below the best from which nobody climbs
_WIDER = 2.0  # times a variance, from which a reader is told
_FEW = 4  # combinations of disguised predictors of which any two are exchanged; of more, the first with the last, ...


@dataclass(frozen=True)
class Others:
    """What fits besides the best, each with how many nats it lies below.

    Attributes:
        hills: tops within the region of all parameters, for all of them differ there.
        slopes: categories exchanged, no top but near.
        far: tops farther below.
        running: where climbs ran away, within that region: with nobody in a category, its mean can be anything.
        nat: how many nats of the likelihood are one of these.
        fall: where walks end, in nats; where climbs ran away or shares that ride along follow the noise, at the end of
            the region of all other parameters.
    """

    hills: tuple[Other, ...] = ()
    slopes: tuple[Other, ...] = ()
    far: tuple[Other, ...] = ()
    running: tuple[Array, ...] = ()
    nat: float = 1.0
    fall: float = FALL


def renamed(likelihood: Likelihood, params: Array, riding: int = 0) -> Iterator[Array]:
    """The coefficients with categories of the disguised predictors exchanged.

    The last `riding` of them are of attributes that ride along, which stand in each cell's last factor: their shares
    belong to a group, and go with it when it gets another name.
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
            along = _moved(likelihood, params, order) if riding else params
            yield np.append(end.params, along[size:])


def _moved(likelihood: Likelihood, params: Array, order: Sequence[int]) -> Array:
    """The parameters with those of each cell's last factor taken from another cell's."""
    found = params.copy()
    for cell, other in zip(likelihood.cells, order, strict=True):
        for to, at in zip(cell.factors[-1].places, likelihood.cells[other].factors[-1].places, strict=True):
            found[to] = params[at]
    return found


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
    likelihood: Likelihood, found: Optimum, ends: Sequence[Optimum], riding: int = 0, *, nat: float = 1.0
) -> tuple[Optimum, Others]:
    """The best of all hills, and what else there is, with how far it lies below; `nat` as in `Others`."""
    limit = _limit(likelihood.size)
    tops, running = [end for end in (found, *ends) if not end.diverged], [end for end in ends if end.diverged]
    named = list(renamed(likelihood, found.params, riding))
    values = [likelihood.evaluate(start)[0] for start in named]
    starts = [
        start for start, value in zip(named, values, strict=True) if value > found.value - nat * (_HOPELESS + limit)
    ]
    for start in [*starts, *parted(likelihood, found.params, riding)]:
        try:
            end = ascend(likelihood, start)
        except ConvergenceError:
            continue
        (running if end.diverged else tops).append(end)
    best = max(tops, key=lambda end: end.value)
    slopes = [((best.value - v) / nat, start) for v, start in zip(values, named, strict=True) if _apart(best, start)]
    if any(fall < _NOTHING for fall, _ in slopes):
        raise NotIdentifiedError(
            "the coefficients with categories of a disguised predictor exchanged are as likely: the reports do not say "
            "which category is which. Take more reports, or a channel with less noise"
        )
    hills = [((best.value - end.value) / nat, end.params) for end in tops if _apart(best, end.params)]
    near = [end.params for end in running if best.value - end.value < nat * limit]
    return best, Others(
        hills=tuple(one for one in hills if one[0] <= limit),
        slopes=tuple(one for one in slopes if one[0] <= FALL),
        far=tuple(one for one in hills if one[0] > limit),
        running=tuple(near),
        nat=nat,
        fall=_limit(likelihood.size - riding) if near or riding else FALL,
    )


def _limit(parameters: int) -> float:
    """How many nats below the best the 95% region of so many parameters ends."""
    return float(chi2.ppf(0.95, parameters)) / 2


def _apart(best: Optimum, params: Array) -> bool:
    """Whether it is another point than the best one."""
    step = params - best.params
    return float(-step @ best.hessian @ step) > 1e-4


def reaching(likelihood: Likelihood, matrix: Array, best: Optimum, others: Others, main: int) -> Array:
    """A covariance whose errors reach the others and their own intervals."""
    errors = np.sqrt(np.diagonal(matrix))
    needed = errors.copy()
    for fall, params in others.far:
        needed = np.maximum(needed, np.sqrt(errors**2 + (params - best.params) ** 2 / (1 + np.exp(fall))))
    for _, params in (*others.hills, *others.slopes):
        try:
            own = np.sqrt(others.nat * np.diagonal(inverse(-likelihood.evaluate(params)[2])))
        except NotIdentifiedError:
            own = errors
        needed = np.maximum(needed, (np.abs(params - best.params) + Z * np.nan_to_num(own, nan=0.0)) / Z)
    fronts = [*(params for _, params in others.hills), *others.running]
    wider = walked(likelihood, best, errors[:main], fronts, others.fall, sure=not others.running)
    needed[:main] = np.maximum(needed[:main], wider)
    return np.asarray(matrix * np.outer(needed / errors, needed / errors))


def told(others: Others, plain: Array, wide: Array) -> tuple[str, ...]:
    """What a reader must know where errors of coefficients, squared, became wider."""
    if not (wide > _WIDER * plain).any():
        return ()
    why = (
        "Other coefficients fit nearly as well, with categories of a disguised predictor exchanged: reports hardly say "
        "which is which."
        if others.hills or others.slopes
        else "Reports say so little about who is in which category of a disguised predictor that other groups fit "
        "nearly as well."
    )
    note = f"{why} Standard errors are so large that they reach them. Ask more people, or with a larger epsilon."
    return (note,)

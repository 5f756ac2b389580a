"""Who prefers not to say, where groups share a shift: it moves the answers of those whom the model is about, alone.

A `Marginal` shifts the outcome of all its cells. So each cell of an outcome that some prefer not to say becomes two,

    answered:    (1 - s) Pr(report | c, answer),  moved by the shift through the answer,
    not:         s Pr(report | c, "prefer not to say"),  whose answer is anything and is told of by nothing,

and where somebody prefers not to say a predictor, the outcome of their own is a share beside an answer that nothing
tells of. Summed over cells it is the same likelihood.

How many prefer not to say, and what they say of the rest, may differ between groups: with up to a dozen each has levels
of its own, as it has shares of disguised predictors. Taken for the same where they are not, they pass for answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import readonly
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor
from deniable.regression.likelihood.responses import LOGIT, Binary, Softmax
from deniable.regression.missing_answers import Answered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.regression.likelihood.mixture_likelihood import Likelihood, Place

    Array = NDArray[np.float64]


def knows_refusals(likelihood: Likelihood) -> bool:
    """Whether some prefer not to say: the outcome, or a predictor of a model of those who would."""
    firsts = [cell.factors[0] for cell in likelihood.cells]
    return any(isinstance(first.response, Answered) or not _is_model(first.places[0]) for first in firsts)


def unshifted(likelihood: Likelihood) -> Likelihood:
    """The same likelihood, its cells such that the first factor of each is what a shift moves."""
    cells = [part for cell in likelihood.cells for part in _parts(cell, likelihood)]
    return replace(likelihood, cells=tuple(cells))


def with_levels(likelihood: Likelihood, groups: NDArray[np.intp]) -> Likelihood:
    """Levels of their own for groups in everything that a shift does not move; the parameters come last."""
    dummies = np.eye(int(groups.max()) + 1)[groups, 1:]
    wider: dict[int, Array] = {}
    places: dict[int, Place] = {}
    size = likelihood.size
    cells = []
    for cell in likelihood.cells:
        first = cell.factors[0]
        designs, at = list(first.designs), list(first.places)
        for equation, (design, place) in enumerate(zip(first.designs, first.places, strict=True)):
            if _is_model(place):
                continue
            old = _numbers(place)
            if old[0] not in places:
                places[old[0]] = np.append(old, np.arange(size, size + dummies.shape[1]))
                size += dummies.shape[1]
            if id(design) not in wider:
                wider[id(design)] = readonly(np.hstack([design, dummies]))
            designs[equation], at[equation] = wider[id(design)], places[old[0]]
        widened = replace(first, designs=tuple(designs), places=tuple(at))
        cells.append(replace(cell, factors=(widened, *cell.factors[1:])))
    added = slice(likelihood.size, size)
    steady = (*likelihood.steady, _steady(added)) if places else likelihood.steady
    return replace(likelihood, cells=tuple(cells), size=size, steady=steady)


def _is_model(place: Place) -> bool:
    """Whether these are the coefficients of the model, of a cell of those it is about: the first ones."""
    return int(_numbers(place)[0]) == 0


def _numbers(place: Place) -> NDArray[np.intp]:
    return np.arange(place.start, place.stop) if isinstance(place, slice) else place


def _steady(added: slice) -> Factor:
    """Nobody's report of each outcome in each group: where hardly any refuse, their level stays finite."""
    corners = readonly(np.tile(np.eye(added.stop - added.start), (2, 1)))
    ends = readonly(np.repeat(np.eye(2), len(corners) // 2, axis=0))
    return Factor(Binary(LOGIT), ends, (corners,), (added,))


def _parts(cell: Cell, likelihood: Likelihood) -> Iterator[Cell]:
    """A cell, or the two that it becomes."""
    first, *others = cell.factors
    if not isinstance(first.response, Answered):
        yield _cell(first, others, cell, likelihood)
        return
    place, n = first.response.place, len(first.data)
    told = {0: np.delete(first.data, place, axis=1), 1: np.repeat(first.data[:, [place]], 2, axis=1)}
    for skips, data in told.items():
        possible = np.asarray(data.any(axis=1))
        if not possible.any():
            continue
        chance = np.zeros(n) if cell.log_chance is None else cell.log_chance
        here = Cell(cell.factors, readonly(np.where(possible, chance, -np.inf)))
        answer = Factor(
            first.response.response,
            readonly(np.where(possible[:, None], data, 1.0)),
            first.designs[:-1],
            first.places[:-1],
        )
        certain = readonly(np.broadcast_to(np.eye(2)[skips], (n, 2)))
        who = Factor(Softmax(2), certain, first.designs[-1:], first.places[-1:])
        yield _cell(answer, [who, *others], here, likelihood)


def _cell(answer: Factor, others: list[Factor], cell: Cell, likelihood: Likelihood) -> Cell:
    """A cell whose answer is moved; of those whom the model is not about, nothing is."""
    if _is_model(answer.places[0]):
        return Cell((answer, *others), cell.log_chance)
    moved = next(one.factors[0] for one in likelihood.cells if _is_model(one.factors[0].places[0]))
    nothing = readonly(np.ones((len(answer.data), 2)))
    own = replace(answer, response=Softmax(2))  # for the logit of two, the same
    return Cell((Factor(answer.response, nothing, moved.designs[:1], moved.places[:1]), own, *others), cell.log_chance)

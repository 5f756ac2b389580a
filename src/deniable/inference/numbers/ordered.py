"""An attribute read as a number: what each category counts as, in which order, and which stand aside.

A category that is a number counts as itself. A bin (named as survey files name bins: "< 18", "18 to < 65", ">= 65") has
edges, and counts as its middle. Other categories have an order and no size: they get `scores`. What is not a number at
all, such as "prefer not to say", stands aside: its score is None, and everything is then about the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.bins import edges_told
from deniable.core.input_coercion import by_category, has_labels
from deniable.errors import InputError
from deniable.frozen import Frozen, readonly
from deniable.wording import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.domain import Category, Variable

Scores = Sequence[float | None] | Mapping["Category", float | None]


@dataclass(frozen=True, eq=False)
class Ordered(Frozen):
    """An attribute's categories from the least to the largest.

    Attributes:
        variable: the attribute.
        places: the codes of the categories that count, in rising order.
        scores: what each of these counts as; not a number where only the order is known, or a bin has no end.
        edges: where bins begin and end, one more than categories; None where categories are points.
    """

    variable: Variable
    places: NDArray[np.int64]
    scores: NDArray[np.float64]
    edges: NDArray[np.float64] | None

    @property
    def labels(self) -> list[Category]:
        """The categories that count, in order."""
        return [self.variable.categories[place] for place in self.places]

    @property
    def aside(self) -> list[Category]:
        """The categories that do not count."""
        return [c for code, c in enumerate(self.variable.categories) if code not in self.places]

    def steps(self) -> NDArray[np.float64]:
        """Column j adds up the first j categories that count, j = 0 .. all: (categories, counting + 1)."""
        columns = np.zeros((len(self.variable), len(self.places) + 1))
        for j, place in enumerate(self.places):
            columns[place, j + 1 :] = 1.0
        return columns

    def sizes(self) -> NDArray[np.float64]:
        """The scores; refused with the way out where some are not known."""
        if np.isnan(self.scores).any():
            name, unknown = (
                self.variable.name,
                [c for c, s in zip(self.labels, self.scores, strict=True) if np.isnan(s)],
            )
            raise InputError(
                f"nobody knows how large {listed(unknown)} of {name!r} {'are' if len(unknown) > 1 else 'is'}: give "
                f"scores=, a number for every category (None for one that stands aside), or edges=, all of them finite",
                attribute=name,
            )
        return self.scores


def ordered(variable: Variable, scores: Scores | None = None, edges: Sequence[float] | None = None) -> Ordered:
    """Read an attribute as a number.

    >>> from deniable.domain import Variable
    >>> ordered(Variable("age", ("< 18", "18 to < 65", ">= 65"))).edges.tolist()
    [-inf, 18.0, 65.0, inf]
    >>> ordered(Variable("trust", ("none", "some", "full", "no answer")), scores=[0, 1, 2, None]).aside
    ['no answer']
    """
    if edges is not None:
        if scores is not None:
            raise InputError("give scores= or edges=, not both: a bin counts as its middle")
        return _binned(variable, np.asarray(edges, dtype=np.float64))
    if scores is not None:
        return _scored(variable, scores)
    found = _edges_of(variable)
    if found is not None:
        return _binned(variable, found)
    if all(isinstance(c, int | float) for c in variable.categories):
        return _scored(variable, [float(c) for c in variable.categories])
    every = np.arange(len(variable))
    return Ordered(variable, readonly(every), readonly(np.full(len(variable), np.nan)), None)


def _scored(variable: Variable, scores: Scores) -> Ordered:
    if has_labels(scores, variable.categories):
        scores = by_category(scores, variable, f"the scores of {variable.name!r}").tolist()
    if len(scores) != len(variable):
        raise InputError(
            f"{len(scores)} scores were given for the {len(variable)} categories of {variable.name!r}: "
            f"{listed(variable.categories)}",
            attribute=variable.name,
        )
    known = np.array([np.nan if score is None else float(score) for score in scores])
    counting = np.flatnonzero(~np.isnan(known))
    if len(counting) < 2 or not np.isfinite(known[counting]).all() or len(set(known[counting].tolist())) < 2:
        raise InputError(
            f"the scores of {variable.name!r} must be finite numbers, not all the same, for at least two categories",
            attribute=variable.name,
        )
    places = counting[np.argsort(known[counting], kind="stable")]
    return Ordered(variable, readonly(places), readonly(known[places]), None)


def _binned(variable: Variable, edges: NDArray[np.float64]) -> Ordered:
    if edges.shape != (len(variable) + 1,) or not (np.diff(edges) > 0).all() or not np.isfinite(edges[1:-1]).all():
        raise InputError(
            f"the edges of {variable.name!r} must be {len(variable) + 1} rising numbers, one more than its categories "
            f"(the first and the last may be infinite); got {listed(edges.tolist())}",
            attribute=variable.name,
        )
    middles = np.where(np.isfinite(edges[:-1] + edges[1:]), (edges[:-1] + edges[1:]) / 2, np.nan)
    return Ordered(variable, readonly(np.arange(len(variable))), readonly(middles), readonly(edges))


def _edges_of(variable: Variable) -> NDArray[np.float64] | None:
    """The edges that the names of bins tell, if all categories are named so and follow each other."""
    edges = edges_told(variable.categories)
    return np.array(edges) if len(edges) == len(variable) + 1 else None

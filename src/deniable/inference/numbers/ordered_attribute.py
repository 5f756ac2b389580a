"""An attribute read as a number: what each category counts as, in which order, and which stand aside.

A category that is a number counts as itself. A bin (named as survey files name bins: "< 18", "18 to < 65", ">= 65") has
edges, and counts as its middle; bins are matched by their names, in whatever order they are listed. Other categories
have an order and no size: they get `scores`. What is not a number at all stands aside, and everything is then about the
others: what a survey adds by itself ("prefer not to say", "does not apply"), and any category whose score is None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.category_scores import category_scores
from deniable.core.bins import bin_ends, bins_in_order
from deniable.core.input_coercion import by_category, has_labels, in_order
from deniable.device.protocol.answer_encoding import NOT_ASKED, SKIPPED
from deniable.errors import InputError
from deniable.frozen import Frozen, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.domain import Category, Variable

_NUMBERS = re.compile(r"\d+(?:\.\d+)?")

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

    >>> from deniable.core.domain import Variable
    >>> ordered(Variable("age", ("< 18", "18 to < 65", ">= 65"))).edges.tolist()
    [-inf, 18.0, 65.0, inf]
    >>> ordered(Variable("trust", ("none", "some", "full", "no answer")), scores=[0, 1, 2, None]).aside
    ['no answer']
    """
    if edges is not None:
        if scores is not None:
            raise InputError("give scores= or edges=, not both: a bin counts as its middle")
        return _binned(variable, in_order(edges, f"the edges of {variable.name!r}"))
    if scores is not None:
        return _scored(variable, scores)
    counting = _answers(variable)
    categories = [variable.categories[place] for place in counting]
    bins = bins_in_order(categories)
    if bins is not None:
        order, found = bins
        return _of_bins(variable, [counting[place] for place in order], np.array(found))
    sizes = [_size(category) for category in categories]
    if None not in sizes:
        scored = dict(zip(counting, sizes, strict=True))
        return _scored(variable, [scored.get(place) for place in range(len(variable))])
    return Ordered(variable, readonly(np.array(counting)), readonly(np.full(len(counting), np.nan)), None)


def sizes_of(variable: Variable, scores: Scores | None = None) -> NDArray[np.float64]:
    """The scores of all categories, by default what they count as; NaN for one that takes no part.

    >>> from deniable.core.domain import Variable
    >>> sizes_of(Variable("trust", ("none", "some", "full", "prefer not to say"))).tolist()
    [0.0, 1.0, 2.0, nan]
    """
    if scores is None:
        return np.array(category_scores(variable), dtype=np.float64)
    read, found = ordered(variable, scores), np.full(len(variable), np.nan)
    found[read.places] = read.scores
    return found


def left_out(variable: Variable, aside: Sequence[Category], share: float, n: int, group: str = "") -> str:
    """How many respondents the categories that take no part leave out: their estimated share, times n.

    Nobody knows who they are, since they are disguised like everybody else.

    >>> from deniable.core.domain import Variable
    >>> left_out(Variable("trust", ("low", "high", "prefer not to say")), ["prefer not to say"], 0.123, 1000)
    "'prefer not to say' of trust takes no part: an estimated 12.3% of 1000 reports, about 123."
    """
    takes = "takes" if len(aside) == 1 else "take"
    many = f"an estimated {share:.1%} of {n} {f'in {group}' if group else 'reports'}, about {share * n:.0f}"
    return f"{listed(aside)} of {variable.name} {takes} no part: {many}."


def all_left_out(
    variables: Sequence[Variable], counting: Sequence[NDArray[np.int64]], table: NDArray[np.float64], n: int
) -> list[str]:
    """The same for each attribute of a joint table in which some categories take no part."""
    told = []
    for axis, (variable, places) in enumerate(zip(variables, counting, strict=True)):
        aside = [category for code, category in enumerate(variable.categories) if code not in places]
        if aside:
            shares = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
            told.append(left_out(variable, aside, float(1 - shares[places].sum()), n))
    return told


def _answers(variable: Variable) -> list[int]:
    """The codes of the categories that answer: who skips a question, or is not asked, says no number.

    Nor does whoever is in none of the bins, where the others are bins.
    """
    bins = [code for code, category in enumerate(variable.categories) if bin_ends(category) is not None]
    if len(bins) > 1:
        return bins
    found = [code for code, category in enumerate(variable.categories) if category not in (SKIPPED, NOT_ASKED)]
    return found if len(found) > 1 else list(range(len(variable)))


def _size(category: Category) -> float | None:
    """The number that a category is, or that its text is, as the steps of a scale in a survey file are."""
    if isinstance(category, int | float):
        return float(category)
    try:
        return float(category) if np.isfinite(float(category)) else None
    except ValueError:
        return None


def _scored(variable: Variable, scores: Scores) -> Ordered:
    if has_labels(scores, variable.categories):
        scores = by_category(scores, variable, f"the scores of {variable.name!r}").tolist()
    if len(scores) != len(variable):
        raise InputError(
            f"{len(scores)} scores were given for the {len(variable)} categories of {variable.name!r}: "
            f"{listed(variable.categories)}",
            attribute=variable.name,
        )
    known = in_order([np.nan if score is None else score for score in scores], f"the scores of {variable.name!r}")
    counting = np.flatnonzero(~np.isnan(known))
    if len(counting) < 2 or not np.isfinite(known[counting]).all() or len(set(known[counting].tolist())) < 2:
        raise InputError(
            f"the scores of {variable.name!r} must be finite numbers, not all the same, for at least two categories",
            attribute=variable.name,
        )
    places = counting[np.argsort(known[counting], kind="stable")]
    return Ordered(variable, readonly(places), readonly(known[places]), None)


def _binned(variable: Variable, edges: NDArray[np.float64]) -> Ordered:
    """Categories in bins that somebody gave the edges of: matched where categories tell their place, else in order."""
    counting = next(
        (codes for codes in (_answers(variable), [*range(len(variable))]) if len(codes) + 1 == len(edges)), None
    )
    falls = edges.ndim == 1 and bool((np.diff(edges) < 0).all())
    rising = edges[::-1] if falls else edges
    if counting is None or not (np.diff(rising) > 0).all() or not np.isfinite(rising[1:-1]).all():
        raise InputError(
            f"the edges of {variable.name!r} must be {len(_answers(variable)) + 1} rising numbers (falling, where its "
            f"categories fall), one more than its categories (the first and the last may be infinite); got "
            f"{listed(edges.tolist())}",
            attribute=variable.name,
        )
    places = _in_bins(variable, counting, rising)
    if places is None:
        places = counting[::-1] if falls else counting
        first = [float(found[0]) for place in places if (found := _NUMBERS.findall(str(variable.categories[place])))]
        if len(first) > 1 and first[0] > first[-1] and all(high >= low for high, low in pairwise(first)):
            raise InputError(
                f"the edges {listed(edges.tolist())} {'fall' if falls else 'rise'}, and the categories "
                f"{listed(variable.categories[place] for place in counting)} of {variable.name!r} go the other way: "
                f"list the edges as the categories are listed",
                attribute=variable.name,
            )
    return _of_bins(variable, places, rising)


def _in_bins(variable: Variable, counting: Sequence[int], edges: NDArray[np.float64]) -> list[int] | None:
    """The category of each bin, by their own names; None where they tell no place."""
    categories = [variable.categories[code] for code in counting]
    ends = [bin_ends(category) for category in categories]
    sizes = [_size(category) for category in categories]
    if None not in ends:
        spans = [pair for pair in ends if pair is not None]
    elif None not in sizes:
        spans = [(size, size) for size in sizes if size is not None]
    else:
        return None
    order = sorted(range(len(spans)), key=lambda place: spans[place])
    for place, (low, high) in zip(order, pairwise(edges.tolist()), strict=True):
        first, last = spans[place]
        # A bin without an end may be given one; a point lies anywhere inside.
        fits = low <= first <= high if first == last else first in (low, -np.inf) and last in (high, np.inf)
        if not fits and categories == list(range(len(categories))):
            return None  # codes, as an observation without a domain has them
        if not fits:
            raise InputError(
                f"the edges of {variable.name!r} put {categories[place]!r} into {low:g} to {high:g}, which it is not: "
                f"{listed(edges.tolist())} for {listed(categories)}. Leave edges= out for bins that have their names' "
                f"edges, or close the open ones only",
                attribute=variable.name,
            )
    return [counting[place] for place in order]


def _of_bins(variable: Variable, places: Sequence[int], edges: NDArray[np.float64]) -> Ordered:
    """Bins from the lowest to the highest; one without an end has no middle."""
    middles = np.where(np.isfinite(edges[:-1] + edges[1:]), (edges[:-1] + edges[1:]) / 2, np.nan)
    return Ordered(variable, readonly(np.array(places)), readonly(middles), readonly(edges))

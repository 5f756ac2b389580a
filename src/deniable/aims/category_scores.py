"""What categories count as where nobody gives scores, and where bins begin and end.

Categories that are numbers, or written like numbers, count as themselves. Bins (named as survey files name them,
"< 18", "18 to < 65", ">= 65") count as their middles; one without an end is taken to be as wide as its neighbour. What
is neither, such as "prefer not to say" beside numbers, stands aside: a mean is then that of the others. Where no
category is a number, the answers count as 0, 1, 2, ... in their order; yes counts more than no, whichever comes first.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from deniable.core.bins import bin_ends
from deniable.core.category_order import says_yes_first
from deniable.device.protocol.answer_encoding import NOT_ASKED, SKIPPED

if TYPE_CHECKING:
    from deniable.core.domain import Category, Variable


def category_scores(variable: Variable) -> list[float | None]:
    """A number for every category; None for one that stands aside.

    >>> from deniable.core.domain import Variable
    >>> category_scores(Variable("age", ("< 20", "20 to < 40", ">= 40")))
    [10.0, 30.0, 50.0]
    >>> category_scores(Variable("mood", ("bad", "good", "prefer not to say")))
    [0.0, 1.0, None]
    >>> category_scores(Variable("smokes", ("yes", "no")))
    [1.0, 0.0]
    """
    ends = _ends(variable)
    sizes: list[float | None]
    if ends is not None:
        sizes = [None if both is None else (both[0] + both[1]) / 2 for both in ends]
    else:
        sizes = [_number(category) for category in variable.categories]
    known = [size for size in sizes if size is not None]
    if len(known) < 2:
        answers = [category for category in variable.categories if category not in (SKIPPED, NOT_ASKED)]
        if len(answers) < 2:
            return [float(code) for code in range(len(variable))]
        rising = answers[::-1] if says_yes_first(answers) else answers
        return [float(rising.index(each)) if each in answers else None for each in variable.categories]
    return sizes


def category_bounds(variable: Variable) -> list[float]:
    """Where the categories begin and end, one more than they are: of bins as they say, else steps of one.

    >>> from deniable.core.domain import Variable
    >>> category_bounds(Variable("age", ("< 20", "20 to < 40", ">= 40")))
    [0.0, 20.0, 40.0, 60.0]
    >>> category_bounds(Variable("mood", ("bad", "good")))
    [0.0, 1.0, 2.0]
    """
    ends = _ends(variable)
    if ends is None or None in ends:
        return [float(code) for code in range(len(variable) + 1)]
    known = [both for both in ends if both is not None]
    return [known[0][0], *(high for _, high in known)]


def _ends(variable: Variable) -> list[tuple[float, float] | None] | None:
    """The ends of every bin, None for what is no bin; None where hardly any category is one."""
    found = [bin_ends(category) for category in variable.categories]
    bins = [both for both in found if both is not None]
    widths = [high - low for low, high in bins if isfinite(high - low)]
    if len(bins) < 2 or not widths:
        return None
    # One without an end is taken to be as wide as its neighbour.
    return [None if both is None else _closed(both, widths[0], widths[-1]) for both in found]


def _closed(both: tuple[float, float], first: float, last: float) -> tuple[float, float]:
    low, high = both
    return (low if isfinite(low) else high - first, high if isfinite(high) else low + last)


def _number(category: Category) -> float | None:
    if isinstance(category, bool):
        return None
    try:
        size = float(category)
    except ValueError:
        return None
    return size if isfinite(size) else None

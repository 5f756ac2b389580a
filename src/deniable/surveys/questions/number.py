"""A number, which is put into a bin."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from deniable.core.bins import bin_names
from deniable.errors import SurveyError
from deniable.surveys.questions import MOST_CHOICES, Option

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deniable.surveys.schema import QuestionEntry
    from deniable.surveys.translations import Translator


def keys(_entry: QuestionEntry) -> Collection[str]:
    """The edges, and how a number may be typed."""
    return {"bins", "min", "max", "step"}


def bins(entry: QuestionEntry, path: str) -> tuple[float, ...]:
    """The edges, in rising order."""
    return _edges(entry.bins, f"{path}.bins")


def options(entry: QuestionEntry, path: str, say: Translator) -> list[Option]:
    """A bin each."""
    return [Option(label, say.same(label)) for label in bin_names(bins(entry, path))]


def bin_of(number: float, edges: Sequence[float]) -> int:
    """Find the bin of a number.

    >>> [bin_of(age, [18, 65]) for age in (17.9, 18, 64, 65)]
    [0, 1, 1, 2]
    """
    return bisect_right(edges, number)


def _edges(given: Sequence[int | float] | None, path: str) -> tuple[float, ...]:
    edges = tuple(given or ())
    rising = all(low < high for low, high in pairwise(edges))
    if not edges or not rising or not all(math.isfinite(edge) for edge in edges) or len(edges) >= MOST_CHOICES:
        raise SurveyError(
            f"{path}: a number is asked in bins, given by the edges between them in rising order, such as [18, 30, "
            f"65]; found {list(edges)}",
            path=path,
        )
    return edges

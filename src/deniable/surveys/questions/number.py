"""A number, which is put into a bin."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from deniable.core.bins import bin_names
from deniable.errors import SurveyError
from deniable.surveys.questions import MOST_CHOICES, Hint, Option, QuestionEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.surveys.translations import Translator


class Number(QuestionEntry, frozen=True):
    """A number in bins, and how it may be typed."""

    kind: ClassVar[str] = "number"

    bins: tuple[int | float, ...] | None = None
    min: int | float | None = None
    max: int | float | None = None
    step: int | float | None = None

    def options(self, path: str, say: Translator) -> list[Option]:
        """A bin each."""
        return [Option(label, say.same(label)) for label in bin_names(self.edges(path))]

    def edges(self, path: str) -> tuple[float, ...]:
        """The edges, in rising order."""
        edges = tuple(self.bins or ())
        rising = all(low < high for low, high in pairwise(edges))
        if not edges or not rising or not all(math.isfinite(edge) for edge in edges) or len(edges) >= MOST_CHOICES:
            raise SurveyError(
                f"{path}.bins: a number is asked in bins, given by the edges between them in rising order, such as "
                f"[18, 30, 65]; found {list(edges)}",
                path=f"{path}.bins",
            )
        return edges

    def hint(self, path: str) -> Hint | None:
        """Least, most and step, if any is said."""
        if self.min is None and self.max is None and self.step is None:
            return None
        if self.min is not None and self.max is not None and not self.min < self.max:
            raise SurveyError(
                f"{path}.max: numbers go from min up to max; found {self.min} to {self.max}", path=f"{path}.max"
            )
        if self.step is not None and not self.step > 0:
            raise SurveyError(
                f"{path}.step: a step is above 0, such as 1 or 0.1; found {self.step}", path=f"{path}.step"
            )
        return (self.min, self.max, self.step)


def bin_of(number: float, edges: Sequence[float]) -> int:
    """Find the bin of a number.

    >>> [bin_of(age, [18, 65]) for age in (17.9, 18, 64, 65)]
    [0, 1, 1, 2]
    """
    return bisect_right(edges, number)

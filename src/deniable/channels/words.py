"""Numbers that reports are taken apart with: arrays here, expressions of a database there.

A channel of sets says once, in whole numbers, which categories a report holds (`Support.word`). NumPy can compute it,
and so can every engine that knows +, -, *, /, %, &, >> and =, so that sets are counted where they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Numbers(Protocol):
    """Whole numbers, one a report: an array, or a column of a table somewhere."""

    def __add__(self, other: Self | int, /) -> Self:
        """The sum."""
        ...

    def __sub__(self, other: Self | int, /) -> Self:
        """The difference."""
        ...

    def __mul__(self, other: Self | int, /) -> Self:
        """The product."""
        ...

    def __floordiv__(self, other: int, /) -> Self:
        """The quotient, rounded down; of numbers below 2^53, so that decimals give it too."""
        ...

    def __mod__(self, other: int, /) -> Self:
        """The remainder."""
        ...

    def __and__(self, other: Self | int, /) -> Self:
        """Binary digits that both have; of truths, whether both hold."""
        ...

    def __rshift__(self, other: int, /) -> Self:
        """Binary digits further down."""
        ...


if TYPE_CHECKING:
    Choose = Callable[[object, int], Numbers]  # the number where a condition holds, else 0


def digits(words: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The lowest binary digits of words, a row each, and a one for the report itself.

    >>> digits(np.array([5]), 3).tolist()
    [[1.0, 0.0, 1.0, 1.0]]
    """
    rows = np.ones((len(words), count + 1))
    rows[:, :count] = (words[:, None] >> np.arange(count)) & 1
    return rows

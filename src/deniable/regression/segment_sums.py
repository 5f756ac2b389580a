"""Rows that are in one place: what a table says of the place holds for each of them, so sums over it are products.

    rows:   r_i of K numbers,   of the place p(i)
    table:  t_p of K x N numbers

A place is a run of neighbours, for instance the respondents of a group whose outcome depends on the same. Where many
are together each has one matrix product; short runs are taken together, some thousand rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LONG = 32  # rows of a place that are worth a product of their own
TOGETHER = 4096  # rows of short places that are taken at once


@dataclass(frozen=True)
class Places:
    """Where each of some rows is.

    Attributes:
        starts: the first row of every place, in order.
        rows: how many rows there are.
    """

    starts: NDArray[np.intp]
    rows: int

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.generic]]) -> Places:
        """Neighbours that are alike in all columns (arrays of a row each) are in one place."""
        changes = np.zeros(max(len(columns[0]) - 1, 0), dtype=bool)
        for column in columns:
            flat = column.reshape(len(column), -1)
            changes |= (flat[1:] != flat[:-1]).any(axis=1)
        return cls(np.concatenate([[0], np.flatnonzero(changes) + 1]), len(columns[0]))

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=self.rows))

    @cached_property
    def _portions(self) -> list[tuple[slice, slice]]:
        """Places, and the rows that are there: a long one alone, short ones together."""
        ends = np.append(self.starts[1:], self.rows).tolist()
        found: list[tuple[slice, slice]] = []
        first = 0
        for place, (start, end) in enumerate(zip(self.starts.tolist(), ends, strict=True)):
            begin = int(self.starts[first])
            if end - start >= LONG and place > first:
                found.append((slice(first, place), slice(begin, start)))
                first, begin = place, start
            if end - begin >= TOGETHER or end - start >= LONG or end == self.rows:
                found.append((slice(first, place + 1), slice(begin, end)))
                first = place + 1
        return found

    def _each(self) -> Iterator[tuple[slice, slice, bool]]:
        for places, rows in self._portions:
            yield places, rows, places.stop - places.start == 1

    def times(self, rows: Array, table: Array) -> Array:
        """r_i t_p(i), N numbers a row."""
        found = np.empty((self.rows, table.shape[2]))
        for places, mine, is_one in self._each():
            if is_one:
                np.matmul(rows[mine], table[places.start], out=found[mine])
            else:
                np.einsum("rk,rkn->rn", rows[mine], table[self._numbers[mine]], out=found[mine])
        return found

    def crossed(self, left: Array, right: Array) -> Array:
        """Of every place  sum over its rows of  l_i r_i',  K x N numbers."""
        found = np.empty((len(self.starts), left.shape[1], right.shape[1]))
        for places, mine, is_one in self._each():
            if is_one:
                np.matmul(left[mine].T, right[mine], out=found[places.start])
            else:
                products = left[mine, :, None] * right[mine, None, :]
                found[places] = np.add.reduceat(products, self.starts[places] - mine.start, axis=0)
        return found

"""A sparse matrix by its entries: what each ballot tells about each set of attributes.

Two sums are all that is asked of it. They are in the order in which the entries were given, and a collector that serves
an optimal design starts without SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Entries, and the row and the column of each."""

    shape: tuple[int, int]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, places: Sequence[Sequence[int]], values: Sequence[float], columns: int) -> Self:
        """Of the columns in which each row has entries, and all entries one after the other.

        >>> SparseRows.of([[0, 2], [1]], [1.0, 2.0, 3.0], 3).times(np.array([1.0, 10.0, 100.0])).tolist()
        [201.0, 30.0]
        """
        rows = np.repeat(np.arange(len(places)), [len(row) for row in places])
        found = np.fromiter(chain.from_iterable(places), dtype=np.int64, count=len(rows))
        return cls((len(places), columns), rows, found, np.asarray(values, dtype=np.float64))

    def times(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each row, the sum of its entries times what stands for their columns."""
        return np.asarray(
            np.bincount(self.rows, self.values * x[self.columns], minlength=self.shape[0]), dtype=np.float64
        )

    def transposed_times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each column, the sum of its entries times what stands for their rows."""
        return np.asarray(
            np.bincount(self.columns, self.values * w[self.rows], minlength=self.shape[1]), dtype=np.float64
        )

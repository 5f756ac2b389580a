"""Products of a small matrix with many columns, one a replicate, on one thread.

Linear algebra libraries share a product out to threads from some size on. Those of a bootstrap are just above it, a
hundred thousand one after the other: the threads spend more time waiting for each other than they save.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ALONE = 1 << 18  # multiplications up to which OpenBLAS works on one thread
_FEWEST = 8  # columns: products so large that fewer would be taken at a time are worth the threads


def times(matrix: Array, columns: Array) -> Array:
    """The product, as many columns at a time as one thread is given.

    >>> times(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    some = max(1, _ALONE // max(1, matrix.size))
    if columns.shape[1] <= some or some < _FEWEST:
        return matrix @ columns
    out = np.empty((len(matrix), columns.shape[1]))
    for begin in range(0, columns.shape[1], some):
        np.matmul(matrix, columns[:, begin : begin + some], out=out[:, begin : begin + some])
    return out

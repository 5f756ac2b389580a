"""Systems of a few equations, one a replicate: eliminated for all replicates at once, which are the last axis.

LAPACK takes them one by one, and calling it costs more than the arithmetic of so small a system.

Products of a small matrix with many columns, one a replicate, on one thread.

Linear algebra libraries share a product out to threads from some size on. Those of a bootstrap are just above it, a
hundred thousand one after the other: the threads spend more time waiting for each other than they save.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import readonly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_TINY = 1e-300
_MANY = 128  # systems from which on half of the arithmetic takes less time than the calls for it
_ROUNDING = 1e-14  # of the largest number on the diagonal: a pivot below it is rounding


def solve_each(matrix: Array, right: Array) -> Array:
    """Solve symmetric systems without negative eigenvalues, (k, k, replicates), for right sides (k, replicates).

    Gaussian elimination without exchanges: such systems need none. Where rounding is all that is left of a pivot, the
    direction is left out: its unknown is zero.

    >>> solve_each(np.array([[[4.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [3.0, 1.0]]]), np.ones((2, 2))).round(4).tolist()
    [[0.1818, 1.0], [0.2727, 1.0]]
    """
    return solve_packed(matrix[np.triu_indices(len(matrix))], right)


@lru_cache(maxsize=64)
def packed_places(k: int) -> NDArray[np.int64]:
    """Where the entry (i, j) of a symmetric matrix stands in its upper triangle, row by row.

    >>> packed_places(3).tolist()
    [[0, 1, 2], [1, 3, 4], [2, 4, 5]]
    """
    places = np.zeros((k, k), dtype=np.int64)
    upper = np.triu_indices(k)
    places[upper] = np.arange(len(upper[0]))
    return readonly(np.maximum(places, places.T))


def solve_packed(triangle: Array, right: Array, without: NDArray[np.bool_] | None = None) -> Array:
    """The same of upper triangles, row by row, (k (k + 1) / 2, replicates), which are used up.

    Unknowns that are to stay zero may be named, (k, replicates): their equations are left out with them.
    """
    x, k, places = right.copy(), len(right), packed_places(len(right))
    diagonal = np.diagonal(places)
    least = _ROUNDING * triangle[diagonal].max(axis=0) + _TINY
    if right.shape[1] < _MANY:
        return _solve_few(triangle[places], x, least, without)
    turned = []
    for i in range(k):
        row = triangle[places[i, i] : places[i, i] + k - i]
        out = row[0] <= least
        if without is not None:
            out |= without[i]
        one = np.where(out, 0.0, 1.0 / np.where(out, 1.0, row[0]))
        turned.append(one)
        share = row[1:] * one
        for j, part in enumerate(share, 1):
            begin = places[i + j, i + j]
            triangle[begin : begin + k - i - j] -= part * row[j:]
        x[i + 1 :] -= share * x[i]
    for i in reversed(range(k)):
        if i + 1 < k:
            x[i] -= (triangle[places[i, i] + 1 : places[i, i] + k - i] * x[i + 1 :]).sum(axis=0)
        x[i] *= turned[i]
    return x


def _solve_few(m: Array, x: Array, least: Array, without: NDArray[np.bool_] | None) -> Array:
    """The same of whole matrices: twice the arithmetic, in fewer calls."""
    k = len(x)
    for i in range(k):
        out = m[i, i] <= least if without is None else (m[i, i] <= least) | without[i]
        m[i, i] = np.where(out, np.inf, m[i, i])
        share = m[i, i + 1 :] / m[i, i]
        m[i + 1 :, i + 1 :] -= share[:, None] * m[i, i + 1 :]
        x[i + 1 :] -= share * x[i]
    for i in reversed(range(k)):
        x[i] -= (m[i, i + 1 :] * x[i + 1 :]).sum(axis=0)
        x[i] /= m[i, i]
    return x


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

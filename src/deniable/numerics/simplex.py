"""Onto the simplex: the nearest distribution, by subtracting one number and cutting at zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def norm_sub(values: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Project to the simplex: subtract one number from every cell and set negative ones to zero: sum `total`.

    This is the Euclidean projection: the smallest change that makes the table a distribution. The number is found by
    sorting: with cells in descending order x1 >= x2 ..., it is (x1 + ... + xj - total) / j for the largest j that
    leaves xj positive.

    >>> norm_sub([0.6, 0.5, -0.1]).round(3).tolist()
    [0.55, 0.45, 0.0]
    """
    cells = np.asarray(values, dtype=np.float64)
    return norm_sub_rows(cells.reshape(1, -1), total).reshape(cells.shape)


def norm_sub_rows(rows: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Project every row (the last axis) to the simplex at once. A cell of -inf is no cell: it stays zero.

    >>> norm_sub_rows([[0.6, 0.5, -0.1], [2.0, 0.0, -np.inf]]).round(3).tolist()
    [[0.55, 0.45, 0.0], [1.0, 0.0, 0.0]]
    """
    cells = np.asarray(rows, dtype=np.float64)
    ordered = -np.sort(-cells, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - total) / np.arange(1, cells.shape[-1] + 1)
    # The cells that stay positive come first, so their number tells which excess is the one to subtract.
    positive = (ordered > excess).sum(axis=-1, keepdims=True)
    return np.maximum(cells - np.take_along_axis(excess, positive - 1, axis=-1), 0.0)

"""Onto the simplex: the nearest table without negative cells and with total one."""

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
    flat = cells.ravel()
    ordered = np.sort(flat)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(flat) + 1)
    shift = excess[np.flatnonzero(ordered > excess)[-1]]
    return np.maximum(flat - shift, 0.0).reshape(cells.shape)

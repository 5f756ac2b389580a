"""Systems of a few equations, one a replicate: eliminated for all replicates at once, which are the last axis.

LAPACK takes them one by one, and calling it costs more than the arithmetic of so small a system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    m, x, k = matrix.copy(), right.copy(), len(matrix)
    many = right.shape[1] >= _MANY
    least = _ROUNDING * np.einsum("iir->ir", matrix).max(axis=0) + _TINY
    for i in range(k):
        m[i, i] = np.where(m[i, i] > least, m[i, i], np.inf)
        if i + 1 < k:
            share = m[i, i + 1 :] / m[i, i]
            if many:  # what is below the diagonal is never looked at
                for j, part in enumerate(share, i + 1):
                    m[j, j:] -= part * m[i, j:]
            else:
                m[i + 1 :, i + 1 :] -= share[:, None] * m[i, i + 1 :]
            x[i + 1 :] -= share * x[i]
    for i in reversed(range(k)):
        if i + 1 < k:
            x[i] -= (m[i, i + 1 :] * x[i + 1 :]).sum(axis=0)
        x[i] /= m[i, i]
    return x

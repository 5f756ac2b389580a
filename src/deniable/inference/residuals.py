"""How the cells of a two-way table differ from independence, d_ij = pi_ij - pi_i pi_j, and how that moves with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def residual_of(
    matrix: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """J times a matrix over the cells, J = `residual_jacobian`: x_ij - pi_j x_i. - pi_i x_.j, column by column."""
    x = matrix.reshape(len(rows), len(columns), -1)
    moved = x - columns[:, None] * x.sum(axis=1, keepdims=True) - rows[:, None, None] * x.sum(axis=0, keepdims=True)
    return moved.reshape(matrix.shape)


def residual_jacobian(rows: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of d_ij = pi_ij - pi_i pi_j by the cells: [ij = kl] - [i = k] pi_j - [j = l] pi_i."""
    r, c = len(rows), len(columns)
    by_row = np.einsum("ik,j->ijk", np.eye(r), columns)[..., None] * np.ones(c)
    by_column = np.einsum("jl,i->ijl", np.eye(c), rows)[:, :, None, :] * np.ones(r)[None, None, :, None]
    return np.eye(r * c) - (by_row + by_column).reshape(r * c, r * c)

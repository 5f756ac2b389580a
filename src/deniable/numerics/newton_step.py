"""A step of Newton's method where the function is not concave, and the backtracking line search of many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def newton_step(gradient: Array, hessian: Array) -> tuple[Array, bool]:
    """The step |H|^-1 g, and whether H is negative definite (so that it is Newton's).

    Coordinates are first scaled by the diagonal of H, so that units of the predictors do not matter.
    """
    diagonal = np.abs(np.diagonal(hessian))
    scale = 1 / np.sqrt(np.maximum(diagonal, 1e-300 + 1e-14 * diagonal.max()))
    values, vectors = np.linalg.eigh(-hessian * scale[:, None] * scale[None, :])
    size = np.maximum(np.abs(values), 1e-10 * np.abs(values).max())
    step = scale * (vectors @ ((vectors.T @ (scale * gradient)) / size))
    return step, bool(values.min() > 0)


def backtracked(
    evaluate: Callable[[Array, NDArray[np.int64] | slice], tuple[Array, ...]],
    start: Array,
    move: Array,
    value: Array,
    shares: Sequence[float],
) -> tuple[tuple[Array, ...], NDArray[np.int64], int]:
    """Steps of many climbs at once, the last axis, each taken whole or shortened until it does not lose.

    Args:
        evaluate: what is at places of some climbs: arrays, the last of them the heights.
        start: where the climbs are.
        move: their whole steps.
        value: how high they are.
        shares: of the whole step, what is tried one after the other by those that lose.

    Returns:
        What `evaluate` found where each climb went, those that lose with every share, and how often it was asked.

    >>> (there, height), losing, _ = backtracked(
    ...     lambda x, some: (x, -(x[0] ** 2)), np.ones((1, 2)), np.array([[-1.0, -3.0]]), -np.ones(2), [0.5, 0.25]
    ... )
    >>> there.tolist(), losing.tolist()
    ([[0.0, -0.5]], [])
    """
    found = evaluate(start + move, slice(None))
    losing, used = np.flatnonzero(~(found[-1] >= value)), 1
    for share in shares:
        if not len(losing):
            break
        for whole, part in zip(found, evaluate(start[:, losing] + share * move[:, losing], losing), strict=True):
            whole[..., losing] = part
        used += 1
        losing = losing[~(found[-1][losing] >= value[losing])]
    return found, losing, used

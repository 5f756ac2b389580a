"""Patterns as whole numbers: what is run never spends more than was asked, and loses next to nothing.

Report u gives `low_u` of the 2^bits draws to most answers and `high_u` to the pattern's large ones. low_u is rounded
down, and high_u is the largest whole number with high_u <= e^eps low_u: the comparison is exact, with a fraction that
is not above e^eps. What is missing in a column goes to one more report. Its own weights differ between answers too,
so a little more is left to it, until they stay within the same factor.
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

import numpy as np

from deniable.device.epsilon import exp_below
from deniable.device.kinds.base import WIDTHS
from deniable.errors import NotIdentifiedError, PrecisionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from deniable.optimal.problem import Problem

CLOSE = 1e-3  # how much loss whole numbers may add


def whole_weights(
    problem: Problem, patterns: NDArray[np.bool_], p: NDArray[np.float64], aim: float
) -> tuple[NDArray[np.int64], int, float]:
    """Integers W[u, v], the width of a draw and the loss: of the narrowest width within .1% of the loss aimed at."""
    most = exp_below(problem.epsilon)
    theta = p / (np.where(patterns, problem.large, 1.0) @ problem.truth)
    reached = float("inf")
    for bits in WIDTHS:
        for weights in _rounded(patterns, theta, most, bits):
            loss = _loss(problem, weights / 2.0**bits)
            if loss <= aim * (1 + CLOSE):
                return weights, bits, loss
            reached = min(reached, loss)
    raise PrecisionError(
        f"an optimal channel for {problem.answers} answers at epsilon {problem.epsilon:g} cannot be written in "
        f"{WIDTHS[-1]}-bit draws within .1% of its loss ({reached:g} instead of {aim:g})",
        requested=problem.epsilon,
    )


def _loss(problem: Problem, channel: NDArray[np.float64]) -> float:
    try:
        return problem.loss(channel)
    except NotIdentifiedError:
        return float("inf")  # rounding left nothing of some difference


def _rounded(
    patterns: NDArray[np.bool_], theta: NDArray[np.float64], most: Fraction, bits: int
) -> Iterator[NDArray[np.int64]]:
    """The integers with the smallest remainder whose own ratio is kept, if this width has room for them."""
    whole = 1 << bits
    left = len(theta)
    while left < whole // 4:
        low = np.floor(theta * (whole - left)).astype(np.int64)
        used = low > 0
        high = np.array([floor(int(one) * most) for one in low[used]], dtype=np.int64)
        weights = np.where(patterns[used], high[:, None], low[used, None])
        rest = whole - weights.sum(axis=0)
        if not rest.any() and used.any():
            yield weights
            return
        if rest.min() > 0 and int(rest.max()) <= most * int(rest.min()):
            yield np.concatenate([weights, rest[None]])
            return
        left *= 2

"""Patterns as whole numbers: what is run never spends more than was asked, and loses next to nothing.

Report u gives `low_u` of the 2^bits draws to most answers and `high_u` to the pattern's large ones. low_u is rounded
down, and high_u is the largest whole number with high_u <= e^eps low_u: the comparison is exact, with a fraction that
is not above e^eps. What is missing in a column goes to one more report. Its own weights differ between answers too,
so a little more is left to it, until they stay within the same factor.

Of all optimal channels a corner (a basic solution) has the fewest reports. With G = F^-1 V', every channel of these
patterns with sum p x = 1 and sum p x (x'G) = V' has the same loss tr(V G): then F' G = V', so V F'^+ V' = G'F'G. These
are linear equations in p, and a linear program ends at a corner, where no more patterns are used than there are
independent equations: at most t (t + 1) / 2, and fewer where less is wanted.
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.patterns import Patterns
from deniable.device.channels.channel_kind import WIDTHS
from deniable.device.epsilon import exp_below
from deniable.errors import NotIdentifiedError, PrecisionError

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from deniable.optimal.channel_problem import Problem
    from deniable.optimal.column_generation import Solution

CLOSE = 1e-3  # how much loss whole numbers may add


def whole_weights(
    problem: Problem, patterns: NDArray[np.bool_], p: NDArray[np.float64], aim: float
) -> tuple[Patterns, float]:
    """The channel of integers and its loss: of the narrowest width within .1% of the loss aimed at."""
    most = exp_below(problem.epsilon)
    theta = p / (np.where(patterns, problem.large, 1.0) @ problem.truth)
    reached = float("inf")
    for bits in WIDTHS:
        channel = _rounded(patterns, theta, most, bits)
        loss = float("inf") if channel is None else executed_loss(problem, channel)
        if channel is not None and loss <= aim * (1 + CLOSE):
            return channel, loss
        reached = min(reached, loss)
    raise PrecisionError(
        f"an optimal channel for {problem.answers} answers at epsilon {problem.epsilon:g} cannot be written in "
        f"{WIDTHS[-1]}-bit draws within .1% of its loss ({reached:g} instead of {aim:g})",
        requested=problem.epsilon,
    )


def executed_loss(problem: Problem, channel: Patterns) -> float:
    """The loss of the integers; infinite where rounding left nothing of some difference."""
    try:
        return problem.loss(channel.matrix())
    except NotIdentifiedError:
        return float("inf")


def _rounded(patterns: NDArray[np.bool_], theta: NDArray[np.float64], most: Fraction, bits: int) -> Patterns | None:
    """The integers with the smallest remainder whose own ratio is kept, if this width has room for them."""
    whole = 1 << bits
    left = len(theta)
    while left < whole // 4:
        low = np.floor(theta * (whole - left)).astype(np.int64)
        high = np.array([floor(int(one) * most) for one in low], dtype=np.int64)
        used = high > low
        rest = whole - np.where(patterns[used], high[used, None], low[used, None]).sum(axis=0)
        none_left = not rest.any() and used.any()
        if none_left or (rest.min() > 0 and int(rest.max()) <= most * int(rest.min())):
            sets = [np.flatnonzero(pattern).tolist() for pattern in patterns[used]]
            return Patterns(patterns.shape[1], sets, low[used].tolist(), high[used].tolist(), bits) if sets else None
        left *= 2
    return None


_SAME = 1e-9
_RARE = 1e-7  # what is left out is put into the remainder's row, and costs as much


def few_patterns(problem: Problem, found: Solution) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Patterns and probabilities with the loss of the solution, at a corner where there is one."""
    from scipy.optimize import linprog

    patterns, point = found
    x = problem.rows(patterns)
    t = problem.answers
    rank = int(np.linalg.matrix_rank(problem.centred))
    if len(x) <= min(t * (t + 1) // 2, t * (rank + 1)):
        return _without_rare(patterns, point.p)
    equations = _equations(problem, x, point.inverse)
    slack = x @ point.y - ((x @ point.inverse @ problem.gram @ point.inverse) * x).sum(axis=1)
    corner = linprog(
        np.maximum(slack, 0.0) / point.loss,
        A_eq=equations,
        b_eq=equations @ point.p,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    # Where the equations are too many or too close for the program, the solution itself is as good.
    return _without_rare(patterns, point.p if corner.x is None else corner.x)


def _equations(problem: Problem, x: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    _, singular, right = np.linalg.svd(problem.centred, full_matrices=False)
    told = right[singular > _SAME * singular[0]]
    images = x @ (inverse @ told.T)
    every = np.concatenate([x.T, (x[:, :, None] * images[:, None, :]).reshape(len(x), -1).T])
    left, size, _ = np.linalg.svd(every, full_matrices=False)
    return np.asarray(left[:, size > _SAME * size[0]].T @ every)


def _without_rare(patterns: NDArray[np.bool_], p: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    often = (p > _RARE) & patterns.any(axis=1) & ~patterns.all(axis=1)  # none large, or all, tells nothing
    return patterns[often], p[often]

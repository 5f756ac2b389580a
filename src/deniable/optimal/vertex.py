"""As few reports as the same loss allows: a corner of the set of all optimal channels.

With G = F^-1 V', every channel of these patterns with sum p x = 1 and sum p x (x'G) = V' has the same loss tr(V G):
then F' G = V', so V F'^+ V' = G'F'G. These are linear equations in p, and a linear program ends at a corner, where no
more patterns are used than there are independent equations: at most t (t + 1) / 2, and fewer where less is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.optimal.channel_problem import Problem
    from deniable.optimal.column_generation import Solution

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

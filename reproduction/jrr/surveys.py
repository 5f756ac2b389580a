"""Paired and unpaired surveys of the same people, simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable import paired_optimum
from reproduction.jrr.theorems import sides

if TYPE_CHECKING:
    from reproduction.item import Run


def simulated_gain(run: Run, epsilon: float, n: int, yes: int) -> tuple[float, float]:
    """The mean squared error of the best pairing over the variance without pairing, and its standard error."""
    best = paired_optimum(epsilon, n, 0, yes / n)
    coins = best.coins
    truths = np.arange(n) < yes
    p = float(coins.p)
    squares = []
    for _ in range(run.trials):
        stream = run.source.stream()
        count = coins.disguise(truths, sides(n, stream), stream).sum()
        squares.append(((count - n * (1 - p)) / (2 * p - 1) - yes) ** 2)
    ratio = np.array(squares) / best.plain_variance
    return float(ratio.mean()), float(ratio.std(ddof=1)) / len(ratio) ** 0.5

"""The stand-in for the paper's biomarkers, and the channels that are compared on it.

LDL cut at 70, 100, 130, 160, 190 (six levels) by total cholesterol cut at 200, 240 (three), of the 442 patients of B.
Efron, T. Hastie, I. Johnstone, R. Tibshirani (2004), Least Angle Regression, Annals of Statistics 32(2). The raw data
comes with scikit-learn (`load_diabetes(scaled=False)`); only these eighteen counts are used, so they are written here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from deniable import KRR, BinnedLaplace

if TYPE_CHECKING:
    from deniable.channels.channel import Channel

COUNTS = np.array([[26, 0, 0], [107, 3, 0], [142, 39, 1], [11, 69, 9], [0, 8, 19], [0, 0, 8]])
LDL_CUTS, TOTAL_CUTS = (70, 100, 130, 160, 190), (200, 240)
N = int(COUNTS.sum())
LDL = COUNTS.sum(axis=1) / N
PAPER_N = 248


@cache
def laplace_at(t: int, epsilon: float) -> Channel:
    """The binned Laplace mechanism whose *true* epsilon is the given one: its nominal epsilon is larger."""
    from scipy.optimize import brentq

    nominal = brentq(lambda x: BinnedLaplace(t, x).epsilon - epsilon, epsilon, 4 * epsilon + 4, xtol=1e-6)
    return BinnedLaplace(t, nominal)


def channels(t: int, epsilon: float) -> dict[str, Channel]:
    """RR, Laplace as published, and Laplace with all of the budget spent."""
    return {
        "RR": KRR(t, epsilon=epsilon),
        "LM": BinnedLaplace(t, epsilon),
        "LM at equal true epsilon": laplace_at(t, epsilon),
    }

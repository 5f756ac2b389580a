"""When pairing does not help: the limits over epsilon, frequency and colluders."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from deniable import paired_optimum
from reproduction.item import Item, Reproduced, Run
from reproduction.jrr.theorems import count_variance
from reproduction.plots import curves

N = 10_000


def most_colluders(epsilon: float, share: float) -> int:
    """The largest number of colluders with which pairing still pays."""
    pays = [m for m in range(0, N - 1, 10) if paired_optimum(epsilon, N, m, share).pays]
    return max(pays, default=-1)


def against_partner(epsilon: float, rho: float) -> float:
    """Variance over RR's when the partner, too, may learn no more than epsilon: (1 - rho) p = p of RR."""
    plain = 1 / (1 + math.exp(-epsilon))
    p = plain / (1 - rho)
    if p <= 0.5:
        return math.inf
    return count_variance(p, max(rho, -(1 - p) / p), N, 0) / count_variance(plain, 0.0, N, 0)


def compute(run: Run) -> Reproduced:
    """Gains of less than a twentieth, and the number of colluders that takes all."""
    out = Reproduced()
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        at_zero = paired_optimum(epsilon, N, 0, 0.0).gain
        out.line(f"epsilon {epsilon:g}: best possible ratio (f = 0, m = 0)", at_zero)

        def excess(share: float, epsilon: float = epsilon) -> float:
            return paired_optimum(epsilon, N, 0, share).gain - 0.95

        limit = float(brentq(excess, 0.0, 0.499, xtol=1e-6)) if at_zero < 0.95 else 0.0
        out.line(f"epsilon {epsilon:g}: gain below 5% from f = ", limit)
    for epsilon in run.track((1.0,) if run.smoke else (0.1, 1.0, 2.0)):
        for share in (0.0, 0.1, 0.3):
            most = most_colluders(epsilon, share)
            out.line(f"epsilon {epsilon:g}, f = {share:g}: most colluders of 10,000 with any gain", most)
            out.row(epsilon=epsilon, share=share, colluders=most)
    best = min(against_partner(1.0, rho) for rho in np.linspace(-0.5, 0, 501))
    out.line("epsilon 1 asked for against the actual partner, f = 0: least ratio over rho", best)
    return out


ITEM = Item(
    __name__,
    where="not in the slides",
    claim="When pairing does not help is not said.",
    why="Near f = 1/2, for epsilon of 2 and more, with many colluders, and whenever the partner must not learn more.",
    compute=compute,
    draw=curves("share", "colluders", "epsilon", log=""),
)

"""The utility theorem: the variance of the estimated count, in closed form and simulated."""

from __future__ import annotations

import numpy as np

from deniable import Coins
from reproduction.item import Item, Reproduced, Run
from reproduction.jrr.theorems import count_variance, sides

SETTINGS = [
    (n, share, p, scale)
    for n in (50, 200, 1000)
    for share in (0.02, 0.3, 0.5)
    for p, scale in ((0.6, 1.0), (0.75, 1.0), (0.75, 0.5))
]


def simulate(n: int, yes: int, coins: Coins, run: Run) -> np.ndarray:
    """Counts estimated from pairs drawn anew each time, through the coins that are run."""
    truths = np.arange(n) < yes
    p = float(coins.p)
    found = []
    for _ in range(run.trials):
        stream = run.source.stream()
        found.append((coins.disguise(truths, sides(n, stream), stream).sum() - n * (1 - p)) / (2 * p - 1))
    return np.array(found)


def compute(run: Run) -> Reproduced:
    """Z scores of the simulated variances."""
    out = Reproduced()
    scores = []
    for n, share, p, scale in run.track(run.some(SETTINGS, 4)):
        yes = round(n * share)
        coins = Coins.of(p, -scale * (1 - p) / p)
        values = simulate(n, yes, coins, run)
        exact = count_variance(float(coins.p), float(coins.rho), n, yes)
        squares = (values - yes) ** 2
        score = (squares.mean() - exact) / (squares.std(ddof=1) / len(squares) ** 0.5)
        scores.append(float(score))
        out.row(
            n=n, share=share, p=p, rho=float(coins.rho), exact=exact, simulated=float(squares.mean()), z=float(score)
        )
    worst = max(map(abs, scores))
    note = "a score of a true formula exceeds 4.5 in none of 150,000 settings"
    out.says("the variance theorem: largest |z| of simulated variances", worst, holds=worst < 4.5, slack=4.0, note=note)
    spread = float(np.mean(np.square(scores)))
    out.line("mean square of the z scores (1 if the theorem is exact)", spread, error=(2 / len(scores)) ** 0.5)
    return out


ITEM = Item(
    __name__,
    where="Utility Theorem, slide 25",
    claim="Var = pq / (p - q)^2 (n + rho ((2 n_yes - n)^2 - n) / (n - 1)), and the estimator of RR is unbiased.",
    compute=compute,
    trials=3_000,
    smoke=300,
)

"""Figure 7: error against the number of respondents."""

from __future__ import annotations

import numpy as np

from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.rr_ind_joint.synthetic import dependent, errors, rounded
from reproduction.simulated_counts import mean_error

D, V, EPSILON = 10, 0.5, 1.0


def compute(run: Run) -> Reproduced:
    """N from 10 to 100,000, and the slope beyond a thousand."""
    out = Reproduced()
    pi = dependent(D, V)
    raw: dict[int, tuple[float, float]] = {}
    for n in run.track((1000, 100_000) if run.smoke else (10, 100, 1000, 10_000, 100_000)):
        out.row(n=n, method="RR-Ind-Joint, rounding only", MAE=rounded(pi, EPSILON, n))
        for name, trials in errors(run.rng, pi, EPSILON, n, run.trials).items():
            mean, error = mean_error(trials)
            out.row(n=n, method=name, MAE=mean)
            if name == "RR-Ind-Joint":
                raw[n] = mean, error
            if n in (1000, 100_000):
                out.line(f"MAE of {name}, n = {n}", mean, error=error)
    slope = np.log(raw[100_000][0] / raw[1000][0]) / np.log(100)
    error = np.hypot(raw[100_000][1] / raw[100_000][0], raw[1000][1] / raw[1000][0]) / np.log(100)
    note = "sampling errors fall with the square root of n; 1 / n is the fall of rounding errors alone"
    out.line("slope of log MAE in log n beyond 1000", slope, -1.0, tolerance=0.05, error=error, note=note)
    return out


ITEM = Item(
    __name__,
    where="Figure 7, section 4.2",
    claim="The error of RR-Ind-Joint falls in the order of 1 / n beyond n = 1000.",
    why="With respondents drawn it falls with the square root of n.",
    compute=compute,
    draw=curves("n", "MAE", "method", log="xy"),
    trials=200,
    smoke=20,
)

"""Break-even: from how many respondents on RR-Ind-Joint beats the product of margins."""

from __future__ import annotations

import numpy as np

from deniable import KRR, Kronecker
from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.rr_ind_joint.synthetic import dependent, product
from reproduction.simulated_counts import each_mean, ratio_error, sampled

V, EPSILON = 0.5, 1.0


def compute(run: Run) -> Reproduced:
    """Squared errors in closed form: n times the variance of a cell against the dependence that RR-Ind ignores."""
    out = Reproduced()
    for d in (2, 3, 5, 8, 10, 15, 20):
        pi = dependent(d, V)
        channel = Kronecker([KRR(d, epsilon=EPSILON)] * 2)
        # Expected MAE of normal errors is sqrt(2 / pi) times their standard deviation.
        noise = float(np.sqrt(2 / np.pi) * np.sqrt(channel.variance(pi, 1)).mean())
        ignored = float(np.abs(pi - np.outer(pi.sum(axis=1), pi.sum(axis=0))).mean())
        even = (noise / ignored) ** 2
        out.row(method="RR-Ind-Joint", d=d, respondents=even)
        if d in (2, 5, 10, 20):
            out.line(f"respondents at which MAE is equal, d = {d}", even)
    # The closed form leaves RR-Ind's own sampling noise out, which matters for the few people of d = 2.
    pi, n = dependent(2, V), 78
    channel = Kronecker([KRR(2, epsilon=EPSILON)] * 2)
    raw = channel.solve(sampled(run.rng, channel, pi, n, run.trials) / n)
    ratio, error = ratio_error(each_mean(raw, pi, 1), each_mean(product(raw), pi, 1))
    out.line("d = 2, n = 78, both with sampling noise: MAE over RR-Ind's", ratio, error=error)
    return out


ITEM = Item(
    __name__,
    where="section 4.2 (not in the paper)",
    claim="RR-Ind-Joint needs a sufficient number of users, which the paper does not quantify.",
    compute=compute,
    draw=curves("d", "respondents", "method", log="y"),
    trials=20_000,
    smoke=2_000,
)

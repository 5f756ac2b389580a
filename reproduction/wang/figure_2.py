"""Figure 2: mean squared error of the LDL shares against epsilon."""

from __future__ import annotations

from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.simulated_counts import each_mean, mean_error, sampled
from reproduction.wang.cholesterol import LDL, N, channels


def compute(run: Run) -> Reproduced:
    """Closed forms, and a simulation beside them."""
    out = Reproduced()
    for epsilon in run.track((1.0, 5.0) if run.smoke else (1.0, 2.0, 3.0, 5.0, 8.0)):
        found = {}
        for name, channel in channels(6, epsilon).items():
            found[name] = float(channel.variance(LDL, N).mean())
            out.row(epsilon=epsilon, method=name, MSE=found[name])
            drawn = each_mean(channel.solve(sampled(run.rng, channel, LDL, N, run.trials) / N), LDL, 2)
            mean, error = mean_error(drawn / found[name])
            if epsilon in (1.0, 5.0):
                out.line(f"{name}, epsilon {epsilon:g}: simulated MSE over the closed form", mean, error=error)
        ratio = found["LM"] / found["RR"]
        out.line(f"LM over RR, epsilon {epsilon:g}", ratio)
        out.line(f"LM over RR, true epsilon {epsilon:g}", found["LM at equal true epsilon"] / found["RR"])
        note = "only while epsilon is small" if ratio < 100 else ""
        out.says(
            f"RR's error is two to three orders lower, epsilon {epsilon:g}: ratio", ratio, holds=ratio >= 100, note=note
        )
    return out


ITEM = Item(
    __name__,
    where="Figure 2",
    claim="RR's mean squared error is two to three orders of magnitude below Laplace's, more so for small epsilon.",
    why="Two orders for epsilon up to 2, one at 5, less beyond.",
    compute=compute,
    draw=curves("epsilon", "MSE", "method", log="y"),
    trials=400,
    smoke=100,
)

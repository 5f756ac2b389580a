"""Figure 8: error against the number of categories."""

from __future__ import annotations

from itertools import pairwise

from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.rr_ind_joint.synthetic import dependent, errors, rounded
from reproduction.simulated_counts import mean_error

V, EPSILON, N = 0.5, 1.0, 1000


def compute(run: Run) -> Reproduced:
    """Squares of 2 to 20 categories."""
    out = Reproduced()
    found: dict[str, list[float]] = {}
    sizes = (2, 5) if run.smoke else (2, 3, 5, 8, 10, 15, 20)
    for d in run.track(sizes):
        pi = dependent(d, V)
        out.row(d=d, method="RR-Ind-Joint, rounding only", MAE=rounded(pi, EPSILON, N))
        for name, trials in errors(run.rng, pi, EPSILON, N, run.trials).items():
            mean, error = mean_error(trials)
            found.setdefault(name, []).append(mean)
            out.row(d=d, method=name, MAE=mean)
            if d in (2, 5, 20):
                out.line(f"MAE of {name}, d = {d}", mean, error=error)
    raw, product = found["RR-Ind-Joint"], found["RR-Ind"]
    ends = f"d = {sizes[-1]} over d = {sizes[0]}"
    rises = all(a < b for a, b in pairwise(raw))
    out.says(f"RR-Ind-Joint's error rises with d: {ends}", raw[-1] / raw[0], holds=rises, slack=0.5 * raw[-1] / raw[0])
    falls = product[-1] < product[0]
    out.says(f"RR-Ind's error falls with d: {ends}", product[-1] / product[0], holds=falls, slack=0.02)
    return out


ITEM = Item(
    __name__,
    where="Figure 8, section 4.2",
    claim="The error of RR-Ind-Joint rises with the number of categories, that of RR-Ind falls.",
    compute=compute,
    draw=curves("d", "MAE", "method", log="y"),
    trials=100,
    smoke=20,
)

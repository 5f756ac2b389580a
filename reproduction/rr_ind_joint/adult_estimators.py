"""Adult, five estimators: the same reports of independently disguised attributes, epsilon 1 each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable import KRR, Kronecker, Observation, estimate
from reproduction.adult_counts import adult_counts
from reproduction.item import Item, Reproduced, Run
from reproduction.simulated_counts import disguised, each_mean, mean_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.choose_method import Method

TABLES = (("sex", "income"), ("education", "occupation"), ("sex", "income", "race", "education"))
# How, and how many nats of log-likelihood may be left to gain.
GAP = 1e-3
METHODS: dict[str, tuple[Method, float]] = {
    "raw": ("inversion", GAP),
    "Norm-Sub": ("norm_sub", GAP),
    "likelihood": ("mle", GAP),
    "likelihood, stopped 100 nats short": ("mle", 100.0),
    "product": ("product", GAP),
    "James-Stein": ("shrink", GAP),
}


STEP = 5e-5  # a usual rule: stop when an iteration moves less than this in total


def plain_em(channel: Kronecker, reports: NDArray[np.float64]) -> NDArray[np.float64]:
    """EM without acceleration or certificate, all surveys at once, each stopped by the size of its steps."""
    n = reports[..., 0].sum()
    axes = tuple(range(reports.ndim - 1))
    found = np.full(reports.shape, 1 / np.prod(reports.shape[:-1]))
    going = np.ones(reports.shape[-1], dtype=bool)
    while going.any():
        pi = found[..., going]
        moved = pi * channel.adjoint(reports[..., going] / channel.apply(pi)) / n
        found[..., going] = moved
        going[going] = np.abs(moved - pi).sum(axis=axes) >= STEP
    return found


def compute(run: Run) -> Reproduced:
    """Mean squared errors over the cells."""
    out = Reproduced()
    for attributes in run.track(run.some(TABLES, 1)):
        table = adult_counts(attributes)
        n = int(table.total)
        pi, name = table.values / n, " x ".join(attributes)
        channel = Kronecker([KRR(size, epsilon=1.0) for size in table.shape])
        reports = disguised(run.rng, channel, table.values.astype(np.int64), run.trials)
        found: dict[str, list[float]] = {method: [] for method in METHODS}
        for i in range(run.trials):
            observed = Observation(table.domain, channel, reports[..., i])
            for method, (how, gap) in METHODS.items():
                values = estimate(observed, attributes, how, gap=gap).values
                found[method].append(float(((values - pi) ** 2).mean()))
        stopped = plain_em(channel, reports)
        found["likelihood, plain EM until a step is below 5e-5"] = each_mean(stopped, pi, 2).tolist()
        exact = (channel.solve_squared(channel.apply(pi)) - pi) / n
        out.line(f"{name}: MSE, raw, closed form", exact.mean())
        for method, each in found.items():
            mean, error = mean_error(each)
            out.line(f"{name}: MSE, {method}", mean, error=error)
            out.row(table=name, method=method, MSE=mean)
    return out


ITEM = Item(
    __name__,
    where="section 4.3 (not in the paper)",
    claim="Which estimate of a joint table is nearest, given the same reports, is not asked in the paper.",
    why="Small tables: the joint estimates. Large ones: the product, or shrinkage; an EM stopped early shrinks too.",
    compute=compute,
    trials=60,
    smoke=10,
)

"""The variance heat maps: epsilon 1, n = 10,000, 200 yeses, no colluders and 500."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import paired_optimum
from reproduction.item import Item, Reproduced, Run
from reproduction.jrr.theorems import allowed, count_variance
from reproduction.plots import split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

N, YES, EPSILON = 10_000, 200, 1.0


def grid_best(colluders: int, steps: int) -> float:
    """The least variance on a grid of p and rho, as the paper searches."""
    p, rho = np.meshgrid(np.linspace(0.5, 0.8, steps + 1)[1:], np.linspace(-1, 1, steps))
    return float(count_variance(p, rho, N, YES)[allowed(p, rho, EPSILON, N, colluders)].min())


def compute(run: Run) -> Reproduced:
    """The optimum in closed form beside a grid search."""
    out = Reproduced()
    for colluders in run.track((0, 500, 1000, 2000)):
        best = paired_optimum(EPSILON, N, colluders, YES / N)
        out.line(f"m = {colluders}: best p", best.p)
        out.line(f"m = {colluders}: best rho", best.rho)
        out.line(f"m = {colluders}: variance", best.variance)
        out.line(f"m = {colluders}: over RR's", best.gain)
        out.line(f"m = {colluders}: corner over RR's", best.corner_variance / best.plain_variance)
        found = grid_best(colluders, 200 if run.smoke else 1000)
        out.says(
            f"m = {colluders}: nothing on a grid is better than the closed form: best of a grid over it",
            found / best.variance,
            holds=found >= best.variance * (1 - 1e-9),
            slack=0.05,
        )
        out.row(colluders=colluders, p=best.p, rho=best.rho, variance=best.variance, gain=best.gain)
    out.line("ratio at m = 0 by 1 - e^-eps (1 - 2f)^2", 1 - math.exp(-EPSILON) * (1 - 2 * YES / N) ** 2)
    return out


def draw(ax: Axes, _data: Mapping[str, Sequence[Any]]) -> None:
    """Both maps side by side."""
    for axes, colluders in zip(split(ax, 2), (0, 500), strict=True):
        paired_optimum(EPSILON, N, colluders, YES / N).plot(axes)


ITEM = Item(
    __name__,
    where="slides 36-37",
    claim="There is a best (p, rho) with a variance below RR's, and it moves with the number of colluders.",
    why="The optimum is the corner rho = -q / p, or rho = 0; nothing has to be searched.",
    compute=compute,
    draw=draw,
    size=(12.0, 4.5),
)

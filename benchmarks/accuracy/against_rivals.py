"""Every design and channel of ours and published rivals, over the fewest respondents that mathematics allows.

`make bench BENCH=accuracy` prints the table; `python -m benchmarks.accuracy.accuracy --write PAGE` draws it
too. Everything is at even shares, from closed forms (see `rivals`): what is below 1 would be an error, and what is 2
needs twice the respondents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.accuracy import rivals
from benchmarks.benchmark import text_table
from deniable import KRR, Domain, HadamardResponse, optimal_channel, optimal_mix
from deniable.datasets import adult, network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.optimal.channel_problem import Problem

EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0)
POINTS = 11
_FAR = 10.0  # what is beyond is drawn here
_PANELS = 7  # in a row
Row = dict[str, float]
Rows = Mapping[str, Callable[[float], Row]]


def scale(wanted: str, epsilon: float, t: int = POINTS) -> Row:
    """One ordered question: its distribution function, or its mean."""
    rows = np.tril(np.ones((t, t)))[:-1] if wanted == "cdf" else np.arange(float(t))[None]
    best = optimal_channel(rows, epsilon)
    losses = _of_scale(best.problem, epsilon)
    if wanted == "mean":
        losses |= {"Duchi": rivals.duchi(t, epsilon), "piecewise": rivals.piecewise(t, epsilon)}
    found = {name: loss / best.bound for name, loss in losses.items()}
    return {"ours: optimal": best.loss / best.bound, **found}


def _of_scale(problem: Problem, epsilon: float) -> Row:
    t = problem.answers
    return {
        "ours: k-RR": problem.loss(KRR(t, epsilon).matrix()),
        "ours: sets, block designs": rivals.alike(rivals.told_by_best_sets(t, epsilon), problem),
        "McKenna factorization": rivals.factorization(problem),
        "square wave": problem.loss(rivals.square_wave(t, epsilon)),
        "hierarchical": problem.loss(rivals.hierarchy(t, epsilon)),
        "OUE": rivals.alike(rivals.told_by_oue(t, epsilon), problem),
        "OLH": rivals.alike(rivals.told_by_olh(t, epsilon), problem),
        "Hadamard": problem.loss(HadamardResponse(t, epsilon).matrix()),
    }


def tables(domain: Domain, order: int, epsilon: float) -> Row:
    """All tables of so many attributes, of every person one, by one question each or by sharing the budget."""
    wanted = list(combinations(domain.names, order))
    mix = optimal_mix(domain, wanted, epsilon)
    best = mix.loss / mix.times
    squares = rivals.squares_of(domain, wanted)
    asked = rivals.asked_one(wanted)

    def by(told: Callable[[int, float], float]) -> float:
        return rivals.mixed(squares, asked, lambda names: told(rivals.cells_of(domain, names), epsilon))

    losses = {
        "ours: optimal": mix.loss,
        "ours: k-RR": by(rivals.told_by_krr),
        "ours: sets, block designs": by(rivals.told_by_best_sets),
        "CALM": rivals.calm(squares, domain, epsilon, order),
        "InpHT": rivals.input_hadamard(squares, domain, epsilon),
        "RRBA, split": rivals.split(squares, domain, epsilon, order),
        "RR-Ind-Joint": rivals.independent(squares, domain, epsilon),
        "RS+FD": rivals.random_sampling_fake_data(squares, domain, epsilon),
        "OUE": by(rivals.told_by_oue),
        "OLH": by(rivals.told_by_olh),
        "Hadamard": by(rivals.told_by_hadamard),
    }
    return {name: loss / best for name, loss in losses.items()}


def _network(name: str, order: int) -> Callable[[float], Row]:
    return lambda epsilon: tables(network(name).domain, order, epsilon)


YES_NO = Domain({f"x{i}": ["no", "yes"] for i in range(8)})
WORKLOADS: Rows = {
    "cdf, 11 points": lambda epsilon: scale("cdf", epsilon),
    "cdf, 64 points": lambda epsilon: scale("cdf", epsilon, 64),
    "mean, 11 points": lambda epsilon: scale("mean", epsilon),
    "shares of 8 yes/no": lambda epsilon: tables(YES_NO, 1, epsilon),
    "pairs of 8 yes/no": lambda epsilon: tables(YES_NO, 2, epsilon),
    "pairs, Survey": _network("survey", 2),
    "pairs, Child": _network("child", 2),
    "pairs, Alarm": _network("alarm", 2),
    "pairs, Adult": lambda epsilon: tables(adult()[1], 2, epsilon),
    "triples of 8 yes/no": lambda epsilon: tables(YES_NO, 3, epsilon),
    "triples, Survey": _network("survey", 3),
    "triples, Child": _network("child", 3),
    "triples, Alarm": _network("alarm", 3),
    "triples, Adult": lambda epsilon: tables(adult()[1], 3, epsilon),
}


def measured(workloads: Rows = WORKLOADS, epsilons: Sequence[float] = EPSILONS) -> dict[str, dict[float, Row]]:
    """All numbers: for every workload and epsilon, respondents over the fewest possible by mechanism."""
    return {name: {epsilon: make(epsilon) for epsilon in epsilons} for name, make in workloads.items()}


def table(found: Mapping[str, Mapping[float, Row]]) -> str:
    """A table for everything wanted: a line a mechanism, a column an epsilon; no line for what it does not tell."""
    return "\n\n".join(_table(wanted, by_epsilon) for wanted, by_epsilon in found.items())


def _table(wanted: str, by_epsilon: Mapping[float, Row]) -> str:
    names = [name for name, value in next(iter(by_epsilon.values())).items() if not np.isnan(value)]
    columns: dict[str, list[str]] = {wanted: names}
    for epsilon, row in by_epsilon.items():
        columns[f"epsilon {epsilon:g}"] = [f"{row[name]:.2f}" for name in names]
    return text_table(columns)


def draw(found: Mapping[str, Mapping[float, Row]], path: str, epsilon: float = 1.0) -> None:
    """Draw one epsilon: a panel a workload, a dot a mechanism, on a scale of factors."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for rows in found.values() for name in rows[epsilon]))
    across = min(len(found), _PANELS)
    down = -(-len(found) // across)
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "deniable"}):
        size = (3 + 1.6 * across, 4.4 * down)
        figure, grid = plt.subplots(down, across, sharey=True, squeeze=False, figsize=size, layout="constrained")
        for panel, (wanted, rows) in zip(grid.ravel(), found.items(), strict=False):
            values = np.minimum([rows[epsilon].get(name, np.nan) for name in names], _FAR)
            ours = [name.startswith("ours") for name in names]
            panel.scatter(values, range(len(names)), c=["#08519c" if one else "0.5" for one in ours])
            panel.axvline(1, color="black", linewidth=0.8)
            panel.set_xscale("log")
            panel.set_xlim(0.9, 1.1 * _FAR)
            panel.set_xticks([1, 2, 5, _FAR], ["1", "2", "5", f"{_FAR:g}+"])
            panel.minorticks_off()
            panel.set_title(wanted.replace(", ", ",\n"), fontsize="small")
        for panel in grid.ravel()[len(found) :]:
            panel.set_axis_off()
        grid[0, 0].set_yticks(range(len(names)), names)
        grid[0, 0].invert_yaxis()
        figure.supxlabel(f"respondents over the fewest possible, epsilon {epsilon:g}")
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)

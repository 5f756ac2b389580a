"""The stand-in for the paper's social network, and the error of every method on it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from deniable import Seeded
from deniable.graphs import Graph, laplace_global, laplace_local, laplace_smooth, randomize, resampled
from reproduction.simulated_counts import mean_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from reproduction.item import Run

NODES, EDGES = 185, 684
_NEW = 4  # friends that a newcomer makes
_JOINED = _NEW + EDGES // _NEW  # 175 people who know somebody; the others know nobody
_TRIANGLES = 0.9  # how often a newcomer's next friend is a friend of the last one


@cache
def social() -> Graph:
    """185 people and 684 friendships: newcomers choose whom many know, or a friend's friend (Holme & Kim 2002)."""
    rng = Seeded(5).stream().generator()
    friends: list[set[int]] = [set() for _ in range(NODES)]
    known = list(range(_NEW))  # everybody once for every friend, and the first few once more
    for newcomer in range(_NEW, _JOINED):
        last = newcomer
        while len(friends[newcomer]) < _NEW:
            near = sorted(friends[last] - friends[newcomer] - {newcomer})
            other = int(rng.choice(near)) if near and rng.random() < _TRIANGLES else int(rng.choice(known))
            if other in friends[newcomer]:
                continue
            friends[newcomer].add(other)
            friends[other].add(newcomer)
            known.append(other)
            last = other
        known += [newcomer] * _NEW
    return Graph([(i, j) for i in range(NODES) for j in sorted(friends[i]) if i < j], NODES)


def once(graph: Graph, what: str, epsilon: float, source: Source) -> dict[str, NDArray[np.float64]]:
    """Every method's numbers for all nodes, from one set of reports; the number of edges is public."""
    reports, noisy = (f(graph, epsilon, source=source) for f in (randomize, laplace_local))
    drawn = {
        "RR, resampled": resampled(reports, EDGES, source=source),
        "LM, resampled": resampled(noisy, EDGES, source=source),
    }
    if what == "degrees":
        return {
            **{name: made.degrees().astype(np.float64) for name, made in drawn.items()},
            "RR, unbiased": reports.degrees().unbiased,
            "RR, shrunk": reports.degrees("shrunk").values,
            "LM-global (central)": laplace_global(graph, epsilon, "degrees", source=source).values,
        }
    return {
        **{name: made.triangles().astype(np.float64) for name, made in drawn.items()},
        "RR, unbiased": reports.triangles().unbiased,
        "LM-smooth (central, delta 1e-6)": laplace_smooth(graph, epsilon, source=source).values,
        "LM-smooth as one number (no guarantee)": laplace_smooth(
            graph, epsilon, as_one_number=True, source=source
        ).values,
        "LM-global (central)": laplace_global(graph, epsilon, "triangles", source=source).values,
    }


def errors(run: Run, what: str, epsilon: float, graph: Graph | None = None) -> dict[str, tuple[float, float]]:
    """Mean absolute error a node by method, and its standard error over trials; on the first stand-in by default."""
    graph = graph or social()
    truth = graph.degrees() if what == "degrees" else graph.triangles()
    found: dict[str, list[float]] = {}
    for _ in range(run.trials):
        for name, values in once(graph, what, epsilon, run.source).items():
            found.setdefault(name, []).append(float(np.abs(values - truth).mean()))
    return {name: mean_error(each) for name, each in found.items()}

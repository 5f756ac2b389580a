"""Disguised graphs: time and memory of a large one, variances beside their closed forms, errors beside Laplace noise.

Absolute limits here are what the project promises for two cores: a minute and 4 GB to disguise 100,000 nodes and a
million edges at epsilon 4, ten seconds to estimate triangles among 2,000 nodes. Errors are per node, averaged over
nodes and repetitions, on a generated graph of 180 nodes and 684 edges.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.benchmark import Claim, Measurement, peak_memory
from deniable import Seeded
from deniable.graphs import (
    Graph,
    degree_variance,
    laplace_global,
    laplace_local,
    laplace_smooth,
    randomize,
    resampled,
    triangle_total_variance,
    triangle_variance,
)
from deniable.graphs.graph_files import clustered_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SECONDS, GIGABYTES, TRIANGLE_SECONDS, OFF = 60.0, 4.0, 10.0, 0.05


@dataclass(frozen=True)
class Size:
    """How much to measure: the defaults are what is promised, a test takes less."""

    nodes: int = 100_000
    edges: int = 1_000_000
    triangle_nodes: int = 2000
    repetitions: int = 2000
    error_repetitions: int = 100


def random_graph(nodes: int, edges: int) -> Graph:
    """A graph of uniformly drawn edges, seeded."""
    rng = Seeded(1).stream().generator()
    found = np.empty((0, 2), dtype=np.int64)
    while len(found) < edges:
        drawn = np.sort(rng.integers(0, nodes, (edges, 2)), axis=1)
        found = np.unique(np.vstack([found, drawn[drawn[:, 0] < drawn[:, 1]]]), axis=0)
    return Graph(rng.permutation(found)[:edges], nodes)


def example() -> Graph:
    """The graph that errors and variances are measured on."""
    return clustered_graph(180, 684, closing=0.98, source=Seeded(0))


def seconds_of(task: Callable[[], object]) -> float:
    """How long a task takes by the clock on the wall: threads of a matrix product count once."""
    start = perf_counter()
    task()
    return perf_counter() - start


def variance_ratios(graph: Graph, epsilon: float, repetitions: int) -> dict[str, tuple[float, float]]:
    """Squared errors over closed-form variances, averaged over nodes and repetitions, with the average's own error."""
    source = Seeded(2)
    truth = graph.degrees(), graph.triangles()
    squares = np.empty((repetitions, 4))
    for row in squares:
        noisy = randomize(graph, epsilon, source=source)
        degrees, triangles, s2 = noisy.degrees(), noisy.triangles(), noisy.noise
        row[0] = np.mean((degrees.values - truth[0]) ** 2) / degree_variance(len(graph), s2)
        row[1] = np.mean((triangles.values - truth[1]) ** 2 / triangle_variance(graph, s2))
        row[2] = (triangles.total.value - truth[1].sum() / 3) ** 2 / triangle_total_variance(graph, s2)
        row[3] = np.mean(triangles.std_error**2 / triangle_variance(graph, s2))
    names = ("degree", "triangles", "all triangles", "estimated variance of triangles")
    averages, errors = squares.mean(axis=0), squares.std(axis=0, ddof=1) / repetitions**0.5
    return {name: (float(averages[k]), float(errors[k])) for k, name in enumerate(names)}


def mean_errors(graph: Graph, epsilon: float, repetitions: int) -> dict[str, tuple[float, float]]:
    """Mean absolute error per node of degrees and triangles, by method."""
    source, edges = Seeded(3), len(graph.pairs)
    d, t = graph.degrees(), graph.triangles()
    nothing = np.full(len(graph), np.nan)
    found: dict[str, list[tuple[float, float]]] = {}

    def add(method: str, degrees: NDArray[Any], triangles: NDArray[Any]) -> None:
        found.setdefault(method, []).append((float(np.abs(degrees - d).mean()), float(np.abs(triangles - t).mean())))

    for _ in range(repetitions):
        noisy = randomize(graph, epsilon, source=source)
        add("unbiased", noisy.degrees().values, noisy.triangles().values)
        add("shrunk", noisy.degrees("shrunk").values, nothing)
        drawn = resampled(noisy, edges, source=source)
        add("resampled, edge count public", drawn.degrees(), drawn.triangles())
        drawn = resampled(laplace_local(graph, epsilon, source=source), edges, source=source)
        add("Laplace, local, resampled", drawn.degrees(), drawn.triangles())
        of_degrees = laplace_global(graph, epsilon, "degrees", source=source)
        add(
            "Laplace, global (curator)",
            of_degrees.values,
            laplace_global(graph, epsilon, "triangles", source=source).values,
        )
    for method, single in (("Laplace, smooth (curator)", False), ("the same, as one number: no guarantee", True)):
        released = laplace_smooth(graph, epsilon, as_one_number=single, source=source)
        found[method] = [(float("nan"), released.scale)]  # the mean absolute error of Laplace noise is its scale
    add("answering zero", 0 * d, 0 * t)
    return {method: (float(np.mean([e[0] for e in errors])), float(np.mean([e[1] for e in errors])))
            for method, errors in found.items()}  # fmt: skip


def measure_size(size: Size) -> Measurement:
    """Time and memory."""
    large, middle = random_graph(size.nodes, size.edges), random_graph(size.triangle_nodes, 10 * size.triangle_nodes)
    noisy = randomize(middle, 2.0)
    tasks: list[Callable[[], object]] = [lambda: randomize(large, 4.0), noisy.triangles]
    seconds, gigabytes = [seconds_of(task) for task in tasks], [peak_memory(task) / 1e9 for task in tasks]
    rows: dict[str, Sequence[object]] = {
        "what": [f"disguise {size.nodes} nodes, {size.edges} edges", f"triangles of {size.triangle_nodes} nodes"],
        "epsilon": [4.0, 2.0],
        "seconds": seconds,
        "peak GB": gigabytes,
    }
    claims = [
        Claim("seconds to disguise", seconds[0], SECONDS, "s", at_most=True),
        Claim("memory to disguise", gigabytes[0], GIGABYTES, "GB", at_most=True),
        Claim("seconds to estimate triangles", seconds[1], TRIANGLE_SECONDS, "s", at_most=True),
    ]
    return Measurement("Large graphs", rows, claims)


def measure_variances(size: Size) -> Measurement:
    """Monte Carlo variances beside the closed forms."""
    graph = example()
    found = {epsilon: variance_ratios(graph, epsilon, size.repetitions) for epsilon in (2.0, 4.0)}
    flat = [(epsilon, name, *both) for epsilon, ratios in found.items() for name, both in ratios.items()]
    columns = ("epsilon", "estimate", "Monte Carlo / closed form", "its std error")
    rows = {column: [row[place] for row in flat] for place, column in enumerate(columns)}
    # One number a repetition says too little about the total, and the floor lifts the estimated variances a little.
    judged = [ratios[name] for ratios in found.values() for name in ("degree", "triangles")]
    worst = max(abs(ratio - 1) for ratio, _ in judged)
    claim = Claim("largest |Monte Carlo / closed form - 1| per node", worst, OFF, "", at_most=True)
    errors = OFF / max(error for _, error in judged)
    note = f"{size.repetitions} repetitions: a right formula is off by so much only {errors:.1f} standard errors away."
    return Measurement(f"Variances, {len(graph)} nodes, {len(graph.pairs)} edges", rows, [claim], [note])


def measure_errors(size: Size) -> Measurement:
    """Mean absolute errors beside Laplace noise."""
    graph = example()
    errors = {epsilon: mean_errors(graph, epsilon, size.error_repetitions) for epsilon in (1.0, 2.0, 4.0)}
    rows: dict[str, list[object]] = {"method": list(errors[2.0])}
    for place, what in enumerate(("degree", "triangles")):
        for epsilon, found in errors.items():
            rows[f"{what}, eps {epsilon:g}"] = [both[place] for both in found.values()]
    ahead = errors[4.0]["resampled, edge count public"][1] / errors[4.0]["unbiased"][1]
    triangles = int(graph.triangles().sum()) // 3
    title = f"Mean absolute error per node, {len(graph)} nodes, {len(graph.pairs)} edges, {triangles} triangles"
    claim = Claim("triangles at epsilon 4, resampled / unbiased", ahead, 2.0)
    note = "The curator's rows protect one question each; all others protect every question asked of the same reports."
    return Measurement(title, rows, [claim], [note])


def main(size: Size | None = None) -> int:
    """Measure and print."""
    chosen = size or Size()
    return max(measure(chosen).show() for measure in (measure_size, measure_variances, measure_errors))


if __name__ == "__main__":
    sys.exit(main())

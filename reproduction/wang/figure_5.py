"""Figure 5: error of the degree sequence against epsilon."""

from __future__ import annotations

import numpy as np

from deniable.graphs import degree_variance, noise, randomize
from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.wang.network import NODES, errors, social


def compute(run: Run) -> Reproduced:
    """Mean absolute error a node."""
    out = Reproduced()
    graph = social()
    out.line("nodes", len(graph), 185)
    out.line("edges", len(graph.pairs), 684)
    out.line("mean degree", 2 * len(graph.pairs) / len(graph))
    for epsilon in run.track((2.0, 4.0) if run.smoke else (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)):
        found = errors(run, "degrees", epsilon)
        for name, (mean, error) in found.items():
            out.row(epsilon=epsilon, method=name, error=mean)
            if epsilon in (2.0, 4.0):
                out.line(f"{name}, epsilon {epsilon:g}", mean, error=error)
        rr, lm = found["RR, resampled"][0], found["LM, resampled"][0]
        out.says(f"RR beats LM, epsilon {epsilon:g}: error over error", rr / lm, holds=rr < lm, slack=0.1)
        central = found["LM-global (central)"][0]
        words = f"LM-global beats both, epsilon {epsilon:g}: its error over RR's"
        out.says(words, central / rr, holds=central < min(rr, lm), slack=0.1)
        s2 = noise(randomize(graph, epsilon).channel)
        expected = (2 / np.pi * degree_variance(NODES, s2)) ** 0.5
        if epsilon in (2.0, 4.0):
            out.line(f"RR, unbiased, epsilon {epsilon:g}: closed form (normal)", expected)
    return out


ITEM = Item(
    __name__,
    where="Figure 5",
    claim="RR's degree sequence is nearer than Laplace's; LM-global, which trusts the server, is nearer than both.",
    why="On a generated graph of the same size. Shrunk unbiased degrees beat the resampled graph.",
    compute=compute,
    draw=curves("epsilon", "error", "method", log="y"),
    trials=40,
    smoke=5,
)

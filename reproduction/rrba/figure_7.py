"""Figure 7: histograms of the distances behind Tables 5 and 6."""

from __future__ import annotations

import numpy as np

from reproduction.item import Item, Reproduced, Run
from reproduction.plots import histograms
from reproduction.rrba.distances import LAPLACE, distances
from reproduction.simulated_counts import spread_error

CASES = (("survey", 0.4, 0.35), ("survey", 0.5, 0.5), ("alarm", 0.5, 0.5))


def compute(run: Run) -> Reproduced:
    """One row a trial: the distances themselves."""
    out = Reproduced()
    for network, keep, epsilon in run.track(run.some(CASES, 1)):
        for k in (2,) if run.smoke else (2, 3, 4):
            found = distances(run, network, k, keep, epsilon)
            for reading in ("pooled", LAPLACE[0]):
                for value in found[reading][0]:
                    out.row(panel=f"{network} {k}-way, p = {keep:g}", reading=reading, l2=float(value))
                spread, error = spread_error(found[reading][0])
                out.line(f"{network} {k}-way, p = {keep:g}: standard deviation of l2, {reading}", spread, error=error)
            apart = np.median(found[LAPLACE[0]][0]) / np.median(found["pooled"][0])
            out.line(
                f"{network} {k}-way, p = {keep:g}: median of Laplace 2|T|/eps over RRBA's", apart, slack=0.3 * apart
            )
    return out


ITEM = Item(
    __name__,
    where="Figure 7",
    claim="The distributions of the distances separate more and more as tables grow.",
    why="The paper's figure has no numbers; the separation is that of the surplus |T| in the Laplace noise.",
    compute=compute,
    draw=histograms("l2", "reading", "panel"),
    trials=200,
    smoke=60,
    size=(10.0, 9.0),
)

"""Figure 4: epsilon against the probability of the truth, claimed and true."""

from __future__ import annotations

import math

from deniable import Mixture
from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves


def compute(_run: Run) -> Reproduced:
    """Fakes even over the cells: the most private T there is."""
    out = Reproduced()
    note = "the ratio of a report is 1 + p / ((1 - p) T[v]), not 1 / (1 - p)"
    for p in (0.009, 0.048, 0.095, 0.139, 0.221, 0.295, 0.393, 0.4, 0.5):
        claimed = math.log(1 / (1 - p))
        out.row(p=p, reading="claimed", epsilon=claimed)
        for cells in (4, 16, 36):
            true = Mixture(p, [1 / cells] * cells).epsilon
            out.row(p=p, reading=f"true, {cells} cells", epsilon=true)
            if p == 0.5:
                out.line(f"p = .5, {cells} cells: true epsilon", true, round(claimed, 4), tolerance=1e-3, note=note)
    for epsilon, allowed, used in ((0.25, 0.221, 0.5), (0.35, 0.295, 0.4), (0.5, 0.393, 0.5)):
        out.line(f"eq 6: p allowed at epsilon {epsilon:g}", 1 - math.exp(-epsilon), allowed, tolerance=5e-4)
        out.says(
            f"the tables keep eq 6 at epsilon {epsilon:g}: p used less p allowed",
            used - (1 - math.exp(-epsilon)),
            holds=used <= 1 - math.exp(-epsilon),
            note="the tables' own p exceeds what eq 6 allows",
        )
    return out


ITEM = Item(
    __name__,
    where="Figure 4, Theorem 4.1, eq 5, 6",
    claim="The protocol is epsilon-LDP with epsilon = ln(1 / (1 - p)), whatever the number of cells.",
    why="That is the ratio for T[v] = 1; a report's true epsilon grows with the cells, and is infinite where T[v] = 0.",
    compute=compute,
    draw=curves("p", "epsilon", "reading"),
)

"""Figure 5: respondents until blocks agree, p = .5."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.rrba.convergence import settled, trajectories

SHARES = (0.072, 0.116, 0.224, 0.356, 0.446, 0.524, 0.732)
SIZES = (18, 50, 150, 250)
KEEP = 0.5


def compute(run: Run) -> Reproduced:
    """The stopping rule with delta* as printed, and divided by p."""
    out = Reproduced()
    ever: dict[bool, list[float]] = {True: [], False: []}
    earlier: list[bool] = []
    for share in run.track(SHARES):
        path = trajectories(run.rng, [share] * len(SIZES), KEEP, SIZES, run.trials, projected=True)
        for corrected in (False, True):
            rule = "delta* / p" if corrected else "delta* as printed"
            waits = []
            for block, first in zip(SIZES, settled(path, KEEP, SIZES, corrected=corrected), strict=True):
                there = first[first >= 0]
                needed = float(there.mean() * block) if len(there) else np.nan
                ever[corrected].append(len(there) / run.trials)
                waits.append(needed)
                out.row(block=block, share=share, rule=rule, settled=ever[corrected][-1], respondents=needed)
            # Blocks of a size that never settles are left out, as they are in a plot.
            waits = [wait for wait in waits if not np.isnan(wait)]
            earlier += [before < after for before, after in pairwise(waits)]
    printed, right = float(np.mean(ever[False])), float(np.mean(ever[True]))
    note = "differences of block estimates vary by 1/p more than delta* allows for"
    out.says("with delta* as printed blocks settle: share of runs", printed, holds=printed > 0.5, slack=0.2, note=note)
    out.line("with delta* / p: share of runs that settle", right, slack=0.2)
    sooner = float(np.mean(earlier))
    words = "where blocks settle, smaller ones need fewer respondents: share of neighbouring sizes"
    out.says(words, sooner, holds=sooner > 0.9, slack=0.2)
    return out


ITEM = Item(
    __name__,
    where="Figure 5, section 7.2",
    claim="At p = .5 all shares converge, earlier with smaller blocks; a block as large as the table suffices.",
    why="Smaller blocks do settle earlier, where any do; but agreement of two noisy blocks is luck and no sign of "
    "accuracy: with blocks of 18 the standard error is .24.",
    compute=compute,
    draw=curves("block", "respondents", "share", panel="rule"),
    trials=200,
    smoke=40,
)

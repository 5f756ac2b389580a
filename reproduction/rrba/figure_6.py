"""Figure 6: runs that survive at small p."""

from __future__ import annotations

from itertools import product

import numpy as np

from reproduction.item import Item, Reproduced, Run
from reproduction.plots import curves
from reproduction.rrba.convergence import survives, trajectories

SHARES = (0.072, 0.116, 0.356, 0.446)
SIZES = (18, 50, 150, 250)
KEEPS = (0.009, 0.048, 0.095, 0.139, 0.221, 0.295)


def compute(run: Run) -> Reproduced:
    """Feed the raw estimate back as T (reading "unprojected"), and its projection."""
    out = Reproduced()
    alive: dict[tuple[float, float, int], float] = {}
    least = 1.0
    settings = list(product(SHARES, SIZES))
    shares, sizes = zip(*settings, strict=True)
    for keep in run.track(KEEPS):
        raw, kept = (
            survives(trajectories(run.rng, shares, keep, sizes, run.trials, projected=projected))
            for projected in (False, True)
        )
        least = min(least, float(kept.min())) if keep >= 0.095 else least
        for (share, block), surviving in zip(settings, raw.tolist(), strict=True):
            alive[keep, share, block] = surviving
            out.row(p=keep, share=share, block=block, surviving=surviving)

    def of(keep: float, blocks: tuple[int, ...], shares: tuple[float, ...] = SHARES) -> list[float]:
        return [alive[keep, share, block] for share in shares for block in blocks]

    small = max(max(of(keep, SIZES)) for keep in KEEPS[:3])
    out.says("p <= .095: no run converges: largest share surviving", small, holds=small < 0.05, slack=0.25)
    large = float(np.mean(of(0.139, (150, 250), SHARES[2:])))
    out.says(
        "p = .139: the larger shares converge with 150 and 250: share surviving", large, holds=large > 0.5, slack=0.25
    )
    few = max(of(0.221, (18, 50)))
    out.says("p = .221: none converges with 18 and 50: largest share surviving", few, holds=few < 0.1, slack=0.25)
    many = of(0.221, (150, 250))
    out.says(
        "p = .221: all converge with 150 and 250: least share surviving", min(many), holds=min(many) > 0.5, slack=0.25
    )
    out.line("p = .221: largest share surviving with 150 and 250", max(many), slack=0.25)
    few = max(of(0.295, (18, 50)))
    words = "p = .295: similarly none with 18 and 50: largest share surviving"
    out.says(words, few, holds=few < 0.1, slack=0.25, note="blocks of 50 last there, as one would expect of a larger p")
    many = of(0.295, (150, 250))
    words = "p = .295: similarly all with 150 and 250: least share surviving"
    out.says(words, min(many), holds=min(many) > 0.5, slack=0.25)
    out.line("with T projected, p from .095: least share surviving", least)
    return out


ITEM = Item(
    __name__,
    where="Figure 6, section 7.2",
    claim="Nothing converges at p <= .095, the larger shares with large blocks at .139, all with large blocks at .221; "
    "similarly at .295.",
    why="Nearly so if the unprojected estimate is fed back, which is unstable (at .139 few last); projected, all do.",
    compute=compute,
    draw=curves("block", "surviving", "share", panel="p"),
    trials=200,
    smoke=60,
    size=(9.0, 6.0),
)

"""Section 3.4: what epsilon the stated probabilities really give."""

from __future__ import annotations

import math

from deniable import KRR, Mixture
from reproduction.item import Item, Reproduced, Run


def compute(_run: Run) -> Reproduced:
    """The ratio of both readings of section 3.4."""
    out = Reproduced()
    for d in (2, 5, 10):
        keep = math.e / (math.e + d - 1)
        # "with probability 1 - p a randomly chosen value": over all d values, the truth gets some of that too.
        literal = Mixture(keep, [1 / d] * d).epsilon
        out.line(f"true epsilon, literal q, d = {d}", literal, 1.0, tolerance=1e-3)
        meant = KRR(d, epsilon=1.0).epsilon
        out.line(f"true epsilon, one of the d - 1 others, d = {d}", meant, 1.0, tolerance=1e-3)
        out.row(d=d, literal=literal, meant=meant)
    return out


ITEM = Item(
    __name__,
    where="section 3.4, Theorem 2",
    claim="To keep with p = e^eps / (e^eps + d - 1), else send a random value, is eps-LDP; m attributes cost m eps.",
    why="True when the random value is another one; drawn from all d values, as written, the ratio is larger.",
    compute=compute,
)

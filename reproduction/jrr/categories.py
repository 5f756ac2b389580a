"""More than two categories: a paired coin for every bit of a unary encoding."""

from __future__ import annotations

import math

from deniable import paired_optimum
from reproduction.item import Item, Reproduced, Run

N = 10_000


def compute(_run: Run) -> Reproduced:
    """Eight categories, one of them frequent."""
    out = Reproduced()
    for k, rare in ((8, 0.03), (4, 0.05)):
        shares = [1 - rare * (k - 1)] + [rare] * (k - 1)
        for epsilon in (0.5, 1.0, 2.0):
            best = paired_optimum(epsilon, N, 0, shares)
            approximate = 1 - math.exp(-epsilon / 2) * (1 - 2 * rare) ** 2
            out.line(f"k = {k}, f = {rare:g}, epsilon {epsilon:g}: ratio of a rare category, about", approximate)
            out.line(f"k = {k}, epsilon {epsilon:g}: ratio over all categories", best.gain)
            out.row(k=k, rare=rare, epsilon=epsilon, ratio=best.gain, rare_ratio=approximate)
    return out


ITEM = Item(
    __name__,
    where="not in the slides",
    claim="Only yes-or-no questions are treated.",
    compute=compute,
)

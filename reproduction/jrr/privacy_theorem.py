"""The privacy theorem, and who learns more than it says."""

from __future__ import annotations

import math

from deniable import Coins, paired_optimum
from reproduction.item import Item, Reproduced, Run


def compute(_run: Run) -> Reproduced:
    """The numbers of the privacy statement, where the slides give one."""
    out = Reproduced()
    one = Coins.of(0.7, -3 / 7).privacy(6, 1)
    out.line("n = 6, m = 1, corner: by enumeration", one.exact_epsilon or 0.0, one.claimed_epsilon, tolerance=1e-6)
    two = Coins.of(0.7, -3 / 7).privacy(6, 2)
    note = "colluders who both lied know that they are not each other's partners"
    out.line("n = 6, m = 2, corner: by enumeration", two.exact_epsilon or 0.0, 1.516, tolerance=1e-3, note=note)
    inner = Coins.of(0.7242, -0.19).privacy(10_000, 500)
    out.line("n = 10^4, m = 500, rho = -.19: claimed", inner.claimed_epsilon, 1.0, tolerance=1e-3)
    # The slides claim none of what follows: the theorem averages over the pairing, but everybody has one partner.
    out.line("the same, against the actual partner", inner.partner_epsilon)
    out.line("the same, against who knows the shared coin", inner.epsilon)
    corner = paired_optimum(1.0, 10_000, 500, 0.02).coins.privacy(10_000, 500)
    out.line("corner, m = 500: delta at the claimed epsilon, colluders", corner.partner_delta or 0.0)
    out.line("corner, m = 500: the same if they know the coin", corner.coin_delta or 0.0)
    for n in (1_000, 10_000):
        most = paired_optimum(0.1, n, 0, 0.0).coins.privacy(n).all_truths_epsilon(1e-6) or 0.0
        out.line(f"claimed .1, n = {n}: who knows all other truths, delta 1e-6", most)
    p, q = math.e / (1 + math.e), 1 / (1 + math.e)
    for what, rho in (("no correlation", 0.0), ("half of the corner", -q / p / 2)):
        both = math.log((p * p + rho * p * q) / (q * q + rho * p * q))
        out.line(f"one person, two items, epsilon 1 each, {what}: epsilon of the person", both)
    for line in out.lines:
        out.row(what=line.what, epsilon=line.ours, claimed=line.paper)
    return out


ITEM = Item(
    __name__,
    where="Privacy Theorem, slide 33",
    claim="Against m colluders of n it is private with epsilon = ln((m p_max + (n-m-1) p) / (m p_min + (n-m-1) q)).",
    why="An average over pairings that are settled before anybody answers: RR plus secrecy of the pairing, not LDP.",
    compute=compute,
)

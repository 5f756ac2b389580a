"""The slides' example: two people who would both say yes, p = .8."""

from __future__ import annotations

from reproduction.item import Item, Reproduced, Run
from reproduction.jrr.theorems import count_variance, joint_truthfulness

P = 0.8


def compute(_run: Run) -> Reproduced:
    """Joint distributions and variances, exactly."""
    out = Reproduced()
    for name, rho, cells, variance in (
        ("RR", 0.0, (0.04, 0.16, 0.64), 0.32),
        ("JRR", -0.25, (0.0, 0.2, 0.6), 0.24),
    ):
        (neither, one), (_, both) = joint_truthfulness(P, rho)
        for what, ours, paper in zip(("P(00)", "P(01)", "P(11)"), (neither, one, both), cells, strict=True):
            out.line(f"{name}: {what}", float(ours), paper, tolerance=1e-12)
        spread = count_variance(P, rho, 2, 2) * (2 * P - 1) ** 2
        out.line(f"{name}: variance of the number of yeses", spread, variance, tolerance=5e-3)
        out.row(method=name, variance=spread, printed=variance)
    note = "P(00) = q^2 + rho p q is negative below -q / p"
    out.line("least rho at p = .8", -(1 - P) / P, -1.0, tolerance=1e-9, note=note)
    return out


ITEM = Item(
    __name__,
    where="slides 14-22",
    claim="With p = .8 pairing lowers the variance of the number of yeses from .32 to .24; rho lies in [-1, 1].",
    why="The example is right; rho reaches down to -q / p only.",
    compute=compute,
)

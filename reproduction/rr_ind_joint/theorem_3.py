"""Theorem 3: how wrong the product of margins can be, given Cramer's V."""

from __future__ import annotations

import numpy as np

from reproduction.item import Item, Reproduced, Run
from reproduction.rr_ind_joint.synthetic import dependent
from reproduction.simulated_counts import cramers_v


def compute(run: Run) -> Reproduced:
    """Compare bounds with random tables."""
    out = Reproduced()
    worst_mse = worst_mae = sharp = 0.0
    for _ in run.track(range(run.trials)):
        d = int(run.rng.integers(2, 9))
        table = run.rng.dirichlet(np.full(d * d, float(run.rng.choice([0.05, 0.3, 1.0])))).reshape(d, d)
        v, apart = cramers_v(table), table - np.outer(table.sum(axis=1), table.sum(axis=0))
        if v < 1e-6:  # everybody in one row or column: nothing to compare
            continue
        worst_mse = max(worst_mse, float((apart**2).mean()) / (v**2 / d))
        worst_mae = max(worst_mae, float(np.abs(apart).mean()) / (v / d**0.5))
        sharp = max(sharp, float(np.abs(apart).mean()) / (v * (d - 1) ** 0.5 / d**2))
    out.says("MSE of RR-Ind is below V^2 / d: largest share of the bound", worst_mse, holds=worst_mse <= 1, slack=0.5)
    out.says("MAE of RR-Ind is below V / sqrt(d): largest share", worst_mae, holds=worst_mae <= 1, slack=0.5)
    out.line("MAE over our bound V sqrt(d - 1) / d^2: largest", sharp, slack=0.5)
    diagonal = np.eye(4) / 4
    reached = np.abs(diagonal - 1 / 16).mean() / (3**0.5 / 16)
    out.line("MAE over our bound, evenly spread diagonal, d = 4", reached)
    # The proof: V^2/d <= ... <= MSE, so it would give MSE >= V^2/d. One table shows that it cannot.
    table = dependent(10, 0.5)
    mse = float(((table - np.outer(table.sum(axis=1), table.sum(axis=0))) ** 2).mean())
    out.says(
        "The proof's inequalities point from V^2/d up to MSE: MSE over V^2/d for d = 10, V = .5",
        mse / (0.25 / 10),
        holds=mse >= 0.25 / 10,
        note="reversed: divisions by products of margins make terms larger, not smaller",
    )
    return out


ITEM = Item(
    __name__,
    where="Theorem 3",
    claim="The MSE of RR-Ind is less than V^2 / d, so its MAE is proportional to V / sqrt(d).",
    why="The statement holds without noise and is far from sharp; its proof has the inequalities the wrong way round.",
    compute=compute,
    trials=5_000,
    smoke=500,
)

"""Figures 9-12: age and sex in UCI Adult, disguised and recovered."""

from __future__ import annotations

import numpy as np

from deniable import Kronecker, Mixture
from reproduction.adult_counts import ages
from reproduction.item import Item, Reproduced, Run
from reproduction.plots import heat_maps
from reproduction.rr_ind_joint.synthetic import product
from reproduction.simulated_counts import disguised, each_mean, mean_error, ratio_error


def compute(run: Run) -> Reproduced:
    """One disguise for the pictures, many for the errors."""
    table = ages()
    n = int(table.total)
    pi = table.values / n
    channel = Kronecker([Mixture(0.5, [1 / size] * size) for size in pi.shape])
    reports = disguised(run.rng, channel, table.values.astype(np.int64), run.trials) / n
    raw = channel.solve(reports)
    maps = {
        "9: truth": pi,
        "10: reports": reports[..., 0],
        "11: RR-Ind": product(raw)[..., 0],
        "12: RR-Ind-Joint": raw[..., 0],
    }
    out = Reproduced()
    for name, values in maps.items():
        for a, age in enumerate(table.domain["age"].categories):
            for s, sex in enumerate(table.domain["sex"].categories):
                out.row(map=name, age=age, sex=sex, share=float(values[a, s]))
    joint, ind = each_mean(raw, pi, 1), each_mean(product(raw), pi, 1)
    for name, each in (("RR-Ind", ind), ("RR-Ind-Joint", joint), ("the reports", each_mean(reports, pi, 1))):
        mean, error = mean_error(each)
        out.line(f"MAE of {name}", mean, error=error)
    ratio, error = ratio_error(joint, ind)
    out.says("RR-Ind-Joint is nearer than RR-Ind: MAE over MAE", ratio, holds=ratio < 1, error=error)
    return out


ITEM = Item(
    __name__,
    where="Figures 9, 10, 11, 12",
    claim="The estimate of age (five bins) by sex is close to the original distribution.",
    compute=compute,
    draw=heat_maps("share", "map", "age", "sex"),
    trials=400,
    smoke=50,
)

"""The people of all snapshots: 1,200 whose answers are laid out, so that nothing but a disguise draws."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import deniable as dn
from every_design import answered, every_design

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
# How many of each: z by a by b by c.
TIMES = np.array([5, 3, 2, 1, 4, 2, 3, 6, 1, 2, 4, 5, 2, 1, 4, 2, 3, 5, 1, 3, 2, 6, 4, 9]) * 15
N = int(TIMES.sum())


def people():
    """a, b and c, and what travels in clear: z, a weight, a cluster that leans as c does, and its region."""
    cell = np.repeat(np.arange(TIMES.size), TIMES)[np.arange(N) * 7 % N]
    z, a, b, c = np.unravel_index(cell, (2, *DOMAIN.shape))
    at = np.arange(N)
    cluster = np.where(at // 24 % 2, at % 24, 12 * c + at % 12)
    words = np.array(["no", "yes"])
    public = {"z": z, "weight": 1 + at % 3, "cluster": cluster, "region": cluster // 12}
    return pd.DataFrame({"a": words[a], "b": b, "c": words[c], **public})


DESIGNS = every_design(DOMAIN, N, block_size=400)


def file_name(design):
    """A design's name as a file's."""
    return design.replace(",", "").replace(" ", "-").replace("_", "-")


@cache
def reports_of(name):
    """Everybody's reports to a design, drawn from a seed."""
    design = DESIGNS[name]
    return design.randomize(answered(people(), design), keep=["z", "weight", "cluster", "region"], source=dn.Seeded(5))

"""Few reports, many cells: shrink the joint table towards the product of its marginals.

The product is wrong by the dependence it ignores, the unbiased table by its noise. James and Stein's positive-part rule
weighs the two by what the data shows: with D = unbiased - product and V the sum of the unbiased cells' variances,

    weight = max(0, 1 - V / sum(D^2)),     shrunk = product + weight D.

When the distance D is no larger than noise alone would make it, the product is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.core.table import Table, product
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Shrunk:
    """A shrunk table and the weight the unbiased one kept in it (0 = product of marginals, 1 = unbiased)."""

    table: Table
    weight: float


def shrink(unbiased: Table, total_variance: float, marginals: Sequence[Table]) -> Shrunk:
    """Shrink an unbiased table to the product of the given one-way tables, and project to the simplex."""
    target = product([Table(m.domain, norm_sub(m.values)) for m in marginals]).project(unbiased.attributes)
    distance = unbiased - target
    squared = float((distance.values**2).sum())
    weight = max(0.0, 1 - total_variance / squared) if squared > 0 else 0.0
    return Shrunk(Table(unbiased.domain, norm_sub((target + distance * weight).values), unbiased.backend), weight)

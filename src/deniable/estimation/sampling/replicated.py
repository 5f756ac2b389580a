"""Replicated: weights with which everything is estimated again, and how far each estimate counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import Frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SAME = 1e-10  # squared: how near a replicate lies to a combination of others to be one


@dataclass(frozen=True, eq=False)
class Replicated(Frozen):
    """Replicate weights: (respondents, replicates), and how far each replicate counts."""

    weights: Array
    each: Array  # scale x r_r

    def rank(self, rows: NDArray[np.bool_]) -> int:
        """How many replicates of some respondents are linearly independent: R's survey package takes one less as df.

        Two hundred bootstrap replicates of eight clusters in four strata still know no more than those clusters.
        """
        w = self.weights[rows]
        size = np.sqrt((w**2).sum(axis=0))
        unit = w[:, size > 0] / size[size > 0]
        return int((np.linalg.eigvalsh(unit.T @ unit) > _SAME * unit.shape[1]).sum())

    def covariance(self, estimates: Array) -> Array:
        """The covariance of estimates that were made with each of the weights: a row a replicate."""
        away = estimates - estimates.mean(axis=0)
        return np.asarray((away * self.each[:, None]).T @ away)

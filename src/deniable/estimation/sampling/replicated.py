"""Replicated: weights with which everything is estimated again, and how far each estimate counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import Frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Replicated(Frozen):
    """Replicate weights: (respondents, replicates), and how far each replicate counts."""

    weights: Array
    each: Array  # scale x r_r

    def covariance(self, estimates: Array) -> Array:
        """The covariance of estimates that were made with each of the weights: a row a replicate."""
        away = estimates - estimates.mean(axis=0)
        return np.asarray((away * self.each[:, None]).T @ away)

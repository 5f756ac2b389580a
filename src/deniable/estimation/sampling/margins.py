"""Margins: what is known of the population beforehand, and weights that agree with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import ConvergenceError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_MISFIT = 1e-10  # of a known total: how far the raked one may be off
_ROUNDS = 2000


@dataclass(frozen=True, eq=False)
class Margins(Frozen):
    """Known totals of the population, and which of them every respondent belongs to.

    Attributes:
        cell: each respondent's combination of the values that totals are known of, numbered from 0.
        member: (cells, totals), one where a cell is part of a total, else zero.
        totals: the known totals.
        parts: how many of the totals belong to each margin, one margin after the other.
        names: what the margins are of, in words.
    """

    cell: NDArray[np.int64]
    member: Array
    totals: Array
    parts: tuple[int, ...]
    names: tuple[str, ...]

    def factors(self, weights: Array) -> Array:
        """What the weights of each cell are multiplied with, for weights of the cells (cells, replicates).

        Iterative proportional fitting (Deming & Stephan 1940): each margin is met in turn, until all are.
        """
        out = np.ones_like(weights)
        places = np.cumsum([0, *self.parts]).tolist()
        for _ in range(_ROUNDS):
            worst = 0.0
            for first, last in pairwise(places):
                mine, wanted = self.member[:, first:last], self.totals[first:last, None]
                have = mine.T @ (weights * out)
                ratio = np.divide(wanted, have, out=np.ones_like(have), where=have > 0)
                worst = max(worst, float(np.abs(np.where(have > 0, ratio - 1, 0.0)).max()))
                out = out * (mine @ ratio)
            if worst < _MISFIT:
                return out
        raise ConvergenceError(
            f"the margins of {' and '.join(self.names)} cannot all be met: after {_ROUNDS} rounds one is still "
            f"{worst:.2g} of itself away. Some combinations of their values have no respondents; join categories, or "
            f"use fewer margins",
            misfit=worst,
        )

    @cached_property
    def _spanned(self) -> Array:
        """An orthonormal basis of what is known, over the totals: margins share their sum."""
        gram = self.member.T @ self.member
        values, vectors = np.linalg.eigh(gram)
        return readonly(vectors[:, values > 1e-9 * values[-1]])

    def explained(self, weights: Array, sums: Array) -> Array:
        """The part of linear variables that known totals leave no variance to: (cells, variables).

        Args:
            weights: the weight of every cell.
            sums: the weighted sums of the variables in every cell.
        """
        x = self.member @ self._spanned
        slopes = np.linalg.lstsq(x.T @ (x * weights[:, None]), x.T @ sums, rcond=None)[0]
        return np.asarray(x @ slopes)

"""Intervals of measures that cannot be negative, by inverting a test: phi^2, Cramer's V, mutual information.

Next to zero such a measure is a square, and value -+ z errors does not cover: noise alone makes it positive. Let u be
the estimated table, P the product of its margins and D its residual, scaled so that phi(P + t D) = t. If the truth were
P + t D, estimates would be P + t D + e, e normal with the estimate's covariance, and their phi^2, drawn a thousand
times, shows whether that of u is among them. The interval holds every t for which it is neither among the alpha / 2
smallest nor among the alpha / 2 largest, and its ends are the measure at these. Where there is no association to be
seen it begins at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen, readonly
from deniable.inference.profile import evidence_of
from deniable.inference.reference import generator_of
from deniable.tables.simplex import norm_sub, norm_sub_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.estimation.estimate import Estimate

    Array = NDArray[np.float64]

MOST_CELLS = 1024  # of a table whose covariance is written out
_DRAWS = 999
_HALVINGS = 16  # of a bracket
_RAREST = 0.01  # of an even share: no margin is taken to be smaller


@dataclass(frozen=True, eq=False)
class Inverted(Frozen):
    """The interval of a measure of a two-way estimate.

    Attributes:
        estimate: the table.
        measure: of a table without negative cells.
    """

    estimate: Estimate
    measure: Callable[[Array], np.inexact[Any]]

    @cached_property
    def _line(self) -> tuple[Array, Array]:
        """P, and D with phi = 1."""
        table = self.estimate.efficient.values
        rows, columns = (_margin(table.sum(axis=1 - axis)) for axis in (0, 1))
        product = np.outer(rows, columns)
        d = table - np.outer(table.sum(axis=1), table.sum(axis=0))
        d = d - d.mean(axis=0) - d.mean(axis=1, keepdims=True) + d.mean()
        size = float(np.sqrt((d**2 / product).sum()))
        return readonly(product), readonly(d / size if size > 0 else d)

    @cached_property
    def _noise(self) -> Array:
        """e, (cells, draws): as many as replicates of a test, and half of them the others turned round."""
        covariance = self.estimate.covariance.matrix()
        values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        half = generator_of([evidence_of(self.estimate)], None).standard_normal((len(root), _DRAWS // 2 + 1))
        # A survey's few clusters leave the covariance itself uncertain: as much wider as Student's law is.
        wider = critical_value(0.05, self.estimate.covariance.df) / critical_value(0.05)
        e = wider * (root @ np.concatenate([half, -half], axis=1))
        return readonly(e.reshape(*self.estimate.efficient.values.shape, -1))

    def at(self, t: float) -> float:
        """The measure where phi is t; a table that cannot be is brought to the nearest that can."""
        if not t:
            return 0.0
        product, d = self._line
        table = product + t * d
        return float(np.real(self.measure(table if (table >= 0).all() else norm_sub(table))))

    def _beyond(self, t: float) -> tuple[float, float]:
        """How many estimates drawn at t have a phi^2 that reaches the observed one; how many do not exceed it."""
        product, d = self._line
        drawn = squares((product + t * d)[..., None] + self._noise)
        return float((drawn >= self._seen).mean()), float((drawn <= self._seen).mean())

    @cached_property
    def _seen(self) -> float:
        return float(squares(self.estimate.efficient.values[..., None])[0])

    def __call__(self, level: float) -> tuple[float, float]:
        """The ends of the interval."""
        low, high = self.of_phi(level)
        return self.at(low), self.at(high)

    def of_phi(self, level: float) -> tuple[float, float]:
        """The least and the largest t, whatever the measure."""
        alpha = (1 - level) / 2
        most = float(np.sqrt(min(self.estimate.values.shape) - 1))  # phi of the strongest association there is
        low = self._edge(lambda t: self._beyond(t)[0] > alpha, most)
        high = self._edge(lambda t: self._beyond(t)[1] <= alpha, most)
        return low, high

    @staticmethod
    def _edge(there: Callable[[float], bool], most: float) -> float:
        """The least t at which something is true; it stays true beyond."""
        if there(0.0):
            return 0.0
        low, high = 0.0, most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if there(middle) else (middle, high)
        return (low + high) / 2


def squares(tables: Array) -> Array:
    """phi^2 of tables with a last axis of replicates; of the nearest possible one where a margin is not above zero."""
    wrong = np.minimum(tables.sum(axis=1).min(axis=0), tables.sum(axis=0).min(axis=0)) <= 0
    if wrong.any():
        tables = tables.copy()
        flat = tables[..., wrong].reshape(-1, int(wrong.sum()))
        tables[..., wrong] = norm_sub_rows(flat.T).T.reshape(*tables.shape[:-1], -1)
    expected = tables.sum(axis=1)[:, None] * tables.sum(axis=0)[None]
    parts = np.divide(tables**2, expected, out=np.zeros_like(tables), where=np.abs(expected) > 0)
    return parts.sum(axis=(0, 1)) - tables.sum(axis=(0, 1))


def _margin(shares: Array) -> Array:
    share = np.maximum(norm_sub(shares), _RAREST / len(shares))
    return share / share.sum()

"""Group: reports of one kind, seen from the table that is fitted: a marginalisation, then what they say.

Fold: sums over some axes of a table, fast also where the table has many short ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.table import spread
from deniable.frozen import Frozen, readonly
from deniable.likelihood.report_likelihoods import Counted, Moments, Said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.core.domain import Domain

    Array = NDArray[np.float64]


class Fold:
    """Sums over all axes of a table but some, neighbouring axes taken together: NumPy is slow on many short ones."""

    def __init__(self, domain: Domain, kept: Iterable[str]) -> None:
        wanted = set(kept)
        runs = [
            (inside, prod(len(domain[name]) for name in names))
            for inside, names in groupby(domain, key=wanted.__contains__)
        ]
        self.shape = tuple(size for _, size in runs)
        # The longest first: what is left to sum is then as little as can be.
        others = [axis for axis, (inside, _) in enumerate(runs) if not inside]
        self._others = sorted(others, key=lambda axis: -self.shape[axis])
        self.spread = tuple(size if inside else 1 for inside, size in runs)

    def down(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum; what is summed over stays an axis of length 1, so that the result multiplies a folded table."""
        shape = [*self.shape, values.shape[-1]]
        for axis in self._others:
            left, right = prod(shape[:axis]), prod(shape[axis + 1 :])
            values = np.einsum("ldr->lr", values.reshape(left, shape[axis], right))
            shape[axis] = 1
        return values.reshape(shape)


@dataclass(frozen=True, eq=False)
class Group(Frozen):
    """What some reports say, and the table it is said of. Tables are flat here: (cells, replicates)."""

    said: Said
    domain: Domain

    @cached_property
    def _same(self) -> bool:
        return self.said.part.names == self.domain.names

    @cached_property
    def cell(self) -> NDArray[np.int64]:
        """For every cell of the table, the cell of the reports' own attributes that it belongs to."""
        own = np.arange(self.said.part.cells, dtype=np.float64).reshape(self.said.part.shape)
        there = np.broadcast_to(spread(own, self.said.part, self.domain), self.domain.shape)
        return readonly(there.ravel().astype(np.int64))

    @property
    def counts(self) -> Array:
        """How often each report came; only of what has a likelihood."""
        assert not isinstance(self.said, Moments)
        return self.said.counts

    @cached_property
    def _fold(self) -> tuple[Fold, tuple[int, ...], tuple[int, ...]]:
        """The sum, the shape it leaves, and how to bring the axes into the reports' own order."""
        axes = self.domain.axes(self.said.part)
        kept = tuple(size for axis, size in enumerate(self.domain.shape) if axis in axes)
        return Fold(self.domain, self.said.part), kept, (*np.argsort(np.argsort(axes)).tolist(), len(axes))

    def down(self, pi: Array) -> Array:
        """Sum tables down to the reports' own attributes."""
        if self._same:
            return pi
        fold, kept, order = self._fold
        return fold.down(pi).reshape(*kept, -1).transpose(order).reshape(self.said.part.cells, -1)

    def up(self, own: Array) -> Array:
        """The transpose of `down`."""
        return own if self._same else own[self.cell]

    def forward(self, pi: Array) -> Array:
        """Probabilities of the reports."""
        assert not isinstance(self.said, Moments)
        return self.said.apply(self.down(pi))

    def backward(self, y: Array) -> Array:
        """The transpose of `forward`."""
        assert not isinstance(self.said, Moments)
        return self.up(self.said.adjoint(y))

    def again(self, pi: Array, rng: np.random.Generator, replicates: int) -> Array:
        """Counts of reports drawn anew, from one table or from one a replicate; only of what can be counted."""
        assert isinstance(self.said, Counted)
        return self.said.again(self.down(pi), rng, replicates)

    def rows(self, reports: NDArray[np.int64]) -> Array:
        """Pr(report | cell) over the cells of the table, a row for each of some reports, given by their places."""
        assert not isinstance(self.said, Moments)
        own = self.said.rows(reports)
        return own if self._same else own[:, self.cell]

    def information(self, pi: Array) -> Array:
        """Fisher information at one table, (cells, cells)."""
        own = self.said.information(self.down(pi[:, None])[:, 0])
        return own if self._same else own[self.cell[:, None], self.cell]

    def information_times(self, pi: Array, w: Array) -> Array:
        """The same times vectors (cells, any), never written out."""
        if isinstance(self.said, Moments):
            return self.up(self.said.precision @ self.down(w))
        lam, moved = self.forward(pi[:, None]), self.forward(w)
        expected = self.said.counts.sum() if self.said.how == "counted" else self.said.counts[:, None] / lam
        return self.backward(np.divide(expected * moved, lam, out=np.zeros_like(moved), where=lam > 0))

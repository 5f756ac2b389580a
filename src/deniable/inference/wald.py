"""Wald's test with its reference drawn from the null: for reports that are sets, whose counts have no likelihood.

A hypothesis is a number of residuals that are zero under it: for independence d_ij = pi_ij - pi_i pi_j, the last row
and column left out, within each cell of what is given. With u the unbiased table, J the residuals' derivatives and V
the covariance of u, both at the null table that u itself suggests,

    W = d(u)' (J V J')^-1 d(u).

Sets of any size (unary encoding, hashing) have an unbiased table that need not sum to one. What it misses is spread
evenly over the cells first: otherwise the cell that residuals leave out would carry it, and the test would depend on
which cell that is.

For many reports W follows chi-square. Noise may however be as large as cells, so W is compared with what it is when
reports are drawn anew from the null table (parametric bootstrap); every replicate has a null table and a V of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.errors import InvalidTestError
from deniable.estimation.fit.models import Independence
from deniable.estimation.inversion import covering
from deniable.inference.bootstrap import p_value
from deniable.tables.marginals import summed
from deniable.tables.simplex import norm_sub
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.domain import Domain
    from deniable.estimation.dispersion import Sample

_TINY = 1e-30  # the imaginary step of a derivative: nothing is subtracted, so it can be as small as one likes
_FLOOR = 0.1  # no cell of a null table is below this part of a standard error: an empty layer has no covariance
_SINGULAR = 1e-9  # smallest eigenvalue of a correlation matrix that can be divided by
_MOST_CELLS = 1024
_AT_ONCE = 1 << 21  # numbers that are worked on together


class Hypothesis(Protocol):
    """What is tested. Tables carry a last axis of replicates."""

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is zero under the hypothesis, (residuals, replicates)."""
        ...

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """A table of the hypothesis that is asymptotically as near as any; no cell is below the floor."""
        ...


@dataclass(frozen=True)
class Given:
    """The table is `expected`."""

    expected: NDArray[np.float64]

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its cells but the last, less the expected ones."""
        apart = table - self.expected[..., None]
        return apart.reshape(-1, table.shape[-1])[:-1]

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:  # noqa: ARG002 - it is given
        """The expected table."""
        return np.repeat(self.expected[..., None], table.shape[-1], axis=-1)


@dataclass(frozen=True)
class Independent:
    """The axes a and b are independent within each cell of the axes `given`."""

    a: int
    b: int
    given: tuple[int, ...] = ()

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """pi_ijc pi_c - pi_ic pi_jc, i and j but the last. Without `given`, pi_c is one."""
        order = (*self.given, self.a, self.b)
        others = tuple(axis for axis in range(table.ndim - 1) if axis not in order)
        kept = [axis for axis in range(table.ndim - 1) if axis in order]
        moved = np.transpose(table.sum(axis=others), [*(kept.index(axis) for axis in order), len(kept)])
        cells = moved.reshape(-1, *moved.shape[-3:])
        rows, columns = cells.sum(axis=2, keepdims=True), cells.sum(axis=1, keepdims=True)
        total = cells.sum(axis=(1, 2), keepdims=True) if self.given else 1.0
        d = cells * total - rows * columns
        return d[:, :-1, :-1].reshape(-1, table.shape[-1])

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """The product of the margins of the table's projection to the simplex, no margin empty."""
        return Independence(self.a, self.b, self.given).maximize(_possible(table, floor))


@dataclass(frozen=True)
class Same:
    """The table, summed down to the axes `kept`, is the same in all groups, which are its first axis."""

    kept: tuple[int, ...]

    def _margin(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        others = tuple(axis for axis in range(1, table.ndim - 1) if axis - 1 not in self.kept)
        return table.sum(axis=others, keepdims=True)

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Every group's margin but the last cell, less the first group's."""
        groups = self._margin(table).reshape(len(table), -1, table.shape[-1])[:, :-1]
        return (groups[1:] - groups[:1]).reshape(-1, table.shape[-1])

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """Each group's own table, with the groups' mean for its margin."""
        possible = np.stack([_possible(group, floor) for group in table])
        margin = self._margin(possible)
        return possible * margin.mean(axis=0) / margin


@dataclass(frozen=True)
class InEach:
    """A hypothesis that holds in each of several groups, which are the table's first axis."""

    inner: Hypothesis

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those of every group."""
        return np.concatenate([self.inner.residuals(group) for group in table])

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """That of every group."""
        return np.stack([self.inner.null(group, floor) for group in table])


def _possible(table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The projection to the simplex, no cell below the floor."""
    flat = table.reshape(-1, table.shape[-1])
    near = np.maximum(np.stack([norm_sub(column) for column in flat.T], axis=1), floor)
    return (near / near.sum(axis=0)).reshape(table.shape)


@dataclass(frozen=True, eq=False)
class BootstrapWald:
    """A hypothesis about one table, or about one table in several groups of respondents.

    `groups` holds the observations of each group; all speak of the same attributes.
    """

    groups: Sequence[Sequence[Observation]]
    hypothesis: Hypothesis
    grouped: bool = False  # whether the hypothesis sees the groups as the table's first axis

    def __post_init__(self) -> None:
        cells = self.groups[0][0].domain.cells
        if cells > _MOST_CELLS:
            raise InvalidTestError(
                f"a table of {cells} cells is too large for this test (at most {_MOST_CELLS}). Bring rare categories "
                f"together",
                cells=cells,
            )
        spoken = {frozenset(o.domain) for group in self.groups for o in group}
        if len(spoken) > 1:
            named = sorted(" * ".join(sorted(names)) for names in spoken)
            raise InvalidTestError(
                f"these reports are sets about different attributes ({listed(named)}), and cannot be pooled for a "
                f"test. Test the reports of each question apart",
                alternative="one question",
            )

    @cached_property
    def domain(self) -> Domain:
        """What all observations speak of."""
        return self.groups[0][0].domain

    @cached_property
    def samples(self) -> list[list[Sample]]:
        """The observations of each group and their weights."""
        return [covering(list(group), self.domain) for group in self.groups]

    def _tables(self, counts: Sequence[Sequence[NDArray[np.float64]]]) -> NDArray[np.float64]:
        """The unbiased table of every group, made to sum to one, last axis of replicates."""
        tables = []
        for samples, drawn in zip(self.samples, counts, strict=True):
            parts = [
                sample.weight
                * summed(
                    sample.observation.truth_shape(sample.observation.channel.solve(y / sample.observation.n)),
                    sample.observation.domain,
                    self.domain,
                )
                for sample, y in zip(samples, drawn, strict=True)
            ]
            table = np.sum(parts, axis=0)
            tables.append(table - (table.sum(axis=tuple(range(table.ndim - 1))) - 1) / self.domain.cells)
        return np.stack(tables)

    def _covariance(self, samples: Sequence[Sample], table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of a group's table, if the truth were the given one: (replicates, cells, cells)."""
        whole = np.zeros(())
        for sample in samples:
            o = sample.observation
            own = summed(table, self.domain, o.domain).reshape(o.channel.inputs, -1)
            shares = o.channel.apply(own.reshape(*o.channel.input_shape, -1))
            second = o.channel.second_moments(shares) - own.T[:, :, None] * own.T[:, None, :]
            order = np.transpose(np.arange(self.domain.cells).reshape(self.domain.shape), self.domain.axes(o.domain))
            place = np.argsort(order.ravel())
            whole = whole + sample.weight**2 * second[:, place][:, :, place] / (o.n - 1)
        whole = whole - whole.mean(axis=1, keepdims=True)
        return whole - whole.mean(axis=2, keepdims=True)

    @cached_property
    def _floor(self) -> float:
        """A small part of the standard error of a cell at even shares, and of an even cell."""
        even = np.full((*self.domain.shape, 1), 1 / self.domain.cells)
        errors = [np.sqrt(np.diagonal(self._covariance(samples, even)[0]).mean()) for samples in self.samples]
        return _FLOOR * min(*errors, 1 / self.domain.cells)

    def _spread(self, null: NDArray[np.float64]) -> NDArray[np.float64]:
        """J V J' at null tables, one for each group: (replicates, residuals, residuals)."""
        total = np.zeros(())
        for group, samples in enumerate(self.samples):
            covariance = np.moveaxis(self._covariance(samples, null[group]), 0, 1)
            half = self._along(null, group, covariance)  # J V, a column of V at a time: (residuals, replicates, cells)
            total = total + self._along(null, group, half.transpose(2, 1, 0))
        return np.moveaxis(total, 0, 1)

    def _along(self, null: NDArray[np.float64], group: int, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of the residuals when a group's table moves: directions (cells, replicates, some) each."""
        _, replicates, some = directions.shape
        moved: NDArray[Any] = np.repeat(null, some, axis=-1).astype(np.complex128)
        moved[group] += 1j * _TINY * directions.reshape(*null.shape[1:-1], replicates * some)
        found = self.hypothesis.residuals(moved if self.grouped else moved[0])
        return (found.imag / _TINY).reshape(-1, replicates, some)

    def statistic(
        self, counts: Sequence[Sequence[NDArray[np.float64]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """W of every replicate, and the null tables, one for each group."""
        tables = self._tables(counts)
        seen = tables if self.grouped else tables[0]
        null = self.hypothesis.null(seen, self._floor)
        each = null if self.grouped else null[None]
        d = self.hypothesis.residuals(seen)
        if np.ptp(each, axis=-1).max() == 0:  # one null table for all replicates
            return _quadratic(d, self._spread(each[..., :1])), each
        block = max(1, _AT_ONCE // (len(self.groups) * self.domain.cells**2))
        parts = [
            _quadratic(d[:, start : start + block], self._spread(each[..., start : start + block]))
            for start in range(0, d.shape[-1], block)
        ]
        return np.concatenate(parts), each

    def again(
        self, null: NDArray[np.float64], rng: np.random.Generator, replicates: int
    ) -> list[list[NDArray[np.float64]]]:
        """Counts drawn from the null tables: all from one, or one from each."""
        drawn = []
        for samples, table in zip(self.samples, null, strict=True):
            mine = []
            for sample in samples:
                o = sample.observation
                own = summed(table, self.domain, o.domain).reshape(*o.channel.input_shape, -1)
                mine.append(o.channel.draw(own, o.n, rng, replicates))
            drawn.append(mine)
        return drawn

    @property
    def df(self) -> int:
        """How many residuals there are."""
        cells = np.full((*self.domain.shape, 1), 1 / self.domain.cells)
        return len(self.hypothesis.residuals(np.stack([cells] * len(self.groups)) if self.grouped else cells))

    def test(self, replicates: int, rng: np.random.Generator) -> tuple[float, float, NDArray[np.float64]]:
        """The statistic, its bootstrap p-value (1 + exceedances) / (1 + replicates), and the replicates'."""
        counts = [[s.observation.counts[..., None] for s in samples] for samples in self.samples]
        observed, null = self.statistic(counts)
        drawn, _ = self.statistic(self.again(null, rng, replicates))
        return float(observed[0]), p_value(float(observed[0]), drawn), drawn

    def warp_speed(
        self, counts: Sequence[Sequence[NDArray[np.float64]]], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Statistics of many simulated surveys, and one bootstrap statistic of each, the reference for all of them."""
        observed, null = self.statistic(counts)
        drawn, _ = self.statistic(self.again(null, rng, null.shape[-1]))
        return observed, drawn


def _quadratic(d: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """The form d' S^-1 d of every replicate, residuals brought to one scale first; what does not vary is left out."""
    scale = np.sqrt(np.einsum("rmm->rm", spread))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = spread / (scale[:, :, None] * scale[:, None, :])
    values, vectors = np.linalg.eigh(correlation)
    along = ((d.T / scale)[:, None, :] @ vectors)[:, 0, :]
    return np.where(values > _SINGULAR, along**2 / np.maximum(values, _SINGULAR), 0.0).sum(axis=1)

"""Wald's test with its reference drawn from the null: for reports that are sets, whose counts have no likelihood.

A hypothesis is a number of residuals that are zero under it: for independence d_ij = pi_ij - pi_i pi_j, the last row
and column left out, within each cell of what is given. With u the unbiased table, J the residuals' derivatives and V
the covariance of u, both at the null table that u itself suggests,

    W = d(u)' (J V J')^-1 d(u).

For many reports W follows chi-square. Noise may however be as large as cells, so W is compared with what it is when
reports are drawn anew from the null table (parametric bootstrap); every replicate has a null table and a V of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.channels.support import Support
from deniable.domain import Domain, listed
from deniable.errors import InvalidTestError, TooFewReportsError
from deniable.estimation.inversion import covering
from deniable.estimation.projection import norm_sub
from deniable.inference.bootstrap import p_value
from deniable.inference.models import Independence
from deniable.tables.marginals import summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels.base import Channel
    from deniable.designs.observation import Observation
    from deniable.estimation.dispersion import Sample

_TINY = 1e-30  # the imaginary step of a derivative: nothing is subtracted, so it can be as small as one likes
_LEAST = 1e-6  # a margin under the null is at least this share
_SINGULAR = 1e-12  # smallest eigenvalue of a covariance, relative to their sum, that can be divided by


class Hypothesis(Protocol):
    """What is tested. Tables carry a last axis of replicates."""

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is zero under the hypothesis, (residuals, replicates)."""
        ...

    def null(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The nearest table of the hypothesis, or one that is asymptotically as near."""
        ...


@dataclass(frozen=True)
class Given:
    """The table is `expected`."""

    expected: NDArray[np.float64]

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its cells but the last, less the expected ones."""
        apart = table - self.expected[..., None]
        return apart.reshape(-1, table.shape[-1])[:-1]

    def null(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
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

    def null(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of the margins of the table's projection to the simplex, no margin empty."""
        flat = table.reshape(-1, table.shape[-1])
        possible = np.stack([norm_sub(column) for column in flat.T], axis=1)
        possible = np.maximum(possible, _LEAST / len(flat))
        return Independence(self.a, self.b, self.given).maximize(possible.reshape(table.shape))


@dataclass(frozen=True)
class Same:
    """The table is the same in all groups, which are its first axis; groups have known sizes."""

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Every group's table but the last cell, less the first group's."""
        groups = table.reshape(len(table), -1, table.shape[-1])[:, :-1]
        return (groups[1:] - groups[:1]).reshape(-1, table.shape[-1])

    def null(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The groups' mean, projected to the simplex, for each of them."""
        mean = table.mean(axis=0).reshape(-1, table.shape[-1])
        possible = np.stack([norm_sub(column) for column in mean.T], axis=1).reshape(table.shape[1:])
        return np.repeat(possible[None], len(table), axis=0)


@dataclass(frozen=True)
class InEach:
    """A hypothesis that holds in each of several groups, which are the table's first axis."""

    inner: Hypothesis

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those of every group."""
        return np.concatenate([self.inner.residuals(group) for group in table])

    def null(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """That of every group."""
        return np.stack([self.inner.null(group) for group in table])


@dataclass(frozen=True, eq=False)
class BootstrapWald:
    """A hypothesis about one table, or about one table in several groups of respondents.

    `groups` holds the observations of each group; all speak of the same attributes.
    """

    groups: Sequence[Sequence[Observation]]
    hypothesis: Hypothesis
    grouped: bool = False  # whether the hypothesis sees the groups as the table's first axis

    def __post_init__(self) -> None:
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
        """The unbiased table of every group, last axis of replicates."""
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
            tables.append(np.sum(parts, axis=0))
        return np.stack(tables)

    def _covariances(self, null: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of every group's table at the null one: (groups, replicates, cells, cells)."""
        out = []
        for samples, table in zip(self.samples, null, strict=True):
            whole = np.zeros(())
            for sample in samples:
                o = sample.observation
                own = summed(table, self.domain, o.domain).reshape(o.channel.inputs, -1)
                second = second_moments(o.channel, own) - own.T[:, :, None] * own.T[:, None, :]
                order = np.arange(self.domain.cells).reshape(self.domain.shape)
                order = np.transpose(order, self.domain.axes(o.domain)).ravel()
                place = np.argsort(order)
                whole = whole + sample.weight**2 * second[:, place][:, :, place] / (o.n - 1)
            out.append(whole)
        return np.stack(out)

    def statistic(
        self, counts: Sequence[Sequence[NDArray[np.float64]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """W of every replicate, and the null tables, one for each group."""
        tables = self._tables(counts)
        seen = tables if self.grouped else tables[0]
        null = self.hypothesis.null(seen)
        d = self.hypothesis.residuals(seen)
        flat = null.reshape(-1, null.shape[-1])
        derivatives = np.empty((len(d), len(flat), null.shape[-1]))
        for cell in range(len(flat)):
            moved: NDArray[Any] = flat.astype(np.complex128)
            moved[cell] += 1j * _TINY
            derivatives[:, cell] = self.hypothesis.residuals(moved.reshape(null.shape)).imag / _TINY
        each = null if self.grouped else null[None]
        covariances = self._covariances(each)
        cells = self.domain.cells
        spread = np.zeros((null.shape[-1], len(d), len(d)))
        for group, covariance in enumerate(covariances):
            j = np.moveaxis(derivatives[:, group * cells : (group + 1) * cells], -1, 0)
            spread += j @ covariance @ np.swapaxes(j, 1, 2)
        least = np.linalg.eigvalsh(spread)[:, 0] / np.trace(spread, axis1=1, axis2=2)
        if least.min() < _SINGULAR:
            raise TooFewReportsError(
                "the estimated covariance is singular: too few reports, or too many cells, to test"
            )
        w = np.einsum("mr,rm->r", d, np.linalg.solve(spread, d.T[:, :, None])[:, :, 0])
        return w, each

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


def second_moments(channel: Channel, pi: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[z z'] at every replicate's table (cells, replicates): (replicates, cells, cells)."""
    if isinstance(channel, Support):
        c0, b, d0, c = channel.moment_coefficients
        total = pi.sum(axis=0)[:, None, None]
        across = pi.T[:, :, None] + pi.T[:, None, :]
        diagonal = (d0 - c0) * total + c * pi.T[:, :, None]
        return c0 * total + b * across + diagonal * np.eye(channel.inputs)
    if channel.is_support:  # a product with sets in it: column by column
        shares = channel.apply(pi.reshape(*channel.input_shape, -1))
        cells = np.eye(channel.inputs).reshape(-1, *channel.input_shape)
        return np.stack(
            [np.stack([channel.moments_times(shares[..., r], w).ravel() for w in cells]) for r in range(pi.shape[1])]
        )
    q = channel.solve(np.eye(channel.outputs).reshape(*channel.output_shape, -1)).reshape(channel.inputs, -1)
    lam = channel.apply(pi.reshape(*channel.input_shape, -1)).reshape(channel.outputs, -1)
    return np.einsum("au,ur,bu->rab", q, lam, q, optimize=True)

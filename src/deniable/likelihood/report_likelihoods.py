"""What a group of reports says, over the cells of the attributes they speak of.

Three kinds, from the most to the least that is known of the reports::

    Counted   every possible report is listed, and how often it came: counts are multinomial and suffice
    Listed    the different reports that came, each with its likelihood row Pr(report | cell): sets, report by report
    Moments   an unbiased table and its covariance: sets of which only the support was counted, and reports about more
              attributes than can ride along. No likelihood; a normal one stands in for it

A row may be multiplied by anything that does not depend on the cell (that a block was drawn, a hash function): no
estimate and no likelihood ratio sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import multinomials
from deniable.channels.sets.possible_sets import holds_sets, likelihood_of, places_of, possible_sets
from deniable.core.table import summed
from deniable.designs.observation import Observation
from deniable.errors import EstimationError, InputError
from deniable.frozen import Frozen, readonly
from deniable.likelihood.covariance_operator import Sample
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain

    Array = NDArray[np.float64]

_HELD = 1 << 24  # entries of likelihood rows that are kept; more are made anew, piece by piece
_PIECE = 1 << 20  # entries of a piece
_MATRIX = 1 << 24  # entries of a channel's matrix that is written out
_SINGULAR = 1e-12  # relative eigenvalue of a covariance that stands for something that does not vary


@dataclass(frozen=True, eq=False)
class Counted(Frozen):
    """Counts of every possible report.

    Attributes:
        part: the attributes the reports speak of.
        channel: from a cell of theirs to a report.
        counts: how often each report came (weighted, where respondents are), flat.
        n: how many reports there were.
        codes: for sets, the reports that the counts are of, a row each; None where report u is cell u.
        population: how many respondents the asked ones were drawn from; None for as many.
    """

    part: Domain
    channel: Channel
    counts: Array
    n: float
    codes: NDArray[Any] | None = None
    population: int | None = None

    how = "counted"

    @cached_property
    def matrix(self) -> Array | None:
        """Pr(report | cell), where it is small enough to be written out."""
        if self.codes is not None:
            return readonly(likelihood_of(self.channel, self.codes))
        return readonly(self.channel.matrix()) if self.channel.outputs * self.channel.inputs <= _MATRIX else None

    def apply(self, pi: Array) -> Array:
        """Probabilities of the reports, for tables (cells, replicates)."""
        if self.codes is not None:
            assert self.matrix is not None
            return self.matrix @ pi
        shape = (*self.channel.input_shape, pi.shape[1])
        return self.channel.apply(pi.reshape(shape)).reshape(self.channel.outputs, -1)

    def adjoint(self, y: Array) -> Array:
        """The transpose of `apply`."""
        if self.codes is not None:
            assert self.matrix is not None
            return self.matrix.T @ y
        shape = (*self.channel.output_shape, y.shape[1])
        return self.channel.adjoint(y.reshape(shape)).reshape(self.channel.inputs, -1)

    def information(self, pi: Array) -> Array:
        """Expected: sum of n P' diag(1 / lambda) P, over the own cells."""
        if self.matrix is None:
            raise InputError(f"the information of {self.channel.name} has too many entries to be written out")
        lam = self.matrix @ pi
        weight = np.divide(self.counts.sum(), lam, out=np.zeros_like(lam), where=lam > 0)
        return (self.matrix.T * weight) @ self.matrix

    def rows(self, reports: NDArray[np.int64]) -> Array:
        """Likelihood rows of some reports, given by their places in the counts."""
        if self.matrix is not None:
            return self.matrix[reports]
        assert self.codes is None
        return likelihood_of(self.channel, np.stack(np.unravel_index(reports, self.channel.output_shape), axis=1))

    def again(self, pi: Array, rng: np.random.Generator, replicates: int) -> Array:
        """Counts of as many reports drawn anew, from one table (cells, 1) or from one a replicate."""
        return multinomials(self.apply(pi), round(self.n), rng, replicates).T.astype(np.float64)

    def observation(self) -> Observation:
        """The same as counts that can be inverted."""
        counts = self.counts if self.codes is None else _tally(self.channel, self.codes, self.counts)
        return Observation(self.part, self.channel, _of_n(counts, self), population=self.population)


@dataclass(frozen=True, eq=False)
class Listed(Frozen):
    """Different reports that came, too many possible ones to count them all.

    Attributes:
        part: the attributes the reports speak of.
        channel: from a cell of theirs to a report.
        counts: how often each of them came (weighted, where respondents are).
        n: how many reports there were.
        codes: the reports, a row each, a column an answer.
        population: how many respondents the asked ones were drawn from; None for as many.
    """

    part: Domain
    channel: Channel
    counts: Array
    n: float
    codes: NDArray[Any]
    population: int | None = None

    how = "report by report"

    @cached_property
    def _kept(self) -> Array | None:
        small = len(self.codes) * self.part.cells <= _HELD
        return readonly(likelihood_of(self.channel, self.codes)) if small else None

    def _pieces(self) -> Iterator[tuple[slice, Array]]:
        if self._kept is not None:
            yield slice(None), self._kept
            return
        step = max(1, _PIECE // self.part.cells)
        for start in range(0, len(self.codes), step):
            yield slice(start, start + step), likelihood_of(self.channel, self.codes[start : start + step])

    def apply(self, pi: Array) -> Array:
        """Probabilities of the reports, for tables (cells, replicates)."""
        out = np.empty((len(self.codes), pi.shape[1]))
        for here, rows in self._pieces():
            out[here] = rows @ pi
        return out

    def adjoint(self, y: Array) -> Array:
        """The transpose of `apply`."""
        return np.sum([rows.T @ y[here] for here, rows in self._pieces()], axis=0)

    def information(self, pi: Array) -> Array:
        """Observed: sum over reports of l l' / (l . pi)^2; those that did not come cannot be listed."""
        total = np.zeros((self.part.cells, self.part.cells))
        for here, rows in self._pieces():
            total += (rows.T * (self.counts[here] / (rows @ pi) ** 2)) @ rows
        return total

    def rows(self, reports: NDArray[np.int64]) -> Array:
        """Likelihood rows of some reports, given by their places in the counts."""
        return self._kept[reports] if self._kept is not None else likelihood_of(self.channel, self.codes[reports])

    def observation(self) -> Observation:
        """The same as counts that can be inverted."""
        counts = _tally(self.channel, self.codes, self.counts)
        return Observation(self.part, self.channel, _of_n(counts, self), population=self.population)


@dataclass(frozen=True, eq=False)
class Moments(Frozen):
    """An unbiased table over `part`, made of counts that speak of it (and perhaps of more), and its covariance."""

    part: Domain
    source: Observation
    reports: Counted | Listed | None = None  # what the counts were made of, where it is known report by report

    how = "by their moments"

    @property
    def channel(self) -> Channel:
        """That of the counts."""
        return self.source.channel

    @property
    def n(self) -> float:
        """How many reports there were."""
        return self.source.n

    @cached_property
    def _sample(self) -> Sample:
        return Sample(self.source, self.part, 1.0)

    @cached_property
    def estimate(self) -> Array:
        """The unbiased table, flat."""
        return readonly(self._sample.estimate.ravel())

    @cached_property
    def covariance(self) -> Array:
        """Its covariance, if the truth were the nearest possible table: that of few reports is not left to chance."""
        return readonly(self._sample.at(norm_sub(self._sample.own)).matrix())

    @cached_property
    def precision(self) -> Array:
        """The covariance inverted where anything varies: what stands in for the information."""
        values, vectors = np.linalg.eigh((self.covariance + self.covariance.T) / 2)
        varies = values > _SINGULAR * values[-1]
        return readonly((vectors[:, varies] / values[varies]) @ vectors[:, varies].T)

    def information(self, pi: Array) -> Array:  # noqa: ARG002 - as the other kinds have it
        """The precision."""
        return self.precision

    def observation(self) -> Observation:
        """The counts."""
        return self.source


Said = Counted | Listed | Moments


def of_observation(observation: Observation) -> Counted | Moments:
    """What counts say by themselves: categories all there is, sets no more than their moments if that is all we have.

    Sets that are all listed, with how often each came, are as good as categories.
    """
    o, every = observation, None
    if not holds_sets(o.channel):
        counts = o.counts.ravel()
    elif o.sets is None or (every := possible_sets(o.channel)) is None:
        return Moments(o.domain, o)
    else:
        places = places_of(o.channel, o.sets.codes)
        counts = readonly(np.bincount(places, o.sets.times, len(every)).astype(np.float64))
    return Counted(o.domain, o.channel, counts, float(counts.sum()), every, population=o.population)


def narrowed(said: Said, part: Domain) -> Said:
    """The same about fewer attributes, by its moments."""
    return Moments(part, said.observation(), None if isinstance(said, Moments) else said)


def unbiased_scores(said: Counted | Listed, part: Domain) -> Array:
    """The unbiased table over `part` that each report makes by itself: (reports, cells). Their mean is the estimate."""
    factors, reports = said.channel.factors, len(said.counts)
    if reports * max(said.part.cells, *(factor.outputs for factor in factors)) > _MATRIX:
        raise EstimationError(
            f"{reports} different reports through {said.channel.name} about {said.part.cells} cells are too many to "
            f"weight one by one. Ask for fewer attributes at once",
            cells=said.part.cells,
        )
    codes = said.codes
    if codes is None:
        codes = np.stack(np.unravel_index(np.arange(reports), [factor.outputs for factor in factors]), axis=1)
    own: Array = np.ones((reports, 1))
    for factor, column in zip(factors, codes.T, strict=True):
        alone = factor.solve(np.eye(factor.outputs).reshape(*factor.output_shape, -1)).reshape(factor.inputs, -1)
        own = (own[:, :, None] * (factor.members(column) @ alone.T)[:, None, :]).reshape(reports, -1)
    return summed(own.T.reshape(*said.part.shape, reports), said.part, part).reshape(part.cells, reports).T


def _of_n(counts: Array, said: Counted | Listed) -> Array:
    """Weighted counts brought to the number of reports: that is how many there are, whatever they weigh."""
    total = float(said.counts.sum())
    return counts if total == said.n or not total else counts * (said.n / total)


def _each(channel: Channel, codes: NDArray[Any]) -> Array:
    """What each report holds, as a count of it alone would say: (reports, outputs)."""
    joint: Array = np.ones((len(codes), 1))
    for i, part in enumerate(channel.factors):
        joint = (joint[:, :, None] * part.members(codes[:, i])[:, None, :]).reshape(len(codes), -1)
    return joint


def _tally(channel: Channel, codes: NDArray[Any], counts: Array) -> Array:
    """Count what reports hold, weighted ones too."""
    total: Array = np.zeros(channel.outputs)
    step = max(1, _PIECE // channel.outputs)
    for start in range(0, len(codes), step):
        total += counts[start : start + step] @ _each(channel, codes[start : start + step])
    return total.reshape(channel.output_shape)

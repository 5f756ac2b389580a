"""Dispersion: the covariance of an unbiased estimate, as an operator.

For one sample of n reports, with M = E[z z'] the second moments of the estimate z that a single report makes::

    superpopulation    (M - pi pi') / (n - 1)
    fixed population   (M - diag(pi)) / n  +  (1 - n / N) (diag(pi) - pi pi') / (n - 1)

M = Q diag(lambda) Q' where reports are categories (Wang, Wu & Hu 2016, eq 18); see `channels.sets.support` for sets.

The first treats the respondents as draws from a larger population and includes that sampling error; the second asks
only how well the N people at hand are known, n of whom were asked. Estimates that pool several samples add up
weight^2 times these. A t x t matrix is never formed unless asked for: variances cost one pass a channel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.core.table import Table, summed
from deniable.designs.observation import Observation
from deniable.errors import InputError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Domain

Population = Literal["super", "fixed"]
_MATRIX_CELLS = 4096
_WRITTEN_OUT = 64  # cells of an observation whose second moments are written out


@dataclass(frozen=True, eq=False)
class Sample(Frozen):
    """One observation's part in an estimate over `domain`: its own unbiased estimate, and the weight it gets.

    `group` is its place among the groups of the evidence that it is of.
    """

    observation: Observation
    domain: Domain
    weight: float
    group: int = 0

    @cached_property
    def own(self) -> NDArray[np.float64]:
        """The unbiased estimate over the observation's own attributes."""
        return readonly(self.observation.truth_shape(self.observation.channel.solve(self.observation.shares)))

    @property
    def is_direct(self) -> bool:
        """Whether the observation speaks of exactly the asked attributes, so that cell belongs to cell."""
        return set(self.observation.domain) == set(self.domain)

    def to_asked(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Project values over the observation's attributes to the asked ones."""
        return Table(self.observation.domain, values).project(self.domain.names).values

    @cached_property
    def estimate(self) -> NDArray[np.float64]:
        """The unbiased estimate over the asked attributes."""
        return self.to_asked(self.own)

    def unbiased(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        """The estimates that other counts of as many reports make, replicates last."""
        o = self.observation
        own = o.truth_shape(o.channel.solve(counts / max(o.n, 1)))
        return summed(own, o.domain, self.domain)

    def reordered(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """A table of the asked attributes in the shape that the channel takes; of a direct observation."""
        o = self.observation
        return np.transpose(table, self.domain.axes(o.domain)).reshape(o.channel.input_shape)

    def at(self, own: NDArray[np.float64]) -> Sample:
        """The same of the reports that a table of the observation's own attributes makes one expect."""
        o = self.observation
        expected = max(o.n, 2) * o.channel.apply(own.reshape(o.channel.input_shape))
        return replace(self, observation=Observation(o.domain, o.channel, expected, population=o.population))

    def covariance_times(self, w: NDArray[np.float64], population: Population) -> NDArray[np.float64]:
        """Multiply this sample's covariance by w, both over the asked attributes."""
        observation, n = self.observation, self.observation.n
        spread = np.broadcast_to(Table(self.domain, w).expand(observation.domain), observation.domain.shape)
        channel, pi = observation.channel, self.own
        moved = observation.truth_shape(channel.moments_times(observation.shares, spread.reshape(channel.input_shape)))
        mean = pi * float((pi * spread).sum())
        if population == "super":
            return self.to_asked((moved - mean) / (n - 1))
        sampling = (1 - n / observation.population) * (pi * spread - mean) / (n - 1)
        return self.to_asked((moved - pi * spread) / n + sampling)

    def matrix(self) -> NDArray[np.float64]:
        """The superpopulation's covariance written out, from that of all its cells where they are few."""
        o, n = self.observation, self.observation.n
        if o.domain.cells > _WRITTEN_OUT:
            return Dispersion([Sample(o, self.domain, 1.0)], self.domain).matrix()
        moments = o.channel.second_moments(o.shares[..., None])[0]
        own = self.own.ravel()
        whole = ((moments - np.outer(own, own)) / (n - 1)).reshape(*o.domain.shape, own.size)
        rows = summed(whole, o.domain, self.domain).reshape(-1, own.size)
        return summed(rows.T.reshape(*o.domain.shape, -1), o.domain, self.domain).reshape(len(rows), len(rows)).T

    def variances(self, population: Population) -> NDArray[np.float64]:
        """The covariance's diagonal, in one pass where cell belongs to cell."""
        if not self.is_direct:
            cells = np.eye(self.domain.cells).reshape(-1, *self.domain.shape)
            each = [float((cell * self.covariance_times(cell, population)).sum()) for cell in cells]
            return np.maximum(each, 0.0).reshape(self.domain.shape)  # a few reports may leave it below zero
        observation, n, pi = self.observation, self.observation.n, self.estimate
        moments = self.second_moments(observation.shares)
        if population == "super":
            return np.maximum(moments - pi**2, 0.0) / (n - 1)  # of equal reports it is zero, and rounding goes below
        return (moments - pi) / n + (1 - n / observation.population) * (pi - pi**2) / (n - 1)

    def second_moments(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """(Q o Q) lambda for given report shares, over the asked attributes."""
        return self.to_asked(self.observation.truth_shape(self.observation.channel.solve_squared(shares)))


@dataclass(frozen=True, eq=False)
class Dispersion(Frozen):
    """The covariance of an unbiased estimate: `@` applies it, `variances` is its diagonal."""

    samples: Sequence[Sample]  # kept as a tuple
    domain: Domain
    population: Population = "super"

    are_counts = True  # whether its samples count respondents who are independent of each other

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population not in ("super", "fixed"):
            raise InputError(f'population must be "super" or "fixed", not {self.population!r}')

    @property
    def estimate(self) -> NDArray[np.float64]:
        """The estimate itself: the sum of weight x Q lambda. Cells may be negative; nothing is clipped."""
        return np.sum([sample.weight * sample.estimate for sample in self.samples], axis=0)

    @property
    def n(self) -> int:
        """How many reports it is of."""
        return sum(sample.observation.n for sample in self.samples)

    @property
    def design_effect(self) -> NDArray[np.float64] | float:
        """How much larger the variances are than those of as many independent respondents; a survey's may be."""
        return 1.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of how it came about."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is rough about it."""
        return ()

    @property
    def df(self) -> float:
        """Degrees of freedom behind the variances; infinite but for a survey's clusters."""
        return np.inf

    def __matmul__(self, w: ArrayLike) -> NDArray[np.float64]:
        """Multiply by a vector over the cells, in the table's shape."""
        vector = np.asarray(w, dtype=np.float64).reshape(self.domain.shape)
        parts = [s.weight**2 * s.covariance_times(vector, self.population) for s in self.samples]
        return np.sum(parts, axis=0)

    def at(self, truth: NDArray[np.float64]) -> Dispersion:
        """The covariance the estimate would have if the truth were this table.

        Where a sample speaks of more attributes than the table has, their part in the truth is not known, and the
        covariance stays as it was observed.
        """
        if any(not sample.is_direct for sample in self.samples):
            return self
        return Dispersion([s.at(s.reordered(truth)) for s in self.samples], self.domain, self.population)

    def quadratic(self, w: ArrayLike) -> float:
        """The variance of the linear functional w'pi."""
        vector = np.asarray(w, dtype=np.float64).reshape(self.domain.shape)
        return float((vector * (self @ vector)).sum())

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Per-cell variances, in the table's shape."""
        return readonly(np.sum([s.weight**2 * s.variances(self.population) for s in self.samples], axis=0))

    def matrix(self) -> NDArray[np.float64]:
        """The covariance written out, for tables small enough to look at."""
        cells = self.domain.cells
        if cells > _MATRIX_CELLS:
            raise InputError(
                f"the covariance of {cells} cells would have {cells}^2 entries; use @, quadratic() or variances"
            )
        return np.stack([(self @ cell).ravel() for cell in np.eye(cells)], axis=1)

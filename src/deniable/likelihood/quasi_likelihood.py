"""Quasi-likelihood: reports that cannot be counted one by one, as if they had come through a k-RR as precise as theirs.

Sets have a likelihood report by report, but too many possible reports to draw them anew as counts; and counts of what
sets hold have none. What every channel has is an unbiased table u of n reports. At even shares the k-RR with
lambda = s pi + (1 - s) / k has covariance 1 / (n k s^2) on the tables that sum to zero, so

    s = 1 / sqrt(k v),     v = n x mean variance of u there,      y = n (s u + (1 - s) / k)

makes counts y out of u (below zero they are set to zero) whose multinomial likelihood knows how precise u is. A test
may use it for its statistic, and for sets of one size it is as sharp as Wald's: for how it varies the test does not
rely on it, but draws reports anew through their own channel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.mixture import Mixture
from deniable.channels.sets.possible_sets import holds_sets
from deniable.core.domain import Domain
from deniable.core.table import spread, summed
from deniable.frozen import readonly
from deniable.likelihood.covariance_operator import Sample
from deniable.likelihood.evidence import Evidence
from deniable.likelihood.report_group import Group
from deniable.likelihood.report_likelihoods import Counted, Moments, Said
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.designs.observation import Observation

    Array = NDArray[np.float64]

_MANY = 2000  # reports from which on products of sets are drawn as the normal law has them, not person by person
_HELD = 5  # sets that hold each cell, from which on the part of a larger table is drawn so, too
_MOST_REPORTS = 512  # possible reports up to which sets are counted and drawn one by one, if as many came


@dataclass(frozen=True, eq=False)
class Quasi(Counted):
    """Counts as if through k-RR, and the observation that they are made of.

    Attributes:
        source: what was observed; it speaks of `part`, and perhaps of more.
    """

    source: Observation | None = None

    how = "by their unbiased table"

    @property
    def seen(self) -> Observation:
        """What was observed."""
        assert self.source is not None
        return self.source

    @cached_property
    def _sample(self) -> Sample:
        return Sample(self.seen, self.part, 1.0)

    @cached_property
    def _likely(self) -> Array:
        """What the observation's own table might be; the even one has a share, so that no cell is empty."""
        own = norm_sub(self._sample.own)
        return readonly((own + 1 / own.size) / 2)

    def _own(self, pi: Array) -> Array:
        """Tables of all that the observation speaks of, given those of the part: (*its shape, replicates)."""
        o = self.seen
        table = pi.reshape(*self.part.shape, -1)
        if set(o.domain) == set(self.part):
            return np.transpose(table, [*self.part.axes(o.domain), table.ndim - 1])
        have = summed(self._likely[..., None], o.domain, self.part)
        return self._likely[..., None] * spread(table / have, self.part, o.domain)

    @cached_property
    def _is_normal(self) -> bool:
        """Whether the unbiased table is drawn as the normal law has it, not report by report."""
        o = self.seen
        if len(o.channel.factors) > 1:
            return holds_sets(o.channel) and self.n >= _MANY
        # The part of a table sums up cells of which each is held by many sets or by few, hardly ever by none.
        return o.is_support and len(o.domain) > len(self.part) and float(o.counts.min()) >= _HELD

    def again(self, pi: Array, rng: np.random.Generator, replicates: int) -> Array:
        """Counts of reports drawn anew through their own channel, from one table or from one a replicate."""
        o = self.seen
        if pi.shape[1] == 1 and self._is_normal:
            values, vectors = np.linalg.eigh(self._sample.at(self._own(pi)[..., 0]).matrix())
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            return self._counts(pi + root @ rng.standard_normal((len(root), replicates)))
        own = self._own(pi)
        return self.counted(o.channel.draw(own.reshape(*o.channel.input_shape, -1), o.n, rng, replicates))

    def counted(self, drawn: Array) -> Array:
        """The same counts of what other respondents sent, of which as much is known as of the source."""
        return self._counts(self._sample.unbiased(drawn).reshape(self.part.cells, -1))

    def _counts(self, u: Array) -> Array:
        scale = float(self.channel.affine()[0][0])  # type: ignore[index]
        return as_counts(u, self.n, scale)


def as_counts(u: Array, n: float, scale: float) -> Array:
    """Y = n (s u + (1 - s) / k) of unbiased tables (cells, replicates), none below zero, summing to n."""
    k = len(u)
    level = u - (u.sum(axis=0) - 1) / k  # what sets miss of a total of one, spread evenly
    y = np.maximum(scale * level + (1 - scale) / k, 0.0)
    return n * y / y.sum(axis=0)


def quasi_of(observation: Observation, part: Domain) -> Quasi:
    """What an observation says about some of its attributes, as counts."""
    o, sample = observation, Sample(observation, part, 1.0)
    covariance = sample.at(np.full(o.domain.shape, 1 / o.domain.cells)).matrix()
    k = part.cells
    mean = (np.trace(covariance) - covariance.sum() / k) / (k - 1) * (max(o.n, 2) - 1)
    scale = float(min(1 / np.sqrt(k * mean), 1 - 1e-9))
    channel = Mixture(scale, [1 / k] * k)
    counts = as_counts(sample.unbiased(o.counts[..., None]).reshape(k, 1), float(o.n), scale)[:, 0]
    return Quasi(part, channel, counts, float(o.n), None, o.population, source=o)


def countable(evidence: Evidence) -> Evidence:
    """The same evidence with a likelihood that can be drawn from: what cannot be counted, by quasi-likelihood."""
    kept = [_counted(group.said, evidence.asked) for group in evidence.groups]
    if all(new is group.said for new, group in zip(kept, evidence.groups, strict=True)):
        return evidence
    every = {v.name: v for said in kept for v in said.part.values()}
    riding = [v for name, v in evidence.domain.items() if name in every and name not in evidence.asked]
    domain = Domain([*evidence.asked.values(), *riding])
    return Evidence(evidence.asked, domain, tuple(Group(said, domain) for said in kept), evidence.silent)


def _counted(said: Said, asked: Domain) -> Counted:
    if isinstance(said, Counted) and (said.codes is None or len(said.counts) <= min(said.n, _MOST_REPORTS)):
        return said
    source = said.source if isinstance(said, Moments) else said.observation()
    return quasi_of(source, Domain([v for v in said.part.values() if v.name in asked]))

"""Stack: evidence of several groups of respondents, each about a table of its own; the tables are stacked.

A group is known (a public column): nothing is estimated of who is in it, and every group's table sums to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.likelihood.evidence import Evidence
    from deniable.likelihood.report_group import Group

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stack(Frozen):
    """What each of several groups says; all speak of the same attributes."""

    parts: tuple[Evidence, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The groups, then the attributes."""
        return (len(self.parts), *self.parts[0].domain.shape)

    @property
    def cells(self) -> int:
        """Of all tables together."""
        return len(self.parts) * self.parts[0].cells

    @property
    def groups(self) -> tuple[Group, ...]:
        """Reports of one kind each, of all groups of respondents."""
        return tuple(group for part in self.parts for group in part.groups)

    @property
    def likely(self) -> tuple[Group, ...]:
        """Those that have a likelihood."""
        return tuple(group for part in self.parts for group in part.likely)

    @property
    def has_likelihood(self) -> bool:
        """Whether every report has one."""
        return all(part.has_likelihood for part in self.parts)

    @cached_property
    def counts(self) -> Array:
        """How often each report came, all groups behind each other."""
        return readonly(np.concatenate([part.counts for part in self.parts]))

    @cached_property
    def _places(self) -> tuple[slice, ...]:
        ends = np.cumsum([0, *(len(part.counts) for part in self.parts)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    def forward(self, pi: Array) -> Array:
        """Probabilities of all reports within their groups."""
        return np.concatenate([part.forward(pi[i]) for i, part in enumerate(self.parts)])

    def again(self, pi: Array, rng: np.random.Generator, replicates: int) -> Array:
        """Counts drawn anew from tables: all replicates from one, or one from each."""
        return np.concatenate([part.again(pi[i], rng, replicates) for i, part in enumerate(self.parts)])

    def evaluate(self, pi: Array, counts: Array | None = None) -> tuple[Array, Array]:
        """Log-likelihood of every replicate, and its gradient over the tables."""
        y = self.counts if counts is None else counts
        each = [
            part.evaluate(pi[i], y[here]) for i, (part, here) in enumerate(zip(self.parts, self._places, strict=True))
        ]
        return np.sum([loglik for loglik, _ in each], axis=0), np.stack([gradient for _, gradient in each])

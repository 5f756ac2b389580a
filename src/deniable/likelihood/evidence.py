"""Evidence: everything that reports say about some attributes, as likelihoods over the cells of one table.

    pi        the unknown table over `domain`: the asked attributes, and those that ride along (`nuisance`)
    M_o       sums it down to the attributes that group o of reports speaks of (missing by design)
    P_o       maps that to the probabilities of the group's reports

    forward(pi) = P_o M_o pi, all groups behind each other,      backward = its transpose,
    information(pi) = sum of M_o' P_o' diag(n_o / lambda_o) P_o M_o.

Reports that speak of only some of the asked attributes count for those; reports that speak of none are counted in
`silent` and left out. A question whose channel has no form of its own for part of its attributes brings the others
along as nuisance attributes, as far as the table stays small; beyond that it counts by its moments. Nothing is ever
taken for a direct answer. `used` says what came of every group of reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.domain import Domain
from deniable.errors import (
    NotCoveredError,
)
from deniable.frozen import Frozen, readonly
from deniable.likelihood.report_group import Group
from deniable.likelihood.report_likelihoods import (
    Moments,
    of_observation,
)
from deniable.numerics.batched import times
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.designs.observation import Observation
    from deniable.likelihood.covariance_operator import Dispersion
    from deniable.likelihood.respondents import Respondents
    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]

DENSE_CELLS = 1024  # of a table up to which matrices of cells by cells are written out and solved: 8 MB, under a second
_MATRIX = 1 << 22  # entries up to which all groups together are one matrix
_NEGLIGIBLE = 1e-8  # of a functional's length: how much of it may lie outside what the reports speak of
_RANK = 1e-12  # of the largest: information below it is none


@dataclass(frozen=True, eq=False)
class Evidence(Frozen):
    """What reports say about the asked attributes.

    Attributes:
        asked: the asked attributes.
        domain: those and the nuisance attributes, which come last: the table that is fitted.
        groups: reports of one kind each.
        silent: how many reports speak of none of the asked attributes.
        respondents: who said what, where reports came one by one; None where they came as counts.
        unasked: how many respondents were not asked all of the attributes, because a public condition left them out.
        independent: whether reports are independent of each other; else nothing weighs them by their likelihood.
    """

    asked: Domain
    domain: Domain
    groups: tuple[Group, ...]
    silent: int
    respondents: Respondents | None = None
    unasked: int = 0
    independent: bool = True

    @property
    def sampling(self) -> Sampling | None:
        """How respondents were drawn; None where each stands for itself."""
        return None if self.respondents is None else self.respondents.sampling

    @property
    def df(self) -> float:
        """Degrees of freedom of every error made of these reports; infinite but for a survey's clusters."""
        return np.inf if self.sampling is None else self.sampling.df

    @property
    def nuisance(self) -> tuple[str, ...]:
        """Attributes that nobody asked about here, but some question does in one breath with an asked one."""
        return self.domain.names[len(self.asked) :]

    @property
    def cells(self) -> int:
        """How many cells the fitted table has, nuisance attributes included."""
        return self.domain.cells

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the fitted table."""
        return self.domain.shape

    @property
    def n(self) -> int:
        """How many reports speak of the asked attributes."""
        return round(sum(group.said.n for group in self.groups))

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """The groups as counts that can be inverted."""
        return tuple(group.said.observation() for group in self.groups)

    @cached_property
    def likely(self) -> tuple[Group, ...]:
        """The groups that have a likelihood."""
        return tuple(group for group in self.groups if not isinstance(group.said, Moments))

    @property
    def has_likelihood(self) -> bool:
        """Whether every report has one; else some count by their moments, and `evaluate` is a normal stand-in there."""
        return len(self.likely) == len(self.groups)

    @property
    def used(self) -> tuple[str, ...]:
        """What was used, a line for every group of reports, and what was left out."""
        told = [
            f"{round(g.said.n)} reports about {' and '.join(g.said.part)} through {g.said.channel.name}, {g.said.how}"
            for g in self.groups
        ]
        silent = [f"{self.silent} reports speak of none of them"] if self.silent else []
        riding = [f"{listed(self.nuisance)} ride along".replace("'", "")] if self.nuisance else []
        return (*told, *silent, *riding)

    # -- likelihood -------------------------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> Array:
        """How often each report came, all groups that have a likelihood behind each other, one replicate: (reports, 1).

        Other counts of the same shape but for the last axis may stand in their place: replicates of a bootstrap.
        """
        return readonly(np.concatenate([group.counts for group in self.likely] or [np.empty(0)])[:, None])

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where the reports of each group that has a likelihood stand among all of them."""
        ends = np.cumsum([0, *(len(group.counts) for group in self.likely)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def _matrix(self) -> Array | None:
        """Everything as one matrix, where it is small."""
        if self.counts.size * self.cells > _MATRIX or not self.likely:
            return None
        return readonly(np.concatenate([group.rows(np.arange(len(group.counts))) for group in self.likely]))

    @cached_property
    def _of_all(self) -> Array | None:
        """For every report how many came with it, of any kind, where all possible ones are listed; else None."""
        if not self.has_likelihood or any(group.said.how == "report by report" for group in self.groups):
            return None
        return readonly(np.concatenate([np.full(len(g.counts), g.counts.sum()) for g in self.groups]))

    def matrix(self) -> Array:
        """`forward` written out: (reports, cells)."""
        whole = self._matrix
        return whole if whole is not None else np.concatenate([g.rows(np.arange(len(g.counts))) for g in self.likely])

    def forward(self, pi: Array) -> Array:
        """Probabilities of all reports, (reports, replicates), for tables (*domain.shape, replicates)."""
        flat = pi.reshape(self.cells, -1)
        if self._matrix is not None:
            return times(self._matrix, flat)
        return np.concatenate([group.forward(flat) for group in self.likely])

    def backward(self, y: Array) -> Array:
        """The transpose of `forward`, from (reports, replicates) to tables."""
        if self._matrix is not None:
            return times(self._matrix.T, y).reshape(*self.domain.shape, -1)
        total = np.zeros((self.cells, y.shape[1]))
        for group, here in zip(self.likely, self.places, strict=True):
            total += group.backward(y[here])
        return total.reshape(*self.domain.shape, -1)

    def again(self, pi: Array, rng: np.random.Generator, replicates: int) -> Array:
        """Counts drawn anew from tables: all replicates from one, or one from each."""
        flat = pi.reshape(self.cells, -1)
        return np.concatenate([group.again(flat, rng, replicates) for group in self.likely])

    def evaluate(self, pi: Array, counts: Array | None = None) -> tuple[Array, Array]:
        """Log-likelihood of every replicate (multinomial coefficients left out), and its gradient over the table."""
        y = self.counts if counts is None else counts
        loglik, gradient = np.zeros(pi.shape[-1]), np.zeros(pi.shape)
        if self.likely:
            lam, seen = self.forward(pi), y > 0
            # A report that did not come adds neither 0 log 0 nor 0 / 0; one that cannot have come, minus infinity.
            safe = np.where(seen, lam, 1.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                loglik = (y * np.log(np.where(safe > 0, safe, 0.0))).sum(axis=0)
                gradient = self.backward(np.where(seen, y / safe, 0.0))
        for group in self.groups:
            if isinstance(group.said, Moments):
                away = group.said.estimate[:, None] - group.down(pi.reshape(self.cells, -1))
                pull = group.said.precision @ away
                loglik = loglik - (away * pull).sum(axis=0) / 2
                gradient = gradient + group.up(pull).reshape(pi.shape)
        return loglik, gradient

    def information(self, pi: Array) -> Array:
        """Fisher information of all reports at a table, (cells, cells), the sum to one not yet taken out."""
        flat = np.asarray(pi, dtype=np.float64).reshape(self.cells)
        if self._matrix is not None and self._of_all is not None:
            lam = self._matrix @ flat
            weight = np.divide(self._of_all, lam, out=np.zeros_like(lam), where=lam > 0)
            return (self._matrix.T * weight) @ self._matrix
        total = np.zeros((self.cells, self.cells))
        for group in self.groups:
            total += group.information(flat)
        return total

    def information_times(self, pi: Array, w: Array) -> Array:
        """The same times vectors (*domain.shape, replicates), for tables too large to write it out."""
        flat, result = np.asarray(pi).reshape(self.cells), np.zeros((self.cells, int(w.size / self.cells)))
        for group in self.groups:
            result += group.information_times(flat, w.reshape(self.cells, -1))
        return result.reshape(w.shape)

    # -- what can be learned ----------------------------------------------------------------------------------------

    @cached_property
    def margin(self) -> Array:
        """The matrix that sums the table down to the asked attributes: (asked cells, cells)."""
        inside = np.arange(self.cells) // (self.cells // self.asked.cells)
        return readonly((inside == np.arange(self.asked.cells)[:, None]).astype(np.float64))

    @property
    def covers(self) -> bool:
        """Whether some respondents were asked about all of the asked attributes together."""
        return any(
            set(self.asked) <= set(group.said.part) and not group.said.channel.is_partial for group in self.groups
        )

    def estimable(self, functionals: ArrayLike) -> bool:
        """Whether reports determine linear functionals of the table, rows over its cells: |W - W F^+ F| <= 1e-8 |W|."""
        w = np.asarray(functionals, dtype=np.float64).reshape(-1, self.cells)
        even = np.full(self.cells, 1 / self.cells)
        values, vectors = np.linalg.eigh(self.information(even))
        seen = vectors[:, values > _RANK * max(values[-1], 1e-300)]
        return bool(np.linalg.norm(w - (w @ seen) @ seen.T) <= _NEGLIGIBLE * np.linalg.norm(w))

    @property
    def tells(self) -> bool:
        """Whether it determines the asked table, as far as that can be seen of one so large."""
        small = len(self.asked) == 1 or self.cells <= DENSE_CELLS
        return self.covers or (small and self.estimable(self.margin))

    def require(self) -> Evidence:
        """Itself, if it determines the asked table; else refused with the way out."""
        if not self.tells:
            raise self.not_covered(self.asked)
        return self

    def not_covered(self, part: Domain) -> NotCoveredError:
        """That nobody was asked about some attributes together, and the way out."""
        seen = listed(sorted({" * ".join(group.said.part) for group in self.groups}))
        return NotCoveredError(
            f"no respondent was asked about {listed(part)} together, so their joint table cannot be recovered. The "
            f"reports cover {seen or 'nothing'}. Ask for a table inside one of these, or use a design that asks them "
            f"together: Independent, Joint, or Views with k={len(part)}",
            attributes=part.names,
        )

    def __repr__(self) -> str:
        riding = f" (and {', '.join(self.nuisance)})" if self.nuisance else ""
        kinds = counted(len(self.groups), "group")
        return f"<Evidence about {' x '.join(self.asked)}{riding}: {self.n} reports in {kinds}, {self.silent} silent>"


def of_counts(observations: Sequence[Observation], asked: Domain | None = None) -> Evidence:
    """Evidence of observations as they are, a group each, about all of their attributes; the asked ones come first."""
    every = {v.name: v for o in observations for v in o.domain.values()}
    known = Domain(list(every.values())) if asked is None else asked
    whole = Domain([*known.values(), *(v for name, v in every.items() if name not in known)])
    return Evidence(known, whole, tuple(Group(of_observation(o), whole) for o in observations), 0)


def inverted(dispersion: Dispersion) -> Evidence:
    """Evidence of the reports that an unbiased estimate was made of."""
    return of_counts([sample.observation for sample in dispersion.samples], dispersion.domain)

"""The efficient estimate: every report that speaks of the asked attributes, weighted as it deserves, nothing clipped.

With F the information of all reports at a plausible table pi0, C = F^+ on the tables that sum to zero, and s the
gradient of the log-likelihood there,

    estimate = pi0 + C s,

which for counts is generalised least squares: linear in them, unbiased whatever pi0 is, and as precise as any unbiased
estimate can be where pi0 is the truth. For a functional w, a report u of group o pulls the estimate by
A_o[u] = (P_o M_o C w)[u] / lambda_o[u]. So its variance, estimated without bias from the counts y_o themselves, is

    sum over o of  n_o / (n_o - 1) (sum of A_o^2 y_o - (sum of A_o y_o)^2 / n_o),

and if the functional were x, the table being estimate + (x - w.estimate) d with d = C w / (w' C w), it would be

    Var(x) = sum over o of  n_o (sum of A_o^2 lambda_o(x) - (sum of A_o lambda_o(x))^2),

a quadratic in x: the score interval's ends solve (w.estimate - x)^2 = z^2 Var(x). For one k-RR it is Wilson's.

Of sets that are too many to list, only those that came could stand in for the information, with 1 / lambda^2 each: a
few that came against the odds would then decide everything, however many reports there are. So they count by their
moments, which are as precise where shares are even, and the same evidence whether sets are at hand or only their
support was counted. Other reports that came one by one (in blocks) do stand for those that did not: sums over them take
the place of lambda.

Of a fixed population, the N people at hand, only what disguise and drawn ballots add is in doubt. Held fixed are their
true answers, and how many drew which ballot; random are who drew it, and the disguise. With h_o(c) the mean pull of a
report of group o from somebody in cell c, people dealt out to groups at random have

    Var = (the variance above) - N Var of h over the N people,      h(c) = sum over o of n_o h_o(c) / N,

and n_o h_o(c) summed over o is w(c) plus a constant, because F C w is: the estimate is unbiased whatever the table. So
exactly what the sampling of people would add goes, (sum of w^2 pi - (w.pi)^2) / (N - 1).

Where respondents have weights, strata or clusters, y are weighted counts, the variance is that of `linearized` (or of
replicate weights), and Var(x) is multiplied by the design effect: that variance over the plain one.

Tables from channels that tell only some sums of the shares.

A channel that is made for a mean tells the mean and may tell nothing else; one made for the pairs of three attributes
tells the pairs and not the triple. No such channel can be inverted. Where all reports together still determine the
asked table, the efficient estimate is its unbiased core, with its own errors; where they do not, it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.sets.possible_sets import holds_sets
from deniable.errors import NotCoveredError
from deniable.frozen import Frozen, readonly
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.likelihood.linear_functionals import Functionals
from deniable.likelihood.linearization import counts_of, recounted
from deniable.likelihood.report_group import Group
from deniable.likelihood.report_likelihoods import Listed, narrowed
from deniable.numerics.simplex import norm_sub
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Domain
    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.sampling import Linear, Sampling

    Array = NDArray[np.float64]

_ROUNDS = 3  # estimates, each weighted at the one before
_MIXED = 0.01  # share of the even table in the plausible one: no report is taken to be impossible
_SINGULAR = 1e-12  # of the largest: information below it is none
_NEGLIGIBLE = 1e-6  # of the asked cells' length: how much of it may lie where there is none


@dataclass(frozen=True, eq=False)
class Efficient(Frozen):
    """The efficient estimate of the asked table, its covariance and its score intervals.

    Attributes:
        evidence: what the reports say.
        likely: the plausible table over `evidence.domain` at which reports are weighted, flat.
        people: how many people are at hand, where errors are for them and no larger population; else None.
    """

    evidence: Evidence
    likely: Array
    people: int | None = None

    @property
    def domain(self) -> Domain:
        """The asked attributes."""
        return self.evidence.asked

    # -- the estimate ------------------------------------------------------------------------------------------------

    @cached_property
    def weighed(self) -> Evidence:
        """The evidence as it is weighed: sets that are listed one by one count by their moments."""
        said = [group.said for group in self.evidence.groups]
        if not any(isinstance(each, Listed) and holds_sets(each.channel) for each in said):
            return self.evidence
        by_moments = (
            replace(group, said=narrowed(each, each.part))
            if isinstance(each, Listed) and holds_sets(each.channel)
            else group
            for group, each in zip(self.evidence.groups, said, strict=True)
        )
        return replace(self.evidence, groups=tuple(by_moments))

    @cached_property
    def _inverted(self) -> tuple[Array, Array]:
        return tangent_inverse(self.weighed.information(self.likely), self.likely)

    @property
    def inverse(self) -> Array:
        """C: the information inverted on the tables that sum to zero."""
        return self._inverted[0]

    @cached_property
    def determined(self) -> bool:
        """Whether rounding leaves enough of the information to tell every asked cell."""
        return self.determines(self.evidence.margin.T)

    def determines(self, along: Array) -> bool:
        """Whether it leaves enough of it to tell some functionals, columns over the fitted table's cells."""
        away = along - along.T @ self.likely
        return bool(np.linalg.norm(away - self._inverted[1] @ away) <= _NEGLIGIBLE * np.linalg.norm(away))

    @cached_property
    def whole(self) -> Array:
        """The estimate over all attributes, those that ride along too."""
        gradient = self.weighed.evaluate(self.likely.reshape(*self.evidence.domain.shape, 1))[1]
        return readonly(self.likely + self.inverse @ gradient.ravel())

    @cached_property
    def values(self) -> Array:
        """The estimated cells; they sum to one and may be negative."""
        return readonly(self._cells.values.reshape(self.domain.shape))

    # -- its errors --------------------------------------------------------------------------------------------------

    @property
    def sampling(self) -> Sampling | None:
        """How respondents were drawn; None where each stands for itself."""
        return self.evidence.sampling

    @property
    def df(self) -> float:
        """Degrees of freedom behind the variances; infinite but for a survey's clusters."""
        return self.evidence.df

    @property
    def linear(self) -> Linear:
        """What every respondent contributes to every asked cell; see `linearized`."""
        return self._cells.linear

    def again(self, counts: Array) -> Array:
        """The table over all attributes from other counts of the same reports, weighted alike: (replicates, cells)."""
        ends = np.cumsum([len(counts_of(group)) for group in self.weighed.groups])[:-1]
        found = []
        for y in counts.T:
            groups = [
                Group(recounted(group.said, own), group.domain)
                for group, own in zip(self.weighed.groups, np.split(y, ends), strict=True)
                if own.any()
            ]
            found.append(Efficient(replace(self.evidence, groups=tuple(groups), respondents=None), self.likely).whole)
        return np.stack(found)

    @cached_property
    def _cells(self) -> Functionals:
        """The asked cells."""
        return Functionals(self, self.evidence.margin.T)

    def along(self, functionals: ArrayLike) -> Functionals:
        """Linear functionals of the asked table, a column each over its cells: values, covariance, intervals."""
        columns = np.asarray(functionals, dtype=np.float64).reshape(self.domain.cells, -1)
        return Functionals(self, self.evidence.margin.T @ columns)

    def matrix(self) -> Array:
        """The covariance of the asked cells."""
        return self._cells.covariance

    @cached_property
    def variances(self) -> Array:
        """Per-cell variances, in the table's shape."""
        return readonly(np.maximum(np.diag(self.matrix()), 0.0).reshape(self.domain.shape))

    def __matmul__(self, w: ArrayLike) -> Array:
        """Multiply the covariance by a vector over the cells, in the table's shape."""
        vector = np.asarray(w, dtype=np.float64).ravel()
        return (self.matrix() @ vector).reshape(self.domain.shape)

    def quadratic(self, w: ArrayLike) -> float:
        """The variance of the linear functional w'pi."""
        vector = np.asarray(w, dtype=np.float64).ravel()
        return float(vector @ self.matrix() @ vector)

    def variances_at(self, cells: Array) -> Array:
        """What the variance of each cell would be if that were its true share."""
        return self._cells.variances_at(cells.ravel()).reshape(self.domain.shape)

    def score_interval(self, z2: float) -> tuple[Array, Array]:
        """The ends of (estimate - x)^2 = z2 Var(x), for every cell."""
        low, high = self._cells.score_interval(z2)
        return low.reshape(self.domain.shape), high.reshape(self.domain.shape)


def efficient_from(evidence: Evidence, likely: ArrayLike | None = None) -> Efficient:
    """The efficient estimate; reports are weighted at `likely`, or at the estimate itself, a few rounds long."""
    even = np.full(evidence.cells, 1 / evidence.cells)
    if likely is not None:
        return Efficient(evidence, np.asarray(likely, dtype=np.float64).ravel())
    found = Efficient(evidence, even)
    for _ in range(_ROUNDS - 1):
        found = Efficient(evidence, _MIXED * even + (1 - _MIXED) * norm_sub(found.whole))
    return found


def tangent_inverse(information: Array, likely: Array) -> tuple[Array, Array]:
    """F^+ on the vectors that sum to zero, and F F^+: the functionals that reports tell of.

    In the coordinates x / sqrt(pi) every cell's own share of the information is of one size, so that rounding does not
    take a rare cell for one that nobody speaks of.
    """
    root = np.sqrt(likely)
    scaled = root[:, None] * information * root
    # Sum x = 0 is orthogonal to sqrt(pi) here.
    away = np.eye(len(root)) - np.outer(root, root)
    values, vectors = np.linalg.eigh(away @ scaled @ away)
    told = values > _SINGULAR * max(float(values[-1]), 1e-300)
    found = away @ vectors[:, told]
    inverse = root[:, None] * ((found / values[told]) @ found.T) * root
    return readonly(inverse), readonly((found / root[:, None]) @ (found.T * root))


@dataclass(frozen=True, eq=False)
class OfEvidence(Dispersion):
    """The covariance of the efficient estimate, where no channel can be inverted by itself."""

    pooled: Efficient | None = None

    @property
    def estimate(self) -> NDArray[np.float64]:
        """The efficient estimate."""
        assert self.pooled is not None
        return self.pooled.values

    @property
    def n(self) -> int:
        """How many reports it is of."""
        assert self.pooled is not None
        return self.pooled.evidence.n

    @property
    def df(self) -> float:
        """Degrees of freedom behind the variances."""
        assert self.pooled is not None
        return self.pooled.df

    @property
    def variances(self) -> NDArray[np.float64]:
        """Per-cell variances."""
        assert self.pooled is not None
        return self.pooled.variances

    def __matmul__(self, w: ArrayLike) -> NDArray[np.float64]:
        """Multiply by a vector over the cells, in the table's shape."""
        assert self.pooled is not None
        return readonly(self.pooled @ w)

    def at(self, truth: NDArray[Any]) -> OfEvidence:  # noqa: ARG002 - the reports' own covariance stands for it
        """Itself: what reports would vary like elsewhere is not known without the channels' inverse."""
        return self


def determined(told: Evidence) -> Efficient:
    """The efficient estimate of a table that no channel tells by inversion; refused where reports leave it open."""
    if told.cells <= DENSE_CELLS and told.estimable(told.margin):
        pooled = efficient_from(told)
        if pooled.determined:
            return pooled
    names = listed(sorted({" * ".join(o.domain) for o in told.observations if o.channel.is_partial}))
    raise NotCoveredError(
        f"the reports about {names} came through channels that tell only some sums of the shares (such as a mean), and "
        f"the table of {listed(told.asked)} is none of them. Ask for the numbers that the channels were made for "
        f"(mean, cdf, quantile), or name the table among what is wanted when the design is made",
        attributes=told.asked.names,
    )

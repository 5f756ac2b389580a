"""The likelihood ratio through the channels, with a reference that holds its level and an answer that always comes.

Statistic: 2 (log-likelihood under H1 - under H0), H1 being any table without negative cells. Reference: reports drawn
anew from a table of H0 (`estimation.fit.null`), a thousand replicates at a time, each fitted as the data were, from the
same starts.

A fit may stop short of the best: there are many cells, or several hills. What it may have missed is known (its gap),
and is counted against significance: the observed statistic is taken as small as it could be, a replicate's as large.
So no test ends in an error, and one that could not look closely says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.fit.engine import TEST_GAP, Fitted, fit
from deniable.estimation.fit.evidence import Evidence
from deniable.estimation.fit.models import Factored, Independence, Loglinear, Saturated
from deniable.estimation.fit.null import likely_null, tempered_null
from deniable.estimation.loglinear import can_score, generators, parameters, score_loglinear
from deniable.inference.reference import checked, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.fit.models import Model
    from deniable.estimation.fit.stack import Stack

    Array = NDArray[np.float64]

_SHARP = 1e-6  # nats left to gain, for the data themselves
_MOST = 3000  # evaluations of a fit before what is left to gain is counted against significance
_WORK = 2.5e9  # what all of them may cost together: about as many nanoseconds
_ONE = 60_000  # evaluations for the data themselves, which are fitted once
_LOOK, _REACHED, _MANY = 99, 20, 500  # of so many replicates or more, the first are looked at before the others
_MIXED = 0.01  # share of the even table in a start at a fitted one


@dataclass(frozen=True, eq=False)
class Part:
    """What some reports say, and the model of the table they speak of."""

    evidence: Evidence | Stack
    model: Model


@dataclass(frozen=True, eq=False)
class Statistics:
    """Likelihood ratios of replicates.

    Attributes:
        value: as found.
        low: the least that it can be, given what the fits may have missed.
        high: the most.
        null: the tables fitted under H0, a part each.
        short: how many replicates were left with more to gain than was wanted.
    """

    value: Array
    low: Array
    high: Array
    null: tuple[Array, ...]
    short: int


@dataclass(frozen=True, eq=False)
class Tested:
    """A statistic, its p-value, the replicates' statistics, and what a reader must know."""

    statistic: float
    pvalue: float
    simulated: Array
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """Two hypotheses about the same reports, each a list of parts, H0 inside H1.

    Log-likelihoods add up over parts, as over public groups. The reports of the parts of either hypothesis, behind each
    other, are all reports in one order.
    """

    h0: Sequence[Part]
    h1: Sequence[Part]

    @cached_property
    def counts(self) -> Array:
        """How often each report came: (reports, 1)."""
        return np.concatenate([part.evidence.counts for part in self.h1])

    @staticmethod
    def _places(parts: Sequence[Part]) -> list[slice]:
        ends = np.cumsum([0, *(len(part.evidence.counts) for part in parts)]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    def statistic(self, y: Array, *, sharp: bool = False) -> Statistics:
        """Of every replicate of the counts."""
        gap = _SHARP if sharp else TEST_GAP
        above = [_fit(part, y[here], [None], gap) for part, here in zip(self.h1, self._places(self.h1), strict=True)]
        below = [
            _fit(part, y[here], self._starts(part, k, above), gap)
            for k, (part, here) in enumerate(zip(self.h0, self._places(self.h0), strict=True))
        ]
        value = 2 * (sum(f.loglik for f in above) - sum(f.loglik for f in below))
        more, less = (2 * np.sum([np.maximum(f.gap, 0.0) for f in fits], axis=0) for fits in (above, below))
        short = ~np.all([f.finished for f in (*above, *below)], axis=0)
        return Statistics(
            np.maximum(value, 0.0),
            np.maximum(value - less, 0.0),
            np.maximum(value + more, 0.0),
            tuple(f.pi for f in below),
            int(short.sum()),
        )

    def _starts(self, part: Part, place: int, above: Sequence[Fitted]) -> list[Array | None]:
        """Where fits under H0 begin: at what H1 found, seen from H0; the same for data and replicates."""
        if len(self.h0) == len(self.h1):
            best = above[place].pi
            if isinstance(part.model, Independence):
                return list(part.model.starts(best))
            return [part.model.maximize(_MIXED / part.evidence.cells + (1 - _MIXED) * best)]
        if part.evidence.shape == (len(above), *above[0].pi.shape[:-1]):  # a stack of what H1 fits group by group
            stacked = np.stack([f.pi for f in above])
            return [
                part.model.maximize(np.full_like(stacked, _MIXED / stacked[0, ..., 0].size) + (1 - _MIXED) * stacked)
            ]
        return [None]

    def null(self, fitted: Sequence[Array], y: Array) -> list[Array]:
        """The tables to draw from, given the fitted ones."""
        found = []
        for part, pi, here in zip(self.h0, fitted, self._places(self.h0), strict=True):
            model = part.model
            if isinstance(model, Loglinear):
                free = parameters(model.domain, model.generators)
                found.append(tempered_null(part.evidence, free, pi, y[here]))
            else:
                assert isinstance(model, Factored)
                found.append(likely_null(part.evidence, model, pi, y[here]))
        return found

    def again(self, null: Sequence[Array], rng: np.random.Generator, replicates: int) -> Array:
        """Reports drawn from null tables: all replicates from one, or one from each."""
        return np.concatenate(
            [part.evidence.again(pi, rng, replicates) for part, pi in zip(self.h0, null, strict=True)]
        )

    def test(self, replicates: int, rng: np.random.Generator) -> Tested:
        """The test of the data themselves."""
        observed = self.statistic(self.counts, sharp=True)
        null = self.null(observed.null, self.counts)
        low, first = float(observed.low[0]), _LOOK if checked(replicates) >= _MANY else replicates
        drawn = [self.statistic(self.again(null, rng, first))]
        # A p-value above .2 need not be known better than to a few percent; one that matters has all replicates.
        decided = first < replicates and int((drawn[0].high >= low).sum()) >= _REACHED
        if first < replicates and not decided:
            drawn.append(self.statistic(self.again(null, rng, replicates - first)))
        high, short = np.concatenate([part.high for part in drawn]), sum(part.short for part in drawn)
        notes = []
        if decided:
            notes.append(f"{first} replicates were enough: p is above .2, far from any level.")
        if short:
            notes.append(
                f"{short} of {len(high)} replicates could not be fitted to the end; what they may have missed is "
                f"counted against significance."
            )
        if observed.short:
            notes.append("The data could not be fitted to the end; the statistic was taken as small as it may be.")
        simulated = np.concatenate([part.value for part in drawn])
        return Tested(float(observed.value[0]), p_value(low, high), simulated, tuple(notes))

    def warp_speed(self, y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Statistics of many simulated surveys, and one bootstrap statistic of each (Giacomini, Politis & White 2013).

        The bootstrap statistics, pooled over the surveys, are the reference for all of them: a test's power costs two
        fits a survey instead of a thousand.
        """
        observed = self.statistic(y)
        drawn = self.again(self.null(observed.null, y), rng, y.shape[1])
        return observed.value, self.statistic(drawn).value

    def rejects(self, y: Array, rng: np.random.Generator, *, most: int, limit: int) -> NDArray[np.bool_]:
        """Which of many simulated surveys are rejected if each has `most` replicates of its own.

        Rejected is what fewer than `limit` replicates reach: level limit / (most + 1). A survey that more reach needs
        no further replicates, so that few are drawn for most surveys.
        """
        observed = self.statistic(y)
        null = self.null(observed.null, y)
        reached, going = np.zeros(y.shape[1], dtype=np.int64), np.arange(y.shape[1])
        for _ in range(most):
            drawn = self.statistic(self.again([pi[..., going] for pi in null], rng, len(going)))
            reached[going] += drawn.high >= observed.low[going]
            going = going[reached[going] < limit]
            if not len(going):
                break
        return reached < limit


def _fit(part: Part, y: Array, starts: Sequence[Array | None], gap: float) -> Fitted:
    evidence, model = part.evidence, part.model
    if isinstance(model, Loglinear) and isinstance(evidence, Evidence) and can_score(evidence, model):
        return score_loglinear(evidence, model, y, gap)
    work = y.size * (30 + evidence.cells / 4)
    most = _ONE if y.shape[1] == 1 else max(50, min(_MOST, int(_WORK / work)))
    return fit(evidence, model, y, starts=starts, gap=gap, most=most, strict=False)


def interaction_ratio(evidence: Evidence, a: str, b: str) -> tuple[LikelihoodRatio, int]:
    """H0: no interaction holds both a and b, H1: every interaction of attributes that were asked together.

    The likelihood ratio, and how many parameters more H1 has.
    """
    whole = evidence.domain
    asked = generators([group.said.observation() for group in evidence.groups], whole)
    split = {tuple(n for n in names if n != left) for names in asked for left in (a, b) if {a, b} <= set(names)}
    kept = split | {names for names in asked if not {a, b} <= set(names)}
    without = sorted((s for s in kept if s and not any(set(s) < set(t) for t in kept)), key=whole.axes)
    more = parameters(whole, asked) - parameters(whole, without)
    h0, h1 = Loglinear(whole, without), Loglinear(whole, asked)
    return LikelihoodRatio([Part(evidence, h0)], [Part(evidence, h1)]), more


def independence_ratio(evidence: Evidence, a: str, b: str, given: Sequence[str] = ()) -> LikelihoodRatio:
    """H0: a and b independent (within the cells of `given`), H1: any table."""
    axes = evidence.domain.axes([a, b, *given])
    h0 = Part(evidence, Independence(axes[0], axes[1], axes[2:]))
    return LikelihoodRatio([h0], [Part(evidence, Saturated())])

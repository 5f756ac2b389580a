"""The likelihood ratio through the channels, with a reference that holds its level and an answer that always comes.

Statistic: 2 (log-likelihood under H1 - under H0), H1 being any table without negative cells. Reference: reports drawn
anew from a table of H0 (`null_table`), a thousand replicates at a time, each fitted as the data were, from the
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

from deniable.estimation.joint_tables.loglinear import can_score, generators, parameters, score_loglinear
from deniable.inference.monte_carlo import checked, p_value
from deniable.likelihood.em import TEST_GAP, Fitted, fit
from deniable.likelihood.evidence import Evidence
from deniable.likelihood.hypothesis_models import Factored, Independence, Loglinear, Saturated
from deniable.likelihood.null_table import likely_null, tempered_null

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.likelihood.hypothesis_models import Model
    from deniable.likelihood.stacked_evidence import Stack

    Array = NDArray[np.float64]

_SHARP = 1e-6  # nats left to gain, for the data themselves
_MOST = 3000  # evaluations of a fit before what is left to gain is counted against significance
_WORK = 2.5e9  # what all of them may cost together: about as many nanoseconds
_ONE = 60_000  # evaluations for the data themselves, which are fitted once
_LOOK, _REACHED, _MANY = 99, 20, 500  # of so many replicates or more, the first are looked at before the others
_SMALL = 36  # cells of tables that are fitted together with others
_TOGETHER = 1 << 19  # counts of all replicates of the surveys that are fitted together
_DIGITS, _NEGLIGIBLE = 5, 1e-12  # digits of a null table's shares, and below what they are nothing
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
        short: which replicates were left with more to gain than was wanted.
    """

    value: Array
    low: Array
    high: Array
    null: tuple[Array, ...]
    short: NDArray[np.bool_]

    def among(self, some: slice) -> Statistics:
        """Those of some replicates."""
        null = tuple(pi[..., some] for pi in self.null)
        return Statistics(self.value[some], self.low[some], self.high[some], null, self.short[some])


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

    def statistic(self, y: Array, *, sharp: bool = False, each: int | None = None) -> Statistics:
        """Of every replicate of the counts; `each` says how many of them a survey has, where several lie together."""
        gap, many = _SHARP if sharp else TEST_GAP, each or y.shape[1]
        above = [
            _fit(part, y[here], [None], gap, many) for part, here in zip(self.h1, self._places(self.h1), strict=True)
        ]
        below = [
            _fit(part, y[here], self._starts(part, k, above), gap, many)
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
            short,
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
        return tests_of([self], replicates, [rng])[0]

    @cached_property
    def kind(self) -> object:
        """Ratios of one kind differ in their counts alone, so that their replicates can be fitted together.

        Only those of small tables: fits of larger ones gain little by it. Rounding depends on what is fitted beside,
        and a fit that creeps may stop a step earlier by it, which moves a statistic by less than a thousandth.
        """
        evidence, model = self.h0[0].evidence, self.h0[0].model
        if len(self.h0) > 1 or len(self.h1) > 1 or not isinstance(evidence, Evidence) or evidence.cells > _SMALL:
            return self
        if not isinstance(model, Independence) or not evidence.has_likelihood:
            return self
        return model, evidence.shape, tuple(self._groups[i][0] for i in self._sorted)

    @cached_property
    def _groups(self) -> list[tuple[tuple[str, int, bytes], NDArray[np.int64]]]:
        """Of every group of reports, what tells it from others but its counts, and where its reports stand."""
        evidence = self.h0[0].evidence
        assert isinstance(evidence, Evidence)
        rows, found = evidence.matrix(), []
        for group, here in zip(evidence.likely, evidence.places, strict=True):
            own = np.arange(here.start, here.stop)
            found.append(((type(group.said).__name__, len(own), rows[here].tobytes()), own))
        return found

    @cached_property
    def _sorted(self) -> list[int]:
        """The groups in an order that does not depend on who was asked first."""
        return sorted(range(len(self._groups)), key=lambda i: self._groups[i][0])

    def like(self, other: LikelihoodRatio) -> NDArray[np.int64]:
        """Where the reports of another ratio of this kind stand, in this one's order of groups."""
        place = np.empty(len(self.counts), dtype=np.int64)
        for mine, theirs in zip(self._sorted, other._sorted, strict=True):
            place[self._groups[mine][1]] = other._groups[theirs][1]
        return place

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


def tests_of(ratios: Sequence[LikelihoodRatio], replicates: int, rngs: Sequence[np.random.Generator]) -> list[Tested]:
    """The tests of several surveys, each with its own generator: those of one kind fitted together, some at a time."""
    checked(replicates)
    kinds: dict[object, list[int]] = {}
    for place, ratio in enumerate(ratios):
        kinds.setdefault(ratio.kind, []).append(place)
    found: dict[int, Tested] = {}
    for here in kinds.values():
        found |= zip(here, _together([ratios[k] for k in here], replicates, [rngs[k] for k in here]), strict=True)
    return [found[place] for place in range(len(ratios))]


def _together(
    alike: Sequence[LikelihoodRatio], replicates: int, rngs: Sequence[np.random.Generator]
) -> Iterator[Tested]:
    """The tests of surveys of one kind."""
    # What is fitted beside a survey moves its fit by rounding alone. So that it does not move what is drawn, null
    # tables are brought to a few digits.
    fits = alike[0]
    order = [slice(None) if ratio.kind is ratio else fits.like(ratio) for ratio in alike]
    counts = np.concatenate([ratio.counts[here] for ratio, here in zip(alike, order, strict=True)], axis=1)
    seen = fits.statistic(counts, sharp=True, each=1)
    tables = [_few_digits(pi) for pi in fits.null(seen.null, counts)]
    observed = [seen.among(slice(k, k + 1)) for k in range(len(alike))]
    null = [[pi[..., k : k + 1] for pi in tables] for k in range(len(alike))]

    def draw(which: Sequence[int], times: int) -> dict[int, Statistics]:
        found: dict[int, Statistics] = {}
        some = max(1, _TOGETHER // (len(fits.counts) * max(1, times)))
        for begin in range(0, len(which), some):
            here = which[begin : begin + some]
            y = [alike[k].again(null[k], rngs[k], times)[order[k]] for k in here]
            drawn = fits.statistic(np.concatenate(y, axis=1), each=times)
            found |= {k: drawn.among(slice(place * times, (place + 1) * times)) for place, k in enumerate(here)}
        return found

    first = _LOOK if replicates >= _MANY else replicates
    look = draw(range(len(alike)), first)
    # A p-value above .2 need not be known better than to a few percent; one that matters has all replicates.
    close = [k for k in look if first < replicates and (look[k].high >= observed[k].low).sum() < _REACHED]
    rest = draw(close, replicates - first)
    for k, drawn in look.items():
        yield _told(observed[k], [drawn, rest[k]] if k in rest else [drawn], replicates)


def _few_digits(tables: Array) -> Array:
    """Tables (cells, replicates) with shares of so many digits that neither a machine's rounding nor ours is in them.

    >>> _few_digits(np.array([[1 / 3], [2 / 3]])).ravel().tolist()
    [0.33333, 0.66667]
    """
    size = 10.0 ** (np.floor(np.log10(np.maximum(tables, _NEGLIGIBLE))) - _DIGITS + 1)
    near = np.round(tables / size) * size
    return near / near.sum(axis=tuple(range(near.ndim - 1)))


def _told(observed: Statistics, drawn: Sequence[Statistics], replicates: int) -> Tested:
    """The p-value, and what a reader must know."""
    low, high = float(observed.low[0]), np.concatenate([part.high for part in drawn])
    notes, short = [], sum(int(part.short.sum()) for part in drawn)
    if len(high) < replicates:
        notes.append(f"{len(high)} replicates were enough: p is above .2, far from any level.")
    if short:
        notes.append(
            f"{short} of {len(high)} replicates could not be fitted to the end; what they may have missed is "
            f"counted against significance."
        )
    if observed.short.any():
        notes.append("The data could not be fitted to the end; the statistic was taken as small as it may be.")
    simulated = np.concatenate([part.value for part in drawn])
    return Tested(float(observed.value[0]), p_value(low, high), simulated, tuple(notes))


def _fit(part: Part, y: Array, starts: Sequence[Array | None], gap: float, each: int) -> Fitted:
    evidence, model = part.evidence, part.model
    if isinstance(model, Loglinear) and isinstance(evidence, Evidence) and can_score(evidence, model):
        return score_loglinear(evidence, model, y, gap)
    work = len(y) * each * (30 + evidence.cells / 4)
    most = _ONE if each == 1 else max(50, min(_MOST, int(_WORK / work)))
    return fit(evidence, model, y, starts=starts, gap=gap, most=most, strict=False, newton=True)


def interaction_ratio(evidence: Evidence, a: str, b: str) -> tuple[LikelihoodRatio, int]:
    """H0: no interaction holds both a and b, H1: every interaction of attributes that were asked together.

    The likelihood ratio, and how many parameters more H1 has.
    """
    whole = evidence.domain
    asked = generators(evidence, whole)
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

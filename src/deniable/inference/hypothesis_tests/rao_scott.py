"""Tests for respondents with weights, strata or clusters: Rao and Scott's second-order correction.

A hypothesis is a number of residuals d that are zero under it (`wald`). With u the efficient table of the weighted
reports, J the residuals' derivatives, C the covariance that u would have from as many independent respondents (the
inverse of the reports' information, at the table under H0) and V its covariance by the sampling,

    X2 = d' (J C J')^-1 d,     e_1, e_2, ... the eigenvalues of (J C J')^-1 J V J': the design effects.

X2 is distributed like the sum of e_i times chi-squares of one degree of freedom, which an F distribution meets in mean
and variance (Rao & Scott 1984; R's survey package does the same):

    F = X2 / sum e,     nu = (sum e)^2 / sum e^2  and  nu df  degrees of freedom,

df being the sampling's (`sampling.degrees_of_freedom`; clusters less strata where all are alike).

Never chi-square on weighted counts: they are not counts, and respondents of a cluster are not independent. By the
bootstrap, clusters are drawn anew (Rao & Wu 1988), and X2 of what d then moves by is the reference.

The tests of `association` and `goodness` for respondents with weights, strata or clusters: see `rao_scott`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import TestResult
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, TooFewReportsError
from deniable.estimation.by_group import in_place
from deniable.estimation.notes.denominators import thin_groups, used
from deniable.inference.hypothesis_tests.null_hypotheses import Given, Independent, InEach, Same
from deniable.inference.monte_carlo import p_value
from deniable.likelihood.efficient_estimate import Efficient, efficient_from
from deniable.likelihood.gather import gather
from deniable.sampling.read_sampling import sampling_by
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from deniable.inference.hypothesis_tests.null_hypotheses import Hypothesis
    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]
    from deniable.core.table import Table
    from deniable.estimation.report_sources import Collected

METHODS = ("auto", "rao_scott", "bootstrap")
NONE = 1e-12  # design effects below this are those of clusters that are all alike
_STEP = 1e-30  # the imaginary step of a derivative
_SINGULAR = 1e-9  # smallest eigenvalue of a correlation matrix that can be divided by
_FLOOR = 0.1  # no cell of a null table is below this part of a standard error


@dataclass(frozen=True, eq=False)
class RaoScott:
    """A hypothesis about the table of some attributes, or about the tables of several parts of the population."""

    parts: Sequence[Efficient]
    sampling: Sampling  # of everybody, whatever part they are in
    hypothesis: Hypothesis
    grouped: bool = False

    def _seen(self, tables: Array) -> Array:
        """Tables (parts, cells, replicates) as the hypothesis takes them."""
        shaped = tables.reshape(len(self.parts), *self.parts[0].domain.shape, -1)
        return shaped if self.grouped else shaped[0]

    @cached_property
    def _tables(self) -> Array:
        return np.stack([part.values.ravel() for part in self.parts])[..., None]

    @cached_property
    def residuals(self) -> Array:
        """What is zero under the hypothesis."""
        return self.hypothesis.residuals(self._seen(self._tables))[:, 0]

    @cached_property
    def _null(self) -> Array:
        """The tables under H0 that the estimated ones suggest, (parts, cells)."""
        spread = np.mean([np.sqrt(part.variances.mean()) for part in self.parts])
        null = self.hypothesis.null(self._seen(self._tables), float(_FLOOR * spread))
        return np.asarray(null).reshape(len(self.parts), -1)

    @cached_property
    def _jacobian(self) -> Array:
        """Derivatives of the residuals at the null tables: (residuals, parts x cells)."""
        here = self._null.ravel()
        moved = here[:, None] + 1j * _STEP * np.eye(len(here))
        return np.asarray(self.hypothesis.residuals(self._seen(moved)).imag / _STEP)

    @cached_property
    def plain(self) -> Array:
        """J C J': the residuals' covariance from as many independent respondents under H0."""
        whole = np.zeros((self._jacobian.shape[1],) * 2)
        size = self._null.shape[1]
        for place, (part, null) in enumerate(zip(self.parts, self._null, strict=True)):
            here = slice(place * size, (place + 1) * size)
            whole[here, here] = _expected(part, null)
        return np.asarray(self._jacobian @ whole @ self._jacobian.T)

    @cached_property
    def sampled(self) -> Array:
        """J V J': the residuals' covariance by the sampling."""
        each = [(part.linear, scale) for part, scale in zip(self.parts, self._scales, strict=True)]
        covariance = self.sampling.covariance(*((place, scale * z) for (place, z), scale in each))
        return np.asarray(self._jacobian @ covariance @ self._jacobian.T)

    @cached_property
    def _scales(self) -> list[float]:
        """What turns weights with a mean of one among all into those with a mean of one in each part."""
        return [part.sampling.scale / self.sampling.scale for part in self.parts if part.sampling is not None]

    @cached_property
    def _whitening(self) -> Array:
        """R with R R' = (J C J')^-1, as far as anything varies."""
        scale = np.sqrt(np.maximum(np.diagonal(self.plain), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        values, vectors = np.linalg.eigh(self.plain / np.outer(scale, scale))
        kept = values > _SINGULAR
        if not kept.any():
            raise TooFewReportsError("the reports do not vary in what is tested, so nothing can be tested", n=0)
        return np.asarray((vectors[:, kept] / np.sqrt(values[kept])) / scale[:, None])

    @cached_property
    def effects(self) -> Array:
        """The design effects e."""
        return np.maximum(np.linalg.eigvalsh(self._whitening.T @ self.sampled @ self._whitening), 0.0)

    def _quadratic(self, d: Array) -> Array:
        """X2 of residuals (residuals, replicates)."""
        return ((self._whitening.T @ d) ** 2).sum(axis=0)

    def test(self, method: str, told: str, *, replicates: int, source: Source) -> TestResult:
        """The test by a method, "rao_scott" ("auto") or "bootstrap"."""
        if method not in METHODS:
            raise InputError(
                f"{method!r} takes respondents for independent draws, which weights and clusters are not; with "
                f"weights=, strata= or clusters= choose from {listed(METHODS)}",
                method=method,
            )
        least = min(part.df for part in self.parts)  # refuses parts that lie in one cluster
        x2 = float(self._quadratic(self.residuals[:, None])[0])
        if not (least >= 1 and self.effects.sum() > 0):
            raise TooFewReportsError("clusters do not vary in what is tested, so nothing can be tested", n=0)
        stood_on = used([part.evidence for part in self.parts])
        effect = f"design effects {self.effects.min():.2f} to {self.effects.max():.2f}"
        if method == "bootstrap":
            if replicates < 1:
                raise InputError(f"the bootstrap needs at least 1 replicate, not {replicates}")
            drawn = self._quadratic(self._again(replicates, source) - self.residuals[:, None])
            notes = (f"{replicates} bootstrap replicates, clusters drawn anew in their strata; {effect}.", stood_on)
            return TestResult(x2, p_value(x2, drawn), None, f"{told}, Rao and Wu's bootstrap", notes, drawn)
        notes = (f"{effect}.".capitalize(), stood_on)
        return second_order(x2, self.effects, self.sampling.df, told, notes)

    def _again(self, replicates: int, source: Source) -> Array:
        """The residuals of estimates with clusters drawn anew, (residuals, replicates)."""
        places, tables = zip(*(part.linear for part in self.parts), strict=True)
        ends = np.cumsum([0, *(len(table) for table in tables)]).tolist()
        # A respondent is in one part at most: all parts are drawn together.
        place = np.full(self.sampling.n, -1)
        for first, mine in zip(ends[:-1], places, strict=True):
            place[mine >= 0] = first + mine[mine >= 0]
        drawn, rng = [], source.stream().generator()
        for _, counts in self.sampling.bootstrap(place, ends[-1], replicates, rng):
            own = [
                part.evidence.margin @ part.again(scale * counts[first:last]).T
                for part, scale, (first, last) in zip(self.parts, self._scales, pairwise(ends), strict=True)
            ]
            drawn.append(self.hypothesis.residuals(self._seen(np.stack(own))))
        return np.concatenate(drawn, axis=1)


def second_order(x2: float, effects: Array, df: float, told: str, notes: tuple[str, ...] = ()) -> TestResult:
    """The test of a statistic that is a sum of chi-squares times design effects, df degrees of freedom behind it."""
    from scipy.stats import f

    total = float(effects.sum())
    if total <= NONE:
        return untested(f"{told}, Rao and Scott's second-order correction")
    nu = total**2 / float((effects**2).sum())
    said = f"F = {x2 / total:.4g} with {nu:.3g} and {nu * df:.4g} degrees of freedom."
    p = float(f.sf(x2 / total, nu, nu * df))
    return TestResult(x2 / total, p, nu, f"{told}, Rao and Scott's second-order correction", (said, *notes))


def untested(told: str) -> TestResult:
    """What stands where clusters do not vary in what is tested: no statistic, and the reason."""
    note = "Clusters do not vary in what is tested, so nothing can be tested: more of them are needed."
    return TestResult(float("nan"), float("nan"), None, told, (note,))


def _expected(part: Efficient, null: Array) -> Array:
    """The covariance of the asked cells from as many independent respondents, if the asked table were `null`."""
    margin = part.evidence.margin
    have = margin @ part.likely
    # What rides along keeps its shares within each asked cell.
    lifted = part.likely * (margin.T @ np.divide(null, have, out=np.zeros_like(null), where=have > 0))
    lifted = np.maximum(lifted, 1e-12)
    there = Efficient(part.evidence, lifted / lifted.sum())
    return np.asarray(margin @ there.inverse @ margin.T)


def weighted_independence(
    reports: Collected,
    pair: tuple[str, str],
    given: Sequence[str],
    sampling: Sampling,
    method: str,
    *,
    replicates: int,
    source: Source,
) -> TestResult:
    """Independence of two attributes, within each cell of others or within each value of one public column."""
    public = isinstance(reports, Reports) and reports.public is not None and set(given) & set(reports.public.columns)
    if public:
        if len(given) > 1:
            raise InputError(f"give one public column, or attributes that were asked; not {listed(given)}")
        assert isinstance(reports, Reports)
        parts, thin = _tables(reports, pair, given[0], sampling)
        if not parts:
            raise TooFewReportsError(" ".join([f"no group of {given[0]} can be tested. Join groups.", *thin]), n=0)
        test = RaoScott(list(parts.values()), sampling, InEach(Independent(0, 1)), grouped=True)
        told = f"independence within each value of {given[0]}"
    else:
        axes = tuple(range(2, 2 + len(given)))
        test = RaoScott([_table(reports, (*pair, *given), sampling)], sampling, Independent(0, 1, axes))
        told = "independence" if not given else f"independence given {' and '.join(given)}"
    found = test.test(method, told, replicates=replicates, source=source)
    return replace(found, notes=(*found.notes, *thin)) if public else found


def weighted_goodness(
    reports: Collected, expected: Table, sampling: Sampling, method: str, *, replicates: int, source: Source
) -> TestResult:
    """Goodness of fit to a given table."""
    found = _table(reports, expected.attributes, sampling)
    test = RaoScott([found], sampling, Given(expected.values))
    return test.test(method, "goodness of fit", replicates=replicates, source=source)


def weighted_homogeneity(
    reports: Reports,
    names: Sequence[str],
    by: str,
    sampling: Sampling,
    method: str,
    *,
    replicates: int,
    source: Source,
) -> TestResult:
    """The same distribution in all public groups, which clusters may tie to each other."""
    groups, thin = _tables(reports, names, by, sampling)
    if len(groups) < 2:
        there = f"only {listed(groups)}" if groups else "no group"
        told = " ".join([f"there is {there}, and groups are compared with each other. Join groups.", *thin])
        raise TooFewReportsError(told, n=0)
    test = RaoScott(list(groups.values()), sampling, Same(tuple(range(len(names)))), grouped=True)
    found = test.test(method, f"homogeneity of {listed(groups)}", replicates=replicates, source=source)
    return replace(found, notes=(*found.notes, *thin))


def _tables(
    reports: Reports, names: Sequence[str], by: str, sampling: Sampling
) -> tuple[dict[Any, Efficient], tuple[str, ...]]:
    """The efficient table of each public group, and which show no variance and are left out, with how many reports."""

    def of_group(part: Sampling) -> Efficient:
        found = _table(reports, names, part)
        found.df  # noqa: B018 - refuses groups that lie in one cluster
        return found

    parts = dict(sampling_by(reports, by, sampling))
    found, refused = in_place(parts.items(), of_group)
    sizes = {group: int(parts[group].within.sum()) for group in refused}
    out = [f"{n} {why}" for why, n in thin_groups(by, sizes, refused).items()]
    return found, ((f"Left out: {'; '.join(out)}.",) if out else ())


def _table(reports: Collected, names: Sequence[str], sampling: Sampling) -> Efficient:
    """The efficient table of some attributes, of those whom the sampling looks at."""
    found = efficient_from(gather(reports, names, sampling=sampling).require())
    if not found.determined:
        raise TooFewReportsError(
            f"the reports say too little about {listed(names)} to test anything", n=found.evidence.n
        )
    return found

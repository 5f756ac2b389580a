"""Several sources: are they one population, and the average over their respondents where they are not.

Reports of several sources (waves, devices, regions) are pooled as if all spoke of one table, each weighted by what it
tells. Where that is not so, the result is no share of anybody: a small wave that is less disguised may count for more
than a large one. With s_i and F_i the score and the information of source i at the pooled table, over the tables that
sum to zero, the sources' best tables differ from their common one by

    X2 = sum of s_i' F_i^+ s_i  -  s' F^+ s,      s = sum of s_i,  F = sum of F_i,

which is like chi-square with (sum of the ranks of F_i) - (rank of F) degrees of freedom if they are one population. Of
a survey with weights or clusters it is divided by the mean design effect of the cells (Rao & Scott's first order), and
is like F with the survey's degrees of freedom.

The average over respondents gives every source its number of respondents for its weight, whatever its reports tell.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from deniable.core.summary import Lasting
from deniable.core.table import Table
from deniable.designs.observation import Observation
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.tallies import Tallies
from deniable.errors import InputError, NotCoveredError, SourcesDifferWarning
from deniable.estimation.estimate import Estimate
from deniable.estimation.intervals import variance_of
from deniable.estimation.inversion import pool
from deniable.estimation.report_sources import sources_of
from deniable.frozen import Frozen
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.efficient_estimate import Efficient, tangent_inverse
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.likelihood.gather import Reported, correlated, gather
from deniable.likelihood.report_group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]

Combine = Literal["common", "average"]
DIFFER = 0.05  # of a test: below this, sources are said to differ


@dataclass(frozen=True)
class Agreement(Frozen):
    """The test of one common population.

    Attributes:
        statistic: X2, divided by the design effect where there is one.
        df: its degrees of freedom.
        pvalue: how often sources of one population are at least as far apart.
    """

    statistic: float
    df: int
    pvalue: float

    @property
    def words(self) -> str:
        """The result in words."""
        p = "p < 0.001" if self.pvalue < 0.001 else f"p = {self.pvalue:.3f}"
        return f"test of one common population: chi-square {self.statistic:.2f} with {self.df} df, {p}"

    def warnings(self, so: str, of: int = 1, about: str = "") -> tuple[str, ...]:
        """What must be known where sources differ, and what follows; the smallest of so many tests counts for one."""
        if self.pvalue * of >= DIFFER:
            return ()
        return (Lasting(f"The sources differ{about} ({self.words}). They are taken for one population{so}"),)


COUNTS = ", to which each counts by how much its reports tell, not by how many respondents it has."
ESTIMATED = f'{COUNTS} combine="average" gives the average over respondents; or estimate each source by itself.'
FITTED = f"{COUNTS} Test each source by itself."
ASSOCIATED = (
    ": where both attributes differ between sources they look associated although they are not within any, and the "
    "p-value takes that for association. Test each source by itself."
)
DEALT = f"{COUNTS} Make the records of each source by itself."


def agreement(told: Evidence, sources: Sequence[Reported], pooled: Efficient) -> Agreement | None:
    """Test that all sources speak of one table; None where there is nothing to compare, or too much to compute."""
    if len(sources) < 2 or told.cells > DENSE_CELLS:
        return None
    score, information, apart, df = np.zeros(told.cells), np.zeros((told.cells, told.cells)), 0.0, 0
    for evidence in _each(told, sources):
        if not all(set(group.said.part) <= set(told.domain) for group in evidence.groups):
            return None  # by itself it brings other attributes along than all do together
        here = replace(evidence, domain=told.domain, groups=tuple(Group(g.said, told.domain) for g in evidence.groups))
        s = here.evaluate(pooled.likely.reshape(*told.domain.shape, 1))[1].ravel()
        own = here.information(pooled.likely)
        quadratic, rank = _explained(s, own, pooled.likely)
        score, information, apart, df = score + s, information + own, apart + quadratic, df + rank
    common, rank = _explained(score, information, pooled.likely)
    return None if df <= rank else _judged(max(apart - common, 0.0), df - rank, pooled)


def differing(
    reports: Any, tables: Sequence[Sequence[str]], so: str, sampling: Sampling | None = None
) -> tuple[str, ...]:
    """That several sources, taken for one population, are not; what follows from it is for whoever asks to say.

    Of several tables the one counts in which they differ most, by the smallest of so many p-values.
    """
    sources = in_one_order(sources_of(reports))
    if len(sources) < 2 or any(map(correlated, sources)):
        return ()
    found = [(each, names) for names in tables if (each := _compared(sources, names, sampling)) is not None]
    if not found and any(len(names) > 1 for names in tables):  # a table that no source tells: its attributes
        return differing(reports, [[name] for name in dict.fromkeys(chain.from_iterable(tables))], so, sampling)
    if not found:
        return ()
    clearest, names = min(found, key=lambda each: each[0].pvalue)
    return clearest.warnings(so, len(found), f" about {' and '.join(names)}" if len(found) > 1 else "")


def warn_of_differing(reports: Any, names: Sequence[str], so: str, sampling: Sampling | None = None) -> None:
    """The same as a warning, where the answer has no place for sentences."""
    for told in differing(reports, [names], so, sampling):
        warnings.warn(told, SourcesDifferWarning, stacklevel=3)


def _compared(sources: Sequence[Reported], names: Sequence[str], sampling: Sampling | None) -> Agreement | None:
    told = gather(list(sources), names, sampling=sampling)
    pooled, _ = pool(told, "super", sources)
    return None if pooled is None else agreement(told, sources, pooled)


def _each(told: Evidence, sources: Sequence[Reported]) -> Iterator[Evidence]:
    """What each source says by itself."""
    names = list(told.asked)
    if told.sampling is None:
        for source in sources:
            heard = [name for name in names if name in _asked(source)]
            if heard:
                yield gather([source], heard)
        return
    place = np.repeat(np.arange(len(sources)), [source.n for source in sources])
    for number in range(len(sources)):
        yield gather(list(sources), names, sampling=told.sampling.only(place == number))


def _asked(source: Reported) -> set[str]:
    """What a source may speak of."""
    if isinstance(source, Tallies):
        return set(source.attributes)
    return set(source.domain if isinstance(source, Observation) else source.design.domain)


def _explained(score: Array, information: Array, likely: Array) -> tuple[float, int]:
    """S' F^+ s, and the rank of F."""
    inverse, told = tangent_inverse(information, likely)
    return float(score @ inverse @ score), round(float(np.trace(told)))


def _judged(statistic: float, df: int, pooled: Efficient) -> Agreement:
    from scipy.stats import chi2, f

    if np.isinf(pooled.df):
        return Agreement(statistic, df, float(chi2.sf(statistic, df)))
    effect = float(pooled.along(np.eye(pooled.domain.cells)).design_effect.mean())
    return Agreement(statistic / effect, df, float(f.sf(statistic / effect / df, df, pooled.df)))


def checked(combine: Combine, sampling: Sampling | None) -> Combine:
    """How sources are combined, if that is how they can be."""
    if combine not in get_args(Combine):
        raise InputError(f'several sources are combined as "common" or "average", not as {combine!r}')
    if combine == "average" and sampling is not None:
        raise InputError(
            'with weights, whom a respondent stands for is said by the weights: leave combine="average" out, or '
            "estimate each source by itself"
        )
    return combine


def averaged(sources: Sequence[Reported], one: Callable[[Reported], Estimate]) -> Estimate:
    """The average of the sources' own estimates, each weighted by its respondents.

    Errors are those of the reports of each source that cover the table.
    """
    estimates = [one(source) for source in sources]
    if not all(found.dispersion.samples for found in estimates):
        raise NotCoveredError(
            "the average over respondents needs reports that cover the table in every source, and one has none. "
            "Estimate each source by itself",
            attributes=estimates[0].attributes,
        )
    people = np.array([source.n for source in sources], dtype=np.float64)
    weights, first = people / people.sum(), estimates[0]
    domain, backend = first.table.domain, first.table.backend
    samples = [
        replace(sample, weight=float(weight) * sample.weight)
        for weight, found in zip(weights, estimates, strict=True)
        for sample in found.dispersion.samples
    ]
    values, unbiased = (
        Table(domain, np.tensordot(weights, [getattr(found, of).values for found in estimates], axes=1), backend)
        for of in ("table", "unbiased")
    )
    shares = ", ".join(f"{weight:.1%}" for weight in weights)
    each = " / ".join(dict.fromkeys(found.reason for found in estimates))
    reason = f"the average over the respondents of {len(sources)} sources, who are {shares} of them; each: {each}"
    dispersion = Averaged(samples, domain, first.dispersion.population)
    n, warned = sum(found.n for found in estimates), tuple(dict.fromkeys(w for e in estimates for w in e.warnings))
    gaps = [found.gap for found in estimates if found.gap is not None]
    gap = max(gaps) if gaps else None
    return Estimate(values, unbiased, dispersion, n, first.method, reason, warned, labels=first.labels, gap=gap)


@dataclass(frozen=True, eq=False)
class Averaged(Dispersion):
    """The covariance of an average of samples from populations of their own."""

    @property
    def design_effect(self) -> Array:
        """The variance over that of samples that all had the average share, which score intervals are made of."""
        alike, x = np.zeros(self.domain.shape), np.zeros(self.domain.shape)
        for sample in self.samples:
            x = x + sample.weight * sample.estimate
        for sample in self.samples:
            a, b, c = variance_of(sample, self.population)
            alike = alike + sample.weight**2 * (a + b * x + c * x**2)
        return np.divide(self.variances, alike, out=np.ones_like(alike), where=(alike > 0) & (self.variances > 0))

    def at(self, truth: Array) -> Averaged:  # noqa: ARG002 - which table each population would have is not known
        """Itself."""
        return self

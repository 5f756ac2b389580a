"""`estimate`: from reports to a table with honest errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from deniable.channels.channel import Channel
from deniable.core.category_order import refuse_other_order
from deniable.core.domain import Domain
from deniable.core.table import Table
from deniable.designs.observation import Observation, merge
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.errors import InputError
from deniable.estimation.by_group import Grouped, grouped
from deniable.estimation.counted_question import ANSWER, counted
from deniable.estimation.estimate import Estimate
from deniable.estimation.inversion import covering, invert, only_covering, pool
from deniable.estimation.joint_tables.uncovered_tables import ENGINES, forget_blocks, model_estimate
from deniable.estimation.least_squares import MOST_CELLS as LEAST_SQUARES_CELLS
from deniable.estimation.least_squares import least_squares, nearest
from deniable.estimation.notes.sources import origin_of, sources_of, with_what_is_known
from deniable.estimation.several_sources import ESTIMATED, agreement, averaged, checked
from deniable.estimation.shrinkage import shrink
from deniable.extensions.paired.pair_variance import pair_notes, pair_warnings, with_pairs
from deniable.keywords import answering
from deniable.likelihood.covariance_operator import Dispersion, Population
from deniable.likelihood.efficient_estimate import OfEvidence, determined, inverted
from deniable.likelihood.em import MOST_CELLS, maximum_likelihood
from deniable.likelihood.gather import among_asked, gather, unheard
from deniable.likelihood.linearization import linearized
from deniable.numerics.simplex import norm_sub
from deniable.sampling.read_sampling import sampling_of
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.estimation.several_sources import Combine
    from deniable.likelihood.efficient_estimate import Efficient
    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.read_sampling import Given, Weights
    from deniable.sampling.sampling import Sampling

Method = Literal[
    "auto", "inversion", "norm_sub", "mle", "wls", "shrink", "product", "loglinear", "ipf", "qp", "l1", "graphical"
]
# What was collected: reports, what a simulation tallied, counts; or several of these, pooled.
Collected = Reports | Tallies | Observation | Sequence[Reports | Tallies | Observation]

# Above this many average cells, a typical standard error makes the joint table worse than the product of marginals:
# measured on tables with Cramer's V from 0 to .5, the two cross between 1.5 and 8.
SHRINK_ABOVE = 4.0


@overload
def estimate(reports: ArrayLike, attributes: Channel, method: Method = ...) -> Estimate: ...


@overload
def estimate(
    reports: Collected,
    attributes: str | Iterable[str] | None = ...,
    method: Method = ...,
    by: None = ...,
    *,
    population: Population = ...,
    gap: float | None = ...,
    weights: Weights = ...,
    strata: Given = ...,
    clusters: Given = ...,
    combine: Combine = ...,
) -> Estimate: ...


@overload
def estimate(
    reports: Collected,
    attributes: str | Iterable[str],
    method: Method = ...,
    *,
    by: str,
    population: Population = ...,
    gap: float | None = ...,
    weights: Weights = ...,
    strata: Given = ...,
    clusters: Given = ...,
    combine: Combine = ...,
) -> Grouped: ...


@overload
def estimate(
    reports: Collected,
    attributes: str | Iterable[str],
    method: Method,
    by: str,
    *,
    population: Population = ...,
    gap: float | None = ...,
    weights: Weights = ...,
    strata: Given = ...,
    clusters: Given = ...,
    combine: Combine = ...,
) -> Grouped: ...


@answering
def estimate(
    reports: Collected | ArrayLike,
    attributes: str | Iterable[str] | Channel | None = None,
    method: Method = "auto",
    by: str | None = None,
    *,
    population: Population = "super",
    gap: float | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
    combine: Combine = "common",
) -> Estimate | Grouped:
    """Estimate the joint table of some attributes.

    Args:
        reports: what respondents sent (or a simulation's tallies, or observations; or a list of these, pooled); or how
            often each report came, with their channel in the place of the attributes (by label where the counts have
            labels, as `value_counts` does; else in the channel's order).
        attributes: whose joint table is wanted; may be left out where there is only one.
        method: "inversion" (of the reports that cover the table, with their errors alone; may be negative, and shares
            of sets, each counted by itself, need not sum to one), "norm_sub"
            (the projection of the efficient estimate to the simplex), "mle" (maximum likelihood), "wls" (weighted least
            squares on the simplex), "shrink" (towards the product of marginals), "product" (the product itself, of
            marginals without negative cells: RR-Independent), or "auto": "mle" ("wls" where sets were only counted)
            when the table is small for the reports at hand, else "shrink". For tables that no question covers, "auto"
            is "loglinear" ("ipf" where reports are sets); "ipf", "qp", "l1", "graphical": see `consistency`.
        by: a public column; the result then has an estimate for each of its values.
        population: "super" (respondents are a sample: the default) or "fixed" (only the people at hand matter: their
            answers are held fixed, and who drew which ballot and the disguise are what errors are of).
        gap: for "mle", how many nats of log-likelihood may be left to gain; by default as many as do not show.
        weights: survey weights: one a respondent, the name of a public column, or what `rake` or `replicate_weights`
            returns. Errors are then those of the sampling, see `sampling`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster (primary sampling unit), or the name of a public column.
        combine: what several sources are: "common", one population, to which each counts by what its reports tell (it
            is tested, and said where they differ); or "average", populations of their own, over whose respondents is
            averaged. See `estimation.several_sources`.

    Returns:
        An `Estimate`, or `Grouped` ones, a mapping from each group to its estimate, when `by` is given. A group of
        which too few have answered has that said in its place.
    """
    if isinstance(attributes, Channel):
        return estimate(counted(reports, attributes), ANSWER, method)
    collected = _collected(reports, attributes)
    names, by = _names(collected, attributes), _column(by)
    refuse_public(collected, names)
    if isinstance(collected, Reports):
        collected.design.domain.project(names)  # an attribute that there is not is told with those that there are
    sampling = sampling_of(collected, weights, strata, clusters)
    if sampling is not None and population == "fixed":
        raise InputError(
            "weights, strata and clusters are about a larger population that respondents were drawn from; leave "
            'population="fixed" out'
        )
    one = partial(_estimate, names=names, method=method, population=population, gap=gap)
    if checked(combine, sampling) == "average" and by is None:
        return replace(averaged(sources_of(collected), one), origin=origin_of(collected))
    if by is None:
        return one(collected, sampling=sampling)
    if not isinstance(collected, Reports):
        several = ": estimate each source by itself" if isinstance(collected, list | tuple) else ""
        raise InputError(f"by= takes one set of reports with public columns{several}; counts and simulations have none")
    return grouped(collected, names, by, sampling, one)


def _estimate(
    reports: Collected,
    names: Sequence[str],
    method: Method,
    *,
    population: Population,
    gap: float | None,
    sampling: Sampling | None = None,
) -> Estimate:
    """Estimate one table; of a part of the respondents where the sampling looks at some only."""
    sources = sources_of(reports)
    paired = any(getattr(getattr(source, "design", None), "pairs_reports", False) for source in sources)
    if paired:
        sources = [among_asked(source, names) for source in sources]
    told = None if paired else gather(list(sources), names, sampling=sampling, singly=method == "mle")
    observations = (
        observations_of(sources, names) if told is None else [group.said.observation() for group in told.groups]
    )
    domain = _domain(observations, names, sources)
    backend = next((r.backend for r in sources if isinstance(r, Reports | Tallies)), None)
    usable = inverted(observations)
    if not any(set(domain) <= set(o.domain) for o in usable):
        if told is None or len(usable) == len(observations):
            found: Estimate = model_estimate(observations, domain, method, backend=backend, told=told)
        else:
            found = _from_evidence(told, observations, method, gap, backend)
        wider = "; errors are those of a sample from a larger population" if population == "fixed" else ""
        return with_what_is_known(replace(found, reason=found.reason + wider), reports, names)
    samples = covering(usable, domain)
    unbiased = Table(domain, invert(samples), backend)
    if sampling is None or told is None:
        dispersion = with_pairs(Dispersion(samples, domain, population), sources)
    else:
        dispersion = linearized(told, samples, domain)
    pooled, errors = pool(told, population, sources)
    if pooled is None and population == "fixed" and told is not None:
        # An estimate is never shown beside the errors of another.
        told, usable = only_covering(told), [sample.observation for sample in samples]
    if method == "inversion" and pooled is not None and not np.allclose(pooled.values, unbiased.values, atol=1e-9):
        # An estimate is never shown beside the errors of another.
        pooled, errors = None, ["errors are its own: other estimates use more of what the reports say"]
    alike = None if pooled is None or told is None else agreement(told, sources, pooled)
    # The likelihood of what errors are of: sets that count by their moments there do so in the estimate beside them.
    chosen, why = _choose(method, unbiased, pooled or dispersion, told if pooled is None else pooled.weighed)
    table, what, short = _apply(chosen, _Known(unbiased, dispersion, pooled, told, usable), gap)
    drawn = [] if sampling is None else [sampling.words]
    tested = [] if alike is None else [alike.words]
    reason = "; ".join([*why, what, *errors, *drawn, *tested, *pair_notes(dispersion, sources)])
    n = sum(s.observation.n for s in samples)
    warned = (
        *(() if sampling is None else sampling.warnings),
        *(() if alike is None else alike.warnings(ESTIMATED)),
        *pair_warnings(dispersion, n),
    )
    found = Estimate(table, unbiased, dispersion, n, chosen, reason, warned, pooled=pooled, gap=short)
    return with_what_is_known(found, reports, names)


def _from_evidence(
    told: Evidence, observations: Sequence[Observation], method: Method, gap: float | None, backend: str | None
) -> Estimate:
    """Where no channel that covers the table can be inverted: the efficient estimate is the unbiased core."""
    domain = told.asked
    pooled = determined(told, domain, observations)
    unbiased = Table(domain, pooled.values, backend)
    dispersion = OfEvidence((), domain, "super", pooled)
    chosen = method if method != "auto" else "mle" if pooled.weighed.has_likelihood else "wls"
    if chosen == "inversion":
        table, what, short = unbiased, "the efficient estimate, nothing clipped", None
    else:
        table, what, short = _apply(chosen, _Known(unbiased, dispersion, pooled, told, inverted(observations)), gap)
    why = "its channels tell only some sums of the shares and cannot be inverted one by one"
    drawn, rough = ([], ()) if told.sampling is None else ([told.sampling.words], told.sampling.warnings)
    reason = "; ".join([why, what, *drawn])
    return Estimate(table, unbiased, dispersion, told.n, chosen, reason, rough, pooled=pooled, gap=short)


@dataclass(frozen=True, eq=False)
class _Known:
    """What an estimate is made of."""

    unbiased: Table
    dispersion: Dispersion
    pooled: Efficient | None
    told: Evidence | None
    observations: Sequence[Observation]

    @property
    def efficient(self) -> Table:
        """From as many reports as errors are stated from, nothing clipped."""
        if self.pooled is None:
            return self.unbiased
        return Table(self.unbiased.domain, self.pooled.values, self.unbiased.backend)


def observations_of(reports: Collected, attributes: Sequence[str]) -> list[Observation]:
    """Everything the reports say about some attributes, samples of the same kind merged."""
    observations: list[Observation] = []
    for source in in_one_order(sources_of(reports)):
        if isinstance(source, Observation):
            observations += [source] if set(source.domain) & set(attributes) else []
        else:
            observations += source.tabulate(attributes)
    refuse_other_order(observation.domain for observation in observations)
    return merge(observations)


def _collected(reports: Any, attributes: object) -> Collected:
    """What was handed in, if anything can be estimated from it; else the line to write."""
    if isinstance(reports, Reports | Tallies | Observation):
        return reports
    asked = repr(attributes) if isinstance(attributes, str) else "..."
    if isinstance(reports, str | Path):
        raise InputError(
            f"estimates are made from reports, not from the name of a file: write "
            f"estimate(open_reports({str(reports)!r}), {asked})"
        )
    if hasattr(reports, "columns"):
        raise InputError(
            f"a data frame does not say how its answers were disguised: write estimate(Reports(frame, design), "
            f"{asked}) with the design that made it, or, if it is not disguised at all, Table.count(frame, domain)"
        )
    held = list(reports) if isinstance(reports, list | tuple) else []
    if not held or not all(isinstance(each, Reports | Tallies | Observation) for each in held):
        raise InputError(
            f"estimates are made from reports (or several), not from {type(reports).__name__}; counts go with their "
            f"channel, as in estimate([60, 40], Warner(0.8)), single answers with prevalence(answers, Warner(0.8))"
        )
    return in_one_order(held)


def _names(reports: Any, attributes: str | Iterable[str] | None) -> list[str]:
    if attributes is not None:
        if not isinstance(attributes, str | Iterable):
            raise InputError(f"attributes are named, such as 'smokes' or ['smokes', 'sleep'], not {attributes!r}")
        return [attributes] if isinstance(attributes, str) else list(attributes)
    first = sources_of(reports)[0]
    known = list(first.domain if isinstance(first, Observation) else first.design.domain)
    if len(known) == 1:
        return known
    raise InputError(
        f"say whose table is wanted, such as estimate(reports, {known[0]!r}); for every attribute by itself, "
        f"{{name: estimate(reports, name) for name in reports.design.domain}}",
        attributes=tuple(known),
    )


def _column(by: Any) -> str | None:
    """The one public column to group by; a list of it will do."""
    if isinstance(by, list | tuple):
        if len(by) != 1:
            raise InputError(
                f"groups are those of one public column, not of {listed(by)}: combine them into a column of their own, "
                f"and let that ride along with randomize(frame, keep=[...])"
            )
        by = by[0]
    return None if by is None else str(by)


def refuse_public(reports: object, names: Sequence[str]) -> None:
    """A public attribute is nothing to be estimated: it is known. Say how the others are found within its groups."""
    if not isinstance(reports, Reports):
        return
    public = [name for name in names if name in reports.public_names and name not in reports.design.domain]
    if not public:
        return
    others = [name for name in names if name not in public]
    if not others:
        raise InputError(f"{public[0]!r} is public: it was not disguised, and counting it needs no estimate")
    written = repr(others[0]) if len(others) == 1 else repr(others)
    raise InputError(
        f"{public[0]!r} is public: it travels in clear, so the others are estimated within each of its groups. Write "
        f"estimate(reports, {written}, by={public[0]!r}), or on the command line --table {','.join(others)} --by "
        f"{public[0]}",
        attribute=public[0],
    )


def _domain(
    observations: Sequence[Observation], names: Sequence[str], sources: Sequence[Reports | Tallies | Observation]
) -> Domain:
    known = {v.name: v for o in observations for v in o.domain.values()}
    missing = [name for name in names if name not in known]
    if missing:
        raise unheard(missing, known, sources)
    return Domain([known[name] for name in names])


def _choose(
    method: Method, unbiased: Table, errors: Dispersion | Efficient, told: Evidence | None
) -> tuple[str, list[str]]:
    """Settle "auto", with the reason."""
    if method != "auto":
        return method, []
    cells = unbiased.values.size
    noise = float(np.sqrt(errors.variances.mean())) * cells
    large = f"a typical standard error is {noise:.2g} times the average cell"
    if len(unbiased.domain) > 1 and noise > SHRINK_ABOVE:
        return "shrink", [f"{large}, more than {SHRINK_ABOVE:g}, so the joint table alone would be mostly noise"]
    if told is not None and not told.has_likelihood:
        if cells > LEAST_SQUARES_CELLS:
            return "norm_sub", [f"some reports have no likelihood, and {cells} cells are too many for least squares"]
        return "wls", ["some reports are known by their moments alone, which have no likelihood"]
    if len(unbiased.domain) > 1 and cells > MOST_CELLS:
        return "shrink", [f"{cells} cells are too many for maximum likelihood (at most {MOST_CELLS})"]
    return "mle", [large if len(unbiased.domain) > 1 else "one attribute"]


def _apply(method: str, known: _Known, gap: float | None) -> tuple[Table, str, float | None]:
    """The table by a method, what was done in words, and how many nats a likelihood is short of the best at most."""
    efficient, dispersion, observations = known.efficient, known.dispersion, known.observations
    domain, backend = efficient.domain, efficient.backend
    if method == "inversion":
        return known.unbiased, "the channel inverted, nothing clipped", None
    if method in ("norm_sub", "wls"):
        weighted = method == "wls"
        values = _least_squares(known) if weighted else norm_sub(efficient.values)
        told = "the nearest table without negative cells" + (", distance measured in its errors" if weighted else "")
        return Table(domain, values, backend), told, None
    if method == "mle":
        fit = maximum_likelihood(observations if known.told is None else known.told, domain, gap=gap)
        what = "maximum likelihood from all reports that speak of any of them"
        return Table(domain, fit.table.values, backend), what, fit.gap
    if method == "shrink":
        variance = float((known.pooled or dispersion).variances.sum())
        shrunk = shrink(efficient, variance, [Table(m.domain, m.values) for m in _one_way(observations, domain)])
        what = f"shrunk to the product of marginals, of which the joint table kept {shrunk.weight:.0%}"
        return shrunk.table, what, None
    if method in ENGINES:
        fitted, what = ENGINES[method](forget_blocks(observations), domain)
        return Table(domain, fitted.values, backend), what, None
    methods = ["auto", "inversion", "norm_sub", "mle", "wls", "shrink", *ENGINES]
    raise InputError(f"there is no method {method!r}; choose from {listed(methods)}", method=method)


def _least_squares(known: _Known) -> NDArray[np.float64]:
    if known.pooled is None:
        return least_squares(known.unbiased.values, known.dispersion)
    shape = known.unbiased.shape
    return nearest(known.pooled.values.ravel(), known.pooled.matrix()).reshape(shape)


def _one_way(observations: Sequence[Observation], domain: Domain) -> list[Table]:
    """Unbiased one-way tables, each from every observation that speaks of its attribute."""
    return [Table(part, _unbiased(observations, part)) for part in (domain.project(name) for name in domain)]


def _unbiased(observations: Sequence[Observation], part: Domain) -> NDArray[np.float64]:
    """What one attribute's reports say; sets miss or exceed a total of one by chance, which is spread evenly."""
    table = invert(covering(observations, part))
    return table - (table.sum() - 1) / table.size

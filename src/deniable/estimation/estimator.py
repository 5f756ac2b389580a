"""`estimate`: from reports to a table with honest errors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from deniable.channels.channel import Channel
from deniable.core.table import Table
from deniable.designs.extension import extensions_of
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.errors import InputError
from deniable.estimation.by_group import Grouped, grouped
from deniable.estimation.choose_method import Known, Made, Method, choose, made_by
from deniable.estimation.estimate import Estimate
from deniable.estimation.inversion import only_covering, pool, pooled_inverse
from deniable.estimation.joint_tables.uncovered_tables import model_estimate
from deniable.estimation.report_sources import (
    ANSWER,
    Collected,
    collected_from,
    counted_question,
    group_column,
    names_of,
    origin_of,
    refuse_public,
    sources_of,
    with_what_is_known,
)
from deniable.estimation.several_sources import ESTIMATED, agreement, averaged, checked
from deniable.likelihood.efficient_estimate import OfEvidence, determined
from deniable.likelihood.gather import among_asked, correlated, gather, tabulated
from deniable.likelihood.linearization import linearized
from deniable.sampling.read_sampling import sampling_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from deniable.estimation.several_sources import Combine
    from deniable.likelihood.covariance_operator import Dispersion, Population
    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.read_sampling import Given, Weights
    from deniable.sampling.sampling import Sampling


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
        return estimate(counted_question(reports, attributes), ANSWER, method)
    collected = collected_from(reports, attributes)
    names, by = names_of(collected, attributes), group_column(by)
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
    dependent = any(map(correlated, sources))
    if dependent:
        sources = [among_asked(source, names) for source in sources]
        told = tabulated(sources, names, everybody=True)
    else:
        told = gather(list(sources), names, sampling=sampling, singly=method == "mle")
    domain, backend = told.asked, next((r.backend for r in sources if isinstance(r, Reports | Tallies)), None)
    if not told.covers:
        if any(group.said.channel.is_partial for group in told.groups):
            found = _from_evidence(told, method, gap, backend)
        else:
            found = model_estimate(told, method, backend=backend)
        wider = "; errors are those of a sample from a larger population" if population == "fixed" else ""
        return with_what_is_known(replace(found, reason=found.reason + wider), reports, names)
    dispersion = pooled_inverse(told, population=population)
    unbiased = Table(domain, dispersion.estimate, backend)
    if sampling is not None:
        dispersion = linearized(told, dispersion)
    for extension in extensions_of(sources):
        dispersion = cast("Dispersion", extension.covariance(dispersion, sources))
    pooled, errors = pool(told, population, sources)
    if pooled is None and population == "fixed":
        # An estimate is never shown beside the errors of another.
        told = only_covering(told)
    if method == "inversion" and pooled is not None and not np.allclose(pooled.values, unbiased.values, atol=1e-9):
        # An estimate is never shown beside the errors of another.
        pooled, errors = None, ["errors are its own: other estimates use more of what the reports say"]
    alike = None if pooled is None else agreement(told, sources, pooled)
    known = Known(unbiased, dispersion, pooled, told)
    chosen, why = choose(method, known)
    made = made_by(chosen, known, gap)
    drawn = [] if sampling is None else [sampling.words]
    tested = [] if alike is None else [alike.words]
    reason = "; ".join([*why, made.words, *errors, *drawn, *tested, *dispersion.notes])
    warned = (
        *(() if sampling is None else sampling.warnings),
        *(() if alike is None else alike.warnings(ESTIMATED)),
        *dispersion.warnings,
    )
    found = Estimate(
        made.table, unbiased, dispersion, dispersion.n, chosen, reason, warned, pooled=pooled, gap=made.gap
    )
    return with_what_is_known(found, reports, names)


def _from_evidence(told: Evidence, method: Method, gap: float | None, backend: str | None) -> Estimate:
    """Where no channel that covers the table can be inverted: the efficient estimate is the unbiased core."""
    pooled = determined(told)
    unbiased, dispersion = Table(told.asked, pooled.values, backend), OfEvidence((), told.asked, "super", pooled)
    chosen = method if method != "auto" else "mle" if pooled.weighed.has_likelihood else "wls"
    if chosen == "inversion":
        made = Made(unbiased, "the efficient estimate, nothing clipped")
    else:
        made = made_by(chosen, Known(unbiased, dispersion, pooled, told), gap)
    why = "its channels tell only some sums of the shares and cannot be inverted one by one"
    drawn, rough = ([], ()) if told.sampling is None else ([told.sampling.words], told.sampling.warnings)
    reason = "; ".join([why, made.words, *drawn])
    return Estimate(made.table, unbiased, dispersion, told.n, chosen, reason, rough, pooled=pooled, gap=made.gap)

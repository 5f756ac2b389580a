"""Goodness of fit to a given distribution, and homogeneity across public groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.category_order import refuse_other_order
from deniable.core.domain import Domain
from deniable.core.input_coercion import by_cell
from deniable.core.results import TestResult
from deniable.core.table import Table
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, InvalidTestError, TooFewReportsError
from deniable.estimation.by_group import in_place
from deniable.estimation.notes.denominators import asked_groups, thin_groups, used
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.report_sources import sources_of
from deniable.estimation.several_sources import FITTED, differing
from deniable.inference.hypothesis_tests.choose_test import about, covering, refuse_to_test_pairs
from deniable.inference.hypothesis_tests.likelihood_ratio import LikelihoodRatio, Part
from deniable.inference.hypothesis_tests.pearson_and_wald import chi_square
from deniable.inference.hypothesis_tests.rao_scott import weighted_goodness, weighted_homogeneity
from deniable.inference.monte_carlo import data_source, generator_of
from deniable.likelihood.evidence import Evidence
from deniable.likelihood.hypothesis_models import GivenMargin, SameMargin, Saturated
from deniable.likelihood.quasi_likelihood import Quasi, countable
from deniable.likelihood.report_group import Group
from deniable.likelihood.report_likelihoods import Counted
from deniable.likelihood.stacked_evidence import Stack
from deniable.sampling.read_sampling import sampling_of
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from deniable.estimation.report_sources import Collected
    from deniable.sampling.read_sampling import Given, Weights


@stamped
def goodness_of_fit(
    reports: Collected,
    attributes: str | Iterable[str],
    expected: Any,
    method: str = "auto",
    *,
    replicates: int = 999,
    source: Source | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> TestResult:
    """Test whether the joint distribution of some attributes is a given one.

    Args:
        reports: what respondents sent, tallies or observations.
        attributes: one or several attributes.
        expected: the distribution under H0: a `Table`, a series, crosstab or mapping whose labels are categories (what
            is missing has the share 0), or an array in the attributes' shape and the categories' order.
        method: "lrt" ("auto"): likelihood ratio against any table. H0 leaves nothing to estimate, so its Monte Carlo
            p-value is exact: a true H0 is rejected at level alpha with probability at most alpha. Where a question asks
            more than the named attributes through a channel that cannot be reduced to them, the others are left free.
            "pearson": chi-square of the reports about P pi0, quick for large samples.
        replicates: how often reports are drawn under H0.
        source: where they are drawn from; by default a stream that the data determine.
        weights: survey weights; with weights, strata or clusters the test is Rao and Scott's
            ("auto"), or by drawing clusters anew ("bootstrap"): see `inference.hypothesis_tests.rao_scott`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    evidence = covering(reports, names)
    null = _distribution(expected, evidence.asked.project(names)).project(evidence.asked.names)
    sampling = sampling_of(reports, weights, strata, clusters)
    apart = differing(reports, [names], FITTED, sampling)
    if sampling is not None:
        drawn = source or data_source([evidence])
        weighted = weighted_goodness(reports, null, sampling, method, replicates=replicates, source=drawn)
        return replace(weighted, notes=(*weighted.notes, *apart))
    if method not in ("auto", "lrt", "pearson"):
        raise InputError(f'method must be "auto", "lrt" or "pearson", not {method!r}', method=method)
    seen = countable(evidence)
    axes = tuple(range(len(seen.asked)))
    model = GivenMargin(axes, null.values[..., None])
    even = model.maximize(np.full((*seen.shape, 1), 1 / seen.cells))
    if not np.isfinite(seen.evaluate(even)[0]).all():
        ruled_out = ("Reports came that H0 rules out.", used([evidence]), *apart)
        return TestResult(np.inf, 0.0, None, "goodness of fit", ruled_out)
    if method == "pearson":
        if seen.nuisance or any(isinstance(group.said, Quasi) for group in seen.groups):
            raise InvalidTestError(
                f"Pearson's test needs counts of reports about exactly {listed(names)}, each report one count. Use "
                f'method="lrt"',
                method=method,
                alternative="lrt",
            )
        lam = seen.forward(even)
        counts, shares = ([each[here] for here in seen.places] for each in (seen.counts, lam))
        return _pearson(counts, shares, (used([evidence]), *apart))
    test = LikelihoodRatio([Part(seen, model)], [Part(seen, Saturated())])
    found = test.test(replicates, generator_of([seen], source))
    if seen.nuisance:
        told = f"{replicates} draws under H0; {listed(seen.nuisance)} were asked in one breath and left free."
    else:
        told = f"{replicates} draws under H0, which leaves nothing to estimate: the p-value is exact."
    df, name = seen.asked.cells - 1, "goodness of fit, likelihood ratio through the channel"
    notes = (told, *found.notes, used([evidence]), *apart)
    return TestResult(found.statistic, found.pvalue, df, name, notes, found.simulated)


def _pearson(counts: list[NDArray[np.float64]], lam: list[NDArray[np.float64]], told: Sequence[str]) -> TestResult:
    from scipy.special import chdtrc

    statistic, df, least = 0.0, 0, np.inf
    for y, share in zip(counts, lam, strict=True):
        expected = y.sum() * share[share > 0]
        statistic += float(((y[share > 0] - expected) ** 2 / expected).sum())
        df += len(expected) - 1
        least = min(least, float(expected.min()))
    notes = ('Some expected counts are below 5: use method="lrt".',) if least < 5 else ()
    return TestResult(
        statistic, float(chdtrc(df, statistic)), df, "goodness of fit, Pearson on the reports", (*notes, *told)
    )


def _distribution(expected: Any, domain: Domain) -> Table:
    if isinstance(expected, Table):
        table = expected.project(domain.names).in_order_of(domain)
    else:
        table = Table(domain, by_cell(expected, domain, "the expected shares", absent=0.0))
    if not (table.values >= 0).all() or abs(table.total - 1) > 1e-6:
        raise InputError(f"the expected shares must be 0 or more and sum to 1, not to {table.total:g}")
    return table.normalize()


def _parts(
    reports: Reports | Mapping[Any, Collected], by: str | None, names: Sequence[str]
) -> tuple[dict[Any, Collected], dict[str, int]]:
    """The groups, two or more, and how many respondents are in none."""
    parts: dict[Any, Collected]
    left_out: dict[str, int] = {}
    if isinstance(reports, Reports):
        if by is None:
            raise InputError("name the public column that holds the groups: by=...")
        asked, left_out = asked_groups(reports, by, names)
        parts = {**asked}
    elif isinstance(reports, Mapping):
        parts = dict(reports)
        if not any(isinstance(part, list | tuple) for part in parts.values()):
            parts = dict(zip(parts, in_one_order(list(parts.values())), strict=True))
    else:
        raise InputError("homogeneity needs reports with a public column, or a mapping from group to reports")
    if len(parts) < 2:
        there = f"only {listed(parts)}" if parts else "no group"
        raise InputError(f"there is {there}; groups are compared with each other")
    return parts, left_out


@stamped
def homogeneity(
    reports: Reports | Mapping[Any, Collected],
    attributes: str | Iterable[str],
    by: str | None = None,
    method: str = "auto",
    *,
    replicates: int = 999,
    source: Source | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> TestResult:
    """Test whether the distribution of some attributes is the same in all public groups.

    Args:
        reports: reports with a public column, or a mapping from group to its reports or observations.
        attributes: one or several attributes.
        by: the public column that holds the groups.
        method: "auto": Pearson on the table of groups by reports where all groups answered through the same channel
            (equal truths give equal reports, and only they do), else "lrt", the bootstrap likelihood ratio. Attributes
            that a question asks in one breath with the named ones may differ between groups.
        replicates: of the bootstrap.
        source: where it is drawn from; by default a stream that the data determine.
        weights: survey weights; with weights, strata or clusters the test is Rao and Scott's, as for `goodness_of_fit`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    from scipy.special import chdtrc

    names = [attributes] if isinstance(attributes, str) else list(attributes)
    refuse_to_test_pairs(reports)
    if weights is not None or strata is not None or clusters is not None:
        if not isinstance(reports, Reports) or by is None:
            raise InputError(
                "with weights, strata or clusters the groups are parts of one sample: give the reports of all of them, "
                "and the public column that holds the groups as by="
            )
        sampling = sampling_of(reports, weights, strata, clusters)
        assert sampling is not None
        drawn = source or data_source([about(reports, names)])
        return weighted_homogeneity(reports, names, by, sampling, method, replicates=replicates, source=drawn)
    if method not in ("auto", "lrt", "pearson"):
        raise InputError(f'method must be "auto", "lrt" or "pearson", not {method!r}', method=method)
    parts, left_out = _parts(reports, by, names)
    found_in, refused = in_place(parts.items(), lambda part: covering(part, names))
    groups = list(found_in.values())
    if len(groups) < 2:
        each = "; ".join(f"{group}: {why}" for group, why in refused.items())
        raise TooFewReportsError(f"there are no two groups to compare with each other: {each}. Join groups", n=0)
    sizes = {group: sum(source.n for source in sources_of(parts[group])) for group in refused}
    left_out |= thin_groups(by or "group", sizes, refused)
    refuse_other_order(group.asked for group in groups)
    told = f"{len(groups)} groups: {listed(found_in)}."
    stood_on = used(groups, left_out)
    apart = [
        f"In {group}: {said[:1].lower()}{said[1:]}"
        for group, part in parts.items()
        if group in found_in
        for said in differing(part, [names], FITTED)
    ]
    same = _same_channel(groups)
    if method == "pearson" and not same:
        raise InputError("the groups answered through different channels, so their reports cannot be compared: use lrt")
    if method == "pearson" or (method == "auto" and same):
        counts = [group.counts[:, 0] for group in groups]
        statistic, df = chi_square(np.stack(counts))
        p = float(chdtrc(df, statistic)) if df else 1.0
        return TestResult(statistic, p, df, "homogeneity, Pearson on groups by reports", (told, stood_on, *apart))
    seen = _alike([countable(group) for group in groups])
    test = LikelihoodRatio([_common(seen)], [Part(group, Saturated()) for group in seen])
    found = test.test(replicates, generator_of(seen, source))
    df = (len(groups) - 1) * (seen[0].asked.cells - 1)
    notes = (told, f"{replicates} bootstrap replicates.", *found.notes, stood_on, *apart)
    name = "homogeneity, likelihood ratio through the channels, bootstrap"
    return TestResult(found.statistic, found.pvalue, df, name, notes, found.simulated)


def _same_channel(groups: Sequence[Evidence]) -> bool:
    """Whether all groups answered the same one question about exactly the asked attributes, in categories."""
    first = groups[0].groups[0].said
    for group in groups:
        said = group.groups[0].said
        plain = isinstance(said, Counted) and said.codes is None and set(said.part) == set(group.asked)
        if len(group.groups) > 1 or not plain or said.channel != first.channel or said.part != first.part:
            return False
    return True


def _alike(groups: Sequence[Evidence]) -> list[Evidence]:
    """The groups' evidence over one table: attributes that ride along with some do with all."""
    every = {v.name: v for group in groups for v in group.domain.values()}
    asked = [groups[0].domain[name] for name in groups[0].asked]
    whole = Domain([*asked, *(v for name, v in every.items() if name not in groups[0].asked)])
    return [
        Evidence(groups[0].asked, whole, tuple(Group(one.said, whole) for one in group.groups), group.silent)
        for group in groups
    ]


def _common(groups: Sequence[Evidence]) -> Part:
    """H0: one table for all groups; where attributes ride along, one margin of it."""
    if groups[0].nuisance:
        return Part(Stack(tuple(groups)), SameMargin(tuple(range(1, len(groups[0].asked) + 1))))
    every = tuple(one for group in groups for one in group.groups)
    return Part(Evidence(groups[0].asked, groups[0].domain, every, 0), Saturated())

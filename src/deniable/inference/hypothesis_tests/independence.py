"""Tests of association that hold their level, chosen by how the reports were made.

Disguised counts are not counts. Where two attributes went through one channel together, Pearson's test on the disguised
table sees dependence that the channel made, and on the reconstructed table it takes inflated noise for dependence (it
rejects 60 to 100% of true hypotheses at a nominal 5%). Both are refused here. What holds:

- both attributes disguised on their own, the same way for everybody: Pearson on the disguised table, because
  independent truths give independent reports (and dependent ones dependent reports);
- everything else: the likelihood ratio through the channels, H1 being any table without negative cells, from every
  report that speaks of either attribute; its reference is drawn from a table of H0 that noise does not make too uneven
  (`ratio`). Reports that are sets come in by their unbiased table, as if through a k-RR as precise (`quasi`), and are
  drawn anew through their own channel;
- as a quick look: Wald's test on the unbiased table, with the larger of its two p-values (covariance under H0, and
  under H1).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import TestResult
from deniable.core.table import Table
from deniable.designs.reports.reports import Reports
from deniable.errors import (
    InvalidTestError,
    TooFewReportsError,
)
from deniable.estimation.by_group import in_place
from deniable.estimation.notes.denominators import asked_groups, refuse_unknown_askings, thin_groups, used, used_whole
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.several_sources import ASSOCIATED, differing
from deniable.inference.attribute_pairs import both_asked
from deniable.inference.hypothesis_tests.central_noise import COMPARATORS, central
from deniable.inference.hypothesis_tests.choose_test import (
    REFUSED,
    about,
    chosen_test,
    covering,
    own_channels,
    refuse_to_test_pairs,
)
from deniable.inference.hypothesis_tests.likelihood_ratio import (
    LikelihoodRatio,
    independence_ratio,
    interaction_ratio,
    tests_of,
)
from deniable.inference.hypothesis_tests.pearson_and_wald import pearson, wald
from deniable.inference.hypothesis_tests.rao_scott import weighted_independence
from deniable.inference.hypothesis_tests.two_step import two_step
from deniable.inference.monte_carlo import data_source, generator_of
from deniable.likelihood.quasi_likelihood import Quasi, countable
from deniable.sampling.read_sampling import sampling_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.randomness import Source
    from deniable.estimation.report_sources import Collected
    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.read_sampling import Given, Weights


@stamped
def independence(
    reports: Collected | Table,
    a: str | Sequence[str],
    b: str | None = None,
    method: str = "auto",
    *,
    given: str | Sequence[str] | None = None,
    epsilon: float | None = None,
    replicates: int = 999,
    source: Source | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> TestResult:
    """Test whether two attributes are independent.

    Args:
        reports: what respondents sent, a simulation's tallies, or observations; for the central comparators a table of
            undisguised counts.
        a: one attribute; or both, as a list.
        b: the other.
        method: "auto" (the valid test for these reports), "lrt" (bootstrap likelihood ratio), "pearson" (on the
            disguised table, only where both attributes have channels of their own), "wald" (quick); for reproduction
            "two_step" (RRBA's) and the central model's "mcindep" and "laplace".
        given: test independence within each cell of these attributes, or of a public column.
        epsilon: for the central comparators.
        replicates: of the bootstrap; the smallest possible p-value is 1 / (replicates + 1).
        source: where the bootstrap is drawn from; by default a stream that the data determine, so that the same
            reports always give the same p-value.
        weights: survey weights, as for `estimate`. With weights, strata or clusters the test is Rao and Scott's
            ("auto"), or by drawing clusters anew ("bootstrap"): see `inference.hypothesis_tests.rao_scott`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    a, b = both_asked(reports, a, b)
    if method in REFUSED:
        raise InvalidTestError(
            f'{REFUSED[method]}. Use method="auto", which picks the test that holds for these reports',
            method=method,
            alternative="auto",
        )
    if isinstance(reports, Table) or method in COMPARATORS:
        return central(reports, (a, b), method, epsilon, replicates=replicates, source=source)
    refuse_to_test_pairs(reports)
    sampling = sampling_of(reports, weights, strata, clusters)
    if given is not None or sampling is not None:
        more: dict[str, Any] = {"replicates": replicates, "source": source, "weights": sampling}
        return conditional_independence(reports, a, b, given or (), method, **more)
    evidence = covering(reports, (a, b))
    refuse_unknown_askings(evidence.asked)
    found = tested(evidence, method, replicates, source)
    return replace(found, notes=(*found.notes, *differing(reports, [(a, b)], ASSOCIATED)))


def tested(evidence: Evidence, method: str, replicates: int, source: Source | None) -> TestResult:
    """Test independence of the two asked attributes."""
    return all_tested([evidence], method, replicates, source)[0]


def all_tested(pairs: Sequence[Evidence], method: str, replicates: int, source: Source | None) -> list[TestResult]:
    """Test every pair of asked attributes; likelihood ratios of pairs that were asked alike are fitted together."""
    found: dict[int, TestResult] = {}
    seen, rngs = {}, []
    for place, evidence in enumerate(pairs):
        chosen = chosen_test(method, evidence)
        if chosen == "two_step":
            drawn = source or data_source([evidence])
            alone = two_step(evidence, replicates=replicates, source=drawn)
            found[place] = replace(alone, notes=(*alone.notes, used_whole(evidence)))
        elif chosen in ("pearson", "wald"):
            found[place] = (pearson if chosen == "pearson" else wald)(evidence)
        else:
            seen[place] = countable(evidence)
            rngs.append(generator_of([seen[place]], source))
    ratios = [independence_ratio(each, *each.asked.names) for each in seen.values()]
    for (place, each), result in zip(seen.items(), tests_of(ratios, replicates, rngs), strict=True):
        notes = (f"{replicates} bootstrap replicates; H1: any table without negative cells.", *result.notes)
        kind = f"{_kind(each)} through the channel, bootstrap"
        told, df = (*notes, used([pairs[place]])), _df(each, *each.asked.names)
        found[place] = TestResult(result.statistic, result.pvalue, df, kind, told, result.simulated)
    return [found[place] for place in range(len(pairs))]


@stamped
def conditional_independence(
    reports: Collected,
    a: str,
    b: str,
    given: str | Sequence[str],
    method: str = "auto",
    *,
    replicates: int = 999,
    source: Source | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> TestResult:
    """Test whether a and b are independent within every cell of `given`.

    `given` names attributes, or a public column. For a public column the tests of the groups are added up: Pearson's
    chi-squares, or likelihood ratios. A disguised `given` rules Pearson's test out also for attributes with channels of
    their own: people are then sorted by a report, not by the truth. Where a, b and what is given were asked in parts
    only (all pairs of them, say), the test assumes that there is no interaction of more attributes than were asked
    together, and says so. Weights, strata and clusters as for `independence`.
    """
    refuse_to_test_pairs(reports)
    names = [given] if isinstance(given, str) else list(given)
    sampling = sampling_of(reports, weights, strata, clusters)
    if sampling is not None:
        evidence = about(reports, (a, b))
        if not set(names) & set(getattr(reports, "public_names", ())):
            refuse_unknown_askings(evidence.asked)
        drawn = source or data_source([evidence])
        weighted = weighted_independence(reports, (a, b), names, sampling, method, replicates=replicates, source=drawn)
        apart = differing(reports, [(a, b, *names)], ASSOCIATED, sampling)
        return replace(weighted, notes=(*weighted.notes, *apart))
    public = isinstance(reports, Reports) and reports.public is not None and names[0] in reports.public.columns
    if public and len(names) == 1:
        assert isinstance(reports, Reports)
        parts, left_out = asked_groups(reports, names[0], (a, b))
        found_in, refused = in_place(parts.items(), lambda part: covering(part, (a, b)))
        groups = list(found_in.values())
        if not groups:
            each = "; ".join(f"{group}: {why}" for group, why in refused.items())
            raise TooFewReportsError(f"no group of {names[0]} can be tested: {each}. Join groups", n=0)
        left_out |= thin_groups(names[0], {group: parts[group].n for group in refused}, refused)
        inside = _within_groups(groups, names[0], method, replicates, source)
        return replace(inside, notes=(*inside.notes, used(groups, left_out)))
    if method not in ("auto", "lrt"):
        raise InvalidTestError(
            f"{method!r} does not hold for conditional independence here: people are sorted by a disguised report. Use "
            f'method="lrt"',
            method=method,
            alternative="lrt",
        )
    evidence = about(reports, (a, b, *names))
    refuse_unknown_askings(evidence.asked.project((a, b)))
    told = [f"{replicates} bootstrap replicates; given {', '.join(names)}."]
    seen = countable(evidence)
    if evidence.tells:
        test = independence_ratio(seen, a, b, names)
        df = int(np.prod([len(seen.domain[name]) for name in names])) * _df(seen, a, b)
    else:
        # Refuses where nobody was asked both, or through channels that do not tell their table.
        covering(reports, (a, b))
        test, df = interaction_ratio(seen, a, b)
        several = f"no {'three' if len(names) == 1 else 'higher'}-way interaction"
        told.append(f"No reports tell the table of all of them together: assuming {several}.")
    found = test.test(replicates, generator_of([seen], source))
    method = f"conditional {_kind(seen)} through the channel, bootstrap"
    notes = (*told, *found.notes, used([evidence]), *differing(reports, [(a, b, *names)], ASSOCIATED))
    return TestResult(found.statistic, found.pvalue, df, method, notes, found.simulated)


def _within_groups(
    groups: Sequence[Evidence], name: str, method: str, replicates: int, source: Source | None
) -> TestResult:
    """Independence in each of several public groups."""
    if method in ("auto", "pearson") and all(own_channels(group) for group in groups):
        from scipy.special import chdtrc

        parts = [pearson(group) for group in groups]
        df = sum(float(part.df or 0) for part in parts)
        statistic = sum(part.statistic for part in parts)
        told = f"{len(parts)} groups of {name}, their chi-squares added up."
        return TestResult(statistic, float(chdtrc(df, statistic)), df, "Pearson on the disguised tables", (told,))
    if method not in ("auto", "lrt"):
        raise InvalidTestError(
            f'{method!r} does not hold here for independence within public groups. Use method="lrt"',
            method=method,
            alternative="lrt",
        )
    seen = [countable(group) for group in groups]
    ratios = [independence_ratio(group, *group.asked.names) for group in seen]
    test = LikelihoodRatio([r.h0[0] for r in ratios], [r.h1[0] for r in ratios])
    found = test.test(replicates, generator_of(seen, source))
    told = f"{replicates} bootstrap replicates; given {name}, in {len(groups)} groups."
    df = len(groups) * _df(seen[0], *seen[0].asked.names)
    kind = f"conditional {_kind(*seen)} through the channel, bootstrap"
    return TestResult(found.statistic, found.pvalue, df, kind, (told, *found.notes), found.simulated)


def _df(evidence: Evidence, a: str, b: str) -> int:
    return (len(evidence.domain[a]) - 1) * (len(evidence.domain[b]) - 1)


def _kind(*evidence: Evidence) -> str:
    quasi = any(isinstance(group.said, Quasi) for one in evidence for group in one.groups)
    return "quasi-likelihood ratio" if quasi else "likelihood ratio"

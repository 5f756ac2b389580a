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

from deniable.core.randomness import SECURE, Source
from deniable.core.results import TestResult
from deniable.core.table import Table
from deniable.designs.reports.reports import Reports
from deniable.errors import (
    InputError,
    InvalidTestError,
    NotCoveredError,
    TooFewReportsError,
)
from deniable.estimation.by_group import in_place
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.denominators import asked_groups, refuse_unknown_askings, thin_groups, used, used_whole
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.several_sources import ASSOCIATED, differing
from deniable.inference.attribute_pairs import both_asked
from deniable.inference.hypothesis_tests.central_noise import laplace, mcindep
from deniable.inference.hypothesis_tests.likelihood_ratio import (
    LikelihoodRatio,
    independence_ratio,
    interaction_ratio,
    tests_of,
)
from deniable.inference.hypothesis_tests.rao_scott import weighted_independence
from deniable.inference.hypothesis_tests.two_step import two_step
from deniable.inference.hypothesis_tests.wald import wald_statistics
from deniable.inference.monte_carlo import data_source, generator_of
from deniable.likelihood.gather import gather, refuse_pairs
from deniable.likelihood.quasi_likelihood import Quasi, countable
from deniable.likelihood.report_likelihoods import Counted
from deniable.sampling.read_sampling import sampling_of
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.estimation.report_sources import Collected
    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.read_sampling import Given, Weights

ENOUGH = 20  # reports a cell from which on Wald's test holds its level
_MOST_CELLS = 1024  # of a table up to which it is looked whether reports about parts of it determine it
_REFUSED = {
    "pearson_reconstructed": (
        "Pearson's test on reconstructed counts takes them for counts of people, but their noise is many times larger: "
        "at a nominal 5% it rejects 60 to 100% of true hypotheses"
    ),
    "pearson_raw": (
        "Pearson's test on jointly disguised counts tests the reports, which are dependent although the truths are "
        "not: the channel of a pair mixes all its cells, and with enough reports the test always rejects"
    ),
}
_CENTRAL = {"mcindep": mcindep, "laplace": laplace}
_KNOWN = ("auto", "lrt", "pearson", "wald", "two_step")


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
    if method in _REFUSED:
        raise InvalidTestError(
            f'{_REFUSED[method]}. Use method="auto", which picks the test that holds for these reports',
            method=method,
            alternative="auto",
        )
    if isinstance(reports, Table) or method in _CENTRAL:
        return _central(reports, (a, b), method, epsilon, replicates=replicates, source=source)
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
            alone = two_step(whole_of(evidence), evidence.asked.names, replicates=replicates, source=drawn)
            found[place] = replace(alone, notes=(*alone.notes, used_whole(evidence)))
        elif chosen in ("pearson", "wald"):
            found[place] = (_pearson if chosen == "pearson" else _wald)(evidence)
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


def chosen_test(method: str, evidence: Evidence) -> str:
    """Settle "auto", and refuse what does not exist."""
    if method not in _KNOWN:
        raise InputError(f"there is no test {method!r}; choose from {listed([*_KNOWN, *_CENTRAL])}", method=method)
    if method != "auto":
        return method
    said = evidence.groups[0].said.channel
    return "pearson" if own_channels(evidence) and said.inputs == said.outputs else "lrt"


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
    if _tells(evidence):
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

        parts = [_pearson(group) for group in groups]
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


# -- which reports can be tested, and how -----------------------------------------------------------------------------


def refuse_to_test_pairs(reports: Any) -> None:
    """Refuse reports of respondents with correlated coins: their counts are not multinomial."""
    refuse_pairs(
        reports if isinstance(reports, list | tuple) else [reports],
        InvalidTestError,
        "counts of their reports are not multinomial and no test here holds. Estimates and their errors stay right: "
        "compare intervals, or use Independent",
    )


def about(reports: Collected, names: Sequence[str]) -> Evidence:
    """What reports say about some attributes, in an order that does not depend on who asks."""
    refuse_to_test_pairs(reports)
    if len(set(names)) < len(names):
        raise InputError(f"name different attributes, not {listed(names)}")
    return gather(reports, _in_order(reports, names))


def _in_order(reports: Collected, names: Sequence[str]) -> list[str]:
    """The order in which the first of the reports were asked: question and table then have the same cells."""
    first = reports[0] if isinstance(reports, list | tuple) and reports else reports
    domain = getattr(getattr(first, "design", first), "domain", None)
    asked = [] if domain is None else list(domain)
    return sorted(names, key=lambda name: (asked.index(name) if name in asked else len(asked), name))


def covering(reports: Collected, names: Sequence[str]) -> Evidence:
    """The same, if it tells their joint table."""
    evidence = about(reports, names)
    if not _tells(evidence):
        raise _not_told(evidence, names) if _asked_together(evidence) else _not_asked(names)
    whole = [group for group in evidence.groups if set(evidence.asked) <= set(group.said.part)]
    n = round(sum(group.said.n for group in whole or evidence.groups))
    if n < 2:
        raise TooFewReportsError(f"{counted(n, 'report')} about {listed(names)}: too few to test")
    return evidence


def _tells(evidence: Evidence) -> bool:
    """Whether reports determine the asked table."""
    return evidence.covers or (
        (len(evidence.asked) == 1 or evidence.cells <= 1024) and evidence.estimable(evidence.margin)
    )


def _not_asked(names: Sequence[str]) -> NotCoveredError:
    return NotCoveredError(
        f"nobody was asked about {listed(names)} together (a Sampled design never does), so whether they go together "
        f"was not observed. Use a design that asks them together: Independent, Joint, or Views with k={len(names)}",
        attributes=tuple(names),
    )


def _asked_together(evidence: Evidence) -> bool:
    return any(set(evidence.asked) <= set(group.said.part) for group in evidence.groups)


def _not_told(evidence: Evidence, names: Sequence[str]) -> NotCoveredError:
    kinds = {group.said.channel.name for group in evidence.groups if set(names) <= set(group.said.part)}
    return NotCoveredError(
        f"{listed(names)} were asked together, but through channels ({', '.join(sorted(kinds))}) that were made for "
        f"something else: they tell other sums of the shares, which leave the table of {listed(names)} open. Name this "
        f"table among what is wanted when the design is made, or use Independent, Joint, or Views with k={len(names)}",
        attributes=tuple(names),
        asked=True,
    )


def whole_of(evidence: Evidence) -> list[Observation]:
    """The counts of reports that speak of all asked attributes."""
    return [group.said.observation() for group in evidence.groups if set(evidence.asked) <= set(group.said.part)]


def own_channels(evidence: Evidence) -> bool:
    """Whether both attributes have a channel of their own, the same for all respondents, and reports are no sets."""
    said = evidence.groups[0].said
    return (
        len(evidence.groups) == 1
        and set(said.part) == set(evidence.asked)
        and isinstance(said, Counted)
        and said.codes is None
        and len(said.channel.factors) == 2
    )


# -- the quick tests --------------------------------------------------------------------------------------------------


def chi_square(table: NDArray[np.float64]) -> tuple[float, int]:
    """Pearson's chi-square of a two-way table and its degrees of freedom; empty rows and columns are left out.

    >>> chi_square(np.array([[10.0, 20.0], [30.0, 40.0]]))
    (0.79..., 1)
    """
    statistic, df = chi_squares(table[..., None])
    return float(statistic[0]), int(df[0])


def chi_squares(tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The same of many tables at once, which are along the last axis."""
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    expected = rows[:, None] * columns / rows.sum(axis=0)
    away = np.divide((tables - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0)
    return away.sum(axis=(0, 1)), (np.count_nonzero(rows, axis=0) - 1) * (np.count_nonzero(columns, axis=0) - 1)


def _pearson(evidence: Evidence) -> TestResult:
    from scipy.special import chdtrc

    if not own_channels(evidence):
        a, b = evidence.asked.names
        raise InvalidTestError(
            f"{_REFUSED['pearson_raw']}. It holds only where {a!r} and {b!r} each have a channel of their own, the "
            f'same for everybody; use method="lrt" or "auto"',
            method="pearson",
            alternative="lrt",
        )
    said = evidence.groups[0].said
    assert isinstance(said, Counted)
    statistic, df = chi_square(said.counts.reshape(said.channel.output_shape))
    p = float(chdtrc(df, statistic)) if df else 1.0
    told = "Both attributes have channels of their own: independent truths give independent reports."
    return TestResult(statistic, p, df, "Pearson on the disguised table", (told, used([evidence])))


def _wald(evidence: Evidence) -> TestResult:
    from scipy.special import chdtrc

    found = estimate(whole_of(evidence), evidence.asked.names, method="inversion")
    w1, w0, df = wald_statistics(found)
    statistic = min(w1, w0)  # the larger p-value
    notes = ["The larger of the p-values with the covariance under H0 and under H1."]
    if found.n < ENOUGH * found.values.size:
        notes.append(
            f"Only {found.n} reports for {found.values.size} cells: below {ENOUGH} a cell Wald's test may not hold its "
            f'level. Use method="lrt".'
        )
    told = (*notes, used_whole(evidence))
    return TestResult(statistic, float(chdtrc(df, statistic)), df, "Wald on the unbiased table", told)


def _central(
    reports: Any, names: Sequence[str], method: str, epsilon: float | None, *, replicates: int, source: Source | None
) -> TestResult:
    if not isinstance(reports, Table):
        raise InputError(
            f"{method!r} is a test of the central model: a trusted holder of the undisguised table adds the noise. It "
            f"takes a Table of true counts, not reports; it is here for comparison only",
            method=method,
        )
    if method not in _CENTRAL:
        raise InputError(
            f"a table of undisguised counts can only be given to the central comparators {listed(_CENTRAL)}; tests of "
            f"disguised answers take reports or observations",
            method=method,
        )
    if epsilon is None:
        raise InputError(f"{method!r} needs epsilon=")
    counts = reports.project(names).values
    return _CENTRAL[method](counts, epsilon, replicates=replicates, source=source or SECURE)

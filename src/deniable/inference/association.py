"""Tests of association that hold their level, chosen by how the reports were made.

Disguised counts are not counts. Where two attributes went through one channel together, Pearson's test on the disguised
table sees dependence that the channel made, and on the reconstructed table it takes inflated noise for dependence (it
rejects 60 to 100% of true hypotheses at a nominal 5%). Both are refused here. What holds:

- both attributes disguised on their own, the same way for everybody: Pearson on the disguised table, because
  independent truths give independent reports (and dependent ones dependent reports);
- disguised together: the likelihood ratio through the channel, H1 being any table without negative cells, summed over
  blocks and groups, with its reference drawn from the table fitted under H0 (parametric bootstrap);
- reports that are sets (unary, subset selection, local hashing): their counts have no likelihood, so Wald's statistic
  of the unbiased table, its reference drawn from the table under H0 (`wald`);
- as a quick look: Wald's test on the unbiased table, with the larger of its two p-values (covariance under H0, and
  under H1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.kronecker import Kronecker
from deniable.designs.reports import Reports
from deniable.errors import (
    InputError,
    InvalidTestError,
    NotCoveredError,
    TooFewReportsError,
    UnknownAttributeError,
)
from deniable.estimation.estimator import Collected, estimate, observations_of
from deniable.estimation.fit.gathering import same_categories
from deniable.estimation.fit.models import Independence
from deniable.estimation.sampling.reading import sampling_of
from deniable.inference.bootstrap import LikelihoodRatio
from deniable.inference.central import laplace, mcindep
from deniable.inference.fit import Part, saturated
from deniable.inference.measures import residual_jacobian
from deniable.inference.two_step import two_step
from deniable.inference.wald import BootstrapWald, Independent, InEach
from deniable.inference.weighted import weighted_independence
from deniable.randomness import SECURE, Source
from deniable.results import TestResult
from deniable.tables.table import Table
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.estimation.sampling.reading import Given, Weights

_MANY = 2000  # reports from which on sets of several attributes are not drawn anew person by person
ENOUGH = 20  # reports a cell from which on Wald's test holds its level
_SINGULAR = 1e-12  # smallest eigenvalue of a covariance, relative to their sum, that can be divided by
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


def independence(
    reports: Collected | Table,
    a: str,
    b: str,
    method: str = "auto",
    *,
    given: str | Sequence[str] | None = None,
    epsilon: float | None = None,
    replicates: int = 999,
    source: Source = SECURE,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> TestResult:
    """Test whether two attributes are independent.

    Args:
        reports: what respondents sent, a simulation's tallies, or observations; for the central comparators a table of
            undisguised counts.
        a: one attribute.
        b: the other.
        method: "auto" (the valid test for these reports), "lrt" (bootstrap likelihood ratio), "pearson" (on the
            disguised table, only where both attributes have channels of their own), "wald_bootstrap" (for reports
            that are sets), "wald" (quick); for reproduction "two_step" (RRBA's) and the central model's "mcindep" and
            "laplace".
        given: test independence within each cell of these attributes, or of a public column.
        epsilon: for the central comparators.
        replicates: of the bootstrap; the smallest possible p-value is 1 / (replicates + 1).
        source: where the bootstrap is drawn from.
        weights: survey weights, as for `estimate`. With weights, strata or clusters the test is Rao and Scott's
            ("auto"), or by drawing clusters anew ("bootstrap"): see `inference.rao_scott`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    if method in _REFUSED:
        raise InvalidTestError(
            f'{_REFUSED[method]}. Use method="auto", which picks the test that holds for these reports',
            method=method,
            alternative="auto",
        )
    if isinstance(reports, Table) or method in _CENTRAL:
        return _central(reports, (a, b), method, epsilon, replicates=replicates, source=source)
    refuse_pairs(reports)
    sampling = sampling_of(reports, weights, strata, clusters)
    if given is not None or sampling is not None:
        more: dict[str, Any] = {"replicates": replicates, "source": source, "weights": sampling}
        return conditional_independence(reports, a, b, given or (), method, **more)
    observations = covering_pair(reports, (a, b))
    chosen = chosen_test(method, observations, a, b)
    if chosen == "two_step":
        return two_step(observations, [a, b], replicates=replicates, source=source)
    if chosen in ("pearson", "wald"):
        return (_pearson if chosen == "pearson" else _wald)(observations, a, b)
    if chosen == "wald_bootstrap":
        x, y = observations[0].domain.axes([a, b])
        return _wald_bootstrap(BootstrapWald([observations], Independent(x, y)), replicates, source)
    test = independence_ratio(observations, a, b)
    statistic, p, drawn = test.test(replicates, source.stream().generator())
    df = (len(observations[0].domain[a]) - 1) * (len(observations[0].domain[b]) - 1)
    told = f"{replicates} bootstrap replicates; H1: any table without negative cells"
    return TestResult(statistic, p, df, "likelihood ratio through the channel, bootstrap", (f"{told}.",), drawn)


def chosen_test(method: str, observations: Sequence[Observation], a: str, b: str) -> str:
    """Settle "auto", and refuse what does not hold for these reports or does not exist."""
    known = ["auto", "lrt", "pearson", "wald_bootstrap", "wald", "two_step"]
    if method not in known:
        raise InputError(f"there is no test {method!r}; choose from {listed([*known, *_CENTRAL])}", method=method)
    if any(o.is_support for o in observations):
        # A product of sets can only be drawn anew person by person, which takes long; with enough reports Wald's own
        # reference does.
        long = method == "auto" and any(isinstance(o.channel, Kronecker) and o.n >= _MANY for o in observations)
        return "wald" if long else for_sets(method, "wald")
    if method != "auto":
        return method
    return "pearson" if own_channels(observations, a, b) else "lrt"


def independence_ratio(
    observations: Sequence[Observation], a: str, b: str, given: Sequence[str] = ()
) -> LikelihoodRatio:
    """H0: a and b independent (within the cells of `given`), H1: any table."""
    h1 = saturated(observations)
    axes = h1.domain.axes([a, b, *given])
    return LikelihoodRatio(observations, [Part(observations, Independence(axes[0], axes[1], axes[2:]))], [h1])


def conditional_independence(
    reports: Collected,
    a: str,
    b: str,
    given: str | Sequence[str],
    method: str = "auto",
    *,
    replicates: int = 999,
    source: Source = SECURE,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> TestResult:
    """Test whether a and b are independent within every cell of `given`.

    `given` names attributes (disguised, asked together with a and b) or a public column. For a public column the tests
    of the groups are added up: Pearson's chi-squares, or likelihood ratios. A disguised `given` rules Pearson's test
    out also for attributes with channels of their own: people are then sorted by a report, not by the truth.
    Weights, strata and clusters as for `independence`.
    """
    refuse_pairs(reports)
    sampling = sampling_of(reports, weights, strata, clusters)
    if sampling is not None:
        inside = [given] if isinstance(given, str) else list(given)
        return weighted_independence(reports, (a, b), inside, sampling, method, replicates=replicates, source=source)
    names = [given] if isinstance(given, str) else list(given)
    public = isinstance(reports, Reports) and reports.public is not None and names[0] in reports.public.columns
    if public and len(names) == 1:
        assert isinstance(reports, Reports)
        groups = [covering_pair(part, (a, b)) for _, part in reports.groups(names[0])]
    else:
        groups = []
    if groups and any(o.is_support for group in groups for o in group):
        for_sets(method)
        x, y = groups[0][0].domain.axes([a, b])
        within = BootstrapWald(groups, InEach(Independent(x, y)), grouped=True)
        return _wald_bootstrap(within, replicates, source, f"Within each value of {names[0]}")
    if groups and method in ("auto", "pearson") and all(own_channels(group, a, b) for group in groups):
        parts = [_pearson(group, a, b) for group in groups]
        from scipy.special import chdtrc

        df = sum(float(part.df or 0) for part in parts)
        statistic = sum(part.statistic for part in parts)
        told = f"{len(parts)} groups of {names[0]}, their chi-squares added up."
        return TestResult(statistic, float(chdtrc(df, statistic)), df, "Pearson on the disguised tables", (told,))
    if method not in ("auto", "lrt"):
        raise InvalidTestError(
            f"{method!r} does not hold for conditional independence here: people are sorted by a disguised report. Use "
            f'method="lrt"',
            method=method,
            alternative="lrt",
        )
    if groups:
        flat = [o for group in groups for o in group]
        ratios = [independence_ratio(group, a, b) for group in groups]
        test = LikelihoodRatio(flat, [r.h0[0] for r in ratios], [r.h1[0] for r in ratios])
        cells, domain = len(groups), flat[0].domain
    else:
        observations = covering_pair(reports, (a, b, *names))
        if any(o.is_support for o in observations):
            for_sets(method)
            x, y, *rest = observations[0].domain.axes([a, b, *names])
            conditional = BootstrapWald([observations], Independent(x, y, tuple(rest)))
            return _wald_bootstrap(conditional, replicates, source, f"Within each value of {', '.join(names)}")
        test, domain = independence_ratio(observations, a, b, names), observations[0].domain
        cells = int(np.prod([len(domain[name]) for name in names]))
    statistic, p, drawn = test.test(replicates, source.stream().generator())
    df = cells * (len(domain[a]) - 1) * (len(domain[b]) - 1)
    told = f"{replicates} bootstrap replicates; given {', '.join(names)}."
    return TestResult(statistic, p, df, "conditional likelihood ratio through the channel, bootstrap", (told,), drawn)


def for_sets(method: str, *quick: str) -> str:
    """The test for reports that are sets, or one of the `quick` ones; what needs a likelihood is refused."""
    if method in quick:
        return method
    if method in ("auto", "wald_bootstrap"):
        return "wald_bootstrap"
    raise InvalidTestError(
        f"{method!r} does not hold here: these reports are sets of answers, whose counts are neither multinomial nor "
        f'have a likelihood. Use method="wald_bootstrap" (or "auto")',
        method=method,
        alternative="wald_bootstrap",
    )


def _wald_bootstrap(test: BootstrapWald, replicates: int, source: Source, told: str = "") -> TestResult:
    if replicates < 1:
        raise InputError(f"the bootstrap needs at least 1 replicate, not {replicates}")
    statistic, p, drawn = test.test(replicates, source.stream().generator())
    notes = [f"{replicates} bootstrap replicates, drawn from the table under H0."]
    return TestResult(
        statistic, p, test.df, "Wald on the unbiased table, bootstrap", (*([f"{told}."] if told else []), *notes), drawn
    )


# -- which reports can be tested, and how -----------------------------------------------------------------------------


def refuse_pairs(reports: Any) -> None:
    """Refuse reports of respondents with correlated coins: their counts are not multinomial."""
    for part in reports if isinstance(reports, list | tuple) else [reports]:
        design = getattr(part, "design", None)
        if getattr(design, "pairs_reports", False):
            raise InvalidTestError(
                f"{type(design).__name__} pairs respondents whose coins are correlated, so counts of their reports are "
                f"not multinomial and no test here holds. Estimates and their errors stay right: compare intervals, or "
                f"use Independent",
                alternative="Independent",
            )


def covering_pair(reports: Collected, names: Sequence[str]) -> list[Observation]:
    """What respondents who were asked all of the attributes said about them."""
    if len(set(names)) < len(names):
        raise InputError(f"name different attributes, not {listed(names)}")
    found = []
    known = observations_of(reports, names)
    same_categories(o.domain for o in known)
    strangers = [name for name in names if not any(name in o.domain for o in known)]
    if known and strangers:
        raise UnknownAttributeError(f"no report speaks of {listed(strangers)}", attribute=strangers[0])
    for observation in known:
        smaller = observation.narrow(names) if set(names) <= set(observation.domain) else None
        if smaller is not None:
            found.append(smaller)
    if not found:
        raise NotCoveredError(
            f"nobody was asked about {listed(names)} together (a Sampled design never does), so whether they go "
            f"together was not observed. Use a design that asks them together: Independent, Joint, or Views with "
            f"k={len(names)}",
            attributes=tuple(names),
        )
    if sum(o.n for o in found) < 2:
        raise TooFewReportsError(f"there are {sum(o.n for o in found)} reports about {listed(names)}: too few to test")
    return found


def own_channels(observations: Sequence[Observation], a: str, b: str) -> bool:
    """Whether both attributes have a channel of their own, the same for all respondents."""
    only = observations[0]
    return (
        len(observations) == 1
        and set(only.domain) == {a, b}
        and isinstance(only.channel, Kronecker)
        and len(only.channel.channels) == 2
    )


# -- the quick tests --------------------------------------------------------------------------------------------------


def chi_square(table: NDArray[np.float64]) -> tuple[float, int]:
    """Pearson's chi-square of a two-way table and its degrees of freedom; empty rows and columns are left out.

    >>> chi_square(np.array([[10.0, 20.0], [30.0, 40.0]]))
    (0.79..., 1)
    """
    kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(kept.sum(axis=1), kept.sum(axis=0)) / kept.sum()
    return float(((kept - expected) ** 2 / expected).sum()), (kept.shape[0] - 1) * (kept.shape[1] - 1)


def _pearson(observations: Sequence[Observation], a: str, b: str) -> TestResult:
    from scipy.special import chdtrc

    if not own_channels(observations, a, b):
        raise InvalidTestError(
            f"{_REFUSED['pearson_raw']}. It holds only where {a!r} and {b!r} each have a channel of their own, the "
            f'same for everybody; use method="lrt" or "auto"',
            method="pearson",
            alternative="lrt",
        )
    only = observations[0]
    statistic, df = chi_square(only.counts.reshape(only.channel.output_shape))
    p = float(chdtrc(df, statistic)) if df else 1.0
    told = "Both attributes have channels of their own: independent truths give independent reports."
    return TestResult(statistic, p, df, "Pearson on the disguised table", (told,))


def wald_statistics(found: Any) -> tuple[float, float, int]:
    """Wald's d' V^-1 d, d_ij = pi_ij - pi_i pi_j (last row and column left out): V under H1, under H0; and the df."""
    table = found.unbiased.values
    # Sets miss a total of one by chance: spread evenly, or the cells that are left out would carry it.
    centre = np.eye(table.size) - 1 / table.size
    table = table - (table.sum() - 1) / table.size
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    keep = np.zeros(table.shape, dtype=bool)
    keep[:-1, :-1] = True
    d = (table - np.outer(rows, columns))[keep]
    j = residual_jacobian(rows, columns)[keep.ravel()] @ centre
    null_rows, null_columns = _inside(rows), _inside(columns)
    j0 = residual_jacobian(null_rows, null_columns)[keep.ravel()] @ centre
    under_h1 = j @ found.dispersion.matrix() @ j.T
    under_h0 = j0 @ found.dispersion.at(np.outer(null_rows, null_columns)).matrix() @ j0.T
    if min(np.linalg.eigvalsh(v)[0] / np.trace(v) for v in (under_h1, under_h0)) < _SINGULAR:
        raise TooFewReportsError(
            'the estimated covariance is singular: too few reports for Wald\'s test. Use method="lrt"', n=found.n
        )
    w1, w0 = (float(d @ np.linalg.solve(v, d)) for v in (under_h1, under_h0))
    return w1, w0, int(keep.sum())


def _wald(observations: Sequence[Observation], a: str, b: str) -> TestResult:
    from scipy.special import chdtrc

    found = estimate(list(observations), [a, b], method="inversion")
    w1, w0, df = wald_statistics(found)
    statistic = min(w1, w0)  # the larger p-value
    notes = ["The larger of the p-values with the covariance under H0 and under H1."]
    if found.n < ENOUGH * found.values.size:
        notes.append(
            f"Only {found.n} reports for {found.values.size} cells: below {ENOUGH} a cell Wald's test may not hold its "
            f'level. Use method="lrt".'
        )
    return TestResult(statistic, float(chdtrc(df, statistic)), df, "Wald on the unbiased table", tuple(notes))


def _inside(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    share = np.maximum(margin, 1e-6)
    return share / share.sum()


def _central(
    reports: Any, names: Sequence[str], method: str, epsilon: float | None, *, replicates: int, source: Source
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
    return _CENTRAL[method](counts, epsilon, replicates=replicates, source=source)

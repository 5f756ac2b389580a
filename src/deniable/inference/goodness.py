"""Goodness of fit to a given distribution, and homogeneity across public groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs.reports import Reports
from deniable.domain import Domain
from deniable.errors import InputError
from deniable.estimation.fit.gathering import same_categories
from deniable.estimation.sampling.reading import sampling_of
from deniable.inference.association import chi_square, covering_pair, for_sets, refuse_pairs
from deniable.inference.bootstrap import LikelihoodRatio, draw, p_value
from deniable.inference.fit import saturated
from deniable.inference.wald import BootstrapWald, Given, Same
from deniable.inference.weighted import weighted_goodness, weighted_homogeneity
from deniable.randomness import SECURE, Source
from deniable.results import TestResult
from deniable.tables.table import Table
from deniable.wording import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.estimation.estimator import Collected
    from deniable.estimation.sampling.reading import Given as Stratum
    from deniable.estimation.sampling.reading import Weights


def goodness_of_fit(
    reports: Collected,
    attributes: str | Iterable[str],
    expected: Any,
    method: str = "auto",
    *,
    replicates: int = 999,
    source: Source = SECURE,
    weights: Weights = None,
    strata: Stratum = None,
    clusters: Stratum = None,
) -> TestResult:
    """Test whether the joint distribution of some attributes is a given one.

    Args:
        reports: what respondents sent, tallies or observations.
        attributes: one or several attributes.
        expected: the distribution under H0: a `Table`, an array in the attributes' shape, or for one attribute a
            mapping from category to share.
        method: "lrt" ("auto"): likelihood ratio against any table. H0 leaves nothing to estimate, so its Monte Carlo
            p-value is exact: a true H0 is rejected at level alpha with probability at most alpha. "pearson":
            chi-square of the reports about P pi0, quick for large samples. Reports that are sets have no likelihood:
            for them "auto" is "wald_bootstrap", Wald's statistic with the same exact p-value.
        replicates: how often reports are drawn under H0.
        source: where they are drawn from.
        weights: survey weights; with weights, strata or clusters the test is Rao and Scott's ("auto"), or by drawing
            clusters anew ("bootstrap"): see `inference.rao_scott`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    refuse_pairs(reports)
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    sampling = sampling_of(reports, weights, strata, clusters)
    if sampling is not None:
        asked = covering_pair(reports, names)[0].domain.project(names)
        table = _distribution(expected, asked)
        return weighted_goodness(reports, table, sampling, method, replicates=replicates, source=source)
    observations = covering_pair(reports, names)
    spoken = Domain(list({v.name: v for o in observations for v in o.domain.values()}.values()))
    if set(spoken) != set(names):
        raise InputError(
            f"the channel of {listed(spoken)} cannot be reduced to {listed(names)}; give the distribution of all of "
            f"them"
        )
    told = f"{replicates} draws under H0, which leaves nothing to estimate: the p-value is exact."
    null = _distribution(expected, spoken.project(names))
    if any(o.is_support for o in observations):
        for_sets(method)
        wald = BootstrapWald([observations], Given(null.project(observations[0].domain.names).values))
        value, p, drawn = wald.test(replicates, source.stream().generator())
        return TestResult(value, p, wald.df, "goodness of fit, Wald on the unbiased table", (told,), drawn)
    h1 = saturated(observations)
    pi = null.project(h1.domain.names).values[..., None]
    lam = h1.expected(pi)
    counts = h1.counts
    impossible = any(((y > 0) & (share <= 0)).any() for y, share in zip(counts, lam, strict=True))
    if impossible:
        return TestResult(np.inf, 0.0, None, "goodness of fit", ("Reports came that H0 rules out.",))
    if method == "pearson":
        return _pearson(counts, lam)
    if method not in ("auto", "lrt"):
        raise InputError(f'method must be "auto", "lrt" or "pearson", not {method!r}', method=method)
    rng = source.stream().generator()
    again = [draw(rng, o.n, share, replicates) for o, share in zip(observations, lam, strict=True)]

    def statistic(data: list[NDArray[np.float64]], gap: float) -> NDArray[np.float64]:
        many = np.repeat(pi, data[0].shape[-1], axis=-1)
        best = h1.fit(data, near=many, gap=gap)
        return np.maximum(2 * (best.loglik - h1.evaluate(many, data)[0]), 0.0)

    observed = float(statistic(counts, 1e-6)[0])
    df = h1.domain.cells - 1
    drawn = statistic(again, 1e-4)
    p = p_value(observed, drawn)
    return TestResult(observed, p, df, "goodness of fit, likelihood ratio through the channel", (told,), drawn)


def _pearson(counts: list[NDArray[np.float64]], lam: list[NDArray[np.float64]]) -> TestResult:
    from scipy.special import chdtrc

    statistic, df, least = 0.0, 0, np.inf
    for y, share in zip(counts, lam, strict=True):
        expected = y.sum() * share[share > 0]
        statistic += float(((y[share > 0] - expected) ** 2 / expected).sum())
        df += len(expected) - 1
        least = min(least, float(expected.min()))
    notes = ('Some expected counts are below 5: use method="lrt".',) if least < 5 else ()
    return TestResult(statistic, float(chdtrc(df, statistic)), df, "goodness of fit, Pearson on the reports", notes)


def _distribution(expected: Any, domain: Domain) -> Table:
    if isinstance(expected, Table):
        table = expected.project(domain.names)
    elif isinstance(expected, Mapping):
        if len(domain) != 1:
            raise InputError("a mapping from category to share is for one attribute; give a Table or an array")
        variable = domain[domain.names[0]]
        values = np.zeros(len(variable))
        for category, share in expected.items():
            values[variable.code(category)] = share
        table = Table(domain, values)
    else:
        table = Table(domain, expected)
    if not (table.values >= 0).all() or abs(table.total - 1) > 1e-6:
        raise InputError(f"the expected shares must be 0 or more and sum to 1, not to {table.total:g}")
    return table.normalize()


def _parts(reports: Reports | Mapping[Any, Collected], by: str | None) -> dict[Any, Collected]:
    """The groups, two or more."""
    if isinstance(reports, Reports):
        if by is None:
            raise InputError("name the public column that holds the groups: by=...")
        parts: dict[Any, Collected] = dict(reports.groups(by))
    elif isinstance(reports, Mapping):
        parts = dict(reports)
    else:
        raise InputError("homogeneity needs reports with a public column, or a mapping from group to reports")
    if len(parts) < 2:
        there = f"only {listed(parts)}" if parts else "no group"
        raise InputError(f"there is {there}; groups are compared with each other")
    for part in parts.values():
        refuse_pairs(part)
    return parts


def homogeneity(
    reports: Reports | Mapping[Any, Collected],
    attributes: str | Iterable[str],
    by: str | None = None,
    method: str = "auto",
    *,
    replicates: int = 999,
    source: Source = SECURE,
    weights: Weights = None,
    strata: Stratum = None,
    clusters: Stratum = None,
) -> TestResult:
    """Test whether the distribution of some attributes is the same in all public groups.

    Args:
        reports: reports with a public column, or a mapping from group to its reports or observations.
        attributes: one or several attributes.
        by: the public column that holds the groups.
        method: "auto": Pearson on the table of groups by reports where all groups answered through the same channel
            (equal truths give equal reports, and only they do), else "lrt", the bootstrap likelihood ratio; for
            reports that are sets "wald_bootstrap".
        replicates: of the bootstrap.
        source: where it is drawn from.
        weights: survey weights; with weights, strata or clusters the test is Rao and Scott's, as for `goodness_of_fit`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    from scipy.special import chdtrc

    refuse_pairs(reports)
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if weights is not None or strata is not None or clusters is not None:
        if not isinstance(reports, Reports) or by is None:
            raise InputError(
                "with weights, strata or clusters the groups are parts of one sample: give the reports of all of them, "
                "and the public column that holds the groups as by="
            )
        sampling = sampling_of(reports, weights, strata, clusters)
        assert sampling is not None
        more: dict[str, Any] = {"replicates": replicates, "source": source}
        return weighted_homogeneity(reports, names, by, sampling, method, **more)
    parts = _parts(reports, by)
    groups = [covering_pair(part, names) for part in parts.values()]
    same_categories(o.domain for group in groups for o in group)
    if any(o.is_support for group in groups for o in group):
        for_sets(method)
        alike = BootstrapWald(groups, Same(groups[0][0].domain.axes(names)), grouped=True)
        statistic, p, drawn = alike.test(replicates, source.stream().generator())
        notes = (f"{len(groups)} groups: {listed(parts)}.", f"{replicates} bootstrap replicates.")
        return TestResult(statistic, p, alike.df, "homogeneity, Wald on the unbiased tables, bootstrap", notes, drawn)
    wider = [o for group in groups for o in group if set(o.domain) != set(names)]
    if wider:
        raise InputError(
            f"reports through {wider[0].channel.name} speak of {listed(wider[0].domain)} and cannot be reduced to "
            f"{listed(names)}: a difference in the others would be taken for one in these. Test all of them together",
            attributes=tuple(wider[0].domain),
        )
    same = all(len(group) == 1 and group[0].channel == groups[0][0].channel for group in groups)
    told = f"{len(groups)} groups: {listed(parts)}."
    if method == "pearson" and not same:
        raise InputError("the groups answered through different channels, so their reports cannot be compared: use lrt")
    if method == "pearson" or (method == "auto" and same):
        statistic, df = chi_square(np.stack([group[0].counts.ravel() for group in groups]))
        p = float(chdtrc(df, statistic)) if df else 1.0
        return TestResult(statistic, p, df, "homogeneity, Pearson on groups by reports", (told,))
    if method not in ("auto", "lrt"):
        raise InputError(f'method must be "auto", "lrt" or "pearson", not {method!r}', method=method)
    flat: list[Observation] = [o for group in groups for o in group]
    test = LikelihoodRatio(flat, [saturated(flat)], [saturated(group) for group in groups])
    statistic, p, drawn = test.test(replicates, source.stream().generator())
    df = (len(groups) - 1) * (saturated(flat).domain.cells - 1)
    notes = (told, f"{replicates} bootstrap replicates.")
    return TestResult(statistic, p, df, "homogeneity, likelihood ratio through the channels, bootstrap", notes, drawn)

"""The tests of `association` and `goodness` for respondents with weights, strata or clusters: see `rao_scott`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, TooFewReportsError
from deniable.estimation.by_group import by_group
from deniable.inference.hypothesis_tests.null_hypotheses import Given, Independent, InEach, Same
from deniable.inference.hypothesis_tests.rao_scott import RaoScott
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.gather import gather
from deniable.sampling.read_sampling import sampling_by
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.randomness import Source
    from deniable.core.results import TestResult
    from deniable.core.table import Table
    from deniable.estimation.estimator import Collected
    from deniable.likelihood.efficient_estimate import Efficient
    from deniable.sampling.sampling import Sampling


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
        parts = _tables(reports, pair, given[0], sampling)
        test = RaoScott(list(parts.values()), sampling, InEach(Independent(0, 1)), grouped=True)
        told = f"independence within each value of {given[0]}"
    else:
        axes = tuple(range(2, 2 + len(given)))
        test = RaoScott([_table(reports, (*pair, *given), sampling)], sampling, Independent(0, 1, axes))
        told = "independence" if not given else f"independence given {' and '.join(given)}"
    return test.test(method, told, replicates=replicates, source=source)


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
    groups = _tables(reports, names, by, sampling)
    if len(groups) < 2:
        raise InputError(f"there is only {listed(groups)}; groups are compared with each other")
    test = RaoScott(list(groups.values()), sampling, Same(tuple(range(len(names)))), grouped=True)
    return test.test(method, f"homogeneity of {listed(groups)}", replicates=replicates, source=source)


def _tables(reports: Reports, names: Sequence[str], by: str, sampling: Sampling) -> dict[Any, Efficient]:
    """The efficient table of each public group; one that shows no variance is refused while its name is known."""

    def of_group(part: Sampling) -> Efficient:
        found = _table(reports, names, part)
        found.df  # noqa: B018 - refuses groups that lie in one cluster
        return found

    return by_group(by, sampling_by(reports, by, sampling), of_group)


def _table(reports: Collected, names: Sequence[str], sampling: Sampling) -> Efficient:
    """The efficient table of some attributes, of those whom the sampling looks at."""
    found = efficient_from(gather(reports, names, sampling=sampling).require())
    if not found.determined:
        raise TooFewReportsError(
            f"the reports say too little about {listed(names)} to test anything", n=found.evidence.n
        )
    return found

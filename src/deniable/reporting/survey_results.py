"""The report of a whole survey: everything that its reports can tell, chosen so that a reader can take it in."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from deniable.errors import EstimationError
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.refused import Refused, shown
from deniable.inference.corrected_words import corrected_words
from deniable.inference.hypothesis_tests.all_pairs import all_pairs
from deniable.inference.numbers.aim_estimates import told_aims
from deniable.reporting.data_quality import alarms, fewest_published
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deniable.aims.aim import Wanted
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.by_group import Grouped
    from deniable.estimation.estimate import Estimate
    from deniable.inference.hypothesis_tests.all_pairs import Pairs
    from deniable.sampling.sampling import Sampling

MOST_GROUPS = 12  # public attributes of more values are shown only when they are asked for
MOST_PAIRS = 15  # cross tables and tests of more pairs than this are made only when they are asked for
_BLOCK = 1 << 20


def survey(
    reports: Reports,
    tables: Sequence[Sequence[str]] = (),
    *,
    by: Sequence[str] | None = None,
    replicates: int = 999,
    sampling: Sampling | None = None,
    wanted: Sequence[Wanted] = (),
) -> tuple[list[Estimate | Refused], dict[str, Any]]:
    """Estimates of every attribute and of the asked tables, and what else `reporting.document` takes.

    Numbers that the survey was made for are told, and how near the design is to the best; `wanted` are others, or what
    it was made for where the reports do not know it. Without `tables`, pairs are crossed and tested where the reports
    cover them, unless there are too many. Every attribute is also estimated in each group of the public attributes
    `by`: by default, of all with few groups. What too few have answered has that said in its place, and stops nothing
    else. With a sampling, estimates and tests are weighted, with its errors.
    """
    if wanted and not reports.labels.aims:
        reports = reports.with_labels(replace(reports.labels, aims=tuple(map(str, wanted))))
    names = list(reports.design.domain)
    known = [name for name in names if reports.design.covers([name])]
    hidden = [name for name in names if name not in known]

    def table(of: Sequence[str]) -> Estimate | Refused:
        return shown(reports, of, partial(estimate, reports, of, weights=sampling))

    pairs = [list(table) for table in tables if len(table) == 2]
    if not tables:
        covered = [list(pair) for pair in combinations(names, 2) if reports.design.covers(pair)]
        pairs = covered if len(covered) <= MOST_PAIRS else []
    singles = [table([name]) for name in known]
    crossed = [table(pair) for pair in pairs]
    larger = [table(asked) for asked in tables if len(asked) > 2]
    told = [each for each in (*singles, *crossed, *larger) if not isinstance(each, Refused)]
    associations, untested = _associations(reports, [list(e.attributes) for e in told], replicates, sampling)
    public = _public(reports, by)
    about: dict[str, Any] = {
        "crossed": crossed,
        "associations": associations,
        "labels": reports.labels,
        "groups": [_grouped(reports, name, column, sampling) for column in public for name in known],
        "statement": reports.describe(published=fewest_published(reports, public) if sampling is None else None),
        "quality": [*alarms(reports, told), *untested, *_not_told(hidden)],
        "aims": told_aims(reports, also=wanted, weights=sampling),
        "lead": _lead(reports, sampling),
        "origin": reports.origin,
        "corrected": corrected_words(reports),
    }
    return [*singles, *larger], about


def _not_told(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    why = "the reports came through channels made for other numbers, which mean, cdf and quantile tell"
    return [f"No table of {listed(names)} is shown: {why}."]


def _lead(reports: Reports, sampling: Sampling | None) -> str:
    if reports.origin:
        return f"This is what {reports.n} {reports.origin.kind}reports say; it is no result."
    said = f"{reports.n} people answered in disguise."
    if sampling is None:
        return f"{said} This is what their answers say about all of them."
    return f"{said} This is what their answers say about the {sampling.total:,.0f} whom their weights stand for."


def _public(reports: Reports, by: Sequence[str] | None) -> Sequence[str]:
    """The public attributes to group by; a number, such as a weight, has too many values for groups."""
    if by is not None:
        return by
    return [name for name in reports.public_names if 2 <= sum(1 for _ in reports.groups(name)) <= MOST_GROUPS]


def _grouped(reports: Reports, name: str, public: str, sampling: Sampling | None) -> Grouped | Refused:
    try:
        return estimate(reports, name, by=public, weights=sampling)
    except EstimationError as refusal:  # of all groups: one that is too thin has that said in its place
        return Refused((name,), reports.n, refusal.message, type(refusal))


def _associations(
    reports: Reports, pairs: list[list[str]], replicates: int, sampling: Sampling | None
) -> tuple[Pairs | None, list[str]]:
    """Tests of the attributes that were crossed; or none, and the reason."""
    involved = list(dict.fromkeys(name for pair in pairs if len(pair) == 2 for name in pair))
    if not involved:
        return None, []
    try:
        return all_pairs(reports, involved, replicates=replicates, weights=sampling), []
    except EstimationError as error:
        return None, [f"No association was tested: {error.message}."]


def sha256(path: Path) -> str:
    """A file's hash, read piece by piece."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_BLOCK):
            digest.update(piece)
    return digest.hexdigest()

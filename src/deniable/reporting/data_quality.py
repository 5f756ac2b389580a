"""Data quality: signs that something went wrong while answering, which the disguise's noise would hardly give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.notes.fewer_than_chance import ALARM, accused, fewer_than_chance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate


def alarms(reports: Reports, estimates: Sequence[Estimate]) -> list[str]:
    """What to look into, a sentence each; empty when nothing stands out."""
    return [*_uneven_ballots(reports), *_too_few(reports, estimates)]


def _uneven_ballots(reports: Reports) -> list[str]:
    """Devices draw ballots by the design. If some came more often, people chose theirs, or reports were made up."""
    from scipy.special import bdtr, bdtrc

    drawn = reports.ballot_counts()
    n, chances = int(drawn.sum()), reports.design.chances
    if len(drawn) < 2 or not n:
        return []
    # How often one ballot came is binomial: exact for few reports too, and for all ballots at once by Bonferroni.
    either = np.minimum(bdtr(drawn, n, chances), np.where(drawn > 0, bdtrc(drawn - 1, n, chances), 1.0))
    p = min(1.0, 2 * len(drawn) * float(either.min()))
    if p >= ALARM:
        return []
    expected = n * chances
    return [
        (
            f"Alarm: devices draw ballots by chance, and the reports have between {(drawn / expected).min():.2f} and "
            f"{(drawn / expected).max():.2f} times as many of each as they should (p = {p:.2g}). Did "
            f"people draw again until they liked the question, or did reports come from elsewhere?"
        )
    ]


def fewest_published(reports: Reports, by: Sequence[str] = ()) -> int | None:
    """The fewest respondents whose counts are shown together: of a ballot, in a group by all public columns shown.

    Two digits of it, rounded down: what is said of "so many or more" does not change with every report. None where
    counts hide nobody.
    """
    fewest = _fewest(reports, by) if reports.design.is_shuffled else 0
    unit = 10 ** max(0, len(str(fewest)) - 2)
    return fewest // unit * unit or None


def _fewest(reports: Reports, by: Sequence[str]) -> int:
    if by:
        return min((_fewest(part, by[1:]) for _, part in reports.groups(by[0])), default=0)
    drawn = reports.ballot_counts()
    return int(drawn[drawn > 0].min()) if (drawn > 0).any() else 0


def _too_few(reports: Reports, estimates: Sequence[Estimate]) -> list[str]:
    """Where fewer reports of a category came than chance alone explains, people did not follow the instructions."""
    cells = sum(estimate.values.size for estimate in estimates)
    so = "Respondents may not have followed the instructions, or reports were made up."
    found: list[str] = []
    for estimate in estimates:
        domain = estimate.table.domain
        pvalues = fewer_than_chance(reports.among_asked(list(domain)).tabulate(list(domain)), domain)
        found += [f"Alarm: {told[0].lower()}{told[1:]}" for told in accused(pvalues, domain, cells, so)]
    return found

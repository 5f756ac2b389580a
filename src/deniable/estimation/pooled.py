"""From which reports errors are stated: all that speak of a table, or, where that cannot be, those that cover it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.designs.observation import Observation
from deniable.likelihood.efficient_estimate import MOST_CELLS, Efficient, efficient_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.designs.reports.reports import Reports
    from deniable.designs.reports.tallies import Tallies
    from deniable.likelihood.covariance_operator import Population
    from deniable.likelihood.evidence import Evidence


def pool(
    told: Evidence | None, population: Population, sources: Sequence[Reports | Tallies | Observation]
) -> tuple[Efficient | None, list[str]]:
    """The estimate from all reports; where only those that cover the table can be used, why."""
    if told is None:
        return None, []  # pairs say it themselves
    alone, people = len(told.groups) == 1, None
    if population == "fixed":
        if alone or len(sources) > 1:
            # Several sources are several populations, each of which is fixed.
            return None, [] if alone else ["only the reports that cover the table: several populations are fixed"]
        people = sources[0].population if isinstance(sources[0], Observation) else sources[0].n - told.unasked
    if told.cells > MOST_CELLS:
        more = f"errors are those of the reports that cover the table: {told.cells} cells are too many to pool others"
        return None, [] if alone else [more]
    pooled = efficient_from(told)
    if not pooled.determined:
        return None, [] if alone else ["errors are those of the reports that cover the table: others add next to none"]
    errors = [] if alone else ["errors from all reports that speak of any of them"]
    return replace(pooled, people=people), errors


def only_covering(told: Evidence) -> Evidence:
    """What the reports say that cover the whole table."""
    kept = tuple(group for group in told.groups if set(told.asked) <= set(group.said.part))
    return replace(told, groups=kept, respondents=None)

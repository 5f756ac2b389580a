"""What the reports say, for an analyst: every wanted table and every single question, as JSON or CSV."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from deniable.collection.load_reports import stored_reports
from deniable.collection.simulated_marks import origin_in
from deniable.core.csv_injection import plain
from deniable.core.markup import comma_separated_rows
from deniable.core.rows import LEVEL, NUMBERS
from deniable.core.summary import STAMPED
from deniable.errors import InputError
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.refused import Refused, shown
from deniable.inference.corrected_words import corrected_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.collection.collector import Collector
    from deniable.core.provenance import Origin
    from deniable.estimation.estimate import Estimate
    from deniable.web.dashboard.worker_process import Surveyed


def results(
    collector: Collector, tables: Sequence[Sequence[str]] | None = None, level: float = LEVEL
) -> dict[str, Any]:
    """Estimate tables (by default the wanted ones and every single question) from what is shown now."""
    collector.opening.look()
    return told(collector, *estimates(collector, tables, level), level)


def level_of(text: str) -> float:
    """The level of intervals that an address asks for."""
    with suppress(ValueError):
        if 0 < (level := float(text)) < 1:
            return level
    raise InputError(f"a confidence level lies between 0 and 1, not {text[:40]!r}")


def told(
    collector: Collector,
    reports: int,
    tables: list[dict[str, Any]],
    corrections: list[dict[str, Any]],
    level: float = LEVEL,
) -> dict[str, Any]:
    """Estimated tables and corrected words, with what a collector says of itself besides."""
    return {
        "survey": collector.survey.name,
        "design": collector.design_id,
        "epsilon": collector.survey.design.epsilon,
        "reports": reports,
        "origin": _origin(collector).told,
        "open": collector.is_open,
        "rejected": collector.turned_away(),
        "level": level,
        "corrections": corrections,
        "tables": tables,
    }


def estimates(
    surveyed: Surveyed, tables: Sequence[Sequence[str]] | None = None, level: float = LEVEL
) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """How many reports are shown, tables of them, and what was corrected in the words meanwhile.

    The tables are by default the wanted ones and every single question.
    """
    survey = surveyed.survey
    wanted = [(name,) for name in survey.domain] + list(survey.tables) if tables is None else tables
    reports = stored_reports(surveyed.shown, surveyed.design_id, to_keep=False)
    names = [list(names) for names in dict.fromkeys(map(tuple, wanted)) if reports.design.covers(names)]
    found = [_table(shown(reports, one, partial(estimate, reports, one)), level) for one in names]
    return reports.n, found, [each.told for each in corrected_words(reports)]


def _table(found: Estimate | Refused, level: float) -> dict[str, Any]:
    if isinstance(found, Refused):
        return {"attributes": list(found.attributes), "reports": found.n, "refused": found.reason, "cells": []}
    return {
        "attributes": list(found.attributes),
        "reports": found.n,
        "method": found.method,
        "reason": found.reason,
        "gap": found.gap,
        "notes": list(found.summary(level).notes),
        "cells": [{"categories": list(row.cell), **row.numbers()} for row in found.rows(level)],
    }


def _origin(collector: Collector) -> Origin:
    return origin_in(collector.shown, collector.numbers, collector.survey.name)


def results_csv(found: dict[str, Any]) -> str:
    """The same as CSV, a line a cell; the attributes and categories of a joint table are joined by " * ".

    Of reports that are simulated, or a pilot's, every line says so.
    """
    stamp = [found["origin"]["stamp"]] if found["origin"]["stamp"] else []
    rows: list[list[Any]] = [["attributes", "categories", "reports", *NUMBERS, *([STAMPED] if stamp else [])]]
    for table in found["tables"]:
        attributes = plain(" * ".join(table["attributes"]))
        if "refused" in table:
            rows.append([attributes, table["refused"], table["reports"], *([""] * len(NUMBERS)), *stamp])
        for cell in table["cells"]:
            labels = plain(" * ".join(map(str, cell["categories"])))
            rows.append([attributes, labels, table["reports"], *(cell[name] for name in NUMBERS), *stamp])
    for correction in found["corrections"]:
        rows += _corrected(correction, stamp)
    return comma_separated_rows(rows)


def _corrected(correction: dict[str, Any], stamp: Sequence[str]) -> list[list[Any]]:
    """A line for every text that was corrected, and for every test of the answers before and after, without numbers."""
    sides = f"{correction['before']} reports before, {correction['after']} after"
    why = f"words corrected ({correction['why'] or 'nobody said why'}); {sides}"
    told = [(each["name"], f"{why}: {each['before']!r} became {each['after']!r}") for each in correction["changes"]]
    for test in correction["tests"]:
        p = test["reason"] if test["p"] is None else f"p = {test['p']:.2g} ({test['method']})"
        told.append((test["attribute"], f"{why}: answers alike? {p}"))
    n = correction["before"] + correction["after"]
    return [[plain(name), plain(text), n, *([""] * len(NUMBERS)), *stamp] for name, text in told]

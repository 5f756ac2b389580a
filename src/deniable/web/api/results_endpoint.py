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
from deniable.inference.numbers.aim_estimates import told_aims
from deniable.reporting.data_quality import alarms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.collection.collector import Collector
    from deniable.core.provenance import Origin
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.web.dashboard.worker_process import Surveyed


def results(
    collector: Collector, tables: Sequence[Sequence[str]] | None = None, level: float = LEVEL
) -> dict[str, Any]:
    """Estimate tables (by default the wanted ones and every single question) from what is shown now."""
    collector.opening.look()
    return told(collector, estimates(collector, tables, level))


def level_of(text: str) -> float:
    """The level of intervals that an address asks for."""
    with suppress(ValueError):
        if 0 < (level := float(text)) < 1:
            return level
    raise InputError(f"a confidence level lies between 0 and 1, not {text[:40]!r}")


def told(collector: Collector, estimated: dict[str, Any]) -> dict[str, Any]:
    """What was estimated, with what a collector says of itself besides."""
    return {
        "survey": collector.survey.name,
        "design": collector.design_id,
        "epsilon": collector.survey.design.epsilon,
        "origin": _origin(collector).told,
        "open": collector.is_open,
        "rejected": collector.turned_away(),
        **estimated,
    }


def estimates(
    surveyed: Surveyed, tables: Sequence[Sequence[str]] | None = None, level: float = LEVEL
) -> dict[str, Any]:
    """What the reports that are shown say: tables, by default the wanted ones and every single question, and aims."""
    survey = surveyed.survey
    wanted = [(name,) for name in survey.domain] + list(survey.tables) if tables is None else tables
    reports = stored_reports(surveyed.shown, surveyed.design_id, to_keep=False)
    names = [list(names) for names in dict.fromkeys(map(tuple, wanted)) if reports.design.covers(names)]
    found = [shown(reports, one, partial(estimate, reports, one)) for one in names]
    return {
        "reports": reports.n,
        "level": level,
        "corrections": [each.told for each in corrected_words(reports)],
        "tables": [_table(each, level) for each in found],
        **aims_of(surveyed, reports, level),
        "alarms": alarms(reports, [each for each in found if not isinstance(each, Refused)]),
    }


def aims_of(surveyed: Surveyed, reports: Reports, level: float = LEVEL) -> dict[str, Any]:
    """What the survey was made for: its numbers that are no tables, and how near its design is to the best."""
    found = told_aims(reports, surveyed.survey.aims, level)
    return {
        "numbers": [] if found.numbers is None else found.numbers.told,
        "number_notes": [str(note) for note in found.notes],
        "nearness": found.nearness,
    }


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

    What must be known stands in lines without numbers. Of reports that are simulated, or a pilot's, every line says so.
    """
    stamp = [found["origin"]["stamp"]] if found["origin"]["stamp"] else []
    rows: list[list[Any]] = [["attributes", "categories", "reports", *NUMBERS, *([STAMPED] if stamp else [])]]
    for of, said, reports, numbers in _lines(found):
        rows.append([plain(of), plain(said), reports, *(numbers.get(name, "") for name in NUMBERS), *stamp])
    return comma_separated_rows(rows)


def _lines(found: dict[str, Any]) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """What each line is about, what it says, of how many reports, and its numbers."""
    for table in found["tables"]:
        attributes, n = " * ".join(table["attributes"]), table["reports"]
        for cell in table["cells"]:
            yield attributes, " * ".join(map(str, cell["categories"])), n, cell
        # But for how many reports there are, and how it was made.
        for note in [table["refused"]] if "refused" in table else table["notes"][1:-1]:
            yield attributes, note, n, {}
    for one in found["numbers"]:
        yield one["wanted"], one["refused"] if "refused" in one else one["which"], one["reports"], one
    for note in filter(None, (*found["number_notes"], found["nearness"], *found["alarms"])):
        yield "", note, found["reports"], {}
    for correction in found["corrections"]:
        for name, text in _corrected(correction):
            yield name, text, correction["before"] + correction["after"], {}


def _corrected(correction: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is said of every text that was corrected, and of every test of the answers before and after."""
    sides = f"{correction['before']} reports before, {correction['after']} after"
    why = f"words corrected ({correction['why'] or 'nobody said why'}); {sides}"
    for each in correction["changes"]:
        yield each["name"], f"{why}: {each['before']!r} became {each['after']!r}"
    for test in correction["tests"]:
        p = test["reason"] if test["p"] is None else f"p = {test['p']:.2g} ({test['method']})"
        yield test["attribute"], f"{why}: answers alike? {p}"

"""What the reports say, for an analyst: every wanted table and every single question, as JSON or CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from deniable.collection.export import stored_reports
from deniable.collection.simulated import simulated
from deniable.estimation.estimator import estimate
from deniable.formulas import plain
from deniable.frames.stored import MOST_SINGLY
from deniable.reporting.quality import ballot_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.collection.collector import Collector
    from deniable.designs.observation import Observation
    from deniable.designs.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.web.desk import Surveyed

LEVEL = 0.95
_COUNTED: WeakKeyDictionary[Reports, dict[tuple[str, ...], list[Observation]]] = WeakKeyDictionary()
_DRAWN: WeakKeyDictionary[Reports, NDArray[np.int64]] = WeakKeyDictionary()
_FEWEST = 2  # reports about a table before its error can be estimated
_NUMBERS = ("estimate", "unbiased", "efficient", "std_error", "low", "high")


def results(collector: Collector, tables: Sequence[Sequence[str]] | None = None) -> dict[str, Any]:
    """Estimate tables (by default the wanted ones and every single question) from what is stored now."""
    collector.opening.look()
    return told(collector, *estimates(collector, tables))


def told(collector: Collector, reports: int, tables: list[dict[str, Any]]) -> dict[str, Any]:
    """Estimated tables, with what a collector says of itself besides."""
    return {
        "survey": collector.survey.name,
        "design": collector.design_id,
        "epsilon": collector.survey.design.epsilon,
        "reports": reports,
        "simulated": simulated(collector.store, collector.numbers),
        "open": collector.is_open,
        "rejected": collector.rejections.total(),
        "level": LEVEL,
        "tables": tables,
    }


def estimates(surveyed: Surveyed, tables: Sequence[Sequence[str]] | None = None) -> tuple[int, list[dict[str, Any]]]:
    """How many reports are stored, and tables (by default the wanted ones and every single question) of them."""
    survey = surveyed.survey
    wanted = [(name,) for name in survey.domain] + list(survey.tables) if tables is None else tables
    reports = stored_reports(surveyed.store, surveyed.design_id, to_keep=False)
    names = [names for names in dict.fromkeys(map(tuple, wanted)) if _asked(reports, names)]
    return reports.n, [_table(estimated(reports, one)) for one in names]


def estimated(reports: Reports, names: Sequence[str]) -> Estimate:
    """An estimate for a page: of many reports that are sets by how many hold each category, not one by one.

    Each of a million sets is another report, so that to weigh each by its likelihood takes minutes. Their counts take a
    second, and have errors of their own.
    """
    if reports.n <= MOST_SINGLY or not any(asked.channel.is_support for asked in reports.design.questions):
        return estimate(reports, names)
    return replace(estimate(tabulated(reports, names), names), labels=reports.labels)


def tabulated(reports: Reports, names: Sequence[str]) -> list[Observation]:
    """What reports say about some attributes, counted once however often it is asked for."""
    known = _COUNTED.setdefault(reports, {})
    if tuple(names) not in known:
        known[tuple(names)] = reports.tabulate(names)
    return known[tuple(names)]


def speaking(reports: Reports, names: Sequence[str]) -> int:
    """How many reports speak of all of some attributes together, whatever of them they tell."""
    if reports not in _DRAWN:
        _DRAWN[reports] = ballot_counts(reports)
    design = reports.design
    asked = [{name for index in ballot for name in design.questions[index].attributes} for ballot in design.ballots]
    return int(_DRAWN[reports][[set(names) <= each for each in asked]].sum())


def _asked(reports: Reports, names: Sequence[str]) -> bool:
    """Whether enough have reported about all of these together yet, through channels that tell their table."""
    return reports.design.covers(names) and speaking(reports, names) >= _FEWEST


def _table(found: Estimate) -> dict[str, Any]:
    return {
        "attributes": list(found.attributes),
        "reports": found.n,
        "method": found.method,
        "reason": found.reason,
        "notes": list(found.summary(LEVEL).notes),
        "cells": [
            {"categories": list(label), **dict(zip(_NUMBERS, numbers, strict=True))} for label, numbers in _cells(found)
        ],
    }


def _cells(found: Estimate) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    labels = zip(*found.table.cells().values(), strict=True)
    interval = found.interval(LEVEL)
    points = (found.values, found.unbiased.values, found.efficient.values)
    columns = (*points, found.std_error, interval.low, interval.high)
    rows = np.stack([np.ravel(column) for column in columns], axis=1)
    return zip(labels, rows.tolist(), strict=True)


def results_csv(found: dict[str, Any]) -> str:
    """The same as CSV, a line a cell; the attributes and categories of a joint table are joined by " * "."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["attributes", "categories", "reports", *_NUMBERS])
    for table in found["tables"]:
        attributes = plain(" * ".join(table["attributes"]))
        for cell in table["cells"]:
            labels = plain(" * ".join(map(str, cell["categories"])))
            # Results kept by version 0.1 state the errors of the unbiased estimate, the only one they have.
            numbers = {"efficient": cell["unbiased"], **cell}
            writer.writerow([attributes, labels, table["reports"], *(numbers[name] for name in _NUMBERS)])
    return out.getvalue()

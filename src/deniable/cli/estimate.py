"""`deniable estimate`: tables out of reports, with their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click
import numpy as np

from deniable.cli.common import (
    FILE,
    PLACE,
    as_json,
    bar,
    console,
    design_option,
    emit,
    laid_out,
    reports_at,
    sampling_options,
    split,
    table_option,
)
from deniable.device.statement import rounded_up
from deniable.errors import InputError
from deniable.wording import listed

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from deniable.designs.reports import Reports
    from deniable.estimation.estimate import Estimate


@click.command("estimate")
@click.argument("reports", type=PLACE)
@table_option("Attributes whose joint table is wanted. Repeatable; without it, every attribute by itself.")
@click.option("--by", metavar="COLUMN", help="A public column: one table for each of its values.")
@click.option(
    "--method", default="auto", show_default=True, help="auto, inversion, mle, norm_sub, shrink, loglinear ..."
)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--plot", type=FILE, help="Draw the (first) table to this .svg file.")
@click.option("--engine", type=click.Choice(["auto", "bincount", "duckdb"]), default="auto", help="Who counts Parquet.")
@sampling_options
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    tables: tuple[str, ...],
    by: str | None,
    method: Any,
    level: float,
    plot: Path | None,
    engine: str,
    weights: str | None,
    strata: str | None,
    clusters: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Estimate the shares behind the disguised answers in REPORTS, with intervals.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.

    \b
    Examples:
      deniable estimate reports.parquet
      deniable estimate deniable-data
      deniable estimate reports.parquet --table sex,income --plot income.svg
      deniable estimate reports.parquet --weights weight --strata region --clusters school
    """  # noqa: D301 - click wants the character itself
    from deniable.estimation.estimator import Method

    if method not in get_args(Method):
        raise InputError(f"there is no method {method!r}; choose from {listed(get_args(Method))}", method=method)
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"plots are written to .svg files, not to {plot.name!r}")
    opened = reports_at(reports, design, engine)
    wanted = [split(table) for table in tables] or [[name] for name in opened.design.domain]
    drawn = {"weights": weights, "strata": strata, "clusters": clusters}
    found = [one for names in wanted for one in _estimates(opened, names, method, by, drawn)]
    if not found:
        raise InputError(f"column {by!r} has no values, so there is nothing to estimate by it")
    if plot is not None:
        _draw(plot, found[0][1], level)
    if as_json:
        emit(_data(opened, by, found, level))
        return
    out = console()
    for value, one in found:
        if by is not None:
            out.print(f"\n[bold]{by}:[/bold] {value}")
        _show(out, one, level)
    for note in opened.notes:
        out.print(note, markup=False)
    out.print(f"{opened.n} reports; epsilon {rounded_up(opened.design.epsilon)} a respondent.")


def _show(out: Console, one: Estimate, level: float) -> None:
    summary, interval = one.summary(level), one.interval(level)
    most = max(float(np.max(interval.high)), float(np.max(one.values)), 1e-9)
    blocks = (out.encoding or "").lower().startswith("utf")
    ends = zip(interval.low.ravel(), interval.high.ravel(), strict=True)
    out.print(laid_out(summary, {"": [bar(low, high, most, blocks=blocks) for low, high in ends]}))
    for note in summary.notes:
        out.print(note, markup=False)


def _draw(path: Path, one: Estimate, level: float) -> None:
    from deniable.reporting.charts import chart

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{chart(one, level=level)}', encoding="utf-8")


def _estimates(
    opened: Reports, names: list[str], method: Any, by: str | None, drawn: dict[str, Any]
) -> list[tuple[Any, Estimate]]:
    """A table's estimates, each with its group; without groups there is one, of everybody."""
    from deniable.estimation.estimator import estimate

    if by is None:
        return [(None, estimate(opened, names, method, **drawn))]
    return list(estimate(opened, names, method, by=by, **drawn).items())


def _data(opened: Reports, by: str | None, found: list[tuple[Any, Estimate]], level: float) -> dict[str, Any]:
    return {
        "reports": opened.n,
        "design": opened.design.id,
        "epsilon": opened.design.epsilon,
        "notes": opened.notes,
        "level": level,
        "tables": [
            {"attributes": one.attributes, **({} if by is None else {by: value}), **_table(one, level)}
            for value, one in found
        ],
    }


def _table(one: Estimate, level: float) -> dict[str, Any]:
    interval = one.interval(level)
    numbers = {
        "estimate": one.values,
        "unbiased": one.unbiased.values,
        "efficient": one.efficient.values,
        "std_error": one.std_error,
        "low": interval.low,
        "high": interval.high,
    }
    labels = zip(*one.table.cells().values(), strict=True)
    columns = zip(*(np.ravel(values).tolist() for values in numbers.values()), strict=True)
    cells = [
        {"cell": dict(zip(one.attributes, label, strict=True)), **dict(zip(numbers, row, strict=True))}
        for label, row in zip(labels, columns, strict=True)
    ]
    return {"method": one.method, "reason": one.reason, "n": one.n, "cells": cells, "notes": one.notes()[1:]}

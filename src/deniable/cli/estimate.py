"""`deniable estimate`: tables out of reports, with their errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import click
import numpy as np
from rich.markup import escape

from deniable.cli.terminal import (
    FILE,
    PLACE,
    Progress,
    as_json,
    bar,
    console,
    design_option,
    emit,
    laid_out,
    origin_json,
    print_origin,
    reports_at,
    room_for_bars,
    sampling_options,
    table_option,
    words_options,
)
from deniable.cli.wanted_numbers import asked, data, show, tell
from deniable.device.privacy_statement import rounded_up
from deniable.errors import EstimationError, InputError
from deniable.estimation.notes.refused import Refused, shown
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from deniable.aims.aim import Wanted
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.by_group import Grouped
    from deniable.estimation.estimate import Estimate

    Told = Estimate | Grouped | Refused


@click.command("estimate")
@click.argument("reports", type=PLACE, nargs=-1, required=True)
@table_option(
    'Attributes whose joint table is wanted, or a number such as "mean(age)". Repeatable; without it, every attribute '
    "by itself, and the numbers that the survey is made for."
)
@click.option("--by", metavar="COLUMN", help="A public column: one table for each of its values.")
@click.option(
    "--method", default="auto", show_default=True, help="auto, inversion, mle, norm_sub, shrink, loglinear ..."
)
@click.option("--average", is_flag=True, help="Of several REPORTS: average over respondents, as if not one population.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--top", type=click.IntRange(1), default=30, show_default=True, help="Rows of a table; largest first.")
@click.option("--sort", is_flag=True, help="The largest shares first, also where all rows are shown.")
@click.option("--plot", type=FILE, help="Draw the (first) table to this .svg file.")
@click.option("--engine", type=click.Choice(["auto", "bincount", "duckdb"]), default="auto", help="Who counts Parquet.")
@sampling_options
@words_options
@design_option
@as_json
def command(
    *,
    reports: tuple[Path | str, ...],
    tables: tuple[str, ...],
    by: str | None,
    method: Any,
    average: bool,
    level: float,
    top: int,
    sort: bool,
    plot: Path | None,
    engine: str,
    weights: str | None,
    strata: str | None,
    clusters: str | None,
    words: Path | None,
    language: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Estimate the shares behind the disguised answers in REPORTS, with intervals.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    Several of them, such as waves, are taken for one population, which is tested.

    \b
    Examples:
      deniable estimate reports.parquet
      deniable estimate deniable-data
      deniable estimate reports.parquet --table sex,income --plot income.svg
      deniable estimate reports.parquet --weights weight --strata region --clusters school
      deniable estimate deniable-data --table cheated --by faculty --language de
      deniable estimate deniable-data --table "mean(age)" --table "quantiles(income; 0.25 0.5)"
      deniable estimate spring.parquet autumn.parquet --average
    """  # noqa: D301 - click wants the character itself
    from deniable.estimation.choose_method import Method

    if method not in get_args(Method):
        raise InputError(f"there is no method {method!r}; choose from {listed(get_args(Method))}", method=method)
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"plots are written to .svg files, not to {plot.name!r}")
    if by is not None and len(reports) > 1:
        raise InputError("--by takes one file of reports; estimate each of them by itself")
    with Progress("Counting") as progress:
        opened = [reports_at(one, design, engine, words=words, language=language, progress=progress) for one in reports]
        wanted, numbers = asked(tables, _names(opened)) if tables else _everything(opened, by)
        drawn = {"weights": weights, "strata": strata, "clusters": clusters}
        how = {**drawn, "combine": "average" if average else "common"}
        found = [_estimate(opened, names, method, by, how) for names in wanted]
        plain = len(opened) == 1 and by is None and not any(drawn.values())
        parts = None if plain else lambda names: _groups(_estimate(opened, names, method, by, how))
        told = tell(opened[0], numbers, level, parts)
    drawable = [one for one in found if not isinstance(one, Refused)]
    if not drawable and all(isinstance(one, Refused) for _, _, one in told):
        refused = [one for one in (*found, *(one for _, _, one in told)) if isinstance(one, Refused)]
        why = "; ".join(f"{' and '.join(one.attributes)}: {one.reason}" for one in refused)
        raise refused[0].kind(why)
    if plot is not None and not drawable:
        raise InputError("there is no table to draw: name one beside the numbers, as --table age")
    if plot is not None:
        _draw(plot, drawable[0], level)
    if as_json:
        emit(_data(opened, found, level) | ({"numbers": data(told, by)} if numbers else {}))
        return
    out = console()
    for one in found:
        _show(out, one, level, top, sort=sort)
    show(out, told, by)
    for note in dict.fromkeys([*_nearness(opened), *(note for one in opened for note in one.notes)]):
        out.print(note, markup=False)
    print_origin(out, *opened)
    spent = " or ".join(dict.fromkeys(rounded_up(one.design.epsilon) for one in opened))
    out.print(f"{sum(one.n for one in opened)} reports; epsilon {spent} a respondent.")


def _aimed(opened: Sequence[Reports]) -> Reports:
    """The reports that know what their survey is made for, or any."""
    return next((one for one in opened if one.labels.aims), opened[0])


def _nearness(opened: Sequence[Reports]) -> list[str]:
    from deniable.designs.distance_to_best import nearness_of

    return list(filter(None, [nearness_of(_aimed(opened))]))


def _everything(opened: Sequence[Reports], by: str | None) -> tuple[list[list[str]], list[Wanted]]:
    """What is told where nobody asks for anything: every attribute, and, of everybody, the numbers of the survey."""
    from deniable.aims.parse import aims_of

    aims = aims_of(_aimed(opened).labels) if by is None else ()
    return [[name] for name in _names(opened)], [one for one in aims if one.estimator is not None]


def _names(opened: Sequence[Reports]) -> list[str]:
    """The attributes of all designs, each once."""
    return list(dict.fromkeys(name for one in opened for name in one.design.domain))


def _show(out: Console, one: Told, level: float, top: int, *, sort: bool) -> None:
    """A table, its largest rows if there are many, with bars where the terminal has room for them."""
    if isinstance(one, Refused):
        out.print(f"\n{' and '.join(one.attributes)}: {one.reason}", soft_wrap=True, markup=False)
        return
    from deniable.core.summary import largest

    summary = one.summary(level)
    parts = _parts(one).values()
    # A group that is refused has a row without a bar, which is never among those left out.
    values = np.concatenate([[np.inf] if isinstance(part, Refused) else part.shown.ravel() for part in parts])
    rows = sorted(range(len(values)), key=lambda row: -values[row])[:top] if sort else largest(values, top)
    values = np.where(np.isinf(values), 0, values)
    width, blocks = room_for_bars(summary, out.width), (out.encoding or "").lower().startswith("utf")
    most = max(float(values.max()), 1e-9)
    bars = {"bar: estimate": [bar(values[row], most, width, blocks=blocks) for row in rows]} if width else {}
    if summary.title:
        out.print(f"\n[bold]{escape(summary.title)}[/bold]")
    out.print(laid_out(summary, bars, rows))
    if len(rows) < len(values):
        out.print(f"... and {len(values) - len(rows)} smaller ones; --top {len(values)} shows all.")
    for note in summary.notes:
        out.print(note, markup=False)


def _draw(path: Path, one: Estimate | Grouped, level: float) -> None:
    from deniable.reporting.charts import chart

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{chart(one, level=level)}', encoding="utf-8")


def _estimate(opened: Sequence[Reports], names: list[str], method: Any, by: str | None, how: dict[str, Any]) -> Told:
    """A table, of everybody or by group; or what stands in its place."""
    from deniable.estimation.estimator import estimate
    from deniable.estimation.report_sources import refuse_public

    for one in opened:
        refuse_public(one, names)
    sources = [one for one in opened if set(names) & set(one.design.domain)] or list(opened)
    given = sources[0] if len(sources) == 1 else sources
    if by is None:
        return shown(sources, names, partial(estimate, given, names, method, **how))
    try:
        return estimate(opened[0], names, method, by=by, **how)
    except EstimationError as refusal:
        return Refused(tuple(names), opened[0].n, refusal.message, type(refusal))


def _parts(one: Estimate | Grouped) -> Mapping[Any, Estimate | Refused]:
    """A table's estimates by group; without groups there is one, of everybody."""
    from deniable.estimation.by_group import Grouped

    return one.every if isinstance(one, Grouped) else {None: one}


def _groups(one: Told) -> Mapping[Any, Estimate | Refused]:
    """The same of what may be refused as a whole."""
    return {None: one} if isinstance(one, Refused) else _parts(one)


def _data(sources: Sequence[Reports], found: list[Told], level: float) -> dict[str, Any]:
    from deniable.estimation.by_group import Grouped

    aimed = _aimed(sources)
    told, opened = [one for one in found if not isinstance(one, Refused)], sources[0]
    several = {"designs": [one.design.id for one in sources]} if len(sources) > 1 else {}
    return {
        **origin_json(*sources),
        "design": opened.design.id,
        **several,
        "served_as": opened.labels.design or None,
        "wanted": list(aimed.labels.aims),
        "nearness": "".join(_nearness(sources)),
        "epsilon": max(one.design.epsilon for one in sources),
        "notes": list(dict.fromkeys(note for one in sources for note in one.notes)),
        "level": level,
        "tables": [
            {
                "attributes": one.attributes,
                "questions": [opened.labels.question(name) for name in one.attributes],
                **({one.by: value} if isinstance(one, Grouped) else {}),
                **_table(part, level),
            }
            for one in found
            for value, part in _groups(one).items()
        ],
        "warnings": [note for one in told for note in (one.warnings() if isinstance(one, Grouped) else one.warnings)],
    }


def _table(one: Estimate | Refused, level: float) -> dict[str, Any]:
    if isinstance(one, Refused):
        return {"n": one.n, "cells": [], "refused": one.reason}
    cells = [{"cell": dict(zip(one.attributes, row.cell, strict=True)), **row.numbers()} for row in one.rows(level)]
    how = {"method": one.method, "reason": one.reason, "gap": one.gap}
    return {**how, "n": one.n, "cells": cells, "notes": one.notes(level)[1:]}

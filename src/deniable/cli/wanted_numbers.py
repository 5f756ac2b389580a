"""Wanted numbers that are no tables on the command line: `--table "mean(age)"`, and what is shown of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from deniable.cli.terminal import laid_out, split
from deniable.errors import InputError
from deniable.estimation.notes.refused import Refused, shown
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from deniable.aims.aim import Wanted
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.inference.numbers.aim_estimates import WantedNumbers

    Told = WantedNumbers | Refused
    Row = tuple[Wanted, Any, Told]  # what was wanted, of which group, and what is told


def asked(texts: Sequence[str], known: Sequence[str]) -> tuple[list[list[str]], list[Wanted]]:
    """Tables, as the names of their attributes, and other numbers, in the language of survey files."""
    from deniable.aims.aim import AIMS
    from deniable.aims.parse import read_wanted

    tables, numbers = [], []
    for text in texts:
        if not set("(*") & set(text) or set(split(text)) <= set(known):
            tables.append(split(text))
            continue
        one = read_wanted(text)
        if one.is_table:
            tables.append(list(one.attributes))
        elif one.estimator is not None:
            numbers.append(one)
        else:
            told = (kind for kind in sorted(AIMS) if AIMS[kind].estimator is not None)
            raise InputError(
                f"{text!r} is no number that is told here; there are {listed(told)}, and tables such as a,b. The "
                f"table of {listed(one.attributes)} has what is asked for",
                wanted=text,
            )
    return tables, numbers


def tell(
    reports: Reports,
    numbers: Sequence[Wanted],
    level: float,
    parts: Callable[[list[str]], Mapping[Any, Estimate | Refused]] | None,
) -> list[Row]:
    """Tell numbers, of everybody or (where there are parts, which estimate the table of an attribute) of each group."""
    found: list[Row] = []
    for one in numbers:
        names = list(one.attributes)
        if parts is None:
            found.append((one, None, shown(reports, names, partial(_sure, reports, one, level))))
            continue
        for group, part in parts(names).items():
            told = part if isinstance(part, Refused) else _sure(part, one, level)
            found.append((one, group, told))
    return found


def show(out: Console, rows: Sequence[Row], by: str | None) -> None:
    """A small table for each number; what cannot be told has the reason in its place."""
    for one, group, told in rows:
        where = "" if by is None else f", {by} {group}"
        if isinstance(told, Refused):
            out.print(f"\n{one}{where}: {told.reason}", soft_wrap=True, markup=False)
            continue
        out.print(f"\n[bold]{escape(f'{one}{where}')}[/bold]")
        out.print(laid_out(told.summary()))
        for note in told.notes:
            out.print(note, soft_wrap=True, markup=False, highlight=False)


def data(rows: Sequence[Row], by: str | None) -> list[dict[str, Any]]:
    """The same for programs."""
    found: list[dict[str, Any]] = []
    for one, group, told in rows:
        asked_for = {"wanted": str(one), **({} if by is None else {by: group})}
        if isinstance(told, Refused):
            found.append({**asked_for, "refused": told.reason})
            continue
        notes = {"notes": list(told.notes)} if told.notes else {}
        found += [{**asked_for, **row, **notes} for row in told.told]
    return found


def _sure(source: Estimate | Reports, one: Wanted, level: float) -> WantedNumbers:
    from deniable.inference.numbers.aim_estimates import wanted_numbers

    told = wanted_numbers(source, [one], level)
    assert told is not None  # it is one of those that are told
    return told

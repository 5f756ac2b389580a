"""Compute tables and figures of the papers anew: `make reproduce ITEM="paper item"`, or `python -m reproduction`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from deniable import DeniableError
from deniable.errors import InputError
from reproduction.pages import choosing, claims, figure, filled, reproduction
from reproduction.registry import find, papers
from reproduction.runner import SEED, Done, execute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.item import Item
    from reproduction.record import Record

CLAIMS = Path(__file__).with_name("CLAIMS.md")


@click.command()
@click.argument("paper", required=False)
@click.argument("item", required=False)
@click.option("--smoke", is_flag=True, help="A short run, to see that everything works.")
@click.option(
    "--seed", default=SEED, show_default=True, help="Other seeds give numbers that agree within their errors."
)
@click.option("--fresh", is_flag=True, help="Compute again even if nothing has changed.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("build", "reproduce"),
    show_default=True,
    help="Folder for CSV, SVG and JSON.",
)
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the page with every number to this file (needs the paper `all`).",
)
@click.option("--accept", is_flag=True, help="Store what was found beside the source, as what to find from now on.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")
def command(  # noqa: PLR0917 - click passes every option by its name
    paper: str | None,
    item: str | None,
    smoke: bool,  # noqa: FBT001 - a command's flags arrive as booleans
    seed: int,
    fresh: bool,  # noqa: FBT001
    output: Path,
    write: Path | None,
    accept: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> None:
    """Compute ITEM of PAPER anew and put it beside what was printed.

    Without ITEM all of the paper's are computed, with the paper `all` all there are; without PAPER they are listed.
    What was computed before is not computed again unless something it depends on has changed. The exit code is 1 when
    a number is not what we found before.

    \b
    Examples:
      python -m reproduction
      python -m reproduction rrba table-6
      python -m reproduction all --smoke
    """  # noqa: D301 - click wants the character itself
    screen = _console(quiet=as_json)
    if paper is None and as_json:
        _emit([_listed(item) for known in papers() for item in known.items])
        return
    if paper is None:
        _show_list(screen)
        return
    if write is not None and paper != "all":
        raise InputError("--write makes a page of all papers; use it with the paper `all`")
    if accept and smoke:
        raise InputError("a smoke run is too short to be stored; leave one of --accept and --smoke away")
    items = find(paper, item)
    done = [_run(one, screen, output, seed=seed, smoke=smoke, fresh=fresh) for one in items]
    if accept:
        for one in done:
            one.record.write(one.item.file.with_suffix(".json"))
        _fill(CLAIMS, claims(_stored()))
    drifted = [one for one in done if _drift(one, screen)]
    if write is not None:
        records = {(d.item.paper, d.item.name): d.record for d in done}
        write.write_text(reproduction(records), encoding="utf-8")
        _fill(write.with_name("which-should-i-use.md"), choosing(records))
        screen.print(f"Wrote {write}.")
    if as_json:
        _emit([_found(one) for one in done])
    raise SystemExit(1 if drifted else 0)


def _listed(item: Item) -> dict[str, Any]:
    stored = item.stored
    return {"paper": item.paper, "item": item.name, "title": item.title, "verdict": stored.verdict if stored else None}


def _found(done: Done) -> dict[str, Any]:
    lines = [{**msgspec.to_builtins(line), "verdict": line.verdict} for line in done.record.lines]
    drifted = done.record.drift(done.item.stored) if done.item.stored else []
    notes = done.record.notes
    return {**_listed(done.item), "verdict": done.record.verdict, "lines": lines, "notes": notes, "drifted": drifted}


def _show_list(screen: Console) -> None:
    for paper in papers():
        screen.print(f"[bold]{paper.name}[/bold]  {paper.title}")
        table = _grid(["item", "what", "verdict"])
        for item in paper.items:
            stored = item.stored
            table.add_row(item.name, item.title, stored.verdict if stored else "not run yet")
        screen.print(table)


def _run(item: Item, screen: Console, output: Path, *, seed: int, smoke: bool, fresh: bool) -> Done:
    screen.print(f"[bold]{item.paper} {item.name}[/bold]: {item.title}")
    columns = (BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}"), TimeElapsedColumn())
    with Progress(*columns, console=_console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=1)

        def progress(steps: int, of: int) -> None:
            bars.update(bar, completed=steps, total=max(of, 1))

        done = execute(item, output, seed=seed, smoke=smoke, fresh=fresh, progress=progress)
    _show(done, screen)
    where = (output / "smoke" if smoke else output) / item.paper / item.name
    was = "Nothing has changed since it was computed" if done.skipped else "Computed"
    screen.print(f"{was} ({done.record.seconds:.0f} s); {where}.csv and .svg. Verdict: {done.record.verdict}.\n")
    return done


def _show(done: Done, screen: Console) -> None:
    table = _grid(["what"], ["paper", "ours", "+-", "tolerance", "verdict"])
    for line in done.record.lines:
        table.add_row(
            escape(line.what),
            figure(line.paper) if line.paper is not None else ("holds" if line.says else ""),
            figure(line.ours),
            f"{line.error:.1g}" if line.error else "",
            f"{line.tolerance:.2g}" if line.paper is not None else "",
            line.verdict,
        )
    screen.print(table)
    notes = [line.note for line in done.record.lines if line.note]
    for note in dict.fromkeys([done.item.why, *notes, *done.record.notes]):
        if note:
            screen.print(f"- {note}", markup=False)


def _drift(done: Done, screen: Console) -> bool:
    stored = done.item.stored
    moved = done.record.drift(stored) if stored else []
    for sentence in moved:
        screen.print(f"DRIFTED {done.item.paper} {done.item.name}: {sentence}")
    return bool(moved)


def _fill(page: Path, tables: str) -> None:
    """Put tables between the marks of a page, where there is one."""
    if page.exists():
        page.write_text(filled(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


def _stored() -> dict[tuple[str, str], Record]:
    every = [item for paper in papers() for item in paper.items]
    return {(item.paper, item.name): item.stored for item in every if item.stored is not None}


def _console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Colours go to a terminal only, and numbers are not painted."""
    return Console(highlight=False, stderr=stderr, quiet=quiet)


def _grid(headings: Sequence[str], right: Sequence[str] = ()) -> Grid:
    """A table for a terminal: some headings to the left, others over numbers."""
    made = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    for heading in right:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def _emit(data: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(data), indent=2))


def main() -> None:
    """Run it; one of our errors is a line and an exit code."""
    try:
        command(prog_name="python -m reproduction")
    except DeniableError as error:
        click.echo(f"Error: {error.message}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()

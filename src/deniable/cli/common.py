"""What the commands share: how they print, and the options they have in common."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from deniable.designs.reports import Reports
    from deniable.summary import Summary

    F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
_BAR = 24  # characters


class _Place(click.ParamType[Any]):
    """A path, or the address of a database, which is none."""

    name = "path"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> Path | str:
        """Leave an address as it is."""
        return value if isinstance(value, Path) or "://" in value else Path(value)

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete it as a file's name."""
        return [CompletionItem(incomplete, type="file")]


PLACE = _Place()

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")


design_option = click.option(
    "--design", metavar="HASH", help="How the design's hash begins, where a collector has reports to several."
)


def sampling_options(command: F) -> F:
    """--weights, --strata and --clusters: public columns that say how respondents were drawn."""
    for name, text in (
        ("clusters", "A public column: each respondent's cluster (primary sampling unit)."),
        ("strata", "A public column: each respondent's stratum."),
        ("weights", "A public column: each respondent's survey weight."),
    ):
        command = click.option(f"--{name}", metavar="COLUMN", help=text)(command)
    return command


def reports_at(place: Path | str, design: str | None = None, engine: str = "auto") -> Reports:
    """Open reports: a file of them, or what a collector has stored so far."""
    from deniable.collection.export import collected
    from deniable.frames.stored import open_reports

    found = collected(place, design)
    if found is not None:
        return found
    if design is not None:
        raise InputError("--design chooses among the designs of a collector's store; a file of reports has only one")
    return open_reports(place, engine=engine)


def name_of(place: Path | str) -> str:
    """What to call a place: without the folders, and without a password.

    >>> name_of(Path("surveys/smoking.parquet")), name_of("postgresql://me:secret@db.example.org/smoking")
    ('smoking.parquet', 'smoking at db.example.org')
    """
    if isinstance(place, Path):
        return place.name
    from deniable.collection.storage.postgres_connection import place as without_password

    return without_password(place)


def table_option(text: str) -> Callable[[Any], Any]:
    """--table sex,income; may be given several times."""
    return click.option("--table", "tables", multiple=True, metavar="A,B", help=text)


def console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Colours go to a terminal only, and numbers are not painted."""
    return Console(highlight=False, stderr=stderr, quiet=quiet)


def split(text: str) -> list[str]:
    """The names in "a,b".

    >>> split("sex, income")
    ['sex', 'income']
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(f"write attributes with commas between them, such as sex,income; not {text!r}")
    return names


def emit(data: object) -> None:
    """Print JSON. What JSON has no number for (an infinite epsilon) becomes null."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(_finite(data)), indent=2))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def grid(headings: Sequence[str], right: Sequence[str] = ()) -> Grid:
    """A table for a terminal: some headings to the left, others over numbers."""
    made = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    for heading in right:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def laid_out(summary: Summary, last: Mapping[str, Sequence[str]] | None = None) -> Grid:
    """A summary's table for a terminal, with columns of the terminal's own behind it."""
    made = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in summary.columns:
        right = summary.is_number(heading)
        made.add_column(heading, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for heading in last or {}:
        made.add_column(heading)
    for row in zip(*summary.texts().values(), *(last or {}).values(), strict=True):
        made.add_row(*map(escape, row))
    return made


def bar(low: float, high: float, most: float, *, blocks: bool) -> str:
    """An interval as a bar: full up to its lower end, shaded up to its upper one.

    >>> bar(0.25, 0.5, 1.0, blocks=False)
    '######------'
    """
    scale = _BAR / most
    full = max(0, round(low * scale))
    shaded = max(0, round(high * scale) - full)
    return ("█" if blocks else "#") * full + ("░" if blocks else "-") * shaded

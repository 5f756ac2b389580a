"""What the commands share: how they print, and the options they have in common."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.table import Table as Grid

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FILE = click.Path(path_type=Path)
_BAR = 24  # characters

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")


def table_option(text: str) -> Callable[[Any], Any]:
    """--table sex,income; may be given several times."""
    return click.option("--table", "tables", multiple=True, metavar="A,B", help=text)


def console(*, stderr: bool = False) -> Console:
    """Colours go to a terminal only, and numbers are not painted."""
    return Console(highlight=False, stderr=stderr)


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


def bar(low: float, high: float, most: float, *, blocks: bool) -> str:
    """An interval as a bar: full up to its lower end, shaded up to its upper one.

    >>> bar(0.25, 0.5, 1.0, blocks=False)
    '######------'
    """
    scale = _BAR / most
    full = max(0, round(low * scale))
    shaded = max(0, round(high * scale) - full)
    return ("█" if blocks else "#") * full + ("░" if blocks else "-") * shaded

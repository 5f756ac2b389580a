"""A script for R, which needs nothing but R itself."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.reporting.scripts.write_script import ScriptTable


def r_script(about: Sequence[str], tables: Sequence[ScriptTable]) -> str:
    """The script: what it is about, the data, and how they are estimated from."""
    head = "".join(f"# {comment(line)}\n" for line in about)
    return f"{head}\ntables <- list()\n{''.join(map(_table, tables))}{_program()}"


def comment(text: str) -> str:
    r"""A text that ends with its line: whoever names a survey may not be whoever runs the script.

    >>> comment("a title\nquit()")
    'a title quit()'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _program() -> str:
    return "\n" + files("deniable.reporting.scripts").joinpath("analysis.r").read_text(encoding="utf-8")


def _table(table: ScriptTable) -> str:
    rows, cells = table.chances.shape
    ours = _vector(_number(each, "NaN") for each in table.found.ravel())
    found = f"matrix({ours},\n    ncol = {table.found.shape[1]}, byrow = TRUE)"
    if table.is_summed:
        return f"""
tables[[{_text(table.name)}]] <- list(
  asked = {_text(table.asked)},
  cells = {_vector(map(_text, table.cells))},
  sums = matrix({_vector(_number(each, "NaN") for each in table.sums.ravel())}, ncol = 3, byrow = TRUE),
  found = {found})
"""
    return f"""
tables[[{_text(table.name)}]] <- list(
  asked = {_text(table.asked)},
  cells = {_vector(map(_text, table.cells))},
  counts = {_vector(map(_number, table.counts))},
  group = {_vector(map(str, table.group))},
  listed = {_vector("TRUE" if listed else "FALSE" for listed in table.listed)},
  owner = {_vector(map(str, table.owner))},
  chances = matrix({_vector(map(_number, table.chances.ravel()))}, nrow = {rows}, ncol = {cells}, byrow = TRUE),
  found = {found})
"""


def _vector(items: Iterable[str]) -> str:
    """A vector, in lines that a person can read."""
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) > 100:
            lines.append(line)
            line = ""
        line += f"{item}, "
    return "c(" + "\n    ".join([*lines, line]).rstrip(", ") + ")"


def _text(text: str) -> str:
    r"""A text as R reads it.

    >>> _text('a "b"')
    '"a \\"b\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in escaped) + '"'


def _number(value: float, none: str = "nan") -> str:
    """A number as it is, whatever rounding would do to it.

    >>> _number(0.1), _number(3.0), _number(float("nan"), "NaN")
    ('0.1', '3', 'NaN')
    """
    number = float(value)
    if number != number:  # noqa: PLR0124 - NaN differs from itself
        return none
    return str(int(number)) if number.is_integer() else repr(number)

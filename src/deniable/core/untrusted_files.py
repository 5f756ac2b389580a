"""Files that people are sent: how much is read of them, and how deep they nest, is bounded before anything is built.

Whoever wrote a survey file, a questionnaire, a list of categories or a design need not mean well. A parser that calls
itself for every bracket ends in a traceback of 3,000 lines, one that looks at every part of a key for every other takes
hours, and a whole number of 5,000 digits is none that any program here works with.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from deniable.errors import InputError
from deniable.text import shortened

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

T = TypeVar("T")

MOST_TEXT = 1 << 22  # bytes of a file that somebody writes by hand: 200 questions in twelve languages have some 400 kB
MOST_TOLD = 1 << 28  # bytes of what a program wrote beside reports: a survey of a million people in blocks has 40 MB
MOST_UNPACKED = 1 << 26  # bytes of a questionnaire in a zip archive
MOST_COLUMNS = 10_000  # of a table in a text file
DEEPEST = 64  # tables and lists within each other
MOST_PARTS = 16  # of a key such as a.b.c
_WIDEST = 1 << 63
_NESTED = f"tables and lists that nest deeper than {DEEPEST}"

# What stands between quotes or behind a # is neither bracket nor dot.
_TOML = re.compile(r'"""|\'\'\'|["\'#\[\]{}\n=,.]')
_JSON = re.compile(r'["\[\]{}\n]')
_ENDS = {
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),
    "'''": re.compile(r"'{3,5}"),
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"['\n]"),
}


class _Place(Protocol):
    """A file, here or in object storage."""

    def open(self) -> AbstractContextManager[IO[bytes]]:
        """Open it for reading."""
        ...


def read_bytes(path: Path | _Place, what: str, most: int = MOST_TEXT) -> bytes:
    """What is in a file, if it is not too much; `what` it should be is told where it is not."""
    with path.open("rb") if isinstance(path, Path) else path.open() as file:
        data: bytes = file.read(most + 1)
    if len(data) > most:
        raise InputError(
            f"{path} has more than {most} bytes, which no {what} has. Is it the right file?", file=str(path), most=most
        )
    return data


def read_text(path: Path, what: str, most: int = MOST_TEXT) -> str:
    """The same as text; bytes that are none raise `UnicodeDecodeError`."""
    return read_bytes(path, what, most).decode("utf-8-sig").replace("\r\n", "\n")


def refuse_large_zip(path: Path, most: int = MOST_UNPACKED) -> None:
    """Refuse an archive whose files, unpacked, would be larger than all that belongs into one."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(file.file_size for file in archive.infolist())  # of a file no more than that is unpacked
    if unpacked > most:
        raise InputError(f"{path} would unpack to {unpacked} bytes; {most} are the most there can be", file=str(path))


def refuse_wide_csv(file: IO[bytes], where: str) -> None:
    """Refuse a CSV file whose first row names more columns than any table has: a reader makes room for each of them."""
    head = io.StringIO(file.read(MOST_TEXT).decode("utf-8", "replace"), newline="")
    with suppress(csv.Error, StopIteration):
        if (columns := len(next(csv.reader(head)))) > MOST_COLUMNS:
            raise InputError(f"{where} has {columns} columns; {MOST_COLUMNS} are the most that are read", file=where)


def parse_toml(text: str, where: str = "this") -> dict[str, Any]:
    """Read TOML; `where` names its file in a refusal.

    >>> parse_toml("a.b = [1, 2]")
    {'a': {'b': [1, 2]}}
    """
    if len(text) > MOST_TEXT:
        raise InputError(f"{where} has more than {MOST_TEXT} characters")
    _refuse_depth(text, _TOML, where)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not TOML: {clipped(error)}") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise InputError(f"{where} has a whole number of thousands of digits; the largest has 64 bits") from None
    _refuse_parts(data, where)
    return data


def parse_json(data: bytes | str, where: str, kind: type[T]) -> T:
    """Read JSON, as `kind`; `where` names its file in a refusal.

    >>> parse_json(b'{"a": [1, 2]}', "this", dict[str, list[int]])
    {'a': [1, 2]}
    """
    try:
        _refuse_depth(data.decode() if isinstance(data, bytes) else data, _JSON, where)
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where} is not JSON: {clipped(error)}") from None


def clipped(told: object) -> str:
    """What a parser says of a file, which may quote it at any length."""
    return shortened(" ".join(str(told).split()))


def _refuse_depth(text: str, marks: re.Pattern[str], where: str) -> None:
    """Refuse what nests too deep, or has keys of too many parts; each character is looked at once."""
    at, depth, dots = 0, 0, 0
    while found := marks.search(text, at):
        mark, at = found[0], found.end()
        if mark in _ENDS:
            at = _end(text, at, mark)
        elif mark == "#":
            at = text.find("\n", at)
        elif mark == ".":
            dots += 1
        else:
            depth += (mark in "[{") - (mark in "]}")
            dots = 0
        if at < 0:  # nothing closes it; reading ends there, too
            return
        if depth > DEEPEST or dots > MOST_PARTS:
            told = f"a key of more than {MOST_PARTS} parts" if dots else _NESTED
            line = text.count("\n", 0, at) + 1
            raise InputError(f"{where} has {told} (line {line})", line=line)


def _end(text: str, start: int, quote: str) -> int:
    """Where what stands in quotes ends; -1 where nothing closes it."""
    for found in _ENDS[quote].finditer(text, start):
        if found[0][0] != "\\":
            return -1 if found[0] == "\n" else found.end()
    return -1


def _refuse_parts(data: Any, where: str) -> None:
    """Refuse whole numbers beyond 64 bits, and what nests too deep by its keys."""
    left = [(data, 0)]
    while left:
        one, depth = left.pop()
        if isinstance(one, dict | list):
            left += [(part, depth + 1) for part in (one.values() if isinstance(one, dict) else one)]
        elif type(one) is int and not -_WIDEST <= one < _WIDEST:
            raise InputError(f"{where} has a whole number of {one.bit_length()} bits; the largest has 64")
        if depth > DEEPEST:
            raise InputError(f"{where} has {_NESTED}")

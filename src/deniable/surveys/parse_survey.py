"""From the tables of a survey file to typed entries, and which key of which line is at fault where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec

from deniable.errors import SurveyError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T", bound=msgspec.Struct)
_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$(?P<path>.*?)`)?$", re.DOTALL)
_PATTERNS = {
    "languages": "a language is a code such as 'en' or 'pt-BR'",
    "panel.name": "a panel's name is made of small letters, digits and hyphens, such as 'family-2030'",
    "name": "a survey's name is made of small letters, digits and hyphens, such as 'smoking-2030'",
    ".name": "a name is made of letters, digits and underscores, at most 64, and begins with no digit, such as "
    "'ever_smoked'",
}

_HEADER = re.compile(r"^\s*(\[\[?)\s*([A-Za-z0-9_.\"-]+)\s*\]\]?")
_STEP = re.compile(r"([A-Za-z0-9_-]+)|\[(\d+)\]")


def line_of(text: str, path: str) -> int | None:
    r"""The line of a key such as questions[1].kind, counted from 1; that of what it is in, if it is not there itself.

    >>> line_of('name = "a"\n[[questions]]\nname = "b"\n[[questions]]\nkind = "c"', "questions[1].kind")
    5
    """
    steps = [(name, int(place) if place else None) for name, place in _STEP.findall(path)]
    if not steps:
        return None
    lines = text.splitlines()
    first = steps[0][0]
    place = steps[1][1] if len(steps) > 1 else None
    start, end = _section(lines, first, place or 0)
    rest = [name for name, _ in steps[1:] if name]
    if start is None:  # a key of the file itself, before any table
        return _key(lines, 0, end, first)
    found = _key(lines, start + 1, end, rest[0]) if rest else None
    return start + 1 if found is None else found


def _section(lines: list[str], name: str, place: int) -> tuple[int | None, int]:
    """From where to where a table goes, the place-th of its name; None, and where the first one begins, without it."""
    headers = [(at, found[2]) for at, line in enumerate(lines) if (found := _HEADER.match(line))]
    own = [at for at, header in headers if header == name]
    if place >= len(own):
        return None, headers[0][0] if headers else len(lines)
    start = own[place]
    return start, next((at for at, _ in headers if at > start), len(lines))


def _key(lines: list[str], start: int, end: int, name: str) -> int | None:
    wanted = re.compile(rf'^\s*"?{re.escape(name)}"?\s*[=.]')
    return next((at + 1 for at in range(start, end) if wanted.match(lines[at])), None)


def convert(data: dict[str, Any], kind: type[T], within: str = "") -> T:
    """Read a table by its type; `within` is the path of the table itself in the file.

    >>> from deniable.surveys.schema import ChoiceEntry
    >>> convert({"value": 1, "text": "One"}, ChoiceEntry, "public[0].choices[0]")
    Traceback (most recent call last):
        ...
    deniable.errors.SurveyError: public[0].choices[0].value: Expected 'str', got 'int'; found 1
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        found = _AT.match(str(error))
        assert found
        inside = (found["path"] or "").lstrip(".").replace("[...]", "")
        path = ".".join(filter(None, (within, inside)))
        what = _plain(found["what"], path, _value(data, inside), _at(kind, inside))
        raise SurveyError(f"{path or 'the file'}: {what}", path=path) from None


def _plain(what: str, path: str, value: Any, at: tuple[Any, Any]) -> str:
    """What is wrong, for whoever wrote the file: the choices instead of a pattern."""
    shown = "" if value is None or isinstance(value, dict | list) else f"; found {value!r}"
    if "regex" in what:
        kind = "languages" if path.startswith("languages") else path if path in _PATTERNS else ".name"
        return _PATTERNS[kind] + shown
    if "enum value" in what:
        return f"choose from {listed(_choices(at[1]))}{shown}"
    field = re.search(r"unknown field `(\w+)`", what)
    if field:
        return f"there is no key {field[1]!r} here; there are {listed(at[0].__struct_fields__)}"
    return what.replace("Object", "the table").replace("`", "'") + shown


def _value(data: Any, path: str) -> Any:
    for name, place in _STEP.findall(path):
        try:
            data = data[name] if name else data[int(place)]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _at(kind: Any, path: str) -> tuple[Any, Any]:
    """The type of the table that a path leads into, and that of its last key."""
    last = None
    for name, _ in _STEP.findall(path):
        last = get_type_hints(kind).get(name) if name else last
        kind = next(_tables(last), kind)
    return kind, last


def _tables(annotation: Any) -> Iterator[Any]:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for part in get_args(annotation):
        yield from _tables(part)


def _choices(annotation: Any) -> tuple[object, ...]:
    """The values that a key may have."""
    return tuple(value for part in (annotation, *get_args(annotation)) for value in get_args(part) if value is not None)

"""In which line of a survey file a key stands: a refusal that names the line is found at once."""

from __future__ import annotations

import re

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

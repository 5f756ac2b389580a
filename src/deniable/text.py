"""Wording: lists and numbers as messages write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 300  # characters of one of them
SHOWN = 12  # how many things a message lists before it says "and N more"


def listed(items: Iterable[object]) -> str:
    """Write a short list for an error message.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    shown = list(items)
    text = ", ".join(shortened(repr(item)) for item in shown[:SHOWN])
    return text if len(shown) <= SHOWN else f"{text} and {len(shown) - SHOWN} more"


def lacking(missing: Iterable[str], names: Iterable[str]) -> str:
    """Say which columns a table lacks, and none that it has: a first row without names holds a person's answers.

    >>> lacking(["sex"], ["Sex", "age"])
    "no column 'sex', but one called 'Sex'"
    >>> lacking(["age"], ["female", "39"])[:60]
    "no column 'age' (it has 2, whose names are not repeated here"
    """
    wanted, there = list(missing), list(names)
    plain = {name.strip().casefold() for name in wanted}
    alike = [name for name in there if name.strip().casefold() in plain]
    others = f"it has {len(there)}, whose names are not repeated here: if its first row names none, they are a person's"
    return f"no column {listed(wanted)}" + (f", but one called {listed(alike)}" if alike else f" ({others} answers)")


def shortened(text: str, most: int = _LONGEST) -> str:
    """A text that a message quotes, and a stranger may have written at any length.

    >>> shortened("Parquet magic bytes", 7)
    'Parquet...'
    """
    return text if len(text) <= most else f"{text[:most]}..."


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    >>> counted(1, "ballot"), counted(2, "ballot")
    ('1 ballot', '2 ballots')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"

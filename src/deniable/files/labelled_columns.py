"""Labelled columns: what SPSS and Stata are told of one column, and the names and texts that they take."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

_CELLS = 1 << 20  # written together
_NAME = 32  # letters of a name: Stata's limit
_RESERVED = frozenset(  # words that SPSS or Stata keeps for itself
    (
        *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),
        *("byte", "double", "float", "if", "in", "int", "long", "str", "strl", "using"),
    )
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its name in the file, its true name, its label, its numbers (NaN where missing), what codes mean.

    `values` are the texts (or truth values) that the numbers are the places of, where the column had no numbers; `kind`
    is the type that a public column had.
    """

    file: str
    name: str
    label: str
    numbers: NDArray[np.float64]
    meanings: Mapping[int, str]
    values: Sequence[Any] | None = None
    kind: pa.DataType | None = None


def file_names(names: Sequence[str]) -> list[str]:
    """Names that SPSS and Stata take, all different.

    >>> file_names(["smokes", "affair*marriage", "2nd", "Größe", "by", "smokes?"])
    ['smokes', 'affair_marriage', 'v_2nd', 'Grosse', 'by_', 'smokes_']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        letters = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^A-Za-z0-9]+", "_", letters) or "v"
        plain = plain if plain[0].isalpha() else f"v_{plain.lstrip('_')}"
        plain = f"{plain}_" if plain.lower() in _RESERVED else plain
        free, number = plain[:_NAME], 1
        while free.lower() in taken:
            number += 1
            free = f"{plain[: _NAME - len(str(number)) - 1]}_{number}"
        taken.add(free.lower())
        found.append(free)
    return found


def cells(columns: Sequence[Column], missing: float) -> Iterator[bytes]:
    """The numbers, row by row, some rows at a time."""
    step = max(1, _CELLS // len(columns))
    for start in range(0, len(columns[0].numbers), step):
        some = np.stack([column.numbers[start : start + step] for column in columns], axis=1)
        yield np.where(np.isnan(some), missing, some).astype("<f8").tobytes()


def clipped(text: str, most: int) -> bytes:
    """A text in so many bytes at most; one that is longer ends in three dots.

    >>> clipped("Größe", 9).decode(), clipped("Größe", 6).decode()
    ('Größe', 'Gr...')
    """
    whole = text.encode()
    if len(whole) <= most:
        return whole
    return whole[: most - 3].decode(errors="ignore").encode() + b"..."

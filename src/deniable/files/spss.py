"""SPSS system files (.sav), written without another package: numbers, labels, meanings of codes, missing values.

The format is described in the manual of GNU PSPP ("System File Format"); a test reads our files with it.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING

import numpy as np

from deniable.files.labelled_columns import cells, clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from deniable.files.labelled_columns import Column

_MISSING = -sys.float_info.max
_F8_0, _F12_4 = (5 << 16) | (8 << 8), (5 << 16) | (12 << 8) | 4  # print formats of whole numbers and of decimals
_LABEL, _MEANING = 255, 120  # bytes
_UTF8 = 65001


def write_sav(columns: Sequence[Column], path: Path, title: str = "") -> None:
    """Write columns to an uncompressed system file."""
    rows = len(columns[0].numbers)
    with path.open("wb") as file:
        file.write(_header(len(columns), rows, title))
        for number, column in enumerate(columns):
            file.write(_variable(column, f"V{number}"))
        for number, column in enumerate(columns):
            if column.meanings:
                file.write(_meanings(column, number + 1))
        for record in _extensions(columns):
            file.write(record)
        file.write(struct.pack("<ii", 999, 0))
        file.writelines(cells(columns, _MISSING))


def _header(columns: int, rows: int, title: str) -> bytes:
    name = b"@(#) SPSS DATA FILE deniable"
    return b"".join([
        b"$FL2",
        name.ljust(60),
        struct.pack("<iiiiid", 2, columns, 0, 0, rows, 100.0),
        b"01 Jan 70",  # no time: a file tells nothing about when reports were looked at
        b"00:00:00",
        clipped(title, 64).ljust(64),
        bytes(3),
    ])  # fmt: skip


def _variable(column: Column, short: str) -> bytes:
    label = clipped(column.label, _LABEL)
    whole = bool(np.all(np.isnan(column.numbers) | (column.numbers == np.round(column.numbers))))
    shown = _F8_0 if whole else _F12_4
    record = struct.pack("<iiiiii", 2, 0, 1, 0, shown, shown) + short.encode().ljust(8)
    return record + struct.pack("<i", len(label)) + label.ljust(-(-len(label) // 4) * 4, b"\0")


def _meanings(column: Column, index: int) -> bytes:
    """What the codes of a column stand for."""
    parts = [struct.pack("<ii", 3, len(column.meanings))]
    for code, meaning in column.meanings.items():
        text = clipped(meaning, _MEANING)
        record = struct.pack("<dB", float(code), len(text)) + text
        parts.append(record.ljust(8 + -(-(1 + len(text)) // 8) * 8, b" "))
    return b"".join([*parts, struct.pack("<iii", 4, 1, index)])


def _extensions(columns: Sequence[Column]) -> Iterator[bytes]:
    """How numbers and texts are written, the columns' names, and that codes are no amounts."""
    yield struct.pack("<iiii8i", 7, 3, 4, 8, 1, 0, 0, -1, 1, 1, 2, _UTF8)
    low = float(np.nextafter(_MISSING, 0))
    yield struct.pack("<iiii3d", 7, 4, 8, 3, _MISSING, -_MISSING, low)
    nominal = [part for column in columns for part in (1 if column.meanings else 3, 12, 1)]
    yield struct.pack(f"<iiii{len(nominal)}i", 7, 11, 4, len(nominal), *nominal)
    names = "\t".join(f"V{number}={column.file}" for number, column in enumerate(columns)).encode()
    yield struct.pack("<iiii", 7, 13, 1, len(names)) + names
    yield struct.pack("<iiii", 7, 20, 1, 5) + b"UTF-8"

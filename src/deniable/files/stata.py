"""Stata files (.dta, release 118), written without another package: numbers, labels, meanings of codes, missing values.

The format is described in Stata's manual ("File formats .dta"); tests read our files with other programs' readers.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from deniable.files.labelled_columns import cells, clipped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deniable.files.labelled_columns import Column

_MISSING = struct.unpack("<d", struct.pack("<Q", 0x7FE0000000000000))[0]  # Stata's "."
_DOUBLE = 65526
_LABEL, _MEANING = 320, 32000  # bytes


def write_dta(columns: Sequence[Column], path: Path, title: str = "") -> None:
    """Write columns to a file of release 118 (Stata 14 and newer)."""
    rows = len(columns[0].numbers)
    label = clipped(title, 320)
    header = (
        b"<header><release>118</release><byteorder>LSF</byteorder><K>" + struct.pack("<H", len(columns)) + b"</K><N>"
        + struct.pack("<Q", rows) + b"</N><label>" + struct.pack("<H", len(label)) + label
        + b"</label><timestamp>\0</timestamp></header>"
    )  # fmt: skip
    coded = {column.file: column for column in columns if column.meanings}
    parts = {
        "variable_types": struct.pack(f"<{len(columns)}H", *[_DOUBLE] * len(columns)),
        "varnames": b"".join(_fixed(column.file, 129) for column in columns),
        "sortlist": bytes(2 * (len(columns) + 1)),
        "formats": b"".join(_fixed("%12.0g" if column.meanings else "%10.0g", 57) for column in columns),
        "value_label_names": b"".join(_fixed(c.file if c.meanings else "", 129) for c in columns),
        "variable_labels": b"".join(_fixed(column.label, 321) for column in columns),
        "characteristics": b"",
        "data": b"",  # written below, some rows at a time
        "strls": b"",
        "value_labels": b"".join(_meanings(name, column) for name, column in coded.items()),
    }
    begin = b"<stata_dta>" + header
    map_size = len(b"<map></map>") + 14 * 8
    places, at = [0, len(begin)], len(begin) + map_size
    pieces = []
    for name, body in parts.items():
        places.append(at)
        pieces.append(f"<{name}>".encode() + body + f"</{name}>".encode())
        at += len(pieces[-1]) + (8 * rows * len(columns) if name == "data" else 0)
    places += [at, at + len(b"</stata_dta>")]
    with path.open("wb") as file:
        file.write(begin + b"<map>" + struct.pack("<14Q", *places) + b"</map>")
        for name, piece in zip(parts, pieces, strict=True):
            if name == "data":
                file.write(b"<data>")
                file.writelines(cells(columns, _MISSING))
                file.write(b"</data>")
            else:
                file.write(piece)
        file.write(b"</stata_dta>")


def _fixed(text: str, size: int) -> bytes:
    """A text in so many bytes, ended by a zero."""
    return clipped(text, size - 1).ljust(size, b"\0")


def _meanings(name: str, column: Column) -> bytes:
    """What the codes of a column stand for."""
    texts = [clipped(meaning, _MEANING) + b"\0" for meaning in column.meanings.values()]
    places = np.cumsum([0, *map(len, texts[:-1])]).tolist()
    codes = list(column.meanings)
    table = struct.pack(f"<ii{len(texts)}i{len(texts)}i", len(texts), sum(map(len, texts)), *places, *codes)
    table += b"".join(texts)
    return b"<lbl>" + struct.pack("<i", len(table)) + _fixed(name, 129) + bytes(3) + table + b"</lbl>"

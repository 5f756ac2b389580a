"""Files that nobody should be sent, made here: small, and of each kind that some command or function reads."""

from __future__ import annotations

import json
import struct
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEEP, LONG = 20_000, 200_000
HEAD = 'format = 1\nname = "x"\ntitle = "X"\n'
QUESTION = '[[questions]]\nname = "a"\ntext = "A?"\nkind = "yes-no"\n'


def _write(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _sparse(path: Path) -> None:
    """More than any memory holds, and no byte of it takes room."""
    with path.open("wb") as file:
        file.truncate(1 << 38)


def shared_text(path: Path) -> None:
    """One text that all rows share: 5 kB that become 209 GB."""
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2_100_000, np.int32)), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"a": one, "b": one}), path, compression="zstd")


def nested(path: Path) -> None:
    """Lists in lists, of which Parquet has as many levels as it likes."""
    value: object = 1
    for _ in range(90):
        value = [value]
    pq.write_table(pa.table({"a": [value], "b": ["x"]}), path)


def _twice_parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(["no"]), pa.array(["yes"])], names=["a", "a"]), path)


def _zipped(name: str, body: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, body)

    return write


def far_cell(path: Path) -> None:
    """A sheet whose only cell is the last there can be."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "survey"
    sheet.cell(1_048_576, 16_384, "x")
    book.save(path)


def packed_array(shape: int) -> Callable[[Path], None]:
    """Reports of a graph whose array says that it has so many bytes."""
    header = json.dumps({"format": 1, "channel": {"kind": "krr"}, "reports": 1, "nodes": 100}).encode()

    def write(path: Path) -> None:
        np.savez(path, header=np.frombuffer(header, np.uint8), report0=np.zeros(8, np.uint8))
        body = path.read_bytes()
        path.write_bytes(body.replace(b"(8,), }", f"({shape},), }}".encode(), 1)[: len(body)])

    return write


def many_records(path: Path) -> None:
    """An SPSS file that says that it has two thousand million rows of a thousand columns."""
    header = b"$FL2" + b"@(#) SPSS DATA FILE".ljust(60) + struct.pack("<iiiiid", 2, 50, 0, 0, 2_000_000_000, 100.0)
    header += b"01 Jan 7000:00:00" + b"x".ljust(64) + bytes(3)
    variables = b"".join(struct.pack("<iiiiii", 2, 0, 0, 0, 1280, 1280) + f"V{n}".encode().ljust(8) for n in range(50))
    path.write_bytes(header + variables + struct.pack("<ii", 999, 0))


def many_observations(path: Path) -> None:
    """A Stata file that says the same."""
    begin = b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>" + struct.pack("<H", 1000)
    begin += (
        b"</K><N>" + struct.pack("<Q", 2_000_000_000) + b"</N><label>\0\0</label><timestamp>\0</timestamp></header>"
    )
    path.write_bytes(begin + b"<map>" + struct.pack("<14Q", *[len(begin)] * 14) + b"</map></stata_dta>")


_TOML: dict[str, Callable[[Path], object]] = {
    "lists": _write("a = " + "[" * DEEP + "]" * DEEP),
    "tables": _write("a = " + "{b = " * DEEP + "1" + "}" * DEEP),
    "digits": _write(f"{HEAD}epsilon = {'1' * 5000}\n{QUESTION}"),
    "category": _write(f"a = [{'1' * 5000}, 2]"),
    "key": _write(".".join(["a"] * LONG) + " = 1"),
    "header": _write("[" + ".".join(["a"] * LONG) + "]\nb = 1"),
    "large": _sparse,
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\0\1"),
}
_JSON: dict[str, Callable[[Path], object]] = {
    "lists": _write("[" * DEEP + "]" * DEEP),
    "objects": _write('{"pages":' * DEEP + "1" + "}" * DEEP),
    "digits": _write('{"pages":' + "1" * 5000 + "}"),
    "rating": _write('{"pages":[{"elements":[{"type":"rating","name":"a","rateMin":0,"rateMax":1000000000000}]}]}'),
    "large": _sparse,
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\0\1"),
}
BOMBS: dict[str, dict[str, Callable[[Path], object]]] = {
    ".toml": _TOML,
    ".json": _JSON,
    ".csv": {
        "twice": _write("a,a\nno,yes\n"),
        "columns": _write(",".join(f"c{number}" for number in range(LONG)) + "\n" + "," * (LONG - 1) + "\n"),
        "line": _write("a,b\n" + "x" * (1 << 25)),
        "quote": _write('a,b\nno,"' + "x\n" * (1 << 22)),
        "ragged": _write("a,b\nno,yes\nno\n"),
        "bytes": lambda path: path.write_bytes(b"a,b\n\xff\xfe\0\1,x\n"),
    },
    ".parquet": {
        "shared": shared_text,
        "nested": nested,
        "twice": _twice_parquet,
        "short": lambda path: path.write_bytes(b"PAR1" + bytes(64) + struct.pack("<i", 1 << 30) + b"PAR1"),
    },
    ".sav": {"rows": many_records, "bytes": lambda path: path.write_bytes(b"$FL2" + bytes(1000))},
    ".dta": {"rows": many_observations, "bytes": lambda path: path.write_bytes(b"<stata_dta>" + bytes(1000))},
    ".xlsx": {
        "cell": far_cell,
        "packed": _zipped("xl/workbook.xml", b" " * (1 << 28)),
        "bytes": lambda path: path.write_bytes(b"PK\3\4" + bytes(1000)),
    },
    ".npz": {
        "packed": _zipped("header.npy", bytes(1 << 28)),
        "shape": packed_array(1 << 45),
        "bytes": lambda path: path.write_bytes(b"PK\3\4" + bytes(1000)),
    },
    ".edges": {"bytes": lambda path: path.write_bytes(b"\xff\xfe\0\1"), "names": _write("a b c d\n")},
    ".sqlite": {
        "bytes": lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(2000)),
        "head": lambda path: path.write_bytes(b"SQLite format 3\0"),
    },
}

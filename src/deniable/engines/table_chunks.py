"""Tables to be disguised, read piece by piece: a Parquet file by its row groups, a CSV file by its blocks.

A piece is what a run resumes at, so pieces must be the same each time the file is opened.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyarrow import csv

from deniable.core.untrusted_files import refuse_wide_csv
from deniable.errors import InputError, tried
from deniable.files.object_storage import Object
from deniable.files.parquet import ParquetFile, refuse_repeated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CSV_BYTES = 1 << 22
_CSV_BLOCKS = 16  # blocks a piece
# What Arrow says of a CSV file, and what of that we say: it quotes values, and whole rows.
_PLACES = {
    "row": r"Row #(\d+)",
    "column": r"CSV column #(\d+)",
    "counts": r"Expected (\d+) columns, got (\d+)",
    "kind": r"conversion error to (\w+)",
}
_KINDS = {"double": "a number", "int64": "a whole number", "string": "a text in UTF-8", "bool": "true or false"}
_SAID = {
    "Empty CSV file": "it is empty (Empty CSV file)",
    "straddl": "a row longer than 4 MB; it may have quotes that nothing closes",
    "block boundaries": "a row longer than 4 MB; it may have quotes that nothing closes",
    "UTF8": "bytes that are no text in UTF-8",
}


class Pieces(Protocol):
    """A table that can be read piece by piece."""

    schema: pa.Schema
    rows: int | None  # unknown before the end of a CSV file

    def fingerprint(self) -> str:
        """Changes when the file does."""
        ...

    def pieces(self, columns: Sequence[str], start: int) -> Iterator[Iterator[pa.RecordBatch]]:
        """The pieces from number `start` on, each as batches of the named columns."""
        ...


def open_table(path: Path | Object) -> Pieces:
    """Open a table by its name's ending."""
    if not path.exists():
        raise InputError(f"there is no file {path}", file=str(path))
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one Parquet or CSV file", file=str(path))
    kinds: dict[str, type[ParquetPieces | CSVPieces]] = {".parquet": ParquetPieces, ".csv": CSVPieces}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            f"cannot read {path}: a table to disguise is a .parquet or a .csv file, and its name says which",
            file=str(path),
        )
    return kind(path)


def _fingerprint(path: Path | Object, *parts: object) -> str:
    state = path.state() if isinstance(path, Object) else (path.stat().st_size, path.stat().st_mtime_ns)
    return hashlib.sha256(repr((*state, *parts)).encode()).hexdigest()


class ParquetPieces:
    """A Parquet file, a piece a row group."""

    def __init__(self, path: Path | Object) -> None:
        """Open the file and read its schema only."""
        self._path, self._file = path, ParquetFile(path)
        self.rows: int | None = self._file.rows
        self._groups = len(self._file.groups)
        self.schema = self._file.schema

    def fingerprint(self) -> str:
        """Size, time of change and row groups."""
        return _fingerprint(self._path, self._groups, self.rows)

    def pieces(self, columns: Sequence[str], start: int) -> Iterator[Iterator[pa.RecordBatch]]:
        """Read row group by row group."""
        return self._file.by_group(columns, start, encoded=True)


class CSVPieces:
    """A CSV file, a piece a fixed number of blocks of fixed length."""

    rows: int | None = None

    def __init__(self, path: Path | Object) -> None:
        """Open the file and read its first block."""
        self._path = path
        with path.open("rb") if isinstance(path, Path) else path.stream() as file:
            refuse_wide_csv(file, str(path))
        self._types: dict[str, pa.DataType] = {}
        self.schema = pa.schema([])
        self.schema = self._open().schema
        refuse_repeated(self.schema.names, path)

    def _open(self) -> csv.CSVStreamingReader:
        opened = tried(
            lambda: csv.open_csv(
                self._path.stream() if isinstance(self._path, Object) else self._path,
                read_options=csv.ReadOptions(block_size=_CSV_BYTES, use_threads=False),
                convert_options=csv.ConvertOptions(column_types=self._types, strings_can_be_null=True),
            ),
            pa.ArrowException, MemoryError,
        )  # fmt: skip
        if isinstance(opened, Exception):
            raise self._refused(opened)
        return opened

    def _refused(self, error: Exception) -> InputError:
        """What Arrow says of a CSV file, without the row or the value that it quotes: they are to be disguised."""
        said = str(error)
        place = {what: re.search(pattern, said) for what, pattern in _PLACES.items()}
        row, column = place["row"], place["column"]
        told = next((ours for theirs, ours in _SAID.items() if theirs in said), "it cannot be read")
        if counts := place["counts"]:
            told = f"{counts[2]} columns where its head names {counts[1]}"
        names = self.schema.names
        where = [f"row {int(row[1]) - 1}"] if row else []
        if column and int(column[1]) < len(names):
            where.append(f"column {names[int(column[1])]!r}")
        if kind := place["kind"]:
            told = f"not {_KINDS.get(kind[1], 'of the kind')}, as the categories are or the rows before it"
        return InputError(
            f"{self._path} cannot be read as a CSV file: {', '.join([*where, told])}. What stands there is not said "
            f"here, because messages end up in logs",
            file=str(self._path),
            row=int(row[1]) - 1 if row else None,
        )

    def read_as(self, types: dict[str, pa.DataType]) -> None:
        """Read columns as these types, whatever they look like: a category "1" is a text when the domain says so."""
        self._types = types
        self.schema = self._open().schema

    def fingerprint(self) -> str:
        """Size and time of change."""
        return _fingerprint(self._path)

    def pieces(self, columns: Sequence[str], start: int) -> Iterator[Iterator[pa.RecordBatch]]:
        """Read blocks in order; those of finished pieces are read past."""
        reader = self._open()
        blocks = self._blocks(reader, list(columns))
        for _ in range(start * _CSV_BLOCKS):
            next(blocks, None)
        while (first := next(blocks, None)) is not None:
            yield self._piece(first, blocks)

    def _piece(self, first: pa.RecordBatch, blocks: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield first
        for _ in range(_CSV_BLOCKS - 1):
            block = next(blocks, None)
            if block is None:
                return
            yield block

    def _blocks(self, reader: csv.CSVStreamingReader, columns: list[str]) -> Iterator[pa.RecordBatch]:
        while True:
            block = tried(reader.read_next_batch, StopIteration, pa.ArrowException, MemoryError)
            if isinstance(block, StopIteration):
                return
            if isinstance(block, Exception):
                raise self._refused(block)
            yield block.select(columns)

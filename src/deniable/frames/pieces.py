"""Tables to be disguised, read piece by piece: a Parquet file by its row groups, a CSV file by its blocks.

A piece is what a run resumes at, so pieces must be the same each time the file is opened.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from pyarrow import csv

from deniable.designs.objects import Object
from deniable.errors import InputError
from deniable.frames.reading import parquet_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ROWS = 1 << 17  # a batch: its columns and their disguise stay in the processor's cache
_CSV_BYTES = 1 << 22
_CSV_BLOCKS = 16  # blocks a piece


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
        self._path = path
        plain = parquet_file(path)
        self.rows: int | None = plain.metadata.num_rows
        self._groups = plain.num_row_groups
        self.schema = plain.schema_arrow.remove_metadata()

    def fingerprint(self) -> str:
        """Size, time of change and row groups."""
        return _fingerprint(self._path, self._groups, self.rows)

    def pieces(self, columns: Sequence[str], start: int) -> Iterator[Iterator[pa.RecordBatch]]:
        """Read row group by row group. Texts stay dictionaries, as they lie in the file: far cheaper to encode."""
        texts = [name for name in columns if pa.types.is_string(self.schema.field(name).type)]
        # Not mapped into memory, where pages that were read would stay; and read column by column, not all at once.
        file = parquet_file(self._path, read_dictionary=texts, pre_buffer=False, buffer_size=1 << 20)
        for group in range(start, self._groups):
            yield self._batches(file, group, columns)

    def _batches(self, file: Any, group: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from file.iter_batches(batch_size=ROWS, row_groups=[group], columns=list(columns))
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"row group {group} of {self._path} cannot be read: {error}") from None


class CSVPieces:
    """A CSV file, a piece a fixed number of blocks of fixed length."""

    rows: int | None = None

    def __init__(self, path: Path | Object) -> None:
        """Open the file and read its first block."""
        self._path = path
        self._types: dict[str, pa.DataType] = {}
        self.schema = self._open().schema

    def _open(self) -> Any:
        try:
            return csv.open_csv(
                self._path.stream() if isinstance(self._path, Object) else self._path,
                read_options=csv.ReadOptions(block_size=_CSV_BYTES, use_threads=False),
                convert_options=csv.ConvertOptions(column_types=self._types, strings_can_be_null=True),
            )
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            raise InputError(f"{self._path} is not a readable CSV file: {error}", file=str(self._path)) from None

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

    def _blocks(self, reader: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                block = reader.read_next_batch()
            except StopIteration:
                return
            except pa.ArrowInvalid as error:
                raise InputError(f"{self._path} cannot be read as CSV: {error}", file=str(self._path)) from None
            yield block.select(columns)

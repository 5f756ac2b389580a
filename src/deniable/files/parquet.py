"""Parquet files, read within bounds: one of 4 kB can ask for 209 GB, by a text of 100 kB that two million rows share.

What is read becomes at most a hundred times the file (or 4 GB, where it is streamed; 1 GB, where it is held), counted
before it is built: numbers by rows and widths, texts by their lengths, pages by their headers. Texts are read as
dictionaries, as they lie in the file, and spelt out in portions.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deniable.core.untrusted_files import clipped
from deniable.errors import InputError
from deniable.files.parquet_pages import MOST_PAGE, Page, pages
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.files.object_storage import Object

ROWS = 1 << 17  # a batch: its columns and their disguise stay in the processor's cache
STREAMED, HELD = 1 << 32, 1 << 30  # bytes that any file may become
TIMES = 100  # and how often its own size
PORTION = 1 << 26  # bytes of texts that are spelt out together
_MOST_VALUES = 1 << 26  # of a page: some encodings make room for as many numbers before the first is read
_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
_WIDEST = 64  # bytes of what is neither number nor text


class ParquetFile:
    """A Parquet file, of which only its own description is read at first."""

    def __init__(self, path: Path | Object) -> None:
        """Open it, with a message a person can use when it is none."""
        self.path, self._size = path, path.stat().st_size if isinstance(path, Path) else path.state()[0]
        about = self._open()
        self._about: pq.FileMetaData = about.metadata
        self.schema: pa.Schema = about.schema_arrow.remove_metadata()
        self.metadata: dict[bytes, bytes] = dict(about.schema_arrow.metadata or {})
        refuse_repeated(self.schema.names, path)
        self.groups = [self._about.row_group(group).num_rows for group in range(about.num_row_groups)]
        self.rows = sum(self.groups)

    def _open(self, **options: Any) -> pq.ParquetFile:
        try:
            # Not mapped into memory, where pages that were read would stay; column by column, not all at once.
            source = self.path if isinstance(self.path, Path) else self.path.open()
            return pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20, **options)
        except (pa.ArrowException, OSError, MemoryError) as error:
            told = (
                "it is empty"
                if not self._size
                else f"it may have been cut short while it was copied ({clipped(error)})"
            )
            raise InputError(f"{self.path} is not a readable Parquet file: {told}", file=str(self.path)) from None

    def batches(self, columns: Sequence[str], *, most: int = STREAMED) -> Iterator[pa.RecordBatch]:
        """All rows, batch by batch; they may become `most` bytes, or a hundred times the file."""
        return chain.from_iterable(self.by_group(columns, most=most))

    def by_group(
        self, columns: Sequence[str], start: int = 0, *, encoded: bool = False, most: int = STREAMED
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        """The row groups from one on, each batch by batch.

        Args:
            columns: which columns.
            start: the first row group.
            encoded: leave texts dictionaries, as they lie in the file: far cheaper to encode.
            most: bytes that all of them may become, where the file is smaller than a hundredth of that.
        """
        held = _Held(self, max(most, TIMES * self._size))
        held.add(self._fixed(columns, sum(self.groups[start:])))
        texts = [name for name in columns if _is_text(self.schema.field(name).type)]
        file = self._open(read_dictionary=[name for name in texts if name not in self._others])
        for group in range(start, len(self.groups)):
            yield self._batches(file, group, columns, held, encoded=encoded)

    def _batches(
        self, file: pq.ParquetFile, group: int, columns: Sequence[str], held: _Held, *, encoded: bool
    ) -> Iterator[pa.RecordBatch]:
        for batch in self._read(file, group, columns) if self.groups[group] else ():
            held.add(spelt_out(batch))
            for portion in portions(batch):
                yield portion if encoded else self._plain(portion)

    def _read(self, file: pq.ParquetFile, group: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows = self._look_at(group, columns)
        try:
            yield from file.iter_batches(rows, row_groups=[group], columns=list(columns))
        except (pa.ArrowException, OSError, MemoryError) as error:
            told = f"row group {group} of {self.path} cannot be read: {clipped(error)}"
            raise InputError(told, file=str(self.path), group=group) from None

    def table(self) -> pa.Table:
        """All of it, held in memory."""
        return pa.Table.from_batches([*self.batches(self.schema.names, most=HELD)], self.schema)

    def look_through(self) -> None:
        """Check what another program is about to read."""
        _Held(self, max(STREAMED, TIMES * self._size)).add(self._fixed(self.schema.names, self.rows))
        for group, rows in enumerate(self.groups):
            if rows:
                self._look_at(group, self.schema.names)

    # -- before it is built --------------------------------------------------------------------------------------------

    def _fixed(self, columns: Sequence[str], rows: int) -> int:
        """The bytes of all that is no text."""
        held = 0
        for name in columns:
            kind = self.schema.field(name).type
            kind = kind.index_type if pa.types.is_dictionary(kind) else kind
            wide = 0 if _is_text(kind) or pa.types.is_null(kind) else _width(kind)
            if wide is None or wide > _WIDEST:
                raise InputError(
                    f"column {name!r} of {self.path} holds {kind!s:.60}; columns of numbers, texts, dates and true or "
                    f"false can be read",
                    column=name,
                )
            held += rows * max(wide, 4)
        return held

    @cached_property
    def _others(self) -> set[str]:
        """Columns in which a text may begin like the one before it, which Arrow does not read as a dictionary."""
        about = [self._about.row_group(group) for group in range(len(self.groups))]
        chunks = [group.column(place) for group in about for place in range(group.num_columns)]
        return {chunk.path_in_schema for chunk in chunks if any(way.startswith("DELTA_") for way in chunk.encodings)}

    def _look_at(self, group: int, columns: Sequence[str]) -> int:
        """Look at the pages of a row group; how many rows may be read at once follows from them."""
        about, rows, wanted = self._about.row_group(group), ROWS, set(columns)
        with self.path.open("rb") if isinstance(self.path, Path) else self.path.open() as file:
            for place in range(about.num_columns):
                chunk = about.column(place)
                if _is_in(chunk.path_in_schema, wanted):
                    for page in _pages_of(file, chunk, f"row group {group} of {self.path}"):
                        self._refuse_page(page)
                        if chunk.path_in_schema in self._others:
                            rows = min(rows, max(1, MOST_PAGE // max(1, page.unpacked)))
        return rows

    def _refuse_page(self, page: Page) -> None:
        if page.unpacked > MOST_PAGE or page.values > _MOST_VALUES or page.packed > self._size:
            raise InputError(
                f"{self.path} has a page of {page.values} values that would become {page.unpacked} bytes; no writer "
                f"makes pages of more than {_MOST_VALUES} values or {MOST_PAGE} bytes. Is it the right file?",
                file=str(self.path),
            )

    def _plain(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """With texts spelt out, where the file does not say that they are categories."""
        fields = [self.schema.field(name) for name in batch.schema.names]
        columns = [c if c.type == f.type else c.cast(f.type) for c, f in zip(batch.columns, fields, strict=True)]
        return pa.record_batch(columns, schema=pa.schema(fields))


class _Held:
    """How many bytes were read of a file, spelt out."""

    def __init__(self, file: ParquetFile, most: int) -> None:
        self._path, self._most, self._held = file.path, most, 0

    def add(self, more: int) -> None:
        """Count them before they are built."""
        self._held += more
        if self._held > self._most:
            raise InputError(
                f"{self._path} would become more than {self._most} bytes; nobody's "
                f"answers repeat themselves like that. Is it the right file?",
                file=str(self._path),
                most=self._most,
            )


def refuse_repeated(names: Sequence[str], path: Path | Object) -> None:
    """Refuse columns that have one name: nobody knows which is meant."""
    twice = {name for name, times in Counter(names).items() if times > 1}
    if places := [place for place, name in enumerate(names, start=1) if name in twice]:
        raise InputError(
            f"{path}: columns {listed(places)} share their names; give each a name of its own. They are not repeated "
            f"here: if its first row names none, they are a person's answers",
            columns=places,
        )


def spelt_out(batch: pa.RecordBatch) -> int:
    """The bytes of a batch's texts, each row's counted, without making them."""
    held = 0
    for column in batch.columns:
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if not len(texts) or not _is_text(texts.type):
            continue
        lengths = pc.binary_length(texts)
        held += pc.sum(lengths.take(column.indices) if texts is not column else lengths).as_py() or 0
    return held


def portions(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts whose texts, spelt out, are not too large."""
    if batch.num_rows < 2 or spelt_out(batch) <= PORTION:
        yield batch
        return
    half = batch.num_rows // 2
    yield from portions(batch.slice(0, half))
    yield from portions(batch.slice(half))


def _is_in(path: str, columns: set[str]) -> bool:
    """Whether what a path leads to is one of the columns, or a part of one: names may have points themselves."""
    return path in columns or any(letter == "." and path[:at] in columns for at, letter in enumerate(path))


def _pages_of(file: IO[bytes], chunk: pq.ColumnChunkMetaData, where: str) -> Iterator[Page]:
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    yield from pages(file, start, chunk.total_compressed_size, where)


def _is_text(kind: pa.DataType) -> bool:
    return str(kind) in _TEXTS


def _width(kind: pa.DataType) -> int | None:
    """Bytes of a value; None where values differ."""
    try:
        return -(-kind.bit_width // 8)
    except ValueError:
        return None

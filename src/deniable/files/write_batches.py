"""Batches: a table of many rows that is written to CSV or Parquet a part at a time, and never held as a whole.

What a batch holds is bounded by its cells, so that what is held besides the reports does not grow with their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.core.csv_injection import plain, plain_table
from deniable.files.column_types import rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

CELLS = 1 << 21  # of a batch
_MOST = 1 << 18  # rows of a batch, however few columns it has


@dataclass(frozen=True, eq=False)
class Batches:
    """So many rows, and what makes the table of those from one to another; all tables have the same columns."""

    rows: int
    make: Callable[[int, int], pa.Table]

    def __iter__(self) -> Iterator[pa.Table]:
        """One table after the other; of no rows one that is empty."""
        step = max(1, min(_MOST, CELLS // max(1, self.make(0, 0).num_columns)))
        for start in range(0, max(1, self.rows), step):
            yield self.make(start, min(start + step, self.rows))

    def alike(self) -> Batches:
        """The same with the types that the table has as a whole, without metadata or categories that no row has.

        A batch alone does not show them: a column of nothing but missing values has no type.
        """
        import pyarrow as pa

        schemas: dict[pa.Schema, None] = {}
        known: dict[str, dict[Any, None]] = {}  # categories in their order
        used: dict[str, set[Any]] = {}
        for table in self:
            bare = rebuilt(table)
            schemas[bare.schema] = None
            for name, kind in zip(bare.column_names, bare.schema.types, strict=True):
                if pa.types.is_dictionary(kind):
                    for chunk in table[name].chunks:
                        known.setdefault(name, {}).update(dict.fromkeys(chunk.dictionary.to_pylist()))
                    for chunk in bare[name].chunks:
                        used.setdefault(name, set()).update(chunk.dictionary.to_pylist())
        schema = pa.unify_schemas(list(schemas), promote_options="permissive")
        kept = {}
        for name, values in known.items():
            own = [value for value in values if value in used.get(name, ())]
            kept[name] = pa.array(own, schema.field(name).type.value_type)

        def make(start: int, stop: int) -> pa.Table:
            bare = rebuilt(self.make(start, stop))
            columns = [
                _among(bare[name], kept[name], field.type) if name in kept else bare[name].cast(field.type)
                for name, field in zip(bare.column_names, schema, strict=True)
            ]
            return pa.Table.from_arrays(columns, schema=schema)

        return Batches(self.rows, make)


def _among(column: pa.ChunkedArray, kept: pa.Array, kind: pa.DictionaryType) -> pa.ChunkedArray:
    """A column of categories whose codes are places in the categories that are kept."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(column.cast(kind.value_type), kept).cast(kind.index_type)
    chunks = [pa.DictionaryArray.from_arrays(chunk, kept, ordered=kind.ordered) for chunk in places.chunks]
    return pa.chunked_array(chunks, kind)


def of_frame(frame: Any) -> Batches:
    """A frame that is held, in batches: only these are made into other types."""
    import narwhals as nw
    import pyarrow as pa

    held = nw.from_native(frame, eager_only=True)

    def make(start: int, stop: int) -> pa.Table:
        some = held[start:stop]
        return pa.table({name: some[name].to_arrow() for name in some.columns})  # a frame would bring its index too

    typed = not held.implementation.is_pandas_like()
    if typed and not any(map(pa.types.is_dictionary, make(0, 0).schema.types)):
        return Batches(len(held), lambda start, stop: rebuilt(make(start, stop)))
    return Batches(len(held), make).alike()


def write_parquet(batches: Batches, path: Path, metadata: dict[str, str]) -> None:
    """Write a Parquet file, a row group a batch."""
    import pyarrow.parquet as pq

    schema = batches.make(0, 0).schema.with_metadata(metadata)
    with pq.ParquetWriter(path, schema) as out:
        for table in batches:
            out.write_table(table.cast(schema))


def write_csv(batches: Batches, path: Path, metadata: dict[str, str]) -> None:  # noqa: ARG001 - it has no place for it
    """Write a CSV file, whose texts no spreadsheet runs."""
    import pyarrow as pa
    from pyarrow import csv

    schema = pa.schema([(plain(field.name), _spelled(field.type)) for field in batches.make(0, 0).schema])
    with csv.CSVWriter(path, schema) as out:
        for table in batches:
            out.write_table(plain_table(table).cast(schema))


def _spelled(kind: pa.DataType) -> pa.DataType:
    """The type that is written: of texts one, whatever they are held as."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(own) or pa.types.is_string_view(own) else own

"""Types of columns by name: what a file that has none (CSV, SPSS, Stata) must be told of public columns.

Without them the text "007" came back as the number 7, "1" as 1 and "true" as a truth value: other groups than before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deniable.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_TIME = re.compile(r"timestamp\[(s|ms|us|ns), tz=(.+)\]")
_DECIMAL = re.compile(r"decimal128\((\d+), (-?\d+)\)")


def _plain() -> dict[str, pa.DataType]:
    import pyarrow as pa

    whole = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    others = [pa.null(), pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.date32()]
    times = [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")]
    return {str(known): known for known in (*whole, *others, *times)}


def type_name(kind: pa.DataType, column: str) -> str:
    """The name of a column's type; refused where a text could not be read back as one.

    >>> import pyarrow as pa
    >>> type_name(pa.dictionary(pa.int8(), pa.string()), "region"), type_name(pa.timestamp("us", "UTC"), "seen")
    ('string', 'timestamp[us, tz=UTC]')
    """
    import pyarrow as pa

    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    name = "large_string" if pa.types.is_string_view(plain) else str(plain)
    if named_type(name) is None:
        raise InputError(
            f"the public column {column!r} holds {kind} values, which only Parquet keeps: write .parquet, or make them "
            f"texts, numbers, truth values or dates first",
            column=column,
        )
    return name


def named_type(name: str) -> pa.DataType | None:
    """The type of that name; None where there is none that we write.

    >>> named_type("int64"), named_type("decimal128(7, 2)"), named_type("list<item: int64>")
    (DataType(int64), Decimal128Type(decimal128(7, 2)), None)
    """
    import pyarrow as pa

    if known := _plain().get(name):
        return known
    if found := _TIME.fullmatch(name):
        return pa.timestamp(found[1], tz=found[2])
    if found := _DECIMAL.fullmatch(name):
        return pa.decimal128(int(found[1]), int(found[2]))
    return None


def as_named(column: pa.ChunkedArray, name: str, place: str) -> pa.ChunkedArray:
    """A column as the type of that name, with nothing lost; `place` names it in a refusal."""
    import pyarrow as pa

    kind = named_type(name)
    try:
        return column if kind is None else column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{place} held {name} values when it was written, and no longer does: {error}") from None


def rebuilt(table: pa.Table) -> pa.Table:
    """The columns alone: no metadata of the table or of a field, and of categories those that a row has."""
    import pyarrow as pa

    columns = [_used(column) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    return pa.Table.from_arrays(columns, table.column_names)


def _used(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import numpy as np
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no chunk
        return whole
    used, places = np.unique(whole.indices.drop_null().to_numpy(), return_inverse=True)
    indices = np.zeros(len(whole), dtype=np.int64)
    there = whole.indices.is_valid().to_numpy(zero_copy_only=False)
    indices[there] = places
    kept = pa.array(indices, column.type.index_type, mask=~there)
    made = pa.DictionaryArray.from_arrays(kept, whole.dictionary.take(pa.array(used)), ordered=column.type.ordered)
    return pa.chunked_array([made])

"""Columns of values as Arrow has them: what is missing, of which kind they are, and as arrays of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.errors import InputError, tried
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def as_arrow(name: str, categories: Sequence[object], values: Any) -> pa.Array | pa.ChunkedArray:
    """A column of whatever kind; what Arrow says where it cannot take it quotes a value, and is not told."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    made = tried(
        lambda: values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True),
        pa.ArrowException, TypeError, ValueError, OverflowError,
    )  # fmt: skip
    if isinstance(made, Exception):
        raise InputError(
            f"column {name!r} holds things of different kinds, such as numbers beside texts; its categories are "
            f"{listed(categories)}. Make them of one kind",
            attribute=name,
        )
    return made


def chunks_of(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """The arrays that a column consists of."""
    return [column] if hasattr(column, "buffers") else column.chunks


def missing_in(column: pa.Array) -> NDArray[np.bool_]:
    """Which values are missing; a NaN is how some frames write that."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        known = np.append(missing_in(column.dictionary), True)
        found: NDArray[np.bool_] = known[as_numpy(column.indices.fill_null(len(column.dictionary)))]
        return found
    return as_numpy(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type)))


def as_numpy(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """The same values as an array of NumPy."""
    import pyarrow as pa

    found: NDArray[Any] = column.to_numpy(**({} if isinstance(column, pa.ChunkedArray) else {"zero_copy_only": False}))
    return found


def kind_of(arrow: pa.DataType) -> str:
    """Sort arrow types into those whose values may equal each other: "1" is not 1, but 1.0 is."""
    import pyarrow as pa

    if pa.types.is_integer(arrow) or pa.types.is_floating(arrow):
        return "number"
    return "text" if str(arrow) in ("string", "large_string", "string_view") else str(arrow)

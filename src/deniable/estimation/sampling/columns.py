"""Columns with one value a respondent, of whatever library they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.core.data_frames import refuse_set
from deniable.core.input_coercion import by_row
from deniable.errors import InputError, MissingValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoSeries
    from numpy.typing import NDArray

    Column: TypeAlias = Sequence[Any] | NDArray[Any] | IntoSeries  # one value a respondent


def column(values: Any, name: str, rows: int | None = None, index: Any = None) -> NDArray[Any]:
    """Read a column (a list, an array, or a series of any library) as an array; refuse gaps and wrong lengths.

    With `rows`, a series is brought to the respondents' order by its labels; `index` are theirs, if they have any.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    refuse_set(values, name)
    if hasattr(values, "columns"):
        told = f"{name}: expected one value a respondent, not a frame: hand in one of its columns"
        raise InputError(told, column=name)
    if rows is not None:
        values = by_row(values, index, name)
    try:
        arrow = values.to_arrow() if hasattr(values, "to_arrow") else values
        if not isinstance(arrow, pa.Array | pa.ChunkedArray):
            arrow = pa.array(arrow, from_pandas=True)
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # ArrowTypeError is a TypeError
        raise InputError(f"{name}: expected a list, array or series with one value a respondent ({error})") from None
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(arrow.type.value_type)
    if pa.types.is_nested(arrow.type):
        raise InputError(f"{name}: expected one value a respondent, not {arrow.type}")
    gaps = arrow.null_count + (pc.sum(pc.is_nan(arrow)).as_py() or 0 if pa.types.is_floating(arrow.type) else 0)
    if gaps:
        raise MissingValueError(
            f"{name}: {gaps} of {len(arrow)} values are missing. Drop these rows, or give gaps a category of their own",
            rows=gaps,
        )
    if rows is not None and len(arrow) != rows:
        raise InputError(f"{name} must hold one value for each of the {rows} reports, not {len(arrow)}", column=name)
    return np.asarray(arrow.to_numpy(**({} if isinstance(arrow, pa.ChunkedArray) else {"zero_copy_only": False})))


def numbered(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The different values of a column in order, and each row's position among them."""
    different, codes = np.unique(values, return_inverse=True)
    return different.tolist(), codes.reshape(-1)

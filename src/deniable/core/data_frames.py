"""What people hand in first: dictionaries, lists, a single series. Taken, or answered with the line to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

from deniable.errors import InputError, tried
from deniable.text import listed

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa
    from narwhals.typing import IntoDataFrame, IntoSeries

    # A frame, columns by name, people as dictionaries; or the only column.
    People: TypeAlias = IntoDataFrame | IntoSeries | Mapping[str, Any] | Sequence[Any]


def refuse_set(values: object, what: str) -> None:
    """Refuse a set where values stand in an order: it has none, and what it is gone through in is nobody's choice."""
    if isinstance(values, set | frozenset):
        raise InputError(
            f"{what} stand in an order, which a set does not have: write them as a list, or by name, as a mapping"
        )


def as_frame(data: Any, names: Sequence[str]) -> IntoDataFrame:
    """People as a data frame: a frame as it is; columns by name; one person, or several; a series, if one is wanted.

    Args:
        data: what was handed in.
        names: the attributes that are wanted of everybody.

    >>> as_frame({"smokes": ["no", "yes"]}, ["smokes"]).to_pydict()
    {'smokes': ['no', 'yes']}
    >>> as_frame([{"smokes": "no"}, {"smokes": "yes"}], ["smokes"]).num_rows
    2
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(data, pa.Table) and any(map(is_view, data.schema.types)):
        return pa.table([without_views(column) for column in data.columns], data.column_names)
    if isinstance(data, Mapping):
        _refuse_rows_apart(data)
        one = all(isinstance(value, str | int | float | bool | None) for value in data.values())
        return _columns({name: [value] if one else value for name, value in data.items()})
    if isinstance(data, list | tuple) and data and all(isinstance(person, Mapping) for person in data):
        every = dict.fromkeys(str(name) for person in data for name in person)
        return _columns({name: [person.get(name) for person in data] for name in every})
    is_series = not isinstance(data, str | bytes) and _is_series(data)
    if is_series or isinstance(data, list | tuple):
        if len(names) == 1:
            return _columns({names[0]: data if is_series else list(data)})
        example = ", ".join(f'"{name}": [...]' for name in names[:3])
        raise InputError(
            f"this is one column, and the design asks {len(names)} attributes ({listed(names)}): hand in a data frame, "
            f"or columns by name, such as randomize({{{example}}})"
        )
    if isinstance(data, str):
        raise InputError(
            f"people are handed in as a data frame, not as the name of a file: read it first, such as "
            f"randomize(pandas.read_csv({data!r})); from file to file, `deniable randomize` does it"
        )
    try:
        nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"every column has a name of its own: {' '.join(str(error).split())}") from None
    except TypeError:
        lazy = hasattr(data, "collect")
        told = "this frame is lazy: collect it first, with .collect()" if lazy else f"not as {type(data).__name__}"
        raise InputError(
            f"people are handed in as a data frame (pandas, polars, pyarrow), as columns by name or as a list of "
            f"dictionaries; {told}"
        ) from None
    frame: IntoDataFrame = data
    return frame


def _columns(columns: Mapping[str, Any]) -> pa.Table:
    """Columns by name; what Arrow says where it cannot take one quotes a value, and is not told."""
    import pyarrow as pa

    made: dict[str, Any] = {}
    for name, values in columns.items():
        column = tried(partial(_column, values), pa.ArrowException, TypeError, ValueError, OverflowError)
        if isinstance(column, Exception):
            raise InputError(
                f"column {name!r} cannot be read: it is no list of values of one kind, such as texts alone or numbers "
                f"alone",
                column=name,
            )
        made[name] = column
    lengths = {name: len(column) for name, column in made.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns differ in length: {lengths}", lengths=lengths)
    return pa.table(made)


def _column(values: Any) -> pa.Array | pa.ChunkedArray:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if nw.dependencies.is_into_series(values):
        return nw.from_native(values, series_only=True).to_arrow()
    return pa.array(values, from_pandas=True)


def _refuse_rows_apart(columns: Mapping[str, Any]) -> None:
    """Refuse columns by name whose rows have different labels: one of them was sorted, drawn or filtered by itself."""
    rows = {name: column.index for name, column in columns.items() if hasattr(column, "iloc")}
    for other in list(rows)[1:]:
        first = next(iter(rows))
        if not rows[first].equals(rows[other]):
            raise InputError(
                f"the rows of {first!r} and {other!r} have different labels, so that it is not known which answers "
                f"are one person's: hand in a data frame, such as pandas.DataFrame({{...}}), which brings rows "
                f"together by their labels; or, if they are in one order, values without labels, such as .to_numpy()",
                columns=[first, other],
            )


def without_views(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Texts that Arrow keeps as views (`string_view`), as texts that all of its functions take; others as they are."""
    import pyarrow as pa

    if not is_view(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        chunks = column.chunks or [pa.array([], column.type)]  # of none, what they would be is not known
        return pa.chunked_array([without_views(chunk) for chunk in chunks])
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.large_string()))


def is_view(arrow: pa.DataType) -> bool:
    """Whether these are texts as views, or a dictionary of them."""
    import pyarrow as pa

    return pa.types.is_string_view(arrow.value_type if pa.types.is_dictionary(arrow) else arrow)


def _is_series(data: Any) -> bool:
    import narwhals as nw
    import numpy as np

    if isinstance(data, np.ndarray):
        raise InputError(
            "an array does not say which column is which attribute: hand in columns by name, such as "
            'randomize({"smokes": array[:, 0]})'
        )
    return bool(nw.dependencies.is_into_series(data))


def is_count(number: object) -> bool:
    """Whether it is a whole number from 1 on, such as 2, 2.0 or one of NumPy's."""
    return isinstance(number, Real) and float(number) >= 1 and float(number).is_integer()

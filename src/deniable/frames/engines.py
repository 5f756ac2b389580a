"""Engines: where reports lie and who counts them there.

All that estimation needs of a million reports is how often each combination of codes came. An engine answers that one
question, by columns, and reports never travel:

- `ParquetEngine`: local Parquet files, streamed through NumPy's bincount;
- `IbisEngine`: any table of an Ibis backend (DuckDB, PostgreSQL, Spark, ClickHouse, ...), one GROUP BY run there.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from deniable.errors import InputError, MissingExtraError, UnknownAttributeError
from deniable.frames.reading import parquet_file
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Where = Mapping[str, Any]  # only rows with these values in these columns
    Keys = tuple[NDArray[np.int64], NDArray[np.int64]]  # combinations that occur (a row each), and how often each does

_MOST_CELLS = 1 << 22  # up to here an array of all combinations is counted into; above it, only those that occur


class Engine(Protocol):
    """Who counts."""

    name: str

    @property
    def columns(self) -> list[str]:
        """The table's columns."""
        ...

    def rows(self, where: Where) -> int:
        """How many rows there are."""
        ...

    def count(self, sizes: Mapping[str, int], where: Where) -> Keys:
        """How often each combination of codes in the named columns occurs. Codes should be 0 .. size - 1."""
        ...

    def values(self, column: str) -> list[Any]:
        """The different values of a column, in order, missing ones left out."""
        ...

    def table(self, where: Where) -> pa.Table:
        """The rows themselves, for what cannot be done with counts."""
        ...


class ParquetEngine:
    """Local Parquet files, read row group by row group in constant memory."""

    name = "bincount"

    def __init__(self, paths: Sequence[Path]) -> None:
        """Take files of one schema."""
        self._paths = tuple(paths)
        self._files = [parquet_file(path) for path in paths]
        if not self._files:
            raise InputError("there are no Parquet files to count")

    def __reduce__(self) -> tuple[type[ParquetEngine], tuple[tuple[Path, ...]]]:
        return ParquetEngine, (self._paths,)  # an open file is neither pickled nor copied

    @property
    def columns(self) -> list[str]:
        """The first file's."""
        return list(self._files[0].schema_arrow.names)

    def _batches(self, columns: Sequence[str], where: Where) -> Iterator[pa.RecordBatch]:
        import pyarrow.compute as pc

        wanted = list(dict.fromkeys([*columns, *where]))
        for file in self._files:
            for batch in file.iter_batches(batch_size=1 << 18, columns=wanted):
                kept = batch
                for name, value in where.items():
                    kept = kept.filter(pc.equal(kept.column(name), pa.scalar(value, kept.column(name).type)))
                yield kept

    def rows(self, where: Where) -> int:
        """From the files' own count, where all rows are asked for."""
        if not where:
            return sum(file.metadata.num_rows for file in self._files)
        return sum(batch.num_rows for batch in self._batches([], where))

    def count(self, sizes: Mapping[str, int], where: Where) -> Keys:
        """Pack each row's codes into one number and count these."""
        cells, shape = prod(sizes.values()), tuple(sizes.values())
        if cells > _MOST_CELLS:
            return self._count_sparse(sizes, where)
        total = np.zeros(cells, dtype=np.int64)
        # Wide enough for the key: a product of small integers overflows their own type.
        dtype = np.min_scalar_type(max(cells - 1, 1))
        for batch in self._batches(list(sizes), where):
            if not batch.num_rows:
                continue
            key = None
            for name, size in sizes.items():
                codes = _codes(batch.column(name), name, size)
                if key is None:
                    key = codes.astype(dtype)
                else:
                    key *= dtype.type(size)
                    key += codes.astype(dtype, copy=False)
            assert key is not None
            total += np.bincount(key, minlength=cells)
        found = np.flatnonzero(total)
        return np.stack(np.unravel_index(found, shape), axis=1).astype(np.int64), total[found]

    def _count_sparse(self, sizes: Mapping[str, int], where: Where) -> Keys:
        parts = []
        for batch in self._batches(list(sizes), where):
            columns = [_codes(batch.column(name), name, size) for name, size in sizes.items()]
            parts.append(np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_counts=True))
        keys, place = np.unique(np.concatenate([k for k, _ in parts]), axis=0, return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place.ravel(), np.concatenate([c for _, c in parts]))
        return keys, counts

    def values(self, column: str) -> list[Any]:
        """One pass over the column."""
        _check_column(column, self.columns)
        found: set[Any] = set()
        for batch in self._batches([column], {}):
            found.update(batch.column(0).unique().to_pylist())
        return sorted(found - {None})

    def table(self, where: Where) -> pa.Table:
        """All of it, into memory."""
        schema = self._files[0].schema_arrow
        return pa.Table.from_batches(list(self._batches(self.columns, where)), schema).replace_schema_metadata(None)


class IbisEngine:
    """A table of any Ibis backend; counting is one GROUP BY that the backend runs."""

    def __init__(self, table: Any) -> None:
        """Take an Ibis table expression."""
        self._table = table
        self.name = str(table.get_backend().name)

    @classmethod
    def duckdb(cls, paths: Sequence[Path]) -> IbisEngine:
        """Local Parquet files, counted by an embedded DuckDB."""
        return cls(_ibis().duckdb.connect().read_parquet([str(path) for path in paths]))

    @property
    def columns(self) -> list[str]:
        """The table's."""
        return list(self._table.columns)

    def _rows(self, where: Where) -> Any:
        chosen = self._table
        for name, value in where.items():
            chosen = chosen.filter(chosen[name] == value)
        return chosen

    def rows(self, where: Where) -> int:
        """COUNT(*)."""
        return int(self._rows(where).count().to_pyarrow().as_py())

    def count(self, sizes: Mapping[str, int], where: Where) -> Keys:
        """SELECT codes, COUNT(*) ... GROUP BY codes."""
        missing = [name for name in sizes if name not in self.columns]
        if missing:
            raise InputError(f"the table has no column {listed(missing)}; it has {listed(self.columns)}")
        rows = self._rows(where)
        counted = rows.group_by(list(sizes)).aggregate(respondents_=rows.count()).to_pyarrow()
        columns = [_codes(counted.column(name), name, size) for name, size in sizes.items()]
        counts = counted.column("respondents_").to_numpy().astype(np.int64)
        return np.stack(columns, axis=1).astype(np.int64), counts

    def values(self, column: str) -> list[Any]:
        """SELECT DISTINCT."""
        _check_column(column, self.columns)
        found = self._table.select(column).distinct().to_pyarrow().column(0).to_pylist()
        return sorted(value for value in found if value is not None)

    def table(self, where: Where) -> pa.Table:
        """All of it, fetched."""
        return self._rows(where).to_pyarrow().replace_schema_metadata(None)


def _codes(column: Any, name: str, size: int) -> NDArray[np.integer]:
    """A column's codes, refused where they cannot be any."""
    if column.null_count or not pa.types.is_integer(column.type):
        told = f"{column.null_count} missing values" if column.null_count else f"{column.type} values"
        raise InputError(f"column {name!r} must hold whole-number codes without gaps; it has {told}", column=name)
    codes: NDArray[np.integer] = column.to_numpy()
    if len(codes) and (codes.max() >= size or codes.min() < 0):
        stranger = int(codes[(codes >= size) | (codes < 0)][0])
        raise InputError(
            f"column {name!r} has the code {stranger}, which no answer of this design can have (they are 0 .. "
            f"{size - 1}). Is it the design these reports were made by?",
            column=name,
        )
    return codes


def _check_column(column: str, columns: Sequence[str]) -> None:
    if column not in columns:
        raise UnknownAttributeError(
            f"there is no public column {column!r} among the reports; they have {listed(columns)}", attribute=column
        )


def _ibis() -> Any:
    try:
        import ibis
    except ImportError:
        raise MissingExtraError(
            "counting in DuckDB, PostgreSQL or Spark needs Ibis, which is not installed: pip install "
            "'deniable[engines]'",
            extra="engines",
        ) from None
    return ibis

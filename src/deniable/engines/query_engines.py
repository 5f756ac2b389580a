"""Query engines (DuckDB, PostgreSQL, Spark, ...): where reports lie and who counts them there.

All that estimation needs of a million reports is how often each combination of codes came, and of reports that are
sets, how many hold each category. An engine answers these two questions, by columns, and reports never travel:

- `ParquetEngine`: Parquet files, streamed through NumPy;
- `IbisEngine`: any table of an Ibis backend (DuckDB, PostgreSQL, Spark, ClickHouse, ...), a GROUP BY run there.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from deniable.engines.set_counts import asked_alike, by_words, check_extremes
from deniable.errors import InputError, MissingExtraError, UnknownAttributeError
from deniable.files.parquet import ParquetFile
from deniable.files.reserved_columns import BALLOT, answer_columns
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.designs.design import Design
    from deniable.designs.marginal_channel import Told
    from deniable.engines.set_counts import Piece, Progress, Questions
    from deniable.files.object_storage import Object

    Place = Path | Object
    Where = Mapping[str, Any]  # only rows with these values in these columns
    Keys = tuple[NDArray[np.int64], NDArray[np.int64]]  # combinations that occur (a row each), and how often each does

_PATTERN = re.compile(r"[*?[]")
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

    def support(self, asked: Mapping[int, Told], design: Design, where: Where) -> dict[int, NDArray[np.int64]]:
        """For each ballot, the cells that its channel's `tally` would count: how many sets hold each truth."""
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

    def __init__(self, paths: Sequence[Place], progress: Progress | None = None) -> None:
        """Take files of one schema; `progress` is called with the rows seen and those there are."""
        self._paths, self.progress = tuple(paths), progress
        self._files = [ParquetFile(path) for path in paths]
        if not self._files:
            raise InputError("there are no Parquet files to count")

    def __reduce__(self) -> tuple[type[ParquetEngine], tuple[tuple[Place, ...]]]:
        return ParquetEngine, (self._paths,)  # an open file is neither pickled nor copied

    @property
    def columns(self) -> list[str]:
        """The first file's."""
        return list(self._files[0].schema.names)

    def _batches(self, columns: Sequence[str], where: Where) -> Iterator[pa.RecordBatch]:
        import pyarrow.compute as pc

        wanted = list(dict.fromkeys([*columns, *where]))
        for file in self._files:
            for batch in file.batches(wanted):
                kept = batch
                for name, value in where.items():
                    kept = kept.filter(pc.equal(kept.column(name), pa.scalar(value, kept.column(name).type)))
                yield kept

    def rows(self, where: Where) -> int:
        """From the files' own count, where all rows are asked for."""
        if not where:
            return sum(file.rows for file in self._files)
        return sum(batch.num_rows for batch in self._batches([], where))

    def count(self, sizes: Mapping[str, int], where: Where) -> Keys:
        """Pack each row's codes into one number and count these."""
        cells, shape = prod(sizes.values()), tuple(sizes.values())
        if cells > _MOST_CELLS:
            return self._count_sparse(sizes, where)
        total = np.zeros(cells, dtype=np.int64)
        # Wide enough for the key: a product of small integers overflows their own type.
        dtype = np.min_scalar_type(max(cells - 1, 1))
        seen = 0
        for batch in self._batches(list(sizes), where):
            seen += batch.num_rows
            self._seen(seen)
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

    def support(self, asked: Mapping[int, Told], design: Design, where: Where) -> dict[int, NDArray[np.int64]]:
        """One pass: every batch is tallied and forgotten."""
        return tallied(self._batches(support_columns(asked, design), where), asked, design, self._seen)

    def _seen(self, rows: int) -> None:
        if self.progress is not None:
            self.progress(rows, self.rows({}))

    def values(self, column: str) -> list[Any]:
        """One pass over the column."""
        _check_column(column, self.columns)
        found: set[Any] = set()
        for batch in self._batches([column], {}):
            found.update(batch.column(0).unique().to_pylist())
        return _in_order(found)

    def table(self, where: Where) -> pa.Table:
        """All of it, into memory."""
        return pa.Table.from_batches(list(self._batches(self.columns, where)), self._files[0].schema)


class IbisEngine:
    """A table of any Ibis backend; counting is a GROUP BY that the backend runs."""

    def __init__(self, table: Any, progress: Progress | None = None, *, name: str | None = None) -> None:
        """Take an Ibis table; `progress` is called with the GROUP BYs done for some sets, and with all of them."""
        self._table, self.progress = table, progress
        self.name = name or str(table.get_backend().name)

    @classmethod
    def duckdb(cls, paths: Sequence[Place]) -> IbisEngine:
        """Local Parquet files, counted by an embedded DuckDB."""
        far = [path for path in paths if not isinstance(path, Path)]
        if far:
            raise InputError(f"DuckDB counts local files; leave the engine out for {far[0]}, which is read in batches")
        plain = [_no_pattern(path) for path in paths if isinstance(path, Path)]
        for path in paths:
            ParquetFile(path).look_through()
        # The names of folders are no columns: by itself DuckDB reads a public column k off a folder k=5.
        return cls(_ibis().duckdb.connect().read_parquet(plain, hive_partitioning=False))

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
        return int(self.run(self._rows(where).count().name("rows").as_table()).column(0)[0].as_py())

    def run(self, query: Any) -> pa.Table:
        """What a query gives."""
        return query.to_pyarrow()

    def count(self, sizes: Mapping[str, int], where: Where) -> Keys:
        """SELECT codes, COUNT(*) ... GROUP BY codes."""
        missing = [name for name in sizes if name not in self.columns]
        if missing:
            raise InputError(f"the table has no column {listed(missing)}; it has {listed(self.columns)}")
        rows = self._rows(where)
        counted = self.run(rows.group_by(list(sizes)).aggregate(respondents_=rows.count()))
        columns = [_codes(counted.column(name), name, size) for name, size in sizes.items()]
        counts = counted.column("respondents_").to_numpy().astype(np.int64)
        return np.stack(columns, axis=1).astype(np.int64), counts

    def support(self, asked: Mapping[int, Told], design: Design, where: Where) -> dict[int, NDArray[np.int64]]:
        """Words of a few categories, grouped and counted by the backend."""
        single, rows = len(design.ballots) == 1, self._rows(where)
        found: dict[int, NDArray[np.int64]] = {}
        for told, questions, ballots in asked_alike(asked, answer_columns(design)):
            chosen = rows if single else rows.filter(rows[BALLOT].isin(ballots))
            self._check(chosen, questions)
            if self.name == "duckdb" and any(column.channel.is_hashed for _, column in questions):
                # In this very process batches cost nothing to hand over, and NumPy follows hashes far faster than SQL.
                names = support_columns(dict.fromkeys(ballots, told), design)
                found |= tallied(self._stream(chosen.select(names)), dict.fromkeys(ballots, told), design, _nothing)
                continue
            words = _Words(self, chosen)
            found |= by_words(words, told, questions, ballots, single=single, progress=self.progress or _nothing)
        return found

    def _stream(self, query: Any) -> Iterator[pa.RecordBatch]:
        """What a query gives, batch by batch, from an embedded DuckDB."""
        backend = query.get_backend()
        return iter(pa.RecordBatchReader.from_stream(backend.con.sql(str(backend.compile(query)))))

    def _check(self, rows: Any, questions: Questions) -> None:
        """Refuse codes that cannot be, by the least and the largest of each column."""
        asked: dict[str, Any] = {}
        for place, (name, _) in enumerate(questions):
            if not rows[name].type().is_integer():
                raise InputError(
                    f"column {name!r} must hold whole-number codes without gaps; it has {rows[name].type()} values",
                    column=name,
                )
            told = {"low": rows[name].min(), "high": rows[name].max(), "missing": rows[name].isnull().sum()}
            asked |= {f"{what}_{place}": value for what, value in told.items()}
        seen = self.run(rows.aggregate(**asked)).to_pylist()[0]
        for place, (name, column) in enumerate(questions):
            size = prod(column.collapsed[0]) if column.collapsed else column.channel.reports
            low, high, missing = (seen[f"{what}_{place}"] for what in ("low", "high", "missing"))
            check_extremes(name, low, high, missing or 0, size)

    def values(self, column: str) -> list[Any]:
        """SELECT DISTINCT."""
        _check_column(column, self.columns)
        found = self.run(self._table.select(column).distinct()).column(0).to_pylist()
        return _in_order(found)

    def table(self, where: Where) -> pa.Table:
        """All of it, fetched."""
        return self.run(self._rows(where)).replace_schema_metadata(None)


class _Words:
    """Some rows of a table, whose sets are counted as words."""

    def __init__(self, engine: IbisEngine, rows: Any) -> None:
        self._engine, self._rows = engine, rows

    def count_words(self, pieces: Sequence[Piece], ballots: Sequence[int] | None) -> Keys:
        """SELECT words, COUNT(*) ... GROUP BY words. Reports are taken apart in a query of their own, once."""
        rows = self._rows
        codes = [rows[piece.column].cast("int64") for piece in pieces]
        opened = [(c,) if p.channel is None else p.channel.opened(c) for p, c in zip(pieces, codes, strict=True)]
        named = {f"n{i}_{j}": number for i, parts in enumerate(opened) for j, number in enumerate(parts)}
        inner = rows.select(**({} if ballots is None else {BALLOT: rows[BALLOT]}), **named)
        words = {}
        for i, (piece, parts) in enumerate(zip(pieces, opened, strict=True)):
            numbers = [inner[f"n{i}_{j}"] for j in range(len(parts))]
            made = (
                numbers[0] if piece.channel is None else piece.channel.word(numbers, piece.first, piece.count, _choose)
            )
            words[f"w{i}"] = made
        outer = inner.select(**({} if ballots is None else {BALLOT: inner[BALLOT]}), **words)
        keys = list(outer.columns)
        counted = self._engine.run(outer.group_by(keys).aggregate(respondents_=outer.count()))
        columns = [counted.column(name).to_numpy().astype(np.int64) for name in keys]
        return np.stack(columns, axis=1), counted.column("respondents_").to_numpy().astype(np.int64)


def support_columns(asked: Mapping[int, Told], design: Design) -> list[str]:
    """The columns that some ballots' answers stand in, and the one that says the ballot."""
    names = answer_columns(design)
    places = dict.fromkeys(names[column.place] for told in asked.values() for column in told.columns)
    return [*([BALLOT] if len(design.ballots) > 1 else []), *places]


def tallied(
    batches: Iterator[pa.RecordBatch], asked: Mapping[int, Told], design: Design, seen: Callable[[int], object]
) -> dict[int, NDArray[np.int64]]:
    """Tally what ballots tell, batch by batch: what is held is one batch and the counts."""
    found = {ballot: np.zeros(told.channel.output_shape, dtype=np.int64) for ballot, told in asked.items()}
    names, rows = answer_columns(design), 0
    for batch in batches:
        rows += batch.num_rows
        ballots = None if len(design.ballots) == 1 else _codes(batch.column(BALLOT), BALLOT, len(design.ballots))
        for ballot, told in asked.items():
            here = slice(None) if ballots is None else np.flatnonzero(ballots == ballot)
            columns = []
            for column in told.columns:
                size = prod(column.collapsed[0]) if column.collapsed else column.channel.reports
                held = batch.column(names[column.place])
                codes = _codes(held if ballots is None else held.take(pa.array(here)), names[column.place], size)
                columns.append(column.narrow(codes))
            found[ballot] += told.channel.tally(columns[0] if len(columns) == 1 else np.stack(columns, axis=1))
        seen(rows)
    return found


def _no_pattern(path: Path) -> str:
    """A path as DuckDB takes it for itself: it reads patterns, and wave[1].parquet is one that means wave1.parquet.

    >>> _no_pattern(Path("/data/wave[1]?.parquet"))
    '/data/wave[[]1][?].parquet'
    """
    named = str(path.absolute())
    if "\\" in named and _PATTERN.search(named):
        raise InputError(
            f"DuckDB takes {named} for a pattern, and has no way to write it as a name: leave the engine out, or "
            f"rename the file",
            file=named,
        )
    return _PATTERN.sub(lambda found: f"[{found[0]}]", named)


def _choose(condition: Any, number: int) -> Any:
    return condition.ifelse(number, 0)


def _nothing(*_progress: int) -> None:
    """Tell nobody."""


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


def _in_order(values: Iterable[Any]) -> list[Any]:
    """What a column holds, without what is missing: NaN, which is not itself, is missing, too."""
    return sorted(value for value in values if value is not None and value == value)  # noqa: PLR0124


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

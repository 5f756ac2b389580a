"""Disguising one table into one file of reports, which may be interrupted and taken up again (`one_disguise`).

Where every row is disguised by itself, the table is read piece by piece, and a piece is a part of the run; memory use
does not grow with the table. Respondents who are not independent of each other are one part: fakes of a later block
follow from the blocks before it, and partners are drawn among everybody. Parts are uncompressed Arrow streams; at the
end they become one Parquet file.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from deniable.core.reserved_names import RESERVED
from deniable.designs.reports.small_cells import SMALL_CELL
from deniable.engines.arrow_batches import HELD, Disguise, check_columns
from deniable.engines.disguise_record import Terms
from deniable.engines.one_disguise import once
from deniable.engines.sealed_parts import unseal
from deniable.engines.source_marks import Column, of_columns, of_numbers
from deniable.engines.table_chunks import CSVPieces, open_table
from deniable.errors import DeniableError, InputError, tried
from deniable.files.column_types import rebuilt
from deniable.files.header import Header
from deniable.files.object_storage import place_of
from deniable.files.parquet import ROWS, ParquetFile
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from deniable.core.domain import Variable
    from deniable.core.labels import Labels
    from deniable.designs.design import Design
    from deniable.engines.one_disguise import Job
    from deniable.engines.table_chunks import Pieces
    from deniable.files.object_storage import Object

    Progress = Callable[[int, int | None], object]


class Together:
    """What turns a whole table into reports, as `Disguise` turns batches."""

    def __init__(self, design: Design, schema: pa.Schema, keep: Sequence[str] = ()) -> None:
        """Check that the schema has what the design asks, before any row is touched."""
        check_columns(schema, design, keep)
        self.design, self.keep = design, tuple(dict.fromkeys(keep))

    def __call__(self, source: Pieces, notes: Sequence[str], progress: Callable[[int, int | None], object]) -> pa.Table:
        """Disguise all rows; the table holds its header. Never call it twice and publish both."""
        wanted = list(dict.fromkeys((*self.design.domain, *self.keep)))
        batches = [batch for piece in source.pieces(wanted, 0) for batch in piece]
        frame = pa.Table.from_batches(batches).unify_dictionaries() if batches else source.schema.empty_table()
        progress(0, frame.num_rows)
        reports = self.design.randomize(frame, list(self.keep)).with_notes(*notes)
        made = rebuilt(nw.from_native(reports.to_frame(), eager_only=True).to_arrow())
        table: pa.Table = made.replace_schema_metadata(reports.header.metadata())
        return table


GROUP = 1 << 20  # rows a row group of the result
MARKED = 1 << 20  # rows whose answers are the table's mark: a longer one is known though it grew


def randomize_table(
    table: str | Path | Object,
    target: str | Path | Object,
    design: Design,
    keep: Sequence[str] = (),
    *,
    notes: Sequence[str] = (),
    words: Labels | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> int:
    """Disguise a Parquet or CSV table into a Parquet file of reports, in constant memory where the design lets us.

    Interrupted, and called again with the same arguments, it goes on behind the last finished piece. A table that was
    disguised before on this account is refused, whatever it is called now.

    Args:
        table: a row a respondent, with the design's attributes as columns; a file, or s3://bucket/people.parquet.
        target: the file to write; it must not exist. For an object (s3://bucket/reports.parquet) unfinished work lies
            in the current folder, from which alone it can be taken up again.
        design: what to ask and how to disguise it.
        keep: public columns that ride along in clear.
        notes: sentences for the privacy statement, beside the one that says who disguised the answers.
        words: what the reports are for, and a survey's words, where there are any; they stand in the file's header.
        again: disguise a table that was disguised before; the statement then says what all its disguises tell together.
        progress: called with the rows done and the rows in all (None while unknown).

    Returns:
        How many reports the file holds.
    """
    goal, given = place_of(target), place_of(table)
    if goal.suffix.lower() != ".parquet":
        raise InputError(f"reports of a table are written to a .parquet file, not to {goal.name!r}", file=str(goal))
    source = open_typed(given, design)
    run = Disguise(design, source.schema, keep) if design.one_by_one else Together(design, source.schema, keep)
    terms = Terms(design.id, run.keep, tuple(notes))
    told = progress or (lambda _rows, _all: None)
    with once(
        given, lambda key: _answers(str(given), source, design, key), goal, terms, design.epsilon, again=again
    ) as job:
        if not job.is_made:
            said = (HELD, *notes, *job.notes)
            if isinstance(run, Disguise):
                schema = _in_pieces(job, source, run, said, told)
            else:
                schema = _together(job, source, run, said, told)
            job.put_together(lambda path: _assemble(path, job.finished(), _with_words(schema, words)))
    return ParquetFile(goal).rows


def open_typed(table: Path | Object, design: Design) -> Pieces:
    """Open a table, the columns of a CSV file as the design's categories are."""
    source = open_table(table)
    if isinstance(source, CSVPieces):
        known = {field.name: field.type for field in source.schema}
        source.read_as({v.name: _read_as(v, known[v.name]) for v in design.domain.values() if v.name in known})
    return source


def recognisable(path: str | Path | Object, keep: Sequence[str]) -> str | None:
    """Say so, if public columns together single out a handful of respondents."""
    if not keep:
        return None
    keep = list(dict.fromkeys(keep))
    size = f"{RESERVED}size"
    sizes = pa.table({**{name: [] for name in keep}, size: pa.array([], pa.int64())})
    for batch in ParquetFile(place_of(path)).batches(keep):
        counted = pa.Table.from_batches([batch]).group_by(keep).aggregate([([], "count_all")])
        counted = counted.rename_columns([*keep, size])
        both = pa.concat_tables([sizes.cast(counted.schema), counted])
        sizes = both.group_by(keep).aggregate([(size, "sum")]).rename_columns([*keep, size])
    small = sum(size < SMALL_CELL for size in sizes[size].to_pylist())
    if not small:
        return None
    return (
        f"{small} combinations of the public columns {listed(keep)} are shared by fewer than {SMALL_CELL} respondents, "
        f"who could be recognised by them. Coarsen these columns, or keep fewer"
    )


def _read_as(variable: Variable, looks: pa.DataType) -> pa.DataType:
    """How a column of a CSV file is read: like the categories; numbers, where they go into bins."""
    is_number = pa.types.is_integer(looks) or pa.types.is_floating(looks)
    return pa.float64() if variable.edges and is_number else pa.array(variable.categories).type


def _answers(name: str, source: Pieces, design: Design, key: bytes) -> tuple[str, ...]:
    """The marks of what is to be disguised; a value that the domain does not know is refused here, before all."""
    variables = list(design.domain.values())
    codes = [Column(len(variable), key) for variable in variables]
    numbers: list[list[NDArray[np.float64]]] = [[] for _ in variables]
    before = 0
    for batch in chain.from_iterable(source.pieces(list(design.domain), 0)):
        found = [tried(partial(v.encode, batch.column(v.name), before), DeniableError) for v in variables]
        for one in found:
            if isinstance(one, DeniableError):
                raise type(one)(f"{name}: {one.message}", **one.details)
        for v, one, column, kept in zip(variables, found, codes, numbers, strict=True):
            if before < MARKED and not isinstance(one, Exception):
                column.add(one[: MARKED - before])
                if v.edges and (values := _as_numbers(batch.column(v.name)[: MARKED - before])) is not None:
                    kept.append(values)
        before += batch.num_rows
    unbinned = [of_numbers(kept, key) if kept else column for column, kept in zip(codes, numbers, strict=True)]
    return of_columns(codes, key), of_columns(unbinned, key)


def _as_numbers(column: pa.Array) -> NDArray[np.float64] | None:
    """What goes into bins, before it does; nothing where the bins themselves stand in the table."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    is_number = (
        pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
    )
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) if is_number else None


def _in_pieces(job: Job, source: Pieces, run: Disguise, said: tuple[str, ...], progress: Progress) -> pa.Schema:
    """Disguise every piece that has no part yet."""
    schema = run.schema.with_metadata(Header(run.design.canonical(), said).metadata())
    done, rows = job.finished(), 0
    for part in done:
        with unseal(part) as file:
            rows += sum(batch.num_rows for batch in pa.ipc.open_stream(file))
    progress(rows, source.rows)
    for number, piece in enumerate(source.pieces(run.needed, len(done)), start=len(done)):
        with job.part(number) as file, pa.ipc.new_stream(file, schema) as out:
            for batch in piece:
                out.write_batch(_plain(run(batch), schema))
                rows += batch.num_rows
                progress(rows, source.rows)
    return schema


def _together(job: Job, source: Pieces, run: Together, said: tuple[str, ...], progress: Progress) -> pa.Schema:
    """Disguise everybody in one go, unless that is done."""
    if not job.finished():
        table = run(source, said, progress)
        with job.part(0) as file, pa.ipc.new_stream(file, table.schema) as out:
            out.write_table(table, max_chunksize=ROWS)
    with unseal(job.finished()[0]) as file:
        schema: pa.Schema = pa.ipc.open_stream(file).schema
    return schema


def _with_words(schema: pa.Schema, words: Labels | None) -> pa.Schema:
    """A schema whose header says what the reports are for: what is drawn does not depend on it."""
    if words is None:
        return schema
    header = Header.from_metadata(schema.metadata, "a finished part")
    return schema.with_metadata(replace(header, words=words).metadata())


def _plain(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Columns that ride along may have come as dictionaries; write them as what they are."""
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.record_batch(columns, schema=schema)


def _assemble(path: Path, parts: list[Path], schema: pa.Schema) -> None:
    """Make one file of all parts. Codes are packed into a few bits each; compressing that again gains nothing."""
    codes = [field.name for field in schema if pa.types.is_integer(field.type)]
    others = {field.name: "none" if field.name in codes else "snappy" for field in schema}
    with pq.ParquetWriter(path, schema, compression=others) as out:
        for part in parts:
            with unseal(part) as file:
                table = pa.Table.from_batches(list(pa.ipc.open_stream(file)), schema)
            out.write_table(table, row_group_size=GROUP)

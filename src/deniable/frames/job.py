"""A job: disguising one table into one file, which may be interrupted and taken up again.

Two disguises of the same answer tell more than one, so no row may be disguised a second time once its first disguise
could have been seen. Beside the target lies a folder with the job's description and one part for every finished piece
of the table. A part is written under another name, brought safely to disk and then renamed, so that it is there
completely or not at all; a run that is taken up again keeps all finished parts as they are. A run that failed before
its first part has shown nothing: a corrected table, or other terms, may take its folder over. At the end the parts
become one Parquet file, which again is renamed into its place when it is whole, and the folder goes.

Two programs at work on one job would disguise rows twice: the folder is locked while one of them is at it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from deniable.designs.files import write_whole
from deniable.designs.header import Header
from deniable.designs.objects import Object, place_of
from deniable.designs.small_cells import SMALL_CELL
from deniable.errors import InputError, PrivacyError
from deniable.frames.arrow import HELD, Disguise
from deniable.frames.pieces import CSVPieces, open_table
from deniable.frames.reading import parquet_file, read_header
from deniable.reserved import RESERVED
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from deniable.designs.base import Design
    from deniable.domain import Variable
    from deniable.frames.pieces import Pieces

FOLDER = ".unfinished"  # reports.parquet is made in reports.parquet.unfinished/
GROUP = 1 << 20  # rows a row group of the result
_JOB, _PART = "job.json", "part-{:06d}.arrow"


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a job is: taken up again only by a run that says the same."""

    table: str
    fingerprint: str
    design: str
    keep: tuple[str, ...]
    notes: tuple[str, ...]


def randomize_table(
    table: str | Path | Object,
    target: str | Path | Object,
    design: Design,
    keep: Sequence[str] = (),
    *,
    notes: Sequence[str] = (),
    progress: Callable[[int, int | None], object] | None = None,
) -> int:
    """Disguise a Parquet or CSV table into a Parquet file of reports, in constant memory.

    Interrupted, and called again with the same arguments, it goes on behind the last finished piece.

    Args:
        table: a row a respondent, with the design's attributes as columns; a file, or s3://bucket/people.parquet.
        target: the file to write; it must not exist. For an object (s3://bucket/reports.parquet) unfinished work lies
            in the current folder, from which alone it can be taken up again.
        design: what to ask and how to disguise it.
        keep: public columns that ride along in clear.
        notes: sentences for the privacy statement, beside the one that says who disguised the answers.
        progress: called with the rows done and the rows in all (None while unknown).

    Returns:
        How many reports the file holds.
    """
    goal, given = place_of(target), place_of(table)
    if goal.suffix.lower() != ".parquet":
        raise InputError(f"reports of a table are written to a .parquet file, not to {goal.name!r}", file=str(goal))
    source = open_typed(given, design)
    run = Disguise(design, source.schema, keep)
    read = str(given.resolve() if isinstance(given, Path) else given)
    job = Description(read, source.fingerprint(), design.id, run.keep, tuple(notes))
    folder = _folder(goal)
    _refuse_second(folder, goal)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        _refuse_second(folder, goal)  # another program may have finished meanwhile
        _take_up(folder, job, anew=_shown_nothing(folder) and not goal.exists())
        header = Header(design.canonical(), (HELD, *notes))
        if goal.exists():
            _refuse_other(folder, goal, header)
        else:
            # What goes into object storage is made here first: an object cannot be renamed into its place.
            whole = goal if isinstance(goal, Path) else folder / goal.name
            if not whole.exists():
                done = _make_parts(folder, source, run, progress)
                read_last = msgspec.structs.replace(job, fingerprint=source.fingerprint())
                _take_up(folder, read_last)  # refuses a table that changed meanwhile
                _assemble(folder, whole, done, run.schema.with_metadata(header.metadata()))
            if isinstance(goal, Object):
                refuse_second(goal)  # no lock reaches across machines, and this one may have been at it for hours
                goal.put(whole)
        rows: int = parquet_file(goal).metadata.num_rows
        _remove(folder)
    return rows


def open_typed(table: Path | Object, design: Design) -> Pieces:
    """Open a table, the columns of a CSV file as the design's categories are."""
    source = open_table(table)
    if isinstance(source, CSVPieces):
        known = {field.name: field.type for field in source.schema}
        source.read_as({v.name: _read_as(v, known[v.name]) for v in design.domain.values() if v.name in known})
    return source


def _folder(goal: Path | Object) -> Path:
    """Where unfinished work lies: beside a file; for an object in the current folder, under a name of its address."""
    if isinstance(goal, Path):
        return goal.with_name(goal.name + FOLDER)
    return Path(f"{goal.name}.{hashlib.sha256(str(goal).encode()).hexdigest()[:8]}{FOLDER}")


def recognisable(path: str | Path | Object, keep: Sequence[str]) -> str | None:
    """Say so, if public columns together single out a handful of respondents."""
    if not keep:
        return None
    keep = list(dict.fromkeys(keep))
    size = f"{RESERVED}size"
    sizes = pa.table({**{name: [] for name in keep}, size: pa.array([], pa.int64())})
    for batch in parquet_file(place_of(path)).iter_batches(batch_size=GROUP, columns=keep):
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


def _refuse_second(folder: Path, goal: Path | Object) -> None:
    """Refuse a target that is whole, with nothing left to say by what run: the description goes last."""
    if not (folder / _JOB).exists():
        refuse_second(goal)


def refuse_second(goal: Path | Object) -> None:
    """Refuse a target that is there."""
    if goal.exists():
        raise PrivacyError(
            f"{goal} is already there. Disguising the same people a second time would spend their epsilon a second "
            f"time: what the two disguises tell adds up. If these are other people, choose another name",
            file=str(goal),
        )


def _refuse_other(folder: Path, goal: Path | Object, header: Header) -> None:
    """Refuse a target that appeared while this run was unfinished, and that it has not made."""
    made = folder / goal.name  # what was sent, or was about to be
    sent = isinstance(goal, Path) or not made.exists() or made.stat().st_size == goal.state()[0]
    begun = isinstance(goal, Object) and not made.exists() and any(folder.glob(_PART.replace("{:06d}", "*")))
    if begun or not sent or read_header(goal) != header:
        raise PrivacyError(
            f"{goal} is there, and the unfinished run in {folder} has not made it. Move it away and run this again, "
            f"which keeps the finished rows; or, if nobody has seen them, delete that folder",
            file=str(goal),
        )


def _shown_nothing(folder: Path) -> bool:
    """Whether no row's disguise is here, not even in a part that a killed program left half written."""
    return all(_JOB in left.name for left in folder.iterdir())


def _take_up(folder: Path, job: Description, *, anew: bool = False) -> None:
    """Note down what the job is, or make sure that the one begun here is the same; `anew`, it may be another."""
    place = folder / _JOB
    if not place.exists():
        _describe(place, job)
        return
    try:
        begun = msgspec.json.decode(place.read_bytes(), type=Description)
    except msgspec.DecodeError as error:
        raise InputError(f"{place} cannot be read: {error}", file=str(place)) from None
    words = {
        "table": "another table",
        "fingerprint": "the table as it was before it changed",
        "design": "another domain, design or epsilon",
        "keep": "other kept columns",
        "notes": "another statement",
    }
    other = [told for name, told in words.items() if getattr(begun, name) != getattr(job, name)]
    if other and anew:
        _describe(place, job)
    elif other:
        raise PrivacyError(
            f"{folder} holds an unfinished run with {' and '.join(other)}. Its finished rows must not be disguised "
            f"again under other terms. Run it again as it was begun; or, if nobody has seen them, delete that folder",
            folder=str(folder),
        )


def _describe(place: Path, job: Description) -> None:
    write_whole(place, lambda path: path.write_bytes(msgspec.json.encode(job)))


def _make_parts(
    folder: Path, source: Any, run: Disguise, progress: Callable[[int, int | None], object] | None
) -> list[Path]:
    """Disguise every piece that has no part yet."""
    parts: list[Path] = []
    rows = 0
    while (part := folder / _PART.format(len(parts))).exists():
        parts.append(part)
        with pa.memory_map(str(part)) as file:
            rows += sum(batch.num_rows for batch in _batches(file))
    if progress is not None:
        progress(rows, source.rows)
    for piece in source.pieces(run.needed, len(parts)):
        part = folder / _PART.format(len(parts))

        def write(path: Path, piece: Iterator[pa.RecordBatch] = piece) -> None:
            nonlocal rows
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, run.schema) as out:
                for batch in piece:
                    out.write_batch(_plain(run(batch), run.schema))
                    rows += batch.num_rows
                    if progress is not None:
                        progress(rows, source.rows)

        write_whole(part, write)
        parts.append(part)
    return parts


def _plain(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Columns that ride along may have come as dictionaries; write them as what they are."""
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.record_batch(columns, schema=schema)


def _assemble(folder: Path, goal: Path, parts: list[Path], schema: pa.Schema) -> None:
    """Make one file of all parts. Codes are packed into a few bits each; compressing that again gains nothing."""

    def write(path: Path) -> None:
        codes = [field.name for field in schema if pa.types.is_integer(field.type)]
        others = {field.name: "none" if field.name in codes else "snappy" for field in schema}
        with pq.ParquetWriter(path, schema, compression=others) as out:
            for part in parts:
                with pa.memory_map(str(part)) as file:
                    table = pa.Table.from_batches(list(_batches(file)), schema)
                    out.write_table(table, row_group_size=GROUP)

    write_whole(goal, write, folder)


def _batches(file: Any) -> Iterator[pa.RecordBatch]:
    return iter(pa.ipc.open_stream(file))


def _remove(folder: Path) -> None:
    """The description goes last: without it, what is left could be taken for a new job. Parts go first: see above."""
    for left in sorted(folder.iterdir(), key=lambda path: path.suffix != ".arrow"):
        if left.name != _JOB:
            left.unlink()
    shutil.rmtree(folder)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder; the operating system lets go of it when the program ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PrivacyError(
                f"another program is at work in {folder}; two at once would disguise rows twice", folder=str(folder)
            ) from None
        yield
    finally:
        os.close(handle)

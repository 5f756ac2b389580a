"""Reading files of reports: the header first, then the design it holds, then the reports themselves.

Refused with the reason: a file without its design, with an altered one, or one newer than this program; codes that the
design cannot have made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.csv_injection import original_table, plain
from deniable.core.untrusted_files import MOST_TOLD, clipped, read_bytes, refuse_wide_csv
from deniable.designs.extension import extension_of, extensions
from deniable.designs.registry import design_from_bytes
from deniable.designs.reports.labelled_sheet import question_column
from deniable.errors import DeniableError, InputError
from deniable.files.column_types import as_named, named_type
from deniable.files.header import Header, strange
from deniable.files.object_storage import Object, parts_of, place_of
from deniable.files.parquet import HELD, TIMES, ParquetFile, refuse_repeated
from deniable.files.reserved_columns import BALLOT, BLOCK, ORIGIN, SHARE, answer_columns
from deniable.files.write_files import is_sheet, pyreadstat, sidecar
from deniable.text import listed

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.designs.design import Design
    from deniable.designs.reports.reports import Reports

WRITTEN_BESIDE = "file of a design"
_READ = (".parquet", ".csv", ".sav", ".dta")


def read_reports(path: str | Path | Object) -> Reports:
    """Read reports and their design from a file, from a folder of Parquet files, or from s3://bucket/reports.parquet.

    Refused with the reason: a file without its design, with an altered one, or one newer than this program; codes that
    the design cannot have made.
    """
    source = existing(path)
    header = read_header(source)
    design = design_of(header, str(source))
    return _reports_of(header, design, _read_table(source, header, design))


def read_design(path: str | Path | Object) -> Design:
    """The design of a file of reports; or out of a JSON file: the one beside reports, or the design alone."""
    source = place_of(path)
    header = read_beside(source) if source.suffix.lower() == ".json" else read_header(source)
    return design_of(header, str(source))


def read_header(path: str | Path | Object) -> Header:
    """Read what a file of reports says about them, without reading the reports."""
    source = existing(path)
    if source.is_file() and source.suffix.lower() == ".parquet":
        return Header.from_metadata(ParquetFile(source).metadata, str(source))
    beside = sidecar(source)
    if not beside.is_file():
        raise InputError(
            f"{source} lacks the file {beside.name}, which says by which design its reports were made; without the "
            f"design they are just numbers. Put the two files side by side",
            file=str(source),
        )
    return Header.from_json(read_bytes(beside, WRITTEN_BESIDE, MOST_TOLD), str(beside))


def read_beside(path: Path | Object) -> Header:
    """The header in a JSON file of its own; a design alone has no notes."""
    if not path.is_file():
        raise InputError(f"there is no file {path}", file=str(path))
    data = read_bytes(path, WRITTEN_BESIDE, MOST_TOLD)
    if b'"sha256"' in data:
        return Header.from_json(data, str(path))
    return Header(design_from_bytes(data).canonical())


def design_of(header: Header, where: str) -> Design:
    """The design that a header holds; `where` names its file in a refusal."""
    known = {field for extension in extensions() for field in extension.fields}
    if strangers := [field for field in header.more if field not in known]:
        raise strange(where, f"has the unknown fields {', '.join(strangers)}")
    try:
        return design_from_bytes(header.design)
    except DeniableError as error:
        raise type(error)(f"{where}: {error}", **error.details) from None


def _reports_of(header: Header, design: Design, frame: Any) -> Reports:
    """Read a frame's rows as reports of the design; every code is checked."""
    made = extension_of(design.kind).read(frame, design, header)
    made = made.with_notes(*header.notes).with_origin(header.origin)
    return made if header.words is None else made.with_labels(header.words)


def existing(path: str | Path | Object) -> Path | Object:
    """The path or the object, if there is something we can read at it."""
    source = place_of(path)
    if not source.exists():
        raise InputError(f"there is no file {source}", file=str(source))
    if source.is_file() and source.suffix.lower() not in _READ:
        raise InputError(
            f"cannot read {source}: its name must end in one of {listed(_READ)}, which says what is in it",
            file=str(source),
        )
    return source


def _read_csv(path: Path, header: Header) -> pa.Table:
    """Read a CSV file as the types that its header tells, with a message a person can use when it is none.

    An empty text stands in quotes, a missing one does not.
    """
    import pyarrow as pa
    from pyarrow import csv

    types = header.types or {}
    known = {plain(name): named_type(kind) for name, kind in types.items()}
    convert = csv.ConvertOptions(
        column_types={name: kind for name, kind in known.items() if kind is not None},
        strings_can_be_null=bool(types),
        quoted_strings_can_be_null=not types,
        **({"null_values": [""]} if types else {}),
    )
    with path.open("rb") as file:
        refuse_wide_csv(file, str(path))
    try:
        read = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=convert)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path} is not a readable CSV file: {clipped(error)}", file=str(path)) from None
    refuse_repeated(read.column_names, path)
    table = original_table(read.drop_columns([ORIGIN]) if ORIGIN in read.column_names else read)
    for place, name in enumerate(table.column_names):
        if name in types:
            table = table.set_column(place, name, as_named(table[name], types[name], f"column {name!r} of {path}"))
    return table


# -- each format -------------------------------------------------------------------------------------------------------


def _columns_of(path: Path) -> pa.Table:
    """What a file of SPSS or Stata holds, without its labels."""
    import pyarrow as pa

    read = pyreadstat().read_sav if path.suffix.lower() == ".sav" else pyreadstat().read_dta
    try:
        # What repeats itself is packed: a row may take a byte in the file, and some hundred when it is read.
        _, about = read(str(path), metadataonly=True)
        wide = sum(max(8, about.variable_storage_width.get(name, 8)) for name in about.column_names)
        most = max(HELD, TIMES * path.stat().st_size) // max(8, wide)
        columns, about = read(str(path), output_format="dict", row_limit=most + 1)
    except Exception as error:  # noqa: BLE001 - pyreadstat's own errors have no common class
        raise InputError(f"{path} is not a readable {path.suffix} file: {clipped(error)}", file=str(path)) from None
    if any(len(column) > most for column in columns.values()):
        raise InputError(f"{path} would become more than a hundred times what it has. Is it the right file?")
    return pa.table([pa.array(column, from_pandas=True) for column in columns.values()], names=about.column_names)


def _from_sheet(path: Path, header: Header, design: Design) -> pa.Table:
    """The reports out of a column a question: as `Reports.to_frame` writes them."""
    import pyarrow as pa

    if header.columns is None:
        raise InputError(
            f"the file beside {path} does not say which column is which question: it is not the one that was written "
            f"with it. Export the reports again",
            file=str(path),
        )
    held = _columns_of(path)
    missing = [file for file, *_ in header.columns if file not in held.column_names]
    if missing:
        raise InputError(f"{path} lacks the column {listed(missing)}, which its design tells of", file=str(path))
    columns: dict[str, Any] = {}
    for file, name, values in header.columns:
        if name.startswith(SHARE):
            continue  # made of the answers again where they are wanted
        column = held[file]
        if values is not None:
            codes = column.cast(pa.int64())
            column = pa.chunked_array([pa.array(values).take(codes.combine_chunks())])
        kind = (header.types or {}).get(name, "")
        columns[name] = as_named(column, kind, f"column {name!r} of {path}")
    questions = [question_column(index) for index in range(len(design.questions))]
    before = {name: columns.pop(name) for name in (BLOCK, BALLOT) if name in columns}
    if len(design.ballots) > 1:
        ballots = before[BALLOT].to_numpy(zero_copy_only=False).astype(np.int64)
        answers = np.zeros((design.width, len(ballots)))
        for number, ballot in enumerate(design.ballots):
            rows = np.flatnonzero(ballots == number)
            for place, index in enumerate(ballot):
                given = columns[questions[index]].to_numpy(zero_copy_only=False)[rows]
                if np.isnan(given.astype(np.float64)).any():
                    name = design.questions[index].name
                    raise InputError(f"{path} lacks answers to {name!r} of people who were asked it")
                answers[place, rows] = given
        named = dict(zip(answer_columns(design), answers, strict=True))
    else:
        asked = [columns[questions[index]] for index in design.ballots[0]]
        named = dict(zip(answer_columns(design), asked, strict=True))
    rest = {name: column for name, column in columns.items() if name not in questions}
    return pa.table({**before, **named, **rest})


def _read_table(source: Path | Object, header: Header, design: Design) -> pa.Table:
    if source.is_dir():
        import pyarrow as pa

        tables = [ParquetFile(part).table() for part in _parts(source)]
        return pa.concat_tables(tables, promote_options="default")
    if not isinstance(source, Path):
        with source.fetched() as local:
            return _read_table(local, header, design)
    if is_sheet(source):
        table = _whole_numbers(_from_sheet(source, header, design), {BALLOT, BLOCK, *answer_columns(design)})
    else:
        table = _read_csv(source, header) if source.suffix.lower() == ".csv" else ParquetFile(source).table()
    return table.replace_schema_metadata(None)


def _parts(folder: Path | Object) -> list[Path | Object]:
    found = parts_of(folder, ".parquet")
    if not found:
        raise InputError(f"there are no Parquet files in {folder}", file=str(folder))
    return found


def _whole_numbers(table: pa.Table, names: set[str]) -> pa.Table:
    """SPSS knows decimals only: turn codes back into whole numbers where nothing is lost by it."""
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        kind = table.schema.types[position]
        if name in names and (pa.types.is_floating(kind) or pa.types.is_null(kind)):  # the latter where there is no row
            try:
                table = table.set_column(position, name, table.column(position).cast(pa.int64()))
            except pa.ArrowInvalid:
                raise InputError(f"column {name!r} holds decimals where codes are whole numbers", column=name) from None
    return table

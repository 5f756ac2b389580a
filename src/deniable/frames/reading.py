"""Reading files of reports: the header first, then the design it holds, then the reports themselves.

Refused with the reason: a file without its design, with an altered one, or one newer than this program; codes that the
design cannot have made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from deniable.designs.blocks.design import Blocks
from deniable.designs.blocks.reports import BLOCK, BlockReports
from deniable.designs.codec import design_from_bytes
from deniable.designs.files import pyreadstat, sidecar
from deniable.designs.formulas import original_table
from deniable.designs.header import Header
from deniable.designs.paired.design import Paired
from deniable.designs.paired.reports import PairedReports
from deniable.designs.reports import BALLOT, Reports, answer_columns
from deniable.device.block import Block
from deniable.errors import DeniableError, InputError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    import pyarrow.parquet as pq

    from deniable.designs.base import Design

D = TypeVar("D", Blocks, Paired)


def read_reports(path: str | Path) -> Reports:
    """Read reports and their design from a file, or from a folder of Parquet files.

    Refused with the reason: a file without its design, with an altered one, or one newer than this program; codes that
    the design cannot have made.
    """
    source = existing(path)
    header = read_header(source)
    design = design_of(header, str(source))
    return _reports_of(header, design, _read_table(source, design))


def read_design(path: str | Path) -> Design:
    """The design of a file of reports; or out of a JSON file: the one beside reports, or the design alone."""
    source = Path(path)
    header = read_beside(source) if source.suffix.lower() == ".json" else read_header(source)
    return design_of(header, str(source))


def read_header(path: str | Path) -> Header:
    """Read what a file of reports says about them, without reading the reports."""
    source = existing(path)
    if source.is_file() and source.suffix.lower() == ".parquet":
        return Header.from_metadata(parquet_file(source).schema_arrow.metadata, str(source))
    beside = sidecar(source)
    if not beside.is_file():
        raise InputError(
            f"{source} lacks the file {beside.name}, which says by which design its reports were made; without the "
            f"design they are just numbers. Put the two files side by side",
            file=str(source),
        )
    return Header.from_json(beside.read_bytes(), str(beside))


def read_beside(path: Path) -> Header:
    """The header in a JSON file of its own; a design alone has no notes."""
    if not path.is_file():
        raise InputError(f"there is no file {path}", file=str(path))
    data = path.read_bytes()
    if b'"sha256"' in data:
        return Header.from_json(data, str(path))
    return Header(design_from_bytes(data).canonical())


def design_of(header: Header, where: str) -> Design:
    """The design that a header holds; `where` names its file in a refusal."""
    try:
        return design_from_bytes(header.design)
    except DeniableError as error:
        raise type(error)(f"{where}: {error}", **error.details) from None


def _reports_of(header: Header, design: Design, frame: Any) -> Reports:
    """Read a frame's rows as reports of the design; every code is checked."""
    made: Reports
    if header.blocks:
        made = BlockReports(frame, _expected(Blocks, design, "blocks"), [Block.parse(block) for block in header.blocks])
    elif header.pairs is not None:
        made = PairedReports(frame, _expected(Paired, design, "pairs"), pairs=header.pairs)
    else:
        made = Reports(frame, design)
    return made.with_notes(*header.notes)


def _expected(kind: type[D], design: Design, what: str) -> D:
    if not isinstance(design, kind):
        raise InputError(f"this file tells of {what}, which a {type(design).__name__} design does not have", found=what)
    return design


def existing(path: str | Path) -> Path:
    """The path, if there is something we can read at it."""
    source = Path(path)
    if not source.exists():
        raise InputError(f"there is no file {source}", file=str(source))
    if source.is_file() and source.suffix.lower() not in _READERS:
        raise InputError(
            f"cannot read {source}: its name must end in one of {listed(_READERS)}, which says what is in it",
            file=str(source),
        )
    return source


def parquet_file(path: Path) -> pq.ParquetFile:
    """Open a Parquet file, with a message a person can use when it is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        size = path.stat().st_size
        told = "it is empty" if not size else f"it may have been cut short while it was copied ({error})"
        raise InputError(f"{path} is not a readable Parquet file: {told}", file=str(path)) from None


def read_csv(path: Path) -> pa.Table:
    """Read a CSV file, with a message a person can use when it is none."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        return original_table(csv.read_csv(path))
    except pa.ArrowInvalid as error:
        raise InputError(f"{path} is not a readable CSV file: {error}", file=str(path)) from None


# -- each format -------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path) -> pa.Table:
    return parquet_file(path).read()


def _read_sav(path: Path) -> pa.Table:
    return _unlabelled(pyreadstat().read_sav, path)


def _read_dta(path: Path) -> pa.Table:
    return _unlabelled(pyreadstat().read_dta, path)


def _unlabelled(read: Callable[..., Any], path: Path) -> pa.Table:
    import pyarrow as pa

    try:
        frame, about = read(str(path))
    except Exception as error:  # noqa: BLE001 - pyreadstat's own errors have no common class
        raise InputError(f"{path} is not a readable {path.suffix} file: {error}", file=str(path)) from None
    names = [label or name for name, label in zip(about.column_names, about.column_labels, strict=True)]
    return pa.Table.from_pandas(frame, preserve_index=False).rename_columns(names).replace_schema_metadata(None)


def _read_table(source: Path, design: Design) -> pa.Table:
    if source.is_dir():
        import pyarrow.dataset as ds

        return ds.dataset(source, format="parquet").to_table()
    table = _READERS[source.suffix.lower()](source)
    if source.suffix.lower() in (".sav", ".dta"):
        table = _whole_numbers(table, {BALLOT, BLOCK, *answer_columns(design)})
    return table.replace_schema_metadata(None)


def _whole_numbers(table: pa.Table, names: set[str]) -> pa.Table:
    """SPSS knows decimals only: turn codes back into whole numbers where nothing is lost by it."""
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        if name in names and pa.types.is_floating(table.schema.types[position]):
            try:
                table = table.set_column(position, name, table.column(position).cast(pa.int64()))
            except pa.ArrowInvalid:
                raise InputError(f"column {name!r} holds decimals where codes are whole numbers", column=name) from None
    return table


_READERS: dict[str, Callable[[Path], pa.Table]] = {
    ".parquet": _read_parquet,
    ".csv": read_csv,
    ".sav": _read_sav,
    ".dta": _read_dta,
}

"""Reports as files: Parquet with the design inside; CSV, SPSS and Stata with the design in a JSON file beside them.

A file appears under its name only when it is whole: it is written under another name and then renamed. The JSON file
comes first, so reports never lie about without their design.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.designs.formulas import original_table, plain_table
from deniable.designs.header import Header
from deniable.designs.reports import BALLOT, answer_columns
from deniable.domain import listed
from deniable.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    import pyarrow.parquet as pq

    from deniable.designs.base import Design
    from deniable.designs.reports import Reports

SIDECAR = ".design.json"  # people.csv has its design in people.csv.design.json
IN_FOLDER = "_design.json"  # a folder of Parquet files has it here; the underscore makes other programs skip it


def write_reports(reports: Reports, path: str | Path) -> Path:
    """Write reports to a file whose name says the format: .parquet, .csv, .sav (SPSS) or .dta (Stata)."""
    import narwhals as nw

    target = Path(path)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise InputError(f"reports are written to {listed(_WRITERS)}, not to {target.suffix or target.name!r}")
    header = Header.of(reports)
    table = nw.from_native(reports.to_frame(), eager_only=True).to_arrow()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix.lower() != ".parquet":
        _whole(sidecar(target), lambda place: place.write_bytes(header.json()))
    _whole(target, lambda place: write(table, place, header))
    return target


def write_table(frame: Any, path: str | Path) -> Path:
    """Write a frame as it is, without a design, to a .parquet or .csv file."""
    import narwhals as nw
    import pyarrow.parquet as pq

    target = Path(path)
    writers: dict[str, Callable[[Any, Path], None]] = {".parquet": pq.write_table, ".csv": _write_csv}
    write = writers.get(target.suffix.lower())
    if write is None:
        raise InputError(f"a table of categories is written to {listed(writers)}, not to {target.name!r}")
    table = nw.from_native(frame, eager_only=True).to_arrow()
    target.parent.mkdir(parents=True, exist_ok=True)
    _whole(target, lambda place: write(table, place))
    return target


def read_reports(path: str | Path) -> Reports:
    """Read reports and their design from a file, or from a folder of Parquet files.

    Refused with the reason: a file without its design, with an altered one, or one newer than this program; codes that
    the design cannot have made.
    """
    source = existing(path)
    header = read_header(source)
    return header.reports(_read_table(source, header.design))


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


def sidecar(path: Path) -> Path:
    """Where the design of a file lies that cannot hold it."""
    return path / IN_FOLDER if path.is_dir() else path.with_name(path.name + SIDECAR)


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


def _whole(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file so that it is there completely or not at all."""
    unfinished = target.with_name(f".{target.name}.unfinished{target.suffix}")
    try:
        write(unfinished)
        with unfinished.open("rb+") as written:
            os.fsync(written.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _write_parquet(table: pa.Table, path: Path, header: Header) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table.replace_schema_metadata(header.metadata()), path)


def _write_csv(table: pa.Table, path: Path, _header: Header | None = None) -> None:
    from pyarrow import csv

    csv.write_csv(plain_table(table), path)


def _write_sav(table: pa.Table, path: Path, header: Header) -> None:
    frame, labels, values = _labelled(table, header.design)
    _pyreadstat().write_sav(frame, str(path), column_labels=labels, variable_value_labels=values)


def _write_dta(table: pa.Table, path: Path, header: Header) -> None:
    frame, labels, values = _labelled(table, header.design)
    _pyreadstat().write_dta(frame, str(path), column_labels=labels, variable_value_labels=values, version=15)


def _labelled(table: pa.Table, design: Design) -> tuple[Any, list[str], dict[str, dict[int, str]]]:
    """Columns under names that SPSS and Stata allow, their true names as labels, and the codes' meanings."""
    import numpy as np
    import pyarrow as pa

    codes = [BALLOT, *answer_columns(design)] if len(design.ballots) > 1 else answer_columns(design)
    safe = [f"v{position}" for position in range(table.num_columns)]
    # Neither knows larger whole numbers; decimals hold all that a report may be.
    whole = pa.int32() if np.iinfo(design.answer_dtype).max <= np.iinfo(np.int32).max else pa.float64()
    columns = [column.cast(whole) if name in codes else column for name, column in _columns(table).items()]
    values = {}
    if len(design.ballots) == 1:
        for index in design.ballots[0]:
            question = design.questions[index]
            domain = design.domain.project(question.attributes)
            if question.channel.outputs == domain.cells:
                cells = domain.decode(np.stack(np.unravel_index(np.arange(domain.cells), domain.shape), axis=1))
                names = [
                    ", ".join(map(str, cell)) for cell in zip(*(c.to_pylist() for c in cells.values()), strict=True)
                ]
                values[safe[table.column_names.index(question.name)]] = dict(enumerate(names))
    return pa.table(dict(zip(safe, columns, strict=True))).to_pandas(), table.column_names, values


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError(
            "SPSS and Stata files need pyreadstat, which is not installed: pip install 'deniable[files]'", extra="files"
        ) from None
    return pyreadstat


def _read_parquet(path: Path) -> pa.Table:
    return parquet_file(path).read()


def _read_sav(path: Path) -> pa.Table:
    return _unlabelled(_pyreadstat().read_sav, path)


def _read_dta(path: Path) -> pa.Table:
    return _unlabelled(_pyreadstat().read_dta, path)


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
        table = _whole_numbers(table, {BALLOT, "block", *answer_columns(design)})
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


_WRITERS: dict[str, Callable[[pa.Table, Path, Header], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".sav": _write_sav,
    ".dta": _write_dta,
}
_READERS: dict[str, Callable[[Path], pa.Table]] = {
    ".parquet": _read_parquet,
    ".csv": read_csv,
    ".sav": _read_sav,
    ".dta": _read_dta,
}

"""Writing reports: Parquet with the design inside; CSV, SPSS and Stata with the design in a JSON file beside them.

A file appears under its name only when it is whole: it is written under another name and then renamed. The JSON file
comes first, so reports never lie about without their design. `frames.reading` reads them back.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.designs.formulas import plain_table
from deniable.errors import InputError, MissingExtraError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import pyarrow as pa

    from deniable.designs.header import Header

    Meanings = dict[str, dict[int, str]]  # for each column of codes, the names of the codes that have one

SIDECAR = ".design.json"  # people.csv has its design in people.csv.design.json
IN_FOLDER = "_design.json"  # a folder of Parquet files has it here; the underscore makes other programs skip it
_WHOLE_BITS = 32  # unsigned codes of fewer bits fit the whole numbers of SPSS and Stata


def write_reports(frame: Any, header: Header, path: str | Path, meanings: Callable[[], Meanings]) -> Path:
    """Write reports to a file whose name says the format: .parquet, .csv, .sav (SPSS) or .dta (Stata).

    Args:
        frame: the reports, a row each.
        header: what must be known of them.
        path: the file; its folder is made where there is none.
        meanings: the columns that hold codes, and what the codes stand for; asked for where the format has room for it.
    """
    import narwhals as nw

    target = Path(path)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise InputError(f"reports are written to {listed(_WRITERS)}, not to {target.suffix or target.name!r}")
    table = nw.from_native(frame, eager_only=True).to_arrow()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix.lower() == ".parquet":
        table = table.replace_schema_metadata(header.metadata())
    else:
        write_whole(sidecar(target), lambda place: place.write_bytes(header.json()))
    write_whole(target, lambda place: write(table, place, meanings))
    return target


def write_table(frame: Any, path: str | Path) -> Path:
    """Write a frame as it is, without a design, to a .parquet or .csv file."""
    import narwhals as nw

    target = Path(path)
    writers: dict[str, Callable[[Any, Path], None]] = {".parquet": _write_parquet, ".csv": _write_csv}
    write = writers.get(target.suffix.lower())
    if write is None:
        raise InputError(f"a table of categories is written to {listed(writers)}, not to {target.name!r}")
    table = nw.from_native(frame, eager_only=True).to_arrow()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, lambda place: write(table, place))
    return target


def sidecar(path: Path) -> Path:
    """Where the design of a file lies that cannot hold it."""
    return path / IN_FOLDER if path.is_dir() else path.with_name(path.name + SIDECAR)


def write_whole(target: Path, write: Callable[[Path], object], folder: Path | None = None) -> None:
    """Write a file so that it is there completely or not at all, whatever happens.

    It is written under another name (in `folder`, or beside its own), brought to disk and renamed; the renaming is
    brought to disk too.
    """
    unfinished = (folder or target.parent) / f".{target.name}.unfinished{target.suffix}"
    try:
        write(unfinished)
        with unfinished.open("rb+") as written:
            os.fsync(written.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    if os.name == "posix":
        place = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


# -- each format -------------------------------------------------------------------------------------------------------


def _write_parquet(table: pa.Table, path: Path, _meanings: Callable[[], Meanings] | None = None) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path)


def _write_csv(table: pa.Table, path: Path, _meanings: Callable[[], Meanings] | None = None) -> None:
    from pyarrow import csv

    csv.write_csv(plain_table(table), path)


def _write_sav(table: pa.Table, path: Path, meanings: Callable[[], Meanings]) -> None:
    frame, labels, values = _labelled(table, meanings())
    pyreadstat().write_sav(frame, str(path), column_labels=labels, variable_value_labels=values)


def _write_dta(table: pa.Table, path: Path, meanings: Callable[[], Meanings]) -> None:
    frame, labels, values = _labelled(table, meanings())
    pyreadstat().write_dta(frame, str(path), column_labels=labels, variable_value_labels=values, version=15)


def _labelled(table: pa.Table, meanings: Meanings) -> tuple[Any, list[str], Meanings]:
    """Columns under names that SPSS and Stata allow, their true names as labels, and the codes' meanings."""
    import pyarrow as pa

    safe = {name: f"v{position}" for position, name in enumerate(table.column_names)}
    # Neither knows larger whole numbers; decimals hold all that a report may be.
    small = all(table.schema.field(name).type.bit_width < _WHOLE_BITS for name in meanings)
    whole = pa.int32() if small else pa.float64()
    columns = {safe[name]: table[name].cast(whole) if name in meanings else table[name] for name in safe}
    values = {safe[name]: meant for name, meant in meanings.items() if meant}
    return pa.table(columns).to_pandas(), table.column_names, values


def pyreadstat() -> ModuleType:
    """The package that reads and writes SPSS and Stata files."""
    try:
        import pyreadstat as package
    except ImportError:
        raise MissingExtraError(
            "SPSS and Stata files need pyreadstat, which is not installed: pip install 'deniable[files]'", extra="files"
        ) from None
    return package


_WRITERS: dict[str, Callable[[pa.Table, Path, Callable[[], Meanings]], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".sav": _write_sav,
    ".dta": _write_dta,
}

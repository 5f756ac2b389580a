"""Writing reports: Parquet with the design inside; CSV, SPSS and Stata with the design in a JSON file beside them.

Parquet and CSV hold the reports as they are; SPSS and Stata a labelled column a question, see `sheet`.

A file appears under its name only when it is whole: it is written under another name and then renamed. The JSON file
comes first, so reports never lie about without their design. `frames.reading` reads them back.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.designs.arrow_types import type_name
from deniable.designs.dta import write_dta
from deniable.designs.objects import Object, place_of
from deniable.designs.sav import write_sav
from deniable.errors import InputError, MissingExtraError
from deniable.formulas import plain_table
from deniable.origin import PEOPLE, Origin
from deniable.reserved import RESERVED
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    import pyarrow as pa

    from deniable.designs.column import Column
    from deniable.designs.header import Header


ORIGIN = f"{RESERVED}origin"  # the column that says of each row of a table without a header what its reports are
SIDECAR = ".design.json"  # people.csv has its design in people.csv.design.json
IN_FOLDER = "_design.json"  # a folder of Parquet files has it here; the underscore makes other programs skip it


def write_reports(frame: Any, header: Header, path: str | Path | Object) -> Path | Object:
    """Write reports as they are to a .parquet or .csv file.

    Args:
        frame: the reports, a row each.
        header: what must be known of them.
        path: the file; its folder is made where there is none. Or the address of an object, such as s3://bucket/name.
    """
    return delivered(path, lambda target: _write_reports(frame, header, target))


def delivered(place: str | Path | Object, write: Callable[[Path], object]) -> Path | Object:
    """Let a file be written at its place; for object storage here first, and then sent, what lies beside it first."""
    goal = place_of(place)
    if isinstance(goal, Path):
        write(goal)
        return goal
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / goal.name
        write(local)
        for file in sorted(Path(folder).iterdir(), key=lambda file: file == local):
            place = goal.with_name(file.name)
            if file != local and goal.is_file() and not _is_there(place, file.read_bytes()):
                goal.remove()
            place.put(file)
    return goal


def _write_reports(frame: Any, header: Header, target: Path) -> None:
    import narwhals as nw

    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        every = [*_WRITERS, *_SHEETS]
        raise InputError(f"reports are written to {listed(every)}, not to {target.suffix or target.name!r}")
    table = nw.from_native(frame, eager_only=True).to_arrow()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix.lower() == ".parquet":
        table = table.replace_schema_metadata(header.metadata())
    else:
        types = {field.name: type_name(field.type, field.name) for field in table.schema}
        _write_beside(target, replace(header, types=types).json())
        table = _stamped(table, header.origin)  # rows are passed on without their header
    write_whole(target, lambda place: write(table, place))


def _stamped(table: pa.Table, origin: Origin) -> pa.Table:
    """A table without a header in it, each row of which says that it is simulated, or a pilot's."""
    return table.append_column(ORIGIN, [[origin.stamp] * len(table)]) if origin else table


def is_sheet(path: str | Path | Object) -> bool:
    """Whether a file's name says SPSS or Stata."""
    return place_of(path).suffix.lower() in _SHEETS


def write_sheet(columns: Sequence[Column], header: Header, path: str | Path | Object, title: str = "") -> Path | Object:
    """Write reports to an SPSS (.sav) or Stata (.dta) file, a labelled column a question."""
    return delivered(path, lambda target: _write_sheet(columns, header, target, title))


def _write_sheet(columns: Sequence[Column], header: Header, target: Path, title: str) -> None:
    write = _SHEETS[target.suffix.lower()]
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = tuple((c.file, c.name, None if c.values is None else tuple(c.values)) for c in columns)
    types = {c.name: type_name(c.kind, c.name) for c in columns if c.kind is not None}
    _write_beside(target, replace(header, columns=kept, types=types).json())
    write_whole(target, lambda place: write(columns, place, title))


def write_table(frame: Any, path: str | Path | Object, origin: Origin = PEOPLE) -> Path | Object:
    """Write a frame as it is, without a design, to a .parquet or .csv file; with a column that says its origin."""
    return delivered(path, lambda target: _write_table(frame, target, origin))


def _write_table(frame: Any, target: Path, origin: Origin) -> None:
    import narwhals as nw

    writers: dict[str, Callable[[Any, Path], None]] = {".parquet": _write_parquet, ".csv": _write_csv}
    write = writers.get(target.suffix.lower())
    if write is None:
        raise InputError(f"a table of categories is written to {listed(writers)}, not to {target.name!r}")
    table = _stamped(nw.from_native(frame, eager_only=True).to_arrow(), origin)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, lambda place: write(table, place))


def sidecar(path: Path | Object) -> Path | Object:
    """Where the design of a file lies that cannot hold it."""
    return path / IN_FOLDER if path.is_dir() else path.with_name(path.name + SIDECAR)


def _write_beside(target: Path, header: bytes) -> None:
    """Write what must be known of reports. Those that lie there by another design go first: they would be misread."""
    place = target.with_name(target.name + SIDECAR)
    if target.exists() and not _is_there(place, header):
        target.unlink()
    write_whole(place, lambda path: path.write_bytes(header))


def _is_there(place: Path | Object, content: bytes) -> bool:
    return place.is_file() and place.read_bytes() == content


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


def _write_parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path)


def _write_csv(table: pa.Table, path: Path) -> None:
    from pyarrow import csv

    csv.write_csv(plain_table(table), path)


def pyreadstat() -> ModuleType:
    """The package that reads SPSS and Stata files."""
    try:
        import pyreadstat as package
    except ImportError:
        raise MissingExtraError(
            "reading SPSS and Stata files needs pyreadstat: pip install 'deniable[files]'",
            extra="files",
        ) from None
    return package


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {".parquet": _write_parquet, ".csv": _write_csv}
_SHEETS: dict[str, Callable[[Sequence[Column], Path, str], None]] = {".sav": write_sav, ".dta": write_dta}

"""Writing reports: Parquet with the design inside; CSV, SPSS and Stata with the design in a JSON file beside them.

Parquet and CSV hold the reports as they are, and are written in batches, so that little is held besides the reports;
SPSS and Stata hold a labelled column a question, see `labelled_columns`, all of which are made before they are written.

A file appears under its name only when it is whole, and never in place of another (`publish_file`). The JSON file comes
first, so reports never lie about without their design. `engines.read_reports` reads them back.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.core.provenance import PEOPLE, Origin
from deniable.errors import InputError, MissingExtraError, PrivacyError
from deniable.files.column_types import type_name
from deniable.files.object_storage import Object, place_of
from deniable.files.publish_file import publish, refuse_other, sync
from deniable.files.reserved_columns import ORIGIN
from deniable.files.spss import write_sav
from deniable.files.stata import write_dta
from deniable.files.write_batches import Batches, write_csv, write_parquet
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    import pyarrow as pa

    from deniable.files.header import Header
    from deniable.files.labelled_columns import Column


SIDECAR = ".design.json"  # people.csv has its design in people.csv.design.json
IN_FOLDER = "_design.json"  # a folder of Parquet files has it here; the underscore makes other programs skip it


def write_reports(reports: Batches, header: Header, path: str | Path | Object) -> Path | Object:
    """Write reports as they are to a .parquet or .csv file, a batch at a time.

    Args:
        reports: a row each.
        header: what must be known of them.
        path: the file; its folder is made where there is none. Or the address of an object, such as s3://bucket/name.
    """
    return delivered(path, lambda target: _write_reports(reports, header, target))


def delivered(place: str | Path | Object, write: Callable[[Path], object]) -> Path | Object:
    """Let a file be written at its place; for object storage here first, and then sent, what lies beside it first."""
    goal = place_of(place)
    if isinstance(goal, Path):
        write(goal)
        return goal
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / goal.name
        write(local)
        files = sorted(Path(folder).iterdir(), key=lambda file: file == local)
        for file in files:
            refuse_other(file, goal.with_name(file.name))
        for file in files:
            if not (place := goal.with_name(file.name)).exists():
                place.put(file)
    return goal


def _write_reports(reports: Batches, header: Header, target: Path) -> None:
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        every = [*_WRITERS, *_SHEETS]
        raise InputError(f"reports are written to {listed(every)}, not to {target.suffix or target.name!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    metadata = header.metadata()
    if target.suffix.lower() != ".parquet":
        types = {field.name: type_name(field.type, field.name) for field in reports.make(0, 0).schema}
        _write_beside(target, replace(header, types=types).json())
        reports, metadata = _stamped(reports, header.origin), {}  # rows are passed on without their header
    publish(target, lambda place: write(reports, place, metadata))


def _stamped(table: Batches, origin: Origin) -> Batches:
    """A table without a header in it, each row of which says that it is simulated, or a pilot's."""
    import pyarrow as pa

    def make(start: int, stop: int) -> pa.Table:
        stamps = pa.array([origin.column] * (stop - start), pa.string())
        made = table.make(start, stop)
        known = [ORIGIN] if ORIGIN in made.column_names else []
        return made.drop_columns(known).append_column(ORIGIN, stamps)

    return Batches(table.rows, make) if origin else table


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
    publish(target, lambda place: write(columns, place, title))


def write_table(table: Batches, path: str | Path | Object, origin: Origin = PEOPLE) -> Path | Object:
    """Write a table as it is, without a design, to a .parquet or .csv file; with a column that says its origin."""
    return delivered(path, lambda target: _write_table(table, target, origin))


def _write_table(table: Batches, target: Path, origin: Origin) -> None:
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise InputError(f"a table of categories is written to {listed(_WRITERS)}, not to {target.name!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    publish(target, lambda place: write(_stamped(table, origin), place, {}))


def sidecar(path: Path | Object) -> Path | Object:
    """Where the design of a file lies that cannot hold it."""
    return path / IN_FOLDER if path.is_dir() else path.with_name(path.name + SIDECAR)


def _write_beside(target: Path, header: bytes) -> None:
    """Write what must be known of reports; nothing beside a file that has lain there without."""
    place = target.with_name(target.name + SIDECAR)
    if target.exists() and not place.exists():
        raise PrivacyError(f"{target} is already there, and nothing is written over: choose another name",
                           file=str(target))  # fmt: skip
    publish(place, lambda path: path.write_bytes(header))


def write_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file so that it is there completely or not at all, whatever happens, in place of what was there.

    It is written under another name, brought to disk and renamed; the renaming is brought to disk too.
    """
    unfinished = target.with_name(f".{target.name}.unfinished{target.suffix}")
    try:
        write(unfinished)
        with unfinished.open("rb+") as written:
            os.fsync(written.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    sync(target.parent)


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


_WRITERS: dict[str, Callable[[Batches, Path, dict[str, str]], None]] = {".parquet": write_parquet, ".csv": write_csv}
_SHEETS: dict[str, Callable[[Sequence[Column], Path, str], None]] = {".sav": write_sav, ".dta": write_dta}

"""Is what is stored as it was written? Checked without opening it as a store, which refuses what is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.storage.checksums import DamagedStoreError, check, has_checksums, read_checksums
from deniable.storage.open_store import FILE, find_store, is_address
from deniable.storage.salvage import remains_of
from deniable.storage.sqlite_files import PART, Layout, is_orphaned, orphaned, strange_parts, uri
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Finding:
    """What was looked at, whether it is as it was written, and how that is known."""

    what: str
    is_whole: bool
    told: str


def verify_store(place: str | Path) -> list[Finding]:
    """Check a collector's folder, its file, a copy of it, or a database."""
    if is_address(place):
        return list(_database(str(place)))
    path = Path(place)
    layout = Layout(path / FILE if path.is_dir() else path)
    if is_orphaned(layout):
        return [Finding(str(layout.main), is_whole=False, told=orphaned(layout))]
    strange = _strange(layout)
    found = {str(layout.main): _file(layout.main)}
    if layout.sealed.exists():
        found[str(layout.sealed)] = _sealed(layout.sealed)
    found |= {str(tail): _file(tail) for tail in map(layout.tail, layout.state().tails)}
    for what, told in strange.items():
        if what not in found or found[what].is_whole:
            said = f"{told}: put the right file back, or a backup in the place of all"
            found[what] = Finding(what, is_whole=False, told=said)
    return list(found.values())


def _strange(layout: Layout) -> dict[str, str]:
    """Parts that are missing, or not of this store, as far as the files can be read; what cannot is said elsewhere."""
    with closing(sqlite3.connect(uri(layout.main, "mode=ro"), uri=True)) as db:
        try:
            return strange_parts(db, layout)
        except sqlite3.DatabaseError:
            return {}


def _file(path: Path) -> Finding:
    """A file that goes on changing, or a copy: SQLite's own check, and the checksums of a copy's reports."""
    with closing(sqlite3.connect(uri(path, "mode=ro"), uri=True)) as db:
        try:
            ((told,), *_) = db.execute("PRAGMA quick_check(1)").fetchall()
            if not has_checksums(db):
                return _changing(db, path, told)
            copied = check(db)
        except sqlite3.DatabaseError as error:
            return Finding(str(path), is_whole=False, told=f"not readable: {error}")
    reports = counted(copied.reports, "report")
    if told == "ok" and not copied.lost and copied.counts:
        return Finding(str(path), is_whole=True, told=f"a copy; {reports}, each as it was copied")
    if not copied.lost:
        return Finding(str(path), is_whole=False, told=f"a copy; {reports} as they were copied, but miscounted")
    lost = f"{copied.lost} lie where something is damaged"
    return Finding(str(path), is_whole=False, told=f"a copy; {reports} as they were copied, {lost}. Use another copy")


def _changing(db: sqlite3.Connection, path: Path, told: str) -> Finding:
    """A file without checksums, as one is that goes on changing; a copy's reports have some."""
    (part,) = db.execute("PRAGMA application_id").fetchone()
    if told != "ok":
        said = f"SQLite finds it damaged ({told}); it goes on changing, so it has no checksums that would tell where"
        return Finding(str(path), is_whole=False, told=f"{said}. Put a copy back")
    if part != PART and db.execute("SELECT 1 FROM reports LIMIT 1").fetchone():
        said = "it holds reports, as a copy does, and lacks a copy's checksums: nobody knows whether they are as copied"
        return Finding(str(path), is_whole=False, told=f"{said}. Use another copy")
    return Finding(str(path), is_whole=True, told="well-formed; it goes on changing, so it has no checksums")


def _sealed(path: Path) -> Finding:
    try:
        read_checksums(path)
    except DamagedStoreError:
        told = "the checksums themselves are damaged, so nobody knows which pages are whole: put a copy back"
        return Finding(str(path), is_whole=False, told=told)
    found = remains_of(path)
    there = sum(found.there.values())
    if not found.pages:
        return Finding(
            str(path), is_whole=True, told=f"{counted(there, 'sealed report')}, all {found.of} pages as written"
        )
    of = "" if found.were is None else f" of {sum(found.were.values())}"
    told = (
        f"{found.pages} of {found.of} pages are damaged; {there}{of} sealed reports remain, and none is counted until "
        f"then: put a copy back, or say --repair to go on with those"
    )
    lines = [told]
    if found.were is not None and len(found.were) > 1:
        lines += [f"  design number {n}: {found.there.get(n, 0)} of {were} remain" for n, were in found.were.items()]
    return Finding(str(path), is_whole=False, told="\n".join(lines))


def _database(address: str) -> Iterator[Finding]:
    """A database keeps checksums of its own, or not; that reports and counts agree can be asked of any."""
    store = find_store(address)
    if store is None:
        yield Finding("the database", is_whole=True, told="no reports that a collector has stored")
        return
    with closing(store):
        for name, (number, _) in store.designs().items():
            agree = store.recount(number) == store.counts(number)
            told = "every count is that of its reports" if agree else "counts are not those of its reports"
            yield Finding(f"design {name[:12]}", agree, f"{counted(store.total(number), 'report')}; {told}")
    yield Finding("its pages", is_whole=True, told="checked by PostgreSQL where it has data_checksums (pg_checksums)")

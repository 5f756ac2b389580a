"""Is what is stored as it was written? Checked without opening it as a store, which refuses what is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.collection.storage.checksums import DamagedStoreError, read_checksums
from deniable.collection.storage.copied_checksums import check, has_checksums
from deniable.collection.storage.layout import Layout, uri
from deniable.collection.storage.places import FILE, find_store, is_address
from deniable.collection.storage.salvage import remains_of
from deniable.wording import counted

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
    found = [_file(layout.main)]
    if layout.sealed.exists():
        found.append(_sealed(layout.sealed))
    return found + [_file(layout.tail(number)) for number in layout.state().tails]


def _file(path: Path) -> Finding:
    """A file that goes on changing, or a copy: SQLite's own check, and the checksums of a copy's reports."""
    with closing(sqlite3.connect(uri(path, "mode=ro"), uri=True)) as db:
        try:
            ((told,), *_) = db.execute("PRAGMA quick_check(1)").fetchall()
            if told == "ok" and not has_checksums(db):
                return Finding(
                    str(path), is_whole=True, told="well-formed; it goes on changing, so it has no checksums"
                )
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

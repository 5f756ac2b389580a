"""What remains of a damaged sealed file: the reports of every page that is as it was written.

A damaged page may be one by which SQLite finds the others, so the pages are read one by one, as SQLite's file format
describes them (https://www.sqlite.org/fileformat2.html): a table without rowids is an index tree, whose pages of kind 2
and 10 hold rows. A row that goes on in other pages remains if all of those are whole.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from deniable.storage.checksums import append_checksums, damaged_pages, read_checksums
from deniable.storage.sealed_file import begin_sealed, bind, count_reports
from deniable.storage.sqlite_files import place, replacing, unfinished, uri
from deniable.storage.store import Row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deniable.storage.sqlite_files import Layout

_INNER, _LEAF = 2, 10
_KEY = 44  # SQLite's type of 16 bytes


class Remains(NamedTuple):
    """What is left of a sealed file, by the number of the design."""

    pages: int  # that are damaged
    of: int
    there: dict[int, int]  # reports that remain
    were: dict[int, int] | None  # reports that were sealed, where that can still be read


def remains_of(path: Path) -> Remains:
    """Look how many reports of a sealed file remain."""
    written, bad = read_checksums(path), damaged_pages(path)
    there: dict[int, int] = {}
    if not bad:
        totals = _totals(path)
        return Remains(0, len(written.digests), totals or {}, totals)
    for row in whole_rows(path):
        there[row.design] = there.get(row.design, 0) + 1
    return Remains(len(bad), len(written.digests), there, _totals(path, frozenset(bad)))


def whole_rows(path: Path) -> Iterator[Row]:
    """The reports in the pages of a file that are as they were written."""
    written = read_checksums(path)
    bad = frozenset(damaged_pages(path))
    with path.open("rb") as file:
        pages = _Pages(file.read(written.size * len(written.digests)), written.size, bad)
    for page in range(2, len(written.digests) + 1):
        if page not in bad:
            for record in pages.records(page):
                row = _row(record)
                if row is not None:
                    yield row


def repair(layout: Layout) -> Path:
    """Write a sealed file of what remains in the place of a damaged one, which is kept; returns where."""
    path = layout.sealed
    written = read_checksums(path)
    with replacing(path) as db:
        begin_sealed(db)
        db.execute("BEGIN")
        db.executemany("INSERT INTO reports VALUES (?, ?, ?)", sorted(whole_rows(path)))
        count_reports(db)
        db.execute("COMMIT")
        db.execute("ATTACH ? AS base", (uri(layout.main, "mode=rw"),))
        bind(db, "base")
        db.execute("DETACH base")
        db.execute(f"PRAGMA user_version = {written.version}")
        db.execute("VACUUM")
        db.close()
        append_checksums(unfinished(path))
    kept = path.with_name(f"{path.stem}.damaged.sqlite")
    kept.unlink(missing_ok=True)
    kept.hardlink_to(path)
    place(path)
    return kept


class _Pages:
    """The pages of a file as SQLite laid them out."""

    def __init__(self, content: bytes, size: int, bad: frozenset[int]) -> None:
        self._content, self._size, self._bad = content, size, bad
        # How much of a row stands in its page (section 1.6 of the format; nothing is reserved at the end of a page).
        self._most, self._least = (size - 12) * 64 // 255 - 23, (size - 12) * 32 // 255 - 23

    def _page(self, number: int) -> bytes:
        return self._content[(number - 1) * self._size : number * self._size]

    def records(self, number: int) -> Iterator[bytes]:
        """The rows that begin in a page."""
        page = self._page(number)
        if page[0] not in (_INNER, _LEAF):
            return
        head = 8 if page[0] == _LEAF else 12
        for index in range(int.from_bytes(page[3:5], "big")):
            at = int.from_bytes(page[head + 2 * index : head + 2 * index + 2], "big")
            length, at = _varint(page, at if page[0] == _LEAF else at + 4)
            record = self._record(page, at, length)
            if record is not None:
                yield record

    def _record(self, page: bytes, at: int, length: int) -> bytes | None:
        """A row, with what of it stands in other pages; None where one of those is damaged."""
        if length <= self._most:
            return page[at : at + length]
        here = self._least + (length - self._least) % (self._size - 4)
        here = here if here <= self._most else self._least
        found, next_ = page[at : at + here], int.from_bytes(page[at + here : at + here + 4], "big")
        while next_ and len(found) < length:
            if next_ in self._bad:
                return None
            more = self._page(next_)
            next_, found = int.from_bytes(more[:4], "big"), found + more[4:]
        return found[:length]


def _row(record: bytes) -> Row | None:
    """A report, if the row is one: rows of other tables begin otherwise."""
    head, at = _varint(record, 0)
    kinds = []
    while at < head:
        kind, at = _varint(record, at)
        kinds.append(kind)
    if len(kinds) != 3 or kinds[0] != _KEY or kinds[2] < 13 or kinds[2] % 2 == 0:
        return None
    width = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}[kinds[1]]
    number = kinds[1] - 8 if width == 0 else int.from_bytes(record[head + 16 : head + 16 + width], "big", signed=True)
    text = record[head + 16 + width : head + 16 + width + (kinds[2] - 13) // 2]
    return Row(record[head : head + 16], number, text.decode())


def _varint(some: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        value = value << 7 | some[at + step] & 0x7F
        if some[at + step] < 0x80:
            return value, at + step + 1
    return value << 8 | some[at + 8], at + 9


def _totals(path: Path, bad: frozenset[int] = frozenset()) -> dict[int, int] | None:
    """How many reports were sealed, if the pages that say so are whole."""
    with closing(sqlite3.connect(uri(path, "immutable=1"), uri=True)) as db:
        try:
            if bad:
                found = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'totals'").fetchone()
                if found is None or {1, found[0]} & bad:  # the list of tables may be in a damaged page
                    return None
            return dict(db.execute("SELECT design, reports FROM totals ORDER BY design"))
        except sqlite3.DatabaseError:
            return None

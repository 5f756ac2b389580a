"""Checksums of a sealed file's pages: a bit that a disk turned over is found, and never counted.

SQLite trusts what it reads. A flipped letter in a cell is another report, and health would say ok. A sealed file is
written in one go and never changed, so the checksum of every page is written behind the last one, into the same file:
SQLite reads no further than its header says. It costs a twentieth of a second for a million reports.

In a copy every thousand reports have one, since pages change when a copy is opened and reports do not. They are gone
once a copy that was put back is a store again, whose reports are sealed with checksums of their own.
"""

from __future__ import annotations

import hashlib
import sqlite3
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MARK = b"deniable: checksums of pages 1\0"
_DIGEST = 8  # bytes a page
_PAGES = 512  # read at once


class Written(NamedTuple):
    """What a sealed file was when it was written."""

    size: int  # bytes a page
    version: int  # SQLite's user_version: the first tail that comes after it
    digests: tuple[bytes, ...]  # page by page


def append_checksums(path: Path) -> None:
    """Write the checksums of a finished file behind it."""
    with path.open("r+b") as file:
        header = file.read(100)
        size = int.from_bytes(header[16:18], "big")
        size = 1 << 16 if size == 1 else size
        found = b"".join(_digests(path, size, int.from_bytes(header[28:32], "big")))
        head = b"".join(
            number.to_bytes(8, "big") for number in (size, int.from_bytes(header[60:64], "big"), len(found))
        )
        trailer = head + found
        file.seek(0, 2)
        file.write(_MARK + trailer + _digest(trailer) + (len(_MARK) + len(trailer) + _DIGEST).to_bytes(8, "big"))


def read_checksums(path: Path) -> Written:
    """The checksums behind a sealed file.

    Raises:
        DamagedStoreError: there are none, or they are damaged themselves.
    """
    with path.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(0, end - 8))
        length = int.from_bytes(file.read(8), "big")
        if not len(_MARK) + 24 + _DIGEST <= length <= end - 8:
            raise DamagedStoreError(path)
        file.seek(end - 8 - length)
        behind = file.read(length)
    trailer, proof = behind[len(_MARK) : -_DIGEST], behind[-_DIGEST:]
    if not behind.startswith(_MARK) or _digest(trailer) != proof:
        raise DamagedStoreError(path)
    size, version, held = (int.from_bytes(trailer[at : at + 8], "big") for at in (0, 8, 16))
    found = trailer[24 : 24 + held]
    return Written(size, version, tuple(found[at : at + _DIGEST] for at in range(0, held, _DIGEST)))


def damaged_pages(path: Path) -> list[int]:
    """Which pages of a file are not as they were written, counted from 1."""
    written = read_checksums(path)
    now = _digests(path, written.size, len(written.digests))
    return [page for page, (was, is_) in enumerate(zip(written.digests, now, strict=True), 1) if was != is_]


def refuse_damage(path: Path) -> None:
    """Refuse a sealed file that is not as it was written."""
    if path.exists() and damaged_pages(path):
        raise DamagedStoreError(path)


class DamagedStoreError(StoreError):
    """Reports that are stored are not as they were written."""

    def __init__(self, path: Path) -> None:
        """Say where, and what can be done."""
        is_sealed = ".sealed." in path.name
        super().__init__(
            f"{path} is damaged: some of its bytes are not as they were written, and nothing of it is counted. "
            f"`deniable verify {path.parent if is_sealed else path}` says how many reports remain; "
            f"{'put a copy back, or go on with those by --repair' if is_sealed else 'use another copy'}"
        )


def _digests(path: Path, size: int, pages: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        for start in range(0, pages, _PAGES):
            some = file.read(size * min(_PAGES, pages - start))
            for at in range(min(_PAGES, pages - start)):
                yield _digest(some[at * size : (at + 1) * size])


def _digest(some: bytes) -> bytes:
    return hashlib.blake2b(some, digest_size=_DIGEST).digest()


TABLE = "CREATE TABLE checksums (first BLOB PRIMARY KEY, reports INTEGER NOT NULL, digest BLOB NOT NULL) WITHOUT ROWID"
EACH = 1000  # reports
_ROWS = "SELECT key, design, cell FROM main.reports ORDER BY key"
_RUN = "SELECT key, design, cell FROM main.reports WHERE key >= ? AND (? IS NULL OR key < ?) ORDER BY key"
_COUNTED = {"counts": "design, cell", "totals": "design"}


class Checked(NamedTuple):
    """What a copy holds."""

    reports: int  # that are as they were copied
    lost: int  # that are not, with those that lie between them
    counts: bool  # whether every count is that of its reports


def write_checksums(db: sqlite3.Connection) -> None:
    """Write the checksums of a copy's reports."""
    db.execute(TABLE)
    rows = db.execute(_ROWS)
    while some := list(islice(rows, EACH)):
        db.execute("INSERT INTO checksums VALUES (?, ?, ?)", (some[0][0], len(some), _copied_checksums_digest(some)))


def has_checksums(db: sqlite3.Connection) -> bool:
    """Whether a file is such a copy, and was not put back yet."""
    return db.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'checksums'").fetchone() is not None


def check(db: sqlite3.Connection) -> Checked:
    """Compare a copy's reports with their checksums, and its counts with its reports."""
    good = lost = 0
    for reports, rows in _runs(db):
        good += reports if rows else 0
        lost += 0 if rows else reports
    return Checked(good, lost, _counts_are_right(db))


def refuse_damaged_copy(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a copy whose reports or counts are not as they were copied."""
    if has_checksums(db):
        found = check(db)
        if found.lost or not found.counts:
            raise DamagedStoreError(path)
    elif db.execute("SELECT 1 FROM main.reports LIMIT 1").fetchone():  # only a copy has reports in there
        raise DamagedStoreError(path)


def _runs(db: sqlite3.Connection) -> Iterator[tuple[int, bool]]:
    """How many reports each checksum is of, and whether they are as they were."""
    known = db.execute("SELECT first, reports, digest FROM checksums ORDER BY first").fetchall()
    ends = [first for first, _, _ in known[1:]] + [None]
    for (first, reports, digest), after in zip(known, ends, strict=False):
        try:
            some = db.execute(_RUN, (first, after, after)).fetchall()
        except sqlite3.DatabaseError:
            some = []
        yield reports, len(some) == reports and _copied_checksums_digest(some) == digest


def _counts_are_right(db: sqlite3.Connection) -> bool:
    try:
        for table, of in _COUNTED.items():
            right = f"SELECT {of}, COUNT(*) FROM main.reports GROUP BY {of}"  # noqa: S608 - our names
            kept = f"SELECT * FROM main.{table}"  # noqa: S608 - likewise
            for one, other in ((right, kept), (kept, right)):
                if db.execute(f"SELECT 1 FROM ({one} EXCEPT {other}) LIMIT 1").fetchone() is not None:  # noqa: S608
                    return False
    except sqlite3.DatabaseError:
        return False
    return True


def _copied_checksums_digest(rows: Iterable[tuple[bytes, int, str]]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for key, design, cell in rows:
        found.update(key + design.to_bytes(8, "big") + cell.encode() + b"\0")
    return found.digest()

"""Checksums of the reports in a copy, a thousand a row: pages change when a copy is opened, reports do not.

They are gone once a copy that was put back is a store again, whose reports are sealed with checksums of their own.
"""

from __future__ import annotations

import hashlib
import sqlite3
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from deniable.storage.checksums import DamagedStoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
        db.execute("INSERT INTO checksums VALUES (?, ?, ?)", (some[0][0], len(some), _digest(some)))


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
        yield reports, len(some) == reports and _digest(some) == digest


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


def _digest(rows: Iterable[tuple[bytes, int, str]]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for key, design, cell in rows:
        found.update(key + design.to_bytes(8, "big") + cell.encode() + b"\0")
    return found.digest()

"""SQLite: the embedded store. Write-ahead log, synced at every commit, one transaction for many reports.

A row is inserted without being looked for first. Only where that fails, because a key is taken, are the rows of that
statement looked up: repetitions are rare, and they alone pay.

Several rows go into one statement, because SQLite lets go of Python's interpreter lock around every step: a statement a
row would hand it back and forth with the server thread thousands of times a second.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections import Counter
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.collection.storage.base import Outcome, Row, outcomes
from deniable.collection.storage.failures import FULL, failure, is_full
from deniable.errors import InputError, StoreFullError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Each script takes the store from the version of its position to the next. Never edit one that was released.
MIGRATIONS = (
    """
    CREATE TABLE store (salt BLOB NOT NULL);
    CREATE TABLE designs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
    CREATE TABLE reports (
        key BLOB PRIMARY KEY,
        design INTEGER NOT NULL,
        cell TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE counts (
        design INTEGER NOT NULL,
        cell TEXT NOT NULL,
        reports INTEGER NOT NULL,
        PRIMARY KEY (design, cell)
    ) WITHOUT ROWID;
    CREATE TABLE tokens (digest BLOB, purpose TEXT NOT NULL, PRIMARY KEY (purpose, digest)) WITHOUT ROWID;
    CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    """,
    """
    CREATE TABLE rejected (reason TEXT PRIMARY KEY, reports INTEGER NOT NULL) WITHOUT ROWID;
    """,
)
_SIZES = (256, 32, 4, 1)  # rows a statement: few shapes, so that each is prepared once
_DESIGN_AND_CELL = itemgetter(1, 2)
_BUSY = 5.0  # seconds to wait for another process that writes; a backup holds it for less
_CACHE_KIB = 16384  # a larger one saves no CPU: keys come in no order, and the system keeps the file in memory as well
_JOURNAL_PAGES = 10_000  # 40 MB: a page changed by many commits is copied back once


class SqliteStore:
    """Reports in one SQLite file."""

    def __init__(self, path: str | Path) -> None:
        """Open the file, make it or bring it up to date."""
        self._path = Path(path)
        if not self._path.exists():
            _make(self._path)
        try:
            self._db = self._connect()
            self._reader = self._connect()
            self._migrate()
        except sqlite3.DatabaseError as error:
            if is_full(error, self._path.parent):
                raise StoreFullError(f"there is no space left to open {path}") from error
            raise InputError(f"{path} is not a store of reports: {error}", path=str(path)) from error
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._claimed: int | None = None  # the folder, held
        (self.salt,) = self._db.execute("SELECT salt FROM store").fetchone()

    def _connect(self) -> sqlite3.Connection:
        # Used from several threads, one at a time: the locks see to that.
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(f"PRAGMA wal_autocheckpoint = {_JOURNAL_PAGES}")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        return db

    def _migrate(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise InputError(
                    f"{self._path} was written by a newer version of deniable (store version {version}; this one "
                    f"knows {len(MIGRATIONS)}). Upgrade deniable",
                    path=str(self._path),
                )
            for script in MIGRATIONS[version:]:
                for statement in script.split(";"):
                    self._db.execute(statement)
            if version == 0:
                self._db.execute("INSERT INTO store VALUES (?)", (secrets.token_bytes(32),))
            self._db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk may have ended it already
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.DatabaseError as error:
            raise failure(error, self._path.parent) from error

    # -- designs ------------------------------------------------------------------------------------------------------

    def register(self, design_id: str, body: bytes) -> int:
        """Keep a design for good, and return its number in this store."""
        with self._writing, self._transaction():
            self._db.execute("INSERT OR IGNORE INTO designs (id, body) VALUES (?, ?)", (design_id, body))
            (number,) = self._db.execute("SELECT number FROM designs WHERE id = ?", (design_id,)).fetchone()
        return int(number)

    def designs(self) -> dict[str, tuple[int, bytes]]:
        """Every design ever served: its id, its number, its bytes."""
        rows = self._read("SELECT id, number, body FROM designs ORDER BY number")
        return {name: (number, body) for name, number, body in rows}

    # -- reports ------------------------------------------------------------------------------------------------------

    def add(self, rows: Sequence[Row]) -> list[Outcome]:
        """Store rows, all in one transaction."""
        fresh: dict[bytes, Row] = {}
        for row in rows:
            fresh.setdefault(row.key, row)
        # In the order of their keys: neighbours share pages, and what came together is shuffled.
        ordered = [fresh[key] for key in sorted(fresh)]
        taken: dict[bytes, Row] = {}
        with self._writing, self._transaction():
            for some in _portions(ordered):
                try:
                    self._insert(some)
                except sqlite3.IntegrityError:
                    found = self._find(some)
                    taken |= found
                    for portion in _portions([row for row in some if row.key not in found]):
                        self._insert(portion)
            self._count([row for row in ordered if row.key not in taken] if taken else ordered)
        if not taken and len(fresh) == len(rows):
            return [Outcome.STORED] * len(rows)
        return outcomes(rows, fresh, taken)

    def _insert(self, rows: Sequence[Row]) -> None:
        values = ", ".join(["(?, ?, ?)"] * len(rows))
        self._db.execute(
            f"INSERT INTO reports VALUES {values}",  # noqa: S608 - question marks only
            list(chain.from_iterable(rows)),
        )

    def _find(self, rows: Sequence[Row]) -> dict[bytes, Row]:
        marks = ", ".join("?" * len(rows))
        found = self._db.execute(
            f"SELECT key, design, cell FROM reports WHERE key IN ({marks})",  # noqa: S608 - question marks only
            [row.key for row in rows],
        )
        return {row[0]: Row(*row) for row in found}

    def _count(self, rows: Iterable[Row]) -> None:
        cells = Counter(map(_DESIGN_AND_CELL, rows))
        self._db.executemany(
            "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET reports = reports + excluded.reports",
            [(design, cell, number) for (design, cell), number in cells.items()],
        )

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The reports under these keys."""
        found = {}
        for key in keys:
            for design, cell in self._read("SELECT design, cell FROM reports WHERE key = ?", key):
                found[key] = Row(key, design, cell)
        return found

    def counts(self, design: int) -> dict[str, int]:
        """How many reports each cell has."""
        return dict(self._read("SELECT cell, reports FROM counts WHERE design = ?", design))

    def total(self, design: int) -> int:
        """How many reports there are."""
        ((total,),) = self._read("SELECT coalesce(sum(reports), 0) FROM counts WHERE design = ?", design)
        return int(total)

    def recount(self, design: int) -> dict[str, int]:
        """The same by GROUP BY over the reports."""
        return dict(self._read("SELECT cell, COUNT(*) FROM reports WHERE design = ? GROUP BY cell", design))

    def scan(self, design: int) -> Iterator[str]:
        """The cells of all reports, in the order of their keys."""
        last = b""
        while True:
            # Page by page, so that neither a lock nor a snapshot is held while the caller works.
            page = self._read(
                "SELECT key, cell FROM reports WHERE key > ? AND design = ? ORDER BY key LIMIT 10000", last, design
            )
            if not page:
                return
            for last, cell in page:  # noqa: B007 - the next page begins after it
                yield cell

    def _read(self, query: str, *parameters: object) -> list[tuple]:  # type: ignore[type-arg]
        with self._reading:
            try:
                return self._reader.execute(query, parameters).fetchall()
            except sqlite3.DatabaseError as error:
                raise failure(error, self._path.parent) from error

    def add_rejected(self, reasons: Mapping[str, int]) -> None:
        """Count what was turned away."""
        with self._writing, self._transaction():
            self._db.executemany(
                "INSERT INTO rejected VALUES (?, ?) ON CONFLICT DO UPDATE SET reports = reports + excluded.reports",
                sorted(reasons.items()),
            )

    def rejected(self) -> dict[str, int]:
        """How much was ever turned away, by reason."""
        return dict(self._read("SELECT reason, reports FROM rejected ORDER BY reason"))

    # -- secrets ------------------------------------------------------------------------------------------------------

    def add_token(self, digest: bytes, purpose: str) -> None:
        """Keep the hash of a secret that opens something."""
        with self._writing, self._transaction():
            self._db.execute("INSERT INTO tokens VALUES (?, ?)", (digest, purpose))

    def has_token(self, digest: bytes, purpose: str) -> bool:
        """Tell whether this is the hash of such a secret."""
        return bool(self._read("SELECT 1 FROM tokens WHERE purpose = ? AND digest = ?", purpose, digest))

    def has_tokens(self, purpose: str) -> bool:
        """Tell whether any such secret was ever made."""
        return bool(self._read("SELECT 1 FROM tokens WHERE purpose = ? LIMIT 1", purpose))

    def add_tokens(self, digests: Sequence[bytes], purpose: str) -> None:
        """Keep many hashes at once."""
        with self._writing, self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO tokens VALUES (?, ?)", [(digest, purpose) for digest in sorted(digests)]
            )

    def held(self, digests: Sequence[bytes], purpose: str) -> set[bytes]:
        """Which of these hashes are there."""
        return {digest for digest in digests if self.has_token(digest, purpose)}

    def drop_tokens(self, purpose: str, digests: Sequence[bytes] | None = None) -> None:
        """Forget these hashes, or all of a purpose."""
        with self._writing, self._transaction():
            if digests is None:
                self._db.execute("DELETE FROM tokens WHERE purpose = ?", (purpose,))
            else:
                self._db.executemany(
                    "DELETE FROM tokens WHERE purpose = ? AND digest = ?", [(purpose, digest) for digest in digests]
                )

    def keep(self, name: str, value: bytes) -> bytes:
        """Keep a value under a name, unless there is one."""
        with self._writing, self._transaction():
            self._db.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (name, value))
            (first,) = self._db.execute("SELECT value FROM kept WHERE name = ?", (name,)).fetchone()
        return bytes(first)

    def kept(self, name: str) -> bytes | None:
        """The value under a name."""
        found = self._read("SELECT value FROM kept WHERE name = ?", name)
        return bytes(found[0][0]) if found else None

    # -- housekeeping -------------------------------------------------------------------------------------------------

    def claim(self) -> bool:
        """Be the one program that does what only one may do."""
        if self._claimed is None:
            try:
                import fcntl
            except ImportError:  # not on this system
                return True
            # The folder, not the file: closing a second handle of the file would end SQLite's own locks on it.
            handle = os.open(self._path.parent, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with this process, however it ends
            except OSError:
                os.close(handle)
                return False
            self._claimed = handle
        return True

    def compact(self) -> None:
        """Write everything anew in the order of its keys, and empty the journal."""
        with self._writing, self._reading:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the store, with nothing left in the journal."""
        with self._writing, self._reading:
            self._reader.close()
            self._db.close()
            if self._claimed is not None:
                os.close(self._claimed)
                self._claimed = None


def _make(path: Path) -> None:
    """Make the file and its folder, for nobody else to read."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        if error.errno in FULL:
            raise StoreFullError(f"there is no space left to make {path} in") from error
        raise InputError(f"{path} cannot be made: {error.strerror}", path=str(path)) from error


def _portions(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Cut rows into portions of few different sizes."""
    start = 0
    for size in _SIZES:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size

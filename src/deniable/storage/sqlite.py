"""SQLite: the embedded store. Reports arrive in a tail and are sealed (`append_log`); all else is in one small file.

That file is written rarely, and nothing in it came in the order of respondents: designs and blocks, hashes of secrets,
numbers of what was turned away. A copy that was put in its place holds the reports as well; they are sealed when others
come.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import InputError, StoreFullError
from deniable.storage.append_log import Tail
from deniable.storage.checksums import refuse_damage, refuse_damaged_copy
from deniable.storage.copy_store import HERE, copy_store
from deniable.storage.sqlite_files import PART, Layout, keep_bond, read_bond, refuse_orphans, refuse_strange_parts
from deniable.storage.sqlite_tables import FORMAT, MAIN, REPORTS
from deniable.storage.sqlite_transactions import (
    FULL,
    agree_on,
    failure,
    hold,
    is_full,
    other_format,
    telling,
    transaction,
)
from deniable.storage.store import cells_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from deniable.storage.store import Column, Fate, Mark, Row

_BUSY = 5.0  # seconds to wait for another process that writes; a backup holds it for less


class SqliteStore:
    """Reports in SQLite files: the main one, which is named, and those beside it."""

    is_shared = False  # more than one program may add, and is not expected to

    def __init__(self, path: str | Path) -> None:
        """Open the store, or make it."""
        self._path, self.place, self.home = Path(path), str(path), HERE
        self._layout = layout = Layout(self._path)
        if not self._path.exists():
            refuse_orphans(layout)
            _make(self._path)
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._claimed: int | None = None  # the folder, held
        self._showing: dict[str, int] = {}  # by plan, what says which of its designs is shown
        with ExitStack() as opened:  # what cannot be opened whole is closed again
            try:
                self._db = self._connect(opened, layout)
                self._make_tables()
                self._reader = self._connect(opened, layout)
            except sqlite3.DatabaseError as error:
                if is_full(error, self._path.parent):
                    raise StoreFullError(f"there is no space left to open {path}") from error
                raise InputError(f"{path} is not a store of reports: {error}", path=str(path)) from error
            (self.salt,) = self._db.execute("SELECT salt FROM store").fetchone()
            with telling(self._path.parent):
                refuse_damage(layout.sealed)
                refuse_strange_parts(self._db, layout)
                refuse_damaged_copy(self._db, self._path)
            opened.pop_all()
        self._reports = Tail(layout, self._empty, self._say)

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._path.parent

    def _connect(self, opened: ExitStack, layout: Layout) -> sqlite3.Connection:
        # Used from several threads, one at a time: the locks see to that.
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY)
        opened.callback(db.close)
        # Asked of SQLite: to open and close the file beside it would end SQLite's own locks on it.
        if db.execute("PRAGMA application_id").fetchone() == (PART,):
            raise InputError(
                f"{self._path} is only a part of a store: name its folder, {self._path.parent}", path=str(self._path)
            )
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
                raise other_format(str(self._path), version, FORMAT)
            refuse_orphans(layout)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        return db

    def _make_tables(self) -> None:
        with self._transaction():
            if self._db.execute("PRAGMA user_version").fetchone() == (FORMAT,):  # another program may have been quicker
                return
            for table in MAIN:
                self._db.execute(table)
            self._db.execute(
                "INSERT INTO store VALUES (?, ?, 0, 0)", (secrets.token_bytes(32), secrets.token_bytes(16))
            )
            self._db.execute(f"PRAGMA user_version = {FORMAT}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with telling(self._path.parent), transaction(self._db):
            yield

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

    def add(self, rows: Sequence[Row]) -> list[Fate]:
        """Store rows, all in one transaction."""
        return self._reports.add(rows)

    def find(self, keys: Sequence[bytes], *, shown: bool = False) -> dict[bytes, Row]:
        """The reports under these keys."""
        return self._reports.find(keys, shown=shown)

    def counts(self, design: int, *, shown: bool = False) -> dict[str, int]:
        """How many reports each cell has."""
        return self._reports.counts(design, shown=shown)

    def counts_in(self, design: int, block: str, *, shown: bool = False) -> dict[str, int]:
        """The same for the cells of one block."""
        return self._reports.counts(design, cells_of(block), shown=shown)

    def columns(self, design: int, known: Mark | None = None, *, shown: bool = False) -> list[Column]:
        """The same as a few long texts, without those of a sealed file that is known."""
        return self._reports.columns(design, known, shown=shown)

    def total(self, design: int, *, shown: bool = False) -> int:
        """How many reports there are."""
        return self._reports.total(design, shown=shown)

    def recount(self, design: int) -> dict[str, int]:
        """The same by GROUP BY over the reports."""
        return self._reports.recount(design)

    def scan(self, design: int) -> Iterator[str]:
        """The cells of all reports, in the order of their keys."""
        return self._reports.scan(design)

    def tend(self) -> None:
        """Seal reports whenever it is due, until this is closed."""
        self._reports.tend()

    def _empty(self) -> None:
        """Forget the reports of a copy that was put in place: they are sealed."""
        with self._writing:
            if self._db.execute("SELECT 1 FROM reports LIMIT 1").fetchone() is None:
                return
            with self._transaction():
                for table in REPORTS:
                    self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - our names
                self._db.execute("DROP TABLE checksums")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _say(self, *, sealed: int | None = None, tail: int | None = None) -> bytes:
        """Keep which parts there must be; returns the name of the store, which a new part gets."""
        with self._writing, self._transaction():
            if sealed is not None or tail is not None:
                keep_bond(self._db, sealed=sealed, tail=tail)
            return read_bond(self._db).name

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
            self._db.execute("INSERT INTO tokens (digest, purpose) VALUES (?, ?)", (digest, purpose))

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
                "INSERT OR IGNORE INTO tokens (digest, purpose) VALUES (?, ?)",
                [(digest, purpose) for digest in sorted(digests)],
            )

    def held(self, digests: Sequence[bytes], purpose: str) -> set[bytes]:
        """Which of these hashes are there."""
        return {digest for digest in digests if self.has_token(digest, purpose)}

    def drop_tokens(self, purpose: str) -> None:
        """Forget all hashes of a purpose."""
        with self._writing, self._transaction():
            self._db.execute("DELETE FROM tokens WHERE purpose = ?", (purpose,))

    def tokens(self, purpose: str) -> list[bytes]:
        """All hashes of a purpose, in order."""
        return [
            found for (found,) in self._read("SELECT digest FROM tokens WHERE purpose = ? ORDER BY digest", purpose)
        ]

    def save(self, name: str, value: bytes) -> bytes:
        """Keep a value under a name, unless there is one."""
        with self._writing, self._transaction():
            self._db.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (name, value))
            (first,) = self._db.execute("SELECT value FROM kept WHERE name = ?", (name,)).fetchone()
        return bytes(first)

    def saved(self, name: str) -> bytes | None:
        """The value under a name."""
        found = self._read("SELECT value FROM kept WHERE name = ?", name)
        return bytes(found[0][0]) if found else None

    def saved_under(self, start: str) -> dict[str, bytes]:
        """The values under all names that begin like this."""
        rows = self._read("SELECT name, value FROM kept WHERE substr(name, 1, ?) = ? ORDER BY name", len(start), start)
        return {name: bytes(value) for name, value in rows}

    def forget(self, start: str) -> None:
        """Drop the values under all names that begin like this."""
        with self._writing, self._transaction():
            self._db.execute("DELETE FROM kept WHERE substr(name, 1, ?) = ?", (len(start), start))

    def drop(self, name: str) -> None:
        """Drop the value under a name."""
        with self._writing, self._transaction():
            self._db.execute("DELETE FROM kept WHERE name = ?", (name,))

    # -- housekeeping -------------------------------------------------------------------------------------------------

    def claim(self) -> bool:
        """Be the one program that does what only one may do."""
        if self._claimed is None:
            # The folder, not the file: closing a second handle of the file would end SQLite's own locks on it.
            self._claimed = hold(self._path.parent)
        return self._claimed is not None

    def show(self, plan: str, design: str) -> str | None:
        """Say that a design is shown until this is closed; or which other one of its plan is, by another program."""
        if (before := self._showing.pop(plan, None)) is not None:
            os.close(before)
        with telling(self._path.parent):
            shown = agree_on(self._layout.showing(plan), design)
        if isinstance(shown, str):
            return shown
        if shown is not None:
            self._showing[plan] = shown
        return None

    def copy(self, target: Path) -> None:
        """Copy everything into one new file."""
        copy_store(Layout(self._path), target)

    def seal(self) -> None:
        """Seal what has arrived."""
        self._reports.seal()

    def compact(self, ended: Collection[int] = ()) -> None:
        """Seal all reports, hold back none to designs that have ended, and write everything else anew as well."""
        self._reports.seal_all(ended)
        with telling(self._path.parent), self._writing, self._reading:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def destroy(self) -> None:
        """Delete every file of the store. The main one is the last: whoever is interrupted can begin again."""
        self._reports.close()
        with self._writing, self._reading:
            self._reader.close()
            self._db.execute("PRAGMA busy_timeout = 0")
            try:  # only who is alone can take the file out of this mode
                self._db.execute("PRAGMA journal_mode = DELETE")
            except sqlite3.OperationalError as error:
                raise InputError(f"{self._path} is in use: stop the collector first", path=self.place) from error
        self.close()
        Layout(self._path).delete()

    def close(self) -> None:
        """Seal the reports, and close the store with nothing left in a journal."""
        self._reports.close()
        with self._writing, self._reading:
            self._reader.close()
            self._db.close()
            if self._claimed is not None:
                os.close(self._claimed)
                self._claimed = None
            while self._showing:
                os.close(self._showing.popitem()[1])


def _make(path: Path) -> None:
    """Make the file and its folder, for nobody else to read."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        if error.errno in FULL:
            raise StoreFullError(f"there is no space left to make {path} in") from error
        raise InputError(f"{path} cannot be made: {error.strerror}", path=str(path)) from error

"""What a device keeps: its account, its drawn ballots, its finished reports, the disguises of panels.

**The answer itself is never written.** What lies on disk is what has been sent or is about to be, and the kept
disguises of panels, which is what a collector would know in the end that asks wave after wave: whoever takes the device
learns which surveys it answered, and about the person no more than was charged. There is no device secret either. A
disguise derived from a stored secret could be undone by whoever holds it: they would try every value and see which one
gives the report. So disguises are drawn from the operating system and only their outcome is kept.

One SQLite file, written in transactions that are on disk before anything is shown or sent. `BEGIN IMMEDIATE` is the
lock: two programs with the same file take turns.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.device.ledger import Ledger
from deniable.errors import InputError, PrivacyError, StoreError, StoreFullError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.device.ledger_events import Event

FORMAT = 2  # of a device's file: another one is refused, and nothing in it is changed
DEFAULT_LIMIT = 5.0  # the most epsilon that a device ever gives away, unless it is told otherwise
_WAIT = 30.0  # seconds that one program waits for another one's transaction

WAITING, DELIVERED, REJECTED = 0, 1, 2

_TABLES = f"""
    CREATE TABLE account (limit_epsilon REAL NOT NULL);
    CREATE TABLE events (position INTEGER PRIMARY KEY, event TEXT NOT NULL);
    CREATE TABLE remembered (question TEXT PRIMARY KEY, origin TEXT NOT NULL, answer INTEGER NOT NULL);
    CREATE TABLE drawn (
        plan TEXT PRIMARY KEY,
        design TEXT NOT NULL,
        ballot INTEGER NOT NULL,
        url TEXT NOT NULL,
        report BLOB,
        fate INTEGER NOT NULL DEFAULT {WAITING}
    );
    CREATE TABLE notes (name TEXT PRIMARY KEY, value BLOB NOT NULL)
"""


@dataclass(frozen=True)
class Drawn:
    """The ballot drawn for a plan, under which design, and the finished report once there is one."""

    design: str
    ballot: int
    report: bytes | None
    fate: int


class State:
    """A device's memory, in a file or (for simulated respondents) in this process alone."""

    def __init__(self, path: str | Path | None, limit: float | None = None) -> None:
        """Open the file, or make it with this lifetime limit."""
        if path is not None and not Path(path).exists():
            # Nobody else on the machine has business here.
            try:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            except OSError as error:
                raise StoreError(f"no state of a device can be kept in {path}: {error.strerror}") from error
        # For one thread at a time; but whichever thread collects a forgotten client closes it.
        try:
            self._db = sqlite3.connect(
                ":memory:" if path is None else path, timeout=_WAIT, isolation_level=None, check_same_thread=False
            )
        except sqlite3.OperationalError as error:
            raise StoreError(f"the device's state {path} cannot be opened: {error}") from error
        try:
            with self.transaction():
                self._make(path, DEFAULT_LIMIT if limit is None else limit)
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path} is not a device's state: {error}", path=str(path)) from error
        if limit is not None and limit != self.limit:
            raise PrivacyError(
                f"this device's lifetime limit is epsilon {self.limit:g}; it cannot be changed to {limit:g}, because "
                f"what was answered was answered under that limit",
                limit=self.limit,
            )

    def _make(self, path: str | Path | None, limit: float) -> None:
        """Make the tables of a new file; refuse one of another format."""
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version == FORMAT:
            return
        if version > FORMAT:
            raise InputError(
                f"{path} was written by a newer deniable (format {version}; this one reads {FORMAT}). Upgrade deniable",
                path=str(path),
            )
        if self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            raise InputError(
                f"{path} is no device's state that is known here (format {version}; this program reads {FORMAT}). Keep "
                f"it for the program that wrote it, and name another file",
                path=str(path),
            )
        Ledger(limit)  # refuses what is no limit
        for statement in _TABLES.split(";"):
            self._db.execute(statement)
        self._db.execute("INSERT INTO account VALUES (?)", (float(limit),))
        self._db.execute(f"PRAGMA user_version = {FORMAT}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, on disk when it ends, and no other program in between.

        Raises:
            StoreError: the file cannot be written, or another program has held it for too long. Nothing in it has
                changed then: nothing is charged, and whoever tries again is charged once.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise StoreError(f"the device's state cannot be used at this time: {error}. Nothing was charged") from error
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            # Where the disk is full SQLite may have taken everything back by itself.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, sqlite3.OperationalError):
                raise
            is_full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
            raise (StoreFullError if is_full else StoreError)(
                f"the device's state cannot be written: {error}. Nothing was charged; make room, or let it be written, "
                f"and try again"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __del__(self) -> None:
        # A client is often used in one expression and forgotten.
        if hasattr(self, "_db"):
            self._db.close()

    # -- the account ------------------------------------------------------------------------------------------------

    @property
    def limit(self) -> float:
        """The most epsilon that this device ever gives away."""
        (limit,) = self._db.execute("SELECT limit_epsilon FROM account").fetchone()
        return float(limit)

    def ledger(self) -> Ledger:
        """The account, made anew from its events, so that no stored state gets past a rule."""
        rows = self._db.execute("SELECT event FROM events ORDER BY position").fetchall()
        events = [json.loads(event) for (event,) in rows]
        return Ledger.from_dict({"kind": "deniable.ledger/1", "limit": self.limit, "events": events})

    def charge(self, ledger: Ledger, event: Event) -> None:
        """Pay for an event and write it down."""
        ledger.charge(event)
        written = ledger.to_dict()["events"][-1]
        self._db.execute("INSERT INTO events (event) VALUES (?)", (json.dumps(written),))

    def payments(self, plan: str) -> list[str]:
        """The events that were charged for a plan: its own, and those of corrected words. None: all was replayed."""
        kept = self.noted(f"paid:{plan}")
        found: list[str] = [] if kept is None else json.loads(kept)
        return found

    def paid(self, plan: str, event: str) -> None:
        """Note that an event was charged for a plan."""
        self.note(f"paid:{plan}", json.dumps([*self.payments(plan), event]).encode())

    # -- ballots and reports ------------------------------------------------------------------------------------------

    def drawn(self, plan: str) -> Drawn | None:
        """The ballot drawn for a plan, if any."""
        row = self._db.execute("SELECT design, ballot, report, fate FROM drawn WHERE plan = ?", (plan,)).fetchone()
        return None if row is None else Drawn(*row)

    def draw(self, plan: str, design: str, ballot: int, url: str) -> None:
        """Write a drawn ballot down."""
        query = "INSERT INTO drawn (plan, design, ballot, url) VALUES (?, ?, ?, ?)"
        self._db.execute(query, (plan, design, ballot, url))

    def redraw(self, plan: str, design: str) -> None:
        """Note that a drawn ballot will be answered in the words of a corrected design."""
        self._db.execute("UPDATE drawn SET design = ? WHERE plan = ? AND report IS NULL", (design, plan))

    def finish(self, plan: str, design: str, report: bytes) -> None:
        """Write the report down that will be sent for a plan, now and at every retry."""
        query = "UPDATE drawn SET design = ?, report = ? WHERE plan = ? AND report IS NULL"
        self._db.execute(query, (design, report, plan))

    def waiting(self, url: str) -> list[tuple[str, bytes]]:
        """The plans and reports that a collector has not yet acknowledged."""
        query = "SELECT plan, report FROM drawn WHERE url = ? AND report IS NOT NULL AND fate = ? ORDER BY plan"
        return self._db.execute(query, (url, WAITING)).fetchall()

    def settle(self, plan: str, fate: int) -> None:
        """Note that a report was delivered, or rejected for good."""
        with self.transaction():
            self._db.execute("UPDATE drawn SET fate = ? WHERE plan = ?", (fate, plan))

    # -- what panels keep -------------------------------------------------------------------------------------------

    def recall(self, question: str) -> tuple[str, int] | None:
        """The kept disguise of a panel's question, and the design it was charged for."""
        row: tuple[str, int] | None = self._db.execute(
            "SELECT origin, answer FROM remembered WHERE question = ?", (question,)
        ).fetchone()
        return row

    def remember(self, question: str, origin: str, answer: int) -> None:
        """Keep the disguise of a panel's question."""
        self._db.execute("INSERT OR IGNORE INTO remembered VALUES (?, ?, ?)", (question, origin, answer))

    # -- notes --------------------------------------------------------------------------------------------------------

    def noted(self, name: str) -> bytes | None:
        """What was written under a name, if anything."""
        row = self._db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def note(self, name: str, value: bytes) -> None:
        """Write something under a name, in the place of what was there."""
        self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

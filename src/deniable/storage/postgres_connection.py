"""Connections to a PostgreSQL database: made anew after they were lost, and given up in time."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from deniable.errors import InputError, StoreError, StoreFullError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONNECT_TIMEOUT = 5  # seconds
# A database that is gone without a word is given up after so many seconds.
_LOST = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}


class Connection:
    """A connection that is made anew after it was lost. One thread at a time: the lock sees to that."""

    def __init__(self, url: str) -> None:
        self._url, self._lock = url, threading.Lock()
        self._db: psycopg.Connection[tuple[Any, ...]] | None = None

    @contextmanager
    def use(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """Have it for the length of a `with` block; what fails there is a `StoreError`."""
        with self._lock:
            try:
                if self._db is None:
                    self._db = self._connect()
                yield self._db
            except psycopg.Error as error:
                self._drop()
                if isinstance(error, psycopg.errors.DiskFull) or "No space left on device" in str(error):
                    raise StoreFullError("there is no space left to store reports in") from error
                raise StoreError(f"the store failed: {error}") from error

    def run(self, query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """Run one statement, and return the rows that it gives."""
        with self.use() as db:
            found = db.execute(query, parameters)
            return found.fetchall() if found.description else []

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        db = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=_CONNECT_TIMEOUT,
            application_name="deniable",
            **_LOST,  # type: ignore[arg-type]
        )
        _set_timeouts(db)
        db.execute("SET search_path = deniable")
        # What others have sealed while a statement waited must be seen, whatever the database's own default is.
        db.execute("SET default_transaction_isolation = 'read committed'")
        db.execute("SET synchronous_commit = on")
        return db

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def close(self) -> None:
        """Close it, and let go of its locks."""
        with self._lock:
            if self._db is not None:
                # The server ends a session some time after it was left; its locks should not last that long.
                with suppress(psycopg.Error):
                    self._db.execute("SELECT pg_advisory_unlock_all()")
            self._drop()


def _set_timeouts(db: psycopg.Connection[Any]) -> None:
    """A database that does not get on must not hold a worker for ever."""
    db.execute("SET statement_timeout = '30s'")
    db.execute("SET lock_timeout = '10s'")


@contextmanager
def patiently(db: psycopg.Connection[Any]) -> Iterator[None]:
    """Wait however long it takes, for the length of a `with` block."""
    db.execute("SET statement_timeout = 0")
    db.execute("SET lock_timeout = 0")
    try:
        yield
    finally:
        with suppress(psycopg.Error):  # a connection that is lost is made anew, with its timeouts
            _set_timeouts(db)


def place(url: str) -> str:
    """Where a database is, without the password.

    >>> place("postgresql://me:secret@db.example.org/survey")
    'survey at db.example.org'
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise InputError(f"this is not the address of a PostgreSQL database: {error}") from error
    return f"{parts.get('dbname', 'postgres')} at {parts.get('host', 'this machine')}"

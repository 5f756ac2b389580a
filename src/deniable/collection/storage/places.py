"""Where a collector keeps its reports: a folder for SQLite, or the address of a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deniable.collection.storage.sqlite import SqliteStore
from deniable.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from deniable.collection.storage.base import Store

FILE = "reports.sqlite"
SCHEMES = ("postgresql://", "postgres://")


def open_store(data: str | Path, database: str | None = None) -> Store:
    """Open the database if one is named, else the SQLite file in the folder `data`."""
    if database is None:
        return SqliteStore(Path(data) / FILE)
    if not database.startswith(SCHEMES):
        raise InputError("a database's address begins with postgresql://, as in postgresql://user@host/survey")
    try:
        from deniable.collection.storage.postgres import PostgresStore
    except ImportError as error:
        raise MissingExtraError(
            f"PostgreSQL needs {error.name}, which is not installed: pip install 'deniable[postgres]'", extra="postgres"
        ) from error
    return PostgresStore(database)

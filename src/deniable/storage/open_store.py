"""Where a collector keeps its reports: a folder for SQLite, or the address of a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import InputError, MissingExtraError
from deniable.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from deniable.storage.postgres import PostgresStore
    from deniable.storage.store import Store

FILE = "reports.sqlite"
SCHEMES = ("postgresql://", "postgres://")
_MAGIC = b"SQLite format 3\0"


def open_store(data: str | Path, database: str | None = None) -> Store:
    """Open the database if one is named, else the SQLite file in the folder `data`."""
    if database is None:
        return SqliteStore(Path(data) / FILE)
    if not is_address(database):
        raise InputError("a database's address begins with postgresql://, as in postgresql://user@host/survey")
    return _postgres()(database)


def _postgres() -> type[PostgresStore]:
    try:
        from deniable.storage.postgres import PostgresStore
    except ImportError as error:
        raise MissingExtraError(
            f"PostgreSQL needs {error.name}, which is not installed: pip install 'deniable[postgres]'", extra="postgres"
        ) from error
    return PostgresStore


def find_store(place: str | Path) -> Store | None:
    """Open the store that is there already: a database's address, a collector's folder, its file. None: there is none.

    Nothing is made where there is none, in a database neither.

    >>> find_store("reports.parquet") is None
    True
    """
    if is_address(place):
        return _postgres().existing(str(place))
    path = Path(place) / FILE if Path(place).is_dir() else Path(place)
    return SqliteStore(path) if is_store(path) else None


def is_store(path: Path) -> bool:
    """Tell whether a file is a SQLite file, by how it begins: whoever copies it may rename it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def is_address(place: str | Path) -> bool:
    """Tell the address of a database from a path."""
    return isinstance(place, str) and place.startswith(SCHEMES)

"""A copy of a store in one SQLite file, made while reports arrive; it tells no more than a store that is sealed.

The file is a main file that holds the reports as well, in the order of their keys. Put in place as `reports.sqlite` it
is a store again, whose reports are sealed when others come. What opened something for an analyst is not copied: whoever
has the copy gets in nowhere with it, and what was revoked since stays so. The copy knows that it is one.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deniable.errors import InputError, StoreError
from deniable.storage.checksums import write_checksums
from deniable.storage.held_back import copy_held
from deniable.storage.sealed_file import count_reports
from deniable.storage.snapshot import attach, union
from deniable.storage.sqlite_files import place, replacing, uri
from deniable.storage.sqlite_tables import FORMAT, MAIN
from deniable.storage.sqlite_transactions import telling, transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from deniable.storage.sqlite_files import Layout, State

_TABLES = {"designs": "number", "tokens": "purpose, digest", "kept": "name", "rejected": "reason"}
# Where a SQLite store is, as far as it can tell: a folder may be moved, and only a copy is elsewhere.
HERE, _COPY = b"here", b"a copy"
_OPENS = (
    "DELETE FROM main.tokens WHERE purpose IN ('analyst', 'link')",
    "DELETE FROM main.kept WHERE name GLOB 'login *'",
)
_ALONE = "randomblob(16), 0, 0"  # a name of its own, and no part beside it (`bond`)
_TRIES = 100


def copy_store(layout: Layout, target: Path) -> None:
    """Copy a store into a new file."""
    with telling(layout.folder):
        with _new(target) as db:
            # The reports first: every block that one of them names is then among what is copied after.
            _copy_reports(db, layout)
            db.execute("ATTACH ? AS source", (uri(layout.main, "mode=rw"),))
            with transaction(db, "BEGIN"):
                db.execute(f"INSERT INTO main.store SELECT salt, {_ALONE} FROM source.store")  # noqa: S608 - our words
                for table, order in _TABLES.items():
                    db.execute(f"INSERT INTO main.{table} SELECT * FROM source.{table} ORDER BY {order}")  # noqa: S608
                _mark(db)
            db.execute("DETACH source")
        place(target)


def copy_rows(read: Callable[[str], Iterable[Sequence[object]]], target: Path, queries: Mapping[str, str]) -> None:
    """Write what another store's tables hold, as `read` finds it by a query for each, into such a file.

    Reports are read first, for the same reason.
    """
    with telling(target.absolute().parent):
        with _new(target) as db, transaction(db, "BEGIN"):
            for (salt,) in read(queries["store"]):
                db.execute(f"INSERT INTO main.store VALUES (?, {_ALONE})", (salt,))  # noqa: S608 - our words
            for table, query in queries.items():
                if table == "store":
                    continue
                width = len(db.execute(f"PRAGMA table_info({table})").fetchall())
                marks = ", ".join("?" * width)
                db.executemany(f"INSERT INTO {table} VALUES ({marks})", read(query))  # noqa: S608 - our names
            db.execute("DELETE FROM main.held WHERE key NOT IN (SELECT key FROM main.reports)")  # they came meanwhile
            count_reports(db)
            _mark(db)
        place(target)


def _mark(db: sqlite3.Connection) -> None:
    """Leave out what opens something, say that this is a copy, and write the checksums of its reports."""
    write_checksums(db)
    for statement in _OPENS:
        db.execute(statement)
    db.execute("INSERT OR REPLACE INTO main.kept VALUES ('home', ?)", (_COPY,))


@contextmanager
def _new(target: Path) -> Iterator[sqlite3.Connection]:
    """A new file with tables in it and nothing in them; in its place once it is whole."""
    if target.exists():
        raise InputError(f"{target} is there already; name a file that is not", path=str(target))
    with replacing(target) as db:
        for table in MAIN:
            db.execute(table)
        db.execute(f"PRAGMA user_version = {FORMAT}")
        yield db


def _copy_reports(db: sqlite3.Connection, layout: Layout) -> None:
    for _ in range(_TRIES):
        state = layout.state()
        try:
            _copy_state(db, layout, state)
        except sqlite3.Error:
            if layout.first() == state.first:
                raise
        finally:
            _detach(db)
        if layout.first() == state.first:  # else a file took the place of those that were read
            break
    else:
        raise StoreError("the store's files were replaced all the time while they were copied")
    count_reports(db)


def _copy_state(db: sqlite3.Connection, layout: Layout, state: State) -> None:
    counted, tails = attach(db, layout, state)
    parts = [f"SELECT key, design, cell FROM {part}.reports" for part in (counted, *tails)]  # noqa: S608 - our names
    with transaction(db, "BEGIN"):
        db.execute("DELETE FROM main.reports")
        db.execute(f"INSERT INTO main.reports {union(parts)} ORDER BY key")
        copy_held(db, counted, tails)


def _detach(db: sqlite3.Connection) -> None:
    """Let go of every file but the copy, however far attaching them got."""
    for _, name, _ in db.execute("PRAGMA database_list").fetchall():
        if name not in ("main", "temp"):
            db.execute(f"DETACH {name}")

"""The tables of a PostgreSQL store, from version to version, and what the database must be set to."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from deniable.errors import InputError

if TYPE_CHECKING:
    import psycopg

# Each script takes the store from the version of its position to the next. Never edit one that was released.
MIGRATIONS = (
    """
    CREATE TABLE designs (number integer PRIMARY KEY, id text NOT NULL UNIQUE, body bytea NOT NULL);
    CREATE TABLE arrived (key bytea PRIMARY KEY, design integer NOT NULL, cell text NOT NULL);
    CREATE TABLE reports (
        key bytea PRIMARY KEY,
        design integer NOT NULL REFERENCES designs,
        cell text NOT NULL
    );
    CREATE TABLE counts (
        design integer NOT NULL REFERENCES designs,
        cell text NOT NULL,
        reports bigint NOT NULL,
        PRIMARY KEY (design, cell)
    );
    CREATE TABLE tokens (digest bytea, purpose text, PRIMARY KEY (purpose, digest));
    CREATE TABLE kept (name text PRIMARY KEY, value bytea NOT NULL);
    """,
    """
    CREATE TABLE rejected (reason text PRIMARY KEY, reports bigint NOT NULL);
    """,
    # A block's cells are found by how they begin, whatever order the database's language has; others have no block.
    """
    CREATE TABLE totals (design integer PRIMARY KEY REFERENCES designs, reports bigint NOT NULL);
    INSERT INTO totals SELECT design, sum(reports) FROM counts GROUP BY design;
    CREATE INDEX counts_in_block ON counts (design, left(cell, 66)) WHERE left(cell, 2) = '["';
    """,
    # By bytes: an order of some language takes as long again among a million cells, and it may change with the system.
    """
    ALTER TABLE arrived ALTER COLUMN cell TYPE text COLLATE "C";
    ALTER TABLE counts ALTER COLUMN cell TYPE text COLLATE "C";
    """,
    # Whether cells of a design are counted; nobody knows of few reports. Those of a large survey stay as they are.
    """
    ALTER TABLE totals ADD COLUMN is_counted boolean;
    UPDATE totals SET is_counted = true WHERE reports >= 10000;
    """,
    # Sealed reports that are not shown yet (`held`).
    """
    CREATE TABLE held (key bytea PRIMARY KEY, design integer NOT NULL, cell text COLLATE "C" NOT NULL);
    """,
)
LOCK = 0x64656E69  # "deni": the advisory lock's number
ALONE = f"SELECT pg_advisory_xact_lock({LOCK})"
# What would break a promise: an acknowledgement that is not on disk, or a clock time for every row.
_SETTINGS = "SELECT current_setting('fsync'), current_setting('track_commit_timestamp')"


def refuse_settings(db: psycopg.Connection[Any]) -> None:
    """Refuse a database that would not keep what the store promises."""
    synced, timed = db.execute(_SETTINGS).fetchone() or ("", "")
    if synced != "on":
        raise InputError("the database has fsync switched off: what it acknowledges may be lost", setting="fsync")
    if timed != "off":
        raise InputError(
            "the database keeps the time of every transaction, and so of every report: set track_commit_timestamp = "
            "off and restart it",
            setting="track_commit_timestamp",
        )


def migrate(db: psycopg.Connection[Any]) -> None:
    """Make the tables, or take those of an older version over."""
    with db.transaction():
        db.execute(ALONE)  # several workers may start at once
        db.execute("CREATE SCHEMA IF NOT EXISTS deniable")
        db.execute("CREATE TABLE IF NOT EXISTS store (version integer NOT NULL, salt bytea NOT NULL)")
        found = db.execute("SELECT version FROM store").fetchone()
        version = 0 if found is None else int(found[0])
        if version > len(MIGRATIONS):
            raise InputError(
                f"this store was written by a newer version of deniable (store version {version}; this one knows "
                f"{len(MIGRATIONS)}). Upgrade deniable"
            )
        for script in MIGRATIONS[version:]:
            db.execute(script)
        if found is None:
            db.execute("INSERT INTO store VALUES (%s, %b)", (len(MIGRATIONS), secrets.token_bytes(32)))
        else:
            db.execute("UPDATE store SET version = %s", (len(MIGRATIONS),))


_DATABASE = """
    SELECT oid::text, has_function_privilege('pg_control_system()', 'execute') FROM pg_database
    WHERE datname = current_database()
"""


def home(db: psycopg.Connection[Any]) -> bytes:
    """Which database of which cluster this is: what the database's own tools put back is in another one."""
    database, is_told = db.execute(_DATABASE).fetchone() or ("", False)
    (cluster,) = (is_told and db.execute("SELECT system_identifier FROM pg_control_system()").fetchone()) or ("",)
    return f"{cluster} {database}".encode()

"""The tables of a PostgreSQL store, the number of their format, and what the database must be set to."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from deniable.errors import InputError
from deniable.storage.sqlite_transactions import other_format

if TYPE_CHECKING:
    import psycopg

FORMAT = 6  # the number of these tables' format: another one is refused
_TABLES = """
    CREATE SCHEMA IF NOT EXISTS deniable;
    CREATE TABLE store (version integer NOT NULL, salt bytea NOT NULL);
    CREATE TABLE designs (number integer PRIMARY KEY, id text NOT NULL UNIQUE, body bytea NOT NULL);
    -- Cells are in the order of their bytes: that of some language takes as long again among a million, and it may
    -- change with the system.
    CREATE TABLE arrived (key bytea PRIMARY KEY, design integer NOT NULL, cell text COLLATE "C" NOT NULL);
    CREATE TABLE reports (key bytea PRIMARY KEY, design integer NOT NULL REFERENCES designs, cell text NOT NULL);
    CREATE TABLE counts (
        design integer NOT NULL REFERENCES designs,
        cell text COLLATE "C" NOT NULL,
        reports bigint NOT NULL,
        PRIMARY KEY (design, cell)
    );
    -- A block's cells are found by how they begin; others have no block.
    CREATE INDEX counts_in_block ON counts (design, left(cell, 66)) WHERE left(cell, 2) = '["';
    -- Whether cells of a design are counted; nobody knows of few reports.
    CREATE TABLE totals (
        design integer PRIMARY KEY REFERENCES designs, reports bigint NOT NULL, is_counted boolean
    );
    -- Sealed reports that are not shown yet (`held`).
    CREATE TABLE held (key bytea PRIMARY KEY, design integer NOT NULL, cell text COLLATE "C" NOT NULL);
    CREATE TABLE tokens (digest bytea, purpose text, PRIMARY KEY (purpose, digest));
    CREATE TABLE kept (name text PRIMARY KEY, value bytea NOT NULL);
    CREATE TABLE rejected (reason text PRIMARY KEY, reports bigint NOT NULL);
"""
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


def make_tables(db: psycopg.Connection[Any], place: str) -> None:
    """Make the tables, unless they are there; refuse those of another format."""
    with db.transaction():
        db.execute(ALONE)  # several workers may start at once
        if db.execute("SELECT to_regclass('deniable.store')").fetchone() == (None,):
            db.execute(_TABLES)
            db.execute("INSERT INTO store VALUES (%s, %b)", (FORMAT, secrets.token_bytes(32)))
        (found,) = db.execute("SELECT version FROM store").fetchone() or (0,)
        if found != FORMAT:
            raise other_format(f"the database {place}", found, FORMAT)


_DATABASE = """
    SELECT oid::text, has_function_privilege('pg_control_system()', 'execute') FROM pg_database
    WHERE datname = current_database()
"""


def home(db: psycopg.Connection[Any]) -> bytes:
    """Which database of which cluster this is: what the database's own tools put back is in another one."""
    database, is_told = db.execute(_DATABASE).fetchone() or ("", False)
    (cluster,) = (is_told and db.execute("SELECT system_identifier FROM pg_control_system()").fetchone()) or ("",)
    return f"{cluster} {database}".encode()

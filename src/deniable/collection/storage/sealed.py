"""The sealed file: all sealed reports in the order of their keys, how many each cell has, and each design.

It is written in one go and never changed. SQLite writes it from a draft, row by row in the order of keys (`VACUUM
INTO`), so that its bytes follow from the reports in it, whenever and in whatever portions they came, and from the
number of the tail that comes next. The draft is a copy of the last one with the tail put in. That takes a quarter of
the time of reading both and writing what was read: pages and rows are moved as they are. Pages are four times as large
as SQLite's own, which takes three fifths of the time. Behind the last page stand the checksums of all (`checksums`).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from deniable.collection.storage.checksums import append_checksums, refuse_damage
from deniable.collection.storage.commit import transaction
from deniable.collection.storage.held import has_held, hold_back
from deniable.collection.storage.layout import PART, drafting, replacing, unfinished, uri
from deniable.collection.storage.snapshot import attach

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deniable.collection.storage.layout import Layout, State

REPORTS = "CREATE TABLE reports (key BLOB PRIMARY KEY, design INTEGER NOT NULL, cell TEXT NOT NULL) WITHOUT ROWID"
COUNTS = """
    CREATE TABLE counts (
        design INTEGER NOT NULL, cell TEXT NOT NULL, reports INTEGER NOT NULL, PRIMARY KEY (design, cell)
    ) WITHOUT ROWID
"""
_PAGE = 16384  # bytes: most of what sealing takes is by the page; who looks for one report reads a page
TOTALS = "CREATE TABLE IF NOT EXISTS totals (design INTEGER PRIMARY KEY, reports INTEGER NOT NULL)"


def write_sealed(layout: Layout, state: State, first: int, ended: Collection[int] = ()) -> None:
    """Write a sealed file of everything in a state, after which `first` is the first tail that counts.

    It is not put in its place. Of the designs that have `ended`, nothing is held back (`held`).
    """
    with drafting(layout.draft) as draft:
        draft.execute("PRAGMA temp_store = MEMORY")  # keys are written to no other file
        if state.first > 0:
            refuse_damage(layout.sealed)  # what is copied would be whole in the new file's eyes
            with closing(sqlite3.connect(uri(layout.sealed, "immutable=1"), uri=True)) as before:
                before.backup(draft)
        draft.execute(f"PRAGMA page_size = {_PAGE}")  # of what is written from it, if it has another one itself
        counted, tails = attach(draft, layout, state)
        with transaction(draft, "BEGIN"):
            if state.first == 0:
                _begin(draft, counted)
            if not _has_totals(draft):  # a file that was sealed before there were any
                draft.execute(TOTALS)
                draft.execute("INSERT INTO main.totals SELECT design, SUM(reports) FROM main.counts GROUP BY design")
            _put_in(draft, tails)
            waiting = [f"{counted}.held"] if state.first == 0 and has_held(draft, counted) else []  # of a copy put back
            hold_back(draft, [*waiting, *(f"{tail}.reports" for tail in tails)], ended)
        draft.execute(f"PRAGMA user_version = {first}")
        draft.execute("PRAGMA schema_version = 1")  # else it would tell how often was sealed
        with replacing(layout.sealed):  # makes the file, and sees to it that it is on disk
            draft.execute("VACUUM main INTO ?", (str(unfinished(layout.sealed)),))
            append_checksums(unfinished(layout.sealed))


def begin_sealed(db: sqlite3.Connection) -> None:
    """Make the tables of a sealed file."""
    db.execute(f"PRAGMA application_id = {PART}")
    db.execute(f"PRAGMA page_size = {_PAGE}")
    db.execute(REPORTS)
    db.execute(COUNTS)


def count_sealed(db: sqlite3.Connection) -> None:
    """Count the reports of a sealed file that has only them."""
    db.execute("INSERT INTO counts SELECT design, cell, COUNT(*) FROM reports GROUP BY design, cell")
    db.execute(TOTALS)
    db.execute("INSERT INTO totals SELECT design, COUNT(*) FROM reports GROUP BY design")


def _begin(draft: sqlite3.Connection, counted: str) -> None:
    """Take the reports of a main file of version 0.1."""
    begin_sealed(draft)
    for table in ("reports", "counts"):
        draft.execute(f"INSERT INTO main.{table} SELECT * FROM {counted}.{table}")  # noqa: S608 - our names


def _has_totals(draft: sqlite3.Connection) -> bool:
    return draft.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'totals'").fetchone() is not None


def _put_in(draft: sqlite3.Connection, tails: Sequence[str]) -> None:
    """Put the reports of tails among the others."""
    for tail in tails:
        draft.execute(f"INSERT INTO main.reports SELECT key, design, cell FROM {tail}.reports ORDER BY key")  # noqa: S608
        for table, of in (("counts", "design, cell"), ("totals", "design")):
            counts = f"SELECT {of}, COUNT(*) FROM {tail}.reports WHERE true GROUP BY {of}"  # noqa: S608 - our names
            added = "ON CONFLICT DO UPDATE SET reports = reports + excluded.reports"
            draft.execute(f"INSERT INTO main.{table} {counts} {added}")

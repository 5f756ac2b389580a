"""The sealed file: all sealed reports in the order of their keys, how many each cell has, and each design.

It is written in one go and never changed. What it is made of goes in sorted, so that its bytes follow from the reports
in it, whenever and in whatever portions they came, and from the number of the tail that comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.collection.storage.commit import transaction
from deniable.collection.storage.layout import PART, replacing
from deniable.collection.storage.snapshot import attach, union

if TYPE_CHECKING:
    from deniable.collection.storage.layout import Layout, State

REPORTS = "CREATE TABLE reports (key BLOB PRIMARY KEY, design INTEGER NOT NULL, cell TEXT NOT NULL) WITHOUT ROWID"
COUNTS = """
    CREATE TABLE counts (
        design INTEGER NOT NULL, cell TEXT NOT NULL, reports INTEGER NOT NULL, PRIMARY KEY (design, cell)
    ) WITHOUT ROWID
"""

TOTALS = "CREATE TABLE totals (design INTEGER PRIMARY KEY, reports INTEGER NOT NULL)"


def write_sealed(layout: Layout, state: State, first: int) -> None:
    """Write a sealed file of everything in a state, after which `first` is the first tail that counts.

    It is not put in its place.
    """
    with replacing(layout.sealed) as db:
        db.execute(f"PRAGMA application_id = {PART}")
        db.execute(f"PRAGMA user_version = {first}")
        db.execute(REPORTS)
        db.execute(COUNTS)
        db.execute(TOTALS)
        counted, tails = attach(db, layout, state)
        reports = [f"SELECT key, design, cell FROM {part}.reports" for part in (counted, *tails)]  # noqa: S608 - our names
        counts = [
            f"SELECT design, cell, reports FROM {counted}.counts",  # noqa: S608 - our names
            *(f"SELECT design, cell, COUNT(*) FROM {tail}.reports GROUP BY design, cell" for tail in tails),  # noqa: S608
        ]
        with transaction(db, "BEGIN"):
            # Each part is in the order of keys, so they are merged and not sorted.
            db.execute(f"INSERT INTO main.reports {union(reports)} ORDER BY key")
            summed = f"SELECT design, cell, SUM(reports) FROM ({union(counts)}) GROUP BY design, cell"  # noqa: S608
            db.execute(f"INSERT INTO main.counts {summed} ORDER BY design, cell")
            db.execute("INSERT INTO main.totals SELECT design, SUM(reports) FROM main.counts GROUP BY design")

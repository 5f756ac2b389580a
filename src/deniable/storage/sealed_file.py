"""The sealed file: all sealed reports in the order of their keys, how many each cell has, and each design.

It is written in one go and never changed. SQLite writes it from a draft, row by row in the order of keys (`VACUUM
INTO`), so that its bytes follow from the reports in it, whenever and in whatever portions they came, and from the
number of the tail that comes next. The draft is a copy of the last one with the tail put in. That takes a quarter of
the time of reading both and writing what was read: pages and rows are moved as they are. Pages are four times as large
as SQLite's own, which takes three fifths of the time. Behind the last page stand the checksums of all (`checksums`).

Keys are hashes, in no order: to look for each among a million in a file takes several times as long as among a
thousand, and nearly all are new. Here the first four bytes of every sealed key stand in one sorted array. A key whose
beginning is not there is not sealed. One whose beginning is there may be, and the file is asked: of new keys that is
one in 4,000 when a million are sealed.

The array follows the sealed file: whoever seals reads the keys of the tails that went into it, and puts them among the
others. After a start, or when another program has sealed, nothing is known until this one seals; the file answers
meanwhile.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from deniable.storage.checksums import append_checksums, refuse_damage
from deniable.storage.held_back import hold_back
from deniable.storage.snapshot import Snapshot, attach
from deniable.storage.sqlite_files import PART, drafting, replacing, unfinished, uri
from deniable.storage.sqlite_tables import REPORTS, SEALED
from deniable.storage.sqlite_transactions import transaction

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from deniable.storage.sqlite_files import Layout, State

_PAGE = 16384  # bytes: most of what sealing takes is by the page; who looks for one report reads a page


def write_sealed(layout: Layout, state: State, first: int, ended: Collection[int] = ()) -> None:
    """Write a sealed file of everything in a state, after which `first` is the first tail that counts.

    It is not put in its place. Of the designs that have `ended`, nothing is held back (`held`). It says of which store
    it is, and the names of the designs (`bond`).
    """
    with drafting(layout.draft) as draft:
        draft.execute("PRAGMA temp_store = MEMORY")  # keys are written to no other file
        if state.first > 0:
            refuse_damage(layout.sealed)  # what is copied would be whole in the new file's eyes
            with closing(sqlite3.connect(uri(layout.sealed, "immutable=1"), uri=True)) as before:
                before.backup(draft)
        else:
            begin_sealed(draft)
        counted, tails = attach(draft, layout, state)
        if state.first > 0:
            draft.execute("ATTACH ? AS base", (uri(layout.main, "mode=rw"),))
        with transaction(draft, "BEGIN"):
            if state.first == 0:  # nothing was ever sealed, but the main file may be a copy that was put in its place
                for table in REPORTS:
                    draft.execute(f"INSERT INTO main.{table} SELECT * FROM {counted}.{table}")  # noqa: S608 - our names
            _put_in(draft, tails)
            hold_back(draft, [f"{tail}.reports" for tail in tails], ended)
            bind(draft, "base")
        draft.execute(f"PRAGMA user_version = {first}")
        draft.execute("PRAGMA schema_version = 1")  # else it would tell how often was sealed
        with replacing(layout.sealed):  # makes the file, and sees to it that it is on disk
            draft.execute("VACUUM main INTO ?", (str(unfinished(layout.sealed)),))
            append_checksums(unfinished(layout.sealed))


def begin_sealed(db: sqlite3.Connection) -> None:
    """Make the tables of a sealed file."""
    db.execute(f"PRAGMA application_id = {PART}")
    db.execute(f"PRAGMA page_size = {_PAGE}")
    for table in SEALED.values():
        db.execute(table)


def bind(db: sqlite3.Connection, base: str) -> None:
    """Say in a sealed file of which store it is, whose main file is attached, and what its designs are called there."""
    db.execute("DELETE FROM main.of")
    db.execute(f"INSERT INTO main.of SELECT name FROM {base}.store")  # noqa: S608 - our names
    db.execute("DELETE FROM main.designs")
    db.execute(f"INSERT INTO main.designs SELECT number, id FROM {base}.designs ORDER BY number")  # noqa: S608 - likewise


def count_reports(db: sqlite3.Connection) -> None:
    """Count the reports of a file that has only them."""
    db.execute("INSERT INTO main.counts SELECT design, cell, COUNT(*) FROM main.reports GROUP BY design, cell")
    db.execute("INSERT INTO main.totals SELECT design, COUNT(*) FROM main.reports GROUP BY design")


def _put_in(draft: sqlite3.Connection, tails: Sequence[str]) -> None:
    """Put the reports of tails among the others."""
    for tail in tails:
        draft.execute(f"INSERT INTO main.reports SELECT key, design, cell FROM {tail}.reports ORDER BY key")  # noqa: S608
        for table, of in (("counts", "design, cell"), ("totals", "design")):
            counts = f"SELECT {of}, COUNT(*) FROM {tail}.reports WHERE true GROUP BY {of}"  # noqa: S608 - our names
            added = "ON CONFLICT DO UPDATE SET reports = reports + excluded.reports"
            draft.execute(f"INSERT INTO main.{table} {counts} {added}")


_BYTES = 4  # of a key
MOST = 1 << 24  # keys, in 64 MiB; of more than that nothing is known, and the file is asked


class Beginnings:
    """The beginnings of keys of at least four bytes."""

    def __init__(self, sorted_: NDArray[np.uint32]) -> None:
        """Take them, in order."""
        self._sorted = sorted_

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._sorted)

    def possible(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those of the keys that may be among these; the others are not."""
        if not len(self._sorted) or not keys:
            return []
        sought = _numbers(b"".join([key[:_BYTES] for key in keys]))
        place = np.minimum(np.searchsorted(self._sorted, sought), len(self._sorted) - 1)
        return [keys[index] for index in np.flatnonzero(self._sorted[place] == sought).tolist()]

    def and_those(self, others: Beginnings) -> Beginnings:
        """These and others."""
        both = np.concatenate([self._sorted, others._sorted])
        both.sort(kind="stable")  # in place; of two pieces that are in order it makes one by merging them
        return Beginnings(both)


def of_sealed(layout: Layout, state: State, known: Beginnings | None) -> Beginnings | None:
    """The beginnings of all keys in a state: those in its tails, and those that are `known` to be sealed.

    Where it is not known which are sealed, they are read. None if there are too many.
    """
    with closing(Snapshot(layout, state)) as snapshot:
        if snapshot.sealed > MOST:
            return None
        if known is None:
            known = read(snapshot.beginnings_sealed())
        found = known.and_those(read(snapshot.beginnings_in_tails()))
        return found if len(found) <= MOST else None


def read(texts: Sequence[str]) -> Beginnings:
    """Beginnings as SQLite writes them, eight hexadecimal digits each, one behind the other.

    >>> len(read(["0000000a0000000b", "00000001"]))
    3
    """
    found = _numbers(b"".join(map(bytes.fromhex, texts)))
    found.sort()
    return Beginnings(found)


def _numbers(together: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(together, dtype=">u4").astype(np.uint32)

"""The reports of a tail, as they arrived: rows are appended, and which keys there are is known in memory.

A table in the order of its keys would have every report change a page of its own, which is written whole: the longer
the tail, the dearer a report. Nothing but the key and the place of its row is held here (`known`), of the tail alone.
Other programs may add to the same file; SQLite tells whether somebody has. Reports in blocks are counted by cell in the
same transaction: those of the open block are few, and lie together.

Several rows go into one statement, because SQLite lets go of Python's interpreter lock around every step: a statement a
row would hand it back and forth with the server thread thousands of times a second.

Known keys, and the rows they are in, take sixteen bytes each, however many. The latest are in a dictionary, which is
quick and large. Whenever it has some thousand of them, they go into an array in the order of the keys' first eight
bytes; arrays that are not much longer than it are merged with it, so there are few. Keys that begin alike are told
apart by whoever reads the rows.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from deniable.storage.store import Row, cells_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    Sorted = tuple[NDArray[np.uint64], NDArray[np.int64]]  # how keys begin, and their rows
    import sqlite3
    from collections.abc import Iterator

LATEST = 8192  # keys in the dictionary


class Known:
    """Keys of at least eight bytes, each with the number of its row."""

    def __init__(self) -> None:
        """Know nothing."""
        self._latest: dict[bytes, int] = {}
        self._sorted: list[Sorted] = []  # the longest first

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._latest) + sum(len(rows) for _, rows in self._sorted)

    def add(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """Know some more, each with its row."""
        for key, row in keys:
            self._latest[key] = row
            if len(self._latest) >= LATEST:
                self._settle()

    def rows(self, keys: Collection[bytes]) -> list[int]:
        """The rows in which these keys are, if they are known; perhaps others, of keys that begin alike."""
        found = [self._latest[key] for key in keys if key in self._latest]
        if self._sorted and keys:
            sought = _beginnings(list(keys))
            for beginnings, rows in self._sorted:
                first = np.searchsorted(beginnings, sought)
                there = np.flatnonzero(beginnings[np.minimum(first, len(beginnings) - 1)] == sought)
                for place in there.tolist():
                    last = np.searchsorted(beginnings, sought[place], side="right")
                    found += rows[first[place] : last].tolist()
        return found

    def _settle(self) -> None:
        """Put the latest into an array."""
        made = _in_order(
            _beginnings(list(self._latest)), np.fromiter(self._latest.values(), np.int64, count=len(self._latest))
        )
        self._latest = {}
        while self._sorted and len(self._sorted[-1][1]) < 2 * len(made[1]):
            before = self._sorted.pop()
            made = _in_order(np.concatenate([before[0], made[0]]), np.concatenate([before[1], made[1]]))
        self._sorted.append(made)


def _beginnings(keys: Sequence[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join([key[:8] for key in keys]), dtype=np.uint64)


def _in_order(beginnings: NDArray[np.uint64], rows: NDArray[np.int64]) -> Sorted:
    order = np.argsort(beginnings, kind="stable")
    return beginnings[order], rows[order]


T = TypeVar("T")
MORE = "ON CONFLICT DO UPDATE SET reports = reports + excluded.reports"
BLOCK = cells_of("")  # how a cell begins that names a block
_SIZES = tuple(1 << power for power in range(8, -1, -1))  # rows a statement: few shapes, so each is prepared once


class Arrived:
    """What is in a tail. To be used by whoever holds the store's lock."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Take a connection to the tail, and read the keys in it."""
        self.db = db
        self._known = Known()
        self._last = self._version = 0
        self.look()

    def __len__(self) -> int:
        """How many reports there are."""
        return len(self._known)

    def look(self) -> None:
        """Read the keys that others have added."""
        (version,) = self.db.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._known.add(self._others())
            self._version = version

    def _others(self) -> Iterator[tuple[bytes, int]]:
        for key, row in self.db.execute("SELECT key, rowid FROM reports WHERE rowid > ?", (self._last,)):
            self._last = row
            yield key, row

    def find(self, keys: Collection[bytes]) -> dict[bytes, Row]:
        """The reports under these keys."""
        found: dict[bytes, Row] = {}
        for some in portions(self._known.rows(keys)):
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, design, cell FROM reports WHERE rowid IN ({marks})"  # noqa: S608 - question marks only
            found |= {row[0]: Row(*row) for row in self.db.execute(query, some)}
        return {key: found[key] for key in keys if key in found}  # others may begin like one of these

    def put(self, rows: Sequence[Row]) -> None:
        """Append rows whose keys are not there, within a transaction; `keep` follows when it is through."""
        self._insert("reports", rows)
        counts = Counter([row[1:] for row in rows if row.cell.startswith(BLOCK)])
        self._insert("in_blocks", [(*of, reports) for of, reports in sorted(counts.items())], MORE)

    def _insert(self, table: str, rows: Sequence[tuple[object, ...]], otherwise: str = "") -> None:
        for some in portions(rows):
            values = ", ".join(["(?, ?, ?)"] * len(some))
            self.db.execute(
                f"INSERT INTO {table} VALUES {values} {otherwise}",  # noqa: S608 - our names and question marks
                list(chain.from_iterable(some)),
            )

    def keep(self, rows: Sequence[Row]) -> None:
        """Know the rows that were put last: they lie one behind the other."""
        first = self._last + 1
        self._known.add((row.key, first + place) for place, row in enumerate(rows))
        self._last += len(rows)

    def forget(self) -> None:
        """Read all keys again before the next row is put: who knows how far the last ones came."""
        self._known = Known()
        self._last = self._version = 0

    def close(self) -> None:
        """Close the file."""
        self.db.close()


def portions(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut rows into portions of few different sizes."""
    start = 0
    for size in _SIZES:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size

"""A snapshot of a SQLite store's reports, wherever they lie: in the sealed file, in a tail, in a copy."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from deniable.storage.held_back import show_without
from deniable.storage.sqlite_files import State, uri
from deniable.storage.store import Column, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.storage.sqlite_files import Layout
    from deniable.storage.store import Mark

PAGE = 10_000  # reports
_KEYS = 256  # keys a statement
_CELLS = 200_000  # cells a text
_LAST = "\U0010ffff"  # follows whatever a cell holds
_BEGINS = "group_concat(hex(substr(key, 1, 4)), '')"


class Snapshot:
    """The reports of a state, as one table. No report is in two files of a state, so nothing is ever seen twice."""

    def __init__(self, layout: Layout, state: State, *, shown: bool = False) -> None:
        """Open the files; or what is `shown` of them while a survey runs (`held`)."""
        self.state = state
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, uri=True, timeout=30.0)
        try:
            self._counted, self._tails = attach(self._db, layout, State(state.first, ()) if shown else state)
            if shown:
                show_without(self._db, self._counted)
                self._counted = "temp"
        except BaseException:
            self._db.close()
            raise
        self._all = [self._counted, *self._tails]

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The reports under these keys."""
        found: dict[bytes, Row] = {}
        for start in range(0, len(keys), _KEYS):
            some = keys[start : start + _KEYS]
            # The last one again and again, up to a power of two: few shapes of a statement, so each is prepared once.
            some = [*some, *[some[-1]] * ((1 << (len(some) - 1).bit_length()) - len(some))]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, design, cell FROM {self._counted}.reports WHERE key IN ({marks})"  # noqa: S608 - our names
            found |= {row[0]: Row(*row) for row in self._db.execute(query, some)}
        return found | self._in_tails(keys) if keys and self._tails else found

    def _in_tails(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The same in the tails, which are in no order: each is gone through once, however many keys there are."""
        self._db.execute("PRAGMA temp_store = MEMORY")  # keys are written to no other file
        self._db.execute("CREATE TEMP TABLE wanted (key BLOB PRIMARY KEY) WITHOUT ROWID")
        try:
            self._db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((key,) for key in keys))
            among = "reports WHERE key IN (SELECT key FROM temp.wanted)"
            parts = [f"SELECT key, design, cell FROM {tail}.{among}" for tail in self._tails]  # noqa: S608 - our names
            return {row[0]: Row(*row) for row in self._ask(union(parts))}
        finally:
            self._db.execute("DROP TABLE temp.wanted")

    def counts(self, design: int, start: str = "") -> dict[str, int]:
        """How many reports each cell has; or each that begins like this, with the name of a block."""
        wanted = "design = ?1 AND cell >= ?2 AND cell < ?3"
        in_tail = "cell, reports FROM {}.in_blocks WHERE" if start else "cell, 1 FROM {}.reports WHERE"
        parts = [
            f"SELECT cell, reports FROM {self._counted}.counts WHERE {wanted}",  # noqa: S608 - our names
            *(f"SELECT {in_tail.format(tail)} {wanted}" for tail in self._tails),
        ]
        query = f"SELECT cell, SUM(reports) FROM ({union(parts)}) GROUP BY cell"  # noqa: S608
        return dict(self._ask(query, design, start, start + _LAST))

    def columns(self, design: int, known: Mark | None = None) -> list[Column]:
        """The same as long texts, put together by SQLite."""
        joined = "SELECT group_concat(cell), group_concat(reports)"
        mark = None if self.state.sealed is None else (self.state.first, self.state.sealed)
        found, last = [Column("", "", mark)] if mark is not None and mark == known else [], ""
        while not found or found[-1].cells:
            some = f"SELECT cell, reports FROM {self._counted}.counts WHERE design = ? AND cell > ?"  # noqa: S608 - our names
            ((cells, reports),) = self._ask(f"{joined} FROM ({some} ORDER BY cell LIMIT {_CELLS})", design, last)
            if cells is None:
                break
            last = cells[
                cells.rfind("]],[") + 3 if "]],[" in cells else 0 :
            ]  # to ask SQLite for it costs a quarter more
            found.append(Column(cells, reports, mark))
        for tail in self._tails:
            some = f"SELECT cell, COUNT(*) AS reports FROM {tail}.reports WHERE design = ? GROUP BY cell"  # noqa: S608
            ((cells, reports),) = self._ask(f"{joined} FROM ({some})", design)
            if cells is not None:
                found.append(Column(cells, reports))
        return found

    def total(self, design: int) -> int:
        """How many reports there are."""
        parts = [f"SELECT reports FROM {part}.totals WHERE design = ?1" for part in self._all]  # noqa: S608 - our names
        ((total,),) = self._ask(f"SELECT COALESCE(SUM(reports), 0) FROM ({union(parts)})", design)  # noqa: S608
        return int(total)

    @property
    def sealed(self) -> int:
        """How many reports are sealed, of all designs."""
        ((total,),) = self._ask(f"SELECT COALESCE(SUM(reports), 0) FROM {self._counted}.totals")  # noqa: S608 - our names
        return int(total)

    def beginnings_sealed(self) -> list[str]:
        """How the keys begin that are in no tail: in hexadecimal digits, one behind the other, in a few long texts."""
        found, last = list[str](), b""
        while True:
            some = f"SELECT key FROM {self._counted}.reports WHERE key > ? ORDER BY key LIMIT {_CELLS}"  # noqa: S608 - our names
            ((begin, last),) = self._ask(f"SELECT {_BEGINS}, MAX(key) FROM ({some})", last)  # noqa: S608
            if begin is None:
                return found
            found.append(begin)

    def beginnings_in_tails(self) -> list[str]:
        """The same of those that are in tails."""
        asked = (self._ask(f"SELECT {_BEGINS} FROM {tail}.reports") for tail in self._tails)  # noqa: S608 - our names
        return [begin for ((begin,),) in asked if begin is not None]

    def recount(self, design: int) -> dict[str, int]:
        """The counts by GROUP BY over the reports."""
        parts = [f"SELECT cell FROM {part}.reports WHERE design = ?1" for part in self._all]  # noqa: S608 - our names
        return dict(self._ask(f"SELECT cell, COUNT(*) FROM ({union(parts)}) GROUP BY cell", design))  # noqa: S608

    def page(self, design: int, after: bytes) -> list[tuple[bytes, str]]:
        """Some reports, in the order of their keys."""
        parts = [f"SELECT key, cell FROM {part}.reports WHERE key > ?2 AND design = ?1" for part in self._all]  # noqa: S608
        return self._ask(f"{union(parts)} ORDER BY key LIMIT {PAGE}", design, after)

    def close(self) -> None:
        """Close the files."""
        self._db.close()

    def _ask(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._db.execute(query, parameters).fetchall()


def attach(db: sqlite3.Connection, layout: Layout, state: State) -> tuple[str, list[str]]:
    """Attach the files of a state. Returns the name of the one that keeps counts, and those of the tails."""
    counted = "sealed" if state.first > 0 else "base"
    path = uri(layout.sealed, "immutable=1") if state.first > 0 else uri(layout.main, "mode=rw")
    db.execute(f"ATTACH ? AS {counted}", (path,))
    tails = [f"tail{number}" for number in state.tails]
    for number, name in zip(state.tails, tails, strict=True):
        db.execute(f"ATTACH ? AS {name}", (uri(layout.tail(number), "mode=rw"),))
    return counted, tails


def union(parts: Sequence[str]) -> str:
    """One table out of several."""
    return " UNION ALL ".join(parts)

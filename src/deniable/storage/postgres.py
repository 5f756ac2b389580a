"""PostgreSQL: a store for several workers, each with a connection of its own that writes.

A heap table lies on disk in the order in which its rows came, and every row carries the number of the transaction that
wrote it. So reports arrive in one table and are **sealed** into another: twenty or more are moved together, one for ten
that are sealed up to a thousand, in the order of their keys, by one transaction; after ten minutes however few.
What is left of their arrival is that they came with those others. `compact` removes that too.

::

    arrived (a report a row)  --seal, under a lock-->  reports (the same, in the order of keys), counts, held

Counts of sealed reports are kept in the sealing transaction; the few that are not sealed are grouped when asked for.
Where nearly every report is in a cell of its own (sets, hashes), counts would be the reports once more: they are given
up after the first ten thousand, and the reports themselves are read. One
statement reads all of it, so that no reader ever sees a report twice or not at all.

A key must be unique over both tables. Writers hold an advisory lock that they share; sealing takes it alone.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.errors import InputError, StoreError
from deniable.storage import postgres_statements as sql
from deniable.storage.copy_store import copy_rows
from deniable.storage.postgres_connection import Connection, patiently, place
from deniable.storage.postgres_schema import ALONE, LOCK, home, make_tables, refuse_settings
from deniable.storage.store import Column, Fate, Row, cells_of, fates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from deniable.storage.store import Mark

SEGMENT = 1000  # reports that are sealed together where many are sealed, unless time is up
TENTH = 10  # where fewer are, one for so many
ENOUGH = 10_000  # reports that tell whether cells repeat
UNLIKE = 0.98  # of them: where so many cells are different, counting them is writing the reports once more
PATIENCE = 600.0  # seconds after which what has arrived is sealed, however little it is
_CLAIM = LOCK + 1  # the lock of `claim`, held by a session
_LOCK_TIMEOUT = "5s"  # a backup may hold a table; sealing then waits for another time
_TOGETHER = f"SELECT pg_advisory_xact_lock_shared({LOCK})"


class PostgresStore:
    """Reports in the schema `deniable` of a PostgreSQL database.

    Args:
        url: as libpq reads it: postgresql://user@host/database. A password is better kept in ~/.pgpass.
    """

    is_shared = True

    def __init__(self, url: str) -> None:
        self.place = url
        self._writer, self._reader = Connection(url), Connection(url)
        self._claimed = Connection(url)  # never used for anything else, so that nothing but its loss ends the claim
        try:
            with self._writer.use() as db:
                refuse_settings(db)
                make_tables(db, place(url))
                (self.salt,) = db.execute("SELECT salt FROM store").fetchone() or (b"",)
                self.home = home(db)
        except StoreError as error:
            self._close()
            raise _unusable(url, error) from error
        except BaseException:
            self._close()
            raise
        # What others left behind is not known: look after the first reports.
        self._unsealed = self._enough = FEWEST_TOGETHER
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @classmethod
    def existing(cls, url: str) -> PostgresStore | None:
        """Open the store that a database holds. Whoever looks for one makes none: the database may be any."""
        looking = Connection(url)
        try:
            with looking.use() as db:
                (is_there,) = db.execute("SELECT to_regclass('deniable.store') IS NOT NULL").fetchone() or (False,)
        except StoreError as error:
            raise _unusable(url, error) from error
        finally:
            looking.close()
        return cls(url) if is_there else None

    @property
    def folder(self) -> None:
        """It has no files of its own."""

    # -- designs ------------------------------------------------------------------------------------------------------

    def register(self, design_id: str, body: bytes) -> int:
        """Keep a design for good, and return its number in this store."""
        with self._writer.use() as db, db.transaction():
            db.execute(ALONE)
            db.execute(
                "INSERT INTO designs SELECT coalesce(max(number), 0) + 1, %s, %b FROM designs ON CONFLICT DO NOTHING",
                (design_id, body),
            )
            found = db.execute("SELECT number FROM designs WHERE id = %s", (design_id,)).fetchone()
        assert found is not None
        return int(found[0])

    def designs(self) -> dict[str, tuple[int, bytes]]:
        """Every design ever served: its id, its number, its bytes."""
        rows = self._read("SELECT id, number, body FROM designs ORDER BY number")
        return {name: (number, body) for name, number, body in rows}

    # -- reports ------------------------------------------------------------------------------------------------------

    def add(self, rows: Sequence[Row]) -> list[Fate]:
        """Store rows, all in one transaction."""
        fresh: dict[bytes, Row] = {}
        for row in rows:
            fresh.setdefault(row.key, row)
        # In the order of their keys: two workers with the same keys then wait for each other in the same order.
        keys = sorted(fresh)
        columns = (keys, [fresh[key].design for key in keys], [fresh[key].cell for key in keys])
        taken: dict[bytes, Row] = {}
        with self._writer.use() as db:
            # Sent together: one round trip.
            with db.pipeline(), db.transaction():
                db.execute(_TOGETHER)
                stored = db.execute(sql.INSERT, columns, binary=True)
            new = {key for (key,) in stored.fetchall()}
            if len(new) < len(keys):
                there = [key for key in keys if key not in new]
                found = db.execute(sql.FIND, (there, there), binary=True).fetchall()
                taken = {key: Row(key, design, cell) for key, design, cell in found}
        self._unsealed += len(new)
        if self._unsealed >= self._enough:
            with suppress(StoreError):  # these reports are stored; they will be sealed with the next ones
                self._seal()
        return fates(rows, fresh, taken)

    def seal(self) -> None:
        """Seal what has arrived."""
        self._seal(least=1)

    def _seal(self, least: int | None = None) -> None:
        """Move what has arrived to the sealed reports, if there are `least`, or else enough to be worth it."""
        self._unsealed = 0
        with self._writer.use() as db:
            with db.transaction():
                db.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
                db.execute(ALONE)
                (arrived,) = db.execute("SELECT count(*) FROM arrived").fetchone() or (0,)
                (sealed,) = db.execute("SELECT coalesce(sum(reports), 0)::bigint FROM totals").fetchone() or (0,)
                self._enough = min(SEGMENT, max(FEWEST_TOGETHER, sealed // TENTH))
                if arrived < (self._enough if least is None else least):
                    self._unsealed = arrived
                    return
                db.execute(sql.SEAL)
                db.execute(sql.SHOW)
                decided = db.execute(sql.DECIDE, (UNLIKE, ENOUGH)).fetchall()
                given_up = [design for design, is_counted in decided if not is_counted]
                db.execute("DELETE FROM counts WHERE design = ANY(%s)", (given_up,))
            # The rows that were moved, still in their order; and those that were given up.
            db.execute("VACUUM arrived, held, counts" if given_up else "VACUUM arrived, held")

    def find(self, keys: Sequence[bytes], *, shown: bool = False) -> dict[bytes, Row]:
        """The reports under these keys."""
        if not keys:  # whoever looks at results asks for those that are simulated, and mostly there are none
            return {}
        rows = self._read(sql.FIND_SHOWN, list(keys)) if shown else self._read(sql.FIND, list(keys), list(keys))
        return {key: Row(key, design, cell) for key, design, cell in rows}

    def counts(self, design: int, *, shown: bool = False) -> dict[str, int]:
        """How many reports each cell has."""
        return dict(self._read(sql.COUNTS_SHOWN if shown else sql.COUNTS, *[design] * 4))

    def counts_in(self, design: int, block: str, *, shown: bool = False) -> dict[str, int]:
        """The same for the cells of one block."""
        start = cells_of(block)
        if shown:
            return dict(self._read(sql.COUNTS_IN_SHOWN, *[design] * 4, start))
        return dict(self._read(sql.COUNTS_IN, design, start, design, start))

    def columns(
        self,
        design: int,
        known: Mark | None = None,  # noqa: ARG002 - nothing here stays as it is
        *,
        shown: bool = False,
    ) -> list[Column]:
        """The same as a few long texts, put together by the database."""
        return [Column(*found) for found in self._read(sql.COLUMNS_SHOWN if shown else sql.COLUMNS, *[design] * 4)]

    def total(self, design: int, *, shown: bool = False) -> int:
        """How many reports there are."""
        ((total,),) = self._read(sql.TOTAL_SHOWN if shown else sql.TOTAL, design, design)
        return int(total)

    def recount(self, design: int) -> dict[str, int]:
        """The same by GROUP BY over the reports."""
        return dict(self._read(sql.RECOUNT, design, design))

    def scan(self, design: int) -> Iterator[str]:
        """The cells of all reports, in the order of their keys."""
        last = b""
        while page := self._read(sql.SCAN, design, last, design, last):
            for last, cell in page:  # noqa: B007 - the next page begins after it
                yield cell

    def add_rejected(self, reasons: Mapping[str, int]) -> None:
        """Count what was turned away."""
        # Not by _read, which tries again: what was written before the connection was lost would count twice.
        self._writer.run(sql.REJECT, (list(reasons), list(reasons.values())))

    def rejected(self) -> dict[str, int]:
        """How much was ever turned away, by reason."""
        return dict(self._read("SELECT reason, reports FROM rejected ORDER BY reason"))

    def _read(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        try:
            return self._reader.run(query, parameters)
        except StoreError:  # the connection may have been lost long ago
            return self._reader.run(query, parameters)

    # -- secrets ------------------------------------------------------------------------------------------------------

    def add_token(self, digest: bytes, purpose: str) -> None:
        """Keep the hash of a secret that opens something."""
        self.add_tokens([digest], purpose)

    def add_tokens(self, digests: Sequence[bytes], purpose: str) -> None:
        """Keep many hashes at once."""
        self._read(
            "INSERT INTO tokens SELECT digest, %s FROM unnest(%b::bytea[]) AS d (digest) ON CONFLICT DO NOTHING",
            purpose,
            sorted(digests),
        )

    def has_token(self, digest: bytes, purpose: str) -> bool:
        """Tell whether this is the hash of such a secret."""
        return bool(self.held([digest], purpose))

    def held(self, digests: Sequence[bytes], purpose: str) -> set[bytes]:
        """Which of these hashes are there."""
        rows = self._read("SELECT digest FROM tokens WHERE purpose = %s AND digest = ANY(%b)", purpose, list(digests))
        return {digest for (digest,) in rows}

    def has_tokens(self, purpose: str) -> bool:
        """Tell whether any such secret was ever made."""
        return bool(self._read("SELECT 1 FROM tokens WHERE purpose = %s LIMIT 1", purpose))

    def drop_tokens(self, purpose: str) -> None:
        """Forget all hashes of a purpose."""
        self._read("DELETE FROM tokens WHERE purpose = %s", purpose)

    def tokens(self, purpose: str) -> list[bytes]:
        """All hashes of a purpose, in order."""
        rows = self._read("SELECT digest FROM tokens WHERE purpose = %s ORDER BY digest", purpose)
        return [bytes(found) for (found,) in rows]

    def save(self, name: str, value: bytes) -> bytes:
        """Keep a value under a name, unless there is one."""
        self._read("INSERT INTO kept VALUES (%s, %b) ON CONFLICT DO NOTHING", name, value)
        first = self.saved(name)
        assert first is not None
        return first

    def saved(self, name: str) -> bytes | None:
        """The value under a name."""
        found = self._read("SELECT value FROM kept WHERE name = %s", name)
        return bytes(found[0][0]) if found else None

    def saved_under(self, start: str) -> dict[str, bytes]:
        """The values under all names that begin like this."""
        rows = self._read("SELECT name, value FROM kept WHERE starts_with(name, %s) ORDER BY name", start)
        return {name: bytes(value) for name, value in rows}

    def forget(self, start: str) -> None:
        """Drop the values under all names that begin like this."""
        self._read("DELETE FROM kept WHERE starts_with(name, %s)", start)

    def drop(self, name: str) -> None:
        """Drop the value under a name."""
        self._read("DELETE FROM kept WHERE name = %s", name)

    # -- housekeeping -------------------------------------------------------------------------------------------------

    def claim(self) -> bool:
        """Be the one program that does what only one may do."""
        # A session may take its own lock again, so asking twice is harmless.
        ((taken,),) = self._claimed.run("SELECT pg_try_advisory_lock(%s)", (_CLAIM,))
        return bool(taken)

    def tend(self) -> None:
        """Seal what has arrived whenever time is up; what was left unsealed, now."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._tend, name="deniable-sealer", daemon=True)
            self._thread.start()

    def _tend(self) -> None:
        while True:
            with suppress(StoreError):  # the reports are safe where they are
                self._seal(least=1)
            if self._stop.wait(PATIENCE):
                return

    def show(self, plan: str, design: str) -> str | None:  # noqa: ARG002 - the protocol's
        """Nothing is known of other programs: which words count is decided by the first report."""
        return None

    def copy(self, target: Path) -> None:
        """Copy everything into one new SQLite file."""
        copy_rows(self._read, target, sql.COPIED)

    def compact(self, ended: Collection[int] = ()) -> None:
        """Seal everything, and write it anew in the order of keys, as if all had come in one transaction.

        Nothing is held back to designs that have `ended`.

        Not by a new table in the place of the old one: a backup that began before would find neither.
        """
        self._seal(least=0)
        with self._writer.use() as db, patiently(db):
            with db.transaction():
                db.execute(ALONE)
                db.execute("DELETE FROM held WHERE design = ANY(%s)", (list(ended),))
                db.execute("UPDATE held SET design = design")
                db.execute("UPDATE reports SET design = design")
                db.execute("UPDATE counts SET reports = reports")
                db.execute("UPDATE totals SET reports = reports")
            db.execute("CLUSTER reports USING reports_pkey")
            db.execute("CLUSTER counts USING counts_pkey")
            db.execute("CLUSTER totals USING totals_pkey")
            db.execute("CLUSTER held USING held_pkey")
            for table in ("tokens", "kept"):
                db.execute(f"CLUSTER {table} USING {table}_pkey")  # what was dropped is gone from the files

    def destroy(self) -> None:
        """Drop the schema with everything in it."""
        mine = [one.run("SELECT pg_backend_pid()", ())[0][0] for one in (self._claimed, self._reader, self._writer)]
        ((others,),) = self._reader.run(sql.OTHERS, (mine,))
        if others:
            raise InputError(f"the database {place(self.place)} is in use: stop every collector first")
        with self._writer.use() as db, db.transaction():
            db.execute(ALONE)
            db.execute("DROP SCHEMA deniable CASCADE")
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
        self._close()

    def _close(self) -> None:
        for connection in (self._claimed, self._reader, self._writer):
            connection.close()


def _unusable(url: str, error: StoreError) -> InputError:
    return InputError(f"the database {place(url)} cannot be used: {error.message}")

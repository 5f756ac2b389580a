"""The append log of a SQLite store: reports arrive in a tail, and are sealed into a file that keeps no order.

::

    add --> tail (write-ahead log, synced)  --seal-->  a new sealed file, in the order of keys, in the old one's place

The tail shows in which order its reports came, because what is acknowledged must be on disk at once. It is sealed when
it holds twenty reports and a tenth as many as are sealed, and after ten minutes whatever it holds. Sealing writes
all reports anew, in a thread of its own, while new ones arrive in the next tail. So a report is written about eleven
times in all, however many there are: to seal every twenty would take time that grows with the square of their number.
Besides, sealing is given about a tenth of the time; a load beyond that lengthens the tail.

A crash at any instant leaves files of which `sqlite_files.State` says which count. Nothing is in two that do.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from contextlib import closing, suppress
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.errors import StoreError
from deniable.storage.checksums import DamagedStoreError
from deniable.storage.sealed_file import Beginnings, of_sealed, write_sealed
from deniable.storage.snapshot import Snapshot
from deniable.storage.sqlite_files import PART, State, discard, place, remove, replacing, unfinished, uri
from deniable.storage.sqlite_tables import TAIL
from deniable.storage.sqlite_transactions import Alone, taken, telling, transaction
from deniable.storage.store import Fate, Row, fates
from deniable.storage.unsealed_reports import MORE, Arrived

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from deniable.storage.sqlite_files import Layout
    from deniable.storage.store import Column, Mark

SEGMENT = FEWEST_TOGETHER  # reports that are sealed together, at least, unless time is up
TENTH = 10  # the tail is sealed when it holds one report for so many that are sealed
PATIENCE = 600.0  # seconds after which the tail is sealed, whatever it holds
SHARE = 0.1  # of the time, at most, is spent on sealing
_LATER = 5.0  # seconds to wait after sealing failed, or while another program seals
_TRIES = 1000  # to read while files are replaced; a second one is rare
_CACHE_KIB = 4096  # rows are appended, so few pages are ever read again
_JOURNAL_PAGES = 10_000  # 40 MB: a page changed by many commits is copied back once
_ADD = f"INSERT INTO totals VALUES (?, ?) {MORE}"  # noqa: S608 - our words
T = TypeVar("T")


class Tail:
    """Adds reports, seals them, and reads both.

    Args:
        layout: the store's files.
        empty: empties a main file that is a copy put in its place; called once the reports in it are sealed, perhaps
            repeatedly.
        say: has the main file say which parts there must be, `sealed` and `tail`; returns the name of the store
            (`bond`).
    """

    def __init__(self, layout: Layout, empty: Callable[[], None], say: Callable[..., bytes]) -> None:
        self._layout, self._empty, self._say = layout, empty, say
        # Who holds the first is the only one, of all threads and programs, that changes which files there are and what
        # is in them.
        self._alone, self._reading, self._sealing = Alone(layout.lock), threading.Lock(), threading.Lock()
        self._snapshots: dict[bool, Snapshot] = {}  # what readers see: everything, or what is shown
        self._state: State | None = None  # what the writer knows
        self._tails: list[Arrived] = []  # the last is written to
        self._frozen: Snapshot | None = None  # everything but the tails
        self._begin: Beginnings | None = None  # how the keys in there begin, if that is known
        self._sealed: tuple[tuple[int, int | None], Beginnings | None] | None = None  # the same by a sealed file's mark
        self._damage: DamagedStoreError | None = None  # what was found in the sealed file
        self._enough = SEGMENT  # how many are sealed together
        self._thread: threading.Thread | None = None
        self._wake, self._stop = threading.Event(), threading.Event()

    # -- writing ------------------------------------------------------------------------------------------------------

    def add(self, rows: Sequence[Row]) -> list[Fate]:
        """Store rows, all in one transaction."""
        self._refuse_damage()
        self.tend()
        fresh: dict[bytes, Row] = {}
        for row in rows:
            fresh.setdefault(row.key, row)
        keys = sorted(fresh)  # neighbours share pages, and what came together is shuffled
        with telling(self._layout.folder), self._alone:
            tails, frozen = self._follow()
            try:
                taken = self._put(tails, frozen, fresh, keys)
            except BaseException:
                tails[-1].forget()  # it stays open: on a full disk it could not be opened again
                raise
            is_due = len(tails[-1]) >= self._enough
        if is_due:
            self._wake.set()
        if not taken and len(fresh) == len(rows):
            return [Fate.STORED] * len(rows)
        return fates(rows, fresh, taken)

    def _put(
        self, tails: Sequence[Arrived], frozen: Snapshot, fresh: Mapping[bytes, Row], keys: Sequence[bytes]
    ) -> dict[bytes, Row]:
        """Append those that are nowhere yet; returns the others as they are stored."""
        last = tails[-1]
        with transaction(last.db):
            last.look()
            taken = frozen.find(keys if self._begin is None else self._begin.possible(keys))
            for tail in tails:
                taken |= tail.find(keys)
            new = [fresh[key] for key in keys if key not in taken]
            if new:
                last.put(new)
                last.db.executemany(_ADD, Counter(row.design for row in new).items())
        last.keep(new)
        return taken

    def _follow(self) -> tuple[list[Arrived], Snapshot]:
        """The tails, of which the last is added to, and the rest; somebody else may have sealed meanwhile."""
        if self._state is None or self._frozen is None or not self._layout.is_still(self._state):
            known = {} if self._state is None else dict(zip(self._state.files, self._tails, strict=True))
            try:
                self._open(known)
            finally:
                for one in known.values():
                    if one not in self._tails:
                        one.close()
        assert self._frozen is not None
        return self._tails, self._frozen

    def _open(self, known: Mapping[int, Arrived]) -> None:
        """Open what there is now; of a tail that stays, what is known is not read again."""
        self._tails = []
        self._leave()
        state = self._layout.state()
        if not state.tails:
            self._new_tail(max(state.first, 1))
            state = self._layout.state()
        for file, number in zip(state.files, state.tails, strict=True):
            self._tails.append(known.get(file) or Arrived(_connect(self._layout.tail(number))))
        self._frozen = Snapshot(self._layout, State(state.first, ()))
        sealed = self._frozen.sealed
        self._enough = max(SEGMENT, sealed // TENTH)
        begin = self._beginnings(state)
        self._begin = begin if begin is not None and len(begin) == sealed else None  # never less than there is
        self._state = state

    def _beginnings(self, state: State) -> Beginnings | None:
        """How the keys begin that are sealed in a state, if this program sealed them."""
        return self._sealed[1] if self._sealed is not None and self._sealed[0] == (state.first, state.sealed) else None

    def _leave(self) -> None:
        for tail in self._tails:
            tail.close()
        if self._frozen is not None:
            self._frozen.close()
        self._tails, self._frozen, self._state, self._begin = [], None, None, None

    def _new_tail(self, number: int) -> int:
        path = self._layout.tail(number)
        with replacing(path) as db:
            db.execute(f"PRAGMA application_id = {PART}")
            for table in TAIL:
                db.execute(table)
            db.execute("INSERT INTO of VALUES (?)", (self._say(),))
        place(path)
        self._say(tail=number)
        return number

    # -- sealing ------------------------------------------------------------------------------------------------------

    def tend(self) -> None:
        """Begin to seal whenever it is due, until this is closed."""
        if self._thread is not None:
            return
        with telling(self._layout.folder), self._alone:
            self._layout.sweep()
            state = self._layout.state()
            self._say(sealed=state.first, tail=max(state.tails, default=0))
            if state.first > 0:
                self._empty()  # whoever sealed may have been killed before
            if state.first == 0 and not _is_empty(self._layout.main):
                self._wake.set()
            if not all(_is_empty(self._layout.tail(number)) for number in state.tails):
                self._wake.set()  # nobody knows for how long they have been there
        self._thread = threading.Thread(target=self._tend, name="deniable-sealer", daemon=True)
        self._thread.start()

    def _tend(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(PATIENCE)
            self._wake.clear()
            if self._stop.is_set():
                return
            began = monotonic()
            try:
                if not self.seal(wait=False):  # another program seals: perhaps these, perhaps not
                    self._stop.wait(_LATER)
                    self._wake.set()
            except StoreError:  # the reports are safe where they are
                self._stop.wait(_LATER)
            self._stop.wait((1 / SHARE - 1) * (monotonic() - began))

    def seal_all(self, ended: Collection[int] = ()) -> None:
        """Seal every report, and hold back none to designs that have ended."""
        self.seal()  # what somebody began and did not finish, or the tail
        self.seal(ended=ended)

    def seal(self, *, wait: bool = True, ended: Collection[int] = ()) -> bool:
        """Seal the tail, or what somebody began to seal and did not finish. Of all programs, one does at a time.

        Returns False only to those who do not want to wait for another program.
        """
        with self._sealing, telling(self._layout.folder), taken(self._layout.sealing, wait=wait) as mine:
            if mine:
                discard(self._layout.sealed)
                discard(self._layout.draft)
                try:
                    self._seal(ended)
                except DamagedStoreError as error:
                    self._damage = error
                    raise
            return mine

    def _refuse_damage(self) -> None:
        """Count nothing that is damaged, and acknowledge nothing on a disk that damages."""
        if self._damage is not None:
            raise self._damage

    def _seal(self, ended: Collection[int] = ()) -> None:
        with self._alone:
            state = self._layout.state()
            closing, first = self._closing(state, always=bool(ended))
        if first is None:
            return
        whole = State(state.first, closing)
        write_sealed(self._layout, whole, first, ended)
        begin = of_sealed(self._layout, whole, self._beginnings(state))
        with self._alone:
            if self._layout.first() != state.first:  # where there are no locks, another program may have been quicker
                remove(unfinished(self._layout.sealed))
                return
            place(self._layout.sealed)
            self._sealed = self._layout.mark(), begin
            self._leave()
            self._layout.sweep()
            self._say(sealed=first)
            if state.first == 0:
                self._empty()

    def _closing(self, state: State, *, always: bool) -> tuple[tuple[int, ...], int | None]:
        """Which tails are to be sealed, and the number of the first one after them; None if nothing is to be."""
        if len(state.tails) > 1:  # somebody was interrupted
            return state.tails[:-1], state.tails[-1]
        if state.tails and (always or not _is_empty(self._layout.tail(state.tails[0]))):
            # From now on reports arrive in a new one.
            return state.tails, self._new_tail(state.tails[0] + 1)
        if always or (state.first == 0 and not _is_empty(self._layout.main)):
            return (), max((1, state.first, *state.tails))
        return (), None

    def close(self) -> None:
        """Seal what is left, if this has been tended to, and close every file."""
        if self._thread is not None:
            self._stop.set()
            self._wake.set()
            self._thread.join()
            with suppress(StoreError):  # there may be no space: then it stays in the tail
                self.seal_all()
                self._drop_empty_tail()
        with self._alone.threads, self._reading:
            self._leave()
            self._alone.close()
            while self._snapshots:
                self._snapshots.popitem()[1].close()

    def _drop_empty_tail(self) -> None:
        with telling(self._layout.folder), self._alone:
            self._leave()
            for number in reversed(self._layout.state().tails):  # from the end: no gap may be left
                path = self._layout.tail(number)
                if not _is_empty(path):
                    return
                self._say(tail=number - 1)
                remove(path)

    # -- reading ------------------------------------------------------------------------------------------------------

    def find(self, keys: Sequence[bytes], *, shown: bool = False) -> dict[bytes, Row]:
        """The reports under these keys; here and below all that there are, or those that are shown."""
        return self._read(lambda snapshot: snapshot.find(keys), shown=shown)

    def counts(self, design: int, start: str = "", *, shown: bool = False) -> dict[str, int]:
        """How many reports each cell has that begins like this."""
        return self._read(lambda snapshot: snapshot.counts(design, start), shown=shown)

    def columns(self, design: int, known: Mark | None = None, *, shown: bool = False) -> list[Column]:
        """The same as a few long texts, without those of a sealed file that is known."""
        return self._read(lambda snapshot: snapshot.columns(design, known), shown=shown)

    def total(self, design: int, *, shown: bool = False) -> int:
        """How many reports there are."""
        return self._read(lambda snapshot: snapshot.total(design), shown=shown)

    def recount(self, design: int) -> dict[str, int]:
        """The counts by GROUP BY over the reports."""
        return self._read(lambda snapshot: snapshot.recount(design))

    def scan(self, design: int) -> Iterator[str]:
        """The cells of all reports, in the order of their keys."""
        last = b""
        # Page by page, so that neither a lock nor a snapshot is held while the caller works.
        while page := self._page(design, last):
            for last, cell in page:  # noqa: B007 - the next page begins after it
                yield cell

    def _page(self, design: int, after: bytes) -> list[tuple[bytes, str]]:
        return self._read(lambda snapshot: snapshot.page(design, after))

    def _read(self, question: Callable[[Snapshot], T], *, shown: bool = False) -> T:
        """Ask, and ask again if meanwhile a sealed file took the place of those that were read."""
        self._refuse_damage()
        with telling(self._layout.folder), self._reading:
            for _ in range(_TRIES):
                state = self._layout.state()
                try:
                    found = question(self._seen(state, shown=shown))
                except sqlite3.Error:
                    if self._layout.first() == state.first:
                        raise
                    continue
                if self._layout.first() == state.first:
                    return found
        raise StoreError("the store's files were replaced all the time while they were read")

    def _seen(self, state: State, *, shown: bool) -> Snapshot:
        """What a reader sees of a state, opened once. What is shown stays the same while others arrive in the tail."""
        known = self._snapshots.get(shown)
        same = known is not None and (
            (known.state.first, known.state.sealed) == (state.first, state.sealed) if shown else known.state == state
        )
        if known is None or not same:
            if known is not None:
                self._snapshots.pop(shown).close()
            known = self._snapshots[shown] = Snapshot(self._layout, state, shown=shown)
        return known


def _connect(path: Path) -> sqlite3.Connection:
    # Used from several threads, one at a time: the lock sees to that.
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute(f"PRAGMA wal_autocheckpoint = {_JOURNAL_PAGES}")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return db


def _is_empty(path: Path) -> bool:
    """Tell whether no report is in a file."""
    with closing(sqlite3.connect(uri(path, "mode=rw"), uri=True, timeout=30.0)) as db:
        return db.execute("SELECT 1 FROM reports LIMIT 1").fetchone() is None

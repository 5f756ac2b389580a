"""The life cycle of a survey: whether it takes reports now, and how it is closed for good.

An end is kept in the store, and the event loop never waits for the store. A survey ends by its date, or because
somebody ended it. Both are marked in the store under the name that its entrance has, which amendments share: a clock
that jumps back opens nothing again. The mark of a date names the date, so that a survey whose date is moved goes on
(unless it had an issuer, whose secret is deleted at the end).

Whichever way it ends (its date passes, somebody presses the button, or runs `deniable close`), nothing is left that
tells who took part: every invitation is marked as used, the issuer's secret key is deleted, and the reports are written
anew. A survey that was closed stays closed, also if the clock is set back.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from datetime import datetime
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.storage.store import Store
    from deniable.surveys.survey import Survey

FRESH = 1.0  # seconds for which what the store said is believed
SETTLE = 1.5  # seconds after an end in which others notice it, and what was on its way arrives


def end_mark(name: str) -> str:
    """What the store keeps once somebody has ended a survey."""
    return f"end {name}"


def date_mark(name: str, closes: datetime) -> str:
    """What the store keeps once a survey's date was seen to be over."""
    return f"closed {name} {closes.isoformat()}"


def given_date(name: str, closes: datetime | None = None) -> str:
    """What the store keeps of every date that a survey was ever given; how all of them begin, if none is named."""
    return f"date {name} {'' if closes is None else closes.isoformat()}"


class Ends:
    """Which surveys that were served earlier from the same store are over, as one worker knows it.

    They end by the latest date that they were ever given, or because somebody ended them. Either may happen while
    another survey is served: `look` asks the store, which `Opening` does once a second; `is_over` asks nobody.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        """Follow no survey yet."""
        self._store, self._now = store, now
        self._names: set[str] = set()
        self._dates: dict[str, datetime] = {}
        self._over: frozenset[str] = frozenset()

    def follow(self, name: str) -> None:
        """Follow a survey by its name."""
        self._names.add(name)

    def is_over(self, name: str) -> bool:
        """Whether a survey takes no more reports, as far as this worker knows."""
        return name in self._over or (name in self._dates and self._dates[name] <= self._now())

    def look(self) -> None:
        """Ask the store. Waits for it."""
        self._over = frozenset(name for name in list(self._names) if self._was_ended(name) or self._has_passed(name))

    def _was_ended(self, name: str) -> bool:
        return self._store.saved(end_mark(name)) is not None

    def _has_passed(self, name: str) -> bool:
        """Whether the date was ever seen to be over; if that is now, keep it for whoever starts with another clock."""
        dates = [key.removeprefix(given_date(name)) for key in self._store.saved_under(given_date(name))]
        if not dates:
            return False
        date = self._dates[name] = max(map(datetime.fromisoformat, dates))
        mark = date_mark(name, date)
        if self._store.saved(mark) is None:
            if date > self._now():
                return False
            self._store.save(mark, b"")
        return True


class Opening:
    """What one worker knows of a survey's end. `is_open` asks nobody; `look` asks the store, once in a while."""

    def __init__(self, survey: Survey, store: Store, name: str, now: Callable[[], datetime], others: Ends) -> None:
        """Ask the store for the first time; about `others` as well, as often as about this one."""
        self._survey, self._store, self._now, self._others = survey, store, now, others
        self._end = end_mark(name)
        self._date = None if survey.closes is None else date_mark(name, survey.closes)
        self._ended = self._passed = self._marked = False
        self._looked = self._over_since = -inf
        self._asked: asyncio.Future[None] | None = None
        self.look()
        if not self.is_over:  # what ended before this began has settled
            self._over_since = inf

    @property
    def is_open(self) -> bool:
        """Whether reports are taken now, as far as this worker knows."""
        now = self._now()
        self._passed |= self._survey.closes is not None and self._survey.closes <= now
        return not self._ended and not self._passed and self._survey.is_open(now)

    @property
    def has_passed(self) -> bool:
        """Whether the closing date was ever seen to be over."""
        _ = self.is_open
        return self._passed

    @property
    def is_ended(self) -> bool:
        """Whether somebody is known to have ended it."""
        return self._ended

    @property
    def is_over(self) -> bool:
        """Whether it is known to have ended, in either way."""
        return self._ended or self.has_passed

    @property
    def is_settled(self) -> bool:
        """Whether it has ended, and what was on its way then has arrived."""
        if not self.is_over:
            return False
        self._over_since = min(self._over_since, monotonic())
        return monotonic() - self._over_since >= SETTLE

    async def settled(self) -> None:
        """Wait until it has ended and what was on its way has arrived. For whoever has ended it."""
        while not self.is_settled:
            left = SETTLE - (monotonic() - self._over_since)
            await asyncio.sleep(max(left, 0.01))

    @property
    def end_name(self) -> str | None:
        """What this end is told from others by: a survey whose date is moved goes on. None: it has not ended."""
        if not self.is_settled:
            return None
        return self._end if self._ended or self._date is None else self._date

    def look(self) -> None:
        """Ask the store, unless that was done a moment ago. Waits for it.

        Raises:
            StoreError: it does not answer.
        """
        if monotonic() - self._looked <= FRESH:
            return
        started = monotonic()
        ended = self._store.saved(self._end) is not None
        passed = self._date is not None and self._store.saved(self._date) is not None
        self._ended, self._passed, self._marked = self._ended or ended, self._passed or passed, self._marked or passed
        self.mark()
        self._others.look()
        self._looked = started

    def mark(self) -> None:
        """Keep in the store that the date was seen to be over, for whoever starts with another clock. Waits for it."""
        if self._date is not None and self.has_passed and not self._marked:
            self._store.save(self._date, b"")
            self._marked = True

    async def looked(self) -> bool:
        """The same from the event loop, which goes on meanwhile; however many ask, the store is asked once."""
        if monotonic() - self._looked > FRESH:
            if self._asked is None or self._asked.done():
                self._asked = asyncio.get_running_loop().run_in_executor(None, self.look)
                self._asked.add_done_callback(_seen)
            await asyncio.shield(self._asked)
        return self.is_open

    def end(self) -> None:
        """Close for good, whatever the survey file says. Other workers notice within a second. Waits for the store."""
        self._store.save(self._end, b"")
        self._ended = True


def _seen(asked: asyncio.Future[None]) -> None:
    """Whoever waited was given the exception; if nobody waits any more, nobody needs it."""
    if not asked.cancelled():
        asked.exception()


LOOK = 5.0  # seconds between two looks at the clock and at the store


class Closing:
    """Watches, in a thread of its own, for the end of a survey.

    Args:
        is_over: whether the survey has ended.
        finish: what is to be done then, once; tried again if the store fails.
    """

    def __init__(self, is_over: Callable[[], bool], finish: Callable[[], None]) -> None:
        self._is_over, self._finish = is_over, finish
        self._stop, self._look = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._thread = threading.Thread(target=self._run, name="deniable-closing", daemon=True)
        self._thread.start()

    def now(self) -> None:
        """Look at once."""
        self._look.set()

    def stop(self) -> None:
        """Watch no longer."""
        self._stop.set()
        self._look.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            with suppress(StoreError):
                if self._is_over():
                    self._finish()
                    return
            self._look.wait(LOOK)
            self._look.clear()

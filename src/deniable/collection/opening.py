"""Opening: whether a survey takes reports now. An end is kept in the store; the event loop never waits for the store.

A survey ends by its date, or because somebody ended it. Both are marked in the store under the name that its entrance
has, which amendments share: a clock that jumps back opens nothing again. The mark of a date names the date, so that a
survey whose date is moved goes on (unless it had an issuer, whose secret is deleted at the end).
"""

from __future__ import annotations

import asyncio
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from deniable.collection.storage.base import Store
    from deniable.surveys.survey import Survey

FRESH = 1.0  # seconds for which what the store said is believed


def end_mark(name: str) -> str:
    """What the store keeps once somebody has ended a survey."""
    return f"end {name}"


def date_mark(name: str, closes: datetime) -> str:
    """What the store keeps once a survey's date was seen to be over."""
    return f"closed {name} {closes.isoformat()}"


class Opening:
    """What one worker knows of a survey's end. `is_open` asks nobody; `look` asks the store, once in a while."""

    def __init__(self, survey: Survey, store: Store, name: str, now: Callable[[], datetime]) -> None:
        """Ask the store for the first time."""
        self._survey, self._store, self._now = survey, store, now
        self._end = end_mark(name)
        self._date = None if survey.closes is None else date_mark(name, survey.closes)
        self._ended = self._passed = self._marked = False
        self._looked = -inf
        self._asked: asyncio.Future[None] | None = None
        self.look()

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

    def look(self) -> None:
        """Ask the store, unless that was done a moment ago. Waits for it.

        Raises:
            StoreError: it does not answer.
        """
        if monotonic() - self._looked <= FRESH:
            return
        started = monotonic()
        ended = self._store.kept(self._end) is not None
        passed = self._date is not None and self._store.kept(self._date) is not None
        self._ended, self._passed, self._marked = self._ended or ended, self._passed or passed, self._marked or passed
        self.mark()
        self._looked = started

    def mark(self) -> None:
        """Keep in the store that the date was seen to be over, for whoever starts with another clock. Waits for it."""
        if self._date is not None and self.has_passed and not self._marked:
            self._store.keep(self._date, b"")
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
        self._store.keep(self._end, b"")
        self._ended = True


def _seen(asked: asyncio.Future[None]) -> None:
    """Whoever waited was given the exception; if nobody waits any more, nobody needs it."""
    if not asked.cancelled():
        asked.exception()

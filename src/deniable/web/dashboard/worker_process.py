"""The desk: estimates are made in a process of their own, which lets reports go first.

A million reports take a second to read and estimate. In the process that takes reports in, that second would be theirs:
Python runs one thread at a time. The other process opens the store for itself, and stays for the next question. A
survey of a few thousand reports is estimated where it is: that takes less than asking.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary, ref

from deniable.collection.shown_state import Shown
from deniable.errors import StoreError
from deniable.storage.open_store import find_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.collection.collector import Collector
    from deniable.storage.store import Readable, Store
    from deniable.surveys.survey import Survey

LEAST = 20_000  # reports from which on another process estimates
_NICE = 10  # how far it stands back
P = ParamSpec("P")
T = TypeVar("T")


class Surveyed(Protocol):
    """What estimates are made of: a collector, or what another process knows of it."""

    @property
    def survey(self) -> Survey:
        """What is asked."""
        ...

    @property
    def shown(self) -> Readable:
        """What may be looked at of the store where the reports are."""
        ...

    @property
    def design_id(self) -> str:
        """The design that is served."""
        ...

    @property
    def amendments(self) -> Sequence[str]:
        """It, and those that ask the same under other words."""
        ...


@dataclass(frozen=True)
class _Elsewhere:
    """What another process is told."""

    survey: Survey
    place: str
    design_id: str
    amendments: tuple[str, ...]
    is_over: bool

    @property
    def shown(self) -> Readable:
        store, shown = _opened(self.place)
        return store if self.is_over else shown


class Desk:
    """Makes what analysts ask for, out of the way of reports. Belongs to one event loop."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector whose reports are looked at."""
        self._asked = ref(collector)  # not more: the collector's desk goes when it does
        self._pool: ProcessPoolExecutor | None = None

    @classmethod
    def of(cls, collector: Collector) -> Desk:
        """The one desk of a collector: pages and the protocol ask the same process."""
        return _DESKS.setdefault(collector, cls(collector))

    @property
    def _collector(self) -> Collector:
        found = self._asked()
        assert found is not None  # whoever asks has it
        return found

    async def reports(self) -> int:
        """How many reports are shown."""
        return await asyncio.to_thread(lambda: sum(map(self._collector.shown.total, self._collector.numbers)))

    async def make(self, function: Callable[Concatenate[Surveyed, P], T], *given: P.args, **options: P.kwargs) -> T:
        """What a function, to be found by its name in a module, makes of the survey and of whatever else it is given.

        Raises:
            StoreError: the store, or the other process, does not answer.
        """
        place = getattr(self._collector.store, "place", None)
        if place is None or await self.reports() < LEAST:
            return await asyncio.to_thread(function, self._collector, *given, **options)
        known = self._collector
        told = _Elsewhere(known.survey, place, known.design_id, tuple(known.amendments), known.opening.is_settled)
        try:
            running = self._started().submit(function, told, *given, **options)
            return await asyncio.wrap_future(running)
        except BrokenProcessPool as error:
            self.close()
            raise StoreError("the process that estimates has ended; the next question starts another one") from error

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Not a copy of this process, which has threads and locks.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_stand_back)
        return self._pool

    def close(self) -> None:
        """End the other process, whatever it is at."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)


_DESKS: WeakKeyDictionary[Collector, Desk] = WeakKeyDictionary()


def _stand_back() -> None:
    with suppress(OSError, AttributeError):  # not everywhere
        os.nice(_NICE)
    threading.Thread(target=_end_with_parent, name="deniable-parent", daemon=True).start()


def _end_with_parent() -> None:
    """End when the process that asks has ended, however that was."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)


@lru_cache(maxsize=1)
def _opened(place: str) -> tuple[Store, Shown]:
    """The store, opened once a process, and what is shown of it."""
    found = find_store(place)
    if found is None:
        raise StoreError(f"there is no store at {place} any more")
    return found, Shown(found)

"""Group commit: requests wait together for one transaction, so that a hundred of them cost one sync of the disk.

While the store syncs, new reports gather; the next transaction takes them all. Nothing is acknowledged before its
transaction is on disk. When more reports wait than the store can take in a moment, new ones are turned away.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from deniable.errors import BusyError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.storage.store import Fate, Row, Store

MOST_WAITING = 50_000  # reports
MOST_TOGETHER = 10_000  # reports a transaction
COMPANY = 8  # requests in a transaction from which on the next one waits a little, for those that are just being read
DELAY = 0.004  # seconds
_RECENT = 10.0  # seconds for which a failure is told; afterwards it takes a new attempt to know


@dataclass(frozen=True, slots=True)
class _Job:
    rows: Sequence[Row]
    done: asyncio.Future[list[Fate]]


class Writer:
    """The one thread that writes to a store. `submit` belongs to one event loop.

    The loop gathers reports while the thread writes, and hands them over together when it is done: one hop between the
    threads for a transaction, however many requests are in it.
    """

    def __init__(self, store: Store, most_waiting: int = MOST_WAITING) -> None:
        """Take the store; `start` starts the thread."""
        self._store, self._most_waiting = store, most_waiting
        self._gathered: deque[_Job] = deque()
        self._waiting = 0  # reports, gathered or being written
        self._idle = asyncio.Event()  # set while the thread has no work and is not about to get some
        self._idle.set()
        self._work: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: StoreError | None = None  # of the last reports, if they could not be written
        self._failed = 0.0  # when

    @property
    def trouble(self) -> StoreError | None:
        """Why the last reports could not be written, if that was a moment ago."""
        return self._failure if monotonic() - self._failed < _RECENT else None

    @property
    def alive(self) -> bool:
        """Whether reports can be written."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start writing, on behalf of the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Write what is waiting, then end."""
        await self._idle.wait()
        self._work.put(None)
        await asyncio.to_thread(self._thread.join)

    async def submit(self, rows: Sequence[Row]) -> list[Fate]:
        """Wait until these rows are on disk.

        Raises:
            BusyError: too many are waiting; nothing of this call was taken.
            StoreError: the store failed; nothing of this call was stored.
        """
        if self._waiting + len(rows) > self._most_waiting:
            raise BusyError(f"{self._waiting} reports are waiting to be stored")
        assert self._loop is not None
        job = _Job(rows, self._loop.create_future())
        self._waiting += len(rows)
        self._gathered.append(job)
        if self._idle.is_set():
            self._idle.clear()
            # Not at once: whatever else this turn of the loop brings comes along.
            self._loop.call_soon(self._hand_over)
        return await job.done

    def _hand_over(self) -> None:
        """Give the thread what has gathered; runs in the event loop."""
        jobs, size = [], 0
        while self._gathered and size < MOST_TOGETHER:
            jobs.append(self._gathered.popleft())
            size += len(jobs[-1].rows)
        self._work.put(jobs)

    def _run(self) -> None:
        assert self._loop is not None
        while (jobs := self._work.get()) is not None:
            self._loop.call_soon_threadsafe(self._settle, jobs, self._write(jobs))

    def _write(self, jobs: Sequence[_Job]) -> list[list[Fate]] | StoreError:
        try:
            fates = self._store.add([row for job in jobs for row in job.rows])
        except StoreError as error:
            return error
        except Exception as error:  # noqa: BLE001 - the thread must live on, and every request gets its answer
            return StoreError(f"the store failed: {error}")
        results, start = [], 0
        for job in jobs:
            results.append(fates[start : start + len(job.rows)])
            start += len(job.rows)
        return results

    def _settle(self, jobs: Sequence[_Job], results: list[list[Fate]] | StoreError) -> None:
        """Give every request its answer; runs in the event loop."""
        if isinstance(results, StoreError):
            self._failure, self._failed = results, monotonic()
        elif any(job.rows for job in jobs):  # nothing at all can be written to a full disk as well
            self._failure = None
        for index, job in enumerate(jobs):
            self._waiting -= len(job.rows)
            if job.done.done():  # the request was given up meanwhile; its reports are stored all the same
                continue
            if isinstance(results, StoreError):
                job.done.set_exception(results)
            else:
                job.done.set_result(results[index])
        if not self._gathered:
            self._idle.set()
        elif len(jobs) < COMPANY:
            self._hand_over()
        else:  # a few more in each transaction are worth more than the moment: most of its cost is for the transaction
            assert self._loop is not None
            self._loop.call_later(DELAY, self._hand_over)

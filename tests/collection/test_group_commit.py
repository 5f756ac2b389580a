"""The writer: requests share transactions, and a busy one waits a moment for company."""

from __future__ import annotations

import asyncio
import threading

from deniable.collection import group_commit as writer
from deniable.collection.group_commit import Writer
from deniable.storage.store import Fate, Row


class Store:
    """Keeps the sizes of transactions; each ends when it is let."""

    def __init__(self):
        self.sizes, self.let = [], threading.Event()

    def add(self, rows):
        self.let.wait()
        self.sizes.append(len(rows))
        return [Fate.STORED] * len(rows)


async def submit(made, number):
    """Have so many requests wait, each with a report."""
    waiting = [asyncio.ensure_future(made.submit([Row(bytes([one]), 1, "")])) for one in range(number)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return waiting


def test_requests_that_come_together_share_a_transaction():
    async def run():
        store = Store()
        made = Writer(store)
        made.start()
        waiting = await submit(made, 3)
        waiting += await submit(made, 4)  # while the first are written
        store.let.set()
        assert await asyncio.gather(*waiting) == [[Fate.STORED]] * 7
        assert store.sizes == [3, 4]
        await made.stop()

    asyncio.run(run())


def test_a_busy_writer_waits_for_company_and_forgets_nobody(monkeypatch):
    monkeypatch.setattr(writer, "COMPANY", 3)

    async def run():
        store, later = Store(), []
        made = Writer(store)
        made.start()
        monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda _delay, then: later.append(then))
        first, second = await submit(made, 3), await submit(made, 1)
        store.let.set()
        await asyncio.gather(*first)
        second += await submit(made, 1)
        assert not any(one.done() for one in second)
        (now,) = later  # the moment is over
        now()
        assert await asyncio.gather(*second) == [[Fate.STORED]] * 2
        assert store.sizes == [3, 2]
        await made.stop()

    asyncio.run(run())

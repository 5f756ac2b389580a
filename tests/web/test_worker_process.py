"""Results and reports at the same time: made once for all who ask, kept for a while, and in a process of their own."""

from __future__ import annotations

import asyncio
import os
import secrets

import numpy as np
import pytest

from deniable.collection.collector import Collector
from deniable.collection.load_reports import design_of, stored_reports
from deniable.device.verify import verify
from deniable.errors import NotCoveredError, StoreError
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey
from deniable.web.dashboard import cache as kept
from deniable.web.dashboard import worker_process as desk
from deniable.web.dashboard.cache import Kept
from deniable.web.dashboard.worker_process import Desk
from questions import end, fail, where

SURVEY = """
format = 1
name = "sets"
title = "Sets"
epsilon = 2.0
[design]
kind = "independent"
channel = "hashing"
[[questions]]
name = "a"
text = "?"
kind = "scale"
first = 1
last = 9
[[questions]]
name = "b"
text = "?"
choices = ["x", "y", "z"]
"""


def filled(folder, n):
    """A collector with reports that are sets."""
    store = SqliteStore(folder / "r.sqlite")
    made = Collector(parse_survey(SURVEY), store)
    body = store.designs()[made.design_id][1]
    asked = design_of(verify(body, made.design_id)).questions
    rng = np.random.default_rng(1)
    columns = [one.channel.randomize(rng.binomial(one.channel.inputs - 1, 0.3, n)).tolist() for one in asked]
    cells = [f"[null,0,[{a},{b}],[]]" for a, b in zip(*columns, strict=True)]
    store.add([Row(secrets.token_bytes(16), made.number, cell) for cell in cells])
    store.compact([made.number])  # all are shown
    return made


# -- kept --


class Counting:
    """Says how many reports there are, and how often something was made."""

    def __init__(self, reports):
        self.reports, self.made = reports, 0
        self.begun, self.let = asyncio.Event(), asyncio.Event()
        self.let.set()

    async def count(self):
        return self.reports

    async def make(self):
        self.made += 1
        self.begun.set()
        await self.let.wait()
        return self.made


def test_whoever_asks_at_the_same_time_gets_the_same():
    async def run():
        counting = Counting(5000)
        counting.let.clear()
        shown = Kept(counting.count)
        waiting = [asyncio.ensure_future(shown.get("a", counting.make)) for _ in range(10)]
        await counting.begun.wait()
        waiting[0].cancel()  # whoever goes away does not stop it for the others
        counting.let.set()
        assert await asyncio.gather(*waiting[1:]) == [1] * 9
        assert await shown.get("b", counting.make) == 2

    asyncio.run(run())


def clocked(monkeypatch):
    """A clock that is set, 5000 reports, what takes two seconds to be made of them, and what is kept of it."""
    now, counting = [100.0], Counting(5000)
    monkeypatch.setattr(kept, "monotonic", lambda: now[0])

    async def slowly():
        now[0] += 2.0
        return await counting.make()

    return now, counting, slowly, Kept(counting.count)


def test_it_is_made_again_when_there_are_more_reports_and_it_has_rested(monkeypatch):
    async def run():
        now, counting, slowly, shown = clocked(monkeypatch)
        assert await shown.get("a", slowly) == 1
        counting.reports += 20 * kept.CALM
        now[0] += 17.0
        assert await shown.get("a", slowly) == 1
        now[0] += 1.5
        assert await shown.get("a", slowly) == 2
        now[0] += 1000.0
        assert await shown.get("a", slowly) == 2  # nothing came

    asyncio.run(run())


def test_an_analyst_sees_what_came_a_second_ago_where_few_reports_arrive(monkeypatch):
    async def run():
        now, counting, slowly, shown = clocked(monkeypatch)
        assert await shown.get("a", slowly) == 1
        counting.reports += 1
        now[0] += 0.5
        assert await shown.get("a", slowly) == 1
        now[0] += 0.5
        assert await shown.get("a", slowly) == 2
        counting.reports += 4 * kept.CALM
        now[0] += 1.0
        assert await shown.get("a", slowly) == 2  # many: it rests

    asyncio.run(run())


def test_what_is_sealed_is_read_once(tmp_path, monkeypatch):
    made, read = filled(tmp_path, 50), []
    made.store.compact()
    whole = made.store.columns

    def columns(number, known=None):
        found = whole(number, known)
        read.append([bool(column.cells) for column in found])
        return found

    monkeypatch.setattr(made.store, "columns", columns)

    def look():
        return stored_reports(made.store, made.design_id, to_keep=False)

    def add():
        made.store.add([Row(secrets.token_bytes(16), made.number, "[null,0,[1,1],[]]")])

    assert look().n == 50
    add()
    for _ in range(2):
        seen = look()
        assert seen.n == 51
    assert read == [[True], [False, True], [False, True]]
    made.store.compact()
    assert look().n == 51
    assert read[3] == [True]
    whole_again = stored_reports(made.store, made.design_id)  # what is kept or written is in order, and read anew
    assert read[4] == [True]
    assert np.array_equal(np.sort(seen.answers, axis=0), np.sort(whole_again.answers, axis=0))
    made.close()


def test_the_first_reports_are_shown_at_once_and_what_failed_is_tried_again():
    async def run():
        counting = Counting(10)
        shown = Kept(counting.count)
        assert await shown.get("a", counting.make) == 1
        counting.reports = 11
        assert await shown.get("a", counting.make) == 2

        async def fail():
            raise NotCoveredError("no")

        for _ in range(2):
            with pytest.raises(NotCoveredError):
                await shown.get("c", fail)
        assert await shown.get("c", counting.make) == 3

    asyncio.run(run())


def test_no_more_than_so_much_is_kept():
    async def run():
        counting = Counting(5000)
        shown = Kept(counting.count)
        for name in range(250):
            await shown.get(name, counting.make)
        assert len(shown._made) <= kept._MOST

    asyncio.run(run())


# -- the other process --


def test_many_reports_are_looked_at_in_another_process(tmp_path, monkeypatch):
    made = filled(tmp_path, 3000)

    async def run():
        asked = Desk(made)
        assert await asked.make(where) == (os.getpid(), 3000)
        monkeypatch.setattr(desk, "LEAST", 3000)
        there, n = await asked.make(where)
        assert n == 3000
        assert there != os.getpid()
        made.store.add([Row(secrets.token_bytes(16), made.number, "[null,0,[1,1],[]]")])
        assert await asked.make(where) == (there, 3000)  # one is never shown alone
        made.store.compact([made.number])
        assert await asked.make(where) == (there, 3001)  # it sees what has come, and is the same one
        with pytest.raises(NotCoveredError) as caught:
            await asked.make(fail)
        assert (caught.value.message, caught.value.details) == ("not covered", {"attributes": ["a"]})
        with pytest.raises(StoreError, match="has ended"):
            await asked.make(end)
        assert asked._pool is None  # so that the next question starts another one

    asyncio.run(run())
    made.close()

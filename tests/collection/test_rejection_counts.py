"""What is turned away is counted for good, and a flood of it costs few commits."""

from __future__ import annotations

import asyncio

import pytest

from deniable.collection import rejection_counts as rejections
from deniable.collection.collector import Collector
from deniable.collection.rejection_counts import Rejections
from deniable.errors import StoreError
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey
from waiting import until


class Counted(SqliteStore):
    """A store that counts its commits of rejections, and fails when it is told to."""

    commits, failing = 0, False

    def add_rejected(self, reasons):
        self.commits += 1
        if self.failing:
            raise StoreError("it was told to")
        super().add_rejected(reasons)


@pytest.fixture
def store(tmp_path):
    made = Counted(tmp_path / "r.sqlite")
    yield made
    made.close()


def test_a_flood_costs_a_commit_now_and_then_and_every_one_is_counted(store, survey_text, monkeypatch):
    monkeypatch.setattr(rejections, "PAUSE", 1e6)  # until the test says that it has passed

    async def flood(collector):
        for commits in range(1, 4):
            for _ in range(1000):
                await collector.receive(b"{}")
            assert store.commits == commits - 1
            assert collector.rejections.total() == {"malformed": 1000 * commits}  # written or not
            collector.rejections._begin(asyncio.get_running_loop())
            await asyncio.to_thread(until, lambda commits=commits: store.rejected() == {"malformed": 1000 * commits})

    # One for every pause, not one for every report.
    asyncio.run(flood(Collector(parse_survey(survey_text), store)))
    assert store.commits == 3


def test_nothing_is_written_where_nothing_was_turned_away(store):
    Rejections(store).close()
    assert store.commits == 0


def test_numbers_that_could_not_be_written_are_written_later(store):
    async def count():
        found = Rejections(store)
        store.failing = True
        found.add("malformed")
        found.write()
        found.add("unfit")
        assert store.rejected() == {}
        assert found.total() == {"malformed": 1, "unfit": 1}
        store.failing = False
        found.close()

    asyncio.run(count())
    assert store.rejected() == {"malformed": 1, "unfit": 1}
    assert store.commits == 2

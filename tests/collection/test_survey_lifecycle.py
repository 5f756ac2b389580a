"""When a survey takes reports: an end is an end, for every worker and whatever the clock says afterwards."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.collector import Collector
from deniable.device.protocol.messages import Problem, Report
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey

DAYS = [datetime(2030, month, 15, tzinfo=UTC) for month in (1, 2, 3)]
BEFORE, DURING, AFTER = DAYS


@pytest.fixture
def worker(tmp_path, survey_text):
    """A function that starts a worker whose clock says something; all have the same store."""
    stores = []

    def start(now, closes="2030-03-01"):
        hours = f"epsilon = 1.0\nopens = 2030-02-01T00:00:00Z\ncloses = {closes}T00:00:00Z"
        stores.append(SqliteStore(tmp_path / "reports.sqlite"))
        clock = [now]
        made = Collector(parse_survey(survey_text.replace("epsilon = 1.0", hours)), stores[-1], now=lambda: clock[0])
        made.clock = clock
        return made

    yield start
    for store in stores:
        store.close()


def later(made):
    """Let a worker ask the store again, as after a second."""
    made.opening._looked = float("-inf")
    made.opening.look()
    return made.is_open


def test_a_survey_is_open_between_its_dates(worker):
    assert [worker(day).is_open for day in (BEFORE, DURING)] == [False, True]
    assert not worker(AFTER).is_open


def test_a_clock_that_jumps_back_opens_nothing_in_the_same_process(worker):
    made = worker(DURING)
    made.clock[0] = AFTER
    assert not made.is_open
    made.clock[0] = DURING
    assert not made.is_open


def test_nor_after_a_restart_nor_on_another_worker(worker):
    other, made = worker(DURING), worker(AFTER)
    assert not made.is_open
    assert not worker(DURING).is_open
    assert other.is_open  # as far as it knows
    assert not later(other)


def test_the_end_is_marked_when_a_worker_stops_too(worker):
    made = worker(DURING)
    made.clock[0] = AFTER
    assert not made.is_open
    made.opening.mark()  # which `close` does
    assert not worker(DURING).is_open


def test_a_clock_that_is_behind_before_the_survey_closes_nothing(worker):
    made = worker(DURING)
    made.clock[0] = BEFORE
    assert not made.is_open
    made.clock[0] = DURING
    assert made.is_open


def test_a_date_that_is_moved_is_a_decision_and_counts(worker):
    assert not worker(AFTER).is_open
    assert worker(AFTER, closes="2030-04-01").is_open


def test_a_survey_that_was_ended_stays_ended_whatever_its_date(worker):
    first, second = worker(DURING), worker(DURING)
    first.end()
    assert (first.is_open, second.is_open) == (False, True)
    assert not later(second)
    assert not worker(DURING, closes="2030-04-01").is_open


# -- designs of other surveys that were served earlier -----------------------------------------------------------------


@pytest.fixture
def beside(worker, tmp_path, survey_text):
    """A worker of another survey in the same folder, and a report to the first one, whose date is 1 March."""
    first = worker(DURING)
    report = Report(2, "ab" * 32, first.design_id, 0, (0,), None, (0,))
    store, clock = SqliteStore(tmp_path / "reports.sqlite"), [DURING]
    made = Collector(parse_survey(survey_text.replace('"smoking"', '"drinking"')), store, now=lambda: clock[0])
    made.clock, made.takes = clock, lambda: not isinstance(made._row(report), Problem)
    yield made
    store.close()


def test_a_worker_learns_that_somebody_closed_a_survey_that_was_served_earlier(beside, tmp_path, survey_text):
    assert beside.takes()
    path = tmp_path / "first.toml"
    path.write_text(survey_text, encoding="utf-8")
    done = CliRunner().invoke(app, ["close", str(path), "--data", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert beside.takes()  # as far as it knows
    assert later(beside)  # its own survey goes on
    assert not beside.takes()


def test_the_date_of_a_survey_that_was_served_earlier_passes_for_good_unless_it_is_moved(beside, worker):
    beside.clock[0] = AFTER
    assert not beside.takes()
    assert later(beside)
    beside.clock[0] = DURING  # the clock is set back
    assert not beside.takes()
    worker(AFTER, closes="2030-04-01")  # somebody serves it again, with another date
    assert later(beside)
    assert beside.takes()


def test_many_who_ask_at_once_ask_the_store_once(worker, monkeypatch):
    made, asked, going = worker(DURING), [], threading.Event()
    kept = made.store.saved

    def slowly(name):
        asked.append(name)
        going.wait()
        return kept(name)

    monkeypatch.setattr(made.store, "saved", slowly)

    async def run():
        made.opening._looked = float("-inf")
        waiting = [asyncio.create_task(made.opening.looked()) for _ in range(20)]
        await asyncio.sleep(0)
        going.set()
        return await asyncio.gather(*waiting)

    assert asyncio.run(run()) == [True] * 20
    assert len(asked) == len(set(asked)) == 2  # whether it was ended, and whether its date was over

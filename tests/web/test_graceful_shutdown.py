"""An end in time: whoever was told to stop waits for a store that works, and not for one that does not answer."""

from __future__ import annotations

import signal
import threading

import pytest
from starlette.applications import Starlette

from deniable.errors import StoreError
from deniable.web.http import graceful_shutdown as ending
from deniable.web.http.graceful_shutdown import Ending, close_in_time
from deniable.web.serve import server
from waiting import until

HOURS = 10_000.0  # seconds: a deadline that is not met


def test_a_store_that_does_not_answer_is_not_waited_for():
    thawed, ended = threading.Event(), threading.Event()
    watch = Ending(thawed.wait, after=0.0, patience=0.01, end=ended.set)
    assert not ended.is_set()  # nobody was told to stop
    watch.begin()
    until(ended.is_set)
    thawed.set()


def test_a_store_that_answers_is_waited_for_also_where_it_fails(monkeypatch):
    monkeypatch.setattr(ending, "_PAUSE", 0.0)
    asked, many, ended = [], threading.Event(), threading.Event()

    def ask():
        asked.append(True)
        if len(asked) == 100:
            many.set()
            threading.Event().wait()  # for ever: what it would do then is another test's
        raise StoreError("it is closed")

    watch = Ending(ask, after=0.0, patience=HOURS, end=ended.set)
    watch.begin()
    watch.begin()  # told twice: one watches
    until(many.is_set)
    assert (len(asked), ended.is_set()) == (100, False)


def test_a_server_that_is_told_to_stop_begins_to_watch(monkeypatch):
    begun = []
    monkeypatch.setattr(Ending, "begin", lambda _: begun.append(True))
    running = server(Starlette(), object())
    running.handle_exit(signal.SIGTERM, None)
    assert (begun, running.should_exit) == ([True], True)
    server(Starlette()).handle_exit(signal.SIGTERM, None)  # one without a store waits as ever
    assert begun == [True]


@pytest.mark.parametrize("goes_wrong", [False, True])
def test_what_is_closed_in_time_is_closed(goes_wrong):
    closed = []

    def close():
        closed.append(True)
        if goes_wrong:
            raise StoreError("it is away")

    close_in_time(close)
    assert closed == [True]


def test_what_cannot_be_closed_in_time_is_left_behind(monkeypatch):
    monkeypatch.setattr(ending, "PATIENCE", 0.01)
    thawed = threading.Event()
    close_in_time(thawed.wait)
    thawed.set()

"""A store that is frozen, gone or corrupt: the pages and liveness answer all the same, readiness says what is so."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from deniable.collection import survey_lifecycle as opening
from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.collection.collector import Collector
from deniable.device.protocol.canonical_json import decode
from deniable.device.protocol.messages import Problem
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey
from deniable.web.api.health import Health
from deniable.web.http.limits_and_timeouts import Limits
from deniable.web.serve import Service, background

READINESS = ("/health", "/health/ready")


class Freezing:
    """A store whose every call waits, once it is frozen, until it is thawed."""

    def __init__(self, store):
        self._store = store
        self.going = threading.Event()
        self.going.set()

    def __getattr__(self, name):
        found = getattr(self._store, name)
        if not callable(found):
            return found  # what the store is, and where: known without asking it

        def call(*arguments, **options):
            # Never on the event loop; the one exception would be an exception, and a 500.
            assert threading.current_thread().name != "deniable-server"
            self.going.wait()
            return found(*arguments, **options)

        return call

    @contextmanager
    def frozen(self):
        self.going.clear()
        try:
            yield
        finally:
            self.going.set()


@pytest.fixture
def freezing(tmp_path, survey_text, monkeypatch):
    """A collector whose store can be frozen."""
    store = Freezing(SqliteStore(tmp_path / "data" / "reports.sqlite"))
    service = Service(Collector(parse_survey(survey_text), store), store, new_token(store, ANALYST))
    made = service.app()
    monkeypatch.setattr(service, "app", lambda: made)
    with background(service) as url:
        service.url, service.made = url, made
        yield service


def ask(running, method, path, body=None, *, cookies=False, **headers):
    connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=300)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        found = (answer.status, answer.read())
        return (*found, answer.headers["set-cookie"]) if cookies else found
    finally:
        connection.close()


def code(answer):
    return decode(answer[1], Problem, most=10_000).code


def stale(running):
    """Let the collector ask the store at the next request, as if a second had passed."""
    running.collector.opening._looked = float("-inf")


def test_a_frozen_store_freezes_nothing_else(freezing, monkeypatch):
    assert [ask(freezing, "GET", path)[0] for path in READINESS] == [200, 200]
    with freezing.store.frozen():
        stale(freezing)
        for path in ("/health/live", "/", "/static/style.css", "/v1/survey", "/openapi.json", "/analyst/login"):
            assert ask(freezing, "GET", path)[0] == 200, path
        monkeypatch.setattr(Health, "patience", 0.01)  # only now: what does not need the store may take its time
        for path in READINESS:
            answer = ask(freezing, "GET", path)
            assert (answer[0], json.loads(answer[1])["detail"]) == (503, "The store does not answer.")
        monkeypatch.setattr(freezing.made.limiter, "limits", Limits(answer=0.01, analysis=0.01))
        # Whoever needs the store is told to come again, and nothing that follows waits behind them.
        for method, path in (("POST", "/v1/reports"), ("GET", "/analyst"), ("GET", "/v1/results")):
            assert code(ask(freezing, method, path, b"{}", Authorization=f"Bearer {freezing.token}")) == "unavailable"
        assert ask(freezing, "GET", "/health/live")[0] == 200


def test_a_store_that_thaws_is_ready_again(freezing, monkeypatch):
    with monkeypatch.context() as moment, freezing.store.frozen():
        moment.setattr(Health, "patience", 0.01)
        assert ask(freezing, "GET", "/health")[0] == 503
    # The attempt that was under way ends, and whoever asks waits for it.
    assert ask(freezing, "GET", "/health")[0] == 200
    stale(freezing)
    assert code(ask(freezing, "POST", "/v1/reports", b"{}")) == "malformed"


def test_nothing_asks_the_store_on_the_event_loop(freezing, monkeypatch):
    # The store of `Freezing` refuses to be asked there; every address is asked, as a stranger and as the analyst.
    monkeypatch.setattr(opening, "SETTLE", 0.0)
    logged_in = ask(freezing, "POST", "/analyst/login", f"token={freezing.token}", cookies=True)
    assert logged_in[0] == 303
    known = {"Authorization": f"Bearer {freezing.token}", "Cookie": logged_in[2].partition(";")[0]}
    paths = [route.path for route in freezing.made.routes]
    last = ["/analyst/close", "/analyst/logout"]
    for path in [*sorted(set(paths) - set(last)), *last]:
        place = path.replace("{design}", freezing.collector.design_id).replace("{kind}", "csv")
        for method in ("GET", "POST"):
            for headers in ({}, known):
                stale(freezing)
                answer = ask(freezing, method, place, b"{}" if method == "POST" else None, **headers)
                assert answer[0] < 500, (place, answer)
    assert not freezing.collector.is_open
    assert len(paths) > 30


def test_a_corrupt_store_is_not_ready(serve):
    with serve() as running:
        assert ask(running, "GET", "/health")[0] == 200
        for path in running.data.iterdir():
            with path.open("r+b") as file:
                file.write(b"\xff" * path.stat().st_size)
        for at in READINESS:
            assert code(ask(running, "GET", at)) == "unavailable"
        assert ask(running, "GET", "/health/live")[0] == 200
        assert ask(running, "GET", "/v1/results", Authorization=f"Bearer {running.token}")[0] == 503


def test_a_dead_writer_is_neither_ready_nor_alive(serve, monkeypatch):
    with serve() as running:
        monkeypatch.setattr(type(running.collector.writer), "alive", False)
        for path in ("/health/live", *READINESS):
            assert code(ask(running, "GET", path)) == "unavailable"
        monkeypatch.undo()
        assert ask(running, "GET", "/health/live")[0] == 200

"""Numbers for operators: what is shown, to whom, and what happens when the store is away."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from datetime import UTC, datetime

import pytest

from deniable.collection.admission import mark_end
from deniable.collection.collector import Collector
from deniable.errors import InputError, StoreError
from deniable.storage.open_store import open_store
from deniable.surveys.survey import parse_survey
from deniable.web.http.prometheus_metrics import HOST, Figures, Served, showing
from waiting import PATIENCE, until

LINE = re.compile(r'# (HELP|TYPE) deniable_[a-z_]+ .+|deniable_[a-z_]+(\{[a-z]+="[^"\\]*"\})? [0-9]+')


@pytest.fixture(params=["sqlite", "postgres"])
def figures(request, tmp_path, survey_text):
    database = request.getfixturevalue("database") if request.param == "postgres" else None
    collector = Collector(parse_survey(survey_text), open_store(tmp_path, database))
    yield Figures(Served.of(collector.survey), collector.store, patience=PATIENCE)  # on a busy machine too
    collector.close()


def asked(url, path="/metrics", method="GET"):
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=PATIENCE)
    connection.request(method, path)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.getheaders())
    connection.close()
    return found


def test_every_line_is_of_the_format_and_nothing_tells_the_time(figures):
    with showing(figures, 0) as url:
        for _ in range(2):  # steps; the one before the last is shown
            figures.store.add_rejected({"malformed": 30, "used": 2})
            asked(url)
        status, text, headers = asked(url)
    assert (status, set(headers)) == (200, {"Content-Type", "Content-Length"})
    assert all(LINE.fullmatch(line) for line in text.splitlines())
    assert 'deniable_rejected_total{reason="malformed"} 30\n' in text
    assert "deniable_open 1\n" in text
    assert "used" not in text


def test_it_listens_on_this_machine_only_and_has_one_address(figures):
    with showing(figures, 0) as url:
        assert url.startswith(f"http://{HOST}:")
        assert [asked(url, path)[0] for path in ("/", "/v1/results", "/metrics?a=b")] == [404, 404, 200]
        assert asked(url, method="POST")[0] == 501


def test_a_port_that_is_taken_is_told(figures):
    with (
        socket.create_server((HOST, 0)) as taken,
        pytest.raises(InputError, match="Choose another port"),
        showing(figures, taken.getsockname()[1]),
    ):
        pass
    with pytest.raises(InputError, match="from 0 to 65535"), showing(figures, 70000):
        pass


def test_a_closed_survey_and_a_store_that_is_away_are_seen(figures, survey_text, monkeypatch):
    mark_end(figures.store, parse_survey(survey_text), None)
    before = figures.text()
    assert "deniable_open 0\n" in before

    def fail(*_arguments, **_options):
        raise StoreError("it is away")

    monkeypatch.setattr(type(figures.store), "total", fail)
    away = figures.text()
    assert "deniable_store_answers 0\n" in away
    assert "deniable_open " not in away
    assert [line for line in before.splitlines() if "_total" in line] == [
        line for line in away.splitlines() if "_total" in line
    ]


def test_dates_of_the_survey_count_and_another_one_can_be_followed(figures):
    here, past, future = figures.served, datetime(2020, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
    for opens, closes, shown in ((past, None, 1), (future, None, 0), (None, past, 0), (past, future, 1)):
        figures.follow(Served(here.name, opens, closes))
        assert f"deniable_open {shown}\n" in figures.text()


def test_a_store_that_is_frozen_is_told_in_time_and_asked_once(figures, monkeypatch):
    before, thawed, asked_of_it = figures.text(), threading.Event(), []
    total = type(figures.store).total

    def wait(store, design, **options):
        asked_of_it.append(design)
        thawed.wait()
        return total(store, design, **options)

    monkeypatch.setattr(type(figures.store), "total", wait)
    figures.patience = 0.01
    with showing(figures, 0) as url:
        frozen = {asked(url)[1] for _ in range(3)}
        until(lambda: asked_of_it)
        assert len(asked_of_it) == 1
        thawed.set()
        figures.patience = PATIENCE
        assert asked(url)[1] == before
    (frozen,) = frozen
    assert "deniable_store_answers 0\n" in frozen
    assert "deniable_open " not in frozen
    assert [line for line in before.splitlines() if "_total" in line] == [
        line for line in frozen.splitlines() if "_total" in line
    ]


def test_whoever_hangs_up_is_not_named(figures, capfd):
    with showing(figures, 0) as url:
        for _ in range(3):
            with socket.create_connection((HOST, int(url.split(":")[2].split("/")[0]))) as rude:
                rude.sendall(b"GET /met")
        assert asked(url)[0] == 200
    assert capfd.readouterr() == ("", "")

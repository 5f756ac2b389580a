"""What version 1 left behind: designs and reports in stores, accounts and finished reports on devices."""

from __future__ import annotations

import sqlite3
from fractions import Fraction

import pytest

from deniable.collection.export import stored_reports
from deniable.device.client import Client
from deniable.device.memory import DELIVERED, FORMAT, State
from deniable.device.messages import Report, design_id
from deniable.device.transport import Http, Response
from deniable.device.wire import encode
from deniable.errors import InputError, RefusedDesignError

# As version 1 made them; never edit this.
STATE = """
CREATE TABLE account (limit_epsilon REAL NOT NULL);
CREATE TABLE events (position INTEGER PRIMARY KEY, event TEXT NOT NULL);
CREATE TABLE remembered (question TEXT PRIMARY KEY, origin TEXT NOT NULL, answer INTEGER NOT NULL);
CREATE TABLE drawn (
    design TEXT PRIMARY KEY,
    ballot INTEGER NOT NULL,
    url TEXT NOT NULL,
    report BLOB,
    fate INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE notes (name TEXT PRIMARY KEY, value BLOB NOT NULL);
PRAGMA user_version = 1;
INSERT INTO account VALUES (5.0);
INSERT INTO events (event) VALUES ('{"kind": "asked/1", "design": "DESIGN", "ballot": 0, "ratio": "17/10"}');
INSERT INTO remembered VALUES ('question', 'DESIGN', 1);
"""
DESIGN = (
    b'{"epsilon":"1.5","plan":{"ballots":[[0]],"domain":[{"categories":["no","yes"],"name":"smokes"}],"format":1,'
    b'"kind":"independent","questions":[{"attributes":["smokes"],"channel":{"bits":16,"k":2,"kind":"krr","other":11956}}]},'
    b'"public":[{"categories":["north","south"],"name":"region"}],"static":["smokes"],"survey":"smoking","version":1}'
)
NAME = design_id(DESIGN)
REPORT = (
    f'{{"answers":[1],"ballot":0,"block":null,"design":"{NAME}","id":"{"cd" * 32}","public":[1],"version":1}}'
).encode()


@pytest.fixture
def device(tmp_path):
    """The file of a device that answered under version 1, but has not delivered its report."""

    def make(url):
        path = tmp_path / "device"
        db = sqlite3.connect(path)
        db.executescript(STATE.replace("DESIGN", NAME))
        db.execute("INSERT INTO drawn VALUES (?, 0, ?, ?, 0)", (NAME, url, REPORT))
        db.commit()
        db.close()
        return path

    return make


def test_a_devices_file_is_brought_up_to_date_and_nothing_in_it_is_lost(device):
    state = State(device("http://collector"))
    assert (state.limit, state.ledger().spent) == (5.0, Fraction(17, 10))
    assert state.recall("question") == (NAME, 1)
    known = state.drawn(NAME)
    assert (known.design, known.ballot, known.report, known.fate) == (NAME, 0, REPORT, 0)
    assert state.waiting("http://collector") == [(NAME, REPORT)]
    state.close()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "device"
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="newer"):
        State(path)
    assert path.read_bytes() == before


def test_a_finished_report_of_version_1_is_taken_while_its_survey_is_open(collector, device):
    collector.collector.store.register(NAME, DESIGN)
    path = device(collector.url)
    # The collector reads what it serves when it starts; a design that was stored before is among it.
    collector.collector._served[NAME] = collector.collector._serve(NAME, *collector.collector.store.designs()[NAME])
    client = Client(collector.url, path)
    assert client.send() == 1
    assert client._state.drawn(NAME).fate == DELIVERED
    reports = stored_reports(collector.collector.store, NAME)
    assert reports.answers.tolist() == [[1]]


def test_a_new_report_to_an_old_design_is_not_made(collector, tmp_path):
    class Old(Http):
        def request(self, method, path, body=None, *, most):
            if path == "/v1/survey":
                return Response(200, encode({"version": 2, "design": NAME, "opens": None, "closes": None}))
            return Response(200, DESIGN) if "designs" in path else super().request(method, path, body, most=most)

    client = Client(collector.url, tmp_path / "other", transport=Old(collector.url))
    with pytest.raises(RefusedDesignError) as caught:
        client.answer({"smokes": "yes"})
    assert caught.value.code == "unknown-version"


def test_version_1_of_a_report_is_refused_for_designs_of_version_2(collector):
    report = Report(1, "ab" * 32, collector.collector.design_id, 0, (0,), None, (0,))
    answer = Http(collector.url).request("POST", "/v1/reports", encode(report), most=1000)
    assert answer.status == 400
    assert b"unknown-version" in answer.body

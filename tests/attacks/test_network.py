"""The network: whoever stands between a device and a collector, answers in its place, repeats, loses and listens."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks

from deniable.device.client import Client
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.http_transport import Http, Response
from deniable.device.protocol.problem_details import PROBLEMS, problem
from deniable.errors import CollectorError, UnreachableError

PERSON = {"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}
PROBLEM = "application/problem+json"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)


class Between(Http):
    """Lets requests through, but for reports, which it treats as it is told: one treatment after the other."""

    def __init__(self, url, treatments):
        super().__init__(url)
        self.treatments, self.bodies = list(treatments), []

    def request(self, method, path, body=None, *, most):
        if method != "POST" or not self.treatments:
            return super().request(method, path, body, most=most)
        self.bodies.append(body)
        treatment = self.treatments.pop(0)
        if treatment == "lost on the way":
            raise UnreachableError("lost")
        if treatment == "lost on the way back":
            super().request(method, path, body, most=most)
            raise UnreachableError("lost")
        if treatment == "twice":
            super().request(method, path, body, most=most)
            return super().request(method, path, body, most=most)
        return treatment


def stored(collector):
    return sum(collector.collector.store.counts(collector.collector.number).values())


PORTALS = {
    "200 and a page": Response(200, b"<html>Sign in to the hotel's network</html>", None, "text/html"),
    "200 and JSON": Response(200, b'{"accepted":1,"failures":[],"version":1}', None, "application/json"),
    "204 and nothing": Response(204, b""),
    "302": Response(302, b""),
    "403 and a page": Response(403, b"<html>Blocked</html>", None, "text/html"),
    "404 and a page": Response(404, b"<html>Not found</html>", None, "text/html"),
    "413 from a proxy": Response(413, b"<html>Too large</html>", None, "text/html"),
    "407": Response(407, b""),
    "511": Response(511, b"<html>Sign in</html>", 99999.0, "text/html"),
    "a problem of something else": Response(404, b'{"status":404,"title":"?","type":"about:blank"}', None, PROBLEM),
    "a status that is not the code's": Response(403, encode(problem("conflict")), None, PROBLEM),
}


@breaks("What answers in the collector's place settles no report: it is kept, and sent again as the same bytes.")
@pytest.mark.parametrize("portal", PORTALS.values(), ids=PORTALS)
def test_a_portal_settles_nothing(collector, tmp_path, portal):
    between = Between(collector.url, [portal] * 5)
    with pytest.raises(CollectorError) as caught:
        Client(collector.url, tmp_path / "device", transport=between).answer(PERSON, public=["region"])
    assert "hotel" not in str(caught.value)
    assert stored(collector) == 0
    later = Client(collector.url, tmp_path / "device")
    assert later.send() == 1
    assert stored(collector) == 1
    assert len(set(between.bodies)) == 1
    assert len(later._state.ledger().events) == 1


@breaks("Requests and replies that are lost, repeated or delayed cost no report, and count none twice.")
@pytest.mark.parametrize("seed", range(5))
def test_a_bad_line_counts_everybody_once(collector, tmp_path, seed):
    rng = np.random.default_rng(seed)
    kinds = ["lost on the way", "lost on the way back", "twice", *PORTALS.values()]
    for person in range(5):
        state = tmp_path / f"device{person}"
        between = Between(collector.url, [kinds[place] for place in rng.integers(len(kinds), size=rng.integers(8))])
        try:
            Client(collector.url, state, transport=between).answer(PERSON, public=["region"])
        except CollectorError:
            Client(collector.url, state).send()
        assert Client(collector.url, state).send() == 0
        assert len(set(between.bodies)) <= 1
    assert stored(collector) == 5


class Listener:
    """Writes down what a device sends, letter by letter, and answers nothing."""

    def __enter__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url, self.heard = f"http://127.0.0.1:{self._socket.getsockname()[1]}", b""
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()
        return self

    def _listen(self):
        connection, _ = self._socket.accept()
        with connection:
            while b"\r\n\r\n" not in self.heard:
                self.heard += connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def __exit__(self, *_problem):
        self._thread.join()
        self._socket.close()


@breaks("A device sends nothing that the protocol does not ask for: no name of a program, no language, no cookie.")
@pytest.mark.parametrize("body", [None, b"{}"])
def test_a_request_says_nothing_about_the_device(body):
    with Listener() as listener:
        Http(listener.url).request("GET" if body is None else "POST", "/v1/survey", body, most=100)
    lines = listener.heard.decode().split("\r\n")[1:]
    names = {line.partition(":")[0].lower() for line in lines if ":" in line}
    assert names <= {"host", "accept-encoding", "content-length", "content-type"}


@breaks("A problem settles a report only if a second try could not change it.")
@pytest.mark.parametrize("code", PROBLEMS)
def test_only_final_problems_are_final(collector, tmp_path, code):
    said = Response(PROBLEMS[code][0], encode(problem(code)), None, PROBLEM)
    between = Between(collector.url, [said] * 5)
    with pytest.raises(CollectorError):
        Client(collector.url, tmp_path / "device", transport=between).answer(PERSON, public=["region"])
    passing = {"busy", "unavailable", "full", "failed", "closed"}
    sent = Client(collector.url, tmp_path / "device").send()
    if code in passing or PROBLEMS[code][0] == 408:
        assert sent == 1
    if code in ("conflict", "unfit", "not-invited", "malformed"):
        assert sent == 0
    assert sent == stored(collector)

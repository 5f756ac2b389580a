"""Kill the server at any moment, lose replies, repeat and reorder requests: what was acknowledged is there, once."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from deniable.collection.acceptor import decode_cell
from deniable.collection.messages import Report, encode
from deniable.collection.storage.sqlite import SqliteStore

# Two scales of a thousand steps: every test report has a cell of its own, so any count of 2 is a fault.
SURVEY = """
format = 1
name = "faults"
title = "Faults"
epsilon = 4.0
design = { kind = "independent" }
[[questions]]
name = "a"
text = "?"
kind = "scale"
first = 0
last = 999
[[questions]]
name = "b"
text = "?"
kind = "scale"
first = 0
last = 999
"""
KILLS = 4
SENDERS = 4


class Server:
    """`deniable serve` in a process of its own, which can be killed and started again at the same address."""

    def __init__(self, folder, *options):
        (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
        self.folder, self.data, self.options = folder, folder / "data", options
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process, self.design = None, None

    def start(self):
        run = "from deniable.cli import main; main()"
        where = ["--port", str(self.port), "--data", str(self.data)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", run, "serve", str(self.folder / "survey.toml"), *where, *self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, body = self.ask("GET", "/v1/survey")
                if status == 200:
                    self.design = json.loads(body)["design"]
                    return
            time.sleep(0.05)
        raise TimeoutError

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ask(self, method, path, body=None, *, lose_reply=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request(method, path, body)
            if lose_reply:
                return None, b""
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Sender(threading.Thread):
    """Sends reports of its own numbers until told to stop, and remembers which were acknowledged."""

    def __init__(self, server, number, stop):
        super().__init__()
        self.server, self.stop = server, stop
        self.rng = random.Random(number)  # noqa: S311 - repeats, hides nothing
        self.numbers = list(range(number, 1_000_000, SENDERS))
        self.sent, self.acknowledged, self.faults = set(), set(), []

    def report(self, number):
        return encode(
            Report(
                version=1,
                id=f"{number:064x}",
                design=self.server.design,
                ballot=0,
                answers=(number // 1000, number % 1000),
            )
        )

    def run(self):
        doubtful = []
        while not self.stop.is_set():
            size = self.rng.choice([1, 1, 1, 5, 20])
            some = [self.numbers.pop(0) for _ in range(size)] + doubtful[:10]
            some += self.rng.sample(some, self.rng.randint(0, len(some)))  # repetitions
            self.rng.shuffle(some)
            self.send(some)
            doubtful = [number for number in {*doubtful, *some} if number not in self.acknowledged]
            self.rng.shuffle(doubtful)

    def send(self, some):
        self.sent.update(some)
        bodies = [self.report(number) for number in some]
        body = bodies[0] if len(some) == 1 else b"[" + b",".join(bodies) + b"]"
        lose = self.rng.random() < 0.1
        try:
            status, answer = self.server.ask("POST", "/v1/reports", body, lose_reply=lose)
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
            return
        if status == 204 or (status == 200 and not json.loads(answer)["failures"]):
            self.acknowledged.update(some)
        elif not lose and status not in (429, 503):
            self.faults.append((status, answer))


@pytest.mark.slow
def test_what_was_acknowledged_survives_being_killed_and_is_counted_once(tmp_path):
    server = Server(tmp_path)
    moments = random.Random(20)  # noqa: S311 - repeats, hides nothing
    server.start()
    stop = threading.Event()
    senders = [Sender(server, number, stop) for number in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        for _ in range(KILLS):
            time.sleep(moments.uniform(0.2, 1.0))
            server.kill()
            server.start()
        time.sleep(0.5)
    finally:
        server.kill()
        stop.set()
        for sender in senders:
            sender.join(30)
    store = SqliteStore(server.data / "reports.sqlite")
    try:
        counts = store.counts(1)
        assert counts == store.recount(1)
        assert sum(counts.values()) == len(list(store.scan(1)))
    finally:
        store.close()
    found = {first * 1000 + second for _, _, (first, second), _ in map(decode_cell, counts)}
    sent = set().union(*(sender.sent for sender in senders))
    acknowledged = set().union(*(sender.acknowledged for sender in senders))
    assert not [fault for sender in senders for fault in sender.faults]
    assert set(counts.values()) == {1}
    assert acknowledged <= found <= sent
    assert len(acknowledged) > 100


def test_many_identical_posts_at_once_give_one_row(serve):
    with serve() as running:
        body = encode(
            Report(version=1, id="cd" * 32, design=running.collector.design_id, ballot=0, answers=(1,), public=(0,))
        )
        together, answers = threading.Barrier(64), []

        def post():
            connection = http.client.HTTPConnection(running.url.removeprefix("http://"), timeout=30)
            together.wait()
            connection.request("POST", "/v1/reports", body)
            answers.append(connection.getresponse().status)
            connection.close()

        threads = [threading.Thread(target=post) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [204] * 64
        assert running.collector.store.counts(1) == running.collector.store.recount(1) == {"[null,0,[1],[0]]": 1}

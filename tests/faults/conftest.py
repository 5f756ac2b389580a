"""Servers that are killed, senders that repeat, reorder and lose replies, and the check that both stores must pass."""

from __future__ import annotations

import contextlib
import csv
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
from collections import Counter
from types import SimpleNamespace

import pytest

from deniable.collection.report_cells import decode_cell
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Report
from small_survey import INDEPENDENT, question, survey_file
from waiting import PATIENCE, until

# Two scales of a thousand steps: every test report has a cell of its own, so any count of 2 is a fault.
SURVEY = survey_file("faults", *(question(name, kind="scale", first=0, last=999) for name in "ab"), design=INDEPENDENT)
SENDERS = 4
# `make faults` does at length what `make test` does a few times.
KILLS = int(os.environ.get("DENIABLE_KILLS", "1"))  # of each kind of survey in SQLite
DATABASE_KILLS = int(os.environ.get("DENIABLE_DATABASE_KILLS", "3"))
REQUESTS = int(os.environ.get("DENIABLE_REQUESTS", "240"))
LATER = (429, 503, 507)  # send the same bytes again


def report(design, number):
    """The report of a number: its id and its cell are its own."""
    answers = (number // 1000, number % 1000)
    return encode(Report(version=2, id=f"{number:064x}", design=design, ballot=0, answers=answers))


class Server:
    """`deniable serve` in a process of its own, which can be killed and started again at the same address."""

    def __init__(self, folder, *options, survey=SURVEY):
        folder.mkdir(exist_ok=True)
        (folder / "survey.toml").write_text(survey, encoding="utf-8")
        self.folder, self.data, self.options = folder, folder / "data", options
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process, self.design = None, None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def command(self, name, *arguments):
        run = "from deniable.cli import main; main()"
        where = ["--data", str(self.data), *self.options]
        return [sys.executable, "-c", run, name, str(self.folder / "survey.toml"), *where, *arguments]

    def invitations(self, number):
        """What `deniable invite` prints."""
        made = subprocess.run(self.command("invite", "--n", str(number)), capture_output=True, text=True, check=True)
        return [line["invitation"] for line in csv.DictReader(made.stdout.splitlines())]

    def start(self):
        """Start, and again where it ends at once: a database that was just killed is away for a moment."""
        self._launch()

        def answers():
            if self.process.poll() is not None:
                self._launch()
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, body = self.ask("GET", "/v1/survey")
                return body if status == 200 else None

        body = until(answers, (self.folder / "errors").read_text)
        self.design = json.loads(body)["design"]

    def _launch(self):
        with (self.folder / "errors").open("a", encoding="utf-8") as errors:
            command = self.command("serve", "--port", str(self.port))
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ask(self, method, path, body=None, *, lose_reply=False, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            if lose_reply:
                return None, b""
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Service:
    """The servers of one survey; a request goes to any of them."""

    def __init__(self, servers):
        self.servers = servers
        self.rng = random.Random(4)  # noqa: S311 - repeats, hides nothing
        self.senders = []

    @property
    def design(self):
        return self.servers[0].design

    def ask(self, *arguments, **options):
        return self.rng.choice(self.servers).ask(*arguments, **options)

    @contextlib.contextmanager
    def running(self):
        """Start all; kill all at the end, whatever they are doing."""
        for server in self.servers:
            server.start()
        try:
            yield
        finally:
            for server in self.servers:
                server.kill()

    @contextlib.contextmanager
    def under_load(self):
        """Senders that post until the block ends, each report with a number of its own.

        It was a load: much was acknowledged, replies were lost, and every sender met a server that was not there.
        """
        stop = threading.Event()
        self.senders = senders = [Sender(self, number, stop) for number in range(SENDERS)]
        try:
            with self.running():
                for sender in senders:
                    sender.start()
                yield senders
                until(lambda: acknowledged(senders) > 100 and sum(sender.statuses["lost"] for sender in senders))
            until(lambda: all(sender.statuses["no answer"] for sender in senders))
        finally:
            stop.set()
            for sender in senders:
                sender.join()

    def go_on(self, reports):
        """Wait until so many more reports are acknowledged, or a sender meets what it should not."""
        before = acknowledged(self.senders)
        until(lambda: acknowledged(self.senders) >= before + reports or any(sender.faults for sender in self.senders))

    def post_together(self, body, times):
        """The same post so many times at once, to all servers in turn; returns the statuses."""
        together, statuses = threading.Barrier(times), []

        def post(server):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            connection.connect()
            together.wait()
            connection.request("POST", "/v1/reports", body)
            statuses.append(connection.getresponse().status)
            connection.close()

        threads = [
            threading.Thread(target=post, args=(self.servers[turn % len(self.servers)],)) for turn in range(times)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return statuses


def acknowledged(senders):
    """How many reports are known to be stored."""
    return sum(len(sender.acknowledged) for sender in senders)


class Sender(threading.Thread):
    """Sends reports of its own numbers until told to stop, and remembers which were acknowledged."""

    def __init__(self, service, number, stop):
        super().__init__()
        self.service, self.stop = service, stop
        self.rng = random.Random(number)  # noqa: S311 - repeats, hides nothing
        self.numbers = list(range(number, 1_000_000, SENDERS))
        self.sent, self.acknowledged, self.faults, self.statuses = set(), set(), [], Counter()

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
        bodies = [report(self.service.design, number) for number in some]
        body = bodies[0] if len(some) == 1 else b"[" + b",".join(bodies) + b"]"
        lose = self.rng.random() < 0.1
        try:
            status, answer = self.service.ask("POST", "/v1/reports", body, lose_reply=lose)
        except (OSError, http.client.HTTPException):
            self.statuses["no answer"] += 1
            time.sleep(0.02)
            return
        self.statuses["lost" if lose else status] += 1
        if status == 204 or (status == 200 and not json.loads(answer)["failures"]):
            self.acknowledged.update(some)
        elif not lose and status not in LATER:
            self.faults.append((status, answer))


@pytest.fixture
def collectors(tmp_path):
    """A function that makes the servers of one survey: `collectors(2, "--database", address)`."""

    def make(number, *options, survey=SURVEY):
        return Service([Server(tmp_path / f"server{n}", *options, survey=survey) for n in range(number)])

    return make


@pytest.fixture
def times():
    """How often each fault is to happen."""
    return SimpleNamespace(kills=KILLS, database_kills=DATABASE_KILLS, requests=REQUESTS)


@pytest.fixture
def assert_nothing_is_lost_or_twice():
    """Compare what a store holds with what senders know."""

    def check(store, senders):
        try:
            counts = store.counts(1)
            assert counts == store.recount(1)
            assert sum(counts.values()) == len(list(store.scan(1)))
        finally:
            store.close()
        found = {first * 1000 + second for _, _, (first, second), _ in map(decode_cell, counts)}
        sent = set().union(*(sender.sent for sender in senders))
        known = set().union(*(sender.acknowledged for sender in senders))
        assert not [fault for sender in senders for fault in sender.faults]
        assert set(counts.values()) == {1}
        assert known <= found <= sent

    return check

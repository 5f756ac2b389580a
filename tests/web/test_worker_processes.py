"""Workers on one port: refused where there can be only one, replaced without a refused request, gone with the first."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import tomllib
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from starlette.applications import Starlette

from deniable.cli.app import app
from deniable.cli.new import example_text
from deniable.collection.simulate_respondents import Crowd
from deniable.errors import InputError, StoreError
from deniable.web.http.connection import Connection, ConnectionLimits
from deniable.web.serve import Service, inherited, listen, server
from waiting import until

RUN = [sys.executable, "-c", "from deniable.cli import main; main()"]
HOURS = 10_000.0  # seconds: a deadline that is not met
PAIRED = 'design = { kind = "paired", p = 0.7, rho = -0.1, accept = "a partner who knows the coin" }'


def test_sqlite_takes_one_worker(tmp_path):
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")
    told = CliRunner().invoke(app, ["serve", str(tmp_path / "survey.toml"), "--workers", "2"])
    assert (told.exit_code, "Name a database" in told.output) == (3, True)


def paired(name):
    head = f'format = 1\nname = "{name}"\ntitle = "S"\nepsilon = 4.0\n{PAIRED}\n'
    return head + '[[questions]]\nname = "a"\ntext = "?"\nkind = "yes-no"\n'


def test_a_survey_in_pairs_takes_one_worker(tmp_path):
    (tmp_path / "survey.toml").write_text(paired("s"), encoding="utf-8")
    where = ["--workers", "2", "--database", "postgresql://nobody@localhost:1/none"]
    told = CliRunner().invoke(app, ["serve", str(tmp_path / "survey.toml"), *where])
    assert (told.exit_code, "Leave --workers out" in told.output) == (3, True)


@contextmanager
def workers(folder, database):
    """A server with two workers, its address, and a function that waits for an event and gives its facts."""
    (folder / "survey.toml").write_text(example_text(), encoding="utf-8")
    command = [*RUN, "serve", "survey.toml", "--port", "0", "--database", database, "--workers", "2", "--metrics", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as server:

        def event(name):
            for line in server.stderr:
                told = json.loads(line)  # nothing else is ever said
                if told["event"] == name:
                    return told
            raise AssertionError(f"the server ended without {name!r}")

        try:
            url = server.stdout.readline().split()[-1]
            lines = iter(server.stdout.readline, "")
            shown = next(line.split()[-1] for line in lines if "metrics at" in line)
            server.metrics = shown.removeprefix("http://").removesuffix("/metrics")
            event("serving")
            yield server, url.removeprefix("http://"), event
        finally:
            if server.poll() is None:
                server.terminate()
            server.communicate()


def children(pid):
    """The workers: those children of a process that have not ended and listen."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:  # noqa: PTH123 - no file on a disk
        found = map(int, file.read().split())
        return {one for one in found if "spawn_main" in (cmd := _command(one)) and "resource_tracker" not in cmd}


def _command(pid):
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:  # noqa: PTH123 - no file on a disk
        return file.read()


class Visitors:
    """Ask again and again, some on a connection that they keep as long as they are let, some on a new one each time."""

    def __init__(self, address):
        self.answered, self.failed, self._stop, self._address = 0, [], threading.Event(), address
        self._threads = [threading.Thread(target=self._ask, args=(keep,)) for keep in (True, False)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, keep):
        connection = http.client.HTTPConnection(self._address)
        while not self._stop.wait(0.005):  # who never rests takes the processor from those who answer
            try:
                connection.request("GET", "/v1/survey")
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failed.append(answer.status)
                if not keep:
                    connection.close()
                self.answered += 1
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(repr(error))
                connection.close()
        connection.close()


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def get(address, path):
    connection = http.client.HTTPConnection(address)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


@pytest.mark.slow
@linux
def test_all_workers_serve_the_same_survey_whatever_becomes_of_its_file(tmp_path, database):
    def designs():
        # Whoever connects anew comes to either worker.
        return {json.loads(get(address, "/v1/survey")[1])["design"] for _ in range(20)}

    with workers(tmp_path, database) as (server, address, event):
        first, served = children(server.pid), designs()
        assert len(served) == 1
        name = tomllib.loads(example_text())["name"]
        (tmp_path / "survey.toml").write_text(paired(name), encoding="utf-8")
        server.send_signal(signal.SIGHUP)
        assert "Leave --workers out" in event("worker refused")["reason"]
        event("not renewed")
        until(lambda: children(server.pid) == first)
        assert designs() == served

        os.kill(min(first), signal.SIGKILL)  # who replaces it serves what the other does
        event("worker replaced")
        assert designs() == served

        (tmp_path / "survey.toml").unlink()
        server.send_signal(signal.SIGHUP)
        assert "cannot be read" in event("worker refused")["reason"]
        event("not renewed")

        assert "deniable_open 1\n" in get(server.metrics, "/metrics")[1]
        closed = example_text().replace('title = { en = "', 'closes = 2020-01-01T00:00:00Z\ntitle = { en = "New: ')
        (tmp_path / "survey.toml").write_text(closed, encoding="utf-8")
        server.send_signal(signal.SIGHUP)
        event("renewed")
        renewed = designs()
        assert (len(renewed), renewed & served) == (1, set())
        assert "deniable_open 0\n" in get(server.metrics, "/metrics")[1]


@pytest.mark.slow
@linux
def test_workers_are_renewed_with_corrected_words_only_once_these_are_declared(tmp_path, database):
    def design():
        return json.loads(get(address, "/v1/survey")[1])["design"]

    survey = tmp_path / "survey.toml"
    with workers(tmp_path, database) as (server, address, event):
        served = design()
        crowd = Crowd(f"http://{address}", batch=10)
        crowd.answer({"cannabis": "no", "sleep": "well", "drinks": 2, "born_abroad": "no", "region": "town"})
        crowd.flush()
        survey.write_text(example_text().replace('title = { en = "', 'title = { en = "New: '), encoding="utf-8")
        server.send_signal(signal.SIGHUP)
        assert "--correct" in event("worker refused")["reason"]
        event("not renewed")
        assert design() == served
        Service.open(survey, tmp_path / "data", database, correct="it is new").collector.close()
        assert design() == served
        server.send_signal(signal.SIGHUP)
        event("renewed")
        assert design() != served


@pytest.mark.slow
@linux
def test_a_server_whose_database_is_frozen_says_so_and_ends(tmp_path, database, cluster):
    with workers(tmp_path, database) as (server, _, event):
        until(lambda: "deniable_store_answers 1\n" in get(server.metrics, "/metrics")[1])
        before = children(server.pid)
        with cluster.frozen():
            frozen = get(server.metrics, "/metrics")[1]
            assert "deniable_store_answers 0\n" in frozen
            assert "deniable_open " not in frozen
            server.send_signal(signal.SIGHUP)  # new ones cannot open the store; who waits for them hears the end
            until(lambda: children(server.pid) - before)
            server.terminate()
            event("ended without the store")
            assert server.wait() == 0
            assert not any(os.path.exists(f"/proc/{one}") for one in before)  # noqa: PTH110 - no file on a disk


@pytest.mark.slow
@linux
def test_a_single_process_whose_database_is_frozen_ends(tmp_path, database, cluster):
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")
    command = [*RUN, "serve", "survey.toml", "--port", "0", "--database", database]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as server:
        address = server.stdout.readline().split()[-1].removeprefix("http://")
        until(lambda: get(address, "/health/ready")[0] == 200)
        with cluster.frozen():
            server.terminate()
            told = server.communicate()[1]
    assert (json.loads(told)["event"], server.returncode) == ("ended without the store", StoreError.exit_code)


@pytest.mark.slow
@linux
def test_workers_are_replaced_without_a_refused_request(tmp_path, database):
    with workers(tmp_path, database) as (server, address, event):
        first = children(server.pid)
        assert len(first) == 2
        with Visitors(address) as visitors:
            until(lambda: visitors.answered > 10)
            server.send_signal(signal.SIGHUP)
            assert event("renewed")["workers"] == 2
            seen = visitors.answered
            until(lambda: visitors.answered > seen + 10)
        assert visitors.failed == []
        second = children(server.pid)
        assert (len(second), first & second) == (2, set())

        os.kill(min(second), signal.SIGKILL)  # what ends unasked is replaced
        assert event("worker ended")["code"] == -signal.SIGKILL
        event("worker replaced")

        (tmp_path / "survey.toml").write_text("format = 1\n", encoding="utf-8")  # nobody could start with this
        third = children(server.pid)
        server.send_signal(signal.SIGHUP)
        assert "missing required field" in event("worker refused")["reason"]
        event("not renewed")
        assert max(second) in third & children(server.pid)

        server.kill()  # those who are left alone end
        until(lambda: not any(os.path.exists(f"/proc/{one}") for one in third))  # noqa: PTH110 - no file on a disk


# -- one process, whose socket somebody else holds --

HANDED = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.executable, sys.argv[2:])
"""


@contextmanager
def handed(folder, taken):
    """A server that is given a socket as file 3, up to its first line."""
    command = [sys.executable, "-c", HANDED, str(taken.fileno()), *RUN, "serve", "survey.toml"]
    environment = os.environ | {"LISTEN_FDS": "1"}
    options = {"cwd": folder, "env": environment, "pass_fds": [taken.fileno()], "text": True}
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as server:
        try:
            yield server, server.stdout.readline()
        finally:
            server.terminate()
            server.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="hands over files as only Unix does")
def test_whoever_asks_while_the_only_process_is_restarted_waits_and_is_answered(tmp_path):
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")
    with listen("127.0.0.1", 0) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with handed(tmp_path, taken) as (_, told):
            assert told.endswith(f" at http://{address}\n")
        connection = http.client.HTTPConnection(address)  # nobody is there
        connection.request("GET", "/health/ready")
        with handed(tmp_path, taken):
            assert connection.getresponse().status == 200
        connection.close()


def test_a_socket_is_taken_over_only_if_it_is_meant_for_this_process_and_good(monkeypatch):
    assert inherited() is None
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid() + 1))
    assert inherited() is None
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", "2")
    with pytest.raises(InputError, match="hands over 2 sockets"):
        inherited()


def test_a_silent_connection_may_ask_once_more_when_the_server_leaves(monkeypatch):
    monkeypatch.setattr(Connection, "limits", ConnectionLimits(head=HOURS, idle=HOURS, leave=HOURS))
    running = server(Starlette())
    running.config.timeout_graceful_shutdown = None
    with listen("127.0.0.1", 0) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        thread = threading.Thread(target=running.run, kwargs={"sockets": [taken]})
        thread.start()
        used, fresh = http.client.HTTPConnection(address), http.client.HTTPConnection(address)
        used.request("GET", "/")
        answer = used.getresponse()
        assert (answer.read(), answer.getheader("connection")) == (b"Not Found", None)
        fresh.connect()
        until(lambda: len(running.server_state.connections) == 2)
        running.should_exit = True
        until(lambda: running.server_state.is_leaving)
        for connection in (used, fresh):
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert (answer.read(), answer.getheader("connection")) == (b"Not Found", "close")
            connection.close()
        thread.join()
    assert not running.server_state.connections

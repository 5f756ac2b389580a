"""Worker processes that serve one survey on one port, and the supervisor that looks after them.

The first process listens and takes no connection itself. Its workers share the listening socket, so that a connection
that no worker has taken yet waits in it, whoever comes and goes: none is refused. A worker that ends unasked is
replaced. On SIGHUP all are: new ones read program and survey file anew. It is all or nothing. The new ones open the
survey, and none of them takes a request before every one could; only when all of them do, the old ones are told to
finish what they have begun. A worker that replaces another in between serves what the others do.

The first process never waits for anything without hearing its signals: a worker may be waiting for a frozen database.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.errors import DeniableError, InputError, StoreError
from deniable.surveys.survey import read_text
from deniable.web.http.json_log import tell
from deniable.web.http.prometheus_metrics import Served
from deniable.web.serve import Service, server

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from multiprocessing.context import SpawnProcess
    from pathlib import Path

    from deniable.web.http.connection import Server

PAUSE = 1.0  # seconds before a worker that could not start is tried again
_END = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Workplace:
    """What a worker opens."""

    survey: Path
    data: Path
    database: str
    issuer: str | None
    origins: tuple[str, ...]


@dataclass(frozen=True)
class _Worker:
    """A process that serves, and what is said to it and by it."""

    process: SpawnProcess
    line: Connection


class _StopError(Exception):
    """The first process was told to stop."""


class Workers:
    """Keeps so many workers at a listening socket."""

    def __init__(
        self,
        place: Workplace,
        taken: socket.socket,
        number: int,
        follow: Callable[[Served], object] | None = None,
    ) -> None:
        """Take what is to be opened, and who is told what is served, whenever workers have started."""
        self._place, self._taken, self._number, self._follow = place, taken, number, follow
        self._context = multiprocessing.get_context("spawn")  # a fork would share locks and connections
        self._text = ""  # of the survey, as all workers read it
        self._working: list[_Worker] = []
        self._coming: list[_Worker] = []
        self._leaving: list[_Worker] = []
        self._told = -1  # where signals are read
        self._is_due = self._is_renewing = False  # whether all are to be replaced, and whether that is under way

    def run(self) -> None:
        """Serve until told to stop.

        Raises:
            InputError: the survey file cannot be read.
            StoreError: the first workers could not start; what was wrong they have said.
        """
        self._text = read_text(self._place.survey)
        with _signals() as self._told:
            try:
                if not self._start(self._number, self._text):
                    raise StoreError("a worker could not start: it has said why above")
                tell("serving", workers=self._number)
                while True:
                    self._look()
            except _StopError:
                pass
            finally:
                self._stop()

    def _look(self) -> None:
        """Wait for something to happen, and see to it."""
        there = [*self._working, *self._leaving]
        missing = self._number - len(self._working)
        self._wait([one.process.sentinel for one in there], PAUSE if missing else None)
        for gone in [one for one in self._working if one.process.exitcode is not None]:
            self._working.remove(gone)
            tell("worker ended", code=gone.process.exitcode)
        self._leaving = [one for one in self._leaving if one.process.exitcode is None]
        if self._is_renewing and not self._leaving:
            self._is_renewing = False
            tell("renewed", workers=len(self._working))
        if self._is_due and not self._leaving:
            self._is_due = False
            self._renew()
        missing = self._number - len(self._working)
        if missing and self._start(missing, self._text):
            for _ in range(missing):
                tell("worker replaced")

    def _renew(self) -> None:
        """Put new workers in the place of all; where one of them cannot start, the old ones stay where they are."""
        old = list(self._working)
        try:
            text = read_text(self._place.survey)
        except InputError as error:
            tell("worker refused", reason=error.message)
            tell("not renewed")
            return
        if not self._start(self._number, text):
            tell("not renewed")
            return
        self._text, self._is_renewing = text, True
        self._working = [one for one in self._working if one not in old]
        self._dismiss(old)

    def _start(self, number: int, text: str) -> bool:
        """Begin so many workers. They take requests once every one of them can; if one cannot, none stays."""
        for _ in range(number):
            self._coming.append(self._begin(text))
        ready = self._all_say()
        good = ready is not None and self._tell_go() and self._all_say() is not None
        come, self._coming = self._coming, []
        if ready is None or not good:
            self._dismiss(come)
            return False
        self._working += come
        if self._follow is not None:
            self._follow(msgspec.json.decode(ready, type=Served))
        return True

    def _begin(self, text: str) -> _Worker:
        mine, others = self._context.Pipe()
        made = self._context.Process(
            target=_work, args=(self._place, text, self._taken, others), name="deniable-worker"
        )
        made.start()
        others.close()
        return _Worker(made, mine)

    def _all_say(self) -> bytes | None:
        """Wait until each that is to come has said that it is so far, all the same. None: one has ended instead."""
        silent, said = [one.line for one in self._coming], b""
        while silent:
            for line in self._wait(silent, None):
                try:
                    said = line.recv_bytes()
                except (EOFError, OSError):
                    return None
                silent.remove(line)
        return said

    def _tell_go(self) -> bool:
        """Let those that are to come take requests. False: one has ended meanwhile."""
        try:
            for one in self._coming:
                one.line.send_bytes(b"go")
        except OSError:
            return False
        return True

    def _wait(self, things: list[Any], seconds: float | None) -> list[Any]:
        """Wait until something can be heard from one of these, or from a signal.

        Raises:
            _StopError: it is time to stop.
        """
        ready = wait([self._told, *things], seconds)
        if self._told in ready:
            ready.remove(self._told)
            came = os.read(self._told, 64)
            if any(number in came for number in _END):
                raise _StopError
            self._is_due = True
        return ready

    def _dismiss(self, workers: list[_Worker]) -> None:
        """Tell workers to finish what they have begun. They end in time by themselves, whatever the store does."""
        for one in workers:
            one.process.terminate()
            one.line.close()
        self._leaving += workers

    def _stop(self) -> None:
        """Let every worker finish what it has begun."""
        self._dismiss([*self._coming, *self._working])
        for one in self._leaving:
            one.process.join()


@contextmanager
def _signals() -> Iterator[int]:
    """A file from which the numbers of signals can be read, for the length of a `with` block."""
    hear, say = os.pipe()
    before = {number: signal.signal(number, lambda came, _: os.write(say, bytes([came]))) for number in _told()}
    try:
        yield hear
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(hear)
        os.close(say)


def _told() -> tuple[signal.Signals, ...]:
    return (*_END, signal.SIGHUP)


def _work(place: Workplace, text: str, taken: socket.socket, line: Connection) -> None:
    """Serve, in a process of its own, until told to stop or left alone."""
    # The terminal interrupts everybody. While it serves, the server handles that; before and after, it is for the first
    # process to say what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        service = Service.open(
            place.survey, place.data, place.database, issuer=place.issuer, origins=place.origins, text=text
        )
    except DeniableError as error:
        tell("worker refused", reason=error.message)
        sys.exit(error.exit_code)
    running = server(service.app(), service.store)
    line.send_bytes(msgspec.json.encode(Served.of(service.collector.survey)))
    try:
        line.recv_bytes()  # until all others are ready
    except (EOFError, OSError):  # left alone; nothing was taken, so nothing is to be finished
        return
    threading.Thread(target=_attend, args=(running, line), name="deniable-attendant", daemon=True).start()
    running.run(sockets=[taken])


def _attend(running: Server, line: Connection) -> None:
    """Say that requests are taken; and stop when the first process is gone, however it went."""
    while not running.started:
        time.sleep(0.01)
    with suppress(OSError):  # it is told to end already
        line.send_bytes(b"started")
    first = multiprocessing.parent_process()
    assert first is not None
    first.join()
    running.handle_exit(signal.SIGTERM, None)

"""Several processes that serve one survey on one port, and the one that looks after them.

The first process listens and takes no connection itself. Its workers share the listening socket, so that a connection
that no worker has taken yet waits in it, whoever comes and goes: none is refused. A worker that ends unasked is
replaced. On SIGHUP all are, one after the other: the new one takes requests before the old one is told to finish what
it has begun. A new worker reads program and survey file anew.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from deniable.errors import DeniableError, StoreError
from deniable.web.log import tell
from deniable.web.serve import Service, server

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from multiprocessing.context import SpawnProcess
    from pathlib import Path

    from deniable.web.protocol import Server

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


class Workers:
    """Keeps so many workers at a listening socket."""

    def __init__(self, place: Workplace, taken: socket.socket, number: int) -> None:
        self._place, self._taken, self._number = place, taken, number
        self._context = multiprocessing.get_context("spawn")  # a fork would share locks and connections
        self._working: list[SpawnProcess] = []

    def run(self) -> None:
        """Serve until told to stop.

        Raises:
            StoreError: the first workers could not start; what was wrong they have said.
        """
        with _signals() as told:
            try:
                begun = [self._begin() for _ in range(self._number)]
                if [self._has_started(*one) for one in begun].count(False):  # every one is waited for
                    raise StoreError("a worker could not start: it has said why above")
                tell("serving", workers=self._number)
                while self._look(told):
                    pass
            finally:
                self._stop()

    def _look(self, told: int) -> bool:
        """Wait for something to happen, and see to it. False: it is time to stop."""
        missing = self._number - len(self._working)
        ready = wait([told, *(one.sentinel for one in self._working)], PAUSE if missing else None)
        if told in ready:
            came = os.read(told, 64)
            if any(number in came for number in _END):
                return False
            self._renew()
        for gone in [one for one in self._working if one.exitcode is not None]:
            self._working.remove(gone)
            tell("worker ended", code=gone.exitcode)
        for _ in range(self._number - len(self._working)):
            if self._has_started(*self._begin()):
                tell("worker replaced")
        return True

    def _renew(self) -> None:
        """Put a new worker in the place of each; one that cannot start leaves the old ones where they are."""
        for old in list(self._working):
            if not self._has_started(*self._begin()):
                tell("not renewed")
                return
            self._working.remove(old)
            old.terminate()
            old.join()
        tell("renewed", workers=len(self._working))

    def _begin(self) -> tuple[SpawnProcess, Connection]:
        hear, say = self._context.Pipe(duplex=False)
        made = self._context.Process(target=_work, args=(self._place, self._taken, say), name="deniable-worker")
        self._working.append(made)
        made.start()
        say.close()
        return made, hear

    def _has_started(self, begun: SpawnProcess, hear: Connection) -> bool:
        """Wait until a worker takes requests, or has ended."""
        with hear:
            try:
                hear.recv_bytes()
            except EOFError:  # it has ended, or is about to
                begun.join()
                self._working.remove(begun)
                return False
        return True

    def _stop(self) -> None:
        """Let every worker finish what it has begun."""
        for one in self._working:
            one.terminate()
        for one in self._working:
            one.join()


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


def _work(place: Workplace, taken: socket.socket, say: Connection) -> None:
    """Serve, in a process of its own, until told to stop or left alone."""
    # The terminal interrupts everybody. While it serves, the server handles that; before and after, it is for the first
    # process to say what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        service = Service.open(place.survey, place.data, place.database, issuer=place.issuer, origins=place.origins)
    except DeniableError as error:
        tell("worker refused", reason=error.message)
        sys.exit(error.exit_code)
    running = server(service.app(), service.store)
    threading.Thread(target=_attend, args=(running, say), name="deniable-attendant", daemon=True).start()
    running.run(sockets=[taken])


def _attend(running: Server, say: Connection) -> None:
    """Say that requests are taken; and stop when the first process is gone, however it went."""
    while not running.started:
        time.sleep(0.01)
    say.send_bytes(b"started")
    say.close()
    first = multiprocessing.parent_process()
    assert first is not None
    first.join()
    running.handle_exit(signal.SIGTERM, None)

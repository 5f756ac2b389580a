"""What a report costs when there are many already, and what it costs while ten people look at the results.

A server on SQLite and one on PostgreSQL take reports to a survey of independent questions, one in blocks and one whose
reports are sets (hashes), a hundred a request, window after window up to a million. A window's cost is all CPU of
server and database from its beginning to its end, what they do between requests (sealing) included, divided by its
reports. After every chunk of reports the same server without storage takes as many, and a cost is stated as a multiple
of the median of what these took it: of what HTTP and checking cost at that moment. The first two windows are those of
several new servers, because each is short and has its own luck with sealing; so are the first reports sent alone.

Some reports in blocks are sent alone, as devices send theirs: after the first window, and after the last a tenth as
many as are there, which is how many SQLite seals together. What was put off until then is waited for. It is counted
with the last window, and with the last reports sent alone; never with the first ones, which it would make dear. Then
single reports are sent without anybody looking and, in turns, with ten who ask for the results.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from benchmarks.speed.ingest import BATCH, get, load, posted
from benchmarks.speed.servers import OFF, POSTGRES, SQLITE, SURVEY, child, postgres
from deniable.collection.collector import Collector
from deniable.collection.load_reports import design_of
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.fake_blocks import Block
from deniable.device.protocol.messages import Report
from deniable.device.verify import verify
from deniable.extensions.blocks.served_blocks import ServedBlocks
from deniable.storage.append_log import TENTH
from deniable.storage.open_store import open_store
from deniable.surveys.survey import parse_survey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.speed.servers import Database

_DESIGN = 'design = { kind = "independent" }'
BLOCK = 5000
INDEPENDENT, BLOCKS, SETS = "independent", f"blocks of {BLOCK:,}", "sets"
SURVEYS = {
    INDEPENDENT: SURVEY,
    BLOCKS: SURVEY.replace(_DESIGN, f'design = {{ kind = "blocks", k = 2, block_size = {BLOCK} }}'),
    SETS: SURVEY.replace(_DESIGN, 'design = { kind = "independent", channel = "hashing" }'),
}
FIRST = 5000  # reports that warm a server up, and with which the last are compared
STARTS = 5  # new servers on which the first costs are measured: they are those of few reports
ALONE = 6000  # reports that are sent one a request, when there are few
WARM = 20_000  # reports that warm up the server with which costs are compared
IDLE = 0.02  # of a second's CPU, in which a server has nothing to do
LEAST_PAUSE, LONG_PAUSE = 1.0, 8.0  # seconds for which it has nothing to do, with few reports and with a million
CHUNK = 2000  # reports between two looks at the clock
VIEWERS = 10
LOOKED_AT = 30_000  # reports, when people look
PAUSE = 0.5  # seconds between two looks of each
MOST_EXPONENT, MOST_DEARER, MOST_SECONDS = 1.05, 1.2, 600.0
LEAST_RATE, MOST_DELAY = 0.8, 3.0


@dataclass(frozen=True)
class Asked:
    """A survey's design, and what can be reported to it."""

    id: str
    ballots: tuple[tuple[int, ...], ...]  # how many different answers each question of each ballot has
    in_blocks: bool

    @classmethod
    def of(cls, survey: str) -> Asked:
        """Read it off a collector."""
        with tempfile.TemporaryDirectory() as folder:
            collector = Collector(parse_survey(survey), open_store(folder))
            name, body = collector.design_id, collector.design(collector.design_id)
            collector.close()
        assert body is not None
        verified = verify(body, name)
        design = design_of(verified)
        limits = [question.channel.reports for question in design.questions]
        ballots = tuple(tuple(limits[i] for i in ballot) for ballot in design.ballots)
        return cls(name, ballots, isinstance(design, ServedBlocks))

    def bodies(self, number: int, rng: np.random.Generator, block: str | None) -> list[bytes]:
        """So many reports, as they are sent."""
        ballots = rng.integers(0, len(self.ballots), number).tolist()
        return [
            encode(
                Report(
                    version=2,
                    id=secrets.token_hex(32),
                    design=self.id,
                    ballot=ballot,
                    block=block,
                    answers=tuple(int(rng.integers(0, most)) for most in self.ballots[ballot]),
                )
            )
            for ballot in ballots
        ]


@dataclass
class Window:
    """Reports up to a number: CPU seconds of ours for all of them, and a report's without storage, chunk by chunk."""

    until: int
    ours: float = 0.0
    reports: int = 0
    beside: list[float] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """Of a report, as a multiple of the cost without storage: the median chunk's, which no single one can move."""
        return self.ours / self.reports / float(np.median(self.beside))

    def add(self, more: Window) -> None:
        """The same window of another server."""
        self.ours += more.ours
        self.reports += more.reports
        self.beside = [*self.beside, *more.beside]


async def _sent(port: int, asked: Asked, number: int, rng: np.random.Generator, *, alone: bool = False) -> float:
    """Send so many reports, each alone or a hundred together; CPU seconds of the server while they were under way."""
    block = None
    if asked.in_blocks:
        shown = await get(port, f"/v1/designs/{asked.id}/block")
        block = Block.parse(encode(shown)).id
    bodies = asked.bodies(number, rng, block)
    batches = [b"[" + b",".join(bodies[i : i + BATCH]) + b"]" for i in range(0, number, BATCH)]
    return (await load(port, [posted(body) for body in (bodies if alone else batches)])).cpu


def _spent(port: int, database: Database | None) -> float:
    """CPU seconds of a server and its database since they started, whatever they did."""
    return float(asyncio.run(get(port, "/cost"))["cpu"]) + (0.0 if database is None else database.cpu())


def settled(port: int, database: Database | None, reports: int) -> None:
    """Wait until a server with so many reports has done what it put off: sealing, which pauses nine times as long."""
    pause = max(LEAST_PAUSE, LONG_PAUSE * reports / 1e6)
    before, spent = -inf, _spent(port, database)
    while spent - before > IDLE * pause:
        time.sleep(pause)
        before, spent = spent, _spent(port, database)


def windows(most: int) -> list[Window]:
    """From the first on, each as large as all before it."""
    ends = [FIRST]
    while ends[-1] < most:
        ends.append(min(2 * ends[-1], most))
    return [Window(end) for end in ends]


@contextlib.contextmanager
def yardstick(survey: str, rng: np.random.Generator) -> Iterator[int]:
    """A server without storage, warm: what a report costs it tells how fast the machine is at that moment."""
    asked = Asked.of(survey)
    with child(OFF, None, survey) as port:
        for _ in range(WARM // CHUNK):
            asyncio.run(_sent(port, asked, CHUNK, rng))
        yield port


def grow(
    kind: str,
    survey: str,
    most: int,
    rng: np.random.Generator,
    database: Database | None,
    *,
    beside: int,
    alone: int = 0,
    at_end: bool = True,
) -> tuple[list[Window], list[Window]]:
    """Send reports until there are so many, and as many to the server without storage at the port `beside`.

    Returns:
        The windows; and of reports sent alone, where asked for, `alone` after the first window, and after the last a
        tenth as many as are there by then, if that is more; or not, unless `at_end`.
    """
    asked, found, done, apart = Asked.of(survey), windows(most), 0, list[Window]()
    with child(kind, None if database is None else database.address, survey) as ours:

        def send(window: Window, number: int, *, settles: bool, alone: bool = False) -> None:
            before = _spent(ours, database)
            for start in range(0, number, CHUNK):
                some = min(CHUNK, number - start)
                asyncio.run(_sent(ours, asked, some, rng, alone=alone))
                # The machine's load is the same.
                window.beside.append(asyncio.run(_sent(beside, asked, some, rng, alone=alone)) / some)
            if settles:
                settled(ours, database, done + number)
            window.ours += _spent(ours, database) - before
            window.reports += number

        for window in found:
            is_last = at_end and window is found[-1]
            followed = alone > 0 and (window is found[0] or is_last)
            send(window, window.until - done, settles=followed and is_last)
            done = window.until
            if followed:
                settled(ours, database, done)
                apart.append(Window(done))
                send(apart[-1], max(alone, done // TENTH) if is_last else alone, settles=is_last, alone=True)
    return found, apart


def begun(
    kind: str, survey: str, rng: np.random.Generator, beside: int, *, alone: int = 0
) -> tuple[list[Window], list[Window]]:
    """What reports cost when there are few, on several new servers: the first, which warm it up, and those after.

    Returns:
        The two windows; and of so many reports sent alone to each, those after the first window.
    """
    total, apart = windows(2 * FIRST), [Window(FIRST)] if alone else []
    for _ in range(STARTS):
        with _database(kind) as database:
            found, single = grow(kind, survey, 2 * FIRST, rng, database, beside=beside, alone=alone, at_end=False)
        for window, more in zip([*total, *apart], [*found, *single], strict=True):
            window.add(more)
    return total, apart


def exponent(found: Sequence[Window]) -> float:
    """The slope of log cost against log number, costs added up from the first report on."""
    ends = np.array([window.until for window in found])
    total = np.cumsum(np.diff(ends, prepend=0) * [window.cost for window in found])
    return float(np.polyfit(np.log(ends), np.log(total), 1)[0])


# -- people who look --


async def _look(port: int, token: str, looks: list[float]) -> None:
    """Ask for the results again and again."""
    while True:
        start = time.perf_counter()
        await get(port, "/v1/results", f"Authorization: Bearer {token}\r\n")
        looks.append(time.perf_counter() - start)
        await asyncio.sleep(PAUSE)


async def _ingest(port: int, bodies: list[bytes], viewers: int, token: str) -> tuple[float, float, list[float]]:
    """Reports a second, the 99% latency, and how long looks took, with so many who look."""
    looks: list[float] = []
    looking = [asyncio.ensure_future(_look(port, token, looks)) for _ in range(viewers)]
    await asyncio.sleep(PAUSE if viewers else 0)
    start = time.perf_counter()
    found = await load(port, bodies)
    seconds = time.perf_counter() - start
    for task in looking:
        task.cancel()
    for outcome in await asyncio.gather(*looking, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome
    return len(bodies) / seconds, float(np.quantile(found.latencies, 0.99)), looks


def viewed(
    kind: str,
    survey: str,
    rng: np.random.Generator,
    database: Database | None,
    *,
    reports: int,
    single: int,
    turns: int,
) -> tuple[float, float, float]:
    """What ten who look leave of the rate of single reports, and make of the 99% latency; and the median look."""
    asked, rates, delays, looks = Asked.of(survey), [], [], list[float]()
    with child(kind, None if database is None else database.address, survey) as port:
        for start in range(0, reports, 20 * CHUNK):
            asyncio.run(_sent(port, asked, min(20 * CHUNK, reports - start), rng))
        token = str(asyncio.run(get(port, "/cost"))["token"])
        asyncio.run(get(port, "/v1/results", f"Authorization: Bearer {token}\r\n"))  # starts what they need
        for turn in range(turns):
            pair = {}
            for viewers in (0, VIEWERS) if turn % 2 == 0 else (VIEWERS, 0):
                bodies = [posted(body) for body in asked.bodies(single, rng, None)]
                pair[viewers] = asyncio.run(_ingest(port, bodies, viewers, token))
            (plain, plain_delay, _), (looked, delay, seen) = pair[0], pair[VIEWERS]
            rates.append(looked / plain)
            delays.append(delay / plain_delay)
            looks += seen
    return float(np.median(rates)), float(np.median(delays)), float(np.median(looks or [0.0]))


def measure(
    most: int = 1_000_000,
    *,
    looked_at: int = LOOKED_AT,
    single: int = 12_000,  # a few seconds: results are made again in a tenth of the time, not of every run
    turns: int = 6,
    kinds: Sequence[str] = (SQLITE, POSTGRES),
) -> Measurement:
    """Measure growth of cost for each kind of survey and store, then what viewers cost."""
    rng = np.random.default_rng(0)
    rows: dict[str, list[object]] = {"server": [], "survey": [], "reports": [], "cost of a report": []}
    claims: list[Claim] = []
    notes = ["A cost is CPU of server and database, sealing too, as a multiple of the same server's without storage."]
    for kind in kinds:
        for name, survey in SURVEYS.items():
            with yardstick(survey, rng) as beside:
                alone = ALONE if name == BLOCKS else 0
                few, few_alone = begun(kind, survey, rng, beside, alone=alone)
                with _database(kind) as database:
                    found, apart = grow(kind, survey, most, rng, database, beside=beside, alone=alone)
            spent = sum(window.ours for window in found)
            for window, more in zip([*found[:2], *apart[:1]], [*few, *few_alone], strict=True):
                window.add(more)  # the shortest, of several servers
            for window in found:
                told = (kind, name, f"{window.until:,}", f"{window.cost:.2f}")
                for column, value in zip(rows.values(), told, strict=True):
                    column.append(value)
            claims.append(Claim(f"{kind}, {name}: exponent", exponent(found), MOST_EXPONENT, "", at_most=True))
            if name == BLOCKS:
                dearer = apart[-1].cost / apart[0].cost
                claims.append(Claim(f"{kind}, {name}: last alone over first", dearer, MOST_DEARER, at_most=True))
                first, warm = (found[-1].cost / window.cost for window in few)
                notes.append(
                    f"{kind}, {name}: of reports a hundred a request, the last cost {first:.2f} times what the first "
                    f"{FIRST:,} do, which warm {STARTS + 1} servers up, and {warm:.2f} times what the {FIRST:,} after "
                    f"them do. Alone, a report costs {apart[-1].ours / apart[-1].reports * 1e6:.0f} microseconds."
                )
                claims.append(
                    Claim(f"{kind}, {name}: {found[-1].until:,} reports", spent, MOST_SECONDS, "CPU s", at_most=True)
                )
        for name in (INDEPENDENT, SETS):
            with _database(kind) as database:
                rate, delay, look = viewed(
                    kind, SURVEYS[name], rng, database, reports=looked_at, single=single, turns=turns
                )
            who = f"{kind}, {name}, {VIEWERS} viewers"
            claims.append(Claim(f"{who}: rate", rate, LEAST_RATE))
            claims.append(Claim(f"{who}: 99% latency", delay, MOST_DELAY, at_most=True))
            notes.append(f"{who}: results of {looked_at:,} reports and more came after {look:.2f} s (median).")
    return Measurement("what a report costs as they grow in number, and while people look", rows, claims, notes)


@contextlib.contextmanager
def _database(kind: str) -> Iterator[Database | None]:
    """A database of its own, where one is needed."""
    if kind == POSTGRES:
        with postgres() as found:
            yield found
    else:
        yield None


if __name__ == "__main__":  # alone; `make bench BENCH=ingest` ends with it
    sys.exit(measure().show())

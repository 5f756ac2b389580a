"""Thousands of requests that no client would send, to a server of its own: none of them makes it fail, hang or grow.

What is sent follows from a seed. A request that cannot end is followed by the end of the connection, so that nobody
waits for a deadline here; deadlines are tested in `tests/web/test_limits_and_timeouts.py`.
"""

from __future__ import annotations

import json
import logging
import random
import socket
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest

from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.messages import Problem
from deniable.device.protocol.problem_details import PROBLEMS
from small_survey import BLOCKS, small_survey
from waiting import until

KINDS = {
    "open": small_survey(),
    "invited": small_survey(admission="invited"),
    "blind": small_survey(admission="blind"),
    "blocks": small_survey(BLOCKS),
}
PATHS = [
    *["/v1/reports"] * 6,
    *("/v1/tokens", "/v1/partners", "/v1/issuer", "/v1/survey", "/v1/designs/{design}", "/v1/forms/{design}"),
    *("/v1/designs/{design}/block", "/v1/designs/{design}/blocks?after=-1", "/v1/results", "/v1/results.csv?table=a,b"),
    *("/health", "/health/live", "/openapi.json", "/", "/static/deniable.mjs", "/static/../secret"),
    *("/analyst", "/analyst/login", "/analyst/logout", "/analyst/close", "/analyst/reports.csv", "/analyst/chart.svg"),
]
POSTED = ("/v1/reports", "/v1/tokens", "/v1/partners", "/analyst/login", "/analyst/logout", "/analyst/close")
METHODS = ["POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW", ""]
ODD = ["", "[", "http://[", "null", "\xff", "x" * 3000, "%00%ff%zz", "0", "-1", "1e999", "a\tb", ";;;=,", "::1", "*"]
HEADERS = [
    *("Host", "Origin", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade"),
    *("Cookie", "Authorization", "Accept-Language", "Sec-Fetch-Site", "X-Forwarded-Proto", "If-None-Match", "Range"),
]
MEANT = ["chunked", "close", "keep-alive", "100-continue", "websocket", "h2c", "bytes=0-1", "Bearer x", "same-origin"]
# How much a server's memory may grow at its highest, whatever is sent to it one request after the other: some bodies of
# 1 MiB and what is parsed of them, and what the allocator does not give back. Bodies that were kept would be far more.
MOST_GROWTH = 64 << 20
LOG = logging.getLogger(__name__)  # which `make faults` shows
WARM_UP = 50  # requests, after which everything that is loaded once is there
# They must not all be turned away for the same reason. Where answers come too late to be looked at, more are sent.
REACHED = {200, 400, 404, 405}


class Hostile:
    """Requests of one seed."""

    def __init__(self, server, seed):
        self.rng, self.design = random.Random(seed), server.design  # noqa: S311 - repeats, hides nothing
        good = {"version": 2, "id": "ab" * 32, "design": server.design, "ballot": 0, "answers": [1, 1], "public": []}
        self.bodies = [
            encode({**good, "block": None, "token": None, "signature": None}),
            encode([good] * 20),
            encode({"version": 1, "invitation": "nobody", "blinded": "ab" * 256}),
            encode({"version": 1, "design": server.design, "key": "cd" * 32}),
            b"token=x&link=y",
            b"",
        ]

    def request(self):
        """The bytes of one."""
        rng = self.rng
        path = rng.choice(PATHS).format(design=rng.choice([self.design] * 4 + ["0" * 64, "%ff%00"]))
        method = "POST" if path in POSTED else "GET"
        method = method if rng.random() < 0.85 else rng.choice(METHODS)
        if rng.random() < 0.2:
            path = rng.choice([path + rng.choice(ODD), "http://elsewhere.example" + path, rng.choice(ODD), "/" + path])
        body = self.body()
        headers = [("Host", "x"), ("Content-Length", str(len(body)))] if rng.random() < 0.9 else []
        headers += [(rng.choice(HEADERS), rng.choice(ODD + MEANT)) for _ in range(rng.choice([0] * 8 + [1, 1, 2, 150]))]
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        head = f"{method} {path} HTTP/1.{rng.choice('1110')}\r\n{lines}\r\n".encode("latin-1")
        fate = rng.random()
        if fate < 0.8:
            return head + body
        if fate < 0.86:
            return (head + body)[: rng.randrange(1, len(head + body))]
        return self.mutated(head + body)

    def body(self):
        rng, body = self.rng, self.rng.choice(self.bodies)
        fate = rng.random()
        if fate < 0.3:
            return body
        if fate < 0.35:
            return rng.choice([b" " * (1 << 20), b"[" * 50_000, b'{"a":' * 5000, b"[" + b"{}," * 30_000 + b"{}]"])
        return self.mutated(body)

    def mutated(self, body):
        for _ in range(self.rng.randint(1, 5)):
            at = self.rng.randrange(len(body) + 1)
            piece = bytes(self.rng.randrange(256) for _ in range(self.rng.randint(0, 4)))
            body = body[:at] + piece + body[at + self.rng.randint(0, 6) :]
        return body


def answers(connection, request):
    """All that comes back to a request, after which nothing more is sent."""
    with suppress(BrokenPipeError, ConnectionResetError):  # it may hang up before the end of what is too large
        connection.sendall(request)
    parts = []
    with suppress(ConnectionResetError):
        connection.settimeout(0.2)
        try:
            while part := connection.recv(1 << 16):
                parts.append(part)
                connection.settimeout(0.02)
        except TimeoutError:  # it waits for more: there is none. If it is only slow, its answer is not looked at
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        connection.settimeout(120)  # a server that is still there after this hangs
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def checked(raw):
    """The status of an answer; one that refuses is a problem in its shape, or the analyst's login page."""
    head, _, body = raw.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    if status >= 400 and b"text/html" not in head and body:
        assert b"application/problem+json" in head, raw[:500]
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        if len(body) >= length:
            found = decode(body[:length], Problem, most=10_000)
            assert (found.status, found.title) == PROBLEMS[found.code]
            assert found.status == status
    return status


def memory(server, what):
    """Of the server's process: VmRSS is what it has, VmHWM the most it ever had."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells how much memory a process has")
@pytest.mark.parametrize("kind", KINDS)
def test_no_request_makes_the_server_fail_hang_or_grow(collectors, times, kind):
    (server,) = collectors(1, survey=KINDS[kind]).servers
    server.start()
    try:
        hostile, statuses = Hostile(server, seed=len(kind)), Counter()
        for turn in range(100_000):
            if turn >= WARM_UP + times.requests // len(KINDS) and statuses.keys() >= REACHED:
                break
            if turn == WARM_UP:
                before = memory(server, "VmRSS")
            request = hostile.request()
            with closing(socket.create_connection(("127.0.0.1", server.port), timeout=300)) as connection:
                raw = answers(connection, request)
            if raw:
                status = checked(raw)
                statuses[status] += 1
                assert 100 <= status < 500, (request[:500], raw[:500])
        growth = memory(server, "VmHWM") - before
        assert server.process.poll() is None
        until(lambda: server.ask("GET", "/health")[0] == 200)  # it says no where its disk takes seconds to answer
        assert json.loads(server.ask("GET", "/v1/survey")[1])["design"] == server.design
    finally:
        server.kill()
    LOG.info("%s: answers %s, memory +%d MiB", kind, dict(sorted(statuses.items())), growth >> 20)
    assert growth < MOST_GROWTH
    assert statuses.keys() >= REACHED

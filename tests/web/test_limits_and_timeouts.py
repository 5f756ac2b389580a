"""Without a proxy in front: slow heads and bodies, silence, too much at once, and whoever does not fetch the answer.

No test waits for a real deadline to pass: deadlines that must not be met are hours, those that must are a moment.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from contextlib import closing, suppress
from urllib.parse import urlsplit

import pytest
from starlette.responses import Response

from deniable.device.protocol.canonical_json import decode
from deniable.device.protocol.messages import MOST_BATCH_BYTES, Problem
from deniable.device.protocol.problem_details import PROBLEMS
from deniable.web.http import connection as protocol
from deniable.web.http.connection import Connection, ConnectionLimits
from deniable.web.http.limits_and_timeouts import Limiter, Limits
from waiting import until

HOURS, MOMENT = 10_000.0, 0.01
MUCH = 64 << 20  # bytes: more than fits into all buffers between a server and a client that does not read


# -- bodies: the limiter alone -----------------------------------------------------------------------------------------


class Call:
    """One request to an application inside a limiter, whose body comes piece by piece as the test says."""

    def __init__(self, limiter, path="/v1/reports"):
        self.pieces, self.sent = asyncio.Queue(), []
        scope = {"type": "http", "path": path, "method": "POST"}
        self.task = asyncio.create_task(limiter(scope, self.pieces.get, self.send))

    async def send(self, message):
        self.sent.append(message)

    def give(self, body, *, more=True):
        self.pieces.put_nowait({"type": "http.request", "body": body, "more_body": more})

    async def answer(self):
        await self.task
        start, body = self.sent
        if start["status"] == 204:
            return "taken"
        found = decode(body["body"], Problem, most=10_000)
        assert (start["status"], found.title) == PROBLEMS[found.code]
        return found.code


async def reader(_scope, receive, send):
    """Reads a whole body, then answers."""
    while (await receive()).get("more_body", False):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def thinker(_scope, receive, send):
    """Reads the body and never answers."""
    await receive()
    await asyncio.get_running_loop().create_future()


def limited(app=reader, **limits):
    return Limiter(app, Limits(**{"body": HOURS, "answer": HOURS, "analysis": HOURS, **limits}))


async def turns(number=5):
    """Let whatever can run, run."""
    for _ in range(number):
        await asyncio.sleep(0)


def test_a_body_in_pieces_is_taken():
    async def run():
        limiter = limited()
        call = Call(limiter)
        for _ in range(3):
            call.give(b"x" * 1000)
        await turns(10)
        assert (limiter.unfinished, limiter.unfinished_bytes) == (1, 3000)
        call.give(b"", more=False)
        assert await call.answer() == "taken"
        assert (limiter.unfinished, limiter.unfinished_bytes) == (0, 0)

    asyncio.run(run())


@pytest.mark.parametrize("pieces", [[], [b"x"], [b"x"] * 100])
def test_a_body_that_does_not_end_is_too_slow(pieces):
    async def run():
        limiter = limited(body=MOMENT)
        call = Call(limiter)
        for piece in pieces:
            call.give(piece)
        assert await call.answer() == "too-slow"
        assert (limiter.unfinished, limiter.unfinished_bytes) == (0, 0)

    asyncio.run(run())


@pytest.mark.parametrize(("path", "limits"), [("/v1/reports", {"answer": MOMENT}), ("/analyst", {"analysis": MOMENT})])
def test_an_answer_that_does_not_come_is_said_to_be_unavailable(path, limits):
    async def run():
        call = Call(limited(thinker, **limits), path)
        call.give(b"", more=False)
        assert await call.answer() == "unavailable"

    asyncio.run(run())


def test_an_answer_that_has_begun_may_take_its_time():
    async def run():
        going = asyncio.Event()

        async def slow(_scope, _receive, send):
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await going.wait()
            await send({"type": "http.response.body", "body": b""})

        call = Call(limited(slow, answer=MOMENT))
        asyncio.get_running_loop().call_later(5 * MOMENT, going.set)
        assert await call.answer() == "taken"

    asyncio.run(run())


def test_only_so_many_bodies_may_be_unfinished():
    async def run():
        limiter = limited(unfinished=2)
        first, second, third = (Call(limiter) for _ in range(3))
        assert await third.answer() == "busy"
        first.give(b"", more=False)
        assert await first.answer() == "taken"
        fourth = Call(limiter)
        for call in (second, fourth):
            call.give(b"", more=False)
            assert await call.answer() == "taken"
        assert limiter.unfinished == 0

    asyncio.run(run())


def test_only_so_much_may_be_unfinished():
    async def run():
        limiter = limited(unfinished_bytes=1000)
        first, second = Call(limiter), Call(limiter)
        first.give(b"x" * 600)
        await turns()
        second.give(b"x" * 600)
        assert await second.answer() == "busy"
        first.give(b"x" * 400)
        first.give(b"", more=False)
        assert await first.answer() == "taken"
        assert limiter.unfinished_bytes == 0

    asyncio.run(run())


def test_a_body_counts_until_it_is_answered():
    async def run():
        limiter = limited(thinker, unfinished_bytes=1000)
        first = Call(limiter)
        first.give(b"x" * 600, more=False)
        await turns()
        assert (limiter.unfinished, limiter.unfinished_bytes) == (0, 600)
        second = Call(limiter)
        second.give(b"x" * 600, more=False)
        assert await second.answer() == "busy"
        assert limiter.unfinished_bytes == 600
        first.task.cancel()
        await turns()
        assert limiter.unfinished_bytes == 0

    asyncio.run(run())


def test_whoever_has_less_time_is_not_kept_by_those_who_have_more():
    async def run():
        limiter = limited(thinker, analysis=MOMENT)
        patient = Call(limiter)
        patient.give(b"", more=False)
        await turns()
        late = Call(limiter, "/analyst")
        late.give(b"", more=False)
        assert await late.answer() == "unavailable"
        assert not patient.task.done()
        patient.task.cancel()
        with pytest.raises(asyncio.CancelledError):  # not by the limiter, so it is not the limiter's to answer
            await patient.task
        assert patient.sent == []

    asyncio.run(run())


def test_deadlines_are_kept_in_turn_and_by_the_loop_that_runs():
    limiter = limited(thinker, answer=MOMENT)

    async def run():
        for _ in range(3):
            call = Call(limiter)
            call.give(b"", more=False)
            assert await call.answer() == "unavailable"

    asyncio.run(run())
    asyncio.run(run())


# -- heads: the real server --------------------------------------------------------------------------------------------


@pytest.fixture
def limit(monkeypatch):
    def set_limits(**limits):
        monkeypatch.setattr(Connection, "limits", ConnectionLimits(**{"head": HOURS, "reader": HOURS, **limits}))

    set_limits()
    return set_limits


def connect(running):
    parts = urlsplit(running.url)
    return closing(socket.create_connection((parts.hostname, parts.port), timeout=300))


def rest(connection):
    """Everything until the server hangs up."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def said_to(running, begun):
    """What comes back to whoever says this and no more.

    Where the machine is so busy that the moment passes before it is said, nothing does: then once more.
    """

    def answer():
        with suppress(BrokenPipeError, ConnectionResetError), connect(running) as connection:
            connection.sendall(begun)
            return rest(connection)

    return until(answer)


def problem(raw):
    """The code of the last answer in these bytes, which must be a problem."""
    head, _, body = raw[raw.rindex(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
    found = decode(body, Problem, most=10_000)
    assert b"content-type: application/problem+json" in head.lower()
    assert int(head.split()[1]) == found.status
    assert (found.status, found.title) == PROBLEMS[found.code]
    return found.code


def alive(running):
    connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=300)
    try:
        connection.request("GET", "/health/live")
        return connection.getresponse().status == 200
    finally:
        connection.close()


@pytest.mark.parametrize("begun", [b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nA: b"])
def test_a_head_that_does_not_end_is_too_slow(collector, limit, begun):
    limit(head=MOMENT)
    assert problem(said_to(collector, begun)) == "too-slow"


def test_whoever_says_nothing_is_hung_up_on(collector, limit):
    limit(head=MOMENT)
    with connect(collector) as connection:
        assert rest(connection) == b""


def test_empty_lines_are_no_head(collector, limit):
    limit(head=MOMENT)
    assert problem(said_to(collector, b"\r\n")) == "too-slow"


def test_silence_after_an_answer_ends_the_connection(collector, limit):
    limit(idle=MOMENT)
    with connect(collector) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nA: " + b"x" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"x" * 300_000,
        b"GET /" + b"x" * 300_000,
    ],
)
def test_a_head_that_is_too_large_is_refused_ended_or_not(collector, limit, head):
    # It may hang up before all of it was sent, which is as good.
    with connect(collector) as connection, suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(head)
        assert problem(rest(connection)) == "too-large"
    assert alive(collector)


def test_a_head_within_the_limit_is_read(collector, limit):
    with connect(collector) as connection:
        fields = b"".join(b"A%d: %s\r\n" % (number, b"x" * 150) for number in range(90))
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields + b"\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 200")


def test_a_long_body_before_the_next_head_is_no_long_head(collector, limit):
    body = b" " * 200_000
    post = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    with connect(collector) as connection:
        connection.sendall(post + body + b"GET /health/live HTTP/1.1\r\nHost: x\r\nConn")
        connection.sendall(b"ection: close\r\n\r\n")
        found = rest(connection)
    assert (found[:12], found.count(b"HTTP/1.1 200")) == (b"HTTP/1.1 413", 1)


def test_too_many_requests_ahead_of_their_answers(collector, limit):
    with connect(collector) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 500)
        with suppress(ConnectionResetError):
            assert rest(connection).count(b"HTTP/1.1 200") < 500
    assert alive(collector)


def test_a_body_that_nobody_reads_does_not_keep_the_connection(collector, limit):
    limit(head=MOMENT)
    post = b"POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"
    assert problem(said_to(collector, post)) == "not-found"


def test_whoever_does_not_fetch_the_answer_is_hung_up_on(collector, limit, monkeypatch):
    limit(reader=MOMENT)
    lost, lose = threading.Event(), Connection.connection_lost

    def connection_lost(self, error):
        lose(self, error)
        lost.set()

    async def much(scope, receive, send):
        await Response(b"x" * MUCH)(scope, receive, send)

    monkeypatch.setattr(Connection, "connection_lost", connection_lost)
    monkeypatch.setattr(protocol, "_crowded", much)
    limit(reader=MOMENT, connections=0)  # so that this is what everybody gets
    with connect(collector) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        lost.wait()
        with suppress(ConnectionResetError):
            assert len(rest(connection)) < MUCH
    limit()
    assert alive(collector)


def test_too_many_connections_are_told_to_come_later(collector, limit):
    limit(connections=2)
    with connect(collector) as first, connect(collector) as second:
        for connection in (first, second):
            connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        with connect(collector) as third:
            third.sendall(b"GET /v1/survey HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert problem(rest(third)) == "unavailable"
        # Whoever asks whether the process lives would restart it, and help whoever keeps the connections.
        assert alive(collector)


@pytest.mark.parametrize("most", [{"heads": 3}, {"heads_of_one": 3}])
def test_slow_heads_have_a_share_and_keep_nobody_out(collector, limit, most):
    limit(connections=5, **most)
    slow = []
    try:
        for _ in range(50):
            slow.append(socket.create_connection((urlsplit(collector.url).hostname, urlsplit(collector.url).port)))
            slow[-1].sendall(b"GET /v1/survey HTTP/1.1\r\n")
        # The oldest are given up, whether their first line was read by then or not; the others go on.
        for connection in slow[:-3]:
            with suppress(ConnectionResetError):
                assert rest(connection)[:12] in (b"HTTP/1.1 408", b"")
        slow[-1].sendall(b"Host: x\r\nConnection: close\r\n\r\n")
        assert rest(slow[-1]).startswith(b"HTTP/1.1 200")
        assert alive(collector)
    finally:
        for connection in slow:
            connection.close()


def test_a_body_may_say_that_it_is_large_and_is_refused_before_it_comes(collector, limit):
    with connect(collector) as connection:
        post = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(post % (MOST_BATCH_BYTES + 1))
        connection.sendall(b" " * (MOST_BATCH_BYTES + 1))
        assert problem(rest(connection)) == "too-large"


# -- requests that are odd ---------------------------------------------------------------------------------------------

ODD = {
    b"GET http://elsewhere.example/health/live HTTP/1.1\r\nHost: x": 200,
    b"GET http://[/health/live HTTP/1.1\r\nHost: x": 400,
    b"GET http://elsewhere.example HTTP/1.1\r\nHost: x": 400,
    b"GET * HTTP/1.1\r\nHost: x": 404,
    b"OPTIONS * HTTP/1.1\r\nHost: x": 404,
    b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x": 400,
    b"GET //health/live HTTP/1.1\r\nHost: x": 404,
    b"GET /health/live/ HTTP/1.1\r\nHost: x": 404,
    b"GET /%ff%00%zz%/../.. HTTP/1.1\r\nHost: x": 404,
    b"GET /v1/designs/%ff%00%zz HTTP/1.1\r\nHost: x": 404,
    b"GET /v1/designs/%2e%2e%2f HTTP/1.1\r\nHost: x": 404,
    b"GET /\xff HTTP/1.1\r\nHost: x": 400,
    b"GET /analyst HTTP/1.1\r\nHost: [": 401,
    b"GET /analyst/ HTTP/1.1\r\nHost: [": 404,
    b"GET / HTTP/1.1\r\nHost: http://[": 200,
    b"GET /v1/survey HTTP/1.1\r\nHost: \xff\xfe": 200,
    b"GET /health/live HTTP/1.1": 200,
    b"GET /v1/results?table=%ff&table=,,, HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff": 401,
    b"GET /?lang=%00%ff HTTP/1.1\r\nHost: x\r\nAccept-Language: \xff;q=x,;;;q=1e999": 200,
    b"POST /analyst/login HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nOrigin: http://[": 403,
    b"POST /analyst/login HTTP/1.1\r\nHost: [\r\nContent-Length: 0\r\nOrigin: \xff": 403,
    b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nOrigin: http://[": 400,
    b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: -1": 400,
    b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked": 400,
    b"GET /analyst/progress HTTP/1.1\r\nHost: x\r\nCookie: deniable-analyst=\xb2.\xb2.\xff": 401,
    b"NONSENSE / HTTP/1.1\r\nHost: x": 400,
    b"GET / HTTP/9.9\r\nHost: x": 400,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03": 400,
}


@pytest.mark.parametrize("head", ODD, ids=lambda head: ascii(head)[:60])
def test_odd_requests_are_answered_and_never_by_a_failure(collector, limit, head):
    with connect(collector) as connection:
        connection.sendall(head + b"\r\nConnection: close\r\n\r\n")
        found = rest(connection)
    assert int(found.split()[1]) == ODD[head]
    if ODD[head] >= 400 and b"text/html" not in found:
        problem(found)
    assert alive(collector)


def test_what_the_parser_cannot_read_is_a_problem_as_well(collector, limit):
    with connect(collector) as connection:
        connection.sendall(b"GET\r\n\r\n")
        found = rest(connection)
    assert problem(found) == "malformed"
    assert json.loads(found.partition(b"\r\n\r\n")[2])["detail"] == "This is not HTTP."

"""Hostile bodies to every address that reads one: always a problem with its shape, never a failure, and no memory kept.

The application is called in this process, so that what it keeps can be measured.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import secrets
import tracemalloc

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from deniable.collection.collector import Collector
from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.messages import (
    MOST_ADMISSION_BYTES,
    MOST_BATCH_BYTES,
    MOST_REPORT_BYTES,
    Application,
    Problem,
    Receipt,
    Report,
    Seeking,
)
from deniable.device.protocol.problem_details import PROBLEMS
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey
from deniable.web.api.app import create_app

GOOD = {
    "/v1/reports": encode(Report(version=2, id="ab" * 32, design="cd" * 32, ballot=0, answers=(1,), public=(0,))),
    "/v1/tokens": encode(Application(version=1, invitation="nobody", blinded="ab" * 256)),
    "/v1/partners": encode(Seeking(version=1, design="ab" * 32, key="cd" * 32)),
}
MOST = {path: MOST_BATCH_BYTES if path == "/v1/reports" else MOST_ADMISSION_BYTES for path in GOOD}
VERSION = {path: b'"version":2' if path == "/v1/reports" else b'"version":1' for path in GOOD}
OPTIONAL = {"block", "public", "token", "signature"}
DEEP = 100_000
# Bytes that the collector may still hold after thousands of hostile bodies more: some caches of the interpreter and of
# the libraries grow a little. One body kept in a hundred would already be several times as much.
MOST_KEPT = 64 * 1024


class InProcess:
    """The application, called as a server calls it."""

    def __init__(self, app):
        self.app, self.runner = app, asyncio.Runner()
        self.lifespan = app.router.lifespan_context(app)
        self.runner.run(self.lifespan.__aenter__())

    def close(self):
        self.runner.run(self.lifespan.__aexit__(None, None, None))
        self.runner.close()

    def post(self, path, body):
        """The status, the type and the content of the answer."""
        sent = []

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [],
            "scheme": "http",
            "server": ("testserver", 80),
        }
        self.runner.run(self.app(scope, receive, send))
        start, *rest = sent
        kind = dict(start["headers"]).get(b"content-type", b"")
        return start["status"], kind, b"".join(part.get("body", b"") for part in rest)


@pytest.fixture
def served(tmp_path, survey_text):
    collector = Collector(parse_survey(survey_text), SqliteStore(tmp_path / "r.sqlite"))
    found = InProcess(create_app(collector))
    found.collector = collector
    yield found
    assert collector.store.counts(1) == {}  # nothing hostile was stored
    found.close()


def assert_problem(answer):
    """A problem in the shape of RFC 9457 that is the sender's fault; returns its code."""
    status, kind, body = answer
    assert kind == b"application/problem+json"
    found = decode(body, Problem, most=10_000)
    assert (found.status, found.title) == PROBLEMS[found.code]
    assert found.status == status
    assert 400 <= status < 500
    return found.code


# -- one by one --------------------------------------------------------------------------------------------------------


def wrong_types(good):
    """The same message, each field in turn with a value of every other kind."""
    fields = json.loads(good)
    for name, right in fields.items():
        for wrong in (None, True, -1, 1.5, 10**40, "", "x", [], {}, [[]], [None], {"a": 1}):
            if wrong != right and not (name in OPTIONAL and wrong is None) and not (name == "public" and wrong == []):
                yield {**fields, name: wrong}


@pytest.mark.parametrize("path", GOOD)
def test_wrong_types_missing_and_added_fields(served, path):
    fields = json.loads(GOOD[path])
    for body in wrong_types(GOOD[path]):
        if path == "/v1/tokens" and body["invitation"] == "x":
            continue  # a text like any other
        assert assert_problem(served.post(path, json.dumps(body).encode())) in {"malformed", "unknown-version"}
    for name in fields.keys() - OPTIONAL:
        without = {key: value for key, value in fields.items() if key != name}
        assert assert_problem(served.post(path, encode(without))) == "malformed"
    assert assert_problem(served.post(path, encode({**fields, "address": "10.0.0.1"}))) == "unknown-field"


@pytest.mark.parametrize("path", GOOD)
def test_numbers_that_are_none(served, path):
    for number in (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"0x1", b"01", b"1.", b"+1", b"--1", b"1" * 5000):
        body = GOOD[path].replace(VERSION[path], b'"version":' + number)
        assert assert_problem(served.post(path, body)) in {"malformed", "unknown-version"}


@pytest.mark.parametrize("path", GOOD)
def test_bytes_that_are_no_text(served, path):
    for piece in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80", b"\xe2\x82", b"\x00"):
        assert assert_problem(served.post(path, piece)) == "malformed"
        assert assert_problem(served.post(path, GOOD[path][:-1] + piece + b"}")) == "malformed"
        assert assert_problem(served.post(path, GOOD[path].replace(b'":"', b'":"' + piece, 1))) == "malformed"


@pytest.mark.parametrize("path", GOOD)
def test_a_key_that_stands_twice(served, path):
    for name, value in json.loads(GOOD[path]).items():
        twice = b"{" + encode({name: value})[1:-1] + b"," + GOOD[path][1:]
        assert assert_problem(served.post(path, twice)) == "repeated-key"


@pytest.mark.parametrize("path", GOOD)
def test_deep_nesting(served, path):
    for body in (b"[" * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * (DEEP // 10), b'{"version":' + b"[" * DEEP):
        assert assert_problem(served.post(path, body)) in {"malformed", "too-large"}
    inside = b"[" * 3000 + b"]" * 3000
    body = GOOD[path].replace(VERSION[path], b'"version":' + inside)
    assert assert_problem(served.post(path, body)) in {"malformed", "unknown-version"}


@pytest.mark.parametrize("path", GOOD)
def test_more_than_is_read(served, path):
    most = MOST[path]
    for body in (b" " * (most + 1), GOOD[path] + b" " * most, b'"' + b"a" * most + b'"'):
        assert assert_problem(served.post(path, body)) == "too-large"
    if path == "/v1/reports":  # one report may be less than a batch
        assert assert_problem(served.post(path, GOOD[path] + b" " * MOST_REPORT_BYTES)) == "too-large"


def test_one_hostile_report_of_a_batch_is_its_own_problem(served):
    fields = json.loads(GOOD["/v1/reports"])
    hostile = [json.dumps(body).encode() for body in wrong_types(GOOD["/v1/reports"])]
    hostile += [b"[" * 500 + b"]" * 500, b'"' + b"a" * MOST_REPORT_BYTES + b'"', b"null", encode(fields)]
    status, _, body = served.post("/v1/reports", b"[" + b",".join(hostile) + b"]")
    receipt = decode(body, Receipt, most=MOST_BATCH_BYTES)
    assert (status, receipt.accepted) == (200, 0)
    assert [failure.index for failure in receipt.failures] == list(range(len(hostile)))
    assert {failure.problem.code for failure in receipt.failures} == {
        "malformed",
        "unknown-version",
        "too-large",
        "unknown-design",
    }


# -- by chance ---------------------------------------------------------------------------------------------------------

MUTATIONS = st.lists(
    st.tuples(st.sampled_from(["set", "cut", "insert", "double"]), st.floats(0, 1), st.binary(min_size=1, max_size=4)),
    min_size=1,
    max_size=6,
)


def mutate(body, changes):
    """Change bytes, leave some out, put some in, repeat a stretch."""
    for how, where, piece in changes:
        at = int(where * (len(body) - 1)) if body else 0
        if how == "set":
            body = body[:at] + piece + body[at + len(piece) :]
        elif how == "cut":
            body = body[:at] + body[at + 4 * len(piece) :]
        elif how == "insert":
            body = body[:at] + piece + body[at:]
        else:
            body = body[:at] + body[at : at + 20 * len(piece)] + body[at:]
    return body


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(GOOD)), MUTATIONS)
@example("/v1/reports", [("insert", 0.0, b"[")])
def test_no_mutation_of_a_message_makes_it_fail_or_be_stored(served, path, changes):
    # Even a mutation that is still a message names a design, an invitation or a token that there is not.
    answer = served.post(path, mutate(GOOD[path], changes))
    if answer[0] != 200:
        assert_problem(answer)
    else:  # it became a batch: nothing of it is taken
        assert decode(answer[2], Receipt, most=MOST_BATCH_BYTES).accepted == 0


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(GOOD)), st.binary(max_size=400))
def test_no_bytes_make_it_fail(served, path, body):
    assert_problem(served.post(path, body))


# -- memory ------------------------------------------------------------------------------------------------------------


def hostile(number, rng):
    """A stream of hostile bodies, no two the same: whatever is remembered of them adds up."""
    paths = sorted(GOOD)
    for turn in range(number):
        path = paths[turn % len(paths)]
        good, name = GOOD[path], secrets.token_hex(8).encode()
        yield (
            path,
            [
                good.replace(b'"version":1', b'"%b":1,"version":1' % name),
                good.replace(b'"version":1', b'"version":"%b"' % name),
                b'{"%b":' % name + b"[" * 2000,
                good[: rng.randrange(1, len(good))] + name,
                b"[" + b",".join([good.replace(b"ab" * 8, name)] * 5) + b"]",
                b'"' + name * 2000 + b'"',
                good.replace(b"ab" * 8, name),
                bytes(rng.randrange(256) for _ in range(200)),
            ][turn % 8],
        )


def test_hostile_bodies_leave_no_memory_behind(served):
    rng = random.Random(6)  # noqa: S311 - repeats, hides nothing
    for path, body in hostile(600, rng):  # warm-up: caches fill, modules load
        served.post(path, body)
    tracemalloc.start()
    try:
        for path, body in hostile(300, rng):  # whatever is only allocated once while traced
            served.post(path, body)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        size = 0
        for path, body in hostile(800, rng):
            served.post(path, body)
            size += len(body)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 20 * MOST_KEPT
    assert after - before < MOST_KEPT

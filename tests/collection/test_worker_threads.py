"""Forged tokens and large batches: work for threads, bounded, while the event loop goes on."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import threading

import msgspec
import pytest

from deniable.collection import collector as module
from deniable.collection.collector import Collector, read_batch
from deniable.collection.token_issuer import DistantIssuer, SecretKey, key_bytes
from deniable.collection.worker_threads import Work
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Problem, Report
from deniable.errors import BusyError, StoreError
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey

KEY = SecretKey.generate(2048)


@pytest.fixture
def blinded(tmp_path, survey_text):
    store = SqliteStore(tmp_path / "reports.sqlite")
    survey = parse_survey(survey_text.replace("epsilon = 1.0", 'epsilon = 1.0\nadmission = "blind"'))
    made = Collector(survey, store, issuer=DistantIssuer(key_bytes(KEY)[0]))
    yield made
    made.close()


def forged(collector):
    """A report whose token nobody signed."""
    token = secrets.token_bytes(64)
    proof = {"token": token.hex(), "signature": (b"\0" + secrets.token_bytes(255)).hex()}
    return Report(2, hashlib.sha256(token).hexdigest(), collector.design_id, 0, (0,), None, (0,), **proof)


def test_what_is_too_much_is_told_to_come_again_while_the_loop_goes_on(blinded, monkeypatch):
    bodies = [encode([forged(blinded)]), encode(forged(blinded))]
    going, judge = threading.Event(), blinded._judge
    monkeypatch.setattr(blinded, "_judge", lambda reports: (going.wait(), judge(reports))[1])
    monkeypatch.setattr(blinded, "_work", Work(most_bytes=len(bodies[0]) + len(bodies[1])))

    async def run():
        waiting = [asyncio.create_task(blinded.receive(body)) for body in bodies]
        while blinded._work._bytes < sum(map(len, bodies)):  # noqa: ASYNC110 - nobody sets an event for it
            await asyncio.sleep(0.001)
        refused = [await blinded.receive(body) for body in bodies]
        going.set()
        return refused, await asyncio.gather(*waiting), await blinded.receive(bodies[1])

    refused, (batch, one), later = asyncio.run(run())
    assert [answer.code for answer in refused] == ["busy", "busy"]
    assert (batch.accepted, batch.failures[0].problem.code, one.code) == (0, "not-invited", "not-invited")
    assert later.code == "not-invited"
    assert blinded._work._bytes == 0


def test_a_message_is_worked_on_however_large_if_it_is_the_only_one():
    work = Work(most_bytes=10)
    with work.on(100), pytest.raises(BusyError), work.on(1):
        pass
    with work.on(5), work.on(5), pytest.raises(BusyError), work.on(1):
        pass
    work.close()


@pytest.mark.parametrize("reports", [1, 100])
def test_large_batches_are_read_by_a_thread(blinded, monkeypatch, reports):
    readers = []

    def read(body):
        readers.append(threading.current_thread().name)
        return read_batch(body)

    monkeypatch.setattr(module, "read_batch", read)
    body = encode([forged(blinded) for _ in range(reports)])
    answer = asyncio.run(blinded.receive(body))
    assert [failure.problem.code for failure in answer.failures] == ["not-invited"] * reports
    assert readers[0].startswith("deniable-judge") == (len(body) > 64 << 10) == (reports == 100)


def test_signatures_are_checked_of_reports_that_fit_alone(blinded, monkeypatch):
    asked = []
    monkeypatch.setattr(blinded, "_strangers", lambda reports: asked.extend(reports) or set())
    fits = forged(blinded)
    unfit = msgspec.structs.replace(forged(blinded), ballot=1000)
    rows = blinded._judge([unfit, fits])
    assert [isinstance(row, Problem) for row in rows] == [True, False]
    assert asked == [fits]


def test_the_key_is_made_once():
    assert KEY.public.checker is KEY.public.checker


def test_a_store_that_fails_at_the_end_is_closed_all_the_same(blinded, monkeypatch):
    closed = []

    def fail():
        raise StoreError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(blinded.opening, "mark", fail)
        patch.setattr(blinded.store, "close", lambda: closed.append("store"))
        patch.setattr(blinded.entrance, "close", lambda: closed.append("entrance"))
        with pytest.raises(StoreError, match="gone"):
            blinded.close()
    assert closed == ["entrance", "store"]

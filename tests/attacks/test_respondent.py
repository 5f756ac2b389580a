"""The respondent: whoever answers may lie, answer twice, send what was never drawn, and lend invitations to others."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks

from deniable.collection.collector import Collector
from deniable.collection.load_reports import stored_reports
from deniable.core.randomness import Seeded
from deniable.designs.kinds.joint import Joint
from deniable.device.client import Client
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.http_transport import Http
from deniable.device.protocol.messages import Report
from deniable.errors import RejectedError
from deniable.estimation.estimator import estimate
from deniable.storage.open_store import open_store
from deniable.surveys.survey import parse_survey

PERSON = {"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}
ONE = """
format = 1
name = "{name}"
title = "One question"
epsilon = 1
admission = "{admission}"
{keys}
[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
"""


def post(collector, report):
    answer = Http(collector.url).request("POST", "/v1/reports", encode(report), most=10_000)
    return answer.status, json.loads(answer.body)["type"].rpartition(":")[2] if answer.body else ""


def good(collector, **fields):
    made = {"version": 2, "id": "ab" * 32, "design": collector.collector.design_id, "ballot": 0, "answers": (3,)}
    return Report(**{**made, "public": (1,), **fields})


def stored(collector):
    return stored_reports(collector.collector.store, collector.collector.design_id).n


@breaks("One made-up report moves the estimate of a cell by at most max|P^-1| / n.")
@pytest.mark.parametrize("channel", ["krr", "subset", "unary", "hadamard"])
@pytest.mark.parametrize("n", [50, 500])
def test_the_worst_report_moves_an_estimate_by_no_more_than_is_said(channel, n):
    design = Joint({"a": list("pqrst")}, epsilon=1.0, channel=channel)
    people = {"a": list("pqrst" * (n // 5))}
    reports = design.randomize(pa.table(people), source=Seeded(3))
    (question,) = design.questions
    most = question.channel.largest_weight()
    before = estimate(reports, "a").unbiased.values
    codes = np.unique(reports.answers[:, 0])
    for code in codes:  # the liar replaces an honest report by each that there is
        answers = reports.answers.copy()
        answers[0, 0] = code
        after = estimate(type(reports).of_codes(design, reports.ballots, answers, None, "pyarrow"), "a").unbiased.values
        # Taking a report away moves it as much as putting another in.
        assert np.abs(after - before).max() <= 2 * most / n + 1e-12


@breaks("A report that does not fit its design is refused, and counts nowhere.")
@pytest.mark.parametrize(
    "fields",
    [
        {"answers": (4,)},
        {"answers": ((1 << 53) - 1,)},
        {"answers": (3, 0)},
        {"ballot": 7},
        {"public": ()},
        {"public": (2,)},
        {"public": (1, 1)},
        {"block": "ab" * 32},
        {"token": "ab" * 64, "signature": "ab" * 384},
    ],
)
def test_what_no_device_can_have_drawn_is_refused(collector, fields):
    status, _ = post(collector, good(collector, **fields))
    assert status == 422
    assert stored(collector) == 0


@breaks("An id counts once: the same report again is acknowledged, another one under it is refused.")
def test_an_id_counts_once(collector):
    assert post(collector, good(collector)) == (204, "")
    assert post(collector, good(collector)) == (204, "")
    assert post(collector, good(collector, answers=(2,))) == (409, "conflict")
    assert post(collector, good(collector, public=(0,))) == (409, "conflict")
    assert stored(collector) == 1


@breaks("An invitation lets one report in, and so does a blind token; neither is good for another survey.")
@pytest.mark.parametrize("admission", ["invited", "blind"])
def test_an_invitation_is_good_for_one_report_to_one_survey(serve, tmp_path, admission):
    with serve(ONE.format(name="first", admission=admission, keys="")) as first:
        (invitation,) = first.collector.entrance.invite(1)
        device = Client(first.url, tmp_path / "device", invitation=invitation)
        if admission == "blind":
            device.enter()
        sent = device.answer({"smokes": "yes"}).report
        # Another device of the same person, with the same invitation. Where its report happens to be the same to the
        # letter, it is acknowledged as the one that is there.
        for attempt in range(8):
            with suppress(RejectedError):
                Client(first.url, tmp_path / f"other{attempt}", invitation=invitation).answer({"smokes": "no"})
        assert stored(first) == 1
        (unused,) = first.collector.entrance.invite(1)
    # Another survey out of the same folder knows nothing of either.
    with serve(ONE.format(name="second", admission=admission, keys="")) as second:
        with pytest.raises(RejectedError):
            Client(second.url, tmp_path / "third", invitation=unused).answer({"smokes": "no"})
        moved = {**json.loads(encode(sent)), "design": second.collector.design_id}
        status, code = post(second, moved)
        assert (status, code) == (403, "not-invited")
        assert stored(second) == 0


@breaks(
    "A closed survey takes no report to any design it ever had, whatever else is served from its folder and whatever "
    "the clock says."
)
@pytest.mark.parametrize("admission", ["open", "invited"])
def test_closed_is_closed(tmp_path, admission):
    clock = SimpleNamespace(now=datetime(2030, 1, 1, tzinfo=UTC))
    closes = ONE.format(name="first", admission=admission, keys="closes = 2030-06-01T00:00:00Z")

    def ask(survey, report=None):
        """What a collector says to a report to the first survey, with the clock as it is."""
        store = open_store(tmp_path)
        collector = Collector(parse_survey(survey), store, now=lambda: clock.now)
        try:
            made = report or Report(2, "ab" * 32, collector.design_id, 0, (1,))

            async def send():
                collector.writer.start()
                try:
                    return await collector.receive(encode(made)), made
                finally:
                    await collector.writer.stop()

            return asyncio.run(send())
        finally:
            collector.close()

    before, report = ask(closes)
    assert (before is None) == (admission == "open")
    late = Report(2, "cd" * 32, report.design, 0, (1,))
    clock.now = datetime(2030, 7, 1, tzinfo=UTC)
    assert ask(closes, late)[0].code == "closed"
    clock.now = datetime(2030, 1, 2, tzinfo=UTC)  # the clock jumps back
    assert ask(closes, late)[0].code == "closed"
    other = ONE.format(name="second", admission="open", keys="")
    dearer = re.sub("epsilon = [0-9.]+", "epsilon = 0.5", ONE.format(name="first", admission=admission, keys=""))
    for again in (other, dearer):
        assert ask(again, late)[0].code == "closed"

"""What a collector keeps together: designs and their words, chains of blocks, and what goes on beside the requests."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import msgspec
import pytest

from deniable.collection import collector as module
from deniable.collection import report_cells as acceptor
from deniable.collection.collector import Collector, read_batch
from deniable.collection.simulated_marks import simulated
from deniable.collection.survey_messages import form_body, words_mark
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import MOST_BATCH_BYTES, Application, Report, design_id
from deniable.errors import StoreError
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey

SURVEY = """
format = 1
name = "kept"
title = "{title}"
epsilon = {epsilon}
{keys}
[[questions]]
name = "a"
text = "{text}"
kind = "yes-no"
[[questions]]
name = "b"
text = "?"
kind = "yes-no"
"""
BLOCKS = 'design = { kind = "blocks", k = 2, block_size = 40 }'
SPRING, SUMMER = (datetime(2030, month, 15, tzinfo=UTC) for month in (3, 7))


def survey_of(text="?", *, title="Kept", epsilon=2.0, keys=""):
    return parse_survey(SURVEY.format(text=text, title=title, epsilon=epsilon, keys=keys))


@pytest.fixture
def collector(tmp_path):
    """A function that opens a collector on the one store there is; it is closed before the next."""
    opened = []

    def start(survey, **options):
        if opened:
            opened.pop().close()
        opened.append(Collector(survey, SqliteStore(tmp_path / "reports.sqlite"), **options))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def report_to(collector, identity="ab" * 32, design=None):
    """A report that fits."""
    answers = (1,) * len(collector.survey.design.ballots[0])
    return Report(version=2, id=identity, design=design or collector.design_id, ballot=0, answers=answers)


def sent(collector, message=None, **options):
    """Send a message, one report that fits by default, as a device would; returns what was wrong with it."""

    async def run():
        collector.writer.start()
        try:
            return await collector.receive(encode(message or report_to(collector)), **options)
        finally:
            await collector.writer.stop()

    return asyncio.run(run())


def test_the_words_that_are_served_are_kept(collector):
    for text in ("?", "How?"):
        survey = survey_of(text)
        made = collector(survey)
        body = form_body(survey)
        assert body == made.form(design_id(body)) == made.store.saved(words_mark(design_id(body)))
        assert made.form("0" * 64) is None


@pytest.mark.parametrize("keys", ["", BLOCKS])
def test_designs_with_other_words_are_counted_together_and_other_designs_are_not(collector, keys):
    names = [
        collector(survey, folder=None).design_id for survey in (survey_of(keys=keys), survey_of("How?", keys=keys))
    ]
    other = collector(survey_of(epsilon=3.0, keys=keys)).design_id
    made = collector(survey_of("How?", keys=keys))
    assert made.design_id == names[1]
    assert made.amendments == names
    assert made.numbers == [made.store.designs()[name][0] for name in names]
    assert {made.design(name) for name in (*names, other)} == {body for _, body in made.store.designs().values()}
    assert made.design("0" * 64) is None
    if keys:  # those that are counted together learn from each other's blocks
        first, second = (made.sessions[name] for name in names)
        assert first is second is not made.sessions[other]
        assert set(made.sessions) == {*names, other}


def test_reports_are_sealed_beside_the_requests(collector, monkeypatch):
    made, begun = collector(survey_of()), []
    monkeypatch.setattr(made.store, "tend", lambda: begun.append("sealing"))
    monkeypatch.setattr(made._closing, "start", lambda: begun.append("watching"))
    made.tend()
    assert begun == ["sealing", "watching"]


def test_a_survey_without_an_issuer_goes_on_where_its_date_is_moved(collector):
    until_june, until_august = (f"closes = 2030-0{month}-01T00:00:00Z" for month in (6, 8))
    made = collector(survey_of(keys=until_june), now=lambda: SPRING)
    assert sent(made) is None
    made = collector(survey_of(keys=until_june), now=lambda: SUMMER)
    assert not made.is_open
    made._finish()
    made = collector(survey_of(keys=until_august), now=lambda: SUMMER)
    assert made.is_open
    made.end()
    made = collector(survey_of(keys=until_august), now=lambda: SUMMER)
    assert not made.is_open  # by hand, it is for good


class Nobody:
    """Stands where work is done for those who have to be asked: nobody is to come here."""

    def on(self, size):
        raise AssertionError(f"{size} bytes took a place")

    def close(self):
        pass


def test_a_report_that_needs_nobody_s_word_takes_no_place_among_those_that_do(collector, monkeypatch):
    earlier = collector(survey_of(epsilon=3.0)).design_id
    made = collector(survey_of())
    assert made._first.counts(made.design_id)  # the first report asks whether others were before it
    monkeypatch.setattr(made, "_work", Nobody())
    assert sent(made) is None
    monkeypatch.setattr(made._ends, "is_over", lambda _survey: True)
    for design, code in (("0" * 64, "unknown-design"), (earlier, "closed")):
        assert asyncio.run(made.receive(encode(report_to(made, design=design)))).code == code


def test_a_store_that_cannot_be_asked_fails_every_report_of_a_batch(collector, monkeypatch):
    made = collector(survey_of())

    def fails(_reports):
        raise StoreError("the disk is away")

    monkeypatch.setattr(made, "_is_told_at_once", lambda _report: False)
    monkeypatch.setattr(made, "_judge", fails)
    receipt = sent(made, [report_to(made), report_to(made, "cd" * 32)])
    assert [failure.problem.code for failure in receipt.failures] == ["unavailable", "unavailable"]


@pytest.mark.parametrize("code", ["closed", "unavailable", "not-invited"])
def test_a_token_that_is_not_signed_is_counted_among_what_was_turned_away(collector, monkeypatch, code):
    made = collector(survey_of())

    async def looked():
        if code == "unavailable":
            raise StoreError("the disk is away")
        return code != "closed"

    monkeypatch.setattr(made.opening, "looked", looked)
    asked = encode(Application(version=1, invitation="ab" * 16, blinded="00" * 256))
    assert asyncio.run(made.sign(asked)).code == code
    made.rejections.write()
    assert made.rejections.total() == {code: 1}


def test_what_is_made_up_is_marked(collector):
    for made_up in (False, True):
        made = collector(survey_of())
        assert sent(made, report_to(made, f"{made_up:064x}"), made_up=made_up) is None
        assert simulated(made.store, made.numbers) == made_up


def test_a_batch_has_a_most_of_bytes_and_of_reports(collector, monkeypatch):
    made = collector(survey_of())
    assert read_batch(b"[" + b" " * MOST_BATCH_BYTES).code == "too-large"
    monkeypatch.setattr(module, "MOST_BATCH", 2)
    assert read_batch(encode([report_to(made)] * 3)).code == "too-large"
    monkeypatch.setattr(module, "_RAW_BATCH", None)  # needed for what is wrong only
    assert read_batch(encode([report_to(made)] * 2)) == [report_to(made)] * 2


def test_what_was_not_stored_is_never_acknowledged(collector, monkeypatch):
    made = collector(survey_of())

    async def fails(_rows):
        raise StoreError("the disk is away")

    monkeypatch.setattr(made.writer, "submit", fails)
    assert sent(made).code == "unavailable"
    assert made.store.counts(made.number) == {}


def test_what_goes_on_ends_with_the_collector(collector, monkeypatch):
    made, ended = collector(survey_of()), []
    assert sent(made) is None
    closed = made._work.close
    monkeypatch.setattr(made._work, "close", lambda: (ended.append("work"), closed()))
    made._finish()
    assert ended == []
    collector(survey_of())  # closes the one before
    assert ended == ["work"]


@pytest.mark.parametrize(("most", "remembered"), [(4, 1), (3, 0)])
def test_reports_are_remembered_where_few_are_possible(collector, monkeypatch, most, remembered):
    monkeypatch.setattr(acceptor, "_MOST_REMEMBERED", most)  # two yes/no questions have four reports together
    here = collector(survey_of())
    judge = here._served[here.design_id].acceptor
    for _ in range(2):
        assert judge.cell(report_to(here)) == "[null,0,[1],[]]"
        assert len(judge._cells) == remembered
    assert judge.cell(msgspec.structs.replace(report_to(here), answers=(4,))).code == "unfit"
    assert len(judge._cells) == remembered

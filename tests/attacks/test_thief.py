"""The thief of the disk: has a copy of every file, and the list of invitations; wants to know whose report is whose.

Everybody here does the worst thing possible: fetches a token and answers at once, one after the other. So whoever had
both orders, that of the tokens and that of the reports, would have everything. The thief looks for orders wherever
there may be one: where an invitation's hash or a report's key lies in a file, what stands beside it, how a table is
laid out, which transaction wrote a row. Every order of invitations is held against every order of reports.

How often chance alone would fail a test: for a pairing that tells nothing, the rank correlation of n pairs times
sqrt(n - 1) is beyond 6.5 less than once in 10^10, and 14 right guesses in a row of n come less than once in 10^10. A
test makes fewer than 100 comparisons, and there are fewer than 30 of them: below 10^-6 in all.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import traceback
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psycopg
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks

import deniable as dn
from chequered import black
from deniable.collection.collector import Collector
from deniable.collection.invitations import digest
from deniable.collection.load_reports import stored_reports
from deniable.collection.report_cells import encode_cell
from deniable.collection.token_issuer import LocalIssuer, public_key
from deniable.device.client import Client
from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol.admission_token import token_id
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import FEWEST_TOGETHER, Application, Report, Signed
from deniable.engines.randomize_job import randomize_table
from deniable.engines.spark import disguise
from deniable.engines.spark_target import LocalDisk, Target
from deniable.errors import InputError, PrivacyError
from deniable.storage import append_log as tail
from deniable.storage.open_store import open_store
from deniable.storage.store import Row, key_of
from deniable.surveys.survey import parse_survey
from deniable.web.http.prometheus_metrics import Figures, Served
from small_survey import small_survey
from waiting import PATIENCE, until

MODEL = Path(__file__).parents[2] / "docs" / "explanation" / "threat-model.md"
PROMISE = (
    "one copy of the files at any moment plus the invitation list links no better than chance",
    "it shows who fetched a token and the order of the unsealed tail",
    "of two copies, a report hides among those between them",
    "on PostgreSQL pg_wal, archives and replicas hold the order of reports until overwritten",
)
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
PEOPLE, ABSENT = 150, 30  # who answered, and who never did anything
PART = 1 << 22  # bytes that are looked through at a time
PERSON = {"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}


@breaks("One copy of the files at any moment plus the invitation list links no better than chance.")
def test_these_are_the_sentences_of_the_threat_model():
    text = re.sub(r"\s+(> )?", " ", MODEL.read_text(encoding="utf-8"))
    for sentence in PROMISE:
        assert sentence in text


# -- the survey -------------------------------------------------------------------------------------------------------


@dataclass
class Survey:
    """A collector, the list of its invitations, and the truth that the thief is after."""

    collector: Collector
    invitations: list[str]
    order: list[str] = field(default_factory=list)  # who answered, in the order of answering
    keys: dict[str, bytes] = field(default_factory=dict)  # whose report is whose

    async def answer(self, people):
        """Fetch a token each, and answer at once."""
        issuer, design = self.collector.entrance.issuer, self.collector.design_id
        key = public_key(issuer.message)
        for person in people:
            token = blind.prepare(person.encode().ljust(32)[:32])
            made = blind.blind(key, token)
            signed = issuer.sign(encode(Application(1, person, made.message.hex())))
            assert isinstance(signed, Signed)
            signature = blind.finalize(key, token, bytes.fromhex(signed.signature), made.inverse)
            report = Report(
                version=2,
                id=token_id(token),
                design=design,
                ballot=0,
                answers=(3,),
                public=(1,),
                token=token.hex(),
                signature=signature.hex(),
            )
            assert await self.collector.receive(encode(report)) is None
            self.order.append(person)
            self.keys[person] = key_of(self.collector.store.salt, report.id)


@dataclass
class Copy:
    """What the thief has: who fetched a token, and all orders that there are, of invitations and of reports."""

    folder: Path
    slots: dict[bytes, bytes]
    invited: dict[str, list[str]]
    reported: dict[str, list[bytes]]


@dataclass
class Life:
    """A survey from its first answer until it was closed, and the copies that were taken of it by the way."""

    survey: Survey
    people: list[str]
    begun: Copy  # fifty have answered
    running: Copy  # all have
    sealed: Copy
    stopped: Copy
    closed: Copy
    log: dict[str, bytes]  # of the database, when all had answered
    database: bytes  # everything that it kept then


@pytest.fixture(scope="module")
def blind_text(survey_text):
    return survey_text.replace("epsilon = 1.0", 'epsilon = 1.0\nadmission = "blind"\ncloses = 2030-06-01T00:00:00Z')


LIVES = [f"{where}, ended by {by}" for where, by in black(["postgres", "sqlite"], ["hand", "its date"])]


@pytest.fixture(scope="module", params=LIVES)
def life(request, tmp_path_factory, blind_text):
    """One life serves all tests: they only read what was copied."""
    where, _, by = request.param.partition(", ended by ")
    folder = tmp_path_factory.mktemp("life")
    if where == "sqlite":
        with pytest.MonkeyPatch.context() as patch:  # the tail is as long as it may be among many reports
            patch.setattr(tail, "SEGMENT", 10**9)
            return lived(blind_text, folder, by)
    cluster = request.getfixturevalue("cluster")
    with cluster.database() as database:
        return lived(blind_text, folder, by, cluster, database)


def lived(text, folder, by, cluster=None, database=None):
    clock = SimpleNamespace(now=datetime(2030, 1, 1, tzinfo=UTC))
    data, copies = folder / "data", {}

    def opened():
        store = open_store(data, database)
        return Collector(parse_survey(text), store, folder=data, now=lambda: clock.now)

    collector = opened()
    survey = Survey(collector, collector.entrance.invite(PEOPLE + ABSENT))
    people = survey.invitations[:PEOPLE]
    random.Random(1).shuffle(people)  # noqa: S311 - repeats, hides nothing

    def copy(name):
        place = folder / name
        shutil.copytree(data, place)
        files = files_of(place)
        invited, reported = issuing_orders(files, survey.invitations), report_orders(files, survey)
        if cluster is not None:
            log = wal_of(cluster)
            reported |= tables_of(database) | report_orders(log, survey)
            invited |= issuing_orders(log, survey.invitations)
        copies[name] = Copy(place, slots_of(issuer_file(place)), invited, reported)

    def look():
        if cluster is not None:
            copies["log"], copies["database"] = wal_of(cluster), held_by(cluster)

    def seal():
        collector.store.compact()

    def end():
        if by == "hand":
            collector.end()
        else:
            clock.now = datetime(2031, 1, 1, tzinfo=UTC)

    begun, running, sealed = (partial(copy, name) for name in ("begun", "running", "sealed"))
    while_running(survey, people[:50], begun, people[50:], running, seal, sealed, look)
    collector.close()
    copy("stopped")
    survey.collector = collector = opened()
    while_running(survey, end)
    collector.close()
    copy("closed")
    return Life(survey, people, **{"log": {}, "database": b"", **copies})


def while_running(survey, *steps):
    """Run the collector, and take these steps one after the other; a step may be a portion of people."""

    async def run():
        survey.collector.writer.start()
        survey.collector.tend()
        for step in steps:
            if callable(step):
                await asyncio.to_thread(step)
            else:
                await survey.answer(step)
        await survey.collector.writer.stop()

    asyncio.run(run())


# -- the thief --------------------------------------------------------------------------------------------------------


def places(content, things):
    """Where each of these things lies in some bytes, first and last: found in one pass, for there may be much."""
    if not things:
        return {}
    heads = np.array(sorted({int.from_bytes(thing[:4], "little") for thing in things}), dtype=np.uint32)
    known = np.zeros(1 << 16, dtype=bool)
    known[heads & 0xFFFF] = True
    found = {}
    size = len(next(iter(things)))
    assert {len(thing) for thing in things} == {size}
    for part in range(0, len(content), PART):
        piece = np.frombuffer(content[part : part + PART + 3], dtype=np.uint8).astype(np.uint32)
        head = piece[:-3] | piece[1:-2] << 8
        likely = np.flatnonzero(known[head])
        four = head[likely] | piece[likely + 2] << 16 | piece[likely + 3] << 24
        for at in (part + likely[np.isin(four, heads)]).tolist():
            thing = content[at : at + size]
            if thing in things:
                found[thing] = (found.get(thing, (at,))[0], at)
    return found


def orders_of(files, things):
    """Every order of these things that can be read from where their bytes lie, by the name of the file."""
    found = {}
    for name, content in files.items():
        lying = places(content, set(things))
        if len(lying) > 1:
            for side, place in (("first", 0), ("last", 1)):
                found[f"{name}, {side}"] = sorted(lying, key=lambda thing: lying[thing][place])
    return found


def issuing_orders(files, invitations):
    """Every order of invitations: by where their hashes lie, and by what their slots hold."""
    names = {digest(one): one for one in invitations}
    found = {where: [names[name] for name in order] for where, order in orders_of(files, list(names)).items()}
    for path, content in files.items():
        if re.fullmatch(r"issuer-.*\.sqlite", path):
            slots = slots_of(content)
            used = [name for name, value in sorted(slots.items(), key=lambda item: item[1]) if value != bytes(32)]
            found[f"{path}, by what was signed"] = [names[name] for name in used]
    return found


def slots_of(content):
    db = sqlite3.connect(":memory:")
    db.deserialize(content)
    found = dict(db.execute("SELECT digest, used FROM slots"))
    db.close()
    return found


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def report_orders(files, survey):
    return orders_of(files, list(survey.keys.values()))


def links(survey, invited, reported):
    """How well two orders pair invitations and reports: right pairs at the same place, correlation of ranks, pairs."""
    places = {key: place for place, key in enumerate(reported)}
    known = [one for one in invited if survey.keys.get(one) in places]
    if len(known) < 2:
        return 0, 0.0, len(known)
    theirs = [places[survey.keys[one]] for one in known]
    right = sum(np.argsort(np.argsort(theirs)) == np.arange(len(known)))
    return int(right), float(np.corrcoef(np.argsort(np.argsort(theirs)), np.arange(len(known)))[0, 1]), len(known)


def assert_at_chance(survey, invited_by, reported_by):
    compared = 0
    for invited in invited_by.values():
        for reported in reported_by.values():
            right, correlation, pairs = links(survey, invited, reported)
            assert right < 14, (right, pairs)
            assert abs(correlation) < 6.5 / max(pairs - 1, 1) ** 0.5, (correlation, pairs)
            compared += pairs > 1
    assert compared < 100
    return compared


def tables_of(database):
    """Orders of reports that the database's own tables tell: as they lie, and by the transaction that wrote them."""
    found = {}
    with psycopg.connect(database) as db:
        for table in ("arrived", "reports", "held"):
            for order in ("ctid", "xmin::text::bigint, ctid"):
                rows = db.execute(f"SELECT key FROM deniable.{table} ORDER BY {order}").fetchall()  # noqa: S608 - ours
                if rows:
                    found[f"{table} by {order}"] = [bytes(key) for (key,) in rows]
    return found


def wal_of(cluster):
    cluster.run("CHECKPOINT")
    return {path.name: path.read_bytes() for path in (cluster.folder / "data" / "pg_wal").iterdir() if path.is_file()}


def held_by(cluster):
    return b"".join(path.read_bytes() for path in cluster.folder.rglob("*") if path.is_file())


@breaks("One copy of the files at any moment plus the invitation list links no better than chance.")
def test_the_thief_would_find_an_order_if_there_were_one(life):
    survey = life.survey
    assert survey.order == life.people
    true = [survey.keys[person] for person in survey.order]
    assert links(survey, survey.order, true) == (PEOPLE, pytest.approx(1.0), PEOPLE)
    shifted = true[1:] + true[:1]
    assert links(survey, survey.order, shifted)[0] == 0
    assert links(survey, survey.order, shifted)[1] > 0.9
    with pytest.raises(AssertionError):
        assert_at_chance(survey, {"log": survey.order}, {"tail": true})


@breaks("One copy of the files at any moment plus the invitation list links no better than chance.")
def test_the_thief_finds_what_lies_anywhere():
    things = [bytes([number]) * 3 + b"what lies there" for number in range(1, 6)]
    content = bytearray(3 * PART)
    for at, thing in ((0, 0), (PART - 7, 1), (2 * PART + 50, 1), (2 * PART - 1, 2), (3 * PART - 18, 3)):
        content[at : at + 18] = things[thing]
    there = {thing: (content.find(thing), content.rfind(thing)) for thing in things[:4]}
    assert places(bytes(content), set(things)) == there
    assert orders_of({"file": bytes(content)}, things) == {
        "file, first": [things[0], things[1], things[2], things[3]],
        "file, last": [things[0], things[2], things[1], things[3]],
    }


# -- one copy ---------------------------------------------------------------------------------------------------------


@breaks("One copy of the files at any moment plus the invitation list links no better than chance.")
@pytest.mark.parametrize("moment", ["running", "sealed"])
def test_a_copy_of_a_running_survey_links_no_better_than_chance(life, moment):
    survey, copy = life.survey, getattr(life, moment)
    # Who fetched a token shows, and the order of reports that are not sealed: more than that would be needed.
    assert {name for name, value in copy.slots.items() if value != bytes(32)} == {digest(one) for one in survey.order}
    arrival = [survey.keys[person] for person in survey.order]
    if moment == "running":
        assert any(order == arrival for order in copy.reported.values())
    assert assert_at_chance(survey, copy.invited, copy.reported) > 3


@breaks("One copy of the files at any moment plus the invitation list links no better than chance.")
def test_a_copy_of_a_stopped_survey_links_no_better_than_chance(life):
    assert assert_at_chance(life.survey, life.stopped.invited, life.stopped.reported) > 1


@breaks("The files of a closed survey do not show who fetched a token.")
def test_a_copy_of_a_closed_survey_does_not_even_show_who_fetched_a_token(life):
    assert_nothing_is_left(life.closed, life.stopped.slots)
    assert assert_at_chance(life.survey, life.closed.invited, life.closed.reported) > 1


def issuer_file(folder):
    (path,) = folder.glob("issuer-*.sqlite")
    return path.read_bytes()


def assert_nothing_is_left(copy, before):
    after = copy.slots
    assert after.keys() == before.keys()
    assert bytes(32) not in after.values()
    assert not set(after.values()) & set(before.values())
    db = sqlite3.connect(":memory:")
    db.deserialize(issuer_file(copy.folder))
    assert db.execute("SELECT secret FROM issuer").fetchall() == [(b"",)]
    db.close()
    # Used and unused slots cannot be told apart: their bits are alike. 180 x 256 fair bits, of which the used ones are
    # 150 x 256; a difference of 6 standard errors comes less than once in 10^8.
    used = [name for name, value in before.items() if value != bytes(32)]
    assert len(used) == PEOPLE
    ones = [
        sum(int.from_bytes(after[name], "big").bit_count() for name in group) / (256 * len(group))
        for group in (used, sorted(after.keys() - set(used)))
    ]
    assert abs(ones[0] - ones[1]) < 6 * 0.5 * (1 / (256 * PEOPLE) + 1 / (256 * ABSENT)) ** 0.5


@breaks("The order of the tail is in the files, of twenty reports or one for ten that are sealed, and no other order.")
def test_the_order_of_no_more_reports_than_the_tail_is_in_the_files(tmp_path):
    # Whatever the moment, what lies outside of the sealed file is at most the tail; and where reports lie in that file
    # tells nothing of their arrival.
    store = open_store(tmp_path)
    number = store.register("a" * 64, b"body")
    store._reports.tend = lambda: None  # sealed here, so that the moment before is looked at
    keys = [key_of(store.salt, f"{n:064x}") for n in range(14_000)]
    lengths = []
    for start in range(0, len(keys), 500):
        store.add([Row(key, number, f"[null,0,[{n % 3}],[]]") for n, key in enumerate(keys[start : start + 500])])
        if store._reports._wake.is_set():
            if start > 8000:
                files = files_of(tmp_path)
                sealed = places(files.pop("reports.sealed.sqlite"), set(keys))
                outside = places(b"".join(files.values()), set(keys))
                assert outside.keys() | sealed.keys() == set(keys[: start + 500])
                assert len(outside) <= max(20, len(sealed) / 10) + 500  # what comes together is sealed together
                lengths.append(len(outside))
            store._reports._wake.clear()
            store._reports.seal()
    assert max(lengths) > 1000  # a tenth, at the end
    arrival = {key: n for n, key in enumerate(keys)}
    for side in (0, 1):
        came = [arrival[key] for key in sorted(sealed, key=lambda key: sealed[key][side])]
        assert abs(np.corrcoef(came, np.arange(len(came)))[0, 1]) < 6.5 / (len(came) - 1) ** 0.5
    store.close()


# -- two copies -------------------------------------------------------------------------------------------------------


@breaks("Of two copies, a report hides among those between them.")
def test_of_two_copies_a_report_hides_among_those_between_them(life):
    survey, first, second = life.survey, life.begun, life.running
    names = {digest(one): one for one in survey.invitations}
    between = {names[name] for name in second.slots if second.slots[name] != first.slots[name]}
    assert between == set(life.people[50:])  # as the promise says: these, and no others
    hidden = {survey.keys[person] for person in between}
    invited = {where: [one for one in order if one in between] for where, order in second.invited.items()}
    reported = {where: [key for key in order if key in hidden] for where, order in second.reported.items()}
    assert assert_at_chance(survey, invited, reported) > 1


# -- PostgreSQL -------------------------------------------------------------------------------------------------------


@breaks("On PostgreSQL the log holds the order of reports until it is overwritten, and nothing of issuing.")
@pytest.mark.parametrize("life", ["postgres, ended by hand"], indirect=True)
def test_the_database_s_log_holds_the_order_of_reports_and_nothing_of_issuing(life):
    survey = life.survey
    arrival = [survey.keys[person] for person in survey.order]
    assert any(order == arrival for order in report_orders(life.log, survey).values())  # as the promise says
    assert set(places(life.database, set(arrival))) == set(arrival)  # everything is looked through
    signed = set(life.sealed.slots.values()) - {bytes(32)}
    assert len(signed) == PEOPLE
    assert places(life.database, {*life.sealed.slots, *signed}) == {}


# -- a process that is killed -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def server(folder, text):
    (folder / "survey.toml").write_text(text, encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run = "from deniable.cli import main; main()"
    where = ["--port", str(port), "--data", str(folder / "data")]
    process = subprocess.Popen([sys.executable, "-c", run, "serve", str(folder / "survey.toml"), *where])
    try:

        def answers():
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/survey") as answer:
                return json.load(answer)

        until(answers)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@breaks("One copy of the files at any moment plus the invitation list links no better than chance.")
def test_the_files_of_a_killed_server_link_no_better_than_chance(tmp_path, blind_text):
    from click.testing import CliRunner

    from deniable.cli.app import app

    number = 60
    with server(tmp_path, blind_text) as (process, url):
        options = [str(tmp_path / "survey.toml"), "--n", str(number), "--data", str(tmp_path / "data")]
        made = CliRunner().invoke(app, ["invite", *options])
        assert made.exit_code == 0, made.output
        invitations = made.output.split()[1:]
        people = list(invitations)
        random.Random(3).shuffle(people)  # noqa: S311 - repeats, hides nothing
        ids = {}
        for person in people:
            with Client(url, invitation=person) as client:
                ids[person] = client.answer(PERSON, public=["region"]).report.id
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    store = open_store(tmp_path / "copy")
    stolen = SimpleNamespace(keys={person: key_of(store.salt, name) for person, name in ids.items()})
    assert len(store.find(list(stolen.keys.values()))) == number  # nothing acknowledged is lost
    store.close()
    files = files_of(tmp_path / "data")
    invited, reported = issuing_orders(files, invitations), report_orders(files, stolen)
    assert assert_at_chance(stolen, invited, reported) > 1


# -- the device -------------------------------------------------------------------------------------------------------


@breaks(
    "Where words were corrected, files and exports tell of a report whether it was disguised under the old or the new "
    "words, and nothing finer."
)
def test_corrected_words_tell_old_from_new_and_nothing_finer(tmp_path):
    text = small_survey(admission="blind")
    corrected = text.replace('title = "Small"', 'title = "Smaller"')
    rng, issuer = np.random.default_rng(1), LocalIssuer(tmp_path / "issuer.sqlite")
    people = [[(rng.bytes(16), tuple(rng.integers(2, size=2).tolist())) for _ in range(40)] for _ in range(2)]

    def seen(name, shuffled):
        """What a copy, an export and its header hold, where the same people answered in an order of their own."""
        store = open_store(tmp_path / name)
        for side, words in enumerate((text, corrected)):
            collector = Collector(parse_survey(words), store, correct="a misprint" if side else None, issuer=issuer)
            for place in shuffled.permutation(40):
                key, answers = people[side][place]
                store.add([Row(key, collector.number, encode_cell(None, 0, answers, ()))])
        store.compact()
        store.copy(tmp_path / f"{name}.sqlite")
        reports = stored_reports(store, collector.design_id)
        reports.write(tmp_path / f"{name}.parquet")
        reports.write(tmp_path / f"{name}.csv")
        store.close()
        with contextlib.closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as db:
            rows = db.execute("SELECT * FROM reports").fetchall()
        return rows, *((tmp_path / f"{name}.{kind}").read_bytes() for kind in ("parquet", "csv"))

    first = seen("first", np.random.default_rng(2))
    assert seen("second", np.random.default_rng(3)) == first
    assert len({row[1] for row in first[0]}) == 2  # the side that each is on, and there is no other column of when
    assert first[2].count(b"words 1") == first[2].count(b"words 2") == 40


@breaks("Metrics move in the steps in which analysts are shown reports, and tell nothing of issuing.")
def test_whoever_scrapes_metrics_sees_steps_and_nothing_of_issuing(tmp_path, blind_text):
    collector = Collector(parse_survey(blind_text), open_store(tmp_path), folder=tmp_path)
    survey = Survey(collector, collector.entrance.invite(30))
    figures = Figures(Served.of(collector.survey), collector.store, PATIENCE)
    scraped = [figures.text()]
    another = blind.blind(public_key(collector.entrance.issuer.message), blind.prepare(bytes(32))).message.hex()

    def number():
        found = int(re.search(r"deniable_reports_total{.*} ([0-9]+)", figures.text())[1])
        assert found == collector.shown.total(collector.number)  # what analysts are shown
        return found

    async def live():
        collector.writer.start()
        for person in survey.invitations[:20]:  # scraped after every step of everybody
            await survey.answer([person])
            scraped.append(figures.text())
        for person in survey.invitations[:20]:  # whoever has a token asks for another
            assert (await collector.sign(encode(Application(1, person, another)))).code == "used"
        await collector.writer.stop()

    asyncio.run(live())
    collector.rejections.write()
    collector.store.add_rejected({"malformed": FEWEST_TOGETHER})
    collector.store.seal()
    assert {*scraped, figures.text()} == {scraped[0]}
    assert (number(), "used" in figures.text()) == (0, False)
    rows = [Row(f"{n:016}".encode(), collector.number, "[null,0,[3],[1]]") for n in range(FEWEST_TOGETHER)]
    collector.store.add(rows[:-1])
    collector.store.seal()
    assert number() == 0
    before = figures.text()
    collector.store.add(rows[-1:])
    collector.store.seal()
    assert number() == 20
    assert {*figures.text().splitlines()} ^ {*before.splitlines()} == {
        f'deniable_reports_total{{design="{collector.design_id}"}} {known}' for known in (0, 20)
    }
    collector.close()


@breaks("A stolen device holds no answer, and no secret from which a disguise could be computed again.")
def test_a_stolen_device_tells_what_was_sent_and_no_more(collector, tmp_path):
    # Devices of people who differ in one answer hold the same things: what they sent, and which ballot they drew. What
    # a device holds of chance is the outcome; with it and every possible answer, nothing can be tried out.
    person = {"smokes": "no", "sleep": "well", "drinks": 3.25, "region": "south"}
    client = Client(collector.url, tmp_path / "device")
    sent = client.answer({**person, "smokes": "yes"}, public=["region"]).report
    client.close()
    db = sqlite3.connect(tmp_path / "device")
    names = [name for (name,) in db.execute(_TABLES).fetchall()]
    tables = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names}  # noqa: S608 - its own names
    db.close()
    ((_, event),) = tables["events"]
    assert set(json.loads(event)) == {"kind", "design", "ballot", "ratio"}
    ((_, _, ballot, _, report, _),) = tables["drawn"]
    assert (ballot, json.loads(report)["answers"]) == (sent.ballot, list(sent.answers))
    assert tables["remembered"] == []
    assert [name.partition(":")[0] for name, _ in tables["notes"]] == ["paid"]  # which event paid for the plan
    assert {len(rows) for rows in (tables["account"], tables["events"], tables["drawn"])} == {1}
    stolen = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"3.25" not in stolen
    assert b'"yes"' not in stolen


@breaks(
    "Of two runs of Spark that disguise into one folder, one is refused before its first row; no reader takes what an "
    "unfinished one left."
)
def test_two_runs_of_spark_leave_one_disguise_and_a_killed_one_none_for_readers(tmp_path):
    folder = tmp_path / "data"
    claimed, ready = [], threading.Barrier(8)

    def start():
        ready.wait()
        target = Target(LocalDisk(folder), "reports")
        with contextlib.suppress(PrivacyError):
            target.claim("A run")
            claimed.append(target)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == 1
    # The one at work is killed, with whole files of reports and the design where it had written them.
    design = dn.Joint({"ill": ["no", "yes"]}, 1.0)
    reports = design.randomize({"ill": ["no", "yes"] * 50})
    left = folder / "_reports.unfinished" / "_temporary" / "0"
    left.mkdir(parents=True)
    reports.write(left / "part-0.parquet")
    with pytest.raises(InputError, match="there is no file"):
        dn.open_reports(folder / "reports")
    with pytest.raises(InputError, match="lacks the file"):
        dn.open_reports(folder / "_reports.unfinished")
    # As Spark left it before: inside the finished folder.
    (folder / "reports").mkdir()
    reports.write(folder / "reports" / "part-0.parquet")
    (folder / "reports" / "_design.json").write_bytes(reports.header.json())
    (folder / "_reports.unfinished" / "_temporary").rename(folder / "reports" / "_temporary")
    assert dn.open_reports(folder / "reports").n == len(dn.read_reports(folder / "reports")) == 100


@breaks("What a disguise on Spark writes into logs and events when it fails holds no true value.")
@pytest.mark.parametrize("column", [
    ["no", "Zwyntarquist"], ["Zwyntarquist", None], [["Zwyntarquist"]], [{"of": "Zwyntarquist"}], [b"Zwyntarquist"],
], ids=["unknown", "missing", "lists", "structs", "bytes"])  # fmt: skip
def test_a_task_of_spark_that_fails_quotes_nobody(column):
    design = dn.Joint({"ill": ["no", "yes"]}, 1.0)
    with pytest.raises(dn.DeniableError) as caught:
        list(disguise(design.canonical())(iter(pa.table({"ill": column}).to_batches())))
    # Tracebacks are what Spark writes down, on executors, on the driver and in its events.
    assert "Zwyntarquist" not in "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))


@breaks(
    "Logs of whoever disguises a table hold no value of a column that is to be disguised, whatever is wrong with "
    "the table."
)
def test_a_log_of_failures_holds_no_true_value(tmp_path, caplog):
    value = "HIV-positive"
    tables = {
        "unknown": f"status\nno\n{value}\n",
        "malformed": f"status,region\nno,north\n{value},north,south\n",
        "without a head": f"{value},north\nno,south\n",
        "no text": f"status\n{value}".encode() + b"\xff\n",
    }
    design = dn.Joint({"status": ["no", "yes"]}, epsilon=1.0)
    for name, text in tables.items():
        place = tmp_path / f"{name}.csv"
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        try:
            randomize_table(place, tmp_path / "out.parquet", design)
        except dn.DeniableError:
            logging.getLogger("holder").exception("a table could not be disguised")
        else:
            pytest.fail(f"{name} was disguised")
    assert len(caplog.records) == len(tables)
    assert value not in caplog.text

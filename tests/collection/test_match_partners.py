"""Pairs: matched at random, sharing a coin the server does not see; alone it is plain randomized response."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.collection.load_reports import stored_reports
from deniable.collection.simulate_respondents import Crowd
from deniable.collection.survey_messages import design_body
from deniable.device.client import Client
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.http_transport import Http
from deniable.device.protocol.messages import Seeking, design_id
from deniable.device.protocol.partner import Seeker
from deniable.device.random_draws import draw
from deniable.device.verify import verify
from deniable.errors import InputError, RefusedDesignError, SurveyError
from deniable.estimation.estimator import estimate
from deniable.extensions.paired.match_partners import WAIT, Matcher, Meetings, Met, met_of
from deniable.extensions.paired.paired_reports import PairedReports
from deniable.extensions.paired.pairing import Coins
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service
from small_survey import PAIRED, small_survey


def text_of(design=PAIRED, epsilon=4.0):
    return small_survey(design, epsilon=epsilon)


@pytest.fixture
def design():
    body = design_body(parse_survey(text_of()))
    return verify(body, design_id(body))


@pytest.fixture
def running(serve):
    with serve(text_of()) as found:
        yield found


# -- what is promised ------------------------------------------------------------------------------------------------


def test_epsilon_is_what_a_partner_learns_who_knows_the_coin(design):
    coins = Coins.of(0.7, -0.1)
    assert design.exchange.waits
    assert design.ratio == ((coins.p + coins.d) / (1 - coins.p - coins.d)) ** 2
    assert 2 * np.log(0.7 / 0.3) < design.epsilon < 4.0


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"design": '{ kind = "paired", p = 0.7, rho = -0.1 }'}, "design.accept"),
        ({"design": PAIRED.replace("-0.1", f"{-3 / 7}")}, "design.rho"),  # the corner
        ({"epsilon": 2.0}, "design.p"),
    ],
)
def test_a_survey_must_accept_the_weaker_statement_and_stay_off_the_corner(options, path):
    with pytest.raises(SurveyError) as caught:
        parse_survey(text_of(**options))
    assert caught.value.details["path"] == path


@pytest.mark.parametrize(
    ("shift", "code"),
    [
        ("1288490189", "zero-weight"),
        ("1288490190", "wrong-sum"),
        ("-1", "wrong-sum"),
        ("1288490188", "epsilon-exceeded"),
    ],
)
def test_a_device_refuses_the_corner_and_beyond(design, shift, code):
    # 2^32 - truthful = 1288490189 draws lie: a coin that moves all of them leaves certainty on one side.
    body = encode(design.message)
    assert (1 << 32) - design.questions[0].channel.truthful == 1288490189
    changed = body.replace(b'"shift":%d' % design.questions[0].channel.shift, b'"shift":' + shift.encode())
    assert changed != body
    with pytest.raises(RefusedDesignError) as caught:
        verify(changed, design_id(changed))
    assert caught.value.code == code


# -- the coin --------------------------------------------------------------------------------------------------------


def test_two_devices_derive_opposite_sides_and_nobody_else_does(design):
    for _ in range(20):
        one, two, other = Seeker(design), Seeker(design), Seeker(design)
        sides = one.sides(two.key)
        assert set(sides) <= {1, -1}
        assert two.sides(one.key) == [-side for side in sides]
        assert one._shared(two.key, 32) == two._shared(one.key, 32) != other._shared(one.key, 32)


def test_coins_fall_either_way_for_every_question(design):
    found = Counter(tuple(Seeker(design).sides(Seeker(design).key)) for _ in range(400))
    # Four outcomes, 100 each: 45 is 6 standard deviations below.
    assert len(found) == 4
    assert min(found.values()) > 45


def test_a_key_that_fits_everybody_is_no_partner(design):
    assert len(Seeker(design).sides("00" * 32)) == 2
    seeker = Seeker(design)
    assert len(seeker.sides(seeker.key)) == 2  # nor is a mirror


def test_alone_it_is_plain_randomized_response(design):
    channel, n = design.questions[0].channel, 3000
    kept = sum(channel.beside(1, draw, Seeker(design).sides(None)[0]) for _ in range(n))
    # The operating system draws: 5.5 standard deviations have probability 4e-8.
    assert abs(kept - 0.7 * n) < 5.5 * (0.21 * n) ** 0.5


# -- matching --------------------------------------------------------------------------------------------------------


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_everybody_but_one_is_matched_and_both_are_told():
    clock = Clock()
    matcher = Matcher(now=clock)
    keys = [f"{number:064x}" for number in range(101)]
    for key in keys:
        matcher.seek(key)
    clock.now += 1.5
    partner = {key: matcher.seek(key).partner for key in keys}
    alone = [key for key in keys if partner[key] is None]
    assert len(alone) == 1
    assert all(partner[partner[key]] == key != partner[key] for key in keys if key not in alone)
    # At random: hardly anybody got their neighbour. 20 of 50 has probability below 1e-15.
    neighbours = sum(partner[keys[n]] == keys[n + 1] for n in range(100))
    assert neighbours < 20
    # The one who is left is told to stay alone when the wait is over, and everything is forgotten later.
    clock.now += WAIT
    assert matcher.seek(alone[0]).wait == 0
    clock.now += 2 * WAIT
    matcher.seek("f" * 64)
    assert len(matcher._since) == 1
    assert not matcher._partner


def test_only_so_many_may_wait(monkeypatch):
    monkeypatch.setattr("deniable.extensions.paired.match_partners._MOST", 3)
    matcher = Matcher()
    assert all(matcher.seek(f"{number:064x}") for number in range(3))
    assert matcher.seek("f" * 64) is None
    assert matcher.seek(f"{0:064x}") is not None


def test_devices_find_each_other_and_the_server_sees_no_coin(running, monkeypatch):
    monkeypatch.setattr("deniable.device.protocol.partner.PAUSE", 0.1)
    agreed, lock = [], threading.Lock()

    def answer():
        client = Client(running.url)
        pair = client._before()
        while (pause := pair.settle()) is not None:
            time.sleep(pause)
        with lock:
            agreed.append(pair.sides)
        client._before = lambda: pair
        assert client.answer({"a": "yes", "b": "no"}).delivered
        client.close()

    threads = [threading.Thread(target=answer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert np.sum(agreed, axis=0).tolist() == [0, 0]  # every +1 has its -1
    reports = stored_reports(running.collector.store, running.collector.design_id)
    assert (reports.n, reports.design.kind) == (8, "paired")
    assert reports.design.correlated
    assert estimate(reports, ["a"]).table.values.sum() == pytest.approx(1)


def test_a_simulated_crowd_finds_its_partners_at_the_collector(running):
    crowd = Crowd(running.url, batch=10)
    for _ in range(10):
        crowd.answer({"a": "yes", "b": "no"})
    assert crowd.sent == 0  # they look for each other first
    crowd.flush()
    assert crowd.sent == 10
    assert running.collector.session.of[running.collector.design_id].now == Met(pairs=5, told=10)
    running.collector.session.close()
    reports = stored_reports(running.collector.store, running.collector.design_id)
    assert isinstance(reports, PairedReports)
    assert reports.pairs == 5
    assert "times those of unpaired ones" in estimate(reports, ["a"]).details


# -- how many pairs were completed ------------------------------------------------------------------------------------


def test_pairs_are_counted_when_both_know():
    clock, met = Clock(), []
    matcher = Matcher(now=clock, count=lambda *more: met.append(more))
    keys = [f"{number:064x}" for number in range(5)]
    for key in keys:
        matcher.seek(key)
    clock.now += 1.5
    first = {key: matcher.seek(key).partner for key in keys[:1]}
    assert met == ([(0, 1)] if first[keys[0]] else [])  # one knows, the other does not yet
    for _ in range(2):  # asking again counts nothing
        for key in keys:
            matcher.seek(key)
    assert [sum(column) for column in zip(*met, strict=True)] == [2, 4]
    # The fifth goes on alone when the wait is over, and is nobody's partner afterwards.
    (alone,) = [key for key in keys if matcher.seek(key).partner is None]
    clock.now += WAIT
    assert matcher.seek(alone).wait == 0
    clock.now += 1.5
    for _ in range(2):
        assert matcher.seek("f" * 64).partner is None
        clock.now += 1.5
    assert matcher.seek(alone).partner is None
    assert [sum(column) for column in zip(*met, strict=True)] == [2, 5]


def test_no_more_pairs_are_claimed_than_can_be_complete():
    # All ways in which 6 told devices (2 pairs, 2 alone) can have sent a report or none.
    met = Met(pairs=2, told=6)
    for sent in product((0, 1), repeat=6):
        complete = (sent[0] & sent[1]) + (sent[2] & sent[3])
        assert met.completed(sum(sent)) <= complete
    assert met.completed(6) == 2


def test_the_numbers_outlive_the_server(tmp_path):
    store = SqliteStore(tmp_path / "r.sqlite")
    meetings = Meetings(store, "ab")
    meetings.add(1, 2)
    meetings.write()
    meetings.add(1, 3)
    meetings.write()
    meetings.write()
    assert len(store.saved_under("meetings")) == 1
    again = Meetings(store, "ab")
    assert again.now == Met(2, 5)
    again.add(0, 1)
    again.write()
    other = Meetings(store, "cd")
    other.add(3, 6)
    other.write()
    assert met_of(store, ["ab", "cd", "ef"]) == Met(5, 12)
    # Killed between two steps of a writing: the older number is still there too, and the newer one counts.
    store.save("meetings ab 5", b"[2,5]")
    assert met_of(store, ["ab"]) == Met(2, 6)
    store.close()


def test_the_stated_errors_of_collected_pairs_are_those_that_are_made():
    """JRR's variance, from what matcher and reports say: simulated on counts of completed pairs."""
    design = dn.Paired({"a": ["no", "yes"]}, p=0.75, rho=-0.3)
    truth = pa.table({"a": ["yes"] * 40 + ["no"] * 760})
    stated, found, plain = [], [], []
    for seed in range(300):
        everybody = design.randomize(truth, source=dn.Seeded(seed))
        # As an export has them: the answers, and how many pairs the matcher counted.
        reports = PairedReports.of_pairs(design, everybody.answers, Met(400, 800).completed(800))
        one = estimate(reports, ["a"], population="fixed")
        stated.append(one.std_error[1] ** 2)
        found.append(one.unbiased.values[1])
        alone = dn.Reports.of_codes(design, everybody.ballots, everybody.answers)
        plain.append(estimate(alone, ["a"], population="fixed").std_error[1] ** 2)
    # 299 s^2 / sigma^2 is nearly chi-square with 299 degrees: within 41% of 1 but for a chance below 1e-6.
    assert np.var(found, ddof=1) == pytest.approx(np.mean(stated), rel=0.41)
    assert np.mean(stated) < 0.8 * np.mean(plain)


@pytest.mark.parametrize("side", [1, -1])
def test_the_coin_decides_what_a_draw_between_its_sides_becomes(running, monkeypatch, side):
    client = Client(running.url)
    channels = [question.channel for question in client.design.questions]
    # Without a coin such a draw would be below or above alike, whichever way the coin points.
    monkeypatch.setattr("deniable.device.client.draw", lambda _bits: channels[0].truthful)
    pair = client._before()
    pair.sides = [side] * len(channels)
    monkeypatch.setattr(client, "_before", lambda: pair)
    assert all(channel.shift > 0 for channel in channels)
    sent = client.answer({"a": "yes", "b": "no"}, send=False)
    truth = (1, 0)
    assert sent.report.answers == (truth if side > 0 else (0, 1))


def test_a_device_without_a_partner_answers_alone(running, monkeypatch):
    monkeypatch.setattr("deniable.device.protocol.partner._LONGEST_SEARCH", 0.2)
    monkeypatch.setattr("deniable.device.protocol.partner.PAUSE", 0.1)
    assert Client(running.url).answer({"a": "yes", "b": "no"}).delivered


def test_a_second_server_of_a_survey_in_pairs_is_refused(running, tmp_path, database):
    (tmp_path / "survey.toml").write_text(text_of(), encoding="utf-8")
    with pytest.raises(InputError, match="one in pairs can have only one"):
        Service.open(tmp_path / "survey.toml", running.data)
    first = Service.open(tmp_path / "survey.toml", tmp_path, database)
    with pytest.raises(InputError, match="one in pairs can have only one"):
        Service.open(tmp_path / "survey.toml", tmp_path, database)
    first.collector.close()
    Service.open(tmp_path / "survey.toml", tmp_path, database).collector.close()


def test_only_paired_designs_have_partners(running, serve, survey_text, tmp_path):
    post = Http(running.url)
    for body in (b"{}", encode(Seeking(1, "ab" * 32, "cd" * 32))):
        assert post.request("POST", "/v1/partners", body, most=10_000).status in (400, 404)
    with serve(survey_text, tmp_path / "other") as other:
        asked = encode(Seeking(1, other.collector.design_id, "cd" * 32))
        answer = Http(other.url).request("POST", "/v1/partners", asked, most=10_000)
        assert json.loads(answer.body)["type"].endswith("unknown-design")

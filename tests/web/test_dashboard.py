"""The analyst's pages: who is let in, what they show, and that closing a survey keeps it as it is."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import hashlib
import io
import json
import secrets
from datetime import datetime
from html import unescape

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest

from deniable.channels.dense import Dense
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.collection import bearer_tokens as tokens
from deniable.collection import survey_lifecycle as opening
from deniable.collection import survey_messages
from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.collection.collector import Collector
from deniable.collection.load_reports import stored_reports
from deniable.collection.report_cells import encode_cell
from deniable.device.origins import fingerprint
from deniable.device.privacy_statement import rounded_up
from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.errors import InputError
from deniable.reporting.data_quality import fewest_published
from deniable.reporting.describe_disguise import disguised
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey
from deniable.web.api.results_endpoint import results
from deniable.web.dashboard import dashboard, login
from deniable.web.dashboard.dashboard import Dashboard
from deniable.web.dashboard.page_data import overview
from deniable.web.serve import Service, background

PAGES = ("/analyst", "/analyst/tables", "/analyst/associations", "/analyst/privacy")
FILES = (
    "/analyst/progress",
    "/analyst/chart.svg?of=smokes",
    "/analyst/associations.svg",
    "/analyst/results.json",
    "/analyst/results.csv",
    "/analyst/reports.parquet",
    "/analyst/reports.csv",
    "/analyst/reports.sav",
    "/analyst/analysis.R",
)
SAME = {"Origin": "http://testserver", "Host": "testserver"}


class Analyst:
    """A client with cookies, and what it talks to."""

    def __init__(self, path, survey) -> None:
        self.store = SqliteStore(path / "r.sqlite")
        self.collector = Collector(parse_survey(survey), self.store)
        self.token = new_token(self.store, ANALYST)
        self.service = Service(self.collector, self.store, self.token)

    def log_in(self, headers=SAME, **fields):
        return self.client.post("/analyst/login", data=fields or {"token": self.token}, headers=headers)

    def fill(self, cells):
        """Store reports: {(ballot, answers, public): how many}."""
        rows = [
            Row(secrets.token_bytes(16), 1, encode_cell(None, *cell)) for cell, n in cells.items() for _ in range(n)
        ]
        self.store.add(rows)
        self.store.compact([1])  # all of them are shown


@pytest.fixture
def analyst(tmp_path, survey_text):
    found = Analyst(tmp_path, survey_text)
    with background(found.service) as url, httpx.Client(base_url=url, timeout=300) as found.client:
        yield found


@pytest.fixture
def inside(analyst):
    # Ballot 0 asks smokes and sleep together, ballot 1 drinks.
    analyst.fill({(0, (cell,), (0,)): n for cell, n in enumerate((60, 160, 120, 60))})
    analyst.fill({(1, (cell,), (1,)): n for cell, n in enumerate((200, 120, 90))})
    assert analyst.log_in().status_code == 303
    return analyst


def test_nobody_sees_anything_without_logging_in(analyst):
    for path in PAGES:
        answer = analyst.client.get(path)
        assert answer.status_code == 401
        assert 'name="token"' in answer.text
        assert "Estimates" not in answer.text
    for path in FILES[:-2]:
        assert analyst.client.get(path).status_code == 401, path
    for path in ("/analyst/close", "/analyst/logout"):
        assert analyst.client.post(path).status_code == 401
    assert analyst.collector.is_open


@pytest.mark.parametrize("fields", [{"token": "wrong"}, {"token": ""}, {"link": "wrong"}, {"other": "x"}])
def test_only_the_token_or_a_link_lets_in(analyst, fields):
    answer = analyst.log_in(**fields)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


def test_a_link_works_once_and_looking_at_it_does_not_count(analyst):
    path = login.new_link(analyst.store)
    link = path.partition("link=")[2]
    for _ in range(2):
        assert link in analyst.client.get(path).text
    assert analyst.log_in(link=link).status_code == 303
    assert analyst.log_in(link=link).status_code == 403


def test_the_cookie_is_for_nobody_else(analyst):
    cookie = analyst.log_in().headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/analyst", "max-age=43200"))
    assert "secure" not in cookie
    # What a browser says by itself; what a proxy says where the browser says nothing, as its policy tells it to.
    for told in ({"Origin": "https://testserver"}, {"Sec-Fetch-Site": "same-origin", "X-Forwarded-Proto": "https"}):
        safe = {"Host": "testserver", **told}
        assert "secure" in analyst.log_in(safe).headers["set-cookie"].lower()


def test_wrong_logins_are_answered_ever_more_rarely_and_right_ones_always(analyst, monkeypatch):
    now = [0.0]
    throttle = login.Throttle(lambda: now[0])
    assert [throttle.allows() for _ in range(12)] == [True] * 10 + [False] * 2
    now[0] += 6.0
    assert [throttle.allows() for _ in range(2)] == [True, False]
    now[0] += 1e6
    assert [throttle.allows() for _ in range(11)] == [True] * 10 + [False]
    monkeypatch.setattr(login.Throttle, "allows", lambda _: False)
    wrong = analyst.log_in(token="wrong")  # noqa: S106 - it is none
    assert (wrong.status_code, wrong.json()["type"], wrong.headers["retry-after"]) == (
        429,
        "urn:deniable:problem:busy",
        "1",
    )
    assert analyst.log_in().status_code == 303


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: "9" + c, lambda _: "x.y", lambda c: c.replace(".", "")])
def test_a_forged_or_ended_cookie_opens_nothing(analyst, change, monkeypatch):
    good = analyst.log_in().cookies[login.COOKIE]
    analyst.client.cookies.clear()

    def seen(cookie):
        return analyst.client.get("/analyst/progress", headers={"Cookie": f"{login.COOKIE}={cookie}"}).status_code

    assert (seen(good), seen(change(good))) == (200, 401)
    # The server runs on the same clock, and ends where no date can be written: a year that has four digits.
    monkeypatch.setattr(login.time, "time", lambda: 1e11)
    assert seen(good) == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "http://["},
        {"Origin": "null"},
    ],
)
def test_other_sites_can_send_no_form(inside, headers):
    assert inside.client.post("/analyst/close", headers=headers).status_code == 401
    assert inside.log_in({"Host": "testserver", **headers}).status_code == 403
    assert inside.collector.is_open


def test_the_policy_of_every_page(inside):
    for path in PAGES:
        answer = inside.client.get(path)
        assert answer.status_code == 200
        assert "form-action 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert " style=" not in answer.text
        assert answer.headers["cache-control"] == "no-store"


def test_the_overview_has_raw_values_beside_estimates(inside):
    for _ in range(2):  # steps; the one before the last is shown
        for _ in range(FEWEST_TOGETHER):
            inside.client.post("/v1/reports", content=b"{}")
        text = inside.client.get("/analyst").text
    # 180 of 400 reports say "yes"; at the realised p and q of k-RR over 4 cells the unbiased share is lower.
    assert "45.0%" in text
    (channel, _) = (question.channel for question in inside.collector.survey.design.questions)
    collapsed = channel.collapse((2, 2), [0])
    assert f"{100 * collapsed.solve(np.array([0.55, 0.45]))[1]:.1f}%" in text
    assert '<td class="number">410</td>' in text
    assert "malformed" in text


def test_cross_tables_and_what_cannot_be_crossed(inside):
    text = inside.client.get("/analyst/tables").text
    assert "smokes \\ sleep" in text
    assert "Are they independent? p = " in text
    never = inside.client.get("/analyst/tables?of=smokes&of=drinks").text
    assert "under this design nobody will" in never
    assert inside.client.get("/analyst/tables?of=nothing").status_code == 200
    assert "&lt;b&gt;" in inside.client.get("/analyst/tables?of=<b>").text
    said = "Nobody has reported about these together"
    for more in ("", "&by=region"):
        assert said in inside.client.get(f"/analyst/tables?of=smokes&of=drinks{more}").text
        drawn = inside.client.get(f"/analyst/chart.svg?of=smokes&of=drinks{more}")
        assert (drawn.status_code, said in drawn.text) == (422, True)


def test_one_report_from_a_rare_region_has_its_own_place_and_stops_no_other(inside):
    inside.fill({(0, (cell,), (0,)): 30 for cell in range(4)} | {(0, (0,), (1,)): 1})
    strange = inside.client.get("/analyst/tables?of=smokes&by=planet").text
    assert "nothing public is called &#39;planet&#39;; there are &#39;region&#39;" in strange
    assert "Shares of" not in strange
    assert inside.client.get("/analyst/chart.svg?of=smokes&by=planet").status_code == 422
    page = inside.client.get("/analyst/tables?of=smokes&of=sleep&by=region").text
    assert "1 of 30 answers needed" in page
    assert page.count("%") > 8  # the others' shares and intervals
    assert inside.client.get("/analyst/chart.svg?of=smokes&by=region").text.startswith("<svg")


def test_privacy_says_the_true_epsilon_and_what_fakes_can_do(inside):
    text = unescape(inside.client.get("/analyst/privacy").text)
    survey = inside.collector.survey
    for sentence in disguised(survey.design, survey.labels):
        assert sentence in text
    design = inside.collector.survey.design
    assert f"devices run: {rounded_up(design.epsilon)}," in text
    weight = design.questions[0].channel.largest_weight()
    assert f"{100 * weight / 400:.3g} points" in text
    assert "Nothing stands out" in text


def test_an_alarm_is_raised_when_ballots_come_unevenly(inside):
    inside.fill({(1, (0,), (0,)): 400})
    assert "Alarm: devices draw ballots by chance" in inside.client.get("/analyst").text
    assert "Alarm: devices draw ballots by chance" in inside.client.get("/analyst/privacy").text


@pytest.mark.parametrize(
    "channel",
    [
        KRR(5, 1.0),
        Mixture.from_weights(20000, [20000, 15536, 10000], 16),
        Dense.from_weights([[40000, 10000], [20000, 15536], [5536, 40000]], 16, name="three reports"),
    ],
    ids=str,
)
def test_the_largest_weight_is_that_of_the_inverse(channel):
    inverse = channel.solve(np.eye(channel.outputs))
    assert channel.largest_weight() == pytest.approx(np.abs(inverse).max())


def test_downloads(inside):
    found = json.loads(inside.client.get("/analyst/results.json").content)
    assert found["reports"] == 810
    rows = list(csv.DictReader(io.StringIO(inside.client.get("/analyst/results.csv").text)))
    assert sum(row["estimate"] != "" for row in rows) == 2 + 2 + 3 + 4
    parquet = inside.client.get("/analyst/reports.parquet")
    assert 'filename="smoking-reports.parquet"' in parquet.headers["content-disposition"]
    assert pq.read_table(io.BytesIO(parquet.content)).num_rows == 810
    assert len(inside.client.get("/analyst/reports.csv").text.splitlines()) >= 811
    for other in ("reports.exe", "reports.R", "analysis.sav", "analysis.ipynb"):
        assert inside.client.get(f"/analyst/{other}").status_code == 404
    sav, dta = (inside.client.get(f"/analyst/reports.{kind}").content for kind in ("sav", "dta"))
    assert sav.startswith(b"$FL2")
    assert b"<stata_dta>" in dta
    assert b"Do you smoke?" in sav
    assert "Largest difference" in inside.client.get("/analyst/analysis.R").text
    # The script is a program of its own: it ends with its largest difference from our numbers.
    script = inside.client.get("/analyst/analysis.py")
    assert 'filename="smoking-analysis.py"' in script.headers["content-disposition"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(script.text, {"__name__": "__main__"})  # noqa: S102 - our own
    assert float(said.getvalue().split()[-1]) < 1e-9


def test_charts_are_pictures(inside):
    for path in ("/analyst/chart.svg?of=smokes&of=sleep", "/analyst/associations.svg"):
        answer = inside.client.get(path)
        assert answer.headers["content-type"] == "image/svg+xml"
        assert answer.text.startswith("<svg")
    assert inside.client.get("/analyst/chart.svg?of=nothing").status_code == 422


def test_closing_freezes_the_results(inside, monkeypatch):
    monkeypatch.setattr(opening, "SETTLE", 0.0)
    assert inside.client.post("/analyst/close", headers=SAME).status_code == 303
    assert not inside.collector.is_open
    assert inside.client.post("/v1/reports", content=b"{}").json()["type"].endswith(":closed")
    before = [inside.client.get(path).text for path in ("/analyst", "/analyst/associations")]
    assert "closed, results frozen" in before[0]
    # Even if something were added behind the service's back, what was closed stays as it was.
    inside.fill({(0, (0,), (0,)): 50})
    again = Collector(inside.collector.survey, inside.store)
    assert not again.is_open
    after = [inside.client.get(path).text for path in ("/analyst", "/analyst/associations")]
    assert ["810" in text for text in (before[0], after[0])] == [True, True]
    assert before[1] == after[1]


def dated(survey_text, closes, opens="2026-01-01"):
    hours = f"epsilon = 1.0\nopens = {opens}T00:00:00Z\ncloses = {closes}T00:00:00Z"
    return parse_survey(survey_text.replace("epsilon = 1.0", hours))


def test_results_are_frozen_anew_if_the_date_was_moved_and_passes_again(tmp_path, survey_text):
    store, seen = SqliteStore(tmp_path / "r.sqlite"), []

    def served(closes, now):
        collector = Collector(dated(survey_text, closes), store, now=lambda: datetime.fromisoformat(f"{now}T00:00:00Z"))
        found = asyncio.run(Dashboard(collector)._overview())
        if not collector.is_open:
            collector._finish()
        seen.append((collector.is_open, found.reports))

    def add(number):
        store.add([Row(secrets.token_bytes(16), 1, encode_cell(None, 1, (0,), (0,))) for _ in range(number)])
        store.seal()

    served("2026-02-01", "2025-12-01")  # before it opens: nothing is frozen
    add(100)
    served("2026-02-01", "2026-02-02")
    served("2026-03-01", "2026-02-03")  # the date is moved
    add(50)
    served("2026-03-01", "2026-02-04")  # of the 50, twenty are held back
    served("2026-03-01", "2026-03-02")
    add(1)  # behind the service's back
    served("2026-03-01", "2026-03-03")
    assert seen == [(False, 0), (False, 100), (True, 100), (True, 130), (False, 150), (False, 150)]
    store.close()


def test_what_a_closed_survey_is_made_for_may_be_said_anew(tmp_path, survey_text, monkeypatch):
    monkeypatch.setattr(opening, "SETTLE", 0.0)
    store = SqliteStore(tmp_path / "r.sqlite")
    for wanted in ("shares(drinks)", "cdf(drinks)", "shares(drinks)"):
        said = f'epsilon = 1.0\ndesign = {{ kind = "joint" }}\nwanted = ["{wanted}"]'
        survey = parse_survey(survey_text.replace("epsilon = 1.0", said))
        collector = Collector(survey, store)
        store.add([Row(secrets.token_bytes(16), 1, encode_cell(None, 0, (0,), (0,))) for _ in range(30)])
        store.seal()
        collector.end()
        page, told = asyncio.run(Dashboard(collector)._overview()), results(collector)
        assert (page.wanted, page.numbers, page.nearness) == (told.wanted, told.numbers, told.nearness)
        assert page.wanted[-1] == str(survey.wanted[-1])
        assert page.reports == (30 if wanted.startswith("shares") else 60)  # what was frozen then, and what is now
    store.close()


def test_progress_counts_the_reports_to_all_amendments(tmp_path, survey_text):
    store = SqliteStore(tmp_path / "r.sqlite")
    first = Collector(parse_survey(survey_text), store)
    second = Collector(parse_survey(survey_text.replace("Do you smoke?", "Do you smoke at all?")), store)
    shown = Dashboard(second)

    async def add(collector, number):
        cell = encode_cell(None, 1, (0,), (0,))
        store.add([Row(secrets.token_bytes(16), collector.number, cell) for _ in range(number)])
        store.seal()
        return await shown._desk.reports(), (await shown._overview()).reports

    async def run():
        return [await add(first, 60), await add(second, 39), await add(first, 40), await add(second, 1)]

    # Of each, twenty are held back.
    assert asyncio.run(run()) == [(40, 40), (40, 40), (80, 80), (100, 100)]
    store.close()


def test_a_survey_nobody_has_answered_yet(analyst):
    analyst.log_in()
    for path in PAGES:
        assert analyst.client.get(path).status_code == 200
    assert analyst.client.get("/analyst").text.count("0 of 30 answers needed") == 3  # smokes, sleep, drinks
    assert analyst.client.get("/analyst/associations.svg").status_code == 404


def seen(analyst, cookie):
    """What a cookie opens, whoever has it."""
    analyst.client.cookies.clear()
    return analyst.client.get("/analyst/progress", headers={"Cookie": f"{login.COOKIE}={cookie}"}).status_code


def test_logging_out_ends_the_login_for_everybody_who_has_its_cookie(analyst):
    mine = analyst.log_in().cookies[login.COOKIE]
    other = analyst.log_in().cookies[login.COOKIE]
    analyst.client.cookies.clear()
    answer = analyst.client.post("/analyst/logout", headers={**SAME, "Cookie": f"{login.COOKIE}={mine}"})
    assert (answer.status_code, 'deniable-analyst=""' in answer.headers["set-cookie"]) == (303, True)
    assert (seen(analyst, mine), seen(analyst, other)) == (401, 200)


def test_a_new_token_ends_the_old_one_its_links_and_every_login(analyst):
    cookie = analyst.log_in().cookies[login.COOKIE]
    link = login.new_link(analyst.store).partition("link=")[2]
    fresh = tokens.replace(analyst.store)
    assert seen(analyst, cookie) == 401
    assert analyst.log_in(token=analyst.token).status_code == 403
    assert analyst.log_in(link=link).status_code == 403
    old, new = ({"Authorization": f"Bearer {token}"} for token in (analyst.token, fresh))
    assert [analyst.client.get("/v1/results", headers=one).status_code for one in (old, new)] == [401, 200]
    assert analyst.log_in(token=fresh).status_code == 303


def test_the_store_holds_hashes_of_logins_only(analyst, tmp_path):
    _, secret, _ = analyst.log_in().cookies[login.COOKIE].split(".")
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert hashlib.sha256(secret.encode()).hexdigest().encode() in held
    assert secret.encode() not in held


def test_what_was_turned_away_outlives_a_restart(tmp_path, survey_text):
    for start in range(2):
        found = Analyst(tmp_path, survey_text)
        with background(found.service) as url, httpx.Client(base_url=url, timeout=300) as found.client:
            found.log_in()
            for _ in range(FEWEST_TOGETHER):
                found.client.post("/v1/reports", content=b"{}")
            text = found.client.get("/analyst").text
        # A step a start, and what is shown is the one before the last.
        assert (f'<th scope="row">malformed</th><td class="number">{FEWEST_TOGETHER}</td>' in text) == (start == 1)


def test_amendments_are_listed_and_counted_together(inside, survey_text):
    inside.log_in()
    first = inside.collector.design_id
    corrected = parse_survey(survey_text.replace("Do you smoke?", "Do you smoke at all?"))
    again = Collector(corrected, inside.store, correct="a misprint")
    assert (again.plan_id, again.amendments) == (inside.collector.plan_id, [first, again.design_id])
    assert Collector(corrected, inside.store).design_id == again.design_id  # served again, it is the same one
    assert stored_reports(inside.store, again.design_id).n == stored_reports(inside.store, first).n == 810
    page = inside.client.get("/analyst/privacy").text
    assert fingerprint(first) in page
    listed = overview(again).privacy.amendments
    assert [(row.design, row.reports) for row in listed] == [(first, 810), (again.design_id, 0)]
    # What bears on an answer is not a correction.
    with pytest.raises(InputError, match="'drinks' changed"):
        Collector(parse_survey(survey_text.replace("[1, 8]", "[1, 9]")), inside.store)


def test_what_readers_can_learn_is_said_for_the_smallest_group_that_tables_show(analyst):
    analyst.fill({(0, (cell,), (region,)): n for region, n in ((0, 1000), (1, 40)) for cell in range(4)})
    reports = stored_reports(analyst.store, analyst.collector.design_id)
    told = overview(analyst.collector).privacy.statement
    assert told == tuple(reports.describe(published=fewest_published(reports, ["region"])).lines())
    assert told != tuple(reports.describe(published=fewest_published(reports)).lines())


def test_a_page_that_shows_the_same_is_neither_rendered_nor_verified_again(inside, monkeypatch):
    made = {"rendered": 0, "verified": 0}

    def counted(name, function):
        def call(*given):
            made[name] += 1
            return function(*given)

        return call

    monkeypatch.setattr(dashboard, "_rendered", counted("rendered", dashboard._rendered))
    monkeypatch.setattr(survey_messages, "verify", counted("verified", survey_messages.verify))
    first = inside.client.get("/analyst").text
    assert [inside.client.get("/analyst").text for _ in range(3)] == [first] * 3
    assert made == {"rendered": 1, "verified": 0}  # the collector verified it when it began
    assert inside.client.get("/analyst?lang=en").status_code == 200
    inside.fill({(0, (0,), (0,)): 100})
    assert inside.client.get("/analyst").text != first
    assert made == {"rendered": 3, "verified": 0}


TWO_LANGUAGES = """
format = 1
name = "two"
languages = ["en", "de"]
title = { en = "Smoking", de = "Rauchen" }
epsilon = 1.0
[[questions]]
name = "smokes"
text = { en = "Do you smoke?", de = "Rauchen Sie?" }
kind = "yes-no"
"""


def test_every_page_leads_to_itself_in_the_other_language(tmp_path):
    found = Analyst(tmp_path, TWO_LANGUAGES)
    with background(found.service) as url, httpx.Client(base_url=url, timeout=300) as found.client:
        found.fill({(0, (0,), ()): 40})
        found.log_in()
        for path in ("/analyst", "/analyst/tables", "/analyst/associations", "/analyst/privacy"):
            page = found.client.get(path)
            assert (page.status_code, 'href="?lang=de"' in page.text) == (200, True), path
        german = found.client.get("/analyst/tables?of=smokes&lang=de").text
        assert 'href="?of=smokes&amp;lang=en"' in german
        assert "Rauchen Sie?" in german

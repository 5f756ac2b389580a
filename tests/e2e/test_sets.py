"""Surveys whose reports are sets, in a real browser: what is said, what is shown, what is sent and what is kept."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from watching import LOOK, NO_CHANCE, flaws, shown, stored

from deniable.cli.app import app
from deniable.collection.load_reports import stored_reports
from deniable.collection.simulate_respondents import Crowd
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import design_id
from deniable.estimation.estimator import estimate
from deniable.web.dashboard.login import new_link
from small_survey import question, survey_file

MONTHS = ["January", "February", "March", "April", "May", "June"]
MONTHS += ["July", "August", "September", "October", "November", "December"]
SURVEY = """
format = 1
name = "NAME"
title = { en = "Birthdays", de = "Geburtstage" }
languages = ["en", "de"]
epsilon = 1.0
MORE
design = { channel = "CHANNEL", kind = "joint" }

[[questions]]
name = "month"
text = { en = "When were you born?", de = "Wann wurden Sie geboren?" }
choices = [CHOICES]
"""
JSON = "application/json"
CHOICE = '{ value = "%s", text = { en = "%s", de = "%s" } }'


def survey(name="birthdays", channel="least_variance", more=""):
    choices = ", ".join(CHOICE % (month, month, month) for month in MONTHS)
    text = SURVEY.replace("NAME", name).replace("CHANNEL", channel)
    return text.replace("CHOICES", choices).replace("MORE", more)


def answer(page, month="March"):
    shown(page, "intro")
    page.get_by_role("button", name="Begin").click()
    shown(page, "questions")
    page.get_by_label(month, exact=True).check()
    page.get_by_role("button", name="Disguise my answers").click()
    shown(page, "review")
    return json.loads(page.locator("#bytes").text_content())


def send(page):
    page.get_by_role("button", name="Send").click()
    shown(page, "done")


def listed(page):
    return page.locator("#sent li").all_inner_texts()


def held(mask):
    return [month for v, month in enumerate(MONTHS) if mask >> v & 1]


def test_a_set_is_explained_shown_and_sent(serving, visitor):
    with serving(survey()) as service:
        someone = visitor(viewport={"width": 360, "height": 740})
        page = someone.visit(service.url)
        channel = service.collector.survey.design.questions[0].channel
        assert (channel.name, round(100 * channel.p), round(100 * channel.q)) == ("SubsetSelection(12, d=3)", 48, 23)
        assert "sends a set of answers instead of one" in shown(page, "intro").inner_text()
        page.get_by_role("button", name="Begin").click()
        words = shown(page, "questions").inner_text()
        assert "about 48 send a set that holds it" in words
        assert "about 23 send a set that holds that" in words
        assert "send another one" not in words
        assert "keeps it" not in words  # it is asked anew each time
        assert page.locator("#asked svg.own circle.kept").count() == 48
        assert page.locator("#asked svg.others circle.kept").count() == 23
        assert flaws(page) == []
        page.get_by_label("March", exact=True).check()
        page.get_by_role("button", name="Disguise my answers").click()
        assert "does not say which of them is yours" in shown(page, "review").inner_text()
        report = json.loads(page.locator("#bytes").text_content())
        assert listed(page) == held(report["answers"][0])
        assert len(listed(page)) == 3
        send(page)
        (body,) = someone.posted()
        assert json.loads(body) == report
        assert "March" not in body
        # Others answer too, through the Python client; all of it becomes one estimate.
        crowd, rng = Crowd(service.url, batch=100), np.random.default_rng(3)
        truth = np.arange(1, 13) / 78
        for month in rng.choice(12, p=truth, size=400).tolist():
            crowd.answer({"month": MONTHS[month]})
        crowd.flush()
        found = estimate(stored_reports(service.store, service.collector.design_id), "month")
        assert (found.n, found.method) == (401, "mle")
        # 12 cells, 6.5 standard errors of people and noise: a normal is that far off with probability 1e-10.
        assert (np.abs(found.efficient.values - truth) < 6.5 * found.std_error).all()


def test_a_set_is_explained_in_german(serving, visitor):
    with serving(survey()) as service:
        page = visitor(locale="de-DE").visit(service.url)
        assert "eine Menge von Antworten" in shown(page, "intro").inner_text()
        page.get_by_role("button", name="Beginnen").click()
        assert "etwa 48 eine Menge, in der sie ist" in shown(page, "questions").inner_text()


PANEL = 'admission = "invited"\npanel = { name = "p", people = 1000000, repeats = ["month"], again = 0.5 }'


@pytest.mark.parametrize(("channel", "language"), [("unary", "en"), ("subset", "de"), ("krr", "de")])
def test_what_a_panel_keeps_is_sent_with_fresh_noise(serving, visitor, channel, language):
    someone, port = visitor(), 0
    for wave in range(3):
        with serving(survey(f"wave-{wave}", channel, PANEL), port=port) as service:
            port = int(service.url.rpartition(":")[2])
            (invitation,) = service.collector.entrance.invite(1)
            page = someone.visit(f"{service.url}/?lang={language}#invitation={invitation}")
            card = shown(page, "intro").locator("#weaker").inner_text()
            assert ("1,000 " if language == "en" else "1.000 ") in card
            assert ("same people" if language == "en" else "Dieselben Menschen") in card
            if wave == 0:
                assert flaws(page) == []
            page.locator("#agree").check()
            page.locator("#begin").click()
            asked = shown(page, "questions").inner_text()
            assert ("keeps the disguise for the panel" if language == "en" else "behält das Ergebnis") in asked
            page.reload()
            shown(page, "questions")
            page.get_by_label(MONTHS[wave], exact=True).check()
            page.locator("#answers button[type=submit]").click()
            shown(page, "review")
            report = json.loads(page.locator("#bytes").text_content())
            if channel != "krr":
                assert listed(page) == held(report["answers"][0]) or not report["answers"][0]
            page.locator("#send").click()
            shown(page, "done")
            remembered, events = (page.evaluate(LOOK, store) for store in ("remembered", "events"))
            page.close()
        if wave == 0:
            first = remembered
    # One set, drawn and paid for once, whatever was answered later; the reports are made of it, each in its own way.
    assert remembered == first
    assert len(remembered) == 1
    assert sorted(event["kind"] for event in events) == ["asked/1", "replayed/1", "replayed/1"]
    if channel == "subset":  # what is kept is a set as it was drawn, without the noise of any report
        assert remembered[0]["answer"].bit_count() == 3


def test_given_draws_make_the_stated_set(serving, visitor):
    with serving(survey(channel="subset")) as service:
        someone = visitor()
        someone.context.add_init_script(NO_CHANCE)
        page = someone.visit(service.url)
        report = answer(page)
        # Every draw is 0: the truth is kept; then two rounds of Floyd's: others 0, and 10 because 0 is in already.
        assert report["answers"] == [1 << 2 | 1 << 0 | 1 << 11]
        assert listed(page) == ["January", "March", "December"]
        send(page)
        assert sum(stored(service).values()) == 1


def test_a_column_is_shown_as_the_answers_it_speaks_for(serving, visitor):
    with serving(survey(channel="hadamard")) as service:
        page = visitor().visit(service.url)
        report = answer(page)
        channel = service.collector.survey.design.questions[0].channel
        liked = channel.weights()[report["answers"][0]] == channel.keep
        assert listed(page) == [month for month, likes in zip(MONTHS, liked, strict=True) if likes]
        send(page)


def test_a_repeated_set_without_a_second_level_is_refused(serving, visitor):
    with serving(survey(channel="subset")) as service:
        someone = visitor()
        served = service.collector.design(service.collector.design_id)
        panel = {"name": "p", "people": 10**6, "repeats": ["month"]}
        trap = encode(json.loads(served) | {"panel": panel, "admission": "invited"})
        announced = json.loads(service.collector.announcement) | {"design": design_id(trap)}
        someone.context.route("**/v1/survey", lambda route: route.fulfill(json=announced))
        someone.context.route("**/v1/designs/*", lambda route: route.fulfill(body=trap, content_type=JSON))
        page = someone.visit(service.url)
        words = shown(page, "refused").inner_text()
        assert "(wrong-panel)" in words
        assert someone.posted() == []


OPTIMAL = survey_file(
    "sleep",
    question("hours", "How many hours do you sleep?", "number", bins=[3, 4, 5, 6, 7, 8, 9, 10]),
    question("mood", "How do you feel?", choices=["well", "so-so", "badly", "awful"]),
    epsilon=1.0,
    wanted=["ranges(hours; < 3..5 to < 6) weight 4"],
    design={"kind": "optimal"},
)


def test_a_number_is_asked_through_a_channel_made_for_one_share_of_it(serving, visitor, tmp_path):
    with serving(OPTIMAL) as service:
        design = service.collector.survey.design
        kinds = {question.name: (question.channel.kind, question.channel.sums) for question in design.questions}
        assert kinds["hours"] == ("patterns", 1)
        assert len(set(design.weights)) == len(design.ballots) == 2
        crowd = Crowd(service.url, batch=300)
        for number in range(299):
            crowd.answer({"hours": 4.5 + number % 5, "mood": "well" if number % 3 else "badly"})
        crowd.flush()
        someone = visitor()
        someone.context.add_init_script(NO_CHANCE)  # the first ballot
        page = someone.visit(service.url)
        shown(page, "intro")
        page.get_by_text("What nobody can learn from this survey").click()
        assert page.locator("#partial li").all_inner_texts() == ["hours: 1 / 8"]
        assert flaws(page) == []
        page.get_by_role("button", name="Begin").click()
        shown(page, "questions")
        (asked,) = (design.questions[index].name for index in design.ballots[0])
        if asked == "hours":
            page.get_by_label("How many hours").fill("7.5")
        else:
            page.get_by_label("badly", exact=True).check()
        page.get_by_role("button", name="Disguise my answers").click()
        shown(page, "review")
        report = json.loads(page.locator("#bytes").text_content())
        assert report["ballot"] == 0
        assert 0 <= report["answers"][0] < design.questions[design.ballots[0][0]].channel.reports
        send(page)
        (body,) = someone.posted()
        assert json.loads(body) == report
        assert stored_reports(service.store, service.collector.design_id).n == 300
        page = visitor().visit(service.url + new_link(service.store))
        page.get_by_role("button", name="Open the results").click()
        page.get_by_role("heading", name="What the survey was made for").wait_for()
        assert "ranges(hours; < 3..5 to < 6) weight 4" in page.inner_text("main")
        page.close()  # it would look for the collector once that has ended
        out = tmp_path / "report.md"
        words = ["--words", str(tmp_path / "survey.toml"), "--replicates", "19"]
        done = CliRunner().invoke(app, ["report", str(tmp_path / "data"), "-o", str(out), *words])
        assert done.exit_code == 0, done.output
        text = out.read_text(encoding="utf-8")
        assert "ranges(hours; &lt; 3..5 to &lt; 6) weight 4" in text
        assert "No table of 'hours' is shown" in text

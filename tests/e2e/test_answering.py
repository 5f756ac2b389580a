"""Answering a survey in a real browser: what leaves it, what stays, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from urllib.parse import urlsplit

import pytest
from watching import LOOK, NO_CHANCE, PUT, SURVEY, flaws, shown, stored

from deniable.device.protocol.canonical_json import encode
from deniable.web.page.respondent_page import PAGE
from deniable.web.page.static_files import asset

JSON = "application/json"


def answer(page, *, smokes="Yes", sleep="badly", region="south"):
    shown(page, "questions")
    for text in (region, smokes, sleep):
        page.get_by_label(text, exact=True).check()
    page.get_by_role("button", name="Disguise my answers").click()
    shown(page, "review")
    return page.locator("#bytes").text_content()


def begin(page):
    shown(page, "intro")
    page.get_by_role("button", name="Begin").click()
    shown(page, "questions")


def test_a_survey_answered_end_to_end(service, visitor):
    someone = visitor()
    someone.context.add_init_script(NO_CHANCE)
    page = someone.visit(service.url)
    begin(page)
    words = page.locator("#asked").inner_text()
    assert "Of 100 people with the same answer, about 60 send it and 40 send another one" in words
    assert page.locator("#asked circle.kept").count() == 60
    report = answer(page)
    rows = page.locator("#sent tr").all_inner_texts()
    assert rows[0].split()[-4:] == ["south", "as", "it", "is"]
    # The truth is cell 2 of 4 (yes, badly); with every draw 0 the report is cell 3: yes, well.
    assert "Yes + well in disguise" in " ".join(rows[1].split())
    assert "cannot be withdrawn" in page.locator("#review").inner_text()
    assert someone.posted() == []
    page.get_by_role("button", name="Send").click()
    shown(page, "done")
    assert someone.posted() == [report]
    design = service.collector.design_id
    texts = json.loads(service.collector.design(design))["texts"]
    assert json.loads(report) == {
        "answers": [3],
        "ballot": 0,
        "block": None,
        "design": design,
        "id": "0" * 64,
        "public": [1],
        "signature": None,
        "token": None,
        "version": 2,
    }
    # Nothing else left the browser: these addresses, no query, no cookie, no referrer, no other server.
    addresses = {urlsplit(request.url) for request in someone.requests}
    assert {address.netloc for address in addresses} == {urlsplit(service.url).netloc}
    assert {address.path for address in addresses} == {
        "/",
        "/v1/survey",
        f"/v1/designs/{design}",
        f"/v1/forms/{texts}",
        "/v1/reports",
    }
    assert not any(address.query for address in addresses)
    assert not any({"cookie", "referer"} & set(request.all_headers()) for request in someone.requests[-1:])
    assert stored(service) == {"[null,0,[3],[1]]": 1}
    # Nor is the answer kept: what lies in the browser is the report.
    (drawn,) = page.evaluate(LOOK, "drawn")
    assert drawn == {
        "plan": service.collector.plan_id,
        "design": design,
        "ballot": 0,
        "charged": [0],
        "report": report,
        "fate": 1,
    }
    assert page.locator("input:checked").count() == 0


def test_a_reload_shows_the_same_ballot_and_sends_the_same_bytes(serving, visitor):
    names = [f"q{number}" for number in range(12)]
    many = SURVEY.split("[[questions]]")[0].replace('tables = [["smokes", "sleep"]]', 'design = { kind = "sampled" }')
    many += "".join(f'[[questions]]\nname = "{name}"\ntext = "About {name}?"\nkind = "yes-no"\n' for name in names)
    with serving(many) as service:
        someone = visitor()
        page = someone.visit(service.url)
        begin(page)
        asked = page.locator("#asked legend").all_inner_texts()
        for _ in range(3):
            page.reload()
            shown(page, "questions")
            assert page.locator("#asked legend").all_inner_texts() == asked
        assert len(page.evaluate(LOOK, "events")) == 1
        page.get_by_label("north").check()
        page.get_by_label("No", exact=True).check()
        page.get_by_role("button", name="Disguise my answers").click()
        shown(page, "review")
        report = page.locator("#bytes").text_content()
        page.reload()
        shown(page, "review")
        assert page.locator("#bytes").text_content() == report
        # The first attempts get no answer, though the collector took the report.
        lost = []

        def lose(route):
            lost.append(route.fetch().status)
            route.fulfill(status=503, body="{}") if len(lost) < 3 else route.continue_()

        page.route("**/v1/reports", lose)
        page.get_by_role("button", name="Send").click()
        shown(page, "done")
        assert lost == [204, 204, 204]
        assert set(someone.posted()) == {report}
        assert sum(stored(service).values()) == 1
        someone.foresee("503")
        page.reload()
        shown(page, "done")


def test_two_tabs_draw_one_ballot_and_send_one_report(service, visitor):
    someone = visitor()
    tabs = [someone.visit(service.url) for _ in range(2)]
    for tab in tabs:
        shown(tab, "intro")
    # Both at once: neither click waits for the other's work.
    for tab in tabs:
        tab.evaluate("document.getElementById('begin').click()")
    for tab in tabs:
        shown(tab, "questions")
    assert len(tabs[0].evaluate(LOOK, "events")) == 1
    tabs[0].bring_to_front()
    first = answer(tabs[0], smokes="Yes")
    tabs[1].bring_to_front()
    assert answer(tabs[1], smokes="No", sleep="well", region="north") == first
    for tab in tabs:
        tab.bring_to_front()
        tab.get_by_role("button", name="Send").click()
        shown(tab, "done")
    assert sum(stored(service).values()) == 1


PANEL = 'admission = "invited"\npanel = { name = "p", people = 400, repeats = ["smokes"] }\nepsilon = 3.0'


def test_a_panel_is_agreed_to_and_paid_for_once(serving, visitor):
    survey = SURVEY.replace("tables = ", "# ").replace("epsilon = 1.5", PANEL)
    survey = survey[: survey.rindex("[[questions]]")]
    someone, port, cards = visitor(), 0, []
    for wave in range(3):
        with serving(survey.replace('"smoking"', f'"smoking-{wave}"'), port) as service:
            port = urlsplit(service.url).port
            (invitation,) = service.collector.entrance.invite(1)
            page = someone.visit(f"{service.url}/#invitation={invitation}")
            cards.append(shown(page, "intro").locator("#weaker").inner_text())
            page.locator("#begin").click()
            assert page.locator("#disagreed").is_visible()  # not without consent
            page.locator("#agree").check()
            page.locator("#begin").click()
            shown(page, "questions")
            page.get_by_label("north").check()
            page.locator("#asked input[type=radio]").nth(1).check()
            page.locator("#answers button[type=submit]").click()
            shown(page, "review")
            page.locator("#send").click()
            shown(page, "done")
            events, kept = page.evaluate(LOOK, "events"), page.evaluate(LOOK, "remembered")
            page.close()
            assert sum(stored(service).values()) == 1
    # Of 2 regions and an answer through a second level of epsilon 2: 2 * 2 p / 400, rounded up.
    assert all("at least 400 people take part, at most 0.89 in 100" in card for card in cards)
    # 3 was charged once, of 5: the other waves went on from the same disguise, for nothing.
    assert sorted(event["kind"] for event in events) == ["asked/1", "replayed/1", "replayed/1"]
    assert len(kept) == 1


def test_a_design_that_breaks_its_promise_is_refused(service, visitor):
    honest = service.collector.design(service.collector.design_id)
    announced = json.loads(service.collector.announcement)
    changed = {
        "epsilon-exceeded": encode(json.loads(honest) | {"epsilon": "1.4"}),
        "unknown-field": encode(json.loads(honest) | {"expires": 1}),
    }
    served = [
        (reason, body, announced | {"design": hashlib.sha256(body).hexdigest()}) for reason, body in changed.items()
    ]
    served.append(("wrong-hash", honest + b" ", announced))
    someone, now = visitor(), []
    someone.context.route("**/v1/survey", lambda route: route.fulfill(json=now[-1][2]))
    someone.context.route("**/v1/designs/*", lambda route: route.fulfill(body=now[-1][1], content_type=JSON))
    page = someone.context.new_page()
    for each in served:
        now.append(each)
        page.goto(service.url)
        assert each[0] in shown(page, "refused").inner_text()
        assert page.locator("#asked").inner_html() == ""
    assert someone.posted() == []
    assert page.evaluate("indexedDB.databases()") == []


def test_another_program_than_the_published_one_is_not_run(service, visitor):
    someone = visitor()
    tampered = asset(PAGE).replace(b"? truth :", b"? truth  :")
    assert tampered != asset(PAGE)
    someone.context.route(service.url + "/", lambda route: route.fulfill(body=tampered, content_type="text/html"))
    someone.foresee("Content Security Policy", "policy: inline")
    page = someone.visit(service.url)
    page.wait_for_load_state("networkidle")
    assert page.locator("main > section:visible").count() == 0
    assert page.locator("#status").inner_text() == ""
    assert [request.url for request in someone.requests] == [service.url + "/"]


def test_an_over_budget_survey_is_refused_before_anything_is_drawn(service, visitor):
    someone = visitor()
    page = someone.visit(service.url)
    shown(page, "intro")
    # e^5 / 34 > e^1.5 > e^5 / 35: what is left is just too little, then just enough.
    for spent, section in (("35/1", "overdrawn"), ("33/1", "intro")):
        event = {"kind": "asked/1", "design": "earlier", "ballot": 0, "ratio": spent}
        page.evaluate(PUT, {"events": [event]})
        page.reload()
        shown(page, section)
        assert page.evaluate(LOOK, "drawn") == []
    assert someone.posted() == []


def test_questions_left_out_by_a_public_attribute_are_answered_in_disguise_too(serving, visitor):
    rule = SURVEY.replace("tables = ", "# ").replace(
        'kind = "yes-no"', 'kind = "yes-no"\nshow_if = { region = "south" }'
    )
    with serving(rule[: rule.rindex("[[questions]]")]) as service:
        someone = visitor()
        someone.context.add_init_script(NO_CHANCE)
        page = someone.visit(service.url)
        begin(page)
        assert not page.get_by_text("Do you smoke?").is_visible()
        page.get_by_label("south").check()
        assert page.get_by_text("Do you smoke?").is_visible()
        page.get_by_role("button", name="Disguise my answers").click()
        page.get_by_role("alert").wait_for()
        page.get_by_label("north").check()
        page.get_by_role("button", name="Disguise my answers").click()
        shown(page, "review")
        # "does not apply" is code 2 of 3; the draw 0 turns it into code 0.
        assert json.loads(page.locator("#bytes").text_content())["answers"] == [0]


def test_with_the_keyboard_alone(service, visitor):
    page = visitor().visit(service.url)
    shown(page, "intro")

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)

    def focused():
        return page.evaluate("document.activeElement.innerText || document.activeElement.type")

    def until(wanted):
        for _ in range(12):
            if wanted in focused():
                return
            press("Tab")
        pytest.fail(f"the keyboard does not reach {wanted}")

    assert focused() == "Before you begin"
    until("Begin")
    press("Enter")
    shown(page, "questions")
    assert focused() == "Your answers"
    for _ in range(3):
        press("Tab", "Space", "ArrowDown")
    until("Disguise my answers")
    press("Enter")
    shown(page, "review")
    assert focused() == "This is what will be sent"
    until("Send")
    press("Enter")
    shown(page, "done")
    assert sum(stored(service).values()) == 1


def test_on_a_phone_and_for_everybody(serving, visitor):
    from deniable.cli.new import example_text

    with serving(example_text()) as service:
        someone = visitor(viewport={"width": 360, "height": 740}, locale="de-DE", has_touch=True)
        page = someone.visit(service.url)
        shown(page, "intro")
        assert page.get_by_role("heading", level=1).inner_text() == "Schlaf und Substanzen"
        assert flaws(page) == []
        # Every state that the page can come to, one below the other.
        hidden = page.evaluate(
            "[...document.querySelectorAll('main [hidden]')].map((e, i) => (e.hidden = false, e.id))"
        )
        assert {"closed", "invitation", "waiting", "unsent", "rejected", "refused", "overdrawn"} <= set(hidden)
        assert flaws(page) == []
        page.reload()
        shown(page, "intro")
        page.get_by_role("button", name="Beginnen").tap()
        shown(page, "questions")
        assert flaws(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert all(
            box.bounding_box()["height"] >= 44 for box in page.locator(".choice, button").all() if box.is_visible()
        )
        page.get_by_label("Auf dem Land").check()
        for field in page.locator("fieldset:visible").all():
            number = field.locator("input[inputmode]")
            number.fill("3") if number.count() else field.locator("input").last.check()
        page.get_by_role("button", name="Meine Antworten verschleiern").tap()
        shown(page, "review")
        assert flaws(page) == []
        page.get_by_role("button", name="Senden").tap()
        shown(page, "done")
        assert flaws(page) == []
        assert sum(stored(service).values()) == 1


def test_a_style_sheet_that_belongs_to_no_element_is_noticed(service, visitor):
    # Chromium attaches none by a header; other browsers may. Such a sheet has no owner.
    someone = visitor()
    someone.context.add_init_script(
        "Object.defineProperty(Document.prototype, 'styleSheets', { get: () => [{ ownerNode: null }] });"
    )
    page = someone.visit(service.url)
    assert "does not belong to it" in shown(page, "restyled").inner_text()
    assert len(someone.requests) == 1

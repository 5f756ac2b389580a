"""Surveys of every kind in a real browser: by invitation, with blind tokens, in blocks, in pairs."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from math import inf

from watching import LOOK, SURVEY, flaws, shown, stored

from deniable.collection.simulate_respondents import Crowd
from deniable.device.protocol.admission_token import report_id
from deniable.device.protocol.fake_blocks import Block
from deniable.surveys.questions import QUESTIONS
from deniable.surveys.survey import parse_survey

TABLES = 'tables = [["smokes", "sleep"]]'
BLOCKS = SURVEY.replace(TABLES, 'design = { kind = "blocks", k = 2, block_size = 20 }')
PAIRS = SURVEY.replace("epsilon = 1.5", "epsilon = 4.0").replace(
    TABLES, 'design = { kind = "paired", p = 0.7, rho = -0.1, accept = "a partner who knows the coin" }'
)
JSON = "application/json"


def kept(page):
    """What the browser keeps: notes, ballots, the account."""
    return [page.evaluate(LOOK, store) for store in ("notes", "drawn", "events")]


def by(admission, survey=SURVEY):
    return survey.replace("epsilon = 1.5", f'epsilon = 1.5\nadmission = "{admission}"')


def fingerprint(name):
    return "-".join(name[at : at + 4] for at in range(0, 16, 4))


def press(page, name):
    page.get_by_role("button", name=name).click()


def answer(page, *, smokes="Yes", sleep="badly", region="south"):
    shown(page, "questions")
    for text in (region, smokes, sleep):
        page.get_by_label(text, exact=True).check()
    press(page, "Disguise my answers")


def reviewed(page):
    shown(page, "review")
    return page.locator("#bytes").text_content()


def enter(page, invitation):
    shown(page, "invitation")
    page.get_by_label("Invitation").fill(invitation)
    press(page, "Go on")


def alert(page):
    return page.get_by_role("alert").locator("visible=true").inner_text()


def posts(someone, path):
    return [json.loads(request.post_data) for request in someone.requests if request.url.endswith(path)]


# -- admission --------------------------------------------------------------------------------------------------------


def test_an_invited_survey(serving, visitor):
    with serving(by("invited")) as service:
        first, second = service.collector.entrance.invite(2)
        someone = visitor(viewport={"width": 360, "height": 740})
        page = someone.visit(service.url)
        enter(page, "")
        assert "type the invitation" in alert(page)
        assert flaws(page) == []
        page.goto(f"{service.url}/#invitation={first}")  # in the same tab
        assert "Whoever noted which invitation" in shown(page, "intro").inner_text()
        assert page.evaluate("location.hash") == ""
        page.reload()
        shown(page, "intro")
        press(page, "Begin")
        answer(page)
        report = reviewed(page)
        press(page, "Send")
        shown(page, "done")
        assert json.loads(report)["id"] == report_id(first)
        notes, drawn, _ = kept(page)
        assert (notes, [each["report"] for each in drawn]) == ([], [report])
        # The invitation never left the browser, neither in an address nor in a message.
        assert someone.posted() == [report]
        assert not any(first in request.url.partition("#")[0] for request in someone.requests)

        # Somebody else: a guess, then the used invitation, then one of their own. The disguise stays the same.
        other = visitor()
        page = other.visit(service.url)
        enter(page, "a guess")
        shown(page, "intro")
        press(page, "Begin")
        answer(page, region="north")  # what is public differs, so that the reports do
        disguised = json.loads(reviewed(page))
        for invitation, sentence in ((first, "not known here"), (second, "used already")):
            press(page, "Send")
            assert sentence in shown(page, "rejected").inner_text()
            page.reload()
            assert sentence in shown(page, "rejected").inner_text()
            press(page, "Use another invitation")
            enter(page, f"{service.url}/#invitation={invitation}")
            assert json.loads(reviewed(page)) == disguised | {"id": report_id(invitation)}
        press(page, "Send")
        shown(page, "done")
        other.foresee("403", "409")
        assert sum(stored(service).values()) == 2


def test_a_survey_with_blind_tokens(serving, visitor):
    with serving(by("blind")) as service:
        (invitation,) = service.collector.entrance.invite(1)
        someone, lost = visitor(), []

        def lose(route):
            reply = route.fetch()
            lost.append(reply.status)
            route.fulfill(status=503, body="{}") if len(lost) == 1 else route.fulfill(response=reply)

        page = someone.visit(service.url)
        enter(page, "a guess")
        assert "not known here" in alert(page)
        someone.context.route("**/v1/tokens", lose)
        enter(page, invitation)
        shown(page, "intro")
        someone.foresee("403", "503")
        assert lost == [200, 200]
        issuer = hashlib.sha256(service.collector.entrance.issuer.message).hexdigest()
        page.get_by_text("Is this the same for everybody?").click()
        words = page.locator("#intro").inner_text()
        assert f"signs admissions: {fingerprint(issuer)}" in words
        assert f"of this survey: {fingerprint(service.collector.design_id)}" in words
        assert "proves nothing" in words
        page.goto(f"{service.url}/#invitation={invitation}&issuer={issuer}")  # signed already, by that key
        shown(page, "intro")
        assert page.evaluate("location.hash") == ""
        press(page, "Begin")
        answer(page)
        report = reviewed(page)
        press(page, "Send")
        shown(page, "done")
        assert sum(stored(service).values()) == 1

        # What the operator saw: an invitation with a blinded token, the same bytes again; later a token that was in
        # neither, and the report under its hash.
        guess, *applications = posts(someone, "/v1/tokens")
        (entry,) = posts(someone, "/v1/reports")
        assert guess["invitation"] == "a guess"
        assert applications[0] == applications[1]
        assert applications[0]["invitation"] == invitation
        assert json.loads(report)["id"] == hashlib.sha256(bytes.fromhex(entry["token"])).hexdigest()
        for body in someone.posted():
            assert not (invitation in body and (entry["token"] in body or entry["signature"] in body))
            assert "badly" not in body
        assert len({guess["blinded"], applications[0]["blinded"], entry["signature"]}) == 3
        assert not any(invitation in request.url.partition("#")[0] for request in someone.requests)
        (note,), _, _ = kept(page)
        assert invitation not in json.dumps(note)
        assert set(note["value"]) == {"issuer", "token", "signature"}

        # The same invitation elsewhere is used up, which costs nothing; nor is another key than the expected one used.
        other = visitor()
        page = other.visit(f"{service.url}/#invitation={invitation}")
        shown(page, "invitation")
        assert "used already" in alert(page)
        assert kept(page)[1:] == [[], []]
        other.foresee("409")


def test_a_link_may_say_what_is_expected(serving, visitor):
    with serving(by("invited")) as service:
        someone, none = visitor(), "0" * 64
        page = someone.visit(service.url)
        # A key that is pinned refuses every admission but that key's own.
        for pin, reason in ((f"issuer={none}", "another-issuer"), (f"design={none}", "another-design")):
            enter(page, f"{service.url}/#invitation=x&{pin}")
            assert reason in shown(page, "refused").inner_text()
            assert reason in shown(someone.visit(f"{service.url}/#{pin}"), "refused").inner_text()
            page.reload()
        shown(someone.visit(f"{service.url}/#design={service.collector.design_id}"), "invitation")
        assert someone.posted() == []


# -- blocks -----------------------------------------------------------------------------------------------------------


def test_a_survey_in_blocks(serving, visitor):
    with serving(BLOCKS) as service:
        chain = service.collector.sessions[service.collector.design_id]
        someone, late = visitor(), visitor()
        page = someone.visit(service.url)
        shown(page, "intro")
        press(page, "Begin")
        assert "at most 31 send it on purpose" in shown(page, "questions").inner_text()
        answer(page)
        report = json.loads(reviewed(page))
        assert report["block"] == chain.current().id
        other = late.visit(service.url)
        press(other, "Begin")
        answer(other)
        reviewed(other)
        press(page, "Send")
        shown(page, "done")
        # The block fills up, and what was disguised in it comes late, and counts all the same.
        crowd = Crowd(service.url)
        for _ in range(60):  # of which no more than 39 are held back
            crowd.answer({"smokes": "no", "sleep": "well", "region": "north"})
        service.store.seal()
        chain._read = -inf  # a second has passed
        assert chain.current().index == 1
        press(other, "Send")
        shown(other, "done")
        press(page, "Compare now")
        page.get_by_text("Groups so far: 2.").wait_for()
        assert flaws(page) == []
        # A chain in which this device's block was exchanged for another.
        first, second = chain.blocks
        swapped = Block(first.design, 0, first.previous, first.keep, second.fakes)
        someone.context.route(
            "**/blocks?after=*",
            lambda route: route.fulfill(
                body=b"[" + swapped.canonical() * ("=-1" in route.request.url) + b"]", content_type=JSON
            ),
        )
        press(page, "Compare now")
        page.get_by_text("not what was announced").wait_for()


def test_a_tampered_block_is_refused(serving, visitor):
    with serving(BLOCKS) as service:
        block = service.collector.sessions[service.collector.design_id].current()
        (keep,), ((a, b, *rest),) = block.keep, block.fakes
        tampered = {
            "keep": ((keep + 1000,), ((a - 1000, b, *rest),)),
            "zero": ((keep,), ((a + b, 0, *rest),)),
        }
        someone, served = visitor(), []
        someone.context.route("**/block", lambda route: route.fulfill(body=served[-1], content_type=JSON))
        page = someone.visit(service.url)
        for reason, integers in tampered.items():
            served.append(Block(block.design, 0, block.previous, *integers).canonical())
            shown(page, "intro")
            press(page, "Begin")
            assert f"({reason})" in shown(page, "refused").inner_text()
            assert kept(page)[1:] == [[], []]  # nothing was drawn, and nothing charged
            page.reload()
        served.append(block.canonical())
        shown(page, "intro")
        press(page, "Begin")
        shown(page, "questions")
        served.append(Block(block.design, 0, block.previous, *tampered["zero"]).canonical())
        answer(page)
        assert "(zero)" in shown(page, "refused").inner_text()
        _, drawn, events = kept(page)
        assert [each["report"] for each in drawn] == [None]
        assert len(events) == 1
        page.reload()
        shown(page, "questions")  # the same ones
        assert someone.posted() == []


def test_blind_tokens_in_blocks_are_a_weaker_promise_to_agree_to(serving, visitor):
    with serving(by("blind", BLOCKS)) as service:
        (invitation,) = service.collector.entrance.invite(1)
        someone = visitor(viewport={"width": 360, "height": 740})
        page = someone.visit(f"{service.url}/#invitation={invitation}")
        words = shown(page, "intro").inner_text()
        assert "Whoever makes a group for you alone can tell which report is yours" in words
        assert "shares a coin" not in words
        press(page, "Begin")
        assert "Please agree first" in alert(page)
        assert kept(page)[1:] == [[], []]
        page.get_by_label("accept that my report may be recognised").check()
        press(page, "Begin")
        answer(page)
        reviewed(page)
        press(page, "Send")
        shown(page, "done")
        # The chain was followed from its first block on before anything was drawn.
        assert any("/blocks?after=-1" in request.url for request in someone.requests)
        assert sum(stored(service).values()) == 1


# -- pairs ------------------------------------------------------------------------------------------------------------

# Every 32-bit draw is 2^32 p: it tells the truth where the coin says so, and only there.
NEAR = f"""
    const whole = Crypto.prototype.getRandomValues;
    Crypto.prototype.getRandomValues = function (array) {{
        return array instanceof Uint32Array ? array.fill({int(0.7 * (1 << 32))}) : whole.call(this, array);
    }};
"""
NO_KEYS = "if (globalThis.SubtleCrypto) SubtleCrypto.prototype.generateKey = () => Promise.reject(new Error('none'));"


def test_two_browsers_make_a_pair(serving, visitor):
    with serving(PAIRS) as service:
        people = [visitor(), visitor(viewport={"width": 360, "height": 740})]
        pages = []
        for someone in people:
            someone.context.add_init_script(NEAR)
            page = someone.visit(service.url)
            words = shown(page, "intro").inner_text()
            lines = " ".join(parse_survey(PAIRS).design.privacy.lines())
            for number in ("1.6946", "2.4167", "3.3906", "delta 0.19"):
                assert number in words
                assert number in lines
            press(page, "Begin")
            assert "Please agree first" in alert(page)
            assert kept(page)[2] == []
            page.get_by_label("I have read this").check()
            press(page, "Begin")
            pages.append(page)
        answer(pages[0])
        assert "At most" in shown(pages[0], "waiting").inner_text()
        assert flaws(pages[0]) == []
        answer(pages[1])
        reports = [json.loads(reviewed(page)) for page in pages]
        # The same answers, no (of no, yes) and badly; where one device tells the truth the other does not.
        assert [sum(pair) for pair in zip(*(report["answers"] for report in reports), strict=True)] == [1, 1]
        for page in pages:
            press(page, "Send")
            shown(page, "done")
        assert sum(stored(service).values()) == 2
        keys = {body["key"] for someone in people for body in posts(someone, "/v1/partners")}
        assert len(keys) == 2
        (event,) = kept(pages[0])[2]
        assert Fraction(event["ratio"]) == service.collector.survey.design.ratio


def test_without_a_partner_or_without_the_means(serving, visitor):
    with serving(PAIRS) as service:
        someone = visitor()
        alone = {"version": 1, "partner": None, "wait": 0}
        someone.context.route("**/v1/partners", lambda route: route.fulfill(json=alone))
        page = someone.visit(service.url)
        shown(page, "intro")
        page.get_by_label("I have read this").check()
        press(page, "Begin")
        answer(page)
        reviewed(page)
        press(page, "Send")
        shown(page, "done")
        assert sum(stored(service).values()) == 1
        old = visitor()
        old.context.add_init_script(NO_KEYS)
        page = old.visit(service.url)
        assert "X25519" in shown(page, "unsupported").inner_text()
        assert kept(page) == [[], [], []]
        assert old.posted() == []


# -- kinds of question that the page was not made for ------------------------------------------------------------------

MIXED = (
    SURVEY.replace(TABLES, 'design = { kind = "joint" }')
    + """
[[questions]]
name = "drinks"
text = "How many drinks a week?"
kind = "number"
bins = [1, 8]

[[questions]]
name = "mood"
text = "How are you, from 1 to 5?"
kind = "scale"
first = 1
last = 5
"""
)


def test_a_kind_that_the_page_does_not_know_is_a_list_or_a_number_to_type(serving, visitor, monkeypatch):
    for kind in QUESTIONS:
        monkeypatch.setattr(QUESTIONS[kind], "kind", f"new-{kind}")
    with serving(MIXED) as service:
        someone = visitor()
        page = someone.visit(service.url)
        shown(page, "intro")
        press(page, "Begin")
        shown(page, "questions")
        mood, drinks = (page.get_by_role("group", name=name) for name in ("How are you", "How many drinks"))
        assert [each.text_content() for each in mood.locator("label").all()] == list("12345")
        assert page.locator(".across").count() == 0  # which a scale would be
        mood.get_by_label("4").check()
        drinks.locator("input[type=text]").fill("3,5")
        answer(page)
        report = reviewed(page)
        press(page, "Send")
        shown(page, "done")
        assert someone.posted() == [report]
        assert sum(stored(service).values()) == 1
        design = json.loads(service.collector.design(service.collector.design_id))
    assert [item["kind"] for item in design["items"]] == ["new-yes-no", "new-choice", "new-number", "new-scale"]


# -- deniability ------------------------------------------------------------------------------------------------------


def test_a_survey_that_claims_deniability_shows_both_numbers_and_asks_to_agree(serving, visitor):
    accepted = 'mode = "deniability", keep = 0.5, accept = "deniability instead of differential privacy"'
    text = SURVEY.replace("epsilon = 1.5", "epsilon = 4.5").replace(
        TABLES, f'design = {{ kind = "blocks", block_size = 20, {accepted} }}'
    )
    with serving(text) as service:
        page = visitor(viewport={"width": 360, "height": 740}).visit(service.url)
        words = shown(page, "intro").inner_text()
        assert "claims epsilon 0.69" in words
        assert "(epsilon 4.5" in words
        assert flaws(page) == []
        press(page, "Begin")
        assert "Please agree first" in alert(page)
        assert kept(page)[1:] == [[], []]
        page.get_by_label("accept the true number").check()
        press(page, "Begin")
        shown(page, "questions")

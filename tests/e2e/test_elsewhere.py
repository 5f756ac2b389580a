"""The page on an origin that the collector does not own, its languages, and surveys that are not open."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from watching import LOOK, SURVEY, flaws, shown, stored

from deniable.cli.new import example_text
from deniable.surveys.page_words import WORDS
from deniable.web.page.respondent_page import PAGE
from deniable.web.page.static_files import asset

FETCH = """(url) => fetch(url, {mode: "no-cors"}).then(() => "reached", () => "refused")"""


@pytest.fixture
def host():
    """Somebody else's server, which has the page and nothing else, and sends no policy."""

    class Host(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            found = asset(PAGE) if urlsplit(self.path).path == "/page.html" else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

    with serving_thread(ThreadingHTTPServer(("127.0.0.1", 0), Host)) as port:
        yield f"http://localhost:{port}"


@contextmanager
def serving_thread(server):
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(page):
    shown(page, "intro")
    page.get_by_role("button", name="Begin").click()
    shown(page, "questions")
    for text in ("south", "Yes", "badly"):
        page.get_by_label(text, exact=True).check()
    page.get_by_role("button", name="Disguise my answers").click()
    shown(page, "review")


@pytest.mark.parametrize("place", ["?collector=", "#collector="])
def test_the_page_on_an_origin_of_its_own(service, visitor, host, place):
    someone = visitor()
    page = someone.visit(f"{host}/page.html{place}{service.url}")
    answer(page)
    page.reload()
    assert f"goes to {service.url}, and nowhere else" in shown(page, "review").inner_text()
    page.get_by_role("button", name="Send").click()
    shown(page, "done")
    assert sum(stored(service).values()) == 1
    assert {request.url.partition("/page.html")[0] for request in someone.requests if "/v1/" not in request.url} == {
        host
    }
    # The account lies where the page lies, and counts what every collector was given.
    assert page.evaluate("location.origin") == host
    assert len(page.evaluate(LOOK, "events")) == 1
    # The page speaks to its collector, and from then on to nobody else.
    someone.foresee("Content Security Policy", "policy: ", "Failed to fetch")
    assert page.evaluate(FETCH, f"{service.url}/v1/survey") == "reached"
    assert page.evaluate(FETCH, f"{host}/page.html") == "refused"
    assert page.evaluate(FETCH, "https://other.example.org/") == "refused"


def test_an_address_that_names_no_collector(visitor, host):
    someone = visitor()
    page = someone.context.new_page()
    addresses = ("", "nonsense", "https://survey.example.org/path", "data:,", "javascript:alert(1)")
    for named in addresses:
        page.goto(f"{host}/page.html?collector={named}")
        assert "name the survey's server" in shown(page, "unaddressed").inner_text()
    assert flaws(page) == []
    assert len(someone.requests) == len(addresses)


def test_a_page_inside_another_one_asks_nothing(service, visitor, host):
    someone = visitor()
    page = someone.context.new_page()
    page.set_content(f'<iframe src="{host}/page.html?collector={service.url}"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator("#framed").wait_for(state="visible")
    assert frame.locator("#asked").inner_html() == ""
    assert not any("/v1/" in request.url for request in someone.requests)


# -- languages --------------------------------------------------------------------------------------------------------


def test_the_respondent_chooses_the_language(serving, visitor):
    with serving(example_text()) as service:
        page = visitor(locale="de-CH").visit(service.url)
        shown(page, "intro")
        assert page.locator("html").get_attribute("lang") == "de"
        assert "88,08% sicher" in page.locator("#intro").inner_text()  # e^2 is 7.389...: 88.0797...
        page.get_by_role("button", name="en", exact=True).click()
        page.get_by_text("88.08% sure").wait_for()
        assert page.get_by_role("heading", level=1).inner_text() == "Sleep and substances"
        page.get_by_role("button", name="Begin").click()
        shown(page, "questions")
        page.get_by_role("button", name="de", exact=True).click()
        page.get_by_text("Wo wohnen Sie?").wait_for()
        assert flaws(page) == []


def test_a_survey_in_a_language_that_the_program_does_not_speak(serving, visitor):
    swedish = SURVEY.replace('title = "Smoking and sleep"', 'title = "Rökning"\nlanguages = ["sv"]')
    with serving(swedish + '[texts]\nbegin = "Börja"\nyes = "Ja"\nno = "Nej"\n') as service:
        page = visitor(locale="de-DE").visit(service.url)
        shown(page, "intro")
        assert page.locator("html").get_attribute("lang") == "sv"
        words = page.get_by_text(WORDS["how_hidden"]["en"])
        assert words.get_attribute("lang") == "en"
        button = page.get_by_role("button", name="Börja")
        assert button.get_attribute("lang") == "sv"
        assert flaws(page) == []
        button.click()
        shown(page, "questions")
        assert page.get_by_text("Disguised before it is sent").first.get_attribute("lang") == "en"


# -- opening and closing ----------------------------------------------------------------------------------------------


def test_a_survey_that_is_not_open_asks_nothing(service, visitor):
    someone, announced = visitor(), []

    def answer(route):
        route.fulfill(json=route.fetch().json() | announced[-1])

    someone.context.route("**/v1/survey", answer)
    page = someone.context.new_page()
    for dates, section in (
        ({"closes": "2020-01-01T00:00:00+00:00"}, "closed"),
        ({"opens": "2999-01-01T00:00:00+00:00"}, "closed"),
        ({"opens": "2020-01-01T00:00:00+00:00", "closes": "2999-01-01T00:00:00+00:00"}, "intro"),
    ):
        announced.append(dates)
        page.goto(service.url)
        shown(page, section)
    assert page.evaluate(LOOK, "drawn") == []


def test_what_is_finished_when_the_survey_closes_is_kept(service, visitor):
    someone = visitor()
    page = someone.visit(service.url)
    answer(page)
    report = page.locator("#bytes").text_content()
    service.collector.end()
    page.get_by_role("button", name="Send").click()
    assert "takes no answers" in shown(page, "unsent").inner_text()
    page.reload()
    shown(page, "review")
    assert page.locator("#bytes").text_content() == report
    someone.foresee("403")
    # Whoever comes now is told so, and is not charged.
    late = visitor().visit(service.url)
    assert "closed" in shown(late, "closed").inner_text()
    assert late.evaluate(LOOK, "events") == []

"""The adversary: whoever shows the page. The page's bytes are the published ones; all that comes with them is hostile.

The same page without its policy is attacked as well, to see that the attack works.
"""

from __future__ import annotations

import re
import sys
import threading
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks
from watching import LOOK, SURVEY, shown

from deniable.surveys.fingerprint_words import FRAMES
from deniable.web.page.respondent_page import PAGE
from deniable.web.page.static_files import asset

# Sends a request for every answer, as soon as it is selected: the rule that gave answers away before.
STYLE = b"""
input[value="0"]:checked { background: url("/beacon?0"); }
input[value="1"]:checked { background: url("/beacon?1"); }
body:has(input[value="1"]:checked) { background-image: url("/beacon?body"); }
@font-face { font-family: spy; src: url("/beacon?font"); }
label:has(:checked) { font-family: spy; }
"""
PROGRAM = b"""
globalThis.evil = true;
addEventListener("change", (event) => fetch(`/beacon?${event.target.value}`));
export const Client = 1, element = 1, verify = 1, Refusal = 1, Problem = 1;
"""
RULES = (
    b'{"prefetch": [{"source": "list", "urls": ["/beacon?list"]}, '
    b'{"where": {"selector_matches": "body:has(:checked) a"}, "eagerness": "immediate"}]}'
)
HEADERS = {
    "a style": {"Link": "</evil.css>; rel=stylesheet, </evil.css>; rel=preload; as=style"},
    "a program before the page's": {
        "Link": ", ".join(
            f"</static/{name}.mjs>; rel=modulepreload"
            for name in ("deniable", "client", "screen", "verify", "messages")
        ),
    },
    "rules to fetch by": {"Speculation-Rules": '"/rules.json"'},
    "a weaker policy": {
        "Content-Security-Policy": "default-src * data: blob: 'unsafe-inline' 'unsafe-eval'; report-uri /beacon?report"
    },
    "reports": {
        "Reporting-Endpoints": 'default="/beacon?endpoint"',
        "Content-Security-Policy-Report-Only": "default-src 'none'; report-uri /beacon?report; report-to default",
    },
    "a cookie": {"Set-Cookie": "mark=17; Path=/", "ETag": '"mark-17"', "Cache-Control": "private, max-age=9"},
    "a refresh that is still to come": {"Refresh": "3600; url=/beacon?refresh"},
    "a frame, a map and an isolation": {
        "X-Frame-Options": "ALLOWALL",
        "SourceMap": "/beacon?map",
        "Origin-Agent-Cluster": "?0",
        "Cross-Origin-Opener-Policy": "unsafe-none",
    },
    "another reading": {"Content-Type": "text/html; charset=shift_jis"},
    "yet another": {"Content-Type": "text/html; charset=iso-2022-jp"},
}


class Hostile:
    """A server between a respondent and an honest collector: it shows the page with whatever it likes beside it."""

    def __init__(self, collector: str) -> None:
        self.headers: dict[str, str] = {}
        self.body = asset(PAGE)
        self.seen: list[str] = []
        self.cookies: list[str] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.note(self)
                path = urlsplit(self.path).path
                kinds = {".css": ("text/css", STYLE), ".mjs": ("text/javascript", PROGRAM)}
                if path == "/":
                    self.say(200, outer.body, {"Content-Type": "text/html", **outer.headers})
                elif path.startswith("/v1/"):
                    self.forward()
                elif path == "/rules.json":
                    self.say(200, RULES, {"Content-Type": "application/speculationrules+json"})
                else:
                    kind, body = kinds.get(path[path.rfind(".") :], ("text/html", b"seen"))
                    self.say(200, body, {"Content-Type": kind})

            def do_POST(self):
                outer.note(self)
                self.forward(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def forward(self, body=None):
                asked = urllib.request.Request(collector + self.path, body, {"Content-Type": "application/json"})  # noqa: S310
                with urllib.request.urlopen(asked) as answer:  # noqa: S310 - an address of ours
                    kept = {name: answer.headers[name] for name in ("Content-Type", "Deniable") if answer.headers[name]}
                    self.say(answer.status, answer.read(), kept)

            def say(self, status, body, headers):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def note(self, request):
        with self._lock:
            self.seen.append(request.path)
            self.cookies.append(request.headers.get("Cookie", ""))


@pytest.fixture
def hostile(service):
    with showing(service.url) as found:
        yield found


@contextmanager
def showing(collector):
    found = Hostile(collector)
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        found.server.shutdown()
        found.server.server_close()
        thread.join()


def begin(page):
    shown(page, "intro")
    page.get_by_role("button", name="Begin").click()
    shown(page, "questions")


def select(page):
    """Answer, change one's mind, and give everything that reacts to it the time to do so."""
    for text in ("north", "south", "Yes", "No", "badly", "well"):
        page.get_by_label(text, exact=True).check()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate("new Promise((done) => setTimeout(done, 300))")


def quiet(someone, word):
    """The browser's own complaints about what it was made to load are no errors of the page."""
    someone.foresee("Content Security Policy", "policy: ", "Content-Security-Policy", word)


# -- nothing leaves ---------------------------------------------------------------------------------------------------


@breaks("Nothing leaves the browser when an answer is selected, whatever headers, styles and programs come along.")
@pytest.mark.parametrize("name", HEADERS)
def test_selecting_an_answer_tells_nobody(hostile, visitor, name):
    hostile.headers = HEADERS[name]
    someone = visitor()
    quiet(someone, "preload")
    page = someone.visit(hostile.url)
    begin(page)
    asked, seen = len(someone.requests), len(hostile.seen)
    select(page)
    assert [request.url for request in someone.requests[asked:]] == []
    assert hostile.seen[seen:] == []
    assert not any(path.startswith("/beacon") and "list" not in path for path in hostile.seen)
    # It is the page's own program that runs, in its own style.
    assert page.evaluate("globalThis.evil") is None
    assert page.evaluate("document.styleSheets.length") == 1
    page.get_by_role("button", name="Disguise my answers").click()
    shown(page, "review")
    assert hostile.seen[seen:] == []


@breaks("Nothing leaves the browser when an answer is selected, whatever headers, styles and programs come along.")
def test_the_same_attack_on_a_page_without_its_policy(hostile, visitor):
    # Not the published page: this shows that the test above would notice.
    own = re.sub(
        rb'<meta http-equiv="Content-Security-Policy"[^>]*>', b'<link rel="stylesheet" href="/evil.css">', asset(PAGE)
    )
    assert own != asset(PAGE)
    hostile.body = own
    someone = visitor()
    page = someone.visit(hostile.url)
    begin(page)
    seen = len(hostile.seen)
    select(page)
    assert "/beacon?1" in hostile.seen[seen:]
    assert "/beacon?body" in hostile.seen[seen:]


@breaks("`Refresh` takes the respondent to another page; what was selected does not go along.")
def test_what_was_selected_does_not_go_along_to_another_page(hostile, visitor):
    hostile.headers = {"Refresh": "1; url=/gone"}
    someone = visitor()
    page = someone.visit(hostile.url)
    page.wait_for_url("**/gone")
    assert page.inner_text("body") == "seen"
    after = hostile.seen[hostile.seen.index("/gone") :]
    assert after in (["/gone"], ["/gone", "/favicon.ico"])
    assert someone.posted() == []
    assert page.evaluate("document.referrer") == ""


# -- nothing is taken for the program's -------------------------------------------------------------------------------

PROMISE = FRAMES["tag_disguised"]["en"]
TEXTS = {
    "a promise": f"{PROMISE}. Your device says: this answer will be disguised.",
    "markup": '</bdi></style><img src="/beacon?img"><a href="/beacon?a">x</a><script>fetch("/beacon")</script>{belief}',
    "another direction": "\u200f\u05d0\u05d1 desiugsid eb lliw rewsna sihT \u05d2\u200f abc",  # others are refused
    "no end": "w" * 3000,
    "towers": "Z" + "\u0301\u0316" * 400,
    "wide signs": "\ufdfd" * 40,
}


@breaks("Nothing that a survey writes leaves its frame, becomes part of the page, or changes what the program says.")
@pytest.mark.parametrize("name", TEXTS)
def test_a_survey_s_words_stay_in_their_frame(serving, visitor, name):
    text = TEXTS[name]
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    survey = SURVEY.replace('"Where do you live?"', quoted).replace('"Do you smoke?"', quoted)
    survey = survey.replace('title = "Smoking and sleep"', f"title = {quoted}")
    survey += f"[texts]\nwelcome = {quoted}\nthanks = {quoted}\ncontact = {quoted}\nbegin = {quoted}\n"
    with serving(survey) as service, showing(service.url) as hostile:
        someone = visitor(viewport={"width": 360, "height": 740})
        page = someone.visit(hostile.url)
        shown(page, "intro")
        contained(page)
        # Even a button that it names stands out as the survey's.
        assert page.evaluate("getComputedStyle(document.querySelector('#begin .theirs')).borderStyle") == "dashed"
        page.locator("#begin").click()
        shown(page, "questions")
        contained(page)
        # What is sent in clear says so in the program's words, whatever its text says; so does what is disguised.
        fields = page.locator("fieldset")
        tags = [fields.nth(at).locator(".tag").inner_text() for at in range(fields.count())]
        assert tags == [FRAMES["tag_clear"]["en"], PROMISE, PROMISE]
        assert fields.first.locator("legend .theirs").text_content() == text
        assert page.locator("#clear .theirs .tag, .theirs .says, .theirs .writes, .theirs .asks").count() == 0
        seen = len(hostile.seen)
        select(page)
        assert hostile.seen[seen:] == []
        page.locator("#answers button[type=submit]").click()
        shown(page, "review")
        contained(page)
        page.locator("#send").click()
        shown(page, "done")
        contained(page)
        assert not any(path.startswith("/beacon") for path in hostile.seen)
        assert page.locator("img, a, iframe, [style]").count() == 0
        assert page.evaluate("document.scripts.length") == 1


def contained(page):
    """Every word of the survey is drawn within a frame of its own, and no wider than the screen."""
    assert page.evaluate(
        """() => [...document.querySelectorAll("bdi")].every((text) => {
            const frame = text.closest(".theirs");
            const [inner, outer] = [text.getBoundingClientRect(), frame.getBoundingClientRect()];
            const style = getComputedStyle(frame);
            return style.overflow === "hidden" && style.unicodeBidi === "isolate"
                && getComputedStyle(text).unicodeBidi === "isolate"
                && inner.left >= outer.left - 1 && inner.right <= outer.right + 1
                && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
        })"""
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@breaks("Other words than those that the design names are refused before anything is asked.")
@pytest.mark.parametrize("part", ["texts", "design"])
def test_other_words_than_the_design_names_are_refused(service, visitor, part):
    someone = visitor()

    def change(route):
        reply = route.fetch()
        body = reply.body().replace(b"How do you sleep?", b"How do you feel?").replace(b'"north"', b'"North"')
        route.fulfill(response=reply, body=body)

    someone.context.route("**/v1/forms/*" if part == "texts" else "**/v1/designs/*", change)
    page = someone.visit(service.url)
    reason = {"texts": "wrong-texts", "design": "wrong-hash"}[part]
    assert reason in shown(page, "refused").inner_text()
    assert page.locator("#asked").inner_html() == ""
    assert someone.posted() == []


# -- what headers can do ----------------------------------------------------------------------------------------------


@breaks("Cookies link visits to the page; no request of the protocol carries them.")
def test_cookies_link_visits_and_no_report(hostile, visitor):
    hostile.headers = HEADERS["a cookie"]
    someone = visitor()
    page = someone.visit(hostile.url)
    begin(page)
    page.reload()
    shown(page, "questions")
    select(page)
    page.get_by_role("button", name="Disguise my answers").click()
    shown(page, "review")
    page.get_by_role("button", name="Send").click()
    shown(page, "done")
    sent = list(zip(hostile.seen, hostile.cookies, strict=True))
    assert ("/", "mark=17") in sent
    assert {cookie for path, cookie in sent if path.startswith("/v1/")} == {""}


@breaks("`Clear-Site-Data` erases the account; what is asked then is drawn, charged and disguised anew.")
def test_a_header_erases_the_account(hostile, visitor):
    someone = visitor()
    page = someone.visit(hostile.url)
    begin(page)
    assert len(page.evaluate(LOOK, "events")) == 1
    hostile.headers = {"Clear-Site-Data": '"storage"'}
    page.reload()
    # The browser forgot what it gave. The Python client's file is out of reach.
    shown(page, "intro")
    assert page.evaluate(LOOK, "events") == []
    hostile.headers = {}
    begin(page)
    assert len(page.evaluate(LOOK, "events")) == 1

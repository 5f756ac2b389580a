"""A browser profile that is watched, and what tests ask of a page."""

from __future__ import annotations

import shutil
from pathlib import Path

from chequered import black
from small_survey import public, question, survey_file
from waiting import PATIENCE

HERE = Path(__file__).parent
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Chromium without windows where there is one, which is the same engine and half the work; otherwise with them.
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
SURVEY = survey_file(
    "smoking",
    public("region", ["north", "south"], "Where do you live?"),
    question("smokes", "Do you smoke?", "yes-no"),
    question("sleep", "How do you sleep?", choices=["badly", "well"]),
    title="Smoking and sleep",
    epsilon=1.5,
    tables=[["smokes", "sleep"]],
)
# Every draw is 0: the first ballot, and k-RR reports the answer after the true one. Nothing is left to chance here.
NO_CHANCE = "Crypto.prototype.getRandomValues = (array) => array.fill(0);"
# Set before any of the page's own scripts run.
WATCH = "addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.blockedURI}`));"

# What lies in the browser, and what another program put there. The page itself lets nobody load its modules.
LOOK = """(store) => new Promise((done, fail) => {
    const request = indexedDB.open("deniable");
    request.onerror = () => fail(request.error);
    request.onsuccess = () => {
        const db = request.result;
        const rows = db.transaction(store).objectStore(store).getAll();
        rows.onsuccess = () => (db.close(), done(rows.result));
    };
})"""
PUT = """(things) => new Promise((done, fail) => {
    const request = indexedDB.open("deniable");
    request.onerror = () => fail(request.error);
    request.onsuccess = () => {
        const db = request.result;
        const change = db.transaction(Object.keys(things), "readwrite");
        for (const [store, rows] of Object.entries(things)) for (const row of rows) change.objectStore(store).put(row);
        change.oncomplete = () => (db.close(), done());
    };
})"""


class Visitor:
    """One browser profile and everything it asked for."""

    def __init__(self, context) -> None:
        self.context = context
        self.requests, self.errors, self._foreseen = [], [], ()
        context.set_default_timeout(1000 * PATIENCE)
        context.add_init_script(WATCH)
        context.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108 - it marks the function
        context.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def foresee(self, *words) -> None:
        """Say which errors a test provokes: the browser may note each once, several times, or not at all."""
        self._foreseen = words

    def surprises(self):
        """The errors that no test provoked."""
        return [error for error in self.errors if not any(word in error for word in self._foreseen)]

    def visit(self, url):
        page = self.context.new_page()
        page.goto(url)
        return page

    def posted(self):
        return [request.post_data for request in self.requests if request.method == "POST"]


def shown(page, section):
    """Wait until a section is the one that is shown."""
    page.locator(f"#{section}").wait_for(state="visible")
    return page.locator(f"#{section}")


def pictures(page):
    """Wait until every picture has come; tell whether each can be seen."""
    page.wait_for_load_state("load")  # pictures are part of it
    return page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")


def stored(service):
    return service.store.counts(service.collector.number)


AXE = (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
# Width, colours and what is looked for: everything once, and contrasts, which depend on both, in the others.
CONTRASTS = "{ runOnly: ['color-contrast', 'link-in-text-block'] }"
LOOKS = [(*look, CONTRASTS if place else "{}") for place, look in enumerate(black([360, 1280], ["light", "dark"]))]


def flaws(page):
    """What axe finds, however slight, on a phone and on a desk, by day and by night; and what is wider than that."""
    before = page.viewport_size
    scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = []
    for width, colours, asked in LOOKS:
        page.set_viewport_size({"width": width, "height": before["height"]})
        page.emulate_media(color_scheme=colours)
        options = f"{{ resultTypes: ['violations'], ...{asked} }}"
        violations = page.evaluate(f"async () => (await axe.run({options})).violations")
        found += [
            (width, colours, each["impact"], each["id"], [node["html"] for node in each["nodes"]])
            for each in violations
        ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append((width, colours, "serious", "it scrolls sideways", []))
    page.set_viewport_size(before)
    page.emulate_media(color_scheme=scheme)
    return found

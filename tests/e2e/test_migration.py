"""What an older program left in a browser's storage is taken over by the new one, in a real browser's database."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

STATIC = Path(__file__).parents[2] / "src" / "deniable" / "web" / "static"
HOME = "https://survey.example.org/"
DESIGN, OTHER = "d1" * 32, "d2" * 32
REPORT = '{"answers":[1],"ballot":0,"block":null,"design":"' + DESIGN + '","id":"1d","public":[],"version":1}'
ROWS = {
    "events": [{"kind": "asked/1", "design": DESIGN, "ballot": 0, "ratio": "3/1"}],
    "drawn": [
        {"design": DESIGN, "ballot": 0, "report": REPORT, "fate": 0},
        {"design": OTHER, "ballot": 2, "report": None, "fate": 0},
    ],
    "remembered": [{"question": "q", "origin": DESIGN, "answer": 1}],
    "notes": [{"name": "blind:survey", "value": {"issuer": "i", "token": "t", "signature": "s"}}],
}
# The stores as the program of version 0.1 made them, left open in this tab as it would be.
MAKE_OLD = """(rows) => new Promise((resolve, reject) => {
    const request = indexedDB.open("deniable", 2);
    request.onupgradeneeded = () => {
        const keys = { events: "design", drawn: "design", remembered: "question", notes: "name" };
        for (const [store, keyPath] of Object.entries(keys)) {
            const made = request.result.createObjectStore(store, { keyPath });
            for (const row of rows[store]) made.put(row);
        }
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
        request.result.onversionchange = () => request.result.close();
        resolve(true);
    };
})"""
READ = """async () => {
    const { Memory } = await import("/static/memory.mjs");
    const memory = await Memory.open();
    const spent = await memory.spent();
    const found = { spent: `${spent.n}/${spent.d}`, version: memory.db.version };
    for (const store of ["events", "drawn", "remembered", "notes"]) found[store] = await memory.all(store);
    return found;
}"""


@pytest.fixture
def device(chromium):
    """A new profile, in which a site serves the program's modules and an empty page."""
    context = chromium.new_context()

    def answer(route):
        path = urlsplit(route.request.url).path
        if path.startswith("/static/"):
            body = (STATIC / path.removeprefix("/static/")).read_text(encoding="utf-8")
            return route.fulfill(body=body, content_type="text/javascript")
        return route.fulfill(body="<!doctype html><title>survey</title>", content_type="text/html")

    context.route(f"{HOME}**", answer)

    def visit():
        page = context.new_page()
        page.goto(HOME)
        return page

    yield visit
    context.close()


def test_nothing_is_lost_on_the_way_to_the_new_stores(device):
    assert device().evaluate(MAKE_OLD, ROWS)
    found = device().evaluate(READ)  # the older program is still open in another tab
    assert found["drawn"] == [{**row, "plan": row["design"]} for row in ROWS["drawn"]]
    assert {name: found[name] for name in ("events", "remembered", "notes")} == {
        name: ROWS[name] for name in ("events", "remembered", "notes")
    }
    assert (found["spent"], found["version"]) == ("3/1", 3)
    assert device().evaluate(READ) == found


def test_a_new_device_begins_with_empty_stores(device):
    found = device().evaluate(READ)
    assert (found.pop("spent"), found.pop("version")) == ("1/1", 3)
    assert found == {"events": [], "drawn": [], "remembered": [], "notes": []}

"""What the program keeps in a browser's storage, in a real browser's database: of one format, or left as it is."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

STATIC = Path(__file__).parents[2] / "src" / "deniable" / "web" / "static"
HOME = "https://survey.example.org/"
ROW = {"design": "d1" * 32, "ballot": 0, "report": None, "fate": 0}
# The stores of a program of another format, left open in this tab as they would be.
MAKE = """([format, row]) => new Promise((resolve, reject) => {
    const request = indexedDB.open("deniable", format);
    request.onupgradeneeded = () => request.result.createObjectStore("drawn", { keyPath: "design" }).put(row);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
        request.result.onversionchange = () => request.result.close();
        resolve(true);
    };
})"""
# What is there, whatever its format.
LOOK = """() => new Promise((resolve, reject) => {
    const request = indexedDB.open("deniable");
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
        const db = request.result;
        const rows = db.transaction("drawn").objectStore("drawn").getAll();
        rows.onsuccess = () => (db.close(), resolve([db.version, [...db.objectStoreNames], rows.result]));
    };
})"""
OPEN = """async () => {
    const { Memory } = await import("/static/device/device_state.mjs");
    return Memory.open().then(() => "opened", (error) => error.message);
}"""
READ = """async () => {
    const { Memory } = await import("/static/device/device_state.mjs");
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


@pytest.mark.parametrize(("format_", "told"), [(2, "is of format 2,"), (4, "is of a later format,")])
def test_what_is_of_another_format_is_refused_and_left_as_it_is(device, format_, told):
    assert device().evaluate(MAKE, [format_, ROW])
    page = device()  # the other program is still open in another tab
    said = page.evaluate(OPEN)
    assert f"What this browser keeps for this site {told} and this program reads format 3." in said
    assert "answer in another browser" in said
    assert page.evaluate(LOOK) == [format_, ["drawn"], [ROW]]


def test_a_new_device_begins_with_empty_stores(device):
    found = device().evaluate(READ)
    assert (found.pop("spent"), found.pop("version")) == ("1/1", 3)
    assert found == {"events": [], "drawn": [], "remembered": [], "notes": []}

"""A real Chromium, watched, as fixtures: nothing may reach another server, break the policy or fail in a script."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright
from watching import BROWSER, FLAGS, SURVEY, Visitor

from deniable.web.serve import Service, background

# Pages that look for news every few seconds do so more often: what is shown is tested, not how long it takes.
BRISK = "const nap = setInterval; window.setInterval = (work, ms, ...rest) => nap(work, ms / 20, ...rest);"


@pytest.fixture(scope="module")
def chromium():
    if BROWSER is None:
        pytest.fail("there is no browser: sudo apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visitor(chromium):
    """A function that opens a new profile; afterwards, none may have met an error."""
    opened = []

    def start(**options):
        context = chromium.new_context(**{"locale": "en-GB", **options})
        context.add_init_script(BRISK)
        found = Visitor(context)
        opened.append(found)
        return found

    yield start
    for each in opened:
        each.context.close()
    assert [error for each in opened for error in each.surprises()] == []


@pytest.fixture
def serving(tmp_path):
    """A function that serves a survey for the length of a `with` block, pages and all."""

    @contextmanager
    def start(survey=SURVEY, port=0):
        path = tmp_path / "survey.toml"
        path.write_text(survey, encoding="utf-8")
        service = Service.open(path, tmp_path / "data")
        with background(service, port=port) as url:
            service.url = url
            yield service

    return start


@pytest.fixture
def service(serving):
    with serving() as found:
        yield found

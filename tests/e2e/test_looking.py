"""The analyst's pages in a real browser."""

from __future__ import annotations

import re

from watching import pictures, serious, shown, stored

from deniable.collection.simulation import Crowd
from deniable.web.login import COOKIE, new_link


def people(service, n):
    crowd = Crowd(service.url, batch=500)
    for number in range(n):
        smokes = number % 4 == 0
        sleep = "badly" if smokes else "well"
        crowd.answer({"smokes": "yes" if smokes else "no", "sleep": sleep, "region": "north"})
    crowd.flush()


def share(page, row):
    """The estimate of a category on the overview, as a number."""
    cells = page.locator("article", has_text="smokes").locator("tr", has_text=row).locator("td").all_inner_texts()
    return float(cells[1].rstrip("%")) / 100


def test_the_dashboard_shows_the_estimate_and_freezes_it(service, visitor):
    people(service, 600)
    someone = visitor(viewport={"width": 1200, "height": 900})
    page = someone.visit(service.url + new_link(service.store))
    assert serious(page) == []
    page.get_by_role("button", name="Open the results").click()
    page.get_by_role("heading", name="Estimates").wait_for()
    # Standard error .05 at 600 reports over 4 cells with epsilon 1.5; six of them.
    assert abs(share(page, "yes") - 0.25) < 0.3
    assert page.locator("#progress").get_by_text("600").count() >= 1
    assert pictures(page)
    # Every table is seen whole, its intervals too.
    assert page.evaluate("[...document.querySelectorAll('.cards .scroll')].every(e => e.scrollWidth <= e.clientWidth)")
    assert serious(page) == []
    assert page.evaluate("document.cookie") == ""
    (cookie,) = someone.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == (COOKIE, True, "Strict")
    for name in ("Cross tables", "Associations", "Privacy and quality"):
        page.get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name).wait_for()
        assert pictures(page)
        assert serious(page) == []
    page.get_by_role("link", name="Overview").click()
    # What comes in while the page is open is shown without anybody's doing.
    people(service, 200)
    page.locator("#progress").get_by_text("800").first.wait_for()
    page.get_by_text("Take no more reports, for good").click()
    page.get_by_role("button", name="Close now").click()
    page.get_by_text("closed, results frozen").wait_for()
    assert sum(stored(service).values()) == 800
    assert not service.collector.is_open
    respondent = visitor().visit(service.url)
    assert "closed" in shown(respondent, "closed").inner_text()
    page.get_by_role("button", name="Log out").click()
    page.get_by_label(re.compile("analyst's token")).fill(service.token)
    page.get_by_role("button", name="Open the results").click()
    page.get_by_text("closed, results frozen").wait_for()


def test_a_link_lets_in_once(service, visitor):
    link = service.url + new_link(service.store)
    first = visitor().visit(link)
    first.get_by_role("button", name="Open the results").click()
    first.get_by_role("heading", name="Overview").wait_for()
    other = visitor()
    second = other.visit(link)
    second.get_by_role("button", name="Open the results").click()
    second.get_by_role("alert").wait_for()
    other.foresee("403")

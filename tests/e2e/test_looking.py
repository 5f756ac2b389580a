"""The analyst's pages in a real browser."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from watching import flaws, pictures, shown, stored

from deniable.cli.app import app as command
from deniable.collection.simulate_respondents import Crowd
from deniable.web.dashboard.login import COOKIE, new_link
from small_survey import INDEPENDENT, public, question, survey_file


def people(service, n):
    crowd = Crowd(service.url, batch=500)
    for number in range(n):
        smokes = number % 4 == 0
        sleep = "badly" if smokes else "well"
        crowd.answer({"smokes": "yes" if smokes else "no", "sleep": sleep, "region": "north"})
    crowd.flush()
    service.store.compact(service.collector.numbers)  # all of them are shown


def share(page, row):
    """The estimate of a category on the overview, as a number."""
    cells = page.get_by_role("article", name="smokes").locator("tr", has_text=row).locator("td").all_inner_texts()
    return float(cells[1].rstrip("%")) / 100


def opened(page, name):
    """The table behind a card's picture, opened."""
    card = page.get_by_role("article", name=name)
    if card.locator("details:not([open])").count():
        card.get_by_text("Table", exact=True).click()
    return card


def test_the_dashboard_shows_the_estimate_and_freezes_it(service, visitor):
    people(service, 600)
    someone = visitor(viewport={"width": 1200, "height": 900})
    page = someone.visit(service.url + new_link(service.store))
    assert flaws(page) == []
    page.get_by_role("button", name="Open the results").click()
    page.get_by_role("heading", name="Estimates").wait_for()
    assert pictures(page)
    for name in ("smokes", "sleep"):
        assert "more reports for" in opened(page, name).inner_text()
    # Standard error .05 at 600 reports over 4 cells with epsilon 1.5; six of them.
    assert abs(share(page, "yes") - 0.25) < 0.3
    told = page.locator("#progress").inner_text()
    assert "Shown as of 600 reports; the next state comes when at least 640 are stored" in told
    assert "closed. Each state shows" in told
    assert pictures(page)
    # Every table is seen whole, its intervals too.
    assert page.evaluate("[...document.querySelectorAll('.cards .scroll')].every(e => e.scrollWidth <= e.clientWidth)")
    assert flaws(page) == []
    assert page.evaluate("document.cookie") == ""
    (cookie,) = someone.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == (COOKIE, True, "Strict")
    for name in ("Cross tables", "Associations", "Privacy and quality"):
        page.get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name).wait_for()
        assert pictures(page)
        assert flaws(page) == []
    page.get_by_role("link", name="Overview").click()
    # What comes in while the page is open is shown without anybody's doing, and what was opened stays open.
    opened(page, "smokes")
    page.evaluate("document.querySelector('article').marked = true")
    people(service, 200)
    page.locator("#progress").get_by_text("800").first.wait_for()
    page.get_by_role("article", name="smokes").get_by_text("800 reports about smokes").wait_for()
    assert page.evaluate("document.querySelector('article').marked")
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


def test_charts_follow_the_dark_and_are_taken_along(service, visitor):
    people(service, 200)
    someone = visitor(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = someone.visit(service.url + new_link(service.store))
    page.get_by_role("button", name="Open the results").click()
    page.get_by_role("heading", name="Estimates").wait_for()
    assert pictures(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert flaws(page) == []
    # The same picture by day has other colours: what the browser draws, not what the file says.
    shot = page.locator("article img").first.screenshot()
    page.emulate_media(color_scheme="light")
    assert page.locator("article img").first.screenshot() != shot
    for kind, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as kept:
            page.get_by_role("link", name=f"Chart of smokes, {kind}").click()
        body = Path(kept.value.path()).read_bytes()
        assert body.startswith(begins)
        assert b"prefers-color-scheme" not in body
    # From a pair's association to its table.
    page.get_by_role("link", name="Associations").click()
    assert pictures(page)
    assert flaws(page) == []
    page.get_by_role("link", name="smokes").click()
    page.get_by_role("heading", name="Cross tables").wait_for()
    assert page.url.endswith("/analyst/tables?of=smokes&of=sleep")
    assert flaws(page) == []


BOTH = survey_file(
    "both",
    public(
        "region",
        [
            {"value": "n", "text": {"en": "in the north", "de": "im Norden"}},
            {"value": "s", "text": {"en": "in the south", "de": "im S\u00fcden"}},
        ],
        {"en": "Where do you live?", "de": "Wo wohnen Sie?"},
    ),
    question("smokes", {"en": "Do you smoke?", "de": "Rauchen Sie?"}, "yes-no"),
    question("mood", {"en": "How do you feel?", "de": "Wie geht es Ihnen?"}, "scale", first=1, last=5),
    question(
        "glasses",
        {"en": "How many glasses of water a day?", "de": "Wie viele Gl\u00e4ser Wasser am Tag?"},
        "number",
        bins=[2.5, 6],
    ),
    title={"en": "Smoking", "de": "Rauchen"},
    languages=["en", "de"],
    design=INDEPENDENT,
)


def answer_in_german(page):
    shown(page, "intro")
    page.get_by_role("button", name="Beginnen").click()
    for label in ("im Norden", "Ja", "4"):
        page.get_by_label(label, exact=True).check()
    page.get_by_label("Wie viele Gl\u00e4ser").fill("2.5")
    page.get_by_role("button", name="Meine Antworten verschleiern").click()
    shown(page, "review")
    page.get_by_role("button", name="Senden").click()
    shown(page, "done")


def printed(program, folder):
    """What a program prints."""
    ran = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_results_are_in_the_words_of_the_survey_and_by_group(serving, visitor, tmp_path):
    with serving(BOTH) as service:
        crowd = Crowd(service.url, batch=500)
        for number in range(299):
            person = {"smokes": "yes" if number % 3 == 0 else "no", "mood": str(1 + number % 5), "glasses": number % 9}
            crowd.answer(person | {"region": "n" if number % 20 else "s"})
        crowd.flush()
        answer_in_german(visitor(viewport={"width": 390, "height": 800}, locale="de-DE").visit(service.url))
        service.store.compact(service.collector.numbers)  # all of them are shown
        someone = visitor(viewport={"width": 390, "height": 800})
        page = someone.visit(service.url + new_link(service.store))
        page.get_by_role("button", name="Open the results").click()
        page.get_by_role("heading", name="Do you smoke? smokes").wait_for()
        page.get_by_role("link", name="de", exact=True).click()
        page.get_by_role("heading", name="Rauchen Sie? smokes").wait_for()
        assert "Ja (yes)" in opened(page, "smokes").inner_text()
        assert pictures(page)
        assert flaws(page) == []
        for link, name in (("Reports, SPSS", "both.sav"), ("Analysis, R", "analysis.R")):
            with page.expect_download() as kept:
                page.get_by_role("link", name=link).click()
            kept.value.save_as(tmp_path / name)
        dictionary = "GET FILE='both.sav'.\nDISPLAY DICTIONARY.\nFREQUENCIES mood glasses region.\n"
        (tmp_path / "commands.sps").write_text(dictionary, encoding="utf-8")
        spss = printed(["pspp", "-O", "format=csv", "commands.sps"], tmp_path)
        assert "mood,2,[disguised] Wie geht es Ihnen?," in spss
        assert '"2,5 bis unter 6"' in spss
        assert "Valid,im Norden,285," in spss
        assert "N,Valid,300,300,300" in spss
        said = printed(["Rscript", "--vanilla", "analysis.R"], tmp_path)
        assert "Wie geht es Ihnen? (mood)" in said
        assert float(said.split()[-1]) < 1e-6
        page.get_by_role("link", name="Cross tables").click()
        page.get_by_label("Down").select_option(label="Rauchen Sie? (smokes)")
        assert flaws(page) == []
        page.get_by_label("For each group of").select_option(label="Wo wohnen Sie? (region)")
        page.get_by_role("button", name="Show").click()
        table = page.get_by_role("table").inner_text()
        assert "im Norden (n)" in table
        assert "Nein (no)" in table
        assert "im S\u00fcden (s)\t15 of 30 answers needed" in table
        assert pictures(page)
        assert flaws(page) == []
        # The report that is handed on, with its groups.
        told = tmp_path / "report.html"
        command(["report", str(tmp_path / "data"), "-o", str(told), "--replicates", "99"], standalone_mode=False)
        page = someone.visit(told.as_uri())
        assert flaws(page) == []


def with_keys(page, wanted):
    """Come to something with the keyboard alone, see where one is, and press Enter."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText || ''").strip() == wanted:
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return page.keyboard.press("Enter")
    raise AssertionError(f"the keyboard does not come to {wanted}")


def test_a_link_lets_in_once(service, visitor):
    link = service.url + new_link(service.store)
    first = visitor().visit(link)
    with_keys(first, "Open the results")
    first.get_by_role("heading", name="Overview").wait_for()
    with_keys(first, "Cross tables")
    first.get_by_role("heading", name="Cross tables").wait_for()
    with_keys(first, "Show")
    first.wait_for_url("**/analyst/tables?*")
    other = visitor()
    second = other.visit(link)
    second.get_by_role("button", name="Open the results").click()
    second.get_by_role("alert").wait_for()
    assert flaws(second) == []
    other.foresee("403")

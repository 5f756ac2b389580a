"""Corrected words in a real browser, on a phone: old beside new, for respondents and for analysts."""

from __future__ import annotations

import re

import pytest
from watching import flaws, shown

from deniable.collection.simulate_respondents import Crowd
from deniable.web.dashboard.login import new_link
from deniable.web.serve import Service, background
from small_survey import INDEPENDENT, question, survey_file

SURVEY = survey_file(
    "smoking",
    question(
        "smokes",
        {"en": "Do you somke?", "ar": "هل تدخن 20 سيجارة؟"},
        choices=[
            {"value": "no", "text": {"en": "No", "ar": "لا"}},
            {"value": "yes", "text": {"en": "Yes", "ar": "نعم"}},
        ],
    ),
    question(
        "sleep",
        {"en": "How do you sleep?", "ar": "كيف تنام؟"},
        choices=[
            {"value": "badly", "text": {"en": "badly", "ar": "سيئ"}},
            {"value": "well", "text": {"en": "well", "ar": "جيد"}},
        ],
    ),
    title={"en": "Smoking", "ar": "التدخين"},
    epsilon=2,
    languages=["en", "ar"],
    design=INDEPENDENT,
)
PHONE = {"viewport": {"width": 360, "height": 740}}


@pytest.fixture
def corrected(tmp_path):
    """A survey that eighty people answered before its words were corrected, and eighty since."""
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    before = Service.open(path, tmp_path / "data")
    with background(before) as url:
        people(url, 80)
    text = SURVEY.replace("somke", "smoke").replace("20 سيجارة", "السجائر").replace('"Smoking"', '"Smoking & sleep"')
    path.write_text(text, encoding="utf-8")
    after = Service.open(path, tmp_path / "data", correct="two misprints <b>")
    with background(after) as url:
        people(url, 80)
        after.url = url
        yield after


def people(url, n):
    crowd = Crowd(url, batch=500)
    for number in range(n):
        crowd.answer({"smokes": "yes" if number % 4 else "no", "sleep": "well"})
    crowd.flush()


def test_who_answers_later_reads_old_beside_new(corrected, visitor):
    page = visitor(**PHONE).visit(corrected.url)
    shown(page, "intro")
    note = page.locator("#corrected")
    assert "corrected after people had answered" in note.inner_text()
    note.get_by_text("What was corrected").click()
    assert "Do you somke?" in note.inner_text()
    assert "Do you smoke?" in note.inner_text()
    assert "two misprints <b>" in note.inner_text()
    assert flaws(page) == []
    page.get_by_role("button", name="Begin").click()
    shown(page, "questions")
    smokes, sleep = page.locator("#asked fieldset").all()
    words = smokes.inner_text()
    assert words.index("This was corrected") < words.index("Do you somke?") < words.rindex("Do you smoke?")
    assert "هل" not in words  # what was corrected in another language stands at the beginning
    assert "This was corrected" not in sleep.inner_text()
    assert smokes.get_attribute("aria-describedby") == smokes.locator(".corrected").get_attribute("id")
    assert flaws(page) == []
    for each in (page.locator("body"), smokes.locator(".corrected")):
        assert each.evaluate("each => each.scrollWidth <= each.clientWidth")
    page.locator("#languages button").last.click()
    assert "هل تدخن 20 سيجارة؟" in page.locator("#asked fieldset").first.inner_text()
    assert page.locator("#asked .corrected bdi").first.get_attribute("lang") == "ar"
    assert flaws(page) == []


def test_who_reads_results_sees_old_beside_new(corrected, visitor):
    page = visitor(**PHONE).visit(corrected.url + new_link(corrected.store))
    page.get_by_role("button", name="Open the results").click()
    page.get_by_role("heading", name="Corrected words").wait_for()
    words = page.locator("#corrected").inner_text()
    before, after = map(int, re.search(r"(\d+) reports were made before, (\d+) after", words).groups())
    assert 30 <= before <= 80 >= after >= 30  # the last ones of a running survey are not shown
    assert "p = " in words
    assert "Do you somke?" in words
    assert "two misprints <b>" in words
    assert flaws(page) == []
    page.get_by_role("link", name="Privacy and quality").click()
    page.get_by_role("heading", name="Corrected words").wait_for()
    assert page.locator("body").evaluate("each => each.scrollWidth <= each.clientWidth")
    assert flaws(page) == []

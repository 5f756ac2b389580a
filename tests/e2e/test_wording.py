"""What a respondent reads and fills in: true sentences, numbers as they are written, scales, long lists, long words."""

from __future__ import annotations

import json

from test_kinds import PAIRS
from watching import NO_CHANCE, SURVEY, flaws, shown

from deniable.surveys.page_words import WORDS

LONG = "Donaudampfschifffahrtsgesellschaftskapitän"  # 42 letters
TOWNS = [f"Town {number}" for number in range(30)] + ["Łódź"]
BOTH = f"""
format = 1
name = "both"
title = {{ en = "Both", de = "{LONG}" }}
epsilon = 1.5
languages = ["en", "de"]
design = {{ kind = "independent" }}

[[public]]
name = "town"
text = {{ en = "Where do you live?", de = "Wo wohnen Sie?" }}
choices = [{", ".join(f'{{ value = "{town}", text = {{ en = "{town}", de = "{town}" }} }}' for town in TOWNS)}]

[[questions]]
name = "mood"
text = {{ en = "How do you feel?", de = "Wie geht es Ihnen, {LONG}?" }}
kind = "scale"
first = 0
last = 10
prefer_not_to_say = true

[[questions]]
name = "drinks"
text = {{ en = "How many litres?", de = "Wie viele Liter?" }}
kind = "number"
bins = [2.5, 10, 10000]
min = 0
max = 20000
step = 0.5
"""


def told(page):
    """Of the sentences on how it works, those that can be seen."""
    names = [name for name in WORDS if name.startswith("how_")]
    return {name for name in names if page.locator(f"#intro [data-word={name}]").is_visible()}


def test_only_what_this_survey_does_is_said(serving, visitor):
    several = SURVEY.replace('tables = [["smokes", "sleep"]]', 'design = { kind = "sampled" }')
    sets = SURVEY.replace('tables = [["smokes", "sleep"]]', 'design = { kind = "joint", channel = "unary" }')
    surveys = {
        SURVEY: {"how_answers", "how_hidden", "how_learned"},
        several: {"how_drawn", "how_answers", "how_hidden", "how_learned"},
        sets: {"how_sets", "how_hidden", "how_learned"},
        PAIRS: {"how_answers", "how_paired", "how_learned"},
    }
    for number, (survey, expected) in enumerate(surveys.items()):
        with serving(survey.replace('"smoking"', f'"smoking-{number}"')) as service:
            page = visitor().visit(service.url)
            shown(page, "intro")
            assert told(page) == expected
            page.context.close()


def test_numbers_scales_lists_and_words_on_a_phone_in_two_languages(serving, visitor):
    with serving(BOTH) as service:
        someone = visitor(viewport={"width": 360, "height": 740})
        someone.context.add_init_script(NO_CHANCE)
        page = someone.visit(service.url)
        shown(page, "intro")
        page.get_by_role("button", name="Begin").click()
        shown(page, "questions")
        # A scale of eleven steps stands in one line, what is no step below it.
        steps = page.locator(".across .choice:not(.apart)")
        assert steps.count() == 11
        assert len({step.bounding_box()["y"] for step in steps.all()}) == 1
        apart = page.locator(".across .apart").bounding_box()
        assert apart["y"] >= steps.first.bounding_box()["y"] + steps.first.bounding_box()["height"]
        # A long list can be searched, without the marks on letters; what is chosen stays in sight.
        page.get_by_label("Town 3", exact=True).check()
        page.get_by_label("Search these answers").fill("lodz")
        seen = page.locator(".listed .choice:visible")
        assert seen.all_inner_texts() == ["Town 3", "Łódź"]
        assert page.get_by_text("2 of 31 shown").is_visible()
        page.get_by_label("Search these answers").press("Enter")  # sends nothing
        page.get_by_label("Łódź").check()
        page.get_by_label("7", exact=True).check()
        number = page.get_by_label("How many litres?")
        assert page.get_by_text("A number from 0 to 20,000").is_visible()
        number.fill("2.5")
        assert flaws(page) == []
        # In another language, with everything that was entered, and nothing loaded anew.
        asked = len(someone.requests)
        page.get_by_role("button", name="de", exact=True).click()
        page.get_by_text("Wie viele Liter?").wait_for()
        assert page.evaluate("document.activeElement.textContent") == "de"
        assert page.locator("html").get_attribute("lang") == "de"
        assert page.get_by_label("Łódź").is_checked()
        assert page.get_by_label("7", exact=True).is_checked()
        assert page.get_by_label("Wie viele Liter?").input_value() == "2.5"
        assert page.get_by_label("In diesen Antworten suchen").input_value() == "lodz"
        assert page.get_by_text("Eine Zahl von 0 bis 20.000").is_visible()
        # A word of 42 letters wraps: nothing is wider than the screen.
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert flaws(page) == []
        page.get_by_role("button", name="Meine Antworten verschleiern").click()
        shown(page, "review")
        # The second of four bins; with every draw 0 the report is the one after it.
        assert json.loads(page.locator("#bytes").text_content())["answers"] == [8, 2]
        assert "10 bis unter 10.000" in page.locator("#sent").inner_text()
        page.get_by_role("button", name="en", exact=True).click()
        page.get_by_text("This is what will be sent").wait_for()
        assert "10 to below 10,000" in page.locator("#sent").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert len(someone.requests) == asked


def test_a_language_that_is_written_from_the_right(serving, visitor):
    hebrew = SURVEY.replace('title = "Smoking and sleep"', 'title = "עישון ושינה"\nlanguages = ["he"]')
    texts = '\n[texts]\nyes = "כן"\nno = "לא"\n'
    with serving(hebrew + texts) as service:
        page = visitor().visit(service.url)
        intro = shown(page, "intro")  # the program speaks English there
        assert page.locator("html").get_attribute("dir") == "rtl"
        assert intro.locator("[data-word=how_hidden]").get_attribute("dir") == "ltr"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert flaws(page) == []


LITRES = """
format = 1
name = "litres"
title = "Litres"
epsilon = 1.0

[[questions]]
name = "drinks"
text = "How many litres?"
kind = "number"
bins = [2, 10, 1000]
min = 0
max = 500
"""


def test_a_number_that_may_be_another_is_asked_about(serving, visitor):
    with serving(LITRES) as service:
        someone = visitor()
        someone.context.add_init_script(NO_CHANCE)
        page = someone.visit(service.url)
        shown(page, "intro")
        page.get_by_role("button", name="Begin").click()
        shown(page, "questions")
        number, go_on = page.get_by_label("How many litres?"), page.get_by_role("button", name="Disguise my answers")
        doubt = page.locator(".doubt")

        def told(typed):
            number.fill(typed)
            assert doubt.is_hidden()
            go_on.click()
            assert page.locator("#unanswered").is_hidden()
            return doubt.inner_text() if doubt.is_visible() else ""

        # What is no number is asked again, as often as it takes.
        for _ in range(2):
            assert "no number" in told("plenty")
        # What can be two numbers is asked about; a press takes the one that was meant.
        assert "Which number" in told("1,000")
        assert doubt.get_by_role("button").all_inner_texts() == ["1", "1,000"]
        assert flaws(page) == []
        doubt.get_by_role("button", name="1,000").click()
        assert number.input_value() == "1000"
        assert page.evaluate("document.activeElement.inputMode") == "decimal"
        # One outside what was expected is asked about once, and then counts in the outermost bin.
        assert "outside" in told("1000")
        go_on.click()
        shown(page, "review")
        # The last of four bins; with every draw 0 the report is the one after it.
        assert json.loads(page.locator("#bytes").text_content())["answers"] == [0]


def test_commas_and_other_digits_are_read(serving, visitor):
    with serving(LITRES) as service:
        for typed in ("9,5", "\u0669\u066b\u0665", "9.5"):
            someone = visitor()
            someone.context.add_init_script(NO_CHANCE)
            page = someone.visit(service.url)
            shown(page, "intro")
            page.get_by_role("button", name="Begin").click()
            shown(page, "questions")
            page.get_by_label("How many litres?").fill(typed)
            page.get_by_role("button", name="Disguise my answers").click()
            shown(page, "review")
            assert json.loads(page.locator("#bytes").text_content())["answers"] == [2]

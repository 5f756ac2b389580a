"""The promise in every language of the program: nothing in English on the way, and numbers in order among Arabic."""

from __future__ import annotations

import pytest
from test_kinds import BLOCKS, PAIRS
from watching import NO_CHANCE, SURVEY, flaws, shown

from deniable.surveys.languages import codes

LANGUAGES = ["en", "de", *codes()]
OTHERS = [code for code in LANGUAGES if code != "en"]
NUMBER = (
    SURVEY.replace('tables = [["smokes", "sleep"]]', 'design = { kind = "independent" }')
    + """
[[questions]]
name = "degrees"
text = "How cold was it?"
kind = "number"
bins = [-5.5, 0, 10000]
min = -20
max = 20000
"""
)
ACCEPTED = 'mode = "deniability", keep = 0.2, accept = "deniability instead of differential privacy"'
DENIED = BLOCKS.replace(" }", f", {ACCEPTED} }}", 1)
# What only some surveys have to say, and each of these must.
OWN = {NUMBER: [], PAIRS: ["weaker_stranger", "weaker_coin"], DENIED: ["weaker_deniability", "adaptive_note"]}
# Sentences of the program that can be seen and are not in the page's language, by their names.
STRANGERS = """(lang) => [...document.querySelectorAll("[data-word]")]
    .filter((each) => each.checkVisibility() && each.lang !== lang).map((each) => each.dataset.word)"""
# Which ways the program's blocks and the sentences in them run.
DIRECTIONS = """() => [...new Set([...document.querySelectorAll(".device, .device [data-word]")]
    .filter((each) => each.checkVisibility()).map((each) => getComputedStyle(each).direction))]"""
# Where the letters of a text stand from left to right, as they are painted.
PAINTED = """(element) => {
    const found = [], walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode())
        for (let at = 0; at < node.length; at++) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            const box = range.getBoundingClientRect();
            if (box.width) found.push([Math.round(box.top), box.left, node.data[at]]);
        }
    return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((each) => each[2]).join("");
}"""


def spoken(survey, languages):
    """A survey whose own words are the same in every language."""
    return survey.replace("epsilon = ", f"languages = {languages}\nepsilon = ".replace("'", '"'), 1)


@pytest.mark.parametrize("survey", OWN, ids=["number", "pairs", "deniability"])
def test_in_every_language_the_whole_way_is_in_it(survey, serving, visitor):
    # A text that is one string stands for one language: say it in all.
    def everywhere(text):
        said = ", ".join(f"{code} = {text}" for code in LANGUAGES)
        return f"{{ {said} }}"

    lines = []
    for line in spoken(survey, LANGUAGES).splitlines():
        key, _, text = line.partition(" = ")
        if key in ("title", "text"):
            text = everywhere(text)
        elif key == "choices":
            values = [value.strip() for value in text.strip("[]").split(",")]
            text = "[" + ", ".join(f"{{ value = {value}, text = {everywhere(value)} }}" for value in values) + "]"
        lines.append(f"{key} = {text}" if text else line)
    with serving("\n".join(lines)) as service:
        page = visitor(viewport={"width": 360, "height": 740}).visit(service.url)
        shown(page, "intro")
        for code in LANGUAGES:
            page.locator(f"#languages [lang={code}]").click()
            assert page.evaluate(STRANGERS, code) == []
            assert all(page.locator(f"[data-word={word}]").first.is_visible() for word in OWN[survey])
            assert page.evaluate("document.documentElement.dir") == ("rtl" if code == "ar" else "ltr")
            assert page.evaluate(DIRECTIONS) == ["rtl" if code == "ar" else "ltr"]
        for box in page.locator("#intro input[type=checkbox]:visible").all():
            box.check()
        page.locator("#intro [data-word=begin]").click()
        shown(page, "questions")
        for code in LANGUAGES:
            page.locator(f"#languages [lang={code}]").click()
            assert page.evaluate(STRANGERS, code) == []
            assert flaws(page) == []


def test_numbers_among_arabic_stand_in_their_order(serving, visitor):
    arabic = spoken(NUMBER, ["ar"])
    with serving(arabic) as service:
        someone = visitor(viewport={"width": 360, "height": 740}, locale="ar-EG")
        someone.context.add_init_script(NO_CHANCE)
        page = someone.visit(service.url)
        shown(page, "intro")
        host = service.url.removeprefix("http://")
        assert host in page.locator("#intro [data-word=goes_to]").evaluate(PAINTED)
        belief = page.locator("#intro figcaption span[dir]")
        digits = belief.locator("b").inner_text()
        # In Arabic digits the sign stands at the left, in European ones at the right: beside its number in both.
        assert belief.evaluate(PAINTED) in (f"{digits}%", f"%{digits}")
        assert page.locator("#intro figcaption").evaluate("(each) => getComputedStyle(each).direction") == "rtl"
        before = {box: belief.bounding_box()[box] for box in ("x", "width")}
        around = page.locator("#intro figcaption").bounding_box()
        assert around["x"] <= before["x"] <= around["x"] + around["width"]


def test_a_language_written_leftwards_that_the_program_does_not_speak(serving, visitor):
    """Its own words run leftwards, on their side; the promise is English, and runs rightwards."""
    with serving(spoken(SURVEY, ["fa"]).replace("Do you smoke?", "\u0633\u06cc\u06af\u0627\u0631\u061f").replace(
        'kind = "yes-no"', 'choices = ["\u0628\u0644\u0647", "\u0646\u0647"]'
    )) as service:  # fmt: skip
        page = visitor(viewport={"width": 360, "height": 740}).visit(service.url)
        shown(page, "intro")
        assert page.evaluate(STRANGERS, "en") == []
        assert page.locator("#intro figcaption").evaluate("(each) => getComputedStyle(each).direction") == "ltr"
        page.locator("#intro [data-word=begin]").click()
        shown(page, "questions")
        frames = page.locator("fieldset .theirs")
        assert {
            frames.nth(at).evaluate("(each) => getComputedStyle(each).direction") for at in range(frames.count())
        } == {"rtl"}

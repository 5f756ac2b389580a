"""A contract: every sentence that a respondent can meet exists in every language, with the same places for numbers.

A new sentence joins by itself (it fails until every language has it), and so does a new language.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from deniable.device.text_safety import fault
from deniable.surveys.fingerprint_words import FRAMES
from deniable.surveys.languages import codes
from deniable.surveys.page_words import WORDS
from deniable.surveys.survey import parse_survey
from deniable.surveys.translations import PHRASES

EVERY = {**PHRASES, **WORDS, **FRAMES}
LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "tr", "uk")
ENDS = ".:?\u061f"
# Letters of the languages' own writing: a sentence left in English has none of those it should.
WRITING = {"ar": r"[\u0600-\u06ff]", "ru": r"[\u0400-\u04ff]", "uk": r"[\u0400-\u04ff]"}


def places(text):
    return sorted(re.findall(r"\{(\w+)\}", text))


def test_these_are_the_languages():
    assert tuple(sorted(["en", "de", *codes()])) == LANGUAGES


SENTENCES = [(name, language, text) for name, texts in EVERY.items() for language, text in texts.items()]


def test_a_sentence_is_there_in_every_language_with_the_same_places():
    assert {name: set(texts) for name, texts in EVERY.items()} == {name: set(LANGUAGES) for name in EVERY}
    for name, language, text in SENTENCES:
        where = name, language
        english = EVERY[name]["en"]
        assert places(text) == places(english), where
        assert text == text.strip() != "", where
        # A sentence ends as one, and a heading as a heading; the percent signs of numbers are all there.
        assert (text[-1] in ENDS) == (english[-1] in ENDS), where
        assert len(re.findall(r"%?\{\w+\}%?", text)) == text.count("{"), where
        assert text.count("%") == english.count("%"), where
        assert fault(text, 2000) is None, where
        assert re.search(WRITING.get(language, "[A-Za-z]"), re.sub(r"\{\w+\}", "", text)), where
        if len(english.split()) > 3 and language != "en":
            assert text != english, language


@pytest.mark.parametrize("code", codes())
def test_a_file_says_nothing_else_and_nothing_twice(code):
    text = files("deniable.surveys.languages").joinpath(f"{code}.json").read_text(encoding="utf-8")
    pairs = json.loads(text, object_pairs_hook=list)
    assert sorted(name for name, _ in pairs) == sorted(EVERY)
    # Two long sentences are alike only where they are in English: anything else is a slip while copying.
    long = {name: said for name, said in pairs if len(said.split()) > 5}
    assert {said: EVERY[name]["en"] for name, said in long.items()} == {
        said: EVERY[name]["en"] for name, said in reversed(long.items())
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_survey_in_any_of_them_needs_no_words_of_its_own(language):
    survey = parse_survey(f"""
format = 1
name = "one"
title = "One"
languages = ["{language}"]
epsilon = 1.5

[[questions]]
name = "smokes"
text = "Smokes"
kind = "yes-no"
prefer_not_to_say = true
""")
    assert [option.text[language] for option in survey.questions[0].options] == [
        PHRASES[name][language] for name in ("no", "yes", "prefer_not_to_say")
    ]

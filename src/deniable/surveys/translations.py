"""Translations: a text is one string, or a table with one for each declared language.

Four texts need not be written: yes, no, and the two ways of not answering. A survey in another language, or with other
words, gives them under `[texts]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.replaceable_words import AROUND, PLAIN
from deniable.device.text_safety import MOST_AROUND, MOST_QUESTION, fault
from deniable.errors import SurveyError
from deniable.surveys.languages import add_languages
from deniable.surveys.page_words import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.surveys.schema import Text

YES, NO = "yes", "no"

PHRASES: dict[str, dict[str, str]] = {
    "yes": {"en": "Yes", "de": "Ja"},
    "no": {"en": "No", "de": "Nein"},
    "prefer_not_to_say": {"en": "Prefer not to say", "de": "Keine Angabe"},
    "does_not_apply": {"en": "Does not apply", "de": "Trifft nicht zu"},
}
add_languages(PHRASES)


class Translator:
    """Turns the file's texts into one string for each language, and misses none.

    >>> Translator(["en"], {})("Do you smoke?", "questions[0].text")
    {'en': 'Do you smoke?'}
    """

    def __init__(self, languages: Sequence[str], texts: Mapping[str, Text]) -> None:
        """Take the survey's languages, the default first, and its `[texts]`."""
        self.languages = tuple(languages)
        known = [*PHRASES, *AROUND, *PLAIN]
        for name in texts:
            if name in WORDS and name not in PLAIN:
                raise SurveyError(
                    f"texts.{name}: this sentence states what the program does with an answer, so it comes with the "
                    f"program and no survey can replace it. Remove the line; what you want to say belongs into "
                    f"texts.welcome",
                    path=f"texts.{name}",
                )
            if name not in known:
                raise SurveyError(f"texts.{name}: there is no such text; there are {known}", path=f"texts.{name}")
        self._texts = texts

    def __call__(self, text: Text, path: str, most: int = MOST_QUESTION) -> dict[str, str]:
        """Read one text: a plain string will do where the survey has one language."""
        if isinstance(text, str):
            if len(self.languages) > 1:
                raise SurveyError(
                    f"{path}: the survey has the languages {list(self.languages)}, so every text needs a table with "
                    f'one string for each, such as {{ {self.languages[0]} = "..." }}',
                    path=path,
                )
            text = {self.languages[0]: text}
        if set(text) != set(self.languages):
            missing = [language for language in self.languages if language not in text]
            strange = sorted(set(text) - set(self.languages))
            told = f"no text in {missing}" if missing else f"a text in {strange}, not among the survey's languages"
            raise SurveyError(f"{path}: there is {told}", path=path)
        for language, words in text.items():
            if not words.strip():
                raise SurveyError(f"{path}.{language}: a text must not be empty", path=f"{path}.{language}")
            wrong = fault(words, most)
            if wrong is not None:
                raise SurveyError(
                    f"{path}.{language}: there is {wrong}; respondents' devices refuse such a text. Type it anew",
                    path=f"{path}.{language}",
                )
        return {language: text[language] for language in self.languages}

    def same(self, text: str) -> dict[str, str]:
        """A text that needs no translation: numbers."""
        return dict.fromkeys(self.languages, text)

    def phrase(self, name: str, path: str) -> dict[str, str]:
        """One of the built-in phrases, or what `[texts]` says in its place."""
        if name in self._texts:
            return self(self._texts[name], f"texts.{name}")
        unknown = [language for language in self.languages if language not in PHRASES[name]]
        if unknown:
            raise SurveyError(
                f'texts.{name}: {path} needs "{PHRASES[name]["en"]}", which is not built in for {unknown}; write '
                f"it here",
                path=f"texts.{name}",
            )
        return {language: PHRASES[name][language] for language in self.languages}

    def around(self) -> dict[str, dict[str, str]]:
        """What the survey says around its questions, where it says anything."""
        said = [name for name in (*AROUND, *PLAIN) if name in self._texts]
        return {name: self(self._texts[name], f"texts.{name}", MOST_AROUND) for name in said}

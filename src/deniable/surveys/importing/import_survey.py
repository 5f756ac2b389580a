"""Imported: a questionnaire of another program as a survey file, and what could not be taken over.

Only what can be disguised is taken over: questions with a fixed list of answers. Everything else is named, with the
reason, and never dropped in silence. The text is checked like any survey file before it is handed out.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.errors import InputError, MissingExtraError, SurveyError
from deniable.surveys.survey import parse_survey
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

Text = str | dict[str, str]


@dataclass(frozen=True)
class Imported:
    """The text of a survey file, and a sentence for everything that is not in it."""

    text: str
    left_out: tuple[str, ...]

    def file(self, made_from: str) -> str:
        """The text, under comments that say where it comes from and what is not in it."""
        told = [f"Made from {made_from}. Check the wording, the epsilon and what is listed here before you serve it."]
        told += [f"- {sentence}" for sentence in self.left_out] or ["Every question was taken over."]
        lines = [line for part in told for line in textwrap.wrap(part, 110, subsequent_indent="  ")]
        # TOML allows no control characters, and a name from somebody else's file may hold any.
        comments = ("".join(c if c.isprintable() else "?" for c in line) for line in lines)
        return "".join(f"# {line}\n" for line in comments) + f"\n{self.text}"


@dataclass
class Draft:
    """What is collected of a questionnaire while it is read."""

    title: Text
    questions: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=lambda: ["en"])
    skippable: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    def add(self, name: str, text: Text, **rest: Any) -> None:
        """Take a question over, under a name that a survey file allows."""
        allowed = re.sub(r"\W", "_", name, flags=re.ASCII)[:60] or "question"
        if not re.match(r"[A-Za-z_]", allowed):
            allowed = f"q_{allowed}"
        taken = [question["name"] for question in self.questions]
        free, count = allowed, 1
        while free in taken:
            free, count = f"{allowed}_{count + 1}", count + 1
        if free != name:
            why = "names have letters, digits and underscores" if free == allowed else "the name was taken"
            self.left_out.append(f"{name!r} is called {free!r} here: {why}.")
        allowed = free
        self.questions.append({"name": allowed, "text": text, **rest})

    def skip(self, name: str, why: str) -> None:
        """Name a question that is not taken over."""
        self.left_out.append(f"{name!r} is left out: {why}.")

    def ask_everybody(self, name: str, rule: str) -> None:
        """Name a question whose rule is not taken over."""
        self.left_out.append(
            f"{name!r} is asked of everybody here: a rule that depends on answers would show them ({rule})."
        )

    def _say_what_changes(self) -> None:
        if self.skippable:
            self.left_out.append(
                f"{listed(self.skippable)} could be left unanswered; whoever is asked answers here, because a gap "
                f"would tell. Add prefer_not_to_say = true where silence is to be an answer."
            )
        if self.hints:
            self.left_out.append(f"What explained {listed(self.hints)} beside the question is left out (hints).")

    def finish(self, name: str, epsilon: float) -> Imported:
        """Write the file and check it."""
        settle_languages(self)
        self._say_what_changes()
        if not self.questions:
            told = " ".join(self.left_out) or "it has none."
            raise InputError(f"none of its questions can be disguised: {told}")
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "survey"
        head = {"format": 1, "name": slug, "languages": self.languages, "title": self.title, "epsilon": epsilon}
        lines = [f"{key} = {_toml(value)}" for key, value in head.items()]
        for question in self.questions:
            lines += ["", "[[questions]]", *(f"{key} = {_toml(value)}" for key, value in question.items())]
        text = "\n".join(lines) + "\n"
        try:
            parse_survey(text)
        except SurveyError as error:
            # The file that the key is in is not there to look at: say the question's name instead of its place.
            told = re.sub(r"questions\[(\d+)\]", lambda m: repr(self.questions[int(m[1])]["name"]), error.message)
            raise InputError(told) from None
        return Imported(text, tuple(self.left_out))


def import_survey(path: str | Path, epsilon: float) -> Imported:
    """Import a questionnaire: SurveyJS (.json) or XLSForm (.xlsx)."""
    from deniable.surveys.importing.surveyjs import read_surveyjs
    from deniable.surveys.importing.xlsform import read_xlsform

    place = Path(path)
    readers = {".json": read_surveyjs, ".xlsx": read_xlsform}
    read = readers.get(place.suffix.lower())
    if read is None:
        raise InputError(
            f"questionnaires are imported from .json (SurveyJS) or .xlsx (XLSForm), not from {place.name!r}"
        )
    if not place.is_file():
        raise InputError(f"there is no file {place}", file=str(place))
    try:
        return read(place).finish(place.stem, epsilon)
    except MissingExtraError:
        raise
    except InputError as error:
        said = error.message if str(place) in error.message else f"{place} cannot be taken over: {error.message}"
        raise InputError(said, file=str(place)) from None


def settle_languages(draft: Draft, default: str = "en") -> None:
    """A survey file gives every text in every language: keep those languages that all translated texts have.

    A text without translations stands in all of them as it is.
    """
    translated = [set(text) for text in _texts(draft) if isinstance(text, dict)]
    every = set().union(*translated)
    whole = set.intersection(*translated) if translated else set()
    if every - whole - {default}:
        draft.left_out.append(f"The texts in {', '.join(sorted(every - whole))} are left out: not every text has them.")
    draft.languages = sorted(whole | {default}, key=lambda language: (language != default, language))
    if default not in whole:
        draft.languages = [default]
    draft.title = _said(draft.title, draft.languages)
    for question in draft.questions:
        question["text"] = _said(question["text"], draft.languages)
        if "choices" in question:
            question["choices"] = [_choice(choice, draft.languages) for choice in question["choices"]]


def _texts(draft: Draft) -> list[Text]:
    choices = [choice for question in draft.questions for choice in question.get("choices", [])]
    said = [choice["text"] for choice in choices if isinstance(choice, dict)]
    return [draft.title, *(question["text"] for question in draft.questions), *said]


def _choice(choice: Any, languages: list[str]) -> Any:
    if isinstance(choice, dict):
        return {**choice, "text": _said(choice["text"], languages)}
    return choice if len(languages) == 1 else {"value": choice, "text": _said(choice, languages)}


def _said(text: Text, languages: list[str]) -> Text:
    """A text in these languages: one string if there is only one."""
    if len(languages) == 1:
        return text if isinstance(text, str) else text.get(languages[0], next(iter(text.values())))
    return dict.fromkeys(languages, text) if isinstance(text, str) else {known: text[known] for known in languages}


def _toml(value: Any) -> str:
    """Write a value. JSON's texts and numbers are TOML's; its objects are not."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(part)}" for key, part in _items(value)) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return msgspec.json.encode(value).decode()


def _items(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(value.items())


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else msgspec.json.encode(key).decode()

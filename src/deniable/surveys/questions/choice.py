"""A list of choices, one of which is the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.text_safety import MOST_CHOICE
from deniable.errors import SurveyError
from deniable.surveys.questions import MOST_CHOICES, Option
from deniable.surveys.schema import ChoiceEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deniable.surveys.schema import QuestionEntry
    from deniable.surveys.translations import Translator


def keys(_entry: QuestionEntry) -> Collection[str]:
    """The list."""
    return {"choices"}


def bins(_entry: QuestionEntry, _path: str) -> tuple[float, ...]:
    """None: answers are no numbers."""
    return ()


def options(entry: QuestionEntry, path: str, say: Translator) -> list[Option]:
    """The choices."""
    return choice_options(entry.choices, f"{path}.choices", say)


def choice_options(choices: Sequence[str | ChoiceEntry] | None, path: str, say: Translator) -> list[Option]:
    """Check a list of choices."""
    if choices is None or not 2 <= len(choices) <= MOST_CHOICES:
        found = 0 if choices is None else len(choices)
        raise SurveyError(
            f"{path}: a question needs 2 to {MOST_CHOICES} choices to hide one among the others; found {found}",
            path=path,
        )
    options = []
    for index, choice in enumerate(choices):
        value, text = (choice.value, choice.text) if isinstance(choice, ChoiceEntry) else (choice, choice)
        if not value.strip():
            raise SurveyError(f"{path}[{index}]: a choice needs a value that is not empty", path=f"{path}[{index}]")
        options.append(Option(value, say(text, f"{path}[{index}]", MOST_CHOICE)))
    return options

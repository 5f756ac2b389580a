"""A list of choices, one of which is the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from deniable.device.text_safety import MOST_CHOICE
from deniable.errors import SurveyError
from deniable.surveys.questions import MOST_CHOICES, Option, QuestionEntry
from deniable.surveys.schema import ChoiceEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.surveys.translations import Translator


class Choice(QuestionEntry, frozen=True):
    """One of a list."""

    kind: ClassVar[str] = "choice"

    choices: tuple[str | ChoiceEntry, ...] | None = None

    def options(self, path: str, say: Translator) -> list[Option]:
        """The choices."""
        return choice_options(self.choices, f"{path}.choices", say)


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

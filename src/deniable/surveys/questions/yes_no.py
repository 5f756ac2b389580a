"""No or yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import SurveyError
from deniable.surveys.questions import Option
from deniable.surveys.questions.choice import bins, choice_options, keys
from deniable.surveys.translations import NO, YES

if TYPE_CHECKING:
    from deniable.surveys.schema import QuestionEntry
    from deniable.surveys.translations import Translator

__all__ = ["bins", "keys", "options"]


def options(entry: QuestionEntry, path: str, say: Translator) -> list[Option]:
    """No and yes, in words of our own or of the file's."""
    if entry.choices is None:
        return [Option(NO, say.phrase("no", path)), Option(YES, say.phrase("yes", path))]
    found = choice_options(entry.choices, f"{path}.choices", say)
    if [option.value for option in found] != [NO, YES]:
        raise SurveyError(
            f'{path}.choices: a yes-no question has the values "{NO}" and "{YES}", in this order',
            path=f"{path}.choices",
        )
    return found

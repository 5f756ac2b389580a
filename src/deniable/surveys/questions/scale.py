"""Steps from a first to a last, or a list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import SurveyError
from deniable.surveys.questions import MOST_CHOICES, Option
from deniable.surveys.questions.choice import bins, choice_options

if TYPE_CHECKING:
    from collections.abc import Collection

    from deniable.surveys.schema import QuestionEntry
    from deniable.surveys.translations import Translator

__all__ = ["bins", "keys", "options"]


def keys(entry: QuestionEntry) -> Collection[str]:
    """The ends, or the list."""
    return {"choices"} if entry.choices is not None else {"first", "last"}


def options(entry: QuestionEntry, path: str, say: Translator) -> list[Option]:
    """The steps."""
    if entry.choices is not None:
        return choice_options(entry.choices, f"{path}.choices", say)
    return [Option(str(step), say.same(str(step))) for step in _steps(entry, path)]


def _steps(entry: QuestionEntry, path: str) -> range:
    if entry.first is None or entry.last is None:
        missing = "first" if entry.first is None else "last"
        raise SurveyError(
            f"{path}.{missing}: a scale needs its first and last step, or a list of choices", path=f"{path}.{missing}"
        )
    if not entry.first < entry.last < entry.first + MOST_CHOICES:
        raise SurveyError(
            f"{path}.last: a scale goes up from its first step, at most {MOST_CHOICES} of them; found {entry.first} "
            f"to {entry.last}",
            path=f"{path}.last",
        )
    return range(entry.first, entry.last + 1)

"""The kinds of question of a survey file, a module each: it is imported when a question of its kind is first read.

A kind says which keys it takes, which options a respondent has, and, if answers are numbers, the edges of their bins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Collection

    from deniable.surveys.schema import QuestionEntry
    from deniable.surveys.translations import Translator

Texts = Mapping[str, str]
MOST_CHOICES = 1000
HOMES = {"choice": "choice", "yes-no": "yes_no", "scale": "scale", "number": "number"}


@dataclass(frozen=True)
class Option(Frozen):
    """An answer: the value that is counted and the text that is read, by language."""

    value: str
    text: Texts


class QuestionKind(Protocol):
    """What the module of a kind has."""

    def keys(self, entry: QuestionEntry) -> Collection[str]:
        """The keys, of those that not every kind has, that this question may have."""
        ...

    def bins(self, entry: QuestionEntry, path: str) -> tuple[float, ...]:
        """The edges between bins, if answers are numbers."""
        ...

    def options(self, entry: QuestionEntry, path: str, say: Translator) -> list[Option]:
        """What a respondent can answer, in order."""
        ...


def question_kind(kind: str) -> QuestionKind:
    """The module of a kind of question."""
    return cast("QuestionKind", import_module(f"{__name__}.{HOMES[kind]}"))

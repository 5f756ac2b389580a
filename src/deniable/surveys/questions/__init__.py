"""The kinds of question of a survey file, a file each: the keys it takes, what can be answered, the edges of its bins.

A file holds one class, whose `kind` is what the file is called ("yes-no" is in `yes_no.py`). Nothing else has to name
it: devices know numbers, which fall into bins, from answers that are chosen, and read no more of a kind than its name.
A page puts what is chosen as a list; of a kind called "scale", whose steps are short, side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import field

from deniable.core.registry import Registry
from deniable.errors import SurveyError
from deniable.frozen import Frozen
from deniable.surveys.parse_survey import convert
from deniable.surveys.schema import Entry, Name, Text
from deniable.text import listed

if TYPE_CHECKING:
    from deniable.surveys.translations import Translator

Texts = Mapping[str, str]
Hint = tuple[float | None, float | None, float | None]
"""How a number may be typed: least, most, step."""

MOST_CHOICES = 1000
DEFAULT = "choice"


@dataclass(frozen=True)
class Option(Frozen):
    """An answer: the value that is counted and the text that is read, by language."""

    value: str
    text: Texts


class QuestionEntry(Entry, frozen=True, kw_only=True):
    """One sensitive question: the keys of every kind, to which each adds its own."""

    kind: ClassVar[str]

    name: Name
    text: Text
    prefer_not_to_say: bool = False
    show_if: dict[str, str | tuple[str, ...]] = field(default_factory=dict)

    def options(self, path: str, say: Translator) -> list[Option]:
        """What a respondent can answer, in order; `path` leads to the question, for refusals."""
        raise NotImplementedError

    def edges(self, path: str) -> tuple[float, ...]:  # noqa: ARG002 - for the kind whose answers are numbers
        """The edges between bins, if answers are numbers."""
        return ()

    def hint(self, path: str) -> Hint | None:  # noqa: ARG002
        """How a number may be typed, if the file says anything about it."""
        return None


QUESTIONS = Registry[type[QuestionEntry]]("question", __name__, dashed=True)


def read_question(given: dict[str, Any], path: str) -> QuestionEntry:
    """Read one `[[questions]]` table by the class of its kind."""
    kind = given.get("kind", DEFAULT)
    if not isinstance(kind, str) or kind not in QUESTIONS:
        known = listed(sorted(QUESTIONS))
        raise SurveyError(f"{path}.kind: choose from {known}; found {kind!r}", path=f"{path}.kind")
    entry, rest = QUESTIONS[kind], {key: value for key, value in given.items() if key != "kind"}
    common = QuestionEntry.__struct_fields__
    taken = [*(key for key in entry.__struct_fields__ if key not in common), *common]
    for key in rest:
        if key not in taken:
            raise SurveyError(
                f"{path}.{key}: there is no key {key!r} here; a question of kind {kind!r} takes {listed(taken)}",
                path=f"{path}.{key}",
            )
    return convert(rest, entry, path)

"""Steps from a first to a last, or a list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from deniable.errors import SurveyError
from deniable.surveys.questions import MOST_CHOICES, Option
from deniable.surveys.questions.choice import Choice

if TYPE_CHECKING:
    from deniable.surveys.translations import Translator


class Scale(Choice, frozen=True):
    """Whole numbers by their ends, or steps in words."""

    kind: ClassVar[str] = "scale"

    first: int | None = None
    last: int | None = None

    def options(self, path: str, say: Translator) -> list[Option]:
        """The steps."""
        if self.choices is None:
            return [Option(str(step), say.same(str(step))) for step in self._steps(path)]
        for key in ("first", "last"):
            if getattr(self, key) is not None:
                raise SurveyError(f"{path}.{key}: a scale with choices takes no {key}", path=f"{path}.{key}")
        return super().options(path, say)

    def _steps(self, path: str) -> range:
        if self.first is None or self.last is None:
            missing = "first" if self.first is None else "last"
            raise SurveyError(
                f"{path}.{missing}: a scale needs its first and last step, or a list of choices",
                path=f"{path}.{missing}",
            )
        if not self.first < self.last < self.first + MOST_CHOICES:
            raise SurveyError(
                f"{path}.last: a scale goes up from its first step, at most {MOST_CHOICES} of them; found {self.first} "
                f"to {self.last}",
                path=f"{path}.last",
            )
        return range(self.first, self.last + 1)

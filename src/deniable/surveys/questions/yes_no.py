"""No or yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from deniable.errors import SurveyError
from deniable.surveys.questions import Option
from deniable.surveys.questions.choice import Choice
from deniable.surveys.translations import NO, YES

if TYPE_CHECKING:
    from deniable.surveys.translations import Translator


class YesNo(Choice, frozen=True):
    """No and yes, in words of our own or of the file's."""

    kind: ClassVar[str] = "yes-no"

    def options(self, path: str, say: Translator) -> list[Option]:
        """The value "no", then "yes"."""
        if self.choices is None:
            return [Option(NO, say.phrase("no", path)), Option(YES, say.phrase("yes", path))]
        found = super().options(path, say)
        if [option.value for option in found] != [NO, YES]:
            raise SurveyError(
                f'{path}.choices: a yes-no question has the values "{NO}" and "{YES}", in this order',
                path=f"{path}.choices",
            )
        return found

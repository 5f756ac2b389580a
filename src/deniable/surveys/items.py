"""Item: one question as it is put to a respondent, with its answers, their texts and the rule that shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deniable.core.domain import Variable
from deniable.core.reserved_names import RESERVED, is_reserved
from deniable.device.protocol.answer_encoding import NOT_ASKED, SKIPPED
from deniable.device.text_safety import alike, crossed
from deniable.errors import SurveyError
from deniable.frozen import Frozen
from deniable.surveys.questions import Hint, Option, Texts
from deniable.surveys.questions.choice import choice_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.surveys.questions import QuestionEntry
    from deniable.surveys.schema import PublicEntry
    from deniable.surveys.translations import Translator


@dataclass(frozen=True)
class Item(Frozen):
    """A question, or a public attribute, ready to be asked. `entry` is how a number may be typed: least, most, step."""

    name: str
    text: Texts
    kind: str
    options: tuple[Option, ...]
    bins: tuple[float, ...] = ()
    entry: Hint | None = None
    show_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def variable(self) -> Variable:
        """The attribute that this item asks for."""
        return Variable(self.name, tuple(option.value for option in self.options))


def question_item(entry: QuestionEntry, path: str, say: Translator, public: Mapping[str, Item]) -> Item:
    """Check one `[[questions]]` entry."""
    _not_reserved(entry.name, path)
    options = entry.options(path, say)
    if entry.prefer_not_to_say:
        options.append(Option(SKIPPED, say.phrase("prefer_not_to_say", f"{path}.prefer_not_to_say")))
    show_if = _rules(entry.show_if, f"{path}.show_if", public)
    if show_if:
        # Whoever is not shown the question sends a disguised answer all the same: nobody is missing.
        options.append(Option(NOT_ASKED, say.phrase("does_not_apply", f"{path}.show_if")))
    _different(options, path if getattr(entry, "choices", None) is None else f"{path}.choices")
    return Item(
        entry.name,
        say(entry.text, f"{path}.text"),
        entry.kind,
        tuple(options),
        entry.edges(path),
        entry.hint(path),
        show_if,
    )


def public_item(entry: PublicEntry, path: str, say: Translator) -> Item:
    """Check one `[[public]]` entry."""
    _not_reserved(entry.name, path)
    options = choice_options(entry.choices, f"{path}.choices", say)
    _different(options, f"{path}.choices")
    return Item(entry.name, say(entry.text, f"{path}.text"), "choice", tuple(options))


def _not_reserved(name: str, path: str) -> None:
    if is_reserved(name):
        raise SurveyError(
            f"{path}.name: names that begin with {RESERVED!r} are kept for the columns of reports themselves; give "
            f"{name!r} another name",
            path=f"{path}.name",
        )


def _rules(
    show_if: Mapping[str, str | tuple[str, ...]], path: str, public: Mapping[str, Item]
) -> dict[str, tuple[str, ...]]:
    rules = {}
    for name, wanted in show_if.items():
        if name not in public:
            raise SurveyError(
                f"{path}.{name}: a question may be shown or left out by public attributes only, because who skips it "
                f"becomes visible; public are {sorted(public) or 'none'}",
                path=f"{path}.{name}",
            )
        values = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        known = [option.value for option in public[name].options]
        strangers = [value for value in values if value not in known]
        if strangers or not values:
            raise SurveyError(
                f"{path}.{name}: {name!r} has the choices {known}; found {list(values)}", path=f"{path}.{name}"
            )
        rules[name] = values
    return rules


def _different(options: Sequence[Option], path: str) -> None:
    values = [option.value for option in options]
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise SurveyError(f"{path}: choices must differ; found {twice} more than once", path=path)
    for language in options[0].text:
        same = alike([option.text[language] for option in options])
        if same is not None:
            raise SurveyError(
                f"{path}: respondents cannot tell {same[0]!r} from {same[1]!r}; their devices refuse such choices",
                path=path,
            )
    if mixed := crossed([option.text for option in options]):
        raise SurveyError(
            f"{path}: {mixed[0]!r} and {mixed[1]!r} stand for different answers in different languages. Who reads "
            f"both, or the results, would take one for the other; word one of them otherwise",
            path=path,
        )

"""Item: one question as it is put to a respondent, with its answers, their texts and the rule that shows it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from deniable.device.encoding import NOT_ASKED, SKIPPED
from deniable.domain import Variable
from deniable.errors import SurveyError
from deniable.frozen import Frozen
from deniable.surveys.phrases import NO, YES
from deniable.surveys.schema import ChoiceEntry, Kind, PublicEntry, QuestionEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.surveys.texts import Translator

Texts = Mapping[str, str]
_MOST_CHOICES = 1000


@dataclass(frozen=True)
class Option(Frozen):
    """An answer: the value that is counted and the text that is read, by language."""

    value: str
    text: Texts


@dataclass(frozen=True)
class Item(Frozen):
    """A question, or a public attribute, ready to be asked."""

    name: str
    text: Texts
    kind: Kind
    options: tuple[Option, ...]
    bins: tuple[float, ...] = ()
    static: bool = False
    show_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def variable(self) -> Variable:
        """The attribute that this item asks for."""
        return Variable(self.name, tuple(option.value for option in self.options))


def question_item(entry: QuestionEntry, path: str, say: Translator, public: Mapping[str, Item]) -> Item:
    """Check one `[[questions]]` entry."""
    _only_its_own_keys(entry, path)
    bins: tuple[float, ...] = ()
    if entry.kind == "number":
        bins = _edges(entry.bins, f"{path}.bins")
        options = [Option(label, say.same(label)) for label in bin_labels(bins)]
    elif entry.kind == "yes-no" and entry.choices is None:
        options = [Option(NO, say.phrase("no", path)), Option(YES, say.phrase("yes", path))]
    elif entry.kind == "scale" and entry.choices is None:
        options = [Option(str(step), say.same(str(step))) for step in _steps(entry, path)]
    else:
        options = _options(entry.choices, f"{path}.choices", say)
        if entry.kind == "yes-no" and [option.value for option in options] != [NO, YES]:
            raise SurveyError(
                f'{path}.choices: a yes-no question has the values "{NO}" and "{YES}", in this order',
                path=f"{path}.choices",
            )
    if entry.prefer_not_to_say:
        options.append(Option(SKIPPED, say.phrase("prefer_not_to_say", f"{path}.prefer_not_to_say")))
    show_if = _rules(entry.show_if, f"{path}.show_if", public)
    if show_if:
        # Whoever is not shown the question sends a disguised answer all the same: nobody is missing.
        options.append(Option(NOT_ASKED, say.phrase("does_not_apply", f"{path}.show_if")))
    where = f"{path}.choices" if entry.choices is not None else path
    _different([option.value for option in options], where)
    return Item(entry.name, say(entry.text, f"{path}.text"), entry.kind, tuple(options), bins, entry.static, show_if)


def public_item(entry: PublicEntry, path: str, say: Translator) -> Item:
    """Check one `[[public]]` entry."""
    options = _options(entry.choices, f"{path}.choices", say)
    _different([option.value for option in options], f"{path}.choices")
    return Item(entry.name, say(entry.text, f"{path}.text"), "choice", tuple(options))


def bin_labels(edges: Sequence[float]) -> list[str]:
    """Name the bins between edges; each holds its lower edge and not its upper one.

    >>> bin_labels([18, 65])
    ['< 18', '18 to < 65', '>= 65']
    """
    shown = [f"{edge:.12g}" for edge in edges]
    inner = [f"{low} to < {high}" for low, high in pairwise(shown)]
    return [f"< {shown[0]}", *inner, f">= {shown[-1]}"]


def bin_of(number: float, edges: Sequence[float]) -> int:
    """Find the bin of a number.

    >>> [bin_of(age, [18, 65]) for age in (17.9, 18, 64, 65)]
    [0, 1, 1, 2]
    """
    return bisect_right(edges, number)


def _only_its_own_keys(entry: QuestionEntry, path: str) -> None:
    given = {
        "choices": entry.choices is not None,
        "bins": entry.bins is not None,
        "first": entry.first is not None,
        "last": entry.last is not None,
    }
    allowed: dict[str, set[str]] = {
        "choice": {"choices"},
        "yes-no": {"choices"},
        "scale": {"choices"} if entry.choices is not None else {"first", "last"},
        "number": {"bins"},
    }
    for key, there in given.items():
        if there and key not in allowed[entry.kind]:
            raise SurveyError(
                f"{path}.{key}: a question of kind {entry.kind!r} takes {' and '.join(sorted(allowed[entry.kind]))}, "
                f"not {key}",
                path=f"{path}.{key}",
            )


def _options(choices: list[str | ChoiceEntry] | None, path: str, say: Translator) -> list[Option]:
    if choices is None or not 2 <= len(choices) <= _MOST_CHOICES:
        found = 0 if choices is None else len(choices)
        raise SurveyError(
            f"{path}: a question needs 2 to {_MOST_CHOICES} choices to hide one among the others; found {found}",
            path=path,
        )
    options = []
    for index, choice in enumerate(choices):
        value, text = (choice.value, choice.text) if isinstance(choice, ChoiceEntry) else (choice, choice)
        if not value.strip():
            raise SurveyError(f"{path}[{index}]: a choice needs a value that is not empty", path=f"{path}[{index}]")
        options.append(Option(value, say(text, f"{path}[{index}]")))
    return options


def _steps(entry: QuestionEntry, path: str) -> range:
    if entry.first is None or entry.last is None:
        missing = "first" if entry.first is None else "last"
        raise SurveyError(
            f"{path}.{missing}: a scale needs its first and last step, or a list of choices", path=f"{path}.{missing}"
        )
    if not entry.first < entry.last < entry.first + _MOST_CHOICES:
        raise SurveyError(
            f"{path}.last: a scale goes up from its first step, at most {_MOST_CHOICES} of them; found {entry.first} "
            f"to {entry.last}",
            path=f"{path}.last",
        )
    return range(entry.first, entry.last + 1)


def _edges(bins: list[int | float] | None, path: str) -> tuple[float, ...]:
    edges = tuple(bins or ())
    rising = all(low < high for low, high in pairwise(edges))
    if not edges or not rising or not all(math.isfinite(edge) for edge in edges) or len(edges) >= _MOST_CHOICES:
        raise SurveyError(
            f"{path}: a number is asked in bins, given by the edges between them in rising order, such as [18, 30, "
            f"65]; found {list(edges)}",
            path=path,
        )
    return edges


def _rules(show_if: Mapping[str, str | list[str]], path: str, public: Mapping[str, Item]) -> dict[str, tuple[str, ...]]:
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


def _different(values: Sequence[str], path: str) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise SurveyError(f"{path}: choices must differ; found {twice} more than once", path=path)

"""From an answer to its code. Every value has a code or is refused, before anything is drawn and whatever is drawn.

============  =======================================================================================================
None          "prefer not to say", where the survey offers it
a choice      one of the categories, of the same type: the text "1", the number 1 and true are three different answers
a number      its bin, compared exactly with the edges, which are decimals; a float counts as the shortest decimal that
              reads back as the same float, so that whoever answers 0.3 is at the edge 0.3 and not below it
not asked     "does not apply", where the rules do not hold, whatever was given
============  =======================================================================================================

What has no code: true and false as numbers, and whatever is not listed; what is not an answer at all (not-a-number,
infinities, other types) is refused before anybody hears of it. No message here quotes a value, because messages end up
in logs. Both clients agree on every case (`tests/vectors/encodings.json`).

**What a program hands over** is read first (`read_answers`): true and false for yes and no, a whole number for the text
that writes it where all categories are such texts, the text that respondents read for its category. A name that the
survey does not have, and a type that none of a question's answers has, are the program's mistakes and not answers: they
are refused before anything is drawn, whatever the answer is. So is a text about a number where no answer is a text,
also one that names a bin: whether it does would depend on the answer.

**Silence would tell.** The collector chose the categories. If a device fell silent where an answer has no code, whoever
lists one disease would learn without noise whether it is the respondent's. So an answer without a code is replaced by
one that is drawn evenly from the categories, and the report goes out like any other; the caller is told afterwards.
Only where the caller has pinned the design, whose categories nobody else can choose, is it refused.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable.device.protocol.messages import Bins
from deniable.errors import InputError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deniable.device.protocol.messages import Attribute, Coder, Form, FormItem, Rule
    from deniable.device.verified_design import VerifiedDesign

SKIPPED = "prefer not to say"
NOT_ASKED = "does not apply"
_WHOLE = re.compile(r"-?[1-9][0-9]*|0")
_SCALARS = frozenset("biufUO")  # truths, whole numbers, floats, texts, and objects, which are looked at again
_DOUBLE = 8  # bytes of a float of Python's; shorter ones have shorter decimals
_DIGITS = 1000  # of a whole number, beyond which it is no category


@dataclass(frozen=True)
class Coded:
    """An attribute with the way from an answer to its code."""

    variable: Attribute
    coder: Coder
    rules: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self.variable.name

    @cached_property
    def _codes(self) -> dict[tuple[type, Any], int]:
        return {(type(category), category): code for code, category in enumerate(self.variable.categories)}

    @property
    def edges(self) -> tuple[str, ...]:
        """The edges between bins, if answers are numbers."""
        return self.coder.edges if isinstance(self.coder, Bins) else ()

    @cached_property
    def _answers(self) -> tuple[Any, ...]:
        """The categories that say something: no bins, no refusal, no "does not apply"."""
        bins = len(self.edges) + 1 if self.edges else 0
        return tuple(each for each in self.variable.categories[bins:] if each not in (SKIPPED, NOT_ASKED))

    def read(self, value: Any, item: FormItem) -> str | bool | int | Decimal | Fraction | None:
        """What a program hands over as one of the things that have a code, if a value of its type ever has."""
        answer, types = plain(self.name, value), {type(category) for category in self._answers}
        if isinstance(answer, bool) and bool not in types and set(self._answers) == {"no", "yes"}:
            return "yes" if answer else "no"
        if answer is None or type(answer) in types:
            return self._named(answer, item)
        if isinstance(answer, str):  # also of whole numbers: a text that respondents read, or a way of not answering
            if self._takes_text:
                return self._named(answer, item)
        elif not isinstance(answer, bool):
            if self.edges:
                return answer
            whole = _whole(answer)
            if types == {str} and all(_WHOLE.fullmatch(category) for category in self._answers):
                return f"{Decimal(whole):f}" if isinstance(whole, int) else str(whole)  # however many digits
            if int in types:
                return whole
        raise InputError(
            f"the answer about {self.name!r} is a {type(value).__name__}, and none of its answers is: give one of its "
            f"{self._offered()}. Nothing was drawn or charged",
            attribute=self.name,
        )

    @property
    def _takes_text(self) -> bool:
        """Whether an answer may be a text: of a number, only where it may be left unsaid."""
        return not self.edges or len(self.variable) > len(self.edges) + 1

    def _named(self, answer: Any, item: FormItem) -> Any:
        """A category, by itself or by the one text that respondents read for it."""
        if not isinstance(answer, str) or (str, answer) in self._codes:
            return answer
        meant = {code for code, said in enumerate(item.choices) if answer in said.values()}
        return self.variable.categories[meant.pop()] if len(meant) == 1 else answer

    def code(self, value: Any) -> int:
        """The code of an answer."""
        answer = plain(self.name, value)
        if self.edges and isinstance(answer, int | Decimal | Fraction) and not isinstance(answer, bool):
            if isinstance(answer, Fraction):
                return bisect_right([Fraction(edge) for edge in self.edges], answer)
            return bisect_right([Decimal(edge) for edge in self.edges], Decimal(answer))
        found = self._codes.get((str, SKIPPED) if answer is None else (type(answer), answer))
        if found is None or (self.rules and answer == NOT_ASKED):
            raise InputError(
                f"the answer about {self.name!r} is not one of its {self._offered()}",
                attribute=self.name,
            )
        return found

    def _offered(self) -> str:
        shown = [category for category in self.variable.categories if not (self.rules and category == NOT_ASKED)]
        return f"{'bins (give a number) or ' if self.edges else ''}categories {listed(shown)}"

    @property
    def offered(self) -> list[int]:
        """The codes that an answer can have: all but "does not apply" where the device decides that."""
        codes = range(len(self.variable))
        return [code for code in codes if not (self.rules and self.variable.categories[code] == NOT_ASKED)]

    def applies(self, codes: Mapping[str, int], public: Mapping[str, Coded]) -> bool:
        """Tell by the public answers whether the question is put."""
        return all(
            codes[rule.attribute] in [public[rule.attribute].place(value) for value in rule.values]
            for rule in self.rules
        )

    def typed(self, category: Any) -> object:
        """A number in a bin, for whoever knows only the bin; any other category, or a number, as it is."""
        code = self._codes.get((type(category), category), len(self.variable))
        if not self.edges or code > len(self.edges):
            return category
        return Decimal(self.edges[code - 1]) if code else Decimal(self.edges[0]) - 1

    def place(self, category: Any) -> int:
        """The code of a category."""
        return self._codes[type(category), category]


def plain(name: str, value: Any) -> str | bool | int | Decimal | Fraction | None:
    """Read a value as one of the few things an answer can be. This needs no design, so it comes before any request."""
    given = _unwrapped(value)
    if isinstance(given, str):
        return str.__str__(given)  # what an enumeration or a class of the program's own writes, and no more
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, int):
        return int.__int__(given)
    if isinstance(given, float):
        given = Decimal(float.__repr__(given))
    if isinstance(given, Decimal) and not given.is_finite():
        raise InputError(f"the answer about {name!r} is a number without a value; give a finite one", attribute=name)
    if isinstance(given, Decimal):
        return Decimal(given)
    if isinstance(given, Fraction):
        return Fraction(given)
    raise InputError(
        f"the answer about {name!r} is a {type(value).__name__}; give a text, a number, True, False or None",
        attribute=name,
    )


def _unwrapped(value: Any) -> Any:
    """What a scalar of an array library holds, if it is of a kind that an answer can be; anything else as it is.

    A date of such a library says that it is a whole number, and a masked value is still there: neither is an answer.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if getattr(value, "ndim", None) != 0 or kind not in _SCALARS or getattr(value, "mask", False):
        return value
    held = value.item()
    if kind == "f" and isinstance(held, float) and value.dtype.itemsize < _DOUBLE and math.isfinite(held):
        shorter = (f"{held:.{digits}g}" for digits in range(1, 18))
        return Decimal(next(text for text in shorter if value.dtype.type(text) == held))
    return held


def _whole(number: int | Decimal | Fraction) -> int | Decimal | Fraction:
    """A number as a whole one, if it is one that any category could be."""
    if isinstance(number, Decimal) and number.adjusted() > _DIGITS:
        return number
    return int(number) if number == int(number) else number


def read_answers(design: VerifiedDesign, form: Form, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a program hands over, as answers; its own mistakes are refused before anything is drawn (see above)."""
    known = {
        each.name: (each, item)
        for coded, items in ((design.asked_coded, form.questions), (design.public_coded, form.public))
        for each, item in zip(coded, items, strict=True)
    }
    strangers = [name for name in values if name not in known]
    if strangers:
        close = get_close_matches(str(strangers[0]), known, 1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError(
            f"the survey asks nothing called {listed(strangers)}{meant}, but {listed(known)}. Nothing was drawn or "
            f"charged",
            attribute=strangers[0],
        )
    return {name: known[name][0].read(value, known[name][1]) for name, value in values.items()}


def codes_of(
    asked: Sequence[Coded],
    public: Sequence[Coded],
    values: Mapping[str, Any],
    instead: Callable[[Coded, InputError], int] | None = None,
) -> dict[str, int]:
    """The codes of all attributes. All are needed, whichever ballot is drawn: what is missing must not depend on it.

    `instead` gives the code of an answer that has none; without it, such an answer is refused. What travels in clear
    is refused in any case.
    """
    clear = {each.name: each for each in public}
    codes = {name: each.code(_given(name, values)) for name, each in clear.items()}
    for each in asked:
        if not each.applies(codes, clear):
            codes[each.name] = each.place(NOT_ASKED)
            continue
        given = _given(each.name, values)
        try:
            codes[each.name] = each.code(given)
        except InputError as error:
            if instead is None:
                raise
            codes[each.name] = instead(each, error)
    return codes


def _given(name: str, values: Mapping[str, Any]) -> Any:
    if name not in values:
        raise InputError(
            f"there is no answer about {name!r}. All questions need one before the device draws which it will report: "
            f"what is missing would tell. None stands for not answering, where the survey offers that",
            attribute=name,
        )
    return values[name]

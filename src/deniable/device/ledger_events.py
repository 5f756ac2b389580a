"""The events that a privacy ledger has a rule for: a ballot that was asked, and an answer that was replayed.

An event's meaning never changes. Each kind carries a version; an unknown one is refused rather than guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from deniable.device.epsilon import as_ratio
from deniable.errors import InputError, PrivacyError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASKED = "asked/1"
_REPLAYED = "replayed/1"

# Python itself refuses to print or parse integers beyond 4300 digits; a ratio must survive being written down.
_MOST_DIGITS = 4000
_RATIO = re.compile(rf"([1-9][0-9]{{0,{_MOST_DIGITS - 1}}})/([1-9][0-9]{{0,{_MOST_DIGITS - 1}}})")


@dataclass(frozen=True)
class Asked:
    """A ballot was drawn for a design, and its questions will be answered through the channels anew.

    Args:
        design: The design's id (the hash of its content).
        ballot: Which of the design's sets of questions was drawn, from 0 on.
        ratio: The exact ratio of that ballot's answers together.

    Raises:
        PrivacyError: The ratio is infinite: no account can pay for a disclosed answer.
    """

    design: str
    ballot: int
    ratio: Fraction

    def __post_init__(self) -> None:
        _check_id("design", self.design)
        _check_ballot(self.ballot)
        ratio = as_ratio(self.ratio)
        if isinstance(ratio, float):
            message = (
                f"design {self.design} has an infinite ratio: it can disclose an answer with certainty, and no "
                "account can pay for that. Answer only designs whose channels have no zero weight."
            )
            raise PrivacyError(message, design=self.design, ratio=ratio)
        if ratio.numerator >= 10**_MOST_DIGITS:  # the denominator is the smaller of the two
            message = f"design {self.design} has a ratio of over {_MOST_DIGITS} digits. Round it up to a shorter one."
            raise PrivacyError(message, design=self.design)
        object.__setattr__(self, "ratio", ratio)


@dataclass(frozen=True)
class Replayed:
    """The remembered answer to an earlier design was sent again, as it was: whoever saw it once learns nothing.

    Whether to replay must be decided from the question and the channel, never from the value.

    Args:
        design: The id of the design that receives the remembered answer.
        of: The id of the design for which it was drawn and charged.
    """

    design: str
    of: str

    def __post_init__(self) -> None:
        _check_id("design", self.design)
        _check_id("of", self.of)


Event: TypeAlias = Asked | Replayed
"""Whatever a ledger has a rule for."""


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event as plain JSON data; ratios as "numerator/denominator"."""
    if isinstance(event, Asked):
        ratio = f"{event.ratio.numerator}/{event.ratio.denominator}"
        return {"kind": _ASKED, "design": event.design, "ballot": event.ballot, "ratio": ratio}
    return {"kind": _REPLAYED, "design": event.design, "of": event.of}


def event_from_dict(state: Mapping[str, Any]) -> Event:
    """Read an event back; an unknown kind or version is refused."""
    kind = state.get("kind") if hasattr(state, "get") else None
    if kind == _ASKED:
        check_fields("an asked event", state, {"kind", "design", "ballot", "ratio"})
        return Asked(state["design"], state["ballot"], _ratio_from_text(state["ratio"]))
    if kind == _REPLAYED:
        check_fields("a replayed event", state, {"kind", "design", "of"})
        return Replayed(state["design"], state["of"])
    message = f"a ledger has no rule for an event of kind {kind!r}; it knows {_ASKED!r} and {_REPLAYED!r}."
    raise UnknownEventError(message, event=state)


def _ratio_from_text(text: object) -> Fraction:
    match = _RATIO.fullmatch(text) if isinstance(text, str) else None
    if match:
        ratio = Fraction(int(match[1]), int(match[2]))
        # One way to write each ratio: in lowest terms.
        if ratio >= 1 and ratio.numerator == int(match[1]):
            return ratio
    shown = text if not isinstance(text, str) else text[:80]
    message = f'a ratio is written "numerator/denominator", at least 1 and in lowest terms; got {shown!r}.'
    raise InputError(message, ratio=text)


def check_fields(what: str, state: object, expected: set[str]) -> None:
    """Refuse stored data that has other fields than these."""
    found = set(state) if hasattr(state, "keys") else None  # type: ignore[call-overload]
    if found != expected:
        got = "something else" if found is None else sorted(map(str, found))
        message = f"{what} has the fields {sorted(expected)}; got {got}."
        raise InputError(message, expected=expected, found=found)


def _check_id(field: str, text: object) -> None:
    if not isinstance(text, str) or not text:
        message = f"{field} is a design's id, a text that is not empty; got {text!r}."
        raise InputError(message, field=field)


def _check_ballot(ballot: object) -> None:
    if isinstance(ballot, bool) or not isinstance(ballot, int) or ballot < 0:
        message = f"a ballot is an integer from 0 on; got {ballot!r}."
        raise InputError(message, ballot=ballot)

"""The privacy ledger of a device: what it has given away about its respondent, and what it may still give.

The account is kept in exact ratios and compared exactly:

    product of all charged ratios  <=  exp_below(limit)  <=  e^limit

**No charge and no refusal can depend on an answer.** Nothing in this file takes a respondent's value: an event knows
the design, which ballot (set of questions) was drawn and the channel's ratio, all of them public. Were it otherwise,
a refusal would itself be a report, and an unrandomized one. The caller keeps its half of the bargain by charging
before the question is shown.
"""

from __future__ import annotations

import math
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn

from deniable.device.epsilon import LARGEST_EPSILON, Ratio, as_ratio, epsilon_below, epsilon_of, exp_below
from deniable.device.ledger_events import Asked, Event, Replayed, check_fields, event_from_dict, event_to_dict
from deniable.errors import InputError, OverdrawnError, PrivacyError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

_LEDGER = "deniable.ledger/1"
_SHOWN = 16  # characters of a design's id in a picture


class Ledger:
    """An append-only account with a limit on the total epsilon. One device, one ledger, one thread at a time.

    Args:
        limit: The most epsilon that this respondent ever gives away, over all designs together.

    >>> ledger = Ledger(limit=2.0)
    >>> ledger.charge(Asked("survey-a", ballot=0, ratio=Fraction(3)))
    >>> ledger.spent, round(ledger.epsilon_spent, 4), round(ledger.remaining, 4)
    (Fraction(3, 1), 1.0986, 0.9014)
    >>> ledger.can_afford(Fraction(3))
    False
    >>> ledger.charge(Replayed("survey-b", of="survey-a"))
    >>> ledger.spent
    Fraction(3, 1)
    """

    __slots__ = ("_allowed", "_events", "_limit", "_spent")
    __hash__ = None  # type: ignore[assignment]  # an account changes

    def __init__(self, limit: float) -> None:
        self._allowed = exp_below(limit)
        self._limit = float(limit)
        self._spent = Fraction(1)
        # By design id: one answer to a design, ever. A dict keeps the order of arrival.
        self._events: dict[str, Event] = {}

    @property
    def limit(self) -> float:
        """The most epsilon that may ever be spent."""
        return self._limit

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was charged or replayed, in order."""
        return tuple(self._events.values())

    @property
    def spent(self) -> Fraction:
        """The exact product of all charged ratios; 1 when nothing was spent."""
        return self._spent

    @property
    def epsilon_spent(self) -> float:
        """ln(spent), rounded up."""
        return epsilon_of(self._spent)

    @property
    def remaining(self) -> float:
        """What is left, rounded down: `can_afford(exp_below(remaining))` holds wherever remaining > 0."""
        left = epsilon_below(self._allowed / self._spent)
        # The limit itself was rounded down on its way to a fraction; undo that one step where it is safe to,
        # so that an untouched account shows its limit and not the float below it.
        above = math.nextafter(left, math.inf)
        affordable = above <= LARGEST_EPSILON and self.can_afford(exp_below(above))
        return above if affordable else left

    def can_afford(self, ratio: Ratio) -> bool:
        """Say whether a charge of this ratio would keep the account within its limit, exactly."""
        exact = as_ratio(ratio)
        return not isinstance(exact, float) and self._spent * exact <= self._allowed

    def charge(self, event: Event) -> None:
        """Append an event and pay for it; where it is refused, the ledger stays as it was.

        Raises:
            OverdrawnError: The charge would exceed the limit.
            PrivacyError: The design was answered before, or a replay names a design that was never charged.
            UnknownEventError: There is no rule for such an event.
        """
        # type(...) is: a subclass may mean something else, and no event's meaning is guessed at.
        if type(event) is Asked:
            self._refuse_second_answer(event.design)
            if not self.can_afford(event.ratio):
                self._refuse_overdraft(event)
            spent = self._spent * event.ratio
        elif type(event) is Replayed:
            self._refuse_second_answer(event.design)
            self._refuse_unpaid_replay(event)
            spent = self._spent
        else:
            message = (
                f"a ledger has no rule for a {type(event).__name__}; it knows Asked and Replayed. "
                "What cannot be accounted for must not be sent."
            )
            raise UnknownEventError(message, event=event)
        self._events[event.design] = event
        self._spent = spent

    def to_dict(self) -> dict[str, Any]:
        """Return the account as plain JSON data; ratios as "numerator/denominator"."""
        return {"kind": _LEDGER, "limit": self._limit, "events": [event_to_dict(event) for event in self.events]}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Ledger:
        """Read an account back by charging its events again, so that no stored state gets past a rule.

        What was taken out of the stored state cannot be seen here: who may write the device's storage may forget.

        Raises:
            UnknownEventError: An event's kind or version is not known.
            OverdrawnError: The events exceed the limit.
            PrivacyError: The events break another rule, such as a second answer to one design.
            DesignError: The limit is not one.
            InputError: The state is not a ledger of this version, or a field is missing, unknown or malformed.
        """
        check_fields("a ledger", state, {"kind", "limit", "events"})
        if state["kind"] != _LEDGER:
            message = f"this is a {state['kind']!r}; this version of deniable reads {_LEDGER!r} only."
            raise InputError(message, kind=state["kind"])
        limit, events = state["limit"], state["events"]
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not isinstance(events, list):
            message = f"a ledger's limit is a number and its events are a list; got {limit!r} and {events!r}."
            raise InputError(message, limit=limit)
        ledger = cls(limit)
        for event in events:
            ledger.charge(event_from_dict(event))
        return ledger

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return self._limit == other._limit and self.events == other.events

    def __repr__(self) -> str:
        return (
            f"<Ledger: epsilon {self.epsilon_spent:.4f} of {self._limit:g} spent, {self.remaining:.4f} left, "
            f"{len(self._events)} events>"
        )

    def _costs(self) -> list[tuple[str, float]]:
        """Every event in words, and what it cost."""
        return [
            (event.design, epsilon_of(event.ratio))
            if isinstance(event, Asked)
            else (f"{event.design}, as in {event.of}", 0.0)
            for event in self.events
        ]

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{cost:.4f}</td></tr>" for name, cost in self._costs())
        caption = f"epsilon {self.epsilon_spent:.4f} of {self._limit:g} spent, {self.remaining:.4f} left"
        return f"<table><caption>{caption}</caption><tbody>{rows}</tbody></table>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the account: what each answer cost, what is left, and the limit."""
        from deniable.plotting import axes  # a device draws nothing; whoever looks at its account may

        ax = axes(ax, size=(6.4, 2.2))
        start = 0.0
        for name, cost in self._costs():
            if cost:
                ax.barh([0], [cost], left=start, edgecolor="white", label=f"{name[:_SHOWN]}: {cost:.3f}")
                start += cost
        left = max(self._limit - start, 0.0)
        ax.barh([0], [left], left=start, color="none", edgecolor="0.6", linestyle=":", label=f"left: {left:.3f}")
        ax.axvline(self._limit, color="black", linewidth=1.5)
        ax.annotate("limit", (self._limit, 0.45), xytext=(-4, 0), textcoords="offset points", ha="right")
        ax.set_yticks([])
        ax.set_ylim(-0.5, 0.65)
        ax.set_xlabel("epsilon")
        for text in ax.legend(bbox_to_anchor=(0, 1), loc="lower left", ncols=3, frameon=False).get_texts():
            text.set_parse_math(False)
        return ax

    def _refuse_second_answer(self, design: str) -> None:
        if design in self._events:
            message = (
                f"design {design} was answered before, and a second answer would let the two be averaged. "
                "Send the stored report again instead; identical bytes cost nothing and need no charge."
            )
            raise PrivacyError(message, design=design)

    def _refuse_unpaid_replay(self, event: Replayed) -> None:
        if not isinstance(self._events.get(event.of), Asked):
            message = (
                f"the answer sent to design {event.design} is said to be remembered from design {event.of}, which was "
                "never charged here. Charge it as Asked, with its ratio."
            )
            raise PrivacyError(message, design=event.design, of=event.of)

    def _refuse_overdraft(self, event: Asked) -> NoReturn:
        spent, asked, remaining = self.epsilon_spent, epsilon_of(event.ratio), self.remaining
        message = (
            f"design {event.design} asks for epsilon {asked:.6g}; {spent:.6g} of the limit {self._limit:.6g} is spent, "
            f"so that {remaining:.6g} is left. Ask with a smaller epsilon or fewer questions, or leave this one out; "
            "what is spent does not come back."
        )
        raise OverdrawnError(
            message, design=event.design, spent=spent, asked=asked, limit=self._limit, remaining=remaining
        )

"""Accounting for one survey on a device's ledger: which ballot is drawn, what it costs, what is kept for good.

**Charge and refusal never depend on an answer.** The account is settled before a question is shown: from the design,
the drawn ballot, and which disguises the device keeps. A device that cannot afford the dearest ballot
refuses before it draws.

**What is drawn anew is charged anew.** A disguise that is sent twice, word for word, is a pseudonym: whoever sees it in
two surveys knows that one person answered both. So nothing is repeated, but in a panel that was declared and agreed to.

**A panel keeps one disguise** of each answer that it repeats, drawn and charged in its first wave; every report is made
of it anew, through the channel's second level, and nothing more is charged. A thousand waves tell together what the
kept disguise does, so there is nothing to average. It stays the same even if the respondent answers differently later:
a changed repetition would prove the change. It is kept by the panel's name and addresses, the question's attributes,
their categories, its words in the survey's first language and its channel: a server that changes any of these asks
another question, and pays for it from the account.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.epsilon import compose, epsilon_of
from deniable.device.ledger_events import Asked, Replayed
from deniable.device.privacy_statement import rounded_down, rounded_up
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import design_id
from deniable.device.random_draws import draw, draw_ballot
from deniable.errors import OverdrawnError, RefusedDesignError

if TYPE_CHECKING:
    from deniable.device.device_state import State
    from deniable.device.protocol.messages import Form
    from deniable.device.verified_design import VerifiedDesign, VerifiedQuestion


class Account:
    """A verified design with its words, and the memory that pays for it. To be used within the memory's transactions.

    Args:
        state: what the device keeps.
        design: what is asked.
        form: its words, which kept disguises go by.
        url: where the report is to go.
    """

    def __init__(self, state: State, design: VerifiedDesign, form: Form, url: str) -> None:
        self._state, self._design, self._form, self._url = state, design, form, url

    # -- the ballot ---------------------------------------------------------------------------------------------------

    def drawn(self) -> int:
        """The ballot to be shown: the one this device has, or a new one, paid for and written down."""
        known, design = self._state.drawn(self._design.plan_id), self._design
        if known is not None and known.report is not None and known.design != design.id:
            raise RefusedDesignError(
                "this device has answered this survey (answered): only its words were corrected since, and a "
                "second answer would be about the same",
                code="answered",
            )
        number = self._draw_and_charge() if known is None else known.ballot
        if known is not None and known.report is None and known.design != design.id:
            self._go_on(number)
        return number

    def _draw_and_charge(self) -> int:
        design, ledger = self._design, self._state.ledger()
        dearest = max(self._cost(number) for number in range(len(design.ballots)))
        if not ledger.can_afford(dearest):
            raise self._overdrawn(dearest)
        number = draw_ballot(design.message.weights or (1,) * len(design.ballots), draw)
        fresh = self._fresh(number)
        if fresh:
            self._state.charge(ledger, Asked(design.plan_id, number, self._cost(number)))
            self._state.paid(design.plan_id, design.plan_id)
        else:
            remembered = self._recall(design.asked(number)[0])
            assert remembered is not None
            self._state.charge(ledger, Replayed(design.plan_id, of=remembered[0]))
        self._state.draw(design.plan_id, design.id, number, self._url)
        return number

    def _overdrawn(self, cost: Fraction) -> OverdrawnError:
        ledger = self._state.ledger()
        return OverdrawnError(
            f"this survey may cost epsilon {rounded_up(epsilon_of(cost))}; this device has "
            f"{rounded_down(ledger.remaining)} of {ledger.limit:.6g} left. What is spent does not come back: leave "
            f"this survey out",
            design=self._design.id,
            asked=epsilon_of(cost),
            remaining=ledger.remaining,
            limit=ledger.limit,
        )

    def _go_on(self, number: int) -> None:
        """Answer corrected words: what they make a new question of, and was not paid for, is charged now."""
        plan = self._design.plan_id
        ledger, paid = self._state.ledger(), self._state.payments(plan)
        spent = compose(event.ratio for event in ledger.events if isinstance(event, Asked) and event.design in paid)
        left = self._cost(number) / Fraction(spent)
        if left > 1:
            if not ledger.can_afford(left):
                raise self._overdrawn(left)
            # A name of its own: the same words may come again after others.
            name = design_id(encode([plan, len(paid)]))
            self._state.charge(ledger, Asked(name, number, left))
            self._state.paid(plan, name)
        self._state.redraw(plan, self._design.id)

    def _fresh(self, number: int) -> list[VerifiedQuestion]:
        """The questions of a ballot for which a new disguise will be drawn. Decided without any answer."""
        asked = self._design.asked(number)
        return [question for question in asked if not (question.is_repeated and self._recall(question))]

    def _cost(self, number: int) -> Fraction:
        total = compose(question.ratio for question in self._fresh(number))
        assert not isinstance(total, float)  # a verified channel has no zero weight
        return total

    # -- what a panel keeps -------------------------------------------------------------------------------------------

    def _key(self, question: VerifiedQuestion) -> str:
        """What a disguise is kept by: the words in the survey's first language are part of it."""
        panel = self._design.message.panel
        assert panel is not None
        words = {item.name: item.text[self._form.languages[0]] for item in self._form.questions}
        return question.key(panel.name, self._design.message.audience, [words[name] for name in question.domain])

    def _recall(self, question: VerifiedQuestion) -> tuple[str, int] | None:
        return self._state.recall(self._key(question))

    def kept(self, question: VerifiedQuestion, cell: int) -> int:
        """The disguise that the panel keeps: drawn the first time, whatever the answer is later."""
        remembered = self._recall(question)
        if remembered is not None:
            return remembered[1]
        assert question.channel.kept is not None
        drawn = question.channel.kept.disguise(cell, draw)
        # What is replayed later refers to what was paid for it.
        self._state.remember(self._key(question), self._state.payments(self._design.plan_id)[-1], drawn)
        return drawn

"""The client that runs on a respondent's device: it trusts nobody, pays before it asks, and disguises once.

    fetch the design -> verify it -> check the lifetime account -> draw a ballot -> charge and write down
    -> show the questions -> disguise once and write down -> send -> on doubt, send the same bytes again

**Charge and refusal never depend on an answer.** The account is settled before a question is shown: from the design,
the drawn ballot, and which questions the device has answered for good. A device that cannot afford the dearest ballot
refuses before it draws.

**A static question has one permanent disguise** for each channel, drawn and charged the first time it is asked; under
whatever survey it comes again, the same disguise is sent and nothing is charged. A thousand askings give one report, so
there is nothing to average. It stays the same even if the respondent answers differently later: a changed repetition
would prove the change. A question is remembered by its attributes, their categories and its channel: a server that
rewords any of these asks another question, and pays for it from the account.

**A set that is sent again would be a name.** So a static question with sets has two levels: the disguise that is kept
is a set, and each report is made of it anew, some of its bits turned over. All of them together tell what the kept set
does, which is what was charged. Without the second level such a question is refused.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import msgspec

from deniable.channels.mixture import Mixture
from deniable.channels.two_level import TwoLevel
from deniable.collection import messages
from deniable.collection.blocks import ServedBlocks
from deniable.collection.messages import Form, FormItem, Problem, Receipt, Report
from deniable.collection.pairs import Seeker
from deniable.collection.sampler import disguise, resend
from deniable.collection.state import DELIVERED, REJECTED, State
from deniable.collection.ticket import Tickets
from deniable.collection.transport import Http, Response, Transport
from deniable.collection.verify import VerifiedDesign, VerifiedQuestion, verify
from deniable.designs.block import Block, check, check_chain
from deniable.designs.fakes import BITS
from deniable.errors import (
    CollectorError,
    InputError,
    MessageError,
    OverdrawnError,
    PrivacyError,
    RejectedError,
    UnreachableError,
)
from deniable.privacy.epsilon import compose, epsilon_of
from deniable.privacy.ledger import Asked, Replayed
from deniable.randomness import SECURE
from deniable.surveys.phrases import NOT_ASKED, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction
    from pathlib import Path

    from deniable.domain import Variable

_LONGEST_SEARCH = 60.0  # seconds for a partner, whatever the collector says
_PAUSE = 0.5  # seconds between two questions for one
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_MOST_FORM = 1 << 22
_MOST_ANSWER = 1 << 20
_ATTEMPTS = 5
_LONGEST_WAIT = 30.0  # seconds
_PASSING = {408, 425, 429, 500, 502, 503, 504, 507}  # worth another try with the same bytes


@dataclass(frozen=True)
class Ballot:
    """The questions this device drew, already paid for."""

    design: str
    number: int
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Sent:
    """What left the device (or waits to leave it), and what the whole design costs at most."""

    report: Report
    epsilon: float
    delivered: bool


class Client:
    """One respondent's device and one collector.

    Args:
        url: The collector's address.
        state: The file that keeps the device's account and disguises; without one they last as long as this object,
            which is for simulated respondents only.
        limit: The most epsilon that this device ever gives away, over all surveys; 5 unless said otherwise, and fixed
            when the state is made.
        transport: What requests go through; an HTTP connection of its own by default.
        invitation: What the respondent was given, for a survey by invitation.
        issuer: The hash of the issuer's key, for a survey with blind tokens, as it was published elsewhere: a key
            shown to one respondent only would mark them.
    """

    def __init__(
        self,
        url: str,
        state: str | Path | None = None,
        *,
        limit: float | None = None,
        transport: Transport | None = None,
        invitation: str | None = None,
        issuer: str | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self._state = State(state, limit)
        self._own = Http(self.url) if transport is None else None
        self._transport: Transport = transport or self._own  # type: ignore[assignment]
        self._invitation, self._issuer = invitation, issuer

    def __repr__(self) -> str:
        return f"<Client of {self.url}: {self.remaining:.4g} of epsilon {self._state.limit:g} left>"

    def close(self) -> None:
        """Close the device's state, and the connection if it is the client's own."""
        self._state.close()
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    @property
    def remaining(self) -> float:
        """What this device may still give away, rounded down."""
        return self._state.ledger().remaining

    # -- what is asked ----------------------------------------------------------------------------------------------

    @cached_property
    def form(self) -> Form:
        """How the survey is worded."""
        return messages.decode(self._get("/v1/survey", _MOST_FORM), Form, most=_MOST_FORM)

    @cached_property
    def design(self) -> VerifiedDesign:
        """The design, verified."""
        name = self.form.design
        body = self._get(f"/v1/designs/{quote(name, safe='')}", messages.MOST_DESIGN_BYTES)
        return verify(body, name)

    # -- being let in -----------------------------------------------------------------------------------------------

    @property
    def _tickets(self) -> Tickets:
        # Not kept: it refers to this client, and a client is to go as soon as nobody needs it.
        return Tickets(
            self.form.admission,
            self._invitation,
            self._state,
            f"{self.url} {self.form.survey}",  # one address may serve one survey after another
            get=lambda path: self._get(path, messages.MOST_ADMISSION_BYTES),
            post=self._apply,
            expected=self._issuer,
        )

    def enter(self) -> None:
        """Fetch a blind token now, to be used later: what is hours apart is hard to connect."""
        if self.form.admission == "blind":
            self._tickets.signed()

    def _apply(self, path: str, body: bytes) -> bytes:
        if self._own is not None:
            self._own.close()  # requests over one connection are plainly one device's
        answer = persist(lambda: self._transport.request("POST", path, body, most=_MOST_ANSWER))
        if self._own is not None:
            self._own.close()
        if answer.status not in (200, 204):
            self._raise(problem_of(answer))
        return answer.body

    def _identity(self) -> str:
        """The id of the report to come; nothing where it is finished already."""
        known = self._state.drawn(self.design.id)
        return self._tickets.id() if known is None or known.report is None else ""

    # -- the ballot ---------------------------------------------------------------------------------------------------

    def draw(self) -> Ballot:
        """Draw the questions to be shown, once: charged and on disk before this returns; again, the same ones."""
        design, state = self.design, self._state
        with state.transaction():
            known = state.drawn(design.id)
            number = self._draw_and_charge(design) if known is None else known.ballot
        names = tuple(name for question in design.asked(number) for name in question.domain)
        return Ballot(design.id, number, names)

    def _draw_and_charge(self, design: VerifiedDesign) -> int:
        ledger = self._state.ledger()
        dearest = max(self._cost(design, number) for number in range(len(design.ballots)))
        if not ledger.can_afford(dearest):
            raise OverdrawnError(
                f"this survey may cost epsilon {epsilon_of(dearest):.6g}; this device has {ledger.remaining:.6g} of "
                f"{ledger.limit:.6g} left. What is spent does not come back: leave this survey out",
                design=design.id,
                asked=epsilon_of(dearest),
                remaining=ledger.remaining,
                limit=ledger.limit,
            )
        number = int(SECURE.stream().below(len(design.ballots), 1)[0])
        fresh = self._fresh(design, number)
        if fresh:
            self._state.charge(ledger, Asked(design.id, number, self._cost(design, number)))
        else:
            remembered = self._state.recall(design.asked(number)[0].key)
            assert remembered is not None
            self._state.charge(ledger, Replayed(design.id, of=remembered[0]))
        self._state.draw(design.id, number, self.url)
        return number

    def _fresh(self, design: VerifiedDesign, number: int) -> list[VerifiedQuestion]:
        """The questions of a ballot for which a new disguise will be drawn. Decided without any answer."""
        return [
            question
            for question in design.asked(number)
            if not (design.is_static(question) and self._state.recall(question.key))
        ]

    def _cost(self, design: VerifiedDesign, number: int) -> Fraction:
        total = compose(question.ratio for question in self._fresh(design, number))
        assert not isinstance(total, float)  # a verified channel has no zero weight
        return total

    # -- answering --------------------------------------------------------------------------------------------------

    def answer(self, values: Mapping[str, Any], *, send: bool = True) -> Sent:
        """Disguise the answers to the drawn questions and send them.

        Args:
            values: the answers by attribute, public ones included; those not drawn are ignored. A number is put into
                its bin here. None means "prefer not to say", where the survey offers that.
            send: False leaves the report for a later `send`, together with others.

        Raises:
            RefusedDesignError: the served design does not keep its promise. Nothing was drawn.
            OverdrawnError: the device's lifetime limit does not allow it. Nothing was drawn.
            UnreachableError: the report is finished and kept, but not acknowledged: call `send` later.
        """
        codes = self._codes(values)
        identity = self._identity()  # first: whoever is not let in is charged nothing
        ballot = self.draw()
        block = self._block() if identity and self.design.is_adaptive else None
        sides = self._sides() if identity and self.design.is_paired else None
        report = self._finish(ballot, codes, identity, block, sides)
        delivered = False
        if send:
            self.send()
            known = self._state.drawn(ballot.design)
            delivered = known is not None and known.fate == DELIVERED
        return Sent(report, self.design.epsilon, delivered)

    def _codes(self, values: Mapping[str, Any]) -> dict[str, int]:
        """Turn answers into codes, before anything is drawn: a mistyped answer must not cost anything."""
        items = {item.name: item for item in [*self.form.questions, *self.form.public]}
        public = {variable.name: variable for variable in self.design.public}
        codes = {name: v.code(values[name]) for name, v in public.items() if name in values}
        missing = [name for name in public if name not in values]
        if missing:
            raise InputError(f"the survey also asks for the public attributes {missing}", attributes=missing)
        for name, variable in self.design.domain.items():
            item = items.get(name)
            if item is not None and not _is_shown(item, values):
                codes[name] = variable.code(NOT_ASKED)
            elif name in values:
                codes[name] = _code(variable, item, values[name])
        return codes

    def _block(self) -> Block:
        """The open block, checked. Fetched when the answers are known: blocks close."""
        body = self._get(f"/v1/designs/{self.design.id}/block", messages.MOST_DESIGN_BYTES)
        block = Block.parse(body)
        check(block, ServedBlocks(self.design))
        return block

    def _sides(self) -> list[int]:
        """Look for a partner, and agree on the coins with them; alone after the wait that the collector states."""
        seeker = Seeker(self.design)
        asked = messages.encode(messages.Seeking(1, self.design.id, seeker.key))
        deadline = time.monotonic() + _LONGEST_SEARCH
        while True:
            found = messages.decode(self._apply("/v1/partners", asked), messages.Found, most=_MOST_ANSWER)
            if found.partner is not None:
                return seeker.sides(found.partner)
            if not found.wait or time.monotonic() > deadline:
                return seeker.sides(None)
            time.sleep(_PAUSE)

    def follow_blocks(self) -> int:
        """Check that the block this device answered in was shown to everybody: it is part of the published chain.

        Returns:
            How many blocks there are.

        Raises:
            PrivacyError: it is not, or some block does not follow from the one before it.
        """
        rules, last, found = ServedBlocks(self.design), None, 0
        seen = self._state.noted(f"block:{self.design.id}")
        while True:
            page = self._get(f"/v1/designs/{self.design.id}/blocks?after={found - 1}", _MOST_FORM)
            blocks = [Block.parse(bytes(part)) for part in _RAW.decode(page)]
            if not blocks:
                break
            last = check_chain(blocks, rules, last)
            found += len(blocks)
            if seen is not None and any(block.canonical() == seen for block in blocks):
                seen = None
        if seen is not None:
            raise PrivacyError("this device was shown a block that was not published to everybody")
        return found

    def _finish(
        self, ballot: Ballot, codes: Mapping[str, int], identity: str, block: Block | None, sides: list[int] | None
    ) -> Report:
        missing = [name for name in ballot.attributes if name not in codes]
        with self._state.transaction():
            known = self._state.drawn(ballot.design)
            assert known is not None
            if known.report is None:
                if missing:
                    raise InputError(f"this device drew a ballot that also asks for {missing}", attributes=missing)
                body = messages.encode(self._disguise(ballot, codes, identity, block, sides))
                if block is not None:
                    self._state.note(f"block:{ballot.design}", block.canonical())
                self._state.finish(ballot.design, body)
            else:
                body = known.report  # disguised before: the same bytes, whatever the answers are now
        return messages.decode(body, Report, most=messages.MOST_REPORT_BYTES)

    def _disguise(
        self, ballot: Ballot, codes: Mapping[str, int], identity: str, block: Block | None, sides: list[int] | None
    ) -> Report:
        answers = []
        for index in self.design.ballots[ballot.number]:
            question = self.design.questions[index]
            channel = question.channel
            if block is not None:
                channel = Mixture.from_weights(block.keep[index], block.fakes[index], BITS)
            cell = 0
            for variable in question.domain.values():
                cell = cell * len(variable) + codes[variable.name]
            if self.design.is_static(question):
                kept = self._permanent(question, ballot.design, cell)
                answers.append(resend(channel, kept, _draw) if isinstance(channel, TwoLevel) else kept)
            elif sides is not None and question.coins is not None:
                answers.append(question.coins.answer(cell, sides[index]))
            else:
                answers.append(disguise(channel, cell, _draw))
        return Report(
            version=1,
            id=identity,
            design=ballot.design,
            block=None if block is None else block.id,
            ballot=ballot.number,
            answers=tuple(answers),
            public=tuple(codes[variable.name] for variable in self.design.public),
        )

    def _permanent(self, question: VerifiedQuestion, design: str, cell: int) -> int:
        """The disguise that is kept for good: drawn the first time, whatever the answer is later."""
        remembered = self._state.recall(question.key)
        if remembered is not None:
            return remembered[1]
        channel = question.channel
        drawn = disguise(channel.first if isinstance(channel, TwoLevel) else channel, cell, _draw)
        self._state.remember(question.key, design, drawn)
        return drawn

    # -- sending ------------------------------------------------------------------------------------------------------

    def send(self) -> int:
        """Send every finished report that this collector has not acknowledged; returns how many it now has."""
        waiting = self._state.waiting(self.url)
        delivered = 0
        while waiting:
            some, waiting = waiting[: messages.MOST_BATCH], waiting[messages.MOST_BATCH :]
            problems = post(self._transport, [body for _, body in some])
            for (design, _), problem in zip(some, problems, strict=True):
                if problem is None:
                    self._state.settle(design, DELIVERED)
                    delivered += 1
                elif problem.status not in _PASSING:
                    self._state.settle(design, REJECTED)
            refused = [problem for problem in problems if problem is not None]
            if refused:
                self._raise(refused[0])
        return delivered

    def _raise(self, problem: Problem) -> None:
        text = f"{problem.title} {problem.detail}".strip()
        if problem.status in _PASSING:
            raise UnreachableError(f"{self.url} did not take the report now: {text}", url=self.url)
        raise RejectedError(f"{self.url} refused the report: {text}", problem=problem)

    def _get(self, path: str, most: int) -> bytes:
        answer = persist(lambda: self._transport.request("GET", path, most=most))
        if answer.status != 200:
            raise CollectorError(
                f"{self.url}{path} answered {answer.status}: {problem_of(answer).title} Is this a collector's address?",
                url=self.url,
            )
        return answer.body


def post(transport: Transport, bodies: list[bytes]) -> list[Problem | None]:
    """Post finished reports, one alone or several as a batch; None for each that is stored."""
    if len(bodies) == 1:
        answer = persist(lambda: transport.request("POST", "/v1/reports", bodies[0], most=_MOST_ANSWER))
        return [None if answer.status == 204 else problem_of(answer)]
    batch = b"[" + b",".join(bodies) + b"]"
    answer = persist(lambda: transport.request("POST", "/v1/reports", batch, most=_MOST_ANSWER))
    if answer.status != 200:
        return [problem_of(answer)] * len(bodies)
    receipt = messages.decode(answer.body, Receipt, most=_MOST_ANSWER)
    problems: list[Problem | None] = [None] * len(bodies)
    for failure in receipt.failures:
        problems[failure.index] = failure.problem
    return problems


def persist(attempt: Callable[[], Response], attempts: int = _ATTEMPTS) -> Response:
    """Try again while the collector is busy or out of reach: the same bytes, after a growing, random wait."""
    for left in reversed(range(attempts)):
        wait = random.uniform(0.05, 0.2) * 2 ** (attempts - 1 - left)  # noqa: S311 - spreads retries, hides nothing
        try:
            answer = attempt()
        except UnreachableError:
            if not left:
                raise
        else:
            if answer.status not in _PASSING or not left:
                return answer
            wait = max(wait, answer.retry_after or 0.0)
        time.sleep(min(wait, _LONGEST_WAIT))
    raise AssertionError  # the last attempt returns or raises


def problem_of(answer: Response) -> Problem:
    """Read what a collector says went wrong; whatever else stands between may answer in another shape."""
    try:
        return messages.decode(answer.body, Problem, most=_MOST_ANSWER)
    except MessageError:
        return Problem("about:blank", f"The server answered {answer.status}.", answer.status)


def _draw(bits: int) -> int:
    return int(SECURE.stream().words(1, bits)[0])


def _is_shown(item: FormItem, values: Mapping[str, Any]) -> bool:
    return all(values.get(name) in wanted for name, wanted in item.show_if.items())


def _code(variable: Variable, item: FormItem | None, value: Any) -> int:
    if value is None:
        return variable.code(SKIPPED)
    if item is not None and item.bins and isinstance(value, int | float) and not isinstance(value, bool):
        return bisect_right(item.bins, value)
    return variable.code(value)

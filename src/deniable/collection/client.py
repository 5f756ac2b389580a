"""The client that runs on a respondent's device: it trusts nobody, pays before it asks, and disguises once.

    fetch the design -> verify it -> compare the words -> encode all answers -> check the lifetime account
    -> draw a ballot -> charge and write down -> disguise once and write down -> send -> on doubt, the same bytes again

**What leaves in clear is the caller's decision.** A design says which attributes travel in clear, and the caller has to
name each of them (`answer(..., public=[...])`); one that is not named is not sent, and the survey is left out.

**Charge and refusal never depend on an answer.** The account is settled before a question is shown: from the design,
the drawn ballot, and which questions the device has answered for good. A device that cannot afford the dearest ballot
refuses before it draws. All answers are encoded before the draw, whichever ballot it will be: a value that has no code
is refused before anything is charged, and nothing that the collector could see follows from it.

**A static question has one permanent disguise** for each channel, drawn and charged the first time it is asked; under
whatever survey it comes again, the same disguise is sent and nothing is charged. A thousand askings give one report, so
there is nothing to average. It stays the same even if the respondent answers differently later: a changed repetition
would prove the change. A question is remembered by its attributes, their categories, its words in the survey's first
language and its channel: a server that rewords any of these asks another question, and pays for it from the account.

**A set that is sent again would be a name.** So a static question with sets has two levels: the disguise that is kept
is a set, and each report is made of it anew, some of its bits turned over. All of them together tell what the kept set
does, which is what was charged. Without the second level such a question is refused.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self
from urllib.parse import quote

import msgspec

from deniable.channels.mixture import Mixture
from deniable.channels.two_level import TwoLevel
from deniable.collection import messages
from deniable.collection.blocks import ServedBlocks
from deniable.collection.encoding import Coded, codes_of, plain
from deniable.collection.form import read_form
from deniable.collection.messages import Announcement, Form, Problem, Report
from deniable.collection.origins import fingerprint, is_for
from deniable.collection.pairs import Seeker
from deniable.collection.problems import RETRY_AFTER
from deniable.collection.sampler import below, disguise, draw_ballot, resend
from deniable.collection.sending import MOST_ANSWER, persist, post_report, problem_of, settles
from deniable.collection.state import DELIVERED, REJECTED, State
from deniable.collection.ticket import Pass, Tickets
from deniable.collection.transport import Http, Transport
from deniable.collection.verify import VerifiedDesign, VerifiedQuestion, verify
from deniable.designs.blocks.block import Block, check, check_chain
from deniable.designs.blocks.fakes import BITS
from deniable.errors import (
    CollectorError,
    InputError,
    MessageError,
    OverdrawnError,
    PrivacyError,
    RefusedDesignError,
    RejectedError,
    UnreachableError,
)
from deniable.privacy.epsilon import compose, epsilon_of
from deniable.privacy.ledger import Asked, Replayed
from deniable.privacy.statement import Statement, rounded_down, rounded_up
from deniable.randomness import SECURE
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

_LONGEST_SEARCH = 60.0  # seconds for a partner, whatever the collector says
_PAUSE = 0.5  # seconds between two questions for one
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_MOST_PAGE = 1 << 22
_MOST_BLOCKS = 100_000
BLOCKS = "blocks"  # what a caller accepts who answers a survey with blind tokens and blocks


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
        issuer: The hash of the issuer's key, for a survey with blind tokens, as it was published for everybody: a key
            shown to one respondent only would mark them. With it, a survey under any other admission is refused.
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
        return f"<Client of {self.url}: {rounded_down(self.remaining)} of epsilon {self._state.limit:g} left>"

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
    def design(self) -> VerifiedDesign:
        """The design that is served, verified, and meant for this collector's address."""
        body = self._get("/v1/survey", _MOST_PAGE)
        try:
            name = messages.decode(body, Announcement, most=_MOST_PAGE).design
        except MessageError as error:
            raise CollectorError(f"{self.url} does not say which design it serves", url=self.url) from error
        found = verify(self._get(f"/v1/designs/{quote(name, safe='')}", messages.MOST_DESIGN_BYTES), name)
        if not is_for(found.terms.audience, self.url):
            raise RefusedDesignError(
                f"this design is refused (not-for-here): it was made for {listed(found.terms.audience)}, and "
                f"{self.url} shows it. Go to the survey's own address",
                code="not-for-here",
            )
        if self._issuer is not None and found.terms.issuer != self._issuer:
            raise PrivacyError(
                f"the survey's admission is {found.terms.admission!r} with the issuer's key {found.terms.issuer}, not "
                f"the {self._issuer} you expect. It is left out",
                design=name,
            )
        return found

    @cached_property
    def form(self) -> Form:
        """How the survey is worded; the words are those that the design names."""
        path = f"/v1/forms/{self.design.terms.texts}"
        return read_form(self._get(path, messages.MOST_FORM_BYTES), self.design)

    def describe(self) -> Statement:
        """Say what a whole report may tell, what travels in clear, and how to compare the design with others'."""
        design, terms = self.design, self.design.terms
        clear = f"In clear, outside epsilon: {listed(v.name for v in design.public)}." if design.public else None
        issuer = f"; the issuer's key {fingerprint(terms.issuer)}" if terms.issuer else ""
        place = f" It is published at {terms.published}." if terms.published else ""
        notes = (
            clear or "Nothing travels in clear.",
            f"Admission: {terms.admission}. Reports may go to {listed(terms.audience)}.",
            f"Design {fingerprint(design.id)}{issuer}: the same for everybody, or somebody is being told apart.{place}",
        )
        return Statement(design.ratio, notes)

    # -- being let in -----------------------------------------------------------------------------------------------

    @property
    def _tickets(self) -> Tickets:
        # Not kept: it refers to this client, and a client is to go as soon as nobody needs it.
        return Tickets(
            self.design,
            self._invitation,
            self._state,
            get=lambda path: self._get(path, messages.MOST_ADMISSION_BYTES),
            post=self._apply,
        )

    def enter(self) -> None:
        """Fetch a blind token now, to be used later: what is hours apart is hard to connect."""
        if self.design.terms.admission == "blind":
            self._tickets.signed()

    def _apply(self, path: str, body: bytes) -> bytes:
        self._hang_up()  # requests over one connection are plainly one device's
        answer = persist(lambda: self._transport.request("POST", path, body, most=MOST_ANSWER))
        self._hang_up()
        if answer.status != 200:
            problem = problem_of(answer)
            if problem is None:
                raise UnreachableError(
                    f"something that is not a collector answered at {self.url}, with status {answer.status}",
                    url=self.url,
                )
            self._raise(problem)
        return answer.body

    def _hang_up(self) -> None:
        if self._own is not None:
            self._own.close()

    def _admitted(self) -> Pass | None:
        """What lets the report in that is to come; nothing where it is finished already."""
        known = self._state.drawn(self.design.plan_id)
        return self._tickets.admitted() if known is None or known.report is None else None

    # -- the ballot ---------------------------------------------------------------------------------------------------

    def draw(self) -> Ballot:
        """Draw the questions to be shown, once: charged and on disk before this returns; again, the same ones."""
        design, state = self.design, self._state
        _ = self.form  # fetched before the state is locked: a collector must not hold it
        with state.transaction():
            known = state.drawn(design.plan_id)
            if known is not None and known.report is not None and known.design != design.id:
                raise RefusedDesignError(
                    "this device has answered this survey (answered): only its words were corrected since, and a "
                    "second answer would be about the same",
                    code="answered",
                )
            number = self._draw_and_charge(design) if known is None else known.ballot
            if known is not None and known.report is None and known.design != design.id:
                self._go_on(design, number)
        names = tuple(name for question in design.asked(number) for name in question.domain)
        return Ballot(design.id, number, names)

    def _draw_and_charge(self, design: VerifiedDesign) -> int:
        ledger = self._state.ledger()
        dearest = max(self._cost(design, number) for number in range(len(design.ballots)))
        if not ledger.can_afford(dearest):
            raise self._overdrawn(dearest)
        number = draw_ballot(design.terms.weights or (1,) * len(design.ballots), _draw)
        fresh = self._fresh(design, number)
        if fresh:
            self._state.charge(ledger, Asked(design.plan_id, number, self._cost(design, number)))
            self._state.paid(design.plan_id, design.plan_id)
        else:
            remembered = self._recall(design.asked(number)[0])
            assert remembered is not None
            self._state.charge(ledger, Replayed(design.plan_id, of=remembered[0]))
        self._state.draw(design.plan_id, design.id, number, self.url)
        return number

    def _overdrawn(self, cost: Fraction) -> OverdrawnError:
        ledger = self._state.ledger()
        return OverdrawnError(
            f"this survey may cost epsilon {rounded_up(epsilon_of(cost))}; this device has "
            f"{rounded_down(ledger.remaining)} of {ledger.limit:.6g} left. What is spent does not come back: leave "
            f"this survey out",
            design=self.design.id,
            asked=epsilon_of(cost),
            remaining=ledger.remaining,
            limit=ledger.limit,
        )

    def _go_on(self, design: VerifiedDesign, number: int) -> None:
        """Answer corrected words: what they make a new question of, and was not paid for, is charged now."""
        ledger, paid = self._state.ledger(), self._state.payments(design.plan_id)
        spent = compose(event.ratio for event in ledger.events if isinstance(event, Asked) and event.design in paid)
        left = self._cost(design, number) / Fraction(spent)
        if left > 1:
            if not ledger.can_afford(left):
                raise self._overdrawn(left)
            # A name of its own: the same words may come again after others.
            name = messages.design_id(messages.encode([design.plan_id, len(paid)]))
            self._state.charge(ledger, Asked(name, number, left))
            self._state.paid(design.plan_id, name)
        self._state.redraw(design.plan_id, design.id)

    def _fresh(self, design: VerifiedDesign, number: int) -> list[VerifiedQuestion]:
        """The questions of a ballot for which a new disguise will be drawn. Decided without any answer."""
        return [
            question for question in design.asked(number) if not (design.is_static(question) and self._recall(question))
        ]

    def _cost(self, design: VerifiedDesign, number: int) -> Fraction:
        total = compose(question.ratio for question in self._fresh(design, number))
        assert not isinstance(total, float)  # a verified channel has no zero weight
        return total

    def _key(self, question: VerifiedQuestion) -> str:
        """What a static question is remembered by: its words in the survey's first language are part of it."""
        words = {item.name: item.text[self.form.languages[0]] for item in self.form.questions}
        return question.key([words[name] for name in question.domain])

    def _recall(self, question: VerifiedQuestion) -> tuple[str, int] | None:
        # What was drawn before words were part of the key is looked up second: a second draw would be averaging.
        return self._state.recall(self._key(question)) or self._state.recall(question.first_key)

    # -- answering --------------------------------------------------------------------------------------------------

    def answer(
        self,
        values: Mapping[str, Any],
        *,
        public: Collection[str] = (),
        design: str | None = None,
        epsilon: float | None = None,
        accept: Collection[str] = (),
        send: bool = True,
    ) -> Sent:
        """Disguise the answers to the drawn questions and send them.

        Args:
            values: the answers to all questions by attribute, public ones included. A number is put into its bin
                here. None means "prefer not to say", where the survey offers that.
            public: the attributes that may travel in clear. A survey that wants others is refused.
            design: the hash of the design, as it was published for everybody; another one is refused.
            epsilon: the most that this survey's whole report may tell; one that may tell more is refused.
            accept: "blocks" for a survey with blind tokens whose fakes are published block by block. Whoever shows
                you a block of your own could recognise your report by it; the chain is compared before you answer.
            send: False leaves the report for a later `send`.

        Raises:
            RefusedDesignError: the served design does not keep its promise. Nothing was drawn.
            PrivacyError: it wants something in clear that was not named, is not the pinned one, or may tell more than
                `epsilon`. Nothing was drawn.
            OverdrawnError: the device's lifetime limit does not allow it. Nothing was drawn.
            InputError: an answer is missing, or can never be one: nothing was drawn. Or it is not among the design's
                categories: with `design` pinned nothing was drawn; else one drawn evenly took its place (`sent`).
            UnreachableError: the report is finished and kept, but not acknowledged: call `send` later.
        """
        for name, value in values.items():
            plain(name, value)  # what can never be an answer is refused before anybody hears of it
        self._agree(public, design, epsilon, accept)
        strange: list[InputError] = []
        codes = self._codes(values, strange, pinned=design is not None)
        admitted = self._admitted()  # first: whoever is not let in is charged nothing
        block = self._block() if admitted is not None and self.design.is_adaptive else None
        ballot = self.draw()
        sides = self._sides() if admitted is not None and self.design.is_paired else None
        report = self._finish(ballot, codes, admitted, block, sides)
        delivered = False
        if send:
            self._send(self.design.plan_id)
            known = self._state.drawn(self.design.plan_id)
            delivered = known is not None and known.fate == DELIVERED
        if strange and admitted is not None:
            raise InputError(
                f"{strange[0].message}. Silence would have told that, to a collector that chose the categories. So "
                f"an answer drawn evenly was disguised in its place, and paid for. To have such an answer refused "
                f"before anything is drawn, pin the design: design={self.design.id!r}",
                attribute=strange[0].details["attribute"],
                sent=Sent(report, self.design.epsilon, delivered),
            )
        return Sent(report, self.design.epsilon, delivered)

    def _codes(self, values: Mapping[str, Any], strange: list[InputError], *, pinned: bool) -> dict[str, int]:
        """The codes of all answers; one that has none is noted, and becomes one that is drawn evenly."""

        def drawn(asked: Coded, error: InputError) -> int:
            strange.append(error)
            return asked.offered[below(len(asked.offered), _draw)]

        return codes_of(self.design.asked_coded, self.design.public_coded, values, None if pinned else drawn)

    @property
    def _needs_chain(self) -> bool:
        """Whether a block of one's own would undo what a blind token hides."""
        return self.design.is_adaptive and self.design.terms.admission == "blind"

    def _agree(
        self, public: Collection[str], design: str | None, epsilon: float | None, accept: Collection[str]
    ) -> None:
        """Check everything that is served, and compare it with what the caller agrees to."""
        found = self.design
        _ = self.form  # the words are checked also where nothing depends on them: somebody is shown them elsewhere
        if design is not None and found.id != design:
            raise PrivacyError(
                f"the collector serves the design {found.id}, not the {design} you expect", design=found.id
            )
        if epsilon is not None and found.epsilon > epsilon:
            raise PrivacyError(
                f"a whole report of this survey may tell epsilon {rounded_up(found.epsilon)}, more than the "
                f"{epsilon:g} you allow",
                epsilon=found.epsilon,
            )
        named = [public] if isinstance(public, str) else list(public)
        unnamed = [variable.name for variable in found.public if variable.name not in named]
        if unnamed:
            raise PrivacyError(
                f"this survey wants {listed(unnamed)} in clear, not disguised. If you agree, say "
                f"public={[variable.name for variable in found.public]}; else leave it out. Nothing was sent",
                attributes=unnamed,
            )
        if self._needs_chain and BLOCKS not in accept:
            raise PrivacyError(
                "this survey has blind tokens, and its fakes are published block by block. Whoever shows a block to "
                "you alone can recognise your report by it. The device compares the whole chain first; what a "
                'chain made for you alone would tell it cannot see. If you agree, say accept=["blocks"]',
                design=found.id,
            )

    def _block(self) -> Block:
        """The open block, checked."""
        body = self._get(f"/v1/designs/{self.design.id}/block", messages.MOST_DESIGN_BYTES)
        block = Block.parse(body)
        check(block, ServedBlocks(self.design))
        if self._needs_chain:
            self.follow_blocks(block)
        return block

    def _sides(self) -> list[int]:
        """Look for a partner, and agree on the coins with them; alone after the wait that the collector states."""
        seeker = Seeker(self.design)
        asked = messages.encode(messages.Seeking(1, self.design.id, seeker.key))
        deadline = time.monotonic() + _LONGEST_SEARCH
        while True:
            found = messages.decode(self._apply("/v1/partners", asked), messages.Found, most=MOST_ANSWER)
            if found.partner is not None:
                return seeker.sides(found.partner)
            if not found.wait or time.monotonic() > deadline:
                return seeker.sides(None)
            time.sleep(_PAUSE)

    def follow_blocks(self, shown: Block | None = None) -> int:
        """Check that the block this device was shown was shown to everybody: it is part of the published chain.

        Args:
            shown: the block; by default the one that this device answered in.

        Returns:
            How many blocks there are.

        Raises:
            PrivacyError: it is not, or some block does not follow from the one before it.
        """
        rules, last, found = ServedBlocks(self.design), None, 0
        seen = self._state.noted(f"block:{self.design.plan_id}") if shown is None else shown.canonical()
        while blocks := self._chain(found - 1):
            last = check_chain(blocks, rules, last)
            found += len(blocks)
            if seen is not None and any(block.canonical() == seen for block in blocks):
                seen = None
            if found > _MOST_BLOCKS:
                raise PrivacyError(f"the collector shows more than {_MOST_BLOCKS} blocks")
        if seen is not None:
            raise PrivacyError("this device was shown a block that was not published to everybody")
        return found

    def _chain(self, after: int) -> list[Block]:
        page = self._get(f"/v1/designs/{self.design.id}/blocks?after={after}", _MOST_PAGE)
        try:
            parts = _RAW.decode(page)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CollectorError(f"{self.url} answered with something else than blocks", url=self.url) from error
        return [Block.parse(bytes(part)) for part in parts]

    def _finish(
        self,
        ballot: Ballot,
        codes: Mapping[str, int],
        admitted: Pass | None,
        block: Block | None,
        sides: list[int] | None,
    ) -> Report:
        plan = self.design.plan_id
        with self._state.transaction():
            known = self._state.drawn(plan)
            assert known is not None
            if known.report is None:
                assert admitted is not None
                body = messages.encode(self._disguise(ballot, codes, admitted, block, sides))
                if block is not None:
                    self._state.note(f"block:{plan}", block.canonical())
                self._state.finish(plan, ballot.design, body)
            else:
                body = known.report  # disguised before: the same bytes, whatever the answers are now
        return messages.decode(body, Report, most=messages.MOST_REPORT_BYTES)

    def _disguise(
        self,
        ballot: Ballot,
        codes: Mapping[str, int],
        admitted: Pass,
        block: Block | None,
        sides: list[int] | None,
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
                kept = self._permanent(question, cell)
                answers.append(resend(channel, kept, _draw) if isinstance(channel, TwoLevel) else kept)
            elif sides is not None and question.coins is not None:
                answers.append(question.coins.answer(cell, sides[index]))
            else:
                answers.append(disguise(channel, cell, _draw))
        return Report(
            version=2,
            id=admitted.id,
            design=ballot.design,
            block=None if block is None else block.id,
            ballot=ballot.number,
            answers=tuple(answers),
            public=tuple(codes[variable.name] for variable in self.design.public),
            token=admitted.token,
            signature=admitted.signature,
        )

    def _permanent(self, question: VerifiedQuestion, cell: int) -> int:
        """The disguise that is kept for good: drawn the first time, whatever the answer is later."""
        remembered = self._recall(question)
        if remembered is not None:
            return remembered[1]
        channel = question.channel
        drawn = disguise(channel.first if isinstance(channel, TwoLevel) else channel, cell, _draw)
        # What is replayed later refers to what was paid for it.
        self._state.remember(self._key(question), self._state.payments(self.design.plan_id)[-1], drawn)
        return drawn

    # -- sending ------------------------------------------------------------------------------------------------------

    def send(self) -> int:
        """Send every finished report that this collector has not acknowledged; returns how many it now has.

        Each goes by itself, over a connection of its own: several in one request would be plainly one device's. They
        still arrive together; `answer` sends its own report only.
        """
        return self._send(None)

    def _send(self, only: str | None) -> int:
        delivered, wrong = 0, list[Problem | UnreachableError]()
        for plan, body in self._state.waiting(self.url):
            if only not in (None, plan):
                continue
            self._hang_up()
            try:
                problem = self._post(body)
            except UnreachableError as error:  # one that is never taken must not keep the others
                wrong.append(error)
                continue
            if problem is None:
                self._state.settle(plan, DELIVERED)
                delivered += 1
                continue
            if settles(problem):
                self._state.settle(plan, REJECTED)
            wrong.append(problem)
        self._hang_up()
        for first in wrong[:1]:
            if isinstance(first, UnreachableError):
                raise first
            self._raise(first)
        return delivered

    def _post(self, body: bytes) -> Problem | None:
        try:
            return post_report(self._transport, body)
        except UnreachableError as error:
            raise UnreachableError(f"{self.url} did not take the report now: {error.message}", url=self.url) from error

    def _raise(self, problem: Problem) -> NoReturn:
        if problem.code in RETRY_AFTER:
            raise UnreachableError(f"{self.url} did not take the report now: {problem.title}", url=self.url)
        raise RejectedError(f"{self.url} refused the report: {problem.title}", problem=problem)

    def _get(self, path: str, most: int) -> bytes:
        answer = persist(lambda: self._transport.request("GET", path, most=most))
        if answer.status != 200:
            raise CollectorError(
                f"{self.url}{path} answered {answer.status}. Is this a collector's address?", url=self.url
            )
        return answer.body


def _draw(bits: int) -> int:
    return int(SECURE.stream().words(1, bits)[0])

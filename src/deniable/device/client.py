"""The client that runs on a respondent's device: it trusts nobody, pays before it asks, and disguises once.

    fetch the design -> verify it -> compare the words -> encode all answers -> check the lifetime account
    -> draw a ballot -> charge and write down -> disguise once and write down -> send -> on doubt, the same bytes again

**What leaves in clear is the caller's decision.** A design says which attributes travel in clear, and the caller has to
name each of them (`answer(..., public=[...])`); one that is not named is not sent, and the survey is left out.

**Charge and refusal never depend on an answer** (`account`). All answers are encoded before the draw, whichever ballot
it will be: a value that has no code is refused before anything is charged, and nothing that the collector could see
follows from it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from deniable.device.account import Account
from deniable.device.consent import agree
from deniable.device.device_state import DELIVERED, REJECTED, State
from deniable.device.origins import fingerprint, is_for
from deniable.device.panel import panel_sentence
from deniable.device.privacy_statement import Statement, both_numbers, rounded_down, told_in_part
from deniable.device.protocol import messages
from deniable.device.protocol.admission_token import Pass, Tickets
from deniable.device.protocol.answer_encoding import Coded, codes_of, plain, read_answers
from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.collector_connection import Line, settles
from deniable.device.protocol.exchange import Context
from deniable.device.protocol.fake_blocks import MOST_PAGE, follow
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import Announcement, Form, Problem, Report
from deniable.device.protocol.word_corrections import corrections_of, said_of
from deniable.device.random_draws import below, draw
from deniable.device.verify import verify
from deniable.errors import CollectorError, InputError, MessageError, PrivacyError, RefusedDesignError, UnreachableError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from deniable.device.protocol.fake_blocks import Block
    from deniable.device.protocol.http_transport import Transport
    from deniable.device.verified_design import VerifiedDesign


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
        self._line = Line(url, transport)
        self.url = self._line.url
        self._state = State(state, limit)
        self._invitation, self._issuer = invitation, issuer

    def __repr__(self) -> str:
        return f"<Client of {self.url}: {rounded_down(self.remaining)} of epsilon {self._state.limit:g} left>"

    def close(self) -> None:
        """Close the device's state, and the connection if it is the client's own."""
        self._state.close()
        self._line.hang_up()

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
        body = self._line.get("/v1/survey", MOST_PAGE)
        try:
            name = decode(body, Announcement, most=MOST_PAGE).design
        except MessageError as error:
            raise CollectorError(f"{self.url} does not say which design it serves", url=self.url) from error
        found = verify(self._line.get(f"/v1/designs/{quote(name, safe='')}", messages.MOST_DESIGN_BYTES), name)
        if not is_for(found.message.audience, self.url):
            raise RefusedDesignError(
                f"this design is refused (not-for-here): it was made for {listed(found.message.audience)}, and "
                f"{self.url} shows it. Go to the survey's own address",
                code="not-for-here",
            )
        asked = found.message
        if self._issuer is not None and asked.issuer != self._issuer:
            raise PrivacyError(
                f"the survey's admission is {asked.admission!r} with the issuer's key {asked.issuer}, not "
                f"the {self._issuer} you expect. It is left out",
                design=name,
            )
        return found

    @cached_property
    def form(self) -> Form:
        """How the survey is worded; the words are those that the design names."""
        path = f"/v1/forms/{self.design.message.texts}"
        return read_form(self._line.get(path, messages.MOST_FORM_BYTES), self.design)

    def describe(self) -> Statement:
        """Say what a whole report may tell, what travels in clear, and how to compare the design with others'."""
        design, terms, found = self.design, self.design.message, self.design.found_again
        clear = f"In clear, outside epsilon: {listed(v.name for v in design.public)}." if design.public else None
        issuer = f"; the issuer's key {fingerprint(terms.issuer)}" if terms.issuer else ""
        place = f" It is published at {terms.published}." if terms.published else ""
        notes = (
            *(
                told_in_part(question.name, question.channel.truths, question.channel.sums)
                for question in design.questions
                if (question.channel.sums or 0) < question.channel.truths - 1
            ),
            clear or "Nothing travels in clear.",
            *(said_of(each) for each in corrections_of(self.form)),
            *([] if terms.panel is None or found is None else [panel_sentence(terms.panel, found)]),
            f"Admission: {terms.admission}. Reports may go to {listed(terms.audience)}.",
            f"Design {fingerprint(design.id)}{issuer}: the same for everybody, or somebody is being told apart.{place}",
        )
        both = () if design.claim is None else (both_numbers(design.claim, design.ratio),)
        return Statement(design.ratio, (*both, *notes))

    # -- being let in -----------------------------------------------------------------------------------------------

    @property
    def _tickets(self) -> Tickets:
        # Not kept: it refers to this client, and a client is to go as soon as nobody needs it.
        return Tickets(
            self.design,
            self._invitation,
            self._state,
            get=lambda path: self._line.get(path, messages.MOST_ADMISSION_BYTES),
            post=self._line.apply,
        )

    def enter(self) -> None:
        """Fetch a blind token now, to be used later: what is hours apart is hard to connect."""
        if self.design.message.admission == "blind":
            self._tickets.signed()

    def _admitted(self) -> Pass | None:
        """What lets the report in that is to come; nothing where it is finished already."""
        known = self._state.drawn(self.design.plan_id)
        return self._tickets.admitted() if known is None or known.report is None else None

    # -- the ballot ---------------------------------------------------------------------------------------------------

    def draw(self) -> Ballot:
        """Draw the questions to be shown, once: charged and on disk before this returns; again, the same ones."""
        account = self._account  # its words are fetched before the state is locked: a collector must not hold it
        with self._state.transaction():
            number = account.drawn()
        names = tuple(name for question in self.design.asked(number) for name in question.domain)
        return Ballot(self.design.id, number, names)

    @property
    def _account(self) -> Account:
        return Account(self._state, self.design, self.form, self.url)

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
            values: the answers to all questions by attribute, public ones included: a category, or the text that
                respondents read for it; True and False for yes and no; a number, which is put into its bin here. None
                means "prefer not to say", where the survey offers that.
            public: the attributes that may travel in clear. A survey that wants others is refused.
            design: the hash of the design, as it was published for everybody; another one is refused.
            epsilon: the most that this survey's whole report may tell; one that may tell more is refused.
            accept: "panel" for a wave of a panel, by which people can be found again as often as `describe` says.
                "deniability" for a survey that claims a smaller epsilon than its reports may tell, as `describe`
                says. "blocks" for a survey with blind tokens whose fakes are published block by block. Whoever shows
                you a block of your own could recognise your report by it; the chain is compared before you answer.
            send: False leaves the report for a later `send`.

        Raises:
            RefusedDesignError: the served design does not keep its promise. Nothing was drawn.
            PrivacyError: it wants something in clear that was not named, is not the pinned one, or may tell more than
                `epsilon`. Nothing was drawn.
            OverdrawnError: the device's lifetime limit does not allow it. Nothing was drawn.
            InputError: an answer is missing, can never be one, is of a type that no answer to its question has, or is
                about nothing that is asked: nothing was drawn. Or it is not among the design's categories: with
                `design` pinned nothing was drawn; else one drawn evenly took its place (`sent`).
            UnreachableError: the report is finished and kept, but not acknowledged: call `send` later.
        """
        for name, value in values.items():
            plain(name, value)  # what can never be an answer is refused before anybody hears of it
        form = self.form  # the words are checked also where nothing depends on them: somebody is shown them elsewhere
        agree(self.design, public, design, epsilon, accept)
        strange: list[InputError] = []
        codes = self._codes(read_answers(self.design, form, values), strange, pinned=design is not None)
        admitted = self._admitted()  # first: whoever is not let in is charged nothing
        context = Context() if admitted is None else self._before()
        ballot = self.draw()
        while (pause := context.settle()) is not None:
            time.sleep(pause)
        report = self._finish(ballot, codes, admitted, context)
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
            return asked.offered[below(len(asked.offered), draw)]

        return codes_of(self.design.asked_coded, self.design.public_coded, values, None if pinned else drawn)

    def _before(self) -> Context:
        """What answers are disguised in, beside their channels."""
        return self.design.exchange.before(self._line, self.design)

    def follow_blocks(self, shown: Block | None = None) -> int:
        """Check that the block this device was shown was shown to everybody: it is part of the published chain.

        Args:
            shown: the block; by default the one that this device answered in.

        Returns:
            How many blocks there are.

        Raises:
            PrivacyError: it is not, or some block does not follow from the one before it.
        """
        seen = self._state.noted(f"block:{self.design.plan_id}") if shown is None else shown.canonical()
        return follow(self._line, self.design, seen)

    def _finish(self, ballot: Ballot, codes: Mapping[str, int], admitted: Pass | None, context: Context) -> Report:
        plan = self.design.plan_id
        with self._state.transaction():
            known = self._state.drawn(plan)
            assert known is not None
            if known.report is None:
                assert admitted is not None
                body = encode(self._disguise(ballot, codes, admitted, context))
                if context.kept is not None:
                    self._state.note(f"block:{plan}", context.kept)
                self._state.finish(plan, ballot.design, body)
            else:
                body = known.report  # disguised before: the same bytes, whatever the answers are now
        return decode(body, Report, most=messages.MOST_REPORT_BYTES)

    def _disguise(self, ballot: Ballot, codes: Mapping[str, int], admitted: Pass, context: Context) -> Report:
        account, answers = self._account, []
        for index in self.design.ballots[ballot.number]:
            question = self.design.questions[index]
            channel, cell = question.channel, question.cell(codes)
            if question.is_repeated:
                answers.append(channel.resend(account.kept(question, cell), draw))
            else:
                answers.append(context.answer(index, channel, cell, draw))
        return Report(
            version=2,
            id=admitted.id,
            design=ballot.design,
            block=context.block,
            ballot=ballot.number,
            answers=tuple(answers),
            public=tuple(codes[variable.name] for variable in self.design.public),
            token=admitted.token,
            signature=admitted.signature,
        )

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
            try:
                problem = self._line.post(body)
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
        self._line.hang_up()
        for first in wrong[:1]:
            if isinstance(first, UnreachableError):
                raise first
            self._line.refused(first)
        return delivered

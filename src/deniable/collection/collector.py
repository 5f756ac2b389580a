"""Collector: takes reports in, says what became of each, and keeps count of what it turned away.

It knows nothing of HTTP, and nothing of who sent a report: there is no parameter through which it could be told.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from deniable.collection.admission import Entrance
from deniable.collection.first_words import FirstWords
from deniable.collection.group_commit import MOST_WAITING, Writer
from deniable.collection.invitations import admission_id
from deniable.collection.rejection_counts import Rejections
from deniable.collection.report_cells import Acceptor
from deniable.collection.session import Session, session_of
from deniable.collection.shown_state import Shown
from deniable.collection.simulated_marks import mark
from deniable.collection.survey_lifecycle import Closing, Ends, Opening
from deniable.collection.survey_messages import (
    LOOPBACK,
    announcement,
    current_design,
    keep_aims,
    verified_design,
    words_mark,
)
from deniable.collection.worker_threads import Work
from deniable.designs.extension import extension_of
from deniable.device.origins import fingerprint
from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol import messages
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import (
    MOST_ADMISSION_BYTES,
    MOST_BATCH,
    MOST_BATCH_BYTES,
    MOST_REPORT_BYTES,
    Application,
    Failure,
    Problem,
    Receipt,
    Report,
)
from deniable.device.protocol.problem_details import problem, read
from deniable.device.protocol.word_corrections import corrections_of
from deniable.errors import BusyError, InputError, StoreError, StoreFullError
from deniable.storage.store import Fate, Row, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from deniable.collection.admission import Door
    from deniable.collection.token_issuer import Issuing
    from deniable.device.protocol.messages import Correction, Signed
    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Readable, Store
    from deniable.surveys.survey import Survey


_SMALL = 64 << 10  # bytes of a batch that is read at once; a larger one would hold up the event loop
_BATCH = msgspec.json.Decoder(list[Report])
_RAW_BATCH = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True)
class _Served:
    number: int
    body: bytes
    verified: VerifiedDesign
    session: Session
    acceptor: Acceptor
    door: Door
    other: str | None  # the name of the survey it is of, if that is another one


class Collector:
    """One survey, one store."""

    def __init__(
        self,
        survey: Survey,
        store: Store,
        *,
        origins: Sequence[str] = LOOPBACK,
        most_waiting: int = MOST_WAITING,
        folder: Path | None = None,
        issuer: Issuing | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        correct: str | None = None,
    ) -> None:
        """Register the survey's design with the store; reports to designs served earlier are still taken.

        `correct` says why words are corrected that people have answered under; without it, they may not change.

        `origins` are the addresses at which respondents reach this collector: devices refuse the design elsewhere.
        Blind tokens are issued from a file in `folder` (that of the store, if it has one), or by an `issuer` elsewhere.

        Raises:
            InputError: another server serves it already that must be the only one; or people have answered it, and its
                file says something else than they read (see `amendments`).
        """
        self.survey, self.store, self.origins = survey, store, tuple(origins)
        extension = extension_of(survey.design.kind)
        if extension.alone and not store.claim():
            raise InputError(
                f"another server serves this survey already, and one {extension.named} can have only one: "
                f"{extension.alone}. Stop the other one first"
            )
        self.entrance = Entrance(survey, store, folder, issuer)
        is_over = self.entrance.is_ended or (survey.closes is not None and survey.closes <= now())
        body, words = current_design(survey, store, self.origins, self.entrance.issuer_id, correct, is_over=is_over)
        self.design_id = messages.design_id(body)
        store.save(words_mark(messages.design_id(words)), words)  # first: no design is known without its words
        self.number = store.register(self.design_id, body)
        self.sessions: dict[str, Session] = {}  # by the name of each design; those of one plan share theirs
        self._plans: dict[str, Session] = {}
        self._ends = Ends(store, now)
        self._served = {name: self._serve(name, *known) for name, known in store.designs().items()}
        self.plan_id = self._served[self.design_id].verified.plan_id
        keep_aims(store, self.plan_id, survey)
        self._refuse_other_words()
        self._first = FirstWords(store, [each.verified for each in self._served.values()], self.design_id)
        self._forms = store.saved_under(words_mark(""))  # of designs served earlier too: whoever began goes on
        self.announcement = wire.encode(announcement(survey, self.design_id))
        self.writer = Writer(store, most_waiting)
        self.rejections = Rejections(store)
        self._shown = Shown(store)
        self._work = Work()
        self.opening = Opening(survey, store, self.entrance.id, now, self._ends)
        self._closing = Closing(self._is_over, self._finish)

    def _refuse_other_words(self) -> None:
        """Refuse to show other words than a server beside this one does."""
        other = self.store.show(self.plan_id, self.design_id)
        if other is not None:
            raise InputError(
                f"another server shows this survey under other words, as design {fingerprint(other)}, from "
                f"{self.store.place}: reports to both would be counted together. Stop that one first"
            )

    @property
    def session(self) -> Session:
        """What goes on beside the reports to the design that is served."""
        return self.sessions[self.design_id]

    def _serve(self, name: str, number: int, body: bytes) -> _Served:
        verified = verified_design(body, name)
        if verified.plan_id not in self._plans:
            self._plans[verified.plan_id] = session_of(self.store, verified)
        session = self.sessions[name] = self._plans[verified.plan_id]
        session.join(name, number)
        survey = admission_id(body)
        other = None if survey == self.entrance.id else survey
        if other is not None:
            self._ends.follow(other)
        return _Served(number, body, verified, session, Acceptor(verified, session), self.entrance.door(body), other)

    def design(self, name: str) -> bytes | None:
        """The bytes of a design served here, now or earlier."""
        served = self._served.get(name)
        return None if served is None else served.body

    def form(self, name: str) -> bytes | None:
        """The words of the survey, by their hash; those that were corrected as well."""
        return self._forms.get(words_mark(name))

    @property
    def amendments(self) -> list[str]:
        """The designs that ask the same under other words, oldest first; the one that is served is among them."""
        return [name for name, served in self._served.items() if served.verified.plan_id == self.plan_id]

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """What was corrected in the words since people answered, the first correction first."""
        served = self._served[self.design_id].verified
        words = self.form(served.message.texts)
        assert words is not None  # they were saved before the design was
        return corrections_of(read_form(words, served))

    @property
    def numbers(self) -> list[int]:
        """Their numbers in the store."""
        return [self._served[name].number for name in self.amendments]

    @property
    def is_open(self) -> bool:
        """Whether reports are taken now, as far as this worker knows. Never waits for the store."""
        return self.opening.is_open

    @property
    def shown(self) -> Readable:
        """What of the store may be looked at: while the survey runs, what is shown; then everything. Never waits."""
        return self.store if self.opening.is_settled else self._shown

    def turned_away(self) -> dict[str, int]:
        """What was turned away, by reason, as it is shown. Waits for the store."""
        return self.rejections.shown(self.opening.end_name)

    def end(self) -> None:
        """Take no more reports, for good, whatever the survey file says. Waits for the store."""
        self.entrance.end()
        self.opening.end()
        self._closing.now()

    def tend(self) -> None:
        """Begin what goes on beside the requests: sealing reports, and watching for the end of the survey."""
        self.store.tend()
        self._closing.start()

    def _is_over(self) -> bool:
        self.opening.look()
        return self.opening.is_over

    def _finish(self) -> None:
        """Leave nothing behind that tells who took part; of a survey that nobody could answer yet, everything."""
        numbers = self.numbers
        if self.opening.is_ended or any(map(self.store.total, numbers)) or self.entrance.has_been_used:
            if self.entrance.issuer is not None:
                self.entrance.end()  # without the issuer's secret nobody is let in again, whatever becomes of the date
            self.store.compact(numbers)

    def close(self) -> None:
        """Close the store; of a survey that has ended, write it anew, so that nothing of its history is left."""
        self._closing.stop()
        self._work.close()
        self.rejections.close()
        for session in self._plans.values():
            session.close()
        try:
            self.opening.mark()
            if self.opening.is_over:
                self._finish()
        finally:  # a store that fails is closed all the same
            try:
                self.entrance.close()
            finally:
                self.store.close()

    async def receive(self, body: bytes, *, made_up: bool = False) -> Problem | Receipt | None:
        """Take one report (None: it is stored; else the problem) or a batch (a receipt; a problem for all of it).

        Those whose sender says that they are `made_up` are marked for good.
        """
        try:
            if not await self.opening.looked():
                return self._turn_away(problem("closed"))
        except StoreError:
            return self._turn_away(problem("unavailable"))
        take = self._batch if body.lstrip(b" \t\r\n")[:1] == b"[" else self._one
        return await take(body, made_up=made_up)

    async def _one(self, body: bytes, *, made_up: bool) -> Problem | None:
        report = read(body, Report, most=MOST_REPORT_BYTES)
        if isinstance(report, Problem):
            return self._turn_away(report)
        try:
            row = self._row(report) if self._is_told_at_once(report) else await self._asked(report, len(body))
        except BusyError:
            return self._turn_away(problem("busy"))
        if isinstance(row, Problem):
            return self._turn_away(row)
        fates = await self._store([row], made_up=made_up)
        if isinstance(fates, Problem):
            return self._turn_away(fates)
        return None if fates[0] is not Fate.CONFLICT else self._turn_away(problem("conflict"))

    async def _batch(self, body: bytes, *, made_up: bool) -> Problem | Receipt:
        try:
            with self._work.on(len(body)):
                found = await self._found(body)
        except BusyError:
            found = problem("busy")
        if isinstance(found, Problem):
            return self._turn_away(found)
        rows = [row for row in found if isinstance(row, Row)]
        fates = await self._store(rows, made_up=made_up) if rows else []
        if isinstance(fates, Problem):
            return self._turn_away(fates)
        each = iter(fates)
        failures = []
        for index, row in enumerate(found):
            wrong = row if isinstance(row, Problem) else None
            if wrong is None and next(each) is Fate.CONFLICT:
                wrong = problem("conflict")
            if wrong is not None:
                failures.append(Failure(index, self._turn_away(wrong)))
        return Receipt(version=1, accepted=len(found) - len(failures), failures=tuple(failures))

    async def _found(self, body: bytes) -> list[Row | Problem] | Problem:
        """What is to be stored of each report of a batch, or what is wrong with it; or with all of it."""
        reports = read_batch(body) if len(body) <= _SMALL else await self._work.run(read_batch, body)
        if isinstance(reports, Problem):
            return reports
        judged = iter(await self._rows([report for report in reports if isinstance(report, Report)]))
        return [report if isinstance(report, Problem) else next(judged) for report in reports]

    def _row(self, report: Report) -> Row | Problem:
        served = self._served.get(report.design)
        if served is None:
            return problem("unknown-design")
        if served.other is not None and self._ends.is_over(served.other):
            return problem("closed")
        if self._first.is_known(report.design) and not self._first.counts(report.design):
            return problem("reworded")
        cell = served.acceptor.cell(report)
        return cell if isinstance(cell, Problem) else Row(key_of(self.store.salt, report.id), served.number, cell)

    async def _asked(self, report: Report, size: int) -> Row | Problem:
        """What is to be stored of a report of so many bytes, where somebody has to be asked."""
        with self._work.on(size):
            (row,) = await self._rows([report])
        return row

    async def _rows(self, reports: Sequence[Report]) -> list[Row | Problem]:
        """What is to be stored of each report, or what is wrong with it."""
        if all(map(self._is_told_at_once, reports)):
            return [self._row(report) for report in reports]
        try:
            return await self._work.run(self._judge, reports)
        except StoreError:
            return [problem("unavailable")] * len(reports)

    def _is_told_at_once(self, report: Report) -> bool:
        """Whether nobody has to be asked: if a report is let in, if its words count, if its session admits it."""
        served = self._served.get(report.design)
        if served is None or (served.other is not None and self._ends.is_over(served.other)):
            return True
        is_said = self._first.is_known(report.design)
        return is_said and served.door.is_open and served.session.is_known(report)

    def _judge(self, reports: Sequence[Report]) -> list[Row | Problem]:
        """The same where the store has to be asked: who is admitted, and which blocks were published."""
        rows = [self._row(report) for report in reports]
        # Only of those that fit: a signature takes longer to check than all the rest.
        strangers = self._strangers([report for report, row in zip(reports, rows, strict=True) if isinstance(row, Row)])
        for place, (report, row) in enumerate(zip(reports, rows, strict=True)):
            if isinstance(row, Row) and report.id in strangers:
                rows[place] = problem("not-invited")
            elif isinstance(row, Row) and not self._first.counts(report.design):  # of those that are stored
                rows[place] = problem("reworded")
        return rows

    def _strangers(self, reports: Sequence[Report]) -> set[str]:
        """Which reports, by their ids, their design's own door does not let in."""
        found: set[str] = set()
        for name in {report.design for report in reports} & self._served.keys():
            found |= self._served[name].door.strangers([report for report in reports if report.design == name])
        return found

    async def sign(self, body: bytes) -> Signed | Problem:
        """Sign a blinded token for an invitation."""
        try:
            is_open = await self.opening.looked()
            found = await asyncio.to_thread(self._sign, body) if is_open else problem("closed")
        except StoreError:
            found = problem("unavailable")
        return self._turn_away(found) if isinstance(found, Problem) else found

    def _sign(self, body: bytes) -> Signed | Problem:
        if self.entrance.issuer is not None:
            return self.entrance.issuer.sign(body)
        asked = read(body, Application, most=MOST_ADMISSION_BYTES)
        return asked if isinstance(asked, Problem) else problem("not-invited")

    async def _store(self, rows: Sequence[Row], *, made_up: bool) -> list[Fate] | Problem:
        try:
            if made_up:  # first: what is made up is never without its mark
                await asyncio.to_thread(mark, self.store, [row.key for row in rows])
            fates = await self.writer.submit(rows)
        except BusyError:
            return problem("busy")
        except StoreFullError:
            return problem("full")
        except StoreError:
            return problem("unavailable")
        return fates

    def _turn_away(self, wrong: Problem) -> Problem:
        self.rejections.add(wrong.code)
        return wrong


def read_batch(body: bytes) -> list[Report | Problem] | Problem:
    """Read a batch. One that is wrong does not spoil the others: it becomes its problem, in its place."""
    if len(body) > MOST_BATCH_BYTES:
        return problem("too-large", f"A batch has at most {MOST_BATCH_BYTES} bytes.")
    try:
        reports: list[Report | Problem] = list(_BATCH.decode(body))
        if len(reports) <= MOST_BATCH and wire.encode(reports) == body:
            return reports
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        parts = _RAW_BATCH.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return problem("malformed", str(error))
    if len(parts) > MOST_BATCH:
        return problem("too-large", f"A batch has at most {MOST_BATCH} reports.")
    return [read(bytes(part), Report, most=MOST_REPORT_BYTES) for part in parts]

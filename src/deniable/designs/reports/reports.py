"""Reports: what respondents sent.

They can count what a ballot says about some attributes, which is all that estimation asks of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from deniable.core.labels import UNKNOWN, Labels, fits
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.results import frame_of
from deniable.core.summary import html_table, unknown_name
from deniable.core.table import tally
from deniable.designs.observation import Observation, merge
from deniable.designs.reports.asked_only import Among, among, conditions
from deniable.designs.reports.debiased_columns import Scorer, by_themselves, score_columns, scores
from deniable.designs.reports.frame_of_reports import parts_of_frame
from deniable.designs.reports.labelled_sheet import sheet
from deniable.designs.reports.labelled_table import labelled
from deniable.designs.reports.set_reports import weighed_singly
from deniable.designs.reports.small_cells import warn_of_small_cells
from deniable.device.privacy_statement import Statement
from deniable.errors import InputError, UnknownAttributeError
from deniable.files.header import Header
from deniable.files.reserved_columns import (
    BALLOT,
    ORIGIN,
    answer_columns,
    refuse_taken,
)
from deniable.files.write_batches import Batches, of_frame
from deniable.files.write_files import is_sheet, write_reports, write_sheet
from deniable.frozen import Frozen, again, fix, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from deniable.core.results import Frame
    from deniable.designs.design import Design
    from deniable.designs.marginal_channel import Told
    from deniable.designs.reports.asked_only import Condition
    from deniable.files.object_storage import Object

_SHOWN = 5  # reports shown in a notebook
_KEPT = 4096  # cells of counts that are kept


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Reports(Frozen):
    """Disguised answers, one row a respondent, and the design they were made by.

    As a frame they are: `dn_ballot` (when there is more than one), `dn_answer_0`, `dn_answer_1`, ... or, when every
    respondent answers the same questions, one column a question, `dn_answer_` and its name; then the public columns.

    `notes` are sentences that belong into the privacy statement of these very reports, see `describe`; `labels` the
    survey's words, where they are known; `origin` whether they are simulated or a pilot's.
    """

    design: Design
    ballots: NDArray[Any]
    answers: NDArray[Any]
    public: Any  # a narwhals frame of the public columns, if there are any
    backend: str | None
    notes: tuple[str, ...]
    labels: Labels
    among: Among | None  # whom of them what is asked is about; None: about all
    index: range | NDArray[Any] | None  # the rows' labels in the frame they came in; None where rows had none
    origin: Origin

    def __init__(self, frame: Any, design: Design) -> None:
        """Read reports from a frame as `to_frame` writes it; every code is checked against the design.

        That they are simulated, or a pilot's, is known where the frame has the column of `to_frame` that says so.
        """
        fix(self, **parts_of_frame(frame, design))

    @classmethod
    def of_codes(
        cls,
        design: Design,
        ballots: NDArray[Any],
        answers: NDArray[Any],
        public: Any = None,
        backend: str | None = None,
        **more: Any,
    ) -> Self:
        """Make reports of what `Design.randomize_codes` returned, and of what this kind of reports has besides."""
        held = {"public": public, "backend": backend, "notes": (), "labels": UNKNOWN, "among": None, "index": None}
        held |= {"origin": PEOPLE, **more}
        made = cls._of(design=design, ballots=ballots, answers=answers, **held)
        if public is not None:
            refuse_taken(public.columns, design)
            warn_of_small_cells(public)
        return made

    @classmethod
    def _of(cls, **parts: Any) -> Self:
        """Reports of parts that were checked."""
        made = cls.__new__(cls)
        fix(made, **parts)
        return made

    def _parts(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return again(type(self)._of, **self._parts())

    def with_notes(self, *notes: str) -> Self:
        """The same reports with other notes."""
        return self._of(**{**self._parts(), "notes": notes})

    def with_labels(self, labels: Labels) -> Self:
        """The same reports with a survey's words, as `Survey.labels` has them; see `Labels`."""
        fits(labels, self.design.domain)
        return self._of(**{**self._parts(), "labels": labels.of_reports(self.labels)})

    def with_origin(self, origin: Origin) -> Self:
        """The same reports, known to be simulated, or a pilot's."""
        return self._of(**{**self._parts(), "origin": origin})

    @property
    def public_names(self) -> tuple[str, ...]:
        """The public columns that ride along."""
        return () if self.public is None else tuple(self.public.columns)

    @property
    def n(self) -> int:
        """How many respondents reported."""
        return len(self.ballots)

    @property
    def people(self) -> int:
        """How many are looked at."""
        return self.n if self.among is None else int(self.among.inside.sum())

    def among_asked(self, attributes: Sequence[str]) -> Reports:
        """The same reports, looking only at those who were asked all of some attributes, where a condition decides."""
        if not (rules := self.conditions(attributes)):
            return self
        return self._of(**{**self._parts(), "among": among(self.public, rules)})

    def conditions(self, attributes: Sequence[str]) -> dict[str, Condition]:
        """Which of some attributes were asked of some respondents only, and of whom."""
        return conditions(self.labels.show_if, attributes, self.design.domain, self.public_names)

    def __len__(self) -> int:
        return self.n

    def tabulate(self, attributes: Sequence[str] | None = None) -> list[Observation]:
        """Count into observations.

        Without attributes: one observation a question. With them: everything the reports say about these attributes,
        one observation for each different way of asking.
        """
        if attributes is None:
            return [
                o
                for question in self.design.questions
                for o in self.tabulate(question.attributes)
                if set(o.domain) == set(question.attributes)
            ]
        names = self.design.domain.project(attributes).names
        found = []
        for ballot in range(len(self.design.ballots)):
            told = self.told(ballot, names)
            if told is not None:
                found.append(Observation(told.domain, told.channel, self.count(ballot, told), population=self.people))
        return [observation.coming_from(self.origin) for observation in merge(found) if observation.n > 0]

    def count(self, ballot: int, told: Told) -> NDArray[np.int64]:
        """Count what the respondents of a ballot told; small counts are kept, for whoever asks again."""
        key = (ballot, *((column.place, column.attributes) for column in told.columns))
        known = self._counts.get(key)
        if known is not None:
            return known
        codes = self.codes(ballot, told)
        if told.channel.is_support:
            counts = told.channel.tally(codes if codes.shape[1] > 1 else codes[:, 0])
        else:
            counts = tally(codes, tuple(column.channel.outputs for column in told.columns))
        if counts.size <= _KEPT:
            self._counts[key] = counts
        return readonly(counts)

    @cached_property
    def _counts(self) -> dict[tuple[object, ...], NDArray[np.int64]]:
        """What was counted so far: of a ballot, its answers about some attributes."""
        return {}

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in the order of their ballots, and where each ballot's begin: one pass, whatever is asked later."""
        order = np.argsort(self.ballots, kind="stable")
        order = order if self.among is None else order[self.among.inside[order]]
        return readonly(order), readonly(np.searchsorted(self.ballots[order], np.arange(len(self.design.ballots) + 1)))

    def rows_of(self, ballot: int) -> NDArray[np.int64]:
        """The rows of the respondents who drew a ballot."""
        if len(self.design.ballots) == 1:
            return np.arange(self.n) if self.among is None else np.flatnonzero(self.among.inside)
        order, starts = self._sorted
        return order[starts[ballot] : starts[ballot + 1]]

    def ballot_counts(self) -> NDArray[np.int64]:
        """How many respondents drew each ballot."""
        return np.bincount(self.ballots, minlength=len(self.design.ballots))

    def told(self, ballot: int, attributes: Sequence[str]) -> Told | None:
        """What a ballot's reports tell about some attributes; None if nothing."""
        told = self.design.told(ballot, attributes)
        return told if told is None or self.among is None else self.among.told(told)

    def rows_between(self, start: int, stop: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The rows from one to another that are looked at, by ballot; nothing is kept."""
        ballots = self.ballots[start:stop]
        inside = None if self.among is None else self.among.inside[start:stop]
        for ballot in np.unique(ballots).tolist():
            here = ballots == ballot
            yield ballot, start + np.flatnonzero(here if inside is None else here & inside)

    def codes(self, ballot: int, told: Told, rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        """What a ballot's respondents told: a row for each of `rows_of(ballot)`, or of some; a column a question."""
        whole = len(self.design.ballots) == 1 and self.among is None
        if rows is None and not whole:
            rows = self.rows_of(ballot)
        some = slice(None) if rows is None else rows
        return np.stack([column.narrow(self.answers[some, column.place]) for column in told.columns], axis=1)

    def distinct(self, ballot: int, told: Told) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The different things that a ballot's respondents told, a row each, and how often each came."""
        codes = self.codes(ballot, told)
        if codes.shape[1] > 1:
            return np.unique(codes, axis=0, return_counts=True)
        different, counts = np.unique(codes[:, 0], return_counts=True)  # as numbers: much faster than as rows
        return different[:, None], counts

    def weighs_singly(self, told: Told) -> bool:
        """Whether these reports are looked at one by one where that tells more than their counts."""
        return weighed_singly(told, self.n)

    def groups(self, by: str) -> Iterator[tuple[Any, Reports]]:
        """Split by the values of a public column."""
        if self.public is None or by not in self.public.columns:
            have = [] if self.public is None else self.public.columns
            if by in self.design.domain:
                raise UnknownAttributeError(
                    f"{by!r} was disguised, so nobody knows who is in which of its groups: ask for the joint table, as "
                    f"in estimate(reports, [..., {by!r}]), and independence(reports, ..., {by!r}) for a test",
                    attribute=by,
                )
            raise UnknownAttributeError(
                f"there is no public column {by!r} among the reports; they have {listed(have) or 'none'}. Let it ride "
                f"along with randomize(frame, keep=[{by!r}])",
                attribute=by,
            )
        values = self.public[by]
        for value in values.unique().drop_nulls().sort().to_list():
            rows = np.flatnonzero((values == value).fill_null(value=False).to_numpy())
            yield value, self._rows(rows)

    def _rows(self, rows: NDArray[np.int64]) -> Self:
        return self._of(**{**self._parts(), **self._chosen(rows)})

    def _chosen(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """The parts that have some of the rows only."""
        public = None if self.public is None else self.public[rows.tolist()]
        index = None if self.index is None else readonly(np.asarray(self.index)[rows])
        answers = readonly(self.answers[rows])
        among = None if self.among is None else replace(self.among, inside=self.among.inside[rows])
        chosen = {"ballots": readonly(self.ballots[rows]), "answers": answers, "public": public, "index": index}
        return {**chosen, "among": among}

    if not TYPE_CHECKING:  # a checker is to refuse these names, not to take every one

        def __getattr__(self, name: str) -> Any:
            """Answer the names that other packages use with ours; nothing is there by them."""
            raise AttributeError(unknown_name(self, name))

        def __iter__(self) -> Any:
            """Reports are no rows; whoever makes a data frame of them comes by here."""
            raise InputError("reports are not gone through one by one: write reports.to_frame() for a data frame")

    def to_frame(self) -> Frame:
        """Write the reports as a frame that `Reports(frame, design)` reads back."""
        columns: dict[str, Any] = {**self._columns(slice(None)), **self._stamp()}
        if self.public is not None:
            columns |= {name: self.public[name].to_arrow() for name in self.public.columns}
        return frame_of(columns, self.backend)

    def _stamp(self) -> dict[str, list[str]]:
        """The column that says where reports come from, in frames that leave without us."""
        return {ORIGIN: [self.origin.column] * self.n} if self.origin else {}

    def _columns(self, rows: slice) -> dict[str, NDArray[Any]]:
        """What some of the reports say, by the names of the columns that have it in a frame or file."""
        columns = {BALLOT: self.ballots[rows]} if len(self.design.ballots) > 1 else {}
        return columns | {name: self.answers[rows, place] for place, name in enumerate(answer_columns(self.design))}

    def describe(self, *, published: int | None = None, delta: float | None = None) -> Statement:
        """The design's privacy statement, and what must be said of these reports besides; arguments as there."""
        stated = self.design.describe(published=published, delta=delta)
        return Statement(stated.ratio, (*stated.notes, *self.notes))

    def debiased(self, *tables: str | Sequence[str]) -> Frame:
        """Scores whose means estimate shares, a column a cell, beside the public columns: for any other program.

        The mean of a column, a weighted mean, and the mean in a group of a public column are unbiased estimates of the
        share that the column is named after, among those who were asked; nothing stands where somebody was not asked,
        because the ballot was another or the survey put the question to others (`show_if`). There is no column for what
        the design does not tell. Do not clip or round scores, and do not regress on them.

        Where everybody is asked about a table in one way, the mean is that of `estimate(..., "inversion")`. Where it is
        asked in several ways, as in views and blocks, the two are both unbiased and differ by less than their errors: a
        score is fixed by the design, while inversion weighs each way by how many reports came through it.

        Args:
            tables: attributes, or several whose joint table is wanted; by default every attribute by itself.

        >>> import deniable as dn
        >>> answers = {"smokes": ["no"] * 700 + ["yes"] * 300}
        >>> reports = dn.Joint({"smokes": ["no", "yes"]}, 2.0).randomize(answers, source=dn.Seeded(1))
        >>> scores = reports.debiased()
        >>> scores.column_names
        ['dn_share_smokes_no', 'dn_share_smokes_yes', 'dn_origin']
        >>> mean = sum(scores["dn_share_smokes_yes"].to_pylist()) / 1000
        >>> bool(abs(mean - dn.estimate(reports, "smokes", "inversion").values[1]) < 1e-9)
        True
        """
        public = {} if self.public is None else {name: self.public[name].to_arrow() for name in self.public.columns}
        return frame_of(score_columns(scores(self, self._tables(tables))) | self._stamp() | public, self.backend)

    def _tables(self, tables: Sequence[str | Sequence[str]]) -> list[list[str]]:
        named = [[table] if isinstance(table, str) else list(table) for table in tables]
        return named or by_themselves(self.design)

    def write(
        self,
        path: str | Path | Object,
        *,
        debiased: Sequence[str | Sequence[str]] = (),
        remarks: Sequence[str] = (),
    ) -> Path | Object:
        """Write the reports and their design to a file: .parquet, .csv, .sav (SPSS) or .dta (Stata).

        `path` may be the address of an object, such as s3://bucket/reports.parquet. `deniable.read_reports` reads it
        back. `debiased` names attributes, and lists of several, whose scores stand beside the reports, see `debiased`.
        What is there already is refused, unless it is the same.
        `remarks` are sentences for whoever reads the file's header.
        """
        scorer = Scorer(self, self._tables(debiased) if debiased else [])
        told = {score.name: score.label for score in scorer.scores(0, 0)}
        header = replace(self.header, remarks=tuple(remarks), scores=told or None)
        if is_sheet(path):
            columns = sheet(self, scorer.scores(0, self.n))
            return write_sheet(columns, header, path, self.origin.titled(self.labels.heading()))
        return write_reports(self._batches(scorer), header, path)

    def _batches(self, scorer: Scorer) -> Batches:
        """The reports as files have them, with scores."""
        import pyarrow as pa

        public = None if self.public is None else of_frame(self.public)

        def make(start: int, stop: int) -> pa.Table:
            columns: dict[str, Any] = {**self._columns(slice(start, stop))}
            if public is not None:
                table = public.make(start, stop)
                columns |= dict(zip(table.column_names, table.columns, strict=True))
            return pa.table(columns | score_columns(scorer.scores(start, stop)))

        return Batches(self.n, make)

    @property
    def header(self) -> Header:
        """What a file of these reports says about them."""
        return Header(
            self.design.canonical(),
            self.notes,
            words=None if self.labels == UNKNOWN else self.labels,
            origin=self.origin,
        )

    def labelled(self, *, in_words: bool = False) -> Frame:
        """Write the disguised table with categories instead of codes.

        Where every respondent answers every question, this is the table a data holder shares: same columns, same kind
        of values, every value deniable. Else it has a column a question, with nothing where somebody was not asked.

        Args:
            in_words: the answers in the survey's words, see `labels`.
        """
        return frame_of(labelled(self, in_words=in_words), self.backend)

    def between(self, start: int, stop: int) -> Reports:
        """The reports from one to another."""
        public = None if self.public is None else self.public[start:stop]
        some = None if self.among is None else replace(self.among, inside=self.among.inside[start:stop])
        same = {"design": self.design, "backend": self.backend, "notes": self.notes, "labels": self.labels}
        rows = {"ballots": self.ballots[start:stop], "answers": self.answers[start:stop], "public": public}
        return Reports._of(**same, **rows, among=some, index=None, origin=self.origin)

    def _repr_html_(self) -> str:
        import narwhals as nw

        shown = nw.from_native(self.to_frame(), eager_only=True).head(_SHOWN)
        more = f"the first {_SHOWN} of {self.n} reports" if self.n > _SHOWN else f"{self.n} reports"
        codes = {name: shown[name].to_list() for name in shown.columns}
        return html_table(codes, f"{type(self.design).__name__} design, {more}") + self.describe()._repr_html_()

    def __repr__(self) -> str:
        riding = "" if self.public is None else f", public: {', '.join(self.public.columns)}"
        return f"<Reports of {self.n} respondents{riding}; {self.design!r}>"

"""What the reports say, for an analyst: every wanted table and every single question, as JSON or CSV."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from deniable.collection.load_reports import stored_reports
from deniable.collection.simulated_marks import origin_in
from deniable.core.csv_injection import plain
from deniable.core.markup import comma_separated_rows
from deniable.core.rows import LEVEL, NUMBERS
from deniable.core.summary import STAMPED
from deniable.errors import InputError
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.refused import Refused, shown
from deniable.inference.corrected_words import corrected_words
from deniable.inference.numbers.aim_estimates import told_aims
from deniable.reporting.data_quality import alarms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.collection.collector import Collector
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.web.dashboard.worker_process import Surveyed

Count: TypeAlias = Annotated[int, Meta(ge=0)]


class ResultCell(Struct, frozen=True, forbid_unknown_fields=True):
    """A cell of a table, with what people are shown of it and the same before shares are kept to 0 to 1."""

    categories: tuple[str | int | bool, ...]
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None
    unbiased: float | None
    efficient: float | None
    unclipped_low: float | None
    unclipped_high: float | None


class ResultTable(Struct, frozen=True, forbid_unknown_fields=True):
    """An estimated table, and how it was made."""

    attributes: tuple[str, ...]
    reports: Count
    method: str
    reason: str
    gap: float | None
    notes: tuple[str, ...]
    cells: tuple[ResultCell, ...]


class RefusedTable(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the place of a table: too few answers, or a reason that there is none."""

    attributes: tuple[str, ...]
    reports: Count
    refused: str
    cells: Annotated[tuple[ResultCell, ...], Meta(max_length=0)]


if TYPE_CHECKING:
    Told: TypeAlias = ResultTable | RefusedTable
else:  # msgspec reads no union of structs without a tag, which answers do not have; it only describes this one
    _REFS = [{"$ref": f"#/components/schemas/{each.__name__}"} for each in (ResultTable, RefusedTable)]
    Told = Annotated[Any, Meta(extra_json_schema={"anyOf": _REFS})]


class ChangedText(Struct, frozen=True, forbid_unknown_fields=True):
    """A text of the survey before and after a correction."""

    part: str
    name: str
    category: str
    language: str
    before: str
    after: str


class BeforeAfterTest(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether answers before and after a correction are alike, or why that is not known."""

    attribute: str
    p: float | None
    statistic: float | UnsetType = UNSET
    df: float | UnsetType = UNSET
    method: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class ResultCorrection(Struct, frozen=True, forbid_unknown_fields=True):
    """Words that were changed while people answered."""

    why: str | None
    before: int | None
    after: int | None
    changes: tuple[ChangedText, ...]
    tests: tuple[BeforeAfterTest, ...]


class ResultOrigin(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether reports are simulated, or a pilot's."""

    stamp: str
    simulated: Count
    seeded: bool
    pilot: bool


class ResultNumber(Struct, frozen=True, forbid_unknown_fields=True):
    """A number that the survey was made for: which of those that were wanted together; or why it is `refused`."""

    wanted: str
    reports: Count
    which: str | UnsetType = UNSET
    estimate: float | UnsetType | None = UNSET
    low: float | UnsetType | None = UNSET
    high: float | UnsetType | None = UNSET
    refused: str | UnsetType = UNSET


class Aims(Struct, frozen=True):
    """What a survey was made for: its numbers that are no tables, and how near its design is to the best."""

    wanted: tuple[str, ...]
    numbers: tuple[ResultNumber, ...]
    number_notes: tuple[str, ...]
    nearness: str

    @classmethod
    def of(cls, reports: Reports, level: float = LEVEL) -> Aims:
        """As reports tell them."""
        found = told_aims(reports, level)
        told = [] if found.numbers is None else found.numbers.told
        numbers = msgspec.convert(told, tuple[ResultNumber, ...])
        return cls(reports.labels.aims, numbers, tuple(map(str, found.notes)), found.nearness)


class Estimates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the reports that are shown say: tables, corrected words, and what the survey was made for."""

    reports: Count
    level: float
    corrections: tuple[ResultCorrection, ...]
    tables: tuple[Told, ...]
    wanted: tuple[str, ...]
    numbers: tuple[ResultNumber, ...]
    number_notes: tuple[str, ...]
    nearness: str
    alarms: tuple[str, ...]


class Results(Estimates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What reports say, with what a collector says of itself."""

    survey: str
    design: str
    epsilon: float
    origin: ResultOrigin
    open: bool
    rejected: dict[str, Count]


def results(collector: Collector, tables: Sequence[Sequence[str]] | None = None, level: float = LEVEL) -> Results:
    """Estimate tables (by default the wanted ones and every single question) from what is shown now."""
    collector.opening.look()
    return told(collector, estimates(collector, tables, level))


def level_of(text: str) -> float:
    """The level of intervals that an address asks for."""
    with suppress(ValueError):
        if 0 < (level := float(text)) < 1:
            return level
    raise InputError(f"a confidence level lies between 0 and 1, not {text[:40]!r}")


def told(collector: Collector, found: Estimates) -> Results:
    """What was estimated, with what a collector says of itself besides."""
    origin = origin_in(collector.shown, collector.numbers, collector.survey.name)
    return Results(
        **msgspec.structs.asdict(found),
        survey=collector.survey.name,
        design=collector.design_id,
        epsilon=collector.survey.design.epsilon,
        origin=msgspec.convert(origin.told, ResultOrigin),
        open=collector.is_open,
        rejected=collector.turned_away(),
    )


def estimates(surveyed: Surveyed, tables: Sequence[Sequence[str]] | None = None, level: float = LEVEL) -> Estimates:
    """What the reports that are shown say: tables, by default the wanted ones and every single question, and aims."""
    survey = surveyed.survey
    wanted = [(name,) for name in survey.domain] + list(survey.tables) if tables is None else tables
    reports = stored_reports(surveyed.shown, surveyed.design_id, to_keep=False)
    names = [list(names) for names in dict.fromkeys(map(tuple, wanted)) if reports.design.covers(names)]
    found = [shown(reports, one, partial(estimate, reports, one)) for one in names]
    corrected = [each.told for each in corrected_words(reports)]
    return Estimates(
        reports=reports.n,
        level=level,
        corrections=msgspec.convert(corrected, tuple[ResultCorrection, ...]),
        tables=tuple(result_table(each, level) for each in found),
        **msgspec.structs.asdict(Aims.of(reports, level)),
        alarms=tuple(alarms(reports, [each for each in found if not isinstance(each, Refused)])),
    )


def result_table(found: Estimate | Refused, level: float) -> ResultTable | RefusedTable:
    """An estimate as it is sent, or what stands in its place."""
    if isinstance(found, Refused):
        return RefusedTable(tuple(found.attributes), found.n, found.reason, ())
    return ResultTable(
        attributes=tuple(found.attributes),
        reports=found.n,
        method=found.method,
        reason=found.reason,
        gap=found.gap,
        notes=tuple(map(str, found.summary(level).notes)),
        cells=tuple(ResultCell(row.cell, **row.numbers()) for row in found.rows(level)),
    )


def results_csv(found: Results) -> str:
    """The same as CSV, a line a cell; the attributes and categories of a joint table are joined by " * ".

    What must be known stands in lines without numbers. Of reports that are simulated, or a pilot's, every line says so.
    """
    stamp = [found.origin.stamp] if found.origin.stamp else []
    rows: list[list[object]] = [["attributes", "categories", "reports", *NUMBERS, *([STAMPED] if stamp else [])]]
    for of, said, reports, cell in _lines(found):
        numbers = (getattr(cell, name, "") for name in NUMBERS)
        rows.append([plain(of), plain(said), reports, *("" if each is UNSET else each for each in numbers), *stamp])
    return comma_separated_rows(rows)


def _lines(found: Results) -> Iterator[tuple[str, str, int, ResultCell | ResultNumber | None]]:
    """What each line is about, what it says, of how many reports, and what holds its numbers."""
    for table in found.tables:
        attributes, n = " * ".join(table.attributes), table.reports
        for cell in table.cells:
            yield attributes, " * ".join(map(str, cell.categories)), n, cell
        # But for how many reports there are, and how it was made.
        for note in [table.refused] if isinstance(table, RefusedTable) else table.notes[1:-1]:
            yield attributes, note, n, None
    for one in found.numbers:
        yield one.wanted, one.which or one.refused or "", one.reports, one
    for note in filter(None, (*found.number_notes, found.nearness, *found.alarms)):
        yield "", note, found.reports, None
    for correction in found.corrections:
        for name, text in _corrected(correction):
            yield name, text, (correction.before or 0) + (correction.after or 0), None


def _corrected(correction: ResultCorrection) -> Iterator[tuple[str, str]]:
    """What is said of every text that was corrected, and of every test of the answers before and after."""
    sides = f"{correction.before} reports before, {correction.after} after"
    why = f"words corrected ({correction.why or 'nobody said why'}); {sides}"
    for each in correction.changes:
        yield each.name, f"{why}: {each.before!r} became {each.after!r}"
    for test in correction.tests:
        p = test.reason if test.p is None else f"p = {test.p:.2g} ({test.method})"
        yield test.attribute, f"{why}: answers alike? {p}"

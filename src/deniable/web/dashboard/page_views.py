"""View models: what a page of the dashboard shows, as typed values that templates lay out and a store keeps as JSON."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from deniable.core.labels import UNKNOWN
from deniable.core.rows import Row, cells_of, of_shares
from deniable.core.summary import Summary
from deniable.inference.hypothesis_tests.all_pairs import of_pairs
from deniable.inference.numbers.aim_estimates import WantedNumbers
from deniable.web.api.results_endpoint import ResultNumber

if TYPE_CHECKING:
    from deniable.core.labels import Labels


class Ballot(Struct, frozen=True):
    """A set of questions, the epsilon of each and together, and how many devices drew it."""

    questions: tuple[str, ...]
    epsilons: tuple[float, ...]
    epsilon: float
    reports: int


class Cell(Struct, frozen=True):
    """A cell of a table: its categories, its share among the reports as they came, and what is estimated of it."""

    label: tuple[str | int | bool, ...]
    raw: float | None
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None

    def row(self, n: int) -> Row:
        """It as an estimate's row of so many reports."""
        numbers = (self.estimate, self.std_error, self.low, self.high)
        estimate, std_error, low, high = (nan if value is None else value for value in numbers)
        return Row(self.label, n, estimate, std_error, low, high)


class CellTable(Struct, frozen=True):
    """An estimate beside what the reports say as they came; or, `refused`, what stands in its place."""

    attributes: tuple[str, ...]
    reports: int
    refused: str = ""
    shape: tuple[int, ...] = ()
    precision: str = ""
    notes: tuple[str, ...] = ()
    rows: tuple[Cell, ...] = ()

    def summary(self, level: float, labels: Labels = UNKNOWN) -> Summary:
        """Its layout: that of its estimate, with the raw shares beside the attributes.

        What is kept are categories; they are put into words as they are shown, in the language that is asked for.
        """
        rows = [cell.row(self.reports) for cell in self.rows]
        cells = labels.cells(cells_of(self.attributes, rows))
        return of_shares(cells, rows, level, self.notes, raw=[cell.raw for cell in self.rows])


class Change(Struct, frozen=True):
    """A text before and after its correction."""

    part: str
    name: str
    category: str
    language: str
    before: str
    after: str


class Corrections(Struct, frozen=True):
    """What one correction changed, and whether answers changed with it."""

    said: str
    changes: tuple[Change, ...]


class Influence(Struct, frozen=True):
    """By how much a made-up report moves a share at most, times the number of reports."""

    question: str
    reports: int
    weight: float


class Amendment(Struct, frozen=True):
    """A design whose reports are counted, its fingerprint, and how many there are."""

    design: str
    compare: str
    reports: int


class Privacy(Struct, frozen=True):
    """What reports tell about a person."""

    promised: float
    epsilon: float
    statement: tuple[str, ...]
    influence: tuple[Influence, ...]
    disguise: tuple[str, ...]
    panel: str | None
    amendments: tuple[Amendment, ...]
    public: tuple[str, ...]


class Pair(Struct, frozen=True):
    """Two questions, how strongly their answers go together, and a test of whether they do at all."""

    pair: tuple[str, str]
    v: float
    p: float
    adjusted: float
    stars: str
    test: str


class Associations(Struct, frozen=True):
    """Tests of every pair of questions."""

    rows: tuple[Pair, ...]
    notes: tuple[str, ...]

    def summary(self, labels: Labels = UNKNOWN) -> Summary:
        """Their layout."""
        numbers = {"Cramer's V": "v", "p": "p", "p, corrected": "adjusted"}
        columns = {heading: [getattr(row, name) for row in self.rows] for heading, name in numbers.items()}
        pairs = [[labels.named(name) for name in row.pair] for row in self.rows]
        return of_pairs(pairs, columns, [row.test for row in self.rows], self.notes)


class Overview(Struct, frozen=True):
    """Everything about all reports together; of a survey that is closed with its associations."""

    reports: int
    level: float
    ballots: tuple[Ballot, ...]
    tables: tuple[CellTable, ...]
    large: tuple[str, ...]
    privacy: Privacy
    numbers: tuple[ResultNumber, ...]
    wanted: tuple[str, ...]
    number_notes: tuple[str, ...]
    nearness: str
    corrected: tuple[Corrections, ...]
    alarms: tuple[str, ...]
    associations: Associations | None = None

    def numbers_summary(self) -> Summary:
        """The layout of the numbers that the survey was made for."""
        return WantedNumbers.of_told(map(to_builtins, self.numbers), self.level).summary()


class Cross(Struct, frozen=True):
    """A table that was chosen with a test of it, tables of groups, or why there is neither."""

    table: CellTable | None = None
    test: str | None = None
    groups: Summary | None = None
    warnings: tuple[str, ...] = ()
    problem: str = ""

"""Validation of reports: what fits its design becomes a cell, the text under which it is stored and counted.

Stored cells are read by the column, a million of them in a second. Where reports are sets, there are about as many
cells as reports. A store gives them as a few long texts (`Column`). If every ballot of a design has as many answers, a
text without its brackets is a table of whole numbers.
"""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from deniable.device.protocol.problem_details import problem
from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.collection.session import Session
    from deniable.device.protocol.messages import Problem, Report
    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Column, Mark, Readable

    Ints = NDArray[np.int64]

_MOST_REMEMBERED = 1 << 16
Cell: TypeAlias = tuple[str | None, int, tuple[int, ...], tuple[int, ...]]


class Acceptor:
    """Checks the reports of one design.

    Where a design has few possible reports, those that were found to fit are remembered with their cells. Where reports
    are sets, hardly one comes twice, and to remember them would only take time and memory: more of both, the more came.
    """

    def __init__(self, design: VerifiedDesign, session: Session) -> None:
        """Write the limits down that a report must keep; `session` says which else."""
        self._session = session
        self._channels = [
            tuple(question.channel for question in design.asked(number)) for number in range(len(design.ballots))
        ]
        self._public = tuple(len(variable) for variable in design.public)
        self._blind = design.message.admission == "blind"
        possible = sum(prod(channel.reports for channel in asked) for asked in self._channels) * prod(self._public)
        self._remembers = possible <= _MOST_REMEMBERED and session.by_block
        self._cells: dict[tuple[Any, ...], str] = {}

    def cell(self, report: Report) -> str | Problem:
        """The cell of a report, or what is wrong with it."""
        content = (report.ballot, report.answers, report.public)
        plain = report.block is None and report.token is None and report.signature is None
        known = self._cells.get(content) if plain and not self._blind else None
        if known is not None:
            return known
        wrong = self._misfit(report)
        if wrong is not None:
            return wrong
        cell = encode_cell(report.block, report.ballot, report.answers, report.public)
        if plain and self._remembers:
            self._cells[content] = cell
        return cell

    def _misfit(self, report: Report) -> Problem | None:
        if (refused := self._session.admits(report)) is not None:
            return problem(refused)
        if {report.token is not None, report.signature is not None} != {self._blind}:
            return problem("unfit", "A token and its signature belong to blind admission, and only there.")
        if report.ballot >= len(self._channels):
            return problem("unfit", f"The design has {len(self._channels)} ballots.")
        asked = self._channels[report.ballot]
        possible = (channel.can_be(code) for channel, code in zip(asked, report.answers, strict=False))
        if len(report.answers) != len(asked) or not all(possible):
            return problem("unfit", "The answers are not reports of the ballot's questions.")
        if len(report.public) != len(self._public) or not all(map(operator.lt, report.public, self._public)):
            return problem("unfit", "The public attributes are not those of the design.")
        return None


def encode_cell(block: str | None, ballot: int, answers: tuple[int, ...], public: tuple[int, ...]) -> str:
    """Write a cell: everything a report says, in one text.

    >>> encode_cell(None, 0, (1, 3), (2,))
    '[null,0,[1,3],[2]]'
    """
    return msgspec.json.encode((block, ballot, answers, public)).decode()


def decode_cell(cell: str) -> Cell:
    """Read a cell back."""
    return msgspec.json.decode(cell, type=Cell)


def decode_cells(cells: Iterable[str]) -> list[Cell]:
    """Read many cells back, at once: where reports are sets there are about as many of them as reports."""
    return msgspec.json.decode(f"[{','.join(cells)}]", type=list[Cell])


class Cells(NamedTuple):
    """Different cells: the ballot, the answers (0 beyond the ballot's), the public attributes, how often each came."""

    ballots: Ints
    answers: Ints
    public: Ints
    times: Ints


def decoded(column: Column, verified: VerifiedDesign) -> Cells:
    """Read a column of cells that name no block."""
    times = np.fromstring(column.reports, dtype=np.int64, sep=",")
    widths = {len(ballot) for ballot in verified.ballots}
    if len(widths) > 1:
        return of_texts(column.cells.replace("]],[", "]]\n[").split("\n"), times, verified)
    (width,) = widths
    numbers = _numbers(column.cells, 1 + width + len(verified.public), empty=not verified.public)
    if len(numbers) != len(times):
        raise StoreError(f"the store has {len(numbers)} cells, and {len(times)} numbers of how often they came")
    return Cells(numbers[:, 0], numbers[:, 1 : 1 + width], numbers[:, 1 + width :], times)


def _numbers(cells: str, width: int, *, empty: bool) -> Ints:
    """The numbers in cells that have so many each; `empty` tells that their last list is."""
    import pyarrow as pa
    from pyarrow import csv

    # [null,0,[1,2],[]],[null,0,... is ,0,1,2,,,0,... without these letters, and a table if its lines are parted
    plain = cells.encode().translate(None, b"[]nul").strip(b",").replace(b",,," if empty else b",,", b"\n")
    names = [str(place) for place in range(width)]
    table = csv.read_csv(
        pa.BufferReader(plain),
        csv.ReadOptions(column_names=names, use_threads=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.int64())),
    )
    if any(column.null_count for column in table.columns):
        raise StoreError("the store has cells that are no numbers")
    # The arrays as they lie: to ask Arrow for NumPy's would load pandas.
    return np.concatenate([np.stack([_lying(one) for one in batch.columns], axis=1) for batch in table.to_batches()])


def _lying(column: pa.Array) -> Ints:
    numbers: Ints = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column)]
    return numbers


def of_texts(texts: Sequence[str], times: Ints, verified: VerifiedDesign) -> Cells:
    """Read cells one by one."""
    cells = decode_cells(texts)
    answers = np.zeros((len(cells), max(map(len, verified.ballots))), dtype=np.int64)
    for row, (_, _, given, _) in zip(answers, cells, strict=True):
        row[: len(given)] = given
    public = np.array([clear for *_, clear in cells], dtype=np.int64).reshape(len(cells), len(verified.public))
    return Cells(np.array([ballot for _, ballot, *_ in cells], dtype=np.int64), answers, public, times)


class Memory:
    """What the sealed file of a store says, by the numbers of designs: read once for as long as it is in its place."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._sealed: dict[int, tuple[Mark, Cells]] = {}

    def decoded(self, store: Readable, number: int, verified: VerifiedDesign) -> list[Cells]:
        """The cells of all reports to a design."""
        known, before = self._sealed.get(number, (None, None))
        columns = store.columns(number, known)
        marks = {column.mark for column in columns if column.mark is not None}
        parts = [decoded(column, verified) for column in columns if column.mark is None]
        if before is not None and marks == {known}:
            return [before, *parts]
        sealed = all_cells([decoded(column, verified) for column in columns if column.mark is not None], verified)
        for mark in marks:  # one, or none
            self._sealed[number] = mark, sealed
        return [sealed, *parts]


def all_cells(parts: Sequence[Cells], verified: VerifiedDesign) -> Cells:
    """All of them, part after part."""
    if not parts:
        parts = [of_texts([], np.zeros(0, dtype=np.int64), verified)]
    return Cells(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def in_order(whole: Cells) -> Cells:
    """Cells in the order of what they say, so that nothing tells in which they came."""
    order = np.lexsort([*whole.public.T[::-1], *whole.answers.T[::-1], whole.ballots])
    return Cells(*(column[order] for column in whole))

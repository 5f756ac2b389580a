"""Cells by the column: how stored cells become arrays, a million of them in a second.

Where reports are sets, there are about as many cells as reports. A store gives them as a few long texts (`Column`). If
every ballot of a design has as many answers, a text without its brackets is a table of whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.collection.report_cells import decode_cells
from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Column, Mark, Readable

    Ints = NDArray[np.int64]


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

"""Cells by the column: how stored cells become arrays, a million of them in a second.

Where reports are sets, there are about as many cells as reports. A store gives them as a few long texts (`Column`). If
every ballot of a design has as many answers, a text without its brackets is a table of whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.collection.acceptor import decode_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.collection.storage.base import Column
    from deniable.device.verified import VerifiedDesign

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
    # [null,0,[1,2],[]],[null,0,... as 0,1,2,0,...
    plain = column.cells.replace("[null,", "").replace(",[]]", "").replace("[", "").replace("]", "")
    (width,) = widths
    numbers = np.fromstring(plain, dtype=np.int64, sep=",").reshape(len(times), 1 + width + len(verified.public))
    return Cells(numbers[:, 0], numbers[:, 1 : 1 + width], numbers[:, 1 + width :], times)


def of_texts(texts: Sequence[str], times: Ints, verified: VerifiedDesign) -> Cells:
    """Read cells one by one."""
    cells = decode_cells(texts)
    answers = np.zeros((len(cells), max(map(len, verified.ballots))), dtype=np.int64)
    for row, (_, _, given, _) in zip(answers, cells, strict=True):
        row[: len(given)] = given
    public = np.array([clear for *_, clear in cells], dtype=np.int64).reshape(len(cells), len(verified.public))
    return Cells(np.array([ballot for _, ballot, *_ in cells], dtype=np.int64), answers, public, times)


def sorted_cells(parts: Sequence[Cells], verified: VerifiedDesign) -> Cells:
    """All of them in the order of what they say, so that nothing tells in which they came."""
    if not parts:
        parts = [of_texts([], np.zeros(0, dtype=np.int64), verified)]
    whole = Cells(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    order = np.lexsort([*whole.public.T[::-1], *whole.answers.T[::-1], whole.ballots])
    return Cells(*(column[order] for column in whole))

"""Sets counted where they lie: an engine turns reports into short words and says how often each word came.

A set of fifty categories is one of 2^50 reports, hardly two of which are alike, so a GROUP BY of reports would return
the reports. But whom a set holds can be asked a few categories at a time: an expression of the engine turns each report
into a word of some binary digits, one a category (`Support.word`), and a GROUP BY counts words. What is fetched are at
most 2^16 words and their counts for each question asked, however many reports there are. A table of several questions
takes a word of each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.channels.sets.bit_masks import digits
from deniable.channels.sets.support import Support
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.designs.marginal_channel import Column, Told
    from deniable.engines.query_engines import Keys

    Questions = Sequence[tuple[str, Column]]  # the columns that some ballots answer, and what they tell
    Progress = Callable[[int, int], object]  # called with what is done and what there is to do

WORDS = 16  # binary digits of all words of a GROUP BY together: 65536 groups at most, for each ballot


@dataclass(frozen=True)
class Piece:
    """What a GROUP BY looks at of one column: its codes, or the words of some categories of its sets."""

    column: str
    size: int  # codes or words are 0 .. size - 1
    channel: Support | None = None
    first: int = 0

    @property
    def count(self) -> int:
        """How many categories a word tells of."""
        return self.size.bit_length() - 1


class Counting(Protocol):
    """An engine that counts words."""

    def count_words(self, pieces: Sequence[Piece], ballots: Sequence[int] | None) -> Keys:
        """How often each combination came: a row of a ballot (if any are named) and a code or word for each piece."""
        ...


def asked_alike(asked: Mapping[int, Told], columns: Sequence[str]) -> Iterator[tuple[Told, Questions, list[int]]]:
    """Ballots by what they tell: those that tell the same in the same columns are counted together."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for ballot, told in asked.items():
        groups.setdefault((told.domain, told.channel, told.columns), []).append(ballot)
    for ballots in groups.values():
        told = asked[ballots[0]]
        yield told, [(columns[column.place], column) for column in told.columns], ballots


def by_words(
    engine: Counting, told: Told, questions: Questions, ballots: Sequence[int], *, single: bool, progress: Progress
) -> dict[int, NDArray[np.int64]]:
    """The counts of each ballot, cell by cell of the channel's output: categories, or truths held and reports.

    Args:
        engine: who counts.
        told: what the ballots tell.
        questions: the columns in which they do.
        ballots: whose answers are counted.
        single: whether there is but one ballot, and no column that says so.
        progress: called after each GROUP BY.
    """
    axes = [_pieces(name, column, _share(questions, len(ballots))) for name, column in questions]
    shape = tuple(column.channel.outputs for _, column in questions)
    totals = {ballot: np.zeros(shape) for ballot in ballots}
    for done, pieces in enumerate(product(*axes)):
        keys, counts = engine.count_words(pieces, None if single else ballots)
        numbers = keys if single else keys[:, 1:]
        paired = [(piece, column) for piece, (_, column) in zip(pieces, questions, strict=True)]
        cells = np.ix_(*(_cells(*each) for each in paired))
        for ballot in ballots:
            here = slice(None) if single else keys[:, 0] == ballot
            parts = [_members(*each, numbers[here, i]) for i, each in enumerate(paired)]
            totals[ballot][cells] = _together(parts, counts[here].astype(np.float64))
        progress(done + 1, prod(map(len, axes)))
    whole = told.channel.output_shape
    return {ballot: np.rint(total).astype(np.int64).reshape(whole) for ballot, total in totals.items()}


def _share(questions: Questions, ballots: int) -> int:
    """How many digits the words of each set may have, so that not too many groups come back."""
    sets = sum(isinstance(column.channel, Support) for _, column in questions)
    others = prod(column.channel.outputs for _, column in questions if not isinstance(column.channel, Support))
    left = WORDS - (others * ballots - 1).bit_length()
    return max(1, left // sets)


def _pieces(name: str, column: Column, digits_each: int) -> list[Piece]:
    channel = column.channel
    if not isinstance(channel, Support):
        reports = int(np.prod(column.collapsed[0])) if column.collapsed else channel.reports
        return [Piece(name, reports)]
    starts = range(0, channel.inputs, digits_each)
    return [Piece(name, 1 << min(digits_each, channel.inputs - first), channel, first) for first in starts]


def _cells(piece: Piece, column: Column) -> NDArray[np.int64]:
    """The cells that a piece tells of: its truths and, last, the number of reports; or all categories."""
    if piece.channel is None:
        return np.arange(column.channel.outputs)
    return np.append(np.arange(piece.first, piece.first + piece.count), piece.channel.inputs)


def _members(piece: Piece, column: Column, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    if piece.channel is not None:
        return digits(numbers, piece.count)
    return column.channel.members(column.narrow(numbers))


def _together(parts: Sequence[NDArray[np.float64]], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum over groups of the outer product of what each of their words holds."""
    *heads, last = parts
    joint = counts[:, None]
    for held in heads:
        joint = (joint[:, :, None] * held[:, None, :]).reshape(len(counts), -1)
    return (joint.T @ last).reshape([part.shape[1] for part in parts])


def check_extremes(column: str, low: int | None, high: int | None, missing: int, size: int) -> None:
    """Refuse codes that the design cannot have made: a word would just not see them."""
    if missing:
        raise InputError(
            f"column {column!r} must hold whole-number codes without gaps; it has {missing} missing values",
            column=column,
        )
    if low is None or high is None:
        return
    if low < 0 or high >= size:
        raise InputError(
            f"column {column!r} has the code {low if low < 0 else high}, which no answer of this design can have (they "
            f"are 0 .. {size - 1}). Is it the design these reports were made by?",
            column=column,
        )

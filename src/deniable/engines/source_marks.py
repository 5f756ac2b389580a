"""Fingerprints of a source, by which it is known again: of its bytes, and of the answers in it.

The bytes are the same wherever a file was moved or copied to, and whatever time it bears. The answers are the same when
a table was written anew in another format, with other columns beside them, or with other names for columns and
categories: of each column only counts in which rows a value comes that came before. Of numbers that go into bins that
is counted twice, of the bins and of the numbers themselves: the same people are known again in other bins, and where
their numbers stood in the bins before. A table whose rows were sorted, or a short one with one row more, is another.

Of a graph the edges are one mark, and what the graph looks like without the names of its nodes another: a number for
each node that follows from its neighbours' numbers alone, which follow from their neighbours', a few times over.

All of these are hashes under a secret key of the record that keeps them (`disguise_record`): without it they tell
nothing. With it they tell whoever guesses a whole table that the guess is right.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

import numpy as np

from deniable.files.object_storage import Object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BLOCK = 1 << 22
_ROUNDS, _ODD = 4, np.uint64(0x9E3779B97F4A7C15)
LEAST_BITS = 64  # of a column, for its table to be known by it: alike by chance less than once in 10^19


def of_bytes(place: Path | Object, key: bytes) -> str:
    """The mark of a file's bytes."""
    made = hmac.new(key, digestmod="sha256")
    with place.stream() if isinstance(place, Object) else place.open("rb") as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def of_lines(lines: Iterable[bytes], key: bytes) -> str:
    """The mark of texts in their order."""
    made = hmac.new(key, digestmod="sha256")
    for line in lines:
        made.update(len(line).to_bytes(8, "big") + line)
    return made.hexdigest()


class Column:
    """What a column's mark is made of: in which rows a value comes that came before.

    Args:
        size: how many values there are, each of which has a number below it.
        key: the record's secret.
    """

    def __init__(self, size: int, key: bytes) -> None:
        self._made = hmac.new(key, digestmod="sha256")
        self._rank = np.full(size, -1, dtype=np.int64)
        self._count = np.zeros(size, dtype=np.int64)

    def add(self, codes: NDArray[np.integer]) -> None:
        """Take the next rows."""
        np.add(self._count, np.bincount(codes, minlength=len(self._count)), out=self._count)
        _rank(codes, self._rank, self._count)
        self._made.update(self._rank.astype("<u4")[codes].tobytes())

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return int(self._count.sum())

    @property
    def bits(self) -> float:
        """How many bits the column tells."""
        return _bits(self._count)

    def digest(self) -> bytes:
        """The mark of the rows until now."""
        return self._made.digest()


def of_numbers(numbers: Iterable[NDArray[np.float64]], key: bytes) -> Column:
    """A column of numbers, each by itself."""
    found, codes = np.unique(np.concatenate([*numbers, np.empty(0)]) + 0.0, return_inverse=True)
    column = Column(len(found), key)
    column.add(codes)
    return column


def of_columns(columns: Sequence[Column], key: bytes) -> str:
    """The mark of columns in whatever order they come.

    None (an empty text) of so few rows, or so even ones, that those of other people could well be the same.
    """
    if max(column.bits for column in columns) < LEAST_BITS:
        return ""
    return of_lines([str(columns[0].rows).encode(), *sorted(column.digest() for column in columns)], key)


def of_graph(one: NDArray[np.int64], other: NDArray[np.int64], key: bytes) -> str:
    """The mark of a graph's edges between nodes without names; none where too many nodes look alike.

    Args:
        one: an end of each edge, a number.
        other: its other end.
        key: the record's secret.
    """
    _, ends = np.unique(np.concatenate([one, other]), return_inverse=True)
    back = np.roll(ends, len(one))
    order = np.argsort(ends, kind="stable")
    neighbours, starts = back[order], np.flatnonzero(np.diff(ends[order], prepend=-1))
    looks = np.ones(len(starts), dtype=np.uint64)
    for _ in range(_ROUNDS if len(starts) else 0):
        looks = _mixed(looks * _ODD + np.add.reduceat(_mixed(looks)[neighbours], starts))
    if _bits(np.unique(looks, return_counts=True)[1]) < LEAST_BITS:
        return ""
    return of_lines([str(len(one)).encode(), np.sort(looks).astype("<u8").tobytes()], key)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers as far apart as can be, whatever they were: two of them alike by chance once in 2^64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def _rank(codes: NDArray[np.integer], rank: NDArray[np.int64], count: NDArray[np.int64]) -> None:
    """Number the categories that come for the first time, in the order in which they come."""
    if ((count > 0) & (rank < 0)).any():
        found, first = np.unique(codes, return_index=True)
        new = found[np.argsort(first)]
        new = new[rank[new] < 0]
        rank[new] = np.arange(len(new)) + (rank.max() + 1)


def _bits(count: NDArray[np.int64]) -> float:
    """How many bits a column tells whose rows were drawn from its own shares, one by one: n times their entropy.

    >>> _bits(np.array([50, 50])), _bits(np.array([99, 0]))
    (100.0, 0.0)
    """
    some = count[count > 0]
    return float((some * (np.log2(max(1, some.sum())) - np.log2(some))).sum())


def state(place: Path | Object) -> tuple[int, ...]:
    """What cannot stay the same when a file is changed while a program runs: not even with its old time given back."""
    if isinstance(place, Object):
        return place.state()
    found = place.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

"""By what a source is known again: its bytes, and the answers in it.

The bytes are the same wherever a file was moved or copied to, and whatever time it bears. The answers are the same when
a table was written anew in another format, with other columns beside them, or with other names for columns and
categories: of each column only counts in which rows a category comes that came before. A table whose rows were sorted,
or a short one that has one row more, is another.

Both are hashes under a secret key of the record that keeps them (`frames.record`): without it they tell nothing. With
it they tell whoever guesses a whole table that the guess is right.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

import numpy as np

from deniable.designs.objects import Object

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

_BLOCK = 1 << 22
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


def of_columns(batches: Iterable[list[NDArray[np.integer]]], sizes: list[int], key: bytes) -> str:
    """The mark of columns of codes, whichever number stands for a category and in whatever order they come.

    None (an empty text) of so few rows, or so even ones, that those of other people could well be the same.

    Args:
        batches: the codes of each column, a batch of rows after the other.
        sizes: how many categories each column has.
        key: the record's secret.
    """
    made = [hmac.new(key, digestmod="sha256") for _ in sizes]
    ranks = [np.full(size, -1, dtype=np.int64) for size in sizes]
    counts = [np.zeros(size, dtype=np.int64) for size in sizes]
    for batch in batches:
        for codes, rank, count, column in zip(batch, ranks, counts, made, strict=True):
            np.add(count, np.bincount(codes, minlength=len(rank)), out=count)
            _rank(codes, rank, count)
            column.update(rank.astype("<u1" if len(rank) <= 256 else "<u4")[codes].tobytes())
    if max(map(_bits, counts)) < LEAST_BITS:
        return ""
    return of_lines([str(counts[0].sum()).encode(), *sorted(column.digest() for column in made)], key)


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

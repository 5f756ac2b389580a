"""A set of unordered pairs of nodes: one bit a pair, or the list of its members, whichever was said to be smaller.

Pairs i < j of n nodes are numbered row by row, (0, 1), (0, 2), ..., (n - 2, n - 1):

    number(i, j) = i (2 n - i - 1) / 2 + j - i - 1,      there are  N = n (n - 1) / 2.

As bits the set takes N / 8 bytes whatever it holds (625 MB for 100,000 nodes); as a list, 8 bytes a member.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MOST_NODES = 1 << 17  # 1.1 GB of bits
LIST_BELOW = 1 / 128  # a list of 8-byte numbers is half as large as bits at this density
_SPAN = 1 << 17  # bytes unpacked at a time


def pairs_of(n: int) -> int:
    """N = n (n - 1) / 2, the number of pairs of n nodes.

    >>> pairs_of(4)
    6
    """
    return n * (n - 1) // 2


def check_size(n: int) -> int:
    """Refuse a number of nodes without pairs, or with more pairs than are kept in memory."""
    if n < 2:
        raise InputError(f"a graph of {n} nodes has no pair of nodes that could be an edge; at least 2 are needed", n=n)
    if n > MOST_NODES:
        raise InputError(
            f"{n} nodes make {pairs_of(n)} pairs, {pairs_of(n) / 8e9:.1f} GB even at one bit each; at most "
            f"{MOST_NODES} nodes are taken. Split the graph into communities, or ask a random sample of the nodes",
            n=n,
        )
    return n


def number(i: NDArray[np.int64], j: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Number the pairs i < j of n nodes."""
    return i * (2 * n - i - 1) // 2 + j - i - 1


def endpoints(numbers: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Invert `number`, in integers.

    >>> i, j = endpoints(np.arange(6), 4)
    >>> i.tolist(), j.tolist(), number(i, j, 4).tolist()
    ([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], [0, 1, 2, 3, 4, 5])
    """
    rows = np.arange(n, dtype=np.int64)
    starts = number(rows, rows + 1, n)[:-1]
    i = np.searchsorted(starts, numbers, side="right") - 1
    return i, numbers - starts[i] + i + 1


@dataclass(frozen=True, eq=False)
class PairSet(Frozen):
    """Some of the pairs of n nodes.

    Attributes:
        n: the number of nodes.
        data: bits (uint8, pair k is bit k % 8 of byte k // 8), or the members' numbers (int64, ascending).
    """

    n: int
    data: NDArray[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        total = pairs_of(check_size(self.n))
        if self.packed:
            spare = -total % 8
            if self.data.shape != (-(-total // 8),) or (spare and self.data[-1] >> (8 - spare)):
                raise InputError(f"{self.data.size} bytes are not one bit for each of {total} pairs and zeros behind")
        elif self.data.dtype != np.int64 or self.data.ndim != 1:
            raise InputError(f"pairs are bits (uint8) or numbers (int64), not {self.data.dtype}")
        elif self.data.size and not (self.data[0] >= 0 and self.data[-1] < total and (np.diff(self.data) > 0).all()):
            raise InputError(f"the numbers of pairs must ascend within 0 .. {total - 1}")

    @property
    def packed(self) -> bool:
        """Whether the set is kept as bits."""
        return self.data.dtype == np.uint8

    def __len__(self) -> int:
        return int(np.bitwise_count(self.data).sum(dtype=np.int64)) if self.packed else len(self.data)

    def numbers(self) -> Iterator[NDArray[np.int64]]:
        """The members' numbers, ascending, some at a time."""
        if not self.packed:
            yield from (self.data[start : start + _SPAN] for start in range(0, len(self.data), _SPAN))
            return
        for start in range(0, len(self.data), _SPAN):
            yield places(self.data[start : start + _SPAN]) + 8 * start

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """How many members each node is in."""
        if not self.packed:
            return readonly(np.bincount(np.concatenate(endpoints(self.data, self.n)), minlength=self.n))
        out = np.zeros(self.n, dtype=np.int64)
        few = np.zeros(self.n, dtype=np.uint8)  # sums of up to 255 rows: adding bytes is fast
        for i in range(self.n - 1):
            row = self.row(i)
            out[i] += np.count_nonzero(row)
            few[i + 1 :] += row
            if i % 255 == 254:
                out += few
                few[:] = 0
        return readonly(out + few)

    def row(self, i: int) -> NDArray[np.uint8]:
        """Ones at the partners j > i of node i, j = i + 1 .. n - 1. Of a packed set."""
        start = i * (2 * self.n - i - 1) // 2
        stop = start + self.n - 1 - i
        return _unpacked(self.data[start // 8 : -(-stop // 8)])[start % 8 : start % 8 + stop - start]

    def flags(self) -> NDArray[np.uint8]:
        """One byte a pair: 1 for members, 0 for others."""
        total = pairs_of(self.n)
        if self.packed:
            return _unpacked(self.data)[:total]
        out = np.zeros(total, dtype=np.uint8)
        out[self.data] = 1
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairSet) or self.n != other.n:
            return False
        if self.packed == other.packed:
            return np.array_equal(self.data, other.data)
        return np.array_equal(self.flags(), other.flags())

    __hash__ = None  # type: ignore[assignment]


def places(packed: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The places of the ones among bits; bytes without any, most of them in a sparse set, are passed over.

    >>> places(np.array([0, 0b101], dtype=np.uint8)).tolist()
    [8, 10]
    """
    some = np.flatnonzero(packed)
    byte, bit = np.nonzero(_unpacked(packed[some]).reshape(-1, 8))
    return 8 * some[byte] + bit


def _unpacked(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.unpackbits(data, bitorder="little")

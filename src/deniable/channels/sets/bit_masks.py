"""Sets of categories as binary numbers: bit v is set when category v is in the set.

Up to 53 categories a set is one number, the most that every reader of JSON takes exactly. More categories take a row of
64-bit words.

A channel of sets says once, in whole numbers, which categories a report holds (`Support.word`). NumPy can compute it,
and so can every engine that knows +, -, *, /, %, &, >> and =, so that sets are counted where they lie.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from deniable.channels.channel import CHUNK
from deniable.channels.sets.support import Support
from deniable.device.channels.channel_kind import IN_ONE_NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.randomness import Source, Stream


class Numbers(Protocol):
    """Whole numbers, one a report: an array, or a column of a table somewhere."""

    def __add__(self, other: Self | int, /) -> Self:
        """The sum."""
        ...

    def __sub__(self, other: Self | int, /) -> Self:
        """The difference."""
        ...

    def __mul__(self, other: Self | int, /) -> Self:
        """The product."""
        ...

    def __floordiv__(self, other: int, /) -> Self:
        """The quotient, rounded down; of numbers below 2^53, so that decimals give it too."""
        ...

    def __mod__(self, other: int, /) -> Self:
        """The remainder."""
        ...

    def __and__(self, other: Self | int, /) -> Self:
        """Binary digits that both have; of truths, whether both hold."""
        ...

    def __rshift__(self, other: int, /) -> Self:
        """Binary digits further down."""
        ...


if TYPE_CHECKING:
    Choose = Callable[[object, int], Numbers]  # the number where a condition holds, else 0


def digits(words: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The lowest binary digits of words, a row each, and a one for the report itself.

    >>> digits(np.array([5]), 3).tolist()
    [[1.0, 0.0, 1.0, 1.0]]
    """
    rows = np.ones((len(words), count + 1))
    rows[:, :count] = (words[:, None] >> np.arange(count)) & 1
    return rows


_PIECE = 16  # bits of a word that are counted at a time
_WORDS = 1 << 17  # words that are added up together ...
_LEFT = 128  # ... until so many are left
_FEW = 1 << 11  # masks that are written out, a byte a bit
_MANY = 1 << 16  # masks from which on adding is faster


class Mask(Support):
    """A channel whose report is a mask; it supplies `_masks`."""

    @property
    def reports(self) -> int:
        """Every set of categories."""
        return 1 << self.inputs

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned type that holds a set."""
        return np.min_scalar_type(self.reports - 1) if self.inputs <= IN_ONE_NUMBER else np.dtype(np.uint64)

    @abstractmethod
    def _masks(self, codes: NDArray[np.integer], stream: Stream) -> NDArray[np.uint64]:
        """Disguise some truths, a row of words each."""

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        """Disguise answers, given as codes: a number each, or a row of 64-bit words beyond 53 categories."""
        given = self.codes(codes)
        flat, stream = given.ravel(), source.stream()
        width = words(self.inputs)
        chunk = max(1, CHUNK // (8 * width))
        out = np.empty((flat.size, width), dtype=self.report_dtype)
        for start in range(0, flat.size, chunk):
            out[start : start + chunk] = self._masks(flat[start : start + chunk], stream)
        return out.reshape(given.shape if self.inputs <= IN_ONE_NUMBER else (*given.shape, width))

    def word(self, opened: Sequence[Numbers], first: int, count: int, choose: Choose) -> Numbers:  # noqa: ARG002
        """The mask's own digits."""
        return (opened[0] >> first) & ((1 << count) - 1)

    def tally(self, reports: NDArray[Any], times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """How many sets hold each category, and how many sets there are; `times` says how often each came."""
        rows = np.asarray(reports, dtype=self.report_dtype).reshape(-1, words(self.inputs))
        return np.append(held(rows, self.inputs, times), len(rows) if times is None else times.sum())

    def every_report(self, most: int) -> NDArray[Any] | None:
        """Every set."""
        return np.arange(self.reports) if self.reports <= most else None

    def members(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """The sets as rows of zeros and ones, and a one for the report itself."""
        rows = np.asarray(reports).astype("<u8").reshape(-1, words(self.inputs))
        bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, : self.inputs]
        return np.column_stack([bits, np.ones(len(bits), dtype=np.uint8)]).astype(np.float64)


def words(categories: int) -> int:
    """How many 64-bit words a set takes."""
    return -(-categories // 64)


def held(rows: NDArray[Any], categories: int, times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
    """Count for every category the masks that hold it (each as many times as it came); a row of words a mask."""
    parts = [np.ascontiguousarray(rows[:, word]) for word in range(rows.shape[1])]
    if times is None and len(rows) <= _FEW:
        bits = np.unpackbits(np.ascontiguousarray(rows, dtype="<u8").view(np.uint8), axis=1, bitorder="little")
        return bits.sum(axis=0, dtype=np.int64)[:categories]
    if times is None and len(rows) >= _MANY:
        return np.concatenate([_added(part) for part in parts])[:categories]
    return np.concatenate([_piece_by_piece(part, times) for part in parts])[:categories]


def _piece_by_piece(masks: NDArray[Any], times: NDArray[np.integer] | None) -> NDArray[np.int64]:
    """Sixteen bits are counted at a time, as one number; how often each bit was set follows from 2^16 counts."""
    pieces = masks.astype("<u8").view("<u2").reshape(-1, 4)
    counts = np.zeros(64, dtype=np.int64)
    for i in range(-(-masks.itemsize * 8 // _PIECE)):
        seen = np.bincount(pieces[:, i], times, 1 << _PIECE)
        for bit in range(_PIECE):
            # The numbers with this bit set are every second stretch of 2^bit.
            counts[i * _PIECE + bit] = seen.reshape(-1, 2, 1 << bit)[:, 1].sum()
    return counts


def _added(masks: NDArray[Any]) -> NDArray[np.int64]:
    """Add up all bits of a word side by side, as circuits do; a word of 64 bits holds several narrow masks."""
    counts = np.zeros(64, dtype=np.int64)
    chunk = _WORDS * 8 // masks.itemsize
    for start in range(0, len(masks), chunk):
        part = masks[start : start + chunk]
        if len(part) < chunk:  # empty masks add nothing
            part = np.concatenate([part, np.zeros(chunk - len(part), dtype=part.dtype)])
        planes = _planes(part.view("<u8"))
        bits = np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little").reshape(len(planes), -1, 64)
        counts += (bits.sum(axis=1, dtype=np.int64) << np.arange(len(planes))[:, None]).sum(axis=0)
    return counts.reshape(-1, masks.itemsize * 8).sum(axis=0)


def _planes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sums of bits at the same place of many words, in binary: row i holds the digits of 2^i of 128 sums a place.

    Halves are added to each other again and again. Of two numbers' digits a, b and a carry c, the sum's digit is
    a ^ b ^ c, and the next carry (a & b) | ((a ^ b) & c).
    """
    digits = [words]
    while len(digits[0]) > _LEFT:
        half, carry, added = len(digits[0]) // 2, None, []
        for digit in digits:
            one, other = digit[:half], digit[half:]
            both, either = one & other, one ^ other
            if carry is not None:
                both |= either & carry
                either ^= carry
            added.append(either)
            carry = both
        assert carry is not None
        digits = [*added, carry]
    return np.stack(digits)


def coins(weight: int, bits: int, shape: tuple[int, ...], stream: Stream) -> NDArray[np.uint64]:
    """Words of 64 independent coins, each up with probability weight / 2^bits, exactly.

    A coin is up when a uniform number below 2^bits is below the weight. Comparing 64 such numbers at once takes one
    random word for each binary digit, the least first: where the weight's digit is 1, a drawn 0 decides for "below";
    where it is 0, a drawn 1 decides for "not below"; otherwise the digits so far decide.
    """
    up = np.zeros(shape, dtype=np.uint64)
    drawn = np.empty(shape, dtype=np.uint64)
    low = (weight & -weight).bit_length() - 1  # digits below the lowest 1 cannot make a number smaller
    for digit in range(low, bits):
        stream.fill(drawn.reshape(-1))
        if weight >> digit & 1:
            np.bitwise_or(up, drawn, out=up)  # a drawn bit stands for the digit 0
        else:
            np.bitwise_and(up, drawn, out=up)
    return up


def single_bits(codes: NDArray[np.integer], width: int) -> NDArray[np.uint64]:
    """The masks of sets with one member."""
    where = codes.astype(np.uint64)
    out = np.zeros((len(codes), width), dtype=np.uint64)
    out[np.arange(len(codes)), (where >> np.uint64(6)).astype(np.int64)] = np.uint64(1) << (where & np.uint64(63))
    return out

"""Any channel, given column by column."""

from __future__ import annotations

from fractions import Fraction
from struct import pack, unpack
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import Kind, check_column, draws_of
from deniable.device.protocol.canonical_json import Whole
from deniable.device.random_draws import stretch
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.device.random_draws import Draw

PRIMES = (67108859, 67108837)  # full rank modulo either proves full rank; browsers use the same
_MOST_NAME = 100  # characters


class DenseWeights(Kind, frozen=True, tag="dense", tag_field="kind"):
    """columns[v][u] of 2^bits draws turn truth v into report u."""

    name: str
    columns: tuple[tuple[Whole, ...], ...]
    bits: Whole

    @property
    def truths(self) -> int:
        """The columns."""
        return len(self.columns)

    @property
    def reports(self) -> int:
        """The rows."""
        return len(self.columns[0])

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of two weights of the same report."""
        return max(Fraction(max(row), min(row)) for row in zip(*self.columns, strict=True))

    def check(self, name: str) -> None:
        """Every column is as long as the first, without a zero, and sums to the number of draws."""
        whole = draws_of(self.bits, name)
        for column in self.columns:
            if len(column) != len(self.columns[0]):
                refuse("wrong-sum", f"question {name!r}: the columns of weights have different lengths")
            check_column(column, whole, name)

    def check_told(self, name: str) -> None:
        """The truth's distribution can be told from the reports': the columns are independent."""
        if not any(independent(self.columns, prime) for prime in PRIMES):
            refuse("tells-nothing", f"question {name!r}: the truth cannot be told from the reports")

    def check_leftover(self) -> None:
        """A name is no longer than names are."""
        if len(self.name) > _MOST_NAME:
            refuse("leftover", "the name of a channel is longer than names are")

    def outcome(self, truth: int, draw: Draw) -> int:
        """One draw: a stretch a report."""
        return stretch(self.columns[truth], draw(self.bits))


def independent(columns: Sequence[Sequence[int]], prime: int) -> bool:
    """Tell whether columns are independent modulo a prime below 2^26.

    >>> independent([[2, 1], [1, 2]], 67108859), independent([[2, 1], [4, 2]], 67108859)
    (True, False)
    """
    return len(columns) <= len(columns[0]) and all(adding(columns, prime))


def adding(columns: Sequence[Sequence[int]], prime: int) -> Iterator[bool]:
    """Tell of each column whether it adds to what those before it span, modulo a prime below 2^26.

    A hostile design may hold a thousand columns of a thousand weights. So a column is one long integer, with 64 bits
    an entry, and takes a multiple of another in two operations of it; entries are reduced when the column is done.

    >>> list(adding([[2, 1], [4, 2], [1, 2], [0, 1]], 67108859))
    [True, False, True, False]
    """
    size = len(columns[0])
    bases: list[tuple[int, int]] = []  # each with a 1 in its own place, counted in bits from the end, and 0 before it
    for column in columns:
        if len(bases) == size:  # everything is spanned
            yield False
            continue
        left = _joined([weight % prime for weight in column])
        for number, (place, base) in enumerate(bases, start=1):
            if factor := (left >> place & _ENTRY) % prime:
                left += base * (prime - factor)
            if number % _MOST_ADDED == 0:
                left = _joined(_entries(left, size, prime))
        entries = _entries(left, size, prime)
        pivot = next((place for place, entry in enumerate(entries) if entry), None)
        yield pivot is not None
        if pivot is not None:
            scale = pow(entries[pivot], -1, prime)
            bases.append((64 * (size - 1 - pivot), _joined([entry * scale % prime for entry in entries])))


_ENTRY = (1 << 64) - 1
_MOST_ADDED = (1 << 11) - 1  # products of two numbers below 2^26 that an entry has room for


def _joined(entries: list[int]) -> int:
    return int.from_bytes(pack(f">{len(entries)}Q", *entries), "big")


def _entries(joined: int, size: int, prime: int) -> list[int]:
    return [entry % prime for entry in unpack(f">{size}Q", joined.to_bytes(8 * size, "big"))]

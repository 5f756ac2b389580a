"""Any channel, given column by column."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.chance import stretch
from deniable.device.kinds.base import Kind, check_column, draws_of
from deniable.device.refusal import refuse
from deniable.device.wire import Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.device.chance import Draw

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
    """Tell whether columns are independent modulo a prime.

    >>> independent([[2, 1], [1, 2]], 67108859), independent([[2, 1], [4, 2]], 67108859)
    (True, False)
    """
    left = [[weight % prime for weight in column] for column in columns]
    while left:
        base = left.pop()
        pivot = next((place for place, entry in enumerate(base) if entry), None)
        if pivot is None:
            return False
        scale = base[pivot]
        for place, other in enumerate(left):
            if factor := other[pivot]:
                pairs = zip(other, base, strict=True)
                left[place] = [(entry * scale - factor * each) % prime for entry, each in pairs]
    return True

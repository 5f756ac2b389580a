"""Local hashing: a random hash function of the categories, and the disguised hash value of the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.chance import below
from deniable.device.kinds.base import SetKind
from deniable.device.kinds.krr import KRRWeights
from deniable.device.refusal import refuse
from deniable.device.wire import Whole

if TYPE_CHECKING:
    from fractions import Fraction

    from deniable.device.chance import Draw

PRIME = 65537
MOST_VALUES = 31  # functions and values then fit 53 bits


class HashingWeights(SetKind, frozen=True, tag="hashing", tag_field="kind"):
    """A random hash function of the k categories, and the disguised hash `value` of the truth."""

    k: Whole
    value: KRRWeights

    @property
    def truths(self) -> int:
        """The categories."""
        return self.k

    @property
    def reports(self) -> int:
        """Every function with every value."""
        return PRIME**3 * self.value.k

    @property
    def ratio(self) -> Fraction:
        """That of the value: which function it is says nothing about the answer."""
        return self.value.ratio

    def check(self, name: str) -> None:
        """The value is mostly kept, and functions and values fit one number."""
        self.value.check_mostly_true(name)
        if not 2 <= self.k <= PRIME or self.value.k > MOST_VALUES:
            refuse("wrong-cells", f"question {name!r}: {self.k} categories hashed to {self.value.k} values")

    def outcome(self, truth: int, draw: Draw) -> int:
        """The function's A, B and C, each an even number below 65537; then one draw for the hash value."""
        a, b, c = (below(PRIME, draw) for _ in range(3))
        hashed = (a + b * truth + c * truth**2) % PRIME * self.value.k // PRIME
        return ((a * PRIME + b) * PRIME + c) * self.value.k + self.value.disguise(hashed, draw)

"""A line of an affine plane: one that runs through the truth's point, more often than by chance."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from deniable.device.chance import below
from deniable.device.kinds.base import Kind, check_share, draws_of, either
from deniable.device.refusal import refuse
from deniable.device.wire import Whole

if TYPE_CHECKING:
    from deniable.device.chance import Draw

ORDERS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)  # primes


class BlockDesignWeights(Kind, frozen=True, tag="block_design", tag_field="kind"):
    """`own` of 2^bits draws report one of the q + 1 lines through the truth, the rest one of the q^2 - 1 others.

    Categories are the k = q^2 points (x, y) of a plane modulo the prime q, numbered x q + y. Line i q + c holds the
    points with y = i x + c where i < q, and those with x = c where i = q.
    """

    k: Whole
    own: Whole
    bits: Whole

    @property
    def q(self) -> int:
        """The order of the plane: points on a line."""
        return isqrt(self.k)

    @property
    def truths(self) -> int:
        """The points."""
        return self.k

    @property
    def reports(self) -> int:
        """The lines: q in each of q + 1 directions."""
        return self.k + self.q

    @property
    def ratio(self) -> Fraction:
        """(own / (q + 1)) / (rest / (q^2 - 1)) = own (q - 1) / rest, or its inverse."""
        return either(Fraction(self.own * (self.q - 1), (1 << self.bits) - self.own))

    def check(self, name: str) -> None:
        """There is such a plane, and lines through the truth do not come just by chance."""
        whole = draws_of(self.bits, name)
        if self.k < 4 or self.q**2 != self.k or self.q not in ORDERS:
            refuse("wrong-cells", f"question {name!r}: a plane of {self.k} points; it has the square of a prime")
        check_share(self.own, whole, name)
        if self.own * self.q == whole:
            refuse("tells-nothing", f"question {name!r}: every line comes alike, whatever the truth")

    def outcome(self, truth: int, draw: Draw) -> int:
        """A draw, then an even number below (q + 1)(q^2 - 1): which line through the truth, or which of the others."""
        q, is_kept = self.q, draw(self.bits) < self.own
        even = below((q + 1) * (self.k - 1), draw)
        direction, aside = (even % (q + 1), 0) if is_kept else divmod(even % (self.k - 1), q - 1)
        x, y = divmod(truth, q)
        through = x if direction == q else y - direction * x
        return direction * q + (through + aside + (0 if is_kept else 1)) % q

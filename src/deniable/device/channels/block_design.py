"""A hyperplane of a finite geometry: one that runs through the truth's point, more often than by chance."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from deniable.device.channels.channel_kind import CategoryKind, check_share, draws_of, either
from deniable.device.channels.finite_field import is_field, less, times
from deniable.device.protocol.canonical_json import Whole
from deniable.device.random_draws import below
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw

PLANES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)  # primes
MOST_POINTS = 1 << 22


def dimension(k: int, order: int) -> int:
    """The dimension of the least space, from planes on, that has k points.

    >>> dimension(9, 3), dimension(10, 3), dimension(2, 3)
    (2, 3, 2)
    """
    found = 2
    while order**found < k:
        found += 1
    return found


class BlockDesignWeights(CategoryKind, frozen=True, tag="block_design", tag_field="kind", omit_defaults=True):
    """`own` of 2^bits draws report one of the hyperplanes through the truth, the rest one of the others.

    Categories are the first k points of the space over the field with q elements, numbered by their coordinates as
    digits, the first the most significant. A direction makes one coordinate count, less so many times those before it:
    hyperplane i q + c holds the points for which direction i gives c. In a plane, where k = q^2, line i q + c holds the
    points (x, y) with y = i x + c where i < q, and those with x = c where i = q.

    Without `order`, q is a prime and k its square: a whole plane.
    """

    own: Whole
    bits: Whole
    order: Annotated[int, Meta(ge=2, lt=1 << 32)] = 0

    @property
    def q(self) -> int:
        """How many points a line has."""
        return self.order or isqrt(max(self.k, 0))

    @property
    def directions(self) -> int:
        """In how many directions hyperplanes lie."""
        return int((self.q ** dimension(self.k, self.q) - 1) // (self.q - 1))

    @property
    def reports(self) -> int:
        """The hyperplanes: q in each direction."""
        return self.q * self.directions

    @property
    def ratio(self) -> Fraction:
        """(own / directions) / (rest / (directions (q - 1))) = own (q - 1) / rest, or its inverse."""
        return either(Fraction(self.own * (self.q - 1), (1 << self.bits) - self.own))

    def check(self, name: str) -> None:
        """There is such a space, written in one way only, and what runs through the truth does not come by chance."""
        whole = draws_of(self.bits, name)
        q = self.q
        if not self.order and (self.k < 4 or q**2 != self.k or q not in PLANES):
            refuse("wrong-cells", f"question {name!r}: a plane of {self.k} points; it has the square of a prime")
        if self.order and (
            self.k < 3
            or not is_field(q)
            or self.k > MOST_POINTS
            or q ** dimension(self.k, q) > MOST_POINTS
            or (q in PLANES and q**2 == self.k)
        ):
            refuse("wrong-cells", f"question {name!r}: {self.k} points of a space over {q} elements")
        check_share(self.own, whole, name)
        if self.own * q == whole:
            refuse("tells-nothing", f"question {name!r}: every line comes alike, whatever the truth")

    def through(self, truth: int, direction: int) -> int:
        """What a direction gives at a point: which of its q hyperplanes runs through it."""
        q, at = self.q, dimension(self.k, self.q) - 1
        while direction >= q**at:  # first those in which the last coordinate counts, then the one before it
            direction, truth, at = direction - q**at, truth // q, at - 1
        truth, found = divmod(truth, q)
        for _ in range(at):
            direction, slope = divmod(direction, q)
            truth, coordinate = divmod(truth, q)
            found = less(found, times(slope, coordinate, q), q)
        return found

    def outcome(self, truth: int, draw: Draw) -> int:
        """A draw, then an even number: which hyperplane through the truth, or which of the others.

        In a whole plane the number is below (q + 1)(q^2 - 1), else below q^d - 1: a direction, and how far aside.
        """
        q, is_kept = self.q, draw(self.bits) < self.own
        others = self.directions * (q - 1)
        if self.order:
            even = below(others, draw)
            direction, aside = divmod(even, q - 1)
        else:
            even = below((q + 1) * others, draw)
            direction, aside = (even % (q + 1), 0) if is_kept else divmod(even % others, q - 1)
        return direction * q + (self.through(truth, direction) + (0 if is_kept else aside + 1)) % q

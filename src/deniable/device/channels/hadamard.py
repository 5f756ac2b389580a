"""Hadamard response: a column of a Hadamard matrix that the truth's row likes, more often than another."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import CategoryKind, draws_of
from deniable.device.protocol.canonical_json import Whole
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw

MOST_CATEGORIES = (1 << 20) - 1


class HadamardWeights(CategoryKind, frozen=True, tag="hadamard", tag_field="kind"):
    """`other` of 2^bits draws lead to each column of a Hadamard matrix that the truth's row dislikes."""

    other: Whole
    bits: Whole

    @property
    def reports(self) -> int:
        """The columns: the next power of two above the number of categories."""
        return 1 << self.k.bit_length()

    @property
    def both(self) -> int:
        """The draws of two columns, one liked and one not."""
        return (2 << self.bits) >> self.k.bit_length()

    @property
    def ratio(self) -> Fraction:
        """The draws of a liked column over those of another."""
        return Fraction(self.both - self.other, self.other)

    def check(self, name: str) -> None:
        """Every column has a draw for every row, and those that the row likes have more."""
        draws_of(self.bits, name)
        if not 2 <= self.k <= MOST_CATEGORIES:
            refuse("wrong-cells", f"question {name!r}: a Hadamard matrix for {self.k} truths")
        if self.other < 1 or self.other == self.both:
            refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
        if self.other > self.both:
            refuse("wrong-sum", f"question {name!r}: {self.other} draws for a column are more than {self.both} for two")
        if 2 * self.other >= self.both:
            refuse("tells-nothing", f"question {name!r}: columns that the truth likes come no more often than others")

    def outcome(self, truth: int, draw: Draw) -> int:
        """One draw: pair after pair of columns, which differ in the row's lowest digit; the liked one first."""
        slot, within = divmod(draw(self.bits), self.both)
        row = truth + 1
        digit = row & -row
        column = ((slot & -digit) << 1) | (slot & (digit - 1))  # the slot with a 0 put in at that digit
        is_odd = (column & row).bit_count() % 2 == 1
        return column | digit if is_odd == (within < self.both - self.other) else column

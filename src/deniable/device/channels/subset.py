"""Subset selection: d of the k categories, the truth among them more often than by chance."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import SetKind, check_fits_one_number, check_share, draws_of, either, set_of
from deniable.device.protocol.canonical_json import Whole
from deniable.device.random_draws import below
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class SubsetWeights(SetKind, frozen=True, tag="subset", tag_field="kind"):
    """A set of d categories: `own` of 2^bits draws put the truth into it; the others are drawn evenly."""

    d: Whole
    own: Whole
    bits: Whole

    @property
    def ratio(self) -> Fraction:
        """P (k - d) / ((1 - p) d), or its inverse."""
        return either(Fraction(self.own * (self.k - self.d), ((1 << self.bits) - self.own) * self.d))

    def check(self, name: str) -> None:
        """There are such sets, and the truth is not in them just by chance."""
        whole = draws_of(self.bits, name)
        check_fits_one_number(self.k, name)
        if not 1 <= self.d < self.k:
            refuse("wrong-cells", f"question {name!r}: sets of {self.d} out of {self.k} categories")
        check_share(self.own, whole, name)
        if self.own * self.k == self.d * whole:
            refuse("tells-nothing", f"question {name!r}: every category is in the set alike, whatever the truth")

    def can_be(self, code: int) -> bool:
        """Only sets of d: one of another size would weigh more than one that was drawn."""
        return super().can_be(code) and code.bit_count() == self.d

    def outcome(self, truth: int, draw: Draw) -> int:
        """A draw below `own` puts the truth in; then Floyd's rounds, each an even number below j + 1."""
        is_kept = draw(self.bits) < self.own
        others = self.k - 1
        found: set[int] = set()
        for j in range(others - self.d, others):
            drawn = below(j + 1, draw)
            if not (is_kept and j == others - self.d):  # without its first round, Floyd's algorithm takes one less
                found.add(j if drawn in found else drawn)
        return set_of([*(v if v < truth else v + 1 for v in found), *([truth] if is_kept else [])])

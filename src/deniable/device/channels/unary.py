"""Unary encoding: every category is its own yes-or-no question, and the report is the set of yeses."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import SetKind, check_fits_one_number, check_share, draws_of, either, set_of
from deniable.device.protocol.canonical_json import Whole
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class UnaryWeights(SetKind, frozen=True, tag="unary", tag_field="kind"):
    """A set: of 2^bits draws, one a category, `own` put the truth into it and `other` any other category."""

    own: Whole
    other: Whole
    bits: Whole

    @property
    def ratio(self) -> Fraction:
        """P (1 - q) / (q (1 - p)), or its inverse: two truths differ in two members."""
        whole = 1 << self.bits
        return either(Fraction(self.own * (whole - self.other), self.other * (whole - self.own)))

    def check(self, name: str) -> None:
        """No category is always or never in the set, and the truth not as often as others."""
        whole = draws_of(self.bits, name)
        check_fits_one_number(self.k, name)
        check_share(self.own, whole, name)
        check_share(self.other, whole, name)
        if self.own == self.other:
            refuse("tells-nothing", f"question {name!r}: every category is in the set alike, whatever the truth")

    def outcome(self, truth: int, draw: Draw) -> int:
        """A draw for each category, in order: it is in the set if the draw is below `own` (the truth) or `other`."""
        drawn = [draw(self.bits) for _ in range(self.k)]
        return set_of(v for v, each in enumerate(drawn) if each < (self.own if v == truth else self.other))

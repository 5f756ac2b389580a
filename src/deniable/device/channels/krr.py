"""k-ary randomized response: the truth, or any other category, each of the others alike."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import CategoryKind, draws_of, either
from deniable.device.protocol.canonical_json import Whole
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class KRRWeights(CategoryKind, frozen=True, tag="krr", tag_field="kind"):
    """`other` of 2^bits draws lead to each of the k - 1 other answers, the rest to the truth."""

    other: Whole
    bits: Whole

    @property
    def keep(self) -> int:
        """The draws that lead to the truth."""
        return (1 << self.bits) - (self.k - 1) * self.other

    @property
    def ratio(self) -> Fraction:
        """Keep / other, or its inverse where the truth is told less often than any lie."""
        return either(Fraction(self.keep, self.other))

    def check(self, name: str) -> None:
        """Every answer has a draw for every truth, and not all the same."""
        whole = draws_of(self.bits, name)
        if self.k < 2:
            refuse("wrong-cells", f"question {name!r} has a channel with {self.k} truths")
        if self.other < 1 or self.keep == 0:
            refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
        if self.keep < 0:
            refuse("wrong-sum", f"question {name!r}: {self.k - 1} times {self.other} draws are more than {whole}")
        if self.keep == self.other:
            refuse("tells-nothing", f"question {name!r}: every answer is reported alike")

    def check_mostly_true(self, name: str) -> None:
        """As a part of another channel, it must keep what it is given more often than anything else."""
        self.check(name)
        if self.k * self.other > 1 << self.bits:
            refuse("tells-nothing", f"question {name!r}: what is kept of a report comes less often than what is not")

    def outcome(self, truth: int, draw: Draw) -> int:
        """One draw: the k - 1 others in cyclic order, then the truth."""
        return (truth + 1 + min(draw(self.bits) // self.other, self.k - 1)) % self.k

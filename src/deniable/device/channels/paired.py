"""A yes-or-no answer of one of two respondents who share a coin."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from deniable.device.channels.channel_kind import Kind, draws_of
from deniable.device.protocol.canonical_json import Whole
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class PairedWeights(Kind, frozen=True, tag="paired", tag_field="kind"):
    """A yes-or-no answer is kept by `truthful` of 2^bits draws, and `shift` more or fewer as a shared coin fell."""

    truthful: Whole
    shift: Whole
    bits: Whole

    exchange: ClassVar[str] = "partner"

    @property
    def truths(self) -> int:
        """No and yes."""
        return 2

    @property
    def ratio(self) -> Fraction:
        """Against whoever knows the coin: the partner, or a server that matched the two and is not honest."""
        known = self.truthful + self.shift
        return Fraction(known, (1 << self.bits) - known)

    def check(self, name: str) -> None:
        """Mostly the truth, and whoever knows the coin is never certain."""
        lies = draws_of(self.bits, name) - self.truthful
        if self.shift < 0 or lies - self.shift < 0:
            refuse("wrong-sum", f"question {name!r}: the shared coin moves more draws than there are")
        if lies - self.shift == 0:
            refuse("zero-weight", f"question {name!r}: whoever knows the coin would know some answers for certain")
        if self.truthful <= lies:
            refuse("tells-nothing", f"question {name!r}: at least half of the answers would be lies")

    def outcome(self, truth: int, draw: Draw) -> int:
        """Without a coin: plain randomized response."""
        return truth if draw(self.bits) < self.truthful else 1 - truth

    def beside(self, truth: int, draw: Draw, side: int) -> int:
        """As often as the coin says."""
        if truth not in (0, 1) or side not in (1, -1):  # encoded and tossed before: this cannot be reached
            raise AssertionError("a yes-or-no answer has the code 0 or 1, and a coin points to +1 or -1")
        return truth if draw(self.bits) < self.truthful + side * self.shift else 1 - truth

"""A set that a panel keeps, and sends with every bit turned over anew with some chance."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import Kind, set_of
from deniable.device.channels.krr import KRRWeights
from deniable.device.channels.subset import SubsetWeights
from deniable.device.channels.unary import UnaryWeights
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class TwoLevelWeights(Kind, frozen=True, tag="two_level", tag_field="kind"):
    """The `first` set is drawn once for a panel; each time it is sent, every bit of it goes through `again`."""

    first: UnaryWeights | SubsetWeights
    again: KRRWeights

    @property
    def truths(self) -> int:
        """The first set's."""
        return self.first.truths

    @property
    def reports(self) -> int:
        """Every set."""
        return 1 << self.truths

    @property
    def ratio(self) -> Fraction:
        """The first set's, however many reports are made of it."""
        return self.first.ratio

    def check(self, name: str) -> None:
        """Both levels are sound, and a bit is kept more often than turned over."""
        self.first.check(name)
        self.again.check_mostly_true(name)
        if self.again.k != 2:
            refuse("wrong-cells", f"question {name!r}: a bit of a set has two values, not {self.again.k}")

    @property
    def kept(self) -> Kind:
        """The first set is drawn once."""
        return self.first

    @property
    def singled_out(self) -> Fraction:
        """Of a set of s, the likeliest kept one of d turns |s - d| bits over; of any size, none: (2 p)^k."""
        k, keep, other = self.truths, self.again.keep, self.again.other
        turned = [abs(s - self.first.d) if isinstance(self.first, SubsetWeights) else 0 for s in range(k + 1)]
        ways = sum(comb(k, s) * keep ** (k - over) * other**over for s, over in enumerate(turned))
        return Fraction(ways, 1 << (k * self.again.bits))

    def resend(self, kept: int, draw: Draw) -> int:
        """A draw for each category: below `other`, its bit is turned over."""
        turned = [draw(self.again.bits) < self.again.other for _ in range(self.truths)]
        return kept ^ set_of(v for v, over in enumerate(turned) if over)

    def outcome(self, truth: int, draw: Draw) -> int:
        """The draws of the kept set; then those of sending it."""
        return self.resend(self.first.disguise(truth, draw), draw)

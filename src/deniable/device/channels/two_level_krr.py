"""An answer that a panel keeps in disguise, and sends through another disguise each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import Kind
from deniable.device.channels.krr import KRRWeights
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from fractions import Fraction

    from deniable.device.random_draws import Draw


class TwoLevelKRRWeights(Kind, frozen=True, tag="two_level_krr", tag_field="kind"):
    """The `first` report is drawn once for a panel; each time it is sent, it goes through `again`."""

    first: KRRWeights
    again: KRRWeights

    @property
    def truths(self) -> int:
        """The first level's."""
        return self.first.truths

    @property
    def ratio(self) -> Fraction:
        """The first level's, however many reports are made of it."""
        return self.first.ratio

    def check(self, name: str) -> None:
        """Both levels are sound, of as many categories, and tell the truth more often than any lie."""
        self.first.check_mostly_true(name)
        self.again.check_mostly_true(name)
        if self.again.k != self.first.k:
            refuse("wrong-cells", f"question {name!r}: {self.first.k} categories are kept, {self.again.k} are sent")

    @property
    def kept(self) -> Kind:
        """The first level is drawn once."""
        return self.first

    @property
    def singled_out(self) -> Fraction:
        """The second level's: k p."""
        return self.again.singled_out

    def resend(self, kept: int, draw: Draw) -> int:
        """A draw of the second level."""
        return self.again.disguise(kept, draw)

    def outcome(self, truth: int, draw: Draw) -> int:
        """The draw of the kept report; then that of sending it."""
        return self.resend(self.first.disguise(truth, draw), draw)

"""A mixture whose integers are published block by block, within limits that keep the design's epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NoReturn

from deniable.device.channels.channel_kind import Kind, draws_of
from deniable.device.fake_limits import BITS, Limits
from deniable.device.protocol.canonical_json import Whole
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class AdaptiveWeights(Kind, frozen=True, tag="adaptive", tag_field="kind"):
    """A mixture whose integers are published block by block, within limits that keep the design's epsilon.

    At most `most_kept` of 2^bits draws keep the truth, at least `least_fake` lead to each of the `cells` fakes.
    """

    cells: Whole
    most_kept: Whole
    least_fake: Whole
    bits: Whole

    exchange: ClassVar[str] = "fake_blocks"

    @property
    def truths(self) -> int:
        """The categories."""
        return self.cells

    @property
    def limits(self) -> Limits:
        """What every block must keep."""
        return Limits(self.cells, self.most_kept, self.least_fake)

    @property
    def ratio(self) -> Fraction:
        """What no block within the limits exceeds: 1 + most kept / least fake."""
        return 1 + Fraction(self.most_kept, self.least_fake)

    def check(self, name: str) -> None:
        """There are blocks within the limits."""
        whole = draws_of(self.bits, name)
        if self.bits != BITS:
            refuse("wrong-bits", f"question {name!r}: blocks draw {BITS} bits, not {self.bits}")
        if min(self.most_kept, self.least_fake) < 1:
            refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
        if self.most_kept + self.cells * self.least_fake > whole:
            refuse("wrong-sum", f"question {name!r}: its limits ask for more than {whole} draws")

    def outcome(self, truth: int, draw: Draw) -> NoReturn:  # noqa: ARG002 - it makes nothing of them
        """Nothing: answers are disguised by a block's integers, never by the limits."""
        raise AssertionError("these answers are disguised by a block's integers")

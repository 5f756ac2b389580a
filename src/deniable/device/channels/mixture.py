"""The truth, or a fake drawn from a distribution of fakes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import Kind, check_column, draws_of
from deniable.device.protocol.canonical_json import Whole
from deniable.device.random_draws import stretch

if TYPE_CHECKING:
    from deniable.device.random_draws import Draw


class MixtureWeights(Kind, frozen=True, tag="mixture", tag_field="kind"):
    """`keep` of 2^bits draws keep the truth, fakes[v] report v."""

    keep: Whole
    fakes: tuple[Whole, ...]
    bits: Whole

    @property
    def truths(self) -> int:
        """The categories."""
        return len(self.fakes)

    @property
    def ratio(self) -> Fraction:
        """1 + keep / the rarest fake."""
        return 1 + Fraction(self.keep, min(self.fakes))

    def check(self, name: str) -> None:
        """Every fake has a draw, and all draws are spoken for."""
        check_column([self.keep, *self.fakes], draws_of(self.bits, name), name)

    def outcome(self, truth: int, draw: Draw) -> int:
        """One draw: those that keep the truth, then one stretch a fake."""
        place = stretch([self.keep, *self.fakes], draw(self.bits))
        return place - 1 if place else truth

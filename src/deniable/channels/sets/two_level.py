"""Sets that may be asked for again: a permanent disguise, and a fresh one on top of it each time.

A set repeated word for word is a pseudonym: with k categories there are 2^k sets, and hardly two people share one. So
a device that keeps its disguised answer (`first`, drawn once) sends it with every bit turned over anew with probability
q2 (RAPPOR's two levels, Erlingsson, Pihur & Korolova 2014). However often it is asked, all its reports together are
made from the first set alone and say no more than that: `ratio` is the first set's, for one report as for a thousand.

With p2 = 1 - q2, a category is in the report with q2 + (p2 - q2) times its chance to be in the first set, and two of
them with

    q2^2 + q2 (p2 - q2) (sum of their chances) + (p2 - q2)^2 (their joint chance).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.krr import part
from deniable.channels.sets.bit_masks import Mask, coins
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.support import Chances, Support
from deniable.channels.sets.unary import bit_by_bit
from deniable.device.channels.channel_kind import IN_ONE_NUMBER
from deniable.errors import DesignError, SingularChannelError
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from deniable.channels.krr import KRR
    from deniable.core.randomness import Stream


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TwoLevel(Mask):
    """A kept set, and fresh noise on each of its bits whenever it is sent.

    >>> from deniable.channels.krr import KRR
    >>> from deniable.channels.sets.unary import Unary
    >>> channel = TwoLevel(Unary(8, epsilon=2.0), KRR(2, epsilon=1.5))
    >>> channel.ratio == channel.first.ratio, channel.p - channel.q < channel.first.p - channel.first.q
    (True, True)
    """

    kind = "two_level"
    treats_alike = True

    first: Mask
    again: KRR

    def __init__(self, first: Support, again: KRR) -> None:
        """Take the channel of the kept set, and that of a bit each time it is sent."""
        if (
            not isinstance(first, Mask)
            or isinstance(first, TwoLevel)
            or again.inputs != 2
            or first.inputs > IN_ONE_NUMBER
        ):
            raise DesignError(
                f"two levels are a set of up to {IN_ONE_NUMBER} categories and a channel of two for each of its bits; "
                f"got {first.name} and {again.name}"
            )
        if again.keep <= again.other:
            raise SingularChannelError("a bit must be kept more often than turned over", keep=again.keep)
        fix(self, first=first, again=again)

    @property
    def inputs(self) -> int:  # type: ignore[override]
        """The first set's."""
        return self.first.inputs

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"TwoLevel({self.first.name})"

    @cached_property
    def ratio(self) -> Fraction | float:
        """The first set's, however many reports are made from it."""
        return self.first.ratio

    @cached_property
    def chances(self) -> Chances:
        """The first set's, each bit turned over with probability q2."""
        turned = Fraction(self.again.other, 1 << self.again.bits)
        rest, old = 1 - 2 * turned, self.first.chances

        def both(chance: Fraction, one: Fraction, two: Fraction) -> Fraction:
            return turned**2 + turned * rest * (one + two) + rest**2 * chance

        return Chances(
            turned + rest * old.p,
            turned + rest * old.q,
            both(old.own, old.p, old.q),
            both(old.other, old.q, old.q),
        )

    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a set says of the truth once its bits were turned over.

        Independent bits stay independent. A first set of d with j of the s sent members is s + d - 2 j turns away, and
        how many of the truth's fellow members are among the sent ones is hypergeometric.
        """
        if not isinstance(self.first, SubsetSelection):
            return bit_by_bit(self.p, self.q, self.inputs, sizes)
        d, others = self.first.d, self.inputs - 1
        different, back = np.unique(sizes, return_inverse=True)
        found = np.array([[self._sent(int(s), d, others, held=held) for s in different] for held in (True, False)])
        return found[0][back], found[1][back]

    def _sent(self, size: int, d: int, others: int, *, held: bool) -> float:
        """Pr(a given set of this size is sent | truth), the truth in it or not."""
        total = 0.0
        for kept, chance in ((True, self.first.p), (False, 1 - self.first.p)):
            beside, fellows = size - held, d - kept  # sent and kept members other than the truth
            for j in range(max(0, fellows + beside - others), min(fellows, beside) + 1):
                ways = comb(beside, j) * comb(others - beside, fellows - j) / comb(others, fellows)
                turns = (beside - j) + (fellows - j) + (held != kept)
                total += chance * ways * self.again.q**turns * self.again.p ** (self.inputs - turns)
        return total

    def resend(self, masks: NDArray[np.uint64], stream: Stream) -> NDArray[np.uint64]:
        """Turn the bits of kept sets over anew."""
        turned = coins(self.again.other, self.again.bits, masks.shape, stream)
        return masks ^ (turned & np.uint64((1 << self.inputs) - 1))

    def _masks(self, codes: NDArray[np.integer], stream: Stream) -> NDArray[np.uint64]:
        return self.resend(self.first._masks(codes, stream), stream)

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """Support counts of n people who report once: the first sets' counts, bits turned over."""
        kept = self.first.draw(pi, n, rng, replicates)[:-1].astype(np.int64)
        turned = self.again.q
        held = rng.binomial(kept, 1 - turned) + rng.binomial(n - kept, turned)
        return np.vstack([held, np.full(replicates, n)]).astype(np.float64)

    @classmethod
    def from_parts(cls, first: Mapping[str, Any], again: Mapping[str, Any]) -> TwoLevel:
        """Read what `to_dict` wrote."""
        from deniable.channels.read_channel import channel_from_dict  # which reads this kind too

        kept = channel_from_dict(first)
        if not isinstance(kept, Mask):
            raise TypeError(f"only sets are kept and sent again, not reports of {kept.name}")
        return cls(kept, part(again))

    def to_dict(self) -> dict[str, object]:
        """{"kind": "two_level", ...} with its two channels."""
        return {"kind": "two_level", "first": self.first.to_dict(), "again": self.again.to_dict()}

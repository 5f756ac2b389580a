"""Reports with two probabilities: a larger one for the truths of the report's pattern, a smaller one for the others."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.device.channels.channel_kind import CategoryKind, draws_of
from deniable.device.channels.dense import PRIMES, adding
from deniable.device.protocol.canonical_json import Whole
from deniable.device.random_draws import stretch
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.device.random_draws import Draw

MOST_TRUTHS = 256
_MOST_COUNTED = 1024  # patterns


class PatternsWeights(CategoryKind, frozen=True, tag="patterns", tag_field="kind", dict=True):
    """Report u has `high[u]` of 2^bits draws for the truths of its pattern, and `low[u]` for the others.

    `large[u]` is the pattern, a number in hexadecimal whose binary digits are its truths; patterns rise, so that there
    is one way to write them. The draws that are left of a truth make one more report, unless none is left of any.
    """

    large: tuple[str, ...]
    low: tuple[Whole, ...]
    high: tuple[Whole, ...]
    bits: Whole

    @property
    def reports(self) -> int:
        """The patterns, and the remainder where there is one."""
        return len(self.large) + any(self.remainder)

    @cached_property
    def remainder(self) -> tuple[int, ...]:
        """What the patterns leave of the draws of each truth."""
        left = [(1 << self.bits) - sum(self.low)] * self.k
        for text, low, high in zip(self.large, self.low, self.high, strict=True):
            pattern, more = int(text, 16), high - low
            while pattern:
                lowest = pattern & -pattern
                left[lowest.bit_length() - 1] -= more
                pattern ^= lowest
        return tuple(left)

    @property
    def sums(self) -> int | None:
        """As many as the patterns that are independent of each other and of everybody."""
        return sums_told([int(text, 16) for text in self.large], self.k)

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of two weights of the same report, the remainder's included."""
        ratios = [Fraction(high, low) for low, high in zip(self.low, self.high, strict=True)]
        if any(self.remainder):
            ratios.append(Fraction(max(self.remainder), min(self.remainder)))
        return max(ratios)

    def check(self, name: str) -> None:
        """Patterns are rising sets of some truths, every report has draws for every truth, and none has too many."""
        draws_of(self.bits, name)
        if not 2 <= self.k <= MOST_TRUTHS:
            refuse("wrong-cells", f"question {name!r}: patterns of {self.k} truths; there are 2 to {MOST_TRUTHS}")
        if not len(self.large) == len(self.low) == len(self.high) > 0:
            refuse("wrong-sum", f"question {name!r}: patterns and their weights are not as many")
        before = 0
        for text in self.large:
            pattern = int(text, 16) if _is_hexadecimal(text, self.k) else 0
            if not before < pattern < (1 << self.k) - 1:
                refuse("wrong-cells", f"question {name!r}: {text[:80]!r} is no pattern, or out of order")
            before = pattern
        if min(self.low) < 1:
            refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
        if any(high <= low for low, high in zip(self.low, self.high, strict=True)):
            refuse("tells-nothing", f"question {name!r}: some report comes alike, whatever the truth")
        if max(self.high) >= 1 << self.bits or min(self.remainder) < 0:
            refuse("wrong-sum", f"question {name!r}: the weights are more than {1 << self.bits} draws")
        if any(self.remainder) and min(self.remainder) == 0:
            refuse("zero-weight", f"question {name!r}: the remainder has no draw for some truth")

    def outcome(self, truth: int, draw: Draw) -> int:
        """One draw: a stretch a report, the remainder last."""
        weights = [
            high if int(text, 16) >> truth & 1 else low
            for text, low, high in zip(self.large, self.low, self.high, strict=True)
        ]
        return stretch([*weights, self.remainder[truth]], draw(self.bits))


def sums_told(patterns: Sequence[int], k: int) -> int | None:
    """How many independent sums of k shares the reports of some patterns tell; None where there are too many to count.

    All reports together have the weight 2^bits for every truth, so their weights span the constant; a report less its
    `low` times that is its pattern. So what reports tell is what patterns span beside the constant, counted modulo two
    primes, as browsers do: never more than there are, and less only for patterns that somebody chose for it.

    >>> sums_told([0b0011, 0b1100], 4), sums_told([0b0001, 0b0010, 0b0100], 4)  # one half or the other; everything
    (1, 3)
    """
    if len(patterns) > _MOST_COUNTED:
        return None
    rows = [[pattern >> v & 1 for v in range(k)] for pattern in ((1 << k) - 1, *patterns)]
    return max(sum(adding(rows, prime)) for prime in PRIMES) - 1


def _is_hexadecimal(text: str, k: int) -> bool:
    """Whether this is how a number below 2^k is written: small letters, no zero in front."""
    return (
        len(text) <= (k + 3) // 4 and text[:1] not in ("", "0") and all(digit in "0123456789abcdef" for digit in text)
    )

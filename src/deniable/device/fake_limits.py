"""Limits that every block of fakes must keep, so that the design's epsilon holds whatever is published.

A report u of a mixture has the ratio 1 + keep / fakes[u], in integers of 2^32 draws. So the bound is kept by two
numbers a question, fixed once and for all in the design: `keep` is at most K and every fake's weight at least F, with

    1 + K / F <= e^epsilon,    K = 2^32 E phi / (t + E phi),    F = K / E = (2^32 - K) phi / t,    E = e^epsilon - 1,

K rounded down and F up. phi says how the fakes are made: phi of them are even over the t cells, and the rest follow
what is known of the population. phi = 1 is k-RR; a smaller phi makes fakes more like the truth, and has to keep it less
often.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, PrecisionError

BITS = 32
WHOLE = 1 << BITS


@dataclass(frozen=True)
class Limits:
    """The most draws that may keep the truth, and the fewest that must lead to each fake, of 2^32; t cells."""

    cells: int
    keep: int
    floor: int

    @classmethod
    def of(cls, cells: int, epsilon: float, phi: Fraction) -> Limits:
        """The largest keep that meets epsilon whatever T is published above the floor.

        >>> from fractions import Fraction
        >>> from deniable.device.epsilon import epsilon_of
        >>> limits = Limits.of(4, 1.0, Fraction(1, 2))
        >>> round(limits.keep / WHOLE, 6), 0.999999 < epsilon_of(1 + Fraction(limits.keep, limits.floor)) <= 1
        (0.176809, True)
        """
        if not 0 < phi <= 1:
            raise DesignError(f"phi is the share of even fakes: above 0 and at most 1, not {float(phi):g}", phi=phi)
        odds = exp_below(epsilon) - 1
        keep = floor(WHOLE * odds * phi / (cells + odds * phi))
        while (excess := keep + cells * (lowest := ceil(keep / odds)) - WHOLE) > 0:
            keep -= excess  # at phi = 1 rounding up every floor may take a few draws too many
        if keep < 1:
            raise PrecisionError(
                f"{cells} cells leave no draw of 2^{BITS} for the truth at epsilon {epsilon:g} and phi {float(phi):g}. "
                f"Ask fewer attributes at a time, or raise phi",
                cells=cells,
            )
        return cls(cells, keep, lowest)

    @classmethod
    def kept(cls, cells: int, keep: Fraction, epsilon: float) -> Limits:
        """The published protocol's `keep`, with as low a floor as meets epsilon: F = K / (e^epsilon - 1), rounded up.

        >>> from fractions import Fraction
        >>> limits = Limits.kept(4, Fraction(1, 2), 5.0)
        >>> limits.keep == WHOLE // 2, round(limits.floor / WHOLE, 6)
        (True, 0.003392)
        """
        bare = cls.unfloored(cells, keep)
        floor = ceil(bare.keep / (exp_below(epsilon) - 1))
        if bare.keep + cells * floor > WHOLE:
            raise DesignError(
                f"to keep the truth with probability {float(keep):g} and tell epsilon {epsilon:g} at most, fakes of "
                f"{cells} cells would need more than all other draws. Lower keep, or raise epsilon",
                keep=float(keep),
            )
        return cls(cells, bare.keep, floor)

    @property
    def claim(self) -> Fraction:
        """What the published protocol claims for an answer, whatever the fakes: 1 / (1 - p) as an exact ratio."""
        return Fraction(WHOLE, WHOLE - self.keep)

    @classmethod
    def unfloored(cls, cells: int, keep: Fraction) -> Limits:
        """The published protocol: the truth with probability `keep`, and fakes as rare as the estimate says."""
        kept = floor(WHOLE * keep)
        if not 1 <= kept <= WHOLE - cells:
            raise DesignError(f"keep is a probability between 0 and 1, not {float(keep):g}", keep=float(keep))
        return cls(cells, kept, 0)

    @property
    def start(self) -> tuple[int, ...]:
        """The first block's fakes: nothing is known, so they are even."""
        each, left = divmod(WHOLE - self.keep, self.cells)
        return tuple(each + (cell < left) for cell in range(self.cells))

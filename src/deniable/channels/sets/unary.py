"""Unary encoding: every category is its own yes-or-no question, and the report is the set of yeses.

The truth is in the set with probability p = a / 2^bits, each other category, independently, with q = b / 2^bits. Two
truths differ in two of these questions, so that

    ratio = p (1 - q) / (q (1 - p)).

*Symmetric* (SUE, basic RAPPOR): q = 1 - p. *Optimized* (OUE, Wang et al. 2017; the default): p = 1/2, which makes the
variance of a rare category, q (1 - q) / (n (p - q)^2), as small as unary encoding can.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.integer_weights import narrowest, whole, width
from deniable.channels.sets.bit_masks import Mask, coins, single_bits, words
from deniable.channels.sets.support import Chances, independent_support
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, ProbabilityError, SingularChannelError
from deniable.frozen import fix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Stream


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Unary(Mask):
    """Unary encoding of k categories with total budget epsilon.

    Of 2^bits equally likely draws, `own` put the truth into the set and `other` each other category.

    >>> channel = Unary(40, epsilon=1.0)
    >>> channel.p, round(channel.q, 3), channel.epsilon <= 1.0
    (0.5, 0.269, True)
    >>> Unary(40, epsilon=1.0, symmetric=True).chances.p + Unary(40, epsilon=1.0, symmetric=True).chances.q
    Fraction(1, 1)
    """

    kind = "unary"
    treats_alike = True

    inputs: int
    own: int
    other: int
    bits: int

    def __init__(
        self,
        k: int,
        epsilon: float | None = None,
        *,
        symmetric: bool = False,
        own: int | None = None,
        other: int | None = None,
        bits: int | None = None,
    ) -> None:
        """Take either `epsilon`, or the integers `own`, `other` and `bits` themselves."""
        k = whole(k, "k")
        if k < 2:
            raise DesignError(f"unary encoding needs at least 2 categories, not {k}", k=k)
        if epsilon is not None:
            made = narrowest(epsilon, lambda width: _within(k, epsilon, width, symmetric=symmetric), f"Unary({k})")
            own, other, bits = made.own, made.other, made.bits
        if own is None or other is None or bits is None:
            raise DesignError("Unary needs an epsilon (or the integers own=, other= and bits=)")
        own, other, bits = whole(own, "own"), whole(other, "other"), width(bits)
        if not (0 < own < 1 << bits and 0 < other < 1 << bits):
            raise ProbabilityError(
                f"Unary({k}) puts the truth into {own} and every other category into {other} of 2^{bits} sets; both "
                f"must lie between 1 and 2^{bits} - 1, or a set would give the truth away",
                own=own,
                other=other,
            )
        if own == other:
            raise SingularChannelError(
                "every category is as likely to be in the set whatever the truth: nothing can be recovered. Use an "
                "epsilon above 0",
                ratio=1,
            )
        fix(self, inputs=k, own=own, other=other, bits=bits)

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "own": self.own, "other": self.other, "bits": self.bits}

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"Unary({self.inputs})"

    @cached_property
    def ratio(self) -> Fraction:
        """P (1 - q) / (q (1 - p)), or its inverse where the truth is the less likely member."""
        most = 1 << self.bits
        odds = Fraction(self.own * (most - self.other), self.other * (most - self.own))
        return max(odds, 1 / odds)

    @cached_property
    def chances(self) -> Chances:
        """Members come and go independently."""
        p, q = Fraction(self.own, 1 << self.bits), Fraction(self.other, 1 << self.bits)
        return Chances(p, q, p * q, q * q)

    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P q^(s - 1) (1 - q)^(k - s) for a set of s that holds the truth, else (1 - p) q^s (1 - q)^(k - 1 - s)."""
        return bit_by_bit(self.p, self.q, self.inputs, sizes)

    def _masks(self, codes: NDArray[np.integer], stream: Stream) -> NDArray[np.uint64]:
        width = words(self.inputs)
        others = coins(self.other, self.bits, (len(codes), width), stream)
        kept = stream.words(len(codes), self.bits) < self.own
        truth = single_bits(codes, width)
        full = np.full(width, ~np.uint64(0))
        full[-1] >>= np.uint64(64 * width - self.inputs)
        return (others & ~truth & full) | np.where(kept[:, None], truth, np.uint64(0))

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """Support counts of n reports, drawn without drawing the reports."""
        return independent_support(self.chances, pi, n, rng, replicates)

    @classmethod
    def from_integers(cls, k: int, own: int, other: int, bits: int) -> Unary:
        """Read what `to_dict` wrote."""
        return cls(k, own=own, other=other, bits=bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "unary", ...} with the four integers it consists of."""
        return {"kind": "unary", "k": self.inputs, "own": self.own, "other": self.other, "bits": self.bits}


def bit_by_bit(p: float, q: float, k: int, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chances of a set whose members come independently: the truth with p, each of the k - 1 others with q."""
    others = q ** (sizes - 1.0) * (1 - q) ** (k - 1.0 - sizes)
    return p * (1 - q) * others, (1 - p) * q * others


def _within(k: int, epsilon: float, bits: int, *, symmetric: bool) -> Unary | None:
    """The unary encoding of this width that spends as much of epsilon as integers allow, and no more."""
    most = 1 << bits
    # Symmetric: both odds are p / q, whose square is the ratio. Optimized: the truth's odds are 1.
    odds = exp_below(epsilon / 2) if symmetric else exp_below(epsilon)
    other = ceil(most / (odds + 1))
    own = most - other if symmetric else most // 2
    return Unary(k, own=own, other=other, bits=bits) if own > other else None

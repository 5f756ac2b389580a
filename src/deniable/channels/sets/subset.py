"""Subset selection: report d of the k categories, the truth among them more often than by chance.

With probability p = a / 2^bits the set holds the truth and d - 1 others, else d others, every choice of others equally
likely (Ye & Barg 2018). A given set S has probability p / C(k-1, d-1) if the truth is in it and (1-p) / C(k-1, d) if
not, hence

    ratio = p (k - d) / ((1 - p) d).

d = 1 is k-RR. The best d is near k / (e^epsilon + 1); the one of least variance is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from math import comb, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import multinomials
from deniable.channels.integer_weights import narrowest, whole, width
from deniable.channels.sets.bit_masks import Mask, words
from deniable.channels.sets.support import Chances, sharpest
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, ProbabilityError, SingularChannelError
from deniable.frozen import fix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Stream

MOST_CATEGORIES = 4096  # of a set that is a row of words


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SubsetSelection(Mask):
    """Sets of d out of k categories with total budget epsilon.

    Up to 53 categories a set is one number, and can be served in a design. Beyond that it is a row of 64-bit words, for
    use by itself; in a design, BlockDesign has the same variance there.

    Of 2^bits equally likely draws, `own` put the truth into the set.

    >>> channel = SubsetSelection(9, epsilon=1.0)
    >>> channel.d, channel.epsilon <= 1.0
    (2, True)
    >>> from deniable.channels.krr import KRR
    >>> even = np.full(9, 1 / 9)
    >>> round(float(channel.variance(even, 1).sum() / KRR(9, epsilon=1.0).variance(even, 1).sum()), 2)
    0.77
    """

    kind = "subset"
    has_two_chances = True
    treats_alike = True

    inputs: int
    d: int
    own: int
    bits: int

    def __init__(
        self,
        k: int,
        epsilon: float | None = None,
        *,
        d: int | None = None,
        own: int | None = None,
        bits: int | None = None,
    ) -> None:
        """Take either `epsilon` (and `d`, if it is not to be chosen), or the integers `d`, `own` and `bits`."""
        k = whole(k, "k")
        if not 2 <= k <= MOST_CATEGORIES:
            raise DesignError(
                f"subset selection takes 2 to {MOST_CATEGORIES} categories, not {k}. For more, use BlockDesign",
                k=k,
            )
        if epsilon is not None:
            made = _best(k, epsilon, None if d is None else whole(d, "d"))
            d, own, bits = made.d, made.own, made.bits
        if d is None or own is None or bits is None:
            raise DesignError("SubsetSelection needs an epsilon (or the integers d=, own= and bits=)")
        d, own, bits = whole(d, "d"), whole(own, "own"), width(bits)
        if not 1 <= d < k or not 0 < own < 1 << bits:
            raise ProbabilityError(
                f"SubsetSelection over {k} categories needs 1 to {k - 1} members and the truth in 1 to 2^{bits} - 1 of "
                f"2^{bits} sets; got d = {d} and own = {own}",
                d=d,
                own=own,
            )
        fix(self, inputs=k, d=d, own=own, bits=bits)
        if self.chances.p == self.chances.q:
            raise SingularChannelError(
                "every category is as likely to be in the set whatever the truth: nothing can be recovered. Use an "
                "epsilon above 0",
                ratio=1,
            )

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "d": self.d, "own": self.own, "bits": self.bits}

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"SubsetSelection({self.inputs}, d={self.d})"

    @cached_property
    def ratio(self) -> Fraction:
        """P (k - d) / ((1 - p) d), or its inverse where the truth is the less likely member."""
        odds = Fraction(self.own * (self.inputs - self.d), ((1 << self.bits) - self.own) * self.d)
        return max(odds, 1 / odds)

    @cached_property
    def chances(self) -> Chances:
        """Members beside the truth are drawn without replacement from the k - 1 others."""
        p, d, others = Fraction(self.own, 1 << self.bits), self.d, self.inputs - 1
        one = Fraction(d - 1, others), Fraction(d, others)
        pairs = max(1, others * (others - 1))  # with one other category there are no two
        two = Fraction((d - 1) * (d - 2), pairs), Fraction(d * (d - 1), pairs)
        return Chances(p, p * one[0] + (1 - p) * one[1], p * one[0], p * two[0] + (1 - p) * two[1])

    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P over the sets of d that hold the truth, 1 - p over those that do not; other sizes never come."""
        p, others = self.p, self.inputs - 1
        own, other = p / comb(others, self.d - 1), (1 - p) / comb(others, self.d)
        return np.where(sizes == self.d, own, 0.0), np.where(sizes == self.d, other, 0.0)

    def every_report(self, most: int) -> NDArray[Any] | None:
        """The sets of d."""
        if comb(self.inputs, self.d) > most:
            return None
        return np.sort([sum(1 << v for v in members) for members in combinations(range(self.inputs), self.d)])

    def _masks(self, codes: NDArray[np.integer], stream: Stream) -> NDArray[np.uint64]:
        n, others, truth = len(codes), self.inputs - 1, codes.astype(np.int64)
        kept, rows = stream.words(n, self.bits) < self.own, np.arange(n)
        # Floyd's algorithm: for j = m - d .. m - 1 draw t <= j, and take t, or j if t is in already. Without its first
        # round it draws d - 1 of m; so whoever keeps the truth lets that round pass, and all take the same steps.
        mask = np.zeros((n, words(self.inputs)), dtype=np.uint64)
        for first, j in enumerate(range(others - self.d, others)):
            drawn = stream.below(j + 1, n)
            category = drawn + (drawn >= truth)  # the others are numbered past the truth
            again = (mask[rows, category >> 6] >> (category & 63).astype(np.uint64)) & np.uint64(1) == 1
            taken = np.where(again, j + (j >= truth), category)
            bit = np.uint64(1) << (taken & 63).astype(np.uint64)
            mask[rows, taken >> 6] |= np.where(kept & (first == 0), np.uint64(0), bit)
        mask[rows, truth >> 6] |= kept.astype(np.uint64) << (truth & 63).astype(np.uint64)
        return mask

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """Support counts of n reports, drawn without drawing the reports.

        Respondents are sorted by truth and by whether their set holds it; what differs between those of a sort is how
        many of their members are still to come. Category by category, each of them takes it with probability
        (members to come) / (categories to come): a handful of binomials instead of n sets.
        """
        k, d = self.inputs, self.d
        truths = multinomials(pi.reshape(k, -1), n, rng, replicates).T
        keeping = rng.binomial(truths, float(self.chances.p))
        # left[x, m, r]: people of truth x with m other members to come.
        left = np.zeros((k, d + 1, replicates), dtype=np.int64)
        left[:, d] += truths - keeping
        left[:, d - 1] += keeping
        counts = np.zeros((k + 1, replicates))
        counts[k] = n
        members = np.arange(d + 1)
        for v in range(k):
            # Those of truth v have dealt with v; the others still have the categories from v on, less their own truth.
            ahead = np.where(np.arange(k) > v, k - v - 1, k - v)
            chance = np.minimum(1.0, members[None, :] / np.maximum(ahead, 1)[:, None])
            chance[v] = 0.0
            took = rng.binomial(left, chance[:, :, None])
            left -= took
            left[:, :-1] += took[:, 1:]
            counts[v] = took.sum(axis=(0, 1)) + keeping[v]
        return counts

    @classmethod
    def from_integers(cls, k: int, d: int, own: int, bits: int) -> SubsetSelection:
        """Read what `to_dict` wrote."""
        return cls(k, d=d, own=own, bits=bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "subset", ...} with the four integers it consists of."""
        return {"kind": "subset", "k": self.inputs, "d": self.d, "own": self.own, "bits": self.bits}


def _best(k: int, epsilon: float, d: int | None) -> SubsetSelection:
    """The sets of the given size, or of the size with the least variance at even shares."""
    near = floor(k / (exp_below(epsilon) + 1))
    sizes = [d] if d is not None else [size for size in range(near - 1, near + 3) if 1 <= size < k]
    return sharpest(
        partial(narrowest, epsilon, partial(_within, k, size, epsilon), f"SubsetSelection({k}, d={size})")
        for size in sizes
    )


def _within(k: int, d: int, epsilon: float, bits: int) -> SubsetSelection | None:
    """The sets of size d of this width that spend as much of epsilon as integers allow, and no more."""
    if not 1 <= d < k:
        raise ProbabilityError(f"a set of {d} out of {k} categories tells nothing or everything", d=d)
    odds = d * exp_below(epsilon)
    own = floor((1 << bits) * odds / (odds + k - d))
    if not 0 < own < 1 << bits or own * (k - d) <= ((1 << bits) - own) * d:
        return None
    return SubsetSelection(k, d=d, own=own, bits=bits)

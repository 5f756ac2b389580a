"""Channels whose report is a set: the truths it speaks for.

For many categories, k-RR's single guess says little. Unary encoding, subset selection and local hashing report a *set*
S of truths instead, in which the respondent's own is a little more likely to be than any other. All of them treat the
categories alike, so four chances say everything about S that a table needs. With x the truth, v and w two others::

    p = Pr(x in S)      own   = Pr(x in S and v in S)
    q = Pr(v in S)      other = Pr(v in S and w in S)

Reports are counted by support: C_v = how many sets hold v, and, as one more cell, how many reports there were. These
counts are not multinomial, nor sufficient, which is why estimates on the simplex are by weighted least squares and
tests by Wald's statistic. But the unbiased estimate is as simple as k-RR's,

    pi_v = (C_v / n - q) / (p - q),

and so is its covariance. Let z = (1[v in S] - q) / (p - q) be the estimate that one report makes. Given the truth x,

    E[z z' | x] = c0 11' + b (e_x 1' + 1 e_x') + (d0 - c0) I + c e_x e_x',
    c0 = (other - q^2) / (p - q)^2,   b = (own - p q) / (p - q)^2 - c0,   d0 = q (1 - q) / (p - q)^2,
    c  = (p (1 - q)^2 + (1 - p) q^2) / (p - q)^2 - d0 - 2 b.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deniable.channels.channel import Channel, multinomials
from deniable.errors import DesignError, InputError, PrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.sets.bit_masks import Choose, Numbers
    from deniable.core.randomness import Source

C = TypeVar("C", bound=Channel)


@dataclass(frozen=True)
class Chances:
    """Who is in a reported set: the truth (p), another (q), the truth and another (own), two others (other)."""

    p: Fraction
    q: Fraction
    own: Fraction
    other: Fraction


class Support(Channel):
    """A channel that reports a set of truths and treats them all alike.

    What one must have: `inputs`, `chances`, `chance`, `ratio`, `reports`, `randomize`, `tally`, `word`, `draw` and
    `to_dict`.
    """

    is_support = True
    has_two_chances: bool = False  # whether Pr(a set | truth) depends on nothing but whether it holds the truth

    @cached_property
    @abstractmethod
    def chances(self) -> Chances:
        """The four chances, exactly."""

    @abstractmethod
    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pr(a set of this size | truth) if it holds the truth, and if it does not: no more does a set tell."""

    def opened(self, report: Numbers) -> tuple[Numbers, ...]:
        """The whole numbers that a report consists of, from which `word` is made."""
        return (report,)

    @abstractmethod
    def word(self, opened: Sequence[Numbers], first: int, count: int, choose: Choose) -> Numbers:
        """A number whose binary digits say which of so many truths, from the first on, a report speaks for.

        In arithmetic that arrays and databases share, without overflow in 64 bits; choose(condition, number) is the
        number where the condition holds, else 0.
        """

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """A count for each truth, and the number of reports."""
        return self.inputs + 1

    @cached_property
    def p(self) -> float:
        """Pr(the set holds the truth)."""
        return float(self.chances.p)

    @cached_property
    def q(self) -> float:
        """Pr(the set holds a given other)."""
        return float(self.chances.q)

    def clones(self) -> Sequence[tuple[Fraction, Fraction]]:
        """Sets that hold exactly one of two truths, where a set has but two chances: e with the truth, 1 without.

        Then R_0 and R_1 differ on these sets alone, and any other truth makes each of them with the lesser chance at
        least: as often as the truth's own report holds the other and not itself.
        """
        if not self.has_two_chances or self.chances.p <= self.chances.q:
            return ()
        mine, other = self.chances.p - self.chances.own, self.chances.q - self.chances.own
        return [(2 * other, mine + other)]

    # -- the map from shares of truths to shares of support --------------------------------------------------------

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        total = x.sum(axis=1, keepdims=True)
        return np.concatenate([(self.p - self.q) * x + self.q * total, total], axis=1)

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        held = y[:, :-1]
        return (self.p - self.q) * held + self.q * held.sum(axis=1, keepdims=True) + y[:, -1:]

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (x[:, :-1] - self.q * x[:, -1:]) / (self.p - self.q)

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([y, -self.q * y.sum(axis=1, keepdims=True)], axis=1) / (self.p - self.q)

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # z^2 = (1[v in S] (1 - 2 q) + q^2) / (p - q)^2
        return ((1 - 2 * self.q) * x[:, :-1] + self.q**2 * x[:, -1:]) / (self.p - self.q) ** 2

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        _, b, d0, c = self.moment_coefficients
        diagonal = c + 2 * b + d0
        return np.full(self.inputs, diagonal), np.full(self.inputs, diagonal + (self.inputs - 1) * d0)

    def _matrix(self) -> NDArray[np.float64]:
        return np.vstack([(self.p - self.q) * np.eye(self.inputs) + self.q, np.ones(self.inputs)])

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """pi_v = (C_v / n - q) / (p - q): C_v is one binomial."""
        return np.full(self.inputs, self.p - self.q), np.full(self.inputs, self.q)

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Pr(report | truth), a row a report, in two values: that of the truths it holds, and that of the others."""
        held = self.members(reports)[:, :-1] > 0
        own, other = self.chance(held.sum(axis=1))
        return np.where(held, own[:, None], other[:, None])

    # -- second moments ----------------------------------------------------------------------------------------------

    @cached_property
    def moment_coefficients(self) -> tuple[float, float, float, float]:
        """(c0, b, d0, c) of E[z z' | x], see above; computed exactly, as differences of nearly equal numbers are."""
        p, q, own, other = self.chances.p, self.chances.q, self.chances.own, self.chances.other
        scale = (p - q) ** 2
        c0 = (other - q**2) / scale
        b = (own - p * q) / scale - c0
        d0 = q * (1 - q) / scale
        c = (p * (1 - q) ** 2 + (1 - p) * q**2) / scale - d0 - 2 * b
        return float(c0), float(b), float(d0), float(c)

    def moments_times(self, shares: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """E[z z'] w = (c0 1'w + b pi'w) 1 + b (1'w) pi + (d0 - c0) w + c pi w."""
        c0, b, d0, c = self.moment_coefficients
        pi, reports = self.solve(shares), shares[-1]
        total = w.sum(axis=0)
        return reports * (c0 * total + (d0 - c0) * w) + b * (pi * w).sum(axis=0) + b * total * pi + c * pi * w

    def second_moments(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same, written out for every replicate: c0 + b (pi 1' + 1 pi') + diag(d0 - c0 + c pi)."""
        c0, b, d0, c = self.moment_coefficients
        pi, total = self.solve(shares).T, shares[-1][:, None, None]
        across = pi[:, :, None] + pi[:, None, :]
        return c0 * total + b * across + ((d0 - c0) * total + c * pi[:, :, None]) * np.eye(self.inputs)

    def as_sum_of_squares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(L, R) with E[z z'] = R diag(L shares) R', as a channel of categories has it with L = I and R = Q.

        Because e_x 1' + 1 e_x' = (1 + e_x)(1 + e_x)' - 11' - e_x e_x', the columns e_v, 1 and 1 + e_v of R do. This
        is what lets a product of channels mix sets and categories.
        """
        c0, b, d0, c = self.moment_coefficients
        k = self.inputs
        pi, total = self.solve(np.eye(k + 1)), np.eye(k + 1)[-1:]
        left = np.vstack([(d0 - c0) * total + (c - b) * pi, (c0 - b) * total, b * pi])
        return left, np.hstack([np.eye(k), np.ones((k, 1)), np.eye(k) + np.ones((k, k))])

    # -- running it ---------------------------------------------------------------------------------------------

    def executed(self) -> Channel:
        """Itself: it is made of integers."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """Not a single draw: a set takes several."""
        raise DesignError(f"{self.name} reports sets, which take several draws each; its chances are in .chances")

    def codes(self, given: ArrayLike) -> NDArray[np.integer]:
        """Check what is to be disguised: whole numbers, every one a truth."""
        codes = np.asarray(given)
        if codes.dtype.kind not in "iub":
            raise InputError(f"codes must be whole numbers, not {codes.dtype}; Variable.encode makes them")
        if codes.size and (codes.min() < 0 or codes.max() >= self.inputs):
            strangers = int(((codes < 0) | (codes >= self.inputs)).sum())
            raise InputError(
                f"{strangers} codes lie outside 0 .. {self.inputs - 1}, the truths of {self.name}. Encode the answers "
                f"with Domain.encode, or use a channel with more categories",
                rows=strangers,
            )
        return codes

    @abstractmethod
    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        """Disguise answers as sets."""

    def __repr__(self) -> str:
        return f"<{self.name}: {self.inputs} truths, epsilon {self.epsilon:.6g}>"

    def reports_in(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The last cell says it."""
        return counts[-1]


def sharpest(makers: Iterable[Callable[[], C]]) -> C:
    """Of several channels for one epsilon, that of the least variance at even shares; what cannot be made is out."""
    made: list[C] = []
    refused: PrecisionError | None = None
    for make in makers:
        try:
            made.append(make())
        except PrecisionError as error:
            refused = error
    if not made:
        assert refused is not None
        raise refused
    return min(made, key=lambda channel: float(channel.variance(np.full(channel.inputs, 1 / channel.inputs), 1).sum()))


def independent_support(
    chances: Chances, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int
) -> NDArray[np.float64]:
    """Support counts of n reports whose members come and go independently, last axis of replicates.

    Of N_v people whose truth is v, binomially many sets hold v; of the n - N_v others likewise: no respondent is ever
    simulated one by one.
    """
    truths = multinomials(pi.reshape(len(pi), -1), n, rng, replicates)
    held = rng.binomial(truths, float(chances.p)) + rng.binomial(n - truths, float(chances.q))
    return np.column_stack([held, np.full(replicates, n)]).T.astype(np.float64)

"""Pairing respondents at random, and dealing each pair its coins.

Two respondents with one coin between them: truthfulness correlated, each still RR(p) (JRR, Zheng et al. 2025).

Let T = 1 when a respondent reports the truth. A pair's joint distribution, with q = 1 - p, is

    P(11) = p^2 + rho p q,     P(10) = P(01) = (1 - rho) p q,     P(00) = q^2 + rho p q,

so each member is truthful with probability p, whatever rho is. For p > 1/2 these are probabilities exactly when
-q / p <= rho <= 1; the lower end, where nobody lies when the partner does, is called the **corner**.

**How two devices do it with one bit.** The pair shares a fair coin s = +1 or -1. Each member privately draws c from
{1.5, .5, -.5, -1.5} with probabilities {p - d, d, d, q - d}, d = sqrt(-rho p q), and is truthful when c + s > 0; the
other member uses -s. Given the coin, a member is truthful with probability p + d when it favours them and p - d when
not, independently of the other, so P(11) = (p + d)(p - d) = p^2 - d^2 = p^2 + rho p q.

In integers: of 2^bits equally likely draws u, P are below `truthful` and D = `shift`; then c is 1.5 for u < P - D, .5
up to P, -.5 up to P + D and -1.5 beyond, and "c + s > 0" is nothing but **u < P + s D**. All probabilities are those of
these integers: p = P / 2^bits, d = D / 2^bits, rho = -D^2 / (P Q), and D is rounded down, towards independence.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.integer_weights import stated
from deniable.channels.krr import KRR
from deniable.core.randomness import SECURE, Source
from deniable.device.channels.channel_kind import WIDTHS
from deniable.errors import DesignError, InputError, ProbabilityError
from deniable.extensions.paired.pair_privacy import PairedPrivacy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Stream

ALONE = -1


def pair_up(n: int, stream: Stream) -> NDArray[np.int64]:
    """Everybody's partner in a uniformly random pairing; `ALONE` for the one who is left over when n is odd.

    >>> from deniable.core.randomness import Seeded
    >>> partner = pair_up(5, Seeded(1).stream())
    >>> int((partner == ALONE).sum()), [int(partner[partner[i]]) == i for i in range(5) if partner[i] != ALONE]
    (1, [True, True, True, True])
    """
    order = stream.permutation(n)
    first, second = order[0 : n - n % 2 : 2], order[1:n:2]
    partner = np.full(n, ALONE, dtype=np.int64)
    partner[first], partner[second] = second, first
    return partner


def deal(partner: NDArray[np.int64], stream: Stream) -> NDArray[np.int8]:
    """One shared coin a pair: +1 for one member, -1 for the other; whoever is alone gets a coin of their own."""
    sides = (1 - 2 * (stream.words(len(partner), 8) & 1).astype(np.int8)).astype(np.int8)
    follows = np.flatnonzero(partner > np.arange(len(partner)))
    sides[follows] = -sides[partner[follows]]
    return sides


def completed(partner: NDArray[np.int64], answered: NDArray[np.bool_]) -> int:
    """How many pairs both answered."""
    paired = partner != ALONE
    return int((answered[paired] & answered[partner[paired]]).sum()) // 2


_CORNER = Fraction(1, 10**12)  # a rho this near to -q / p is the corner: a float cannot state it any better


def lowest_rho(p: float | Fraction) -> Fraction:
    """The most negative correlation two members truthful with probability p > 1/2 can have: -q / p.

    >>> lowest_rho(0.8)
    Fraction(-1, 4)
    """
    share = stated(p, "p")
    if not Fraction(1, 2) < share < 1:
        raise ProbabilityError(
            f"respondents of a pair say the truth with a probability between 1/2 and 1, not {p!r}. A half tells "
            f"nothing, and 1 hides nothing",
            p=p,
        )
    return -(1 - share) / share


def checked_rho(p: float | Fraction, rho: float | Fraction) -> Fraction:
    """The correlation as it was stated, refused outside -q / p .. 1; next to the corner, the corner itself."""
    lowest = lowest_rho(p)
    try:
        value = Fraction(repr(float(rho))) if isinstance(rho, float | np.floating) else Fraction(rho)
    except (TypeError, ValueError):
        raise ProbabilityError(f"rho must be a correlation, not {rho!r}", rho=rho) from None
    if abs(value - lowest) <= _CORNER:
        return lowest
    if not lowest < value <= 1:
        share = stated(p, "p")
        both_lie = float((1 - share) ** 2 + value * share * (1 - share))
        raise ProbabilityError(
            f"with p = {float(p):g} the correlation of two members lies between -q/p = {float(lowest):g} and 1, not "
            f"{rho!r}: P(00) = q^2 + rho p q would be {both_lie:g}. Choose a rho in that range, or a smaller p",
            p=p,
            rho=rho,
            lowest=float(lowest),
        )
    return value


def joint_truthfulness(p: float | Fraction, rho: float | Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """((P(00), P(01)), (P(10), P(11))), exactly.

    >>> (_, lie_truth), (_, both) = joint_truthfulness(0.8, -0.25)
    >>> float(both), float(lie_truth)  # the published example: .6 and .2
    (0.6, 0.2)
    """
    value, share = checked_rho(p, rho), stated(p, "p")
    pq = share * (1 - share)
    off = (1 - value) * pq
    return ((1 - share) ** 2 + value * pq, off), (off, share**2 + value * pq)


def count_variance(p: float, rho: float, n: int, yes: float, pairs: float | None = None) -> float:
    """The variance of the estimated count of "yes" among n given respondents.

    Each estimated answer is the truth plus noise of variance c = pq / (p - q)^2; two members of a pair have the noise
    covariance rho c when their truths agree and -rho c when they differ. Any two of the n respondents are paired with
    probability K / C(n, 2), where K = `pairs` is the number of completed pairs. Over ordered couples i, j the products
    of sigma = +1 (yes) and -1 (no) sum to (2 yes - n)^2 - n, so that

        Var = c (n + rho ((2 yes - n)^2 - n) 2 K / (n (n - 1))).

    With everybody paired (the default, K = n / 2, or (n - 1) / 2 when one is left over) and n even this is the
    published theorem, where the last factor is 1 / (n - 1).

    >>> count_variance(0.8, 0.0, 2, 2) * 0.6**2, count_variance(0.8, -0.25, 2, 2) * 0.6**2  # the published example
    (0.32, 0.24)
    """
    formed = n // 2 if pairs is None else pairs
    if not 0 <= 2 * formed <= n:
        raise InputError(f"{n} respondents cannot complete {formed} pairs", pairs=formed)
    noise = p * (1 - p) / (2 * p - 1) ** 2
    if n < 2:
        return noise * n
    return noise * (n + rho * ((2 * yes - n) ** 2 - n) * 2 * formed / (n * (n - 1)))


@dataclass(frozen=True)
class Coins:
    """A pair's coins as integers: `truthful` of 2^bits draws tell the truth, `shift` more or fewer once s is known.

    >>> coins = Coins.of(0.8, -0.25)
    >>> coins
    Coins(p=0.8, rho=-0.25, 32 bits)
    >>> coins.is_corner, coins.channel
    (True, <KRR(2): 2 truths, 2 reports, epsilon 1.38629>)
    """

    truthful: int
    shift: int
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in WIDTHS:
            raise DesignError(f"draws have 16 or 32 bits, not {self.bits}", bits=self.bits)
        whole = 1 << self.bits
        if not whole // 2 < self.truthful < whole or not 0 <= self.shift <= whole - self.truthful:
            raise ProbabilityError(
                f"of 2^{self.bits} draws more than half and not all must tell the truth, and the shift is at most the "
                f"number of the others; got truthful = {self.truthful}, shift = {self.shift}",
                truthful=self.truthful,
                shift=self.shift,
            )

    @classmethod
    def of(cls, p: float | Fraction, rho: float | Fraction, *, bits: int = WIDTHS[-1]) -> Coins:
        """The integers next to a stated p and rho, both rounded towards privacy."""
        value = checked_rho(p, rho)
        if value > 0:
            raise DesignError(
                f"rho = {float(value):g} is above 0: a positive correlation only helps when (2 yes - n)^2 < n, and "
                f"then by less than one part in n. Use a rho between {float(lowest_rho(p)):g} and 0",
                rho=rho,
            )
        whole = 1 << bits
        truthful = int(stated(p, "p") * whole)
        lies = whole - truthful
        at_corner = value == lowest_rho(p)
        return cls(truthful, lies if at_corner else min(lies, isqrt(int(-value * truthful * lies))), bits)

    @property
    def p(self) -> Fraction:
        """Pr(truth)."""
        return Fraction(self.truthful, 1 << self.bits)

    @property
    def d(self) -> Fraction:
        """How far the coin moves it."""
        return Fraction(self.shift, 1 << self.bits)

    @cached_property
    def rho(self) -> Fraction:
        """-d^2 / (p q)."""
        return -self.d * self.d / (self.p * (1 - self.p))

    @property
    def is_corner(self) -> bool:
        """Whether rho = -q / p: who knows the coin then knows half of the answers for certain."""
        return self.shift == (1 << self.bits) - self.truthful

    @property
    def joint(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """((P(00), P(01)), (P(10), P(11))) of the integers."""
        return joint_truthfulness(self.p, self.rho)

    @property
    def channel(self) -> KRR:
        """What one report is by itself: randomized response of two categories."""
        return KRR(2, other=(1 << self.bits) - self.truthful, bits=self.bits)

    def privacy(self, respondents: int | None = None, colluders: int = 0) -> PairedPrivacy:
        """All numbers of the privacy statement, for one coin."""
        return PairedPrivacy(((self.p, self.d),), respondents, colluders)

    def truthful_at(self, sides: NDArray[np.integer], draws: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        """Who is truthful, given which way the shared coin points for each (+1 or -1) and their private draws."""
        return draws < (self.truthful + sides.astype(np.int64) * self.shift)

    def answer(self, code: int, side: int, *, source: Source = SECURE) -> int:
        """One device's half: disguise a yes-or-no code, given the shared bit as +1 for one member, -1 for the other.

        A respondent without a partner flips the coin alone and is an ordinary RR(p).
        """
        if code not in (0, 1) or side not in (1, -1):
            raise InputError("a device needs a code of 0 or 1 and the side +1 or -1 of the shared coin")
        draw = source.stream().words(1, self.bits)
        return int(code if self.truthful_at(np.array([side]), draw)[0] else 1 - code)

    def disguise(self, truths: NDArray[np.bool_], sides: NDArray[np.integer], stream: Stream) -> NDArray[np.bool_]:
        """Disguise yes-or-no answers, each with a private draw of its own: kept where truthful, flipped where not."""
        return truths ^ ~self.truthful_at(sides, stream.words(len(truths), self.bits))

    def to_dict(self) -> dict[str, int]:
        """The three integers."""
        return {"truthful": self.truthful, "shift": self.shift, "bits": self.bits}

    def __repr__(self) -> str:
        return f"Coins(p={float(self.p):.6g}, rho={float(self.rho):.6g}, {self.bits} bits)"

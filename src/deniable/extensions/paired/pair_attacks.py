"""What one paired coin tells to whoever knows more than a stranger: the sums behind `paired`.

A coin has p, q = 1 - p and d = sqrt(-rho p q); see `paired` for who is asking.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError
from deniable.numerics.root_finding import root

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from deniable.device.epsilon import Ratio

DELTA = 1e-6
"""The share of bad luck at which the attacker who knows all other truths is shown."""

_MOST_COUNTED = 200_000  # with more respondents the other truths tell less, so the number for these still holds
_TAIL = 9.0  # standard deviations summed on either side: what is left out is below 1e-18


# -- the three views of one coin: (Pr(outcome | x), Pr(outcome | x')) for every outcome ------------------------------


def stranger_views(p: float, _d: float) -> Iterator[tuple[float, float]]:
    """A report by itself."""
    yield from _views(1.0, p)


def partner_views(p: float, d: float) -> Iterator[tuple[float, float]]:
    """A report, and whether the partner lied (probability q) or not."""
    q = 1 - p
    yield from _views(q, min(1.0, p + d * d / q))
    yield from _views(p, p - d * d / p)


def coin_views(p: float, d: float) -> Iterator[tuple[float, float]]:
    """A report, and which way the shared coin fell."""
    yield from _views(0.5, min(1.0, p + d))
    yield from _views(0.5, p - d)


def _views(chance: float, truthful: float) -> Iterator[tuple[float, float]]:
    yield chance * truthful, chance * (1 - truthful)
    yield chance * (1 - truthful), chance * truthful


# -- numbers of one coin ---------------------------------------------------------------------------------------------


def after_lie(p: Fraction, d: Fraction) -> Fraction:
    """p_max = (1 - rho) p = p + d^2 / q: how surely a respondent is truthful whose partner lied."""
    return p + d * d / (1 - p)


def items_ratio(p: Fraction, d: Fraction) -> Ratio:
    """The ratio of a person who pairs two items of their own: P(11) / P(00) = (p^2 - d^2) / (q^2 - d^2).

    Nobody has to be trusted with the coin, but the server sees both reports side by side and each is a commentary on
    the other: more than the p^2 / q^2 of two independent ones, and infinite at the corner.

    >>> items_ratio(Fraction(4, 5), Fraction(0)), items_ratio(Fraction(4, 5), Fraction(1, 5))
    (Fraction(16, 1), inf)
    """
    return over(p * p - d * d, (1 - p) ** 2 - d * d)


def exact_ratio(p: Fraction, d: Fraction, respondents: int, colluders: int) -> Ratio:
    """The largest odds Pr(T = 1 | the colluders' T) : Pr(T = 0 | ...), by summing over all pairings.

    Of the m colluders b told the truth and a lied. A pairing in which j11, j10, j00 pairs of colluders are paired with
    each other has, relative to independent coins, the weight

        r11^j11 r10^j10 r00^j00,    r11 = P(11) / p^2,  r10 = P(10) / (p q),  r00 = P(00) / q^2,

    and there are  b! / (j11! 2^j11 j10! e1!)  a! / (j00! 2^j00 e0!)  h! / (h - e)!  (h - e - 1)!!  such pairings, where
    e = e1 + e0 colluders are paired with some of the h honest respondents. Somebody honest is then truthful with
    probability (e1 (p + rho q) + e0 (1 - rho) p + (h - e) p) / h. An odd number of respondents leaves one alone, which
    is the same as being paired with somebody honest who does not exist.

    >>> p, q = Fraction(7, 10), Fraction(3, 10)
    >>> float(exact_ratio(p, q, 6, 2)), float((2 + 3 * p) / (3 * q))  # at the corner; the theorem says less
    (5.66666, 4.55555)
    """
    q = 1 - p
    r11, r10, r00 = 1 - d * d / (p * p), 1 + d * d / (p * q), 1 - d * d / (q * q)
    honest = respondents + respondents % 2 - colluders
    worst: Ratio = Fraction(1)
    for a in range(colluders + 1):
        b = colluders - a
        total = truthful = Fraction(0)
        for j11, j00 in product(range(b // 2 + 1), range(a // 2 + 1)):
            for j10 in range(min(b - 2 * j11, a - 2 * j00) + 1):
                e1, e0 = b - 2 * j11 - j10, a - 2 * j00 - j10
                left = honest - e1 - e0
                if left < 0:
                    continue
                ways = Fraction(
                    math.factorial(b) * math.factorial(a) * math.factorial(honest) * _matchings(left),
                    math.factorial(j11)
                    * math.factorial(j10)
                    * math.factorial(j00)
                    * 2 ** (j11 + j00)
                    * math.factorial(e1)
                    * math.factorial(e0)
                    * math.factorial(left),
                )
                weight = ways * r11**j11 * r10**j10 * r00**j00
                total += weight
                truthful += weight * (e1 * (p - d * d / p) + e0 * after_lie(p, d) + left * p) / honest
        if total:
            share = truthful / total
            worst = max(worst, over(max(share, 1 - share), min(share, 1 - share)))
    return worst


def all_truths_epsilon(p: float, d: float, respondents: int, delta: float = DELTA) -> float:
    """Epsilon at delta against an attacker who knows all other truths and not the pairing.

    With Z the number of lies among n paired respondents, any given set of z liars has probability
    g(z) = Pr(Z = z) / C(n, z), since the pairing is uniform. A respondent's report together with z lies among the
    others has probability g(z) under one truth and g(z + 1) under the other, hence

        delta(epsilon) = sum over z of C(n-1, z) ( [g(z) - e^epsilon g(z+1)]+ + [g(z+1) - e^epsilon g(z)]+ ).

    An odd respondent is left out of the count, and so are those beyond 200,000: both err towards a larger epsilon.

    >>> p = 1 / (1 + math.exp(-0.1))
    >>> all_truths_epsilon(p, 1 - p, 10_000)  # a claimed epsilon of .1
    0.337
    """
    if not 0 < delta < 1:
        raise InputError(f"delta lies between 0 and 1, not {delta!r}", delta=delta)
    n = min(respondents - respondents % 2, _MOST_COUNTED)
    if n < 2:
        raise InputError(f"at least two respondents can be paired, not {respondents}", respondents=respondents)
    if d == 0:
        return math.log(p / (1 - p))
    z, log_g, log_factorial = _lie_sets(p, d, n)
    log_ways = log_factorial[n - 1] - log_factorial[z[:-1]] - log_factorial[n - 1 - z[:-1]]
    with np.errstate(under="ignore"):
        one, other = np.exp(log_ways + log_g[:-1]), np.exp(log_ways + log_g[1:])
    low, high = 0.0, 1.0

    def lost(epsilon: float) -> float:
        grown = math.exp(epsilon)
        return float(np.maximum(one - grown * other, 0).sum() + np.maximum(other - grown * one, 0).sum())

    while lost(high) > delta:
        if high > 500:
            return math.inf
        low, high = high, 2 * high
    return root(lambda epsilon: delta - lost(epsilon), high, low, 1e-9)


def _lie_sets(p: float, d: float, n: int) -> tuple[npt.NDArray[np.int64], ...]:
    """z, ln g(z) and the logarithms of factorials, for the z within nine standard deviations of their mean.

    Pairs lie both, one or none with P(00), 2 P(10), P(11), so Z = z with j double lies among the M = n / 2 pairs has
    the probability of a trinomial; the sum over j is taken around its largest term.
    """
    q = 1 - p
    none, one, both = p * p - d * d, p * q + d * d, max(0.0, q * q - d * d)
    pairs, spread = n // 2, math.sqrt(max(0.0, n * (p * q - d * d)))
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    z = np.arange(max(0, math.floor(n * q - _TAIL * spread - 2)), min(n, math.ceil(n * q + _TAIL * spread + 2)) + 1)
    if both < 1e-15:
        j = np.zeros((len(z), 1), dtype=np.int64)
    else:
        # Two neighbouring terms are equal where (z - 2j)^2 P(00) P(11) = 4 j (M - z + j) P(10)^2.
        odds = none * both / (4 * one * one)
        lead, middle, last = 1 - 4 * odds, (pairs - z) + 4 * odds * z, -odds * z.astype(float) ** 2
        root = np.sqrt(np.maximum(middle**2 - 4 * lead * last, 0.0))
        peak = np.rint(2 * -last / np.maximum(middle + root, 1e-300)).astype(np.int64)
        # Given z, the number of double lies varies at most as if lies fell on the pairs by chance: M / 16.
        reach = math.ceil(_TAIL * math.sqrt(pairs) / 4) + 2
        j = peak[:, None] + np.arange(-reach, reach + 1)
    single, rest = z[:, None] - 2 * j, pairs - z[:, None] + j
    inside = (j >= 0) & (single >= 0) & (rest >= 0)
    j, single, rest = (np.where(inside, part, 0) for part in (j, single, rest))
    terms = log_factorial[pairs] - log_factorial[j] - log_factorial[single] - log_factorial[rest]
    terms = terms + single * math.log(2 * one) + rest * math.log(none) + (j * math.log(both) if both >= 1e-15 else 0.0)
    terms = np.where(inside, terms, -np.inf)
    largest = terms.max(axis=1)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        log_z = safe + np.log(np.exp(terms - safe[:, None]).sum(axis=1))
    log_g = log_z - (log_factorial[n] - log_factorial[z] - log_factorial[n - z])
    return z, log_g, log_factorial


def _matchings(people: int) -> int:
    """(people - 1)!!: in how many ways an even number of people can be paired."""
    return math.prod(range(people - 1, 0, -2))


def over(top: Fraction, bottom: Fraction) -> Ratio:
    """A ratio that may be infinite."""
    return top / bottom if bottom else math.inf

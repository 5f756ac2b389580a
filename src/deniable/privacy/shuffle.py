"""Amplification by shuffling: a second epsilon, for readers of published counts.

Whoever sees a respondent's report learns what the local epsilon allows. Whoever sees only the counts of n reports, and
does not know whose is whose, learns much less: it hides among the others'. Suppose the reports of two truths are

    R0 = (1 - h) M + h (p Q0 + (1 - p) Q1),     R1 = (1 - h) M + h ((1 - p) Q0 + p Q1),     p = e / (e + 1),

e = e^epsilon and h how often a report tells the two apart at all; and every other truth's is at least
(s / 2) Q0 + (s / 2) Q1. Then of the n - 1 others about s (n - 1) look like one or the other, by a fair coin: *clones*.
The counts tell no more about the respondent than (A + D, C + 1 - A - D) with C ~ Binomial(n - 1, s), A ~
Binomial(C, 1/2) and D a coin of probability p, or of 1 - p. Delta of these two laws at e' = e^epsilon' is h times the
mean over C of

    (p - (1 - p) e') Pr(A >= a - 1) - (p e' - (1 - p)) Pr(A >= a),     a the least with P > e' Q.

For every channel s = 1 / e and h = 1 will do (Feldman, McMillan and Talwar 2021). Channels whose reports take two
values have more clones, or say less of two truths (`Channel.clones`); the best decomposition is used. Numbers are
rounded up: what is printed holds after the error of every sum was added to delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from deniable.device.epsilon import epsilon_of
from deniable.device.privacy_statement import rounded_up
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TAIL = 1e-14  # the probability of numbers of clones that are not looked at; it is added to delta
_SLACK = 1e-11  # relative error of the binomial tails and of their sums, a thousand times what they have
_PLACES = 4
MOST_DELTA = 1e-6


@dataclass(frozen=True)
class Amplified:
    """What the readers of published counts can learn, beside the local epsilon and never instead of it.

    Attributes:
        epsilon: rounded up; at most the local one.
        delta: the probability that it does not hold, at most.
        n: the fewest respondents of any published group.
        local: the local epsilon.
    """

    epsilon: float
    delta: float
    n: int
    local: float

    def __str__(self) -> str:
        return (
            f"Readers of published counts of {self.n} respondents or more, who cannot tell whose report is whose, "
            f"learn less: epsilon {rounded_up(Fraction(self.epsilon), _PLACES)} with delta {self.delta:.1e}, rounded "
            f"up. This holds for unweighted counts, where every published group is at least that large without those "
            f"who tell others what they sent. What is promised stays the epsilon per respondent."
        )


def usual_delta(n: int) -> float:
    """A delta that is small beside one respondent in n: a hundredth of 1 / n, at most a millionth."""
    return min(MOST_DELTA, 0.01 / n)


def amplified(
    ratio: Fraction | float,
    n: int,
    *,
    delta: float | None = None,
    clones: Sequence[tuple[Fraction, Fraction]] = (),
) -> Amplified:
    """What readers of the counts of n reports can learn of one respondent whose report has this ratio.

    Args:
        ratio: e^epsilon of one whole report, exactly.
        n: how many reports are counted together, the respondent's among them.
        delta: the probability that the epsilon need not hold; by default a hundredth of 1 / n, at most a millionth.
        clones: better pairs (s, h) than (1 / ratio, 1), where the channel has them.

    >>> from fractions import Fraction
    >>> two = Fraction(7389, 1000)  # a little below e^2
    >>> found = amplified(two, 10_000, delta=1e-6, clones=[(2 / (two + 1), Fraction(1))])
    >>> rounded_up(found.epsilon)
    '0.1145'
    """
    if n < 1:
        raise InputError(f"published counts are of at least one respondent, not {n}", n=n)
    target = usual_delta(n) if delta is None else delta
    if not 0 < target < 1:
        raise InputError(f"delta is a probability above 0 and below 1, not {delta!r}", delta=delta)
    local = epsilon_of(ratio)
    if not isinstance(ratio, Fraction):
        return Amplified(math.inf, target, n, local)
    able = [(1 / ratio, Fraction(1)), *clones]
    best = min(_least_epsilon(float(ratio), n, target, (float(s), float(h))) for s, h in able)
    return Amplified(min(best, local), target, n, local)


def _likely(n: int, p: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of successes in n trials, and their probabilities; those left out have at most 2 `_TAIL` together.

    By Bernstein's inequality X is further than t = L / 3 + sqrt(L^2 / 9 + 2 n p (1 - p) L) on one side of its mean with
    probability e^-L at most. Probabilities follow from each other, from the likeliest number outwards:
    P(k + 1) / P(k) = (n - k) / (k + 1) p / (1 - p). They are made to sum to one, so none is too small. (scipy.stats has
    them as well, and takes a third of a second to load.)
    """
    far = -math.log(_TAIL)
    width = far / 3 + math.sqrt(far * far / 9 + 2 * n * p * (1 - p) * far)
    count = np.arange(max(0, math.floor(n * p - width)), min(n, math.ceil(n * p + width)) + 1)
    held = count.astype(np.longdouble)
    steps = np.log((n - held[:-1]) / held[1:] * (np.longdouble(p) / (1 - np.longdouble(p))))
    mode = int(np.searchsorted(-steps, 0.0))
    logs = np.concatenate([-np.cumsum(steps[:mode][::-1])[::-1], [0.0], np.cumsum(steps[mode:])])
    weight = np.exp(logs).astype(np.float64)
    return count, weight / weight.sum()


@lru_cache(maxsize=256)
def _least_epsilon(odds: float, n: int, delta: float, clones: tuple[float, float]) -> float:
    """The least multiple of 10^-4 at which delta is met, certainly; the local epsilon where there is none below."""
    scale = 10**_PLACES
    low, high = 0, math.ceil(math.log(odds) * scale)
    if _delta(high / scale, odds, n, clones) > delta and high / scale < math.log(odds):
        return math.log(odds)
    while low < high:
        middle = (low + high) // 2
        if _delta(middle / scale, odds, n, clones) <= delta:
            high = middle
        else:
            low = middle + 1
    return high / scale


def _delta(epsilon: float, odds: float, n: int, clones: tuple[float, float]) -> float:
    """Delta at an epsilon, every error added."""
    share, heard = clones
    from scipy.special import bdtrc

    p, wanted = odds / (odds + 1), math.exp(epsilon)
    gain, cost = p - (1 - p) * wanted, p * wanted - (1 - p)
    if gain <= 0:  # beyond the local epsilon nothing is left to tell
        return 0.0
    count, weight = _likely(n - 1, share * (1 - 1e-12))  # fewer clones hide less
    # P > e' Q where a / (C + 1 - a) > cost / gain; one less for rounding costs nothing, as terms there are below zero.
    a = np.floor((count + 1) * (cost / (cost + gain))).astype(np.int64) + 1
    a = np.minimum(a, count + 1)
    with_one, without = (np.where(at <= 0, 1.0, bdtrc(np.maximum(at, 1) - 1, count, 0.5)) for at in (a - 1, a))
    without = np.where(a > count, 0.0, without)
    total = float((weight * np.maximum(gain * with_one - cost * without, 0.0)).sum())
    error = float((weight * (gain * with_one + abs(cost) * without)).sum()) * _SLACK + 2 * _TAIL
    return heard * (1 + 1e-12) * (total + error)

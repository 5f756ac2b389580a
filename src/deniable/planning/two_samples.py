"""Two groups compared: the power of the pooled z-test of two shares of reports, exact and by the normal formula.

With x and y of n reports in each group of the counted kind, it rejects where (x - y)^2 > z^2 (x + y)(2n - x - y) / 2n
(and x lies on the right side of y). For every x the y that are rejected are those below the one root of that quadratic,
or above the other, so the exact power is a sum over x alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError
from deniable.planning.exact_power import binomial_test, code_of, words_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Category

_WIDE = 9.0  # standard deviations of a count beyond which nothing is summed: less than 1e-18
_MOST = 200_000  # respondents of a group up to which powers are exact


@dataclass(frozen=True)
class TwoSamples:
    """The comparison of two groups.

    Attributes:
        first: the share of the counted report in the first group.
        second: that in the second.
        tail: the level spent on each side that is looked at.
        above: whether the first share is looked for above the second.
        below: whether below.
        told: the test in words.
    """

    first: float
    second: float
    tail: float
    above: bool
    below: bool
    told: str

    @property
    def _z(self) -> float:
        from scipy.special import ndtri

        return float(ndtri(1 - self.tail))

    def power(self, n: ArrayLike) -> NDArray[np.float64]:
        """Pr(reject) with n respondents in each group, exactly; beyond 200,000 by the normal formula."""
        sizes = np.asarray(n)
        exact = [self._exact(min(int(size), _MOST)) for size in sizes.ravel()]
        return np.where(sizes > _MOST, self.approximate(sizes), np.reshape(exact, sizes.shape))

    def _exact(self, n: int) -> float:
        from scipy.stats import binom

        sd = np.sqrt(n * self.first * (1 - self.first)) + 1
        x = np.arange(max(0, int(n * self.first - _WIDE * sd)), min(n, int(n * self.first + _WIDE * sd)) + 1)
        k = self._z**2 / (2 * n)
        half, last = x + n * k - x * k, x**2 - 2 * n * k * x + k * x**2
        root = np.sqrt(np.maximum(half**2 - (1 + k) * last, 0.0))
        low, high = (half - root) / (1 + k), (half + root) / (1 + k)
        rejected = np.zeros(len(x))
        if self.above:
            rejected += binom.cdf(np.ceil(low - 1e-9) - 1, n, self.second)
        if self.below:
            rejected += binom.sf(np.floor(high + 1e-9), n, self.second)
        return float(binom.pmf(x, n, self.first) @ rejected)

    def _spreads(self) -> tuple[float, float]:
        """The sd of a difference of two shares, n = 1: if both groups were alike, and as they are."""
        mean = (self.first + self.second) / 2
        apart = self.first * (1 - self.first) + self.second * (1 - self.second)
        return float(np.sqrt(2 * mean * (1 - mean))), float(np.sqrt(apart))

    def approximate(self, n: ArrayLike) -> NDArray[np.float64]:
        """The normal approximation: Phi((|difference| sqrt(n) - z sd_0) / sd_1)."""
        from scipy.special import ndtr

        alike, apart = self._spreads()
        return np.asarray(ndtr((abs(self.first - self.second) * np.sqrt(n) - self._z * alike) / apart))

    def normal(self, power: float) -> float:
        """(z_alpha sd_0 + z_power sd_1)^2 / difference^2, of each group."""
        from scipy.special import ndtri

        alike, apart = self._spreads()
        return float(((self._z * alike + ndtri(power) * apart) / (self.first - self.second)) ** 2)


def two_samples(
    channel: Channel, prevalence: tuple[float, float], alpha: float, *, alternative: str, category: Category | None
) -> TwoSamples:
    """Set the comparison up, through any channel whose category is one binomial."""
    if len(prevalence) != 2:
        raise InputError(f"two groups have two prevalences, not {len(prevalence)}")
    one, other = prevalence
    test = binomial_test(channel, one, other, alpha, alternative=alternative, category=category)
    called = words_of(channel, code_of(channel, category))
    words = {"greater": "above", "less": "below", "two-sided": "different from"}[alternative]
    return TwoSamples(
        first=test.share,
        second=test.null,
        tail=test.upper or test.lower,
        above=test.upper > 0,
        below=test.lower > 0,
        told=(
            f"pooled two-sample test at level {alpha:g} that the prevalence{called} in the first group is {words} "
            f"that in the second, when they are {one:g} and {other:g}, through {channel.name}; respondents of each "
            f"group"
        ),
    )

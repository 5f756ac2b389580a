"""The exact test of a prevalence: the number of reports of one category is binomial, whatever the truth is.

How many of n reports are "yes", against the share of "yes" that the null prevalence would give.

Two groups compared: the power of the pooled z-test of two shares of reports, exact and by the normal formula.

With x and y of n reports in each group of the counted kind, it rejects where (x - y)^2 > z^2 (x + y)(2n - x - y) / 2n
(and x lies on the right side of y). For every x the y that are rejected are those below the one root of that quadratic,
or above the other, so the exact power is a sum over x alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.domain import Variable
from deniable.errors import InputError, UnknownCategoryError
from deniable.inference.attribute_pairs import one
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Category

_ALTERNATIVES = ("greater", "less", "two-sided")


@dataclass(frozen=True)
class BinomialTest:
    """The exact test of a prevalence through one count of n reports: which shares, which tail, which level.

    Attributes:
        null: the share of the counted report if the null hypothesis holds.
        share: the same if the assumed prevalence is true.
        alpha: the level.
        upper: the level spent on large counts.
        lower: the level spent on small counts.
        told: the test in words.
    """

    null: float
    share: float
    alpha: float
    upper: float
    lower: float
    told: str

    def power(self, n: ArrayLike) -> NDArray[np.float64]:
        """Pr(reject) for every n: the probability of counts whose null tail is at most alpha (each side's part)."""
        from scipy.stats import binom

        size = np.asarray(n)
        total = np.zeros(size.shape)
        if self.upper:
            # isf gives the smallest c with Pr(X > c) <= alpha.
            total += binom.sf(binom.isf(self.upper, size, self.null), size, self.share)
        if self.lower:
            # The largest c with Pr(X <= c) <= alpha: one less than the alpha-quantile, unless that is exact.
            c = binom.ppf(self.lower, size, self.null)
            c = np.where(binom.cdf(c, size, self.null) <= self.lower, c, c - 1)
            total += binom.cdf(c, size, self.share)
        return total

    def approximate(self, n: ArrayLike) -> NDArray[np.float64]:
        """The normal approximation: Phi((|difference| sqrt(n) - z_alpha sd_0) / sd_1)."""
        from scipy.special import ndtr, ndtri

        z = float(ndtri(1 - (self.upper or self.lower)))
        sd = [np.sqrt(x * (1 - x)) for x in (self.null, self.share)]
        far = abs(self.share - self.null) * np.sqrt(n) - z * sd[0]
        return np.asarray(ndtr(far / sd[1]) if sd[1] > 0 else (far > 0).astype(np.float64))

    def normal(self, power: float) -> float:
        """(z_alpha sd_0 + z_power sd_1)^2 / difference^2."""
        from scipy.special import ndtri

        tail = self.upper or self.lower
        sd = [np.sqrt(x * (1 - x)) for x in (self.null, self.share)]
        return float(((ndtri(1 - tail) * sd[0] + ndtri(power) * sd[1]) / (self.share - self.null)) ** 2)


def binomial_test(
    channel: Channel,
    prevalence: float,
    null: float,
    alpha: float,
    *,
    alternative: str,
    category: Category | None = None,
) -> BinomialTest:
    """Set the exact test up, through any channel whose category is one binomial."""
    for name, value in (("prevalence", prevalence), ("null", null)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must lie between 0 and 1, not {value!r}")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha!r}")
    if alternative not in _ALTERNATIVES:
        raise InputError(f"alternative must be one of {_ALTERNATIVES}, not {alternative!r}")
    if prevalence == null:
        raise InputError(f"prevalence and null are both {null:g}: there is nothing to detect")
    if alternative != "two-sided" and (prevalence > null) != (alternative == "greater"):
        raise InputError(
            f"a prevalence of {prevalence:g} lies on the other side of the null {null:g}; use "
            f'alternative="two-sided" or "{"greater" if prevalence > null else "less"}"'
        )
    affine = channel.affine()
    if affine is None:
        raise InputError(
            f"a category of {channel.name} is not one binomial, so there is no exact test; use a k-RR, mixture or "
            f"two-by-two channel, or simulate"
        )
    v = code_of(channel, category)
    scale, offset = float(affine[0][v]), float(affine[1][v])
    side = alpha / 2 if alternative == "two-sided" else alpha
    grows = (alternative == "greater") == (scale > 0)  # a crosswise device with p < 1/2 turns the direction round
    both = alternative == "two-sided"
    words = {"greater": "above", "less": "below", "two-sided": "different from"}[alternative]
    return BinomialTest(
        null=scale * null + offset,
        share=scale * prevalence + offset,
        alpha=alpha,
        upper=side if both or grows else 0.0,
        lower=side if both or not grows else 0.0,
        told=(
            f"exact binomial test at level {alpha:g} that the prevalence{words_of(channel, v)} is {words} "
            f"{null:g}, when it is {prevalence:g}, through {channel.name}"
        ),
    )


def code_of(channel: Channel, category: Category | None) -> int:
    """The code of a category, given as a label where the channel names its categories, else as the code itself."""
    labels = tuple(range(channel.inputs)) if channel.categories is None else channel.categories
    if category is not None and category not in labels:
        raise UnknownCategoryError(f"{channel.name} has no category {category!r}; it has {listed(labels)}")
    if category is None and channel.sensitive is not None:
        return channel.sensitive
    return one(Variable(channel.name, labels), category, "category")


def words_of(channel: Channel, code: int) -> str:
    """A category in words, where there are words for it or several that may be meant."""
    if channel.categories is not None:
        return f" of {channel.categories[code]}"
    return f" of category {code}" if channel.inputs > 2 else ""


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

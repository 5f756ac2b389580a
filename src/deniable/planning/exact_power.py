"""The exact test of a prevalence: the number of reports of one category is binomial, whatever the truth is.

How many of n reports are "yes", against the share of "yes" that the null prevalence would give.
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

"""How many respondents make an interval narrow enough."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError
from deniable.planning.exact_power import code_of, words_of
from deniable.planning.sample_size import SampleSize
from deniable.planning.settled import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Category


def sample_size_for_width(
    channel: Channel,
    prevalence: float,
    width: float,
    *,
    level: float = 0.95,
    assurance: float = 0.8,
    category: Category | None = None,
) -> SampleSize:
    """The number of respondents from which on Wilson's interval is narrow enough with the given probability.

    An interval's width depends on the answers that come. `assurance` is the probability that it is at most `width` if
    the prevalence is the assumed one; it is exact, and holds for every larger number too.

    The interval of a share x has the width 2 z / (1 + z^2/n) sqrt(x (1 - x) / n + z^2 / 4n^2), divided by the channel's
    scale; so "narrow enough" means x (1 - x) <= some v, that is x near 0 or near 1.
    """
    from scipy.special import ndtri

    affine = channel.affine()
    if affine is None:
        raise InputError(
            f"a category of {channel.name} is not one binomial, so the width has no exact distribution; use a k-RR, "
            f"mixture or two-by-two channel"
        )
    if width <= 0 or not 0 < assurance < 1 or not 0 < level < 1 or not 0 <= prevalence <= 1:
        raise InputError(
            f"a width lies above 0, and level, assurance and prevalence between 0 and 1; got width {width!r}, level "
            f"{level!r}, assurance {assurance!r}, prevalence {prevalence!r}"
        )
    v = code_of(channel, category)
    scale, share = abs(float(affine[0][v])), float(affine[0][v]) * prevalence + float(affine[1][v])
    z = float(ndtri((1 + level) / 2))
    narrow = partial(_narrow, width * scale, share, z)
    normal = max(4.0, (2 * z / (width * scale)) ** 2 * share * (1 - share))
    first, last = settle(narrow, assurance, normal)
    told = (
        f"probability that Wilson's {level:.0%} interval is at most {width:g} wide at a prevalence"
        f"{words_of(channel, v)} of {prevalence:g}, through {channel.name}"
    )
    reached = float(narrow(np.array([last]))[0])
    return SampleSize(
        last,
        first=first,
        normal=int(np.ceil(normal)),
        reached=reached,
        test=told,
        wanted=assurance,
        curve=narrow,
    )


def _narrow(width: float, share: float, z: float, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability that the interval of a binomial share is at most so wide."""
    from scipy.stats import binom

    spread = ((width * (1 + z**2 / n) / (2 * z)) ** 2 - z**2 / (4 * n**2)) * n
    # x (1 - x) <= spread outside (edge, 1 - edge)
    edge = (1 - np.sqrt(np.clip(1 - 4 * spread, 0, 1))) / 2
    low, high = np.floor(n * edge + 1e-9), np.ceil(n * (1 - edge) - 1e-9)
    outside = binom.cdf(low, n, share) + binom.sf(high - 1, n, share)
    return np.where(spread < 0, 0.0, np.where(spread >= 0.25, 1.0, np.minimum(outside, 1.0)))

"""Errors of estimates from paired respondents: the noise of two members of a pair is correlated.

The estimator is that of randomized response and unbiased for any rho: each report alone is RR(p). Only its variance
changes. With c = pq / (p - q)^2, K completed pairs among n respondents and x the true share of a category, pairing adds

    superpopulation    w (1 - 2x)^2                           w = 2 c rho K / n^2
    fixed population   w (n (1 - 2x)^2 - 1) / (n - 1)

to the variance of its estimate. The second is the published theorem (`pairing.count_variance`), divided by n^2;
averaged over respondents who are draws from a larger population, it becomes the first.

**From real data** (1 - 2x)^2 is not known, and (1 - 2 estimate)^2 is too large by four times the variance, which itself
holds the unknown. Solving for it gives an unbiased plug-in: with V0 the variance without pairing,

    superpopulation    ((1 - 2 estimate)^2 - 4 V0) / (1 + 4 w)
    fixed population   ((1 - 2 estimate)^2 - 4 V0 + 4 w / (n - 1)) / (1 + 4 w n / (n - 1)),

kept within 0 and 1, and 0 (no gain from pairing) where the denominator is not positive, which means too few reports.

Two yes-or-no cells move against each other, so their covariance changes by the opposite amount. Categories of a
`Bitmask` have a coin each, so covariances between them stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.bitmask import Bitmask
from deniable.channels.some_truths import SomeTruths
from deniable.extensions.designs.paired import Paired
from deniable.frozen import readonly
from deniable.likelihood.covariance_operator import Dispersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.likelihood.covariance_operator import Population, Sample


_FEW = 30  # paired respondents: below that, what their coins do to errors is hardly known


@dataclass(frozen=True, eq=False)
class PairedDispersion(Dispersion):
    """The covariance of an estimate some of whose samples come from paired respondents.

    `pulls` holds, by channel (the whole one), the sum of rho K over the paired reports that went through it.
    """

    pulls: Mapping[Channel, float] = field(default_factory=dict)
    unasked: int = 0  # people whom a question was not put to

    are_counts = False

    @cached_property
    def plain(self) -> Dispersion:
        """The same without pairing."""
        return Dispersion(self.samples, self.domain, self.population)

    def __matmul__(self, w: ArrayLike) -> NDArray[np.float64]:
        """Multiply by a vector over the cells, in the table's shape."""
        vector = np.asarray(w, dtype=np.float64).reshape(self.domain.shape)
        result = self.plain @ vector
        for sample in self.samples:
            extra = sample.weight**2 * pair_variance(sample, self.population, self._pull(sample))
            if not isinstance(_whole(sample.observation.channel), Bitmask):
                result = result + extra * (vector - vector[::-1])
            else:
                result = result + extra * vector
        return result

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Per-cell variances, in the table's shape."""
        extra = [s.weight**2 * pair_variance(s, self.population, self._pull(s)) for s in self.samples]
        return readonly(
            np.maximum(self.plain.variances + np.sum(extra, axis=0), 0.0)
        )  # a handful of reports may go below

    @property
    def design_effect(self) -> NDArray[np.float64]:
        """The variances over those of as many unpaired respondents: below 1 where pairing helped."""
        plain = self.plain.variances  # zero where all reports are alike
        return np.divide(self.variances, plain, out=np.ones_like(plain), where=plain > 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what pairing did to the errors, and of whom; others have told who was asked already."""
        unasked = (f"{self.unasked} people were not asked",) if self.unasked else ()
        if not any(self.pulls.values()):
            return (
                "respondents were paired, but no completed pair is known: errors are those of unpaired ones",
                *unasked,
            )
        effect = self.design_effect
        told = f"{effect.min():.3f}" if np.ptp(effect) < 5e-4 else f"{effect.min():.3f} to {effect.max():.3f}"
        return f"respondents were paired: variances are {told} times those of unpaired ones", *unasked

    @property
    def warnings(self) -> tuple[str, ...]:
        """That errors are rough where respondents are few: how their coins went together is estimated too."""
        if self.n >= _FEW:
            return ()
        return (f"Only {self.n} respondents, some of them in pairs: errors and intervals of so few are rough.",)

    def _pull(self, sample: Sample) -> float:
        return self.pulls.get(_whole(sample.observation.channel), 0.0)


def pair_variance(sample: Sample, population: Population, pull: float) -> NDArray[np.float64]:
    """What pairing adds to the variance of each cell, estimated; `pull` is rho K."""
    if pull == 0:
        return np.zeros(sample.domain.shape)
    n, channel = sample.observation.n, _whole(sample.observation.channel)
    p, q = channel.p, channel.q  # type: ignore[attr-defined]
    w = 2 * pull * p * q / (p - q) ** 2 / n**2
    unlevel = (1 - 2 * sample.estimate) ** 2 - 4 * sample.variances(population)
    if population == "super":
        return w * _within(unlevel, 1 + 4 * w)
    unlevel = unlevel + 4 * w / (n - 1)
    return w * (n * _within(unlevel, 1 + 4 * w * n / (n - 1)) - 1) / (n - 1)


def _whole(channel: Channel) -> Channel:
    """The channel that respondents ran, where some of its truths are left out: the others' coins are as they were."""
    return channel.whole if isinstance(channel, SomeTruths) else channel


def _within(top: NDArray[np.float64], bottom: float) -> NDArray[np.float64]:
    return np.clip(top / bottom, 0.0, 1.0) if bottom > 0 else np.zeros_like(top)


def with_pairs(dispersion: Dispersion, sources: Iterable[Any]) -> Dispersion:
    """The dispersion as it is for reports of paired respondents, which some of the sources are."""
    if type(dispersion) is not Dispersion:
        return dispersion
    pulls: dict[Channel, float] = {}
    unasked = 0
    for source in sources:
        design = getattr(source, "design", None)
        unasked += source.n - getattr(source, "people", source.n)
        if isinstance(design, Paired):
            (name,) = dispersion.domain
            channel = design.questions[design.domain.axes([name])[0]].channel
            pulls[channel] = pulls.get(channel, 0.0) + float(design.coins[name].rho) * getattr(source, "pairs", 0.0)
    return PairedDispersion(dispersion.samples, dispersion.domain, dispersion.population, pulls, unasked)

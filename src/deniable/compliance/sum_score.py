"""Sum scores: how many of several sensitive traits a person has, from independently disguised items.

For item j let q_j(u) = (q_j0, q_j1) be the unbiased scores of report u: E q_jv = [truth_j = v]. The polynomial

    prod over items of (q_j0(u_j) + q_j1(u_j) z)

has in its coefficient of z^s an unbiased score of "exactly s traits", since the devices are independent. The mean over
respondents estimates the distribution of the sum without any model of how the traits hang together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.compliance.device_groups import coded, items, sampling_for
from deniable.core.results import Interval, frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary
from deniable.errors import DesignError, InputError
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.compliance.device_groups import Weighted
    from deniable.core.results import Frame
    from deniable.sampling.read_sampling import Column

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SumScore(Shown, Frozen):
    """The estimated distribution of the number of traits.

    Attributes:
        values: unbiased shares of 0, 1, ..., m traits; a negative one says how far the noise reaches.
        covariance: of these shares.
        constrained: the nearest distribution without negative shares.
        n: the number of respondents.
        df: degrees of freedom of the errors: `Sampling.df`; infinite where respondents are independent.
    """

    values: Array
    covariance: Array
    constrained: Array
    n: int
    df: float = np.inf

    @property
    def std_error(self) -> Array:
        """Standard errors of `values`."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))  # rounding may fall below a variance of nothing

    @property
    def mean(self) -> float:
        """The mean number of traits, the sum of the items' prevalences."""
        return float(np.arange(len(self.values)) @ self.values)

    @property
    def mean_std_error(self) -> float:
        """Its standard error."""
        scores = np.arange(len(self.values))
        return float(np.sqrt(max(float(scores @ self.covariance @ scores), 0.0)))

    def interval(self, level: float = 0.95) -> Interval:
        """Wald intervals of the shares, unclipped."""
        half = critical_value(1 - level, self.df) * self.std_error
        return Interval(self.values - half, self.values + half, level, "Wald")

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "traits": list(range(len(self.values))),
            "share": self.values.tolist(),
            "std error": self.std_error.tolist(),
            "within [0, 1]": self.constrained.tolist(),
        }

    def to_frame(self) -> Frame:
        """The table as a pyarrow table."""
        return frame_of(self._columns())

    def summary(self) -> Summary:
        """The shares of every number of traits, and the mean."""
        mean = f"mean number of traits {self.mean:.4f} (std error {self.mean_std_error:.4f}), {self.n} respondents"
        return Summary(self._columns(), (mean,))

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the share of every number of traits with its interval; a negative one is shown as it is."""
        low, high = self.interval(level)
        labels = [f"{traits} trait{'' if traits == 1 else 's'}" for traits in range(len(self.values))]
        beside = {} if np.allclose(self.constrained, self.values) else {"within [0, 1]": self.constrained}
        return intervals_by_row(
            labels, self.values, (low, high), ax, of="share of respondents", level=level, beside=beside, bars=True
        )


def sum_score(
    reports: ArrayLike,
    channels: Sequence[Channel],
    *,
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> SumScore:
    """Estimate the distribution of the number of sensitive traits.

    Unbiased for any dependence between the traits and any devices, which may differ between items. Standard errors from
    the spread of the respondents' scores, with n - 1.

    Args:
        reports: one row per respondent, one column per item, codes of each item's reports.
        channels: each item's device, with two truths.
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.
    """
    codes, channels = items(coded(reports), channels)
    scores = np.ones((len(codes), 1))
    for place, channel in enumerate(channels):
        if channel.inputs != 2:
            raise DesignError(f"item {place + 1} has {channel.inputs} truths; a trait is present or not", item=place)
        column = codes[:, place]
        if column.min() < 0 or column.max() >= channel.outputs:
            raise InputError(f"item {place + 1} has reports outside 0 to {channel.outputs - 1}", item=place)
        without, has = channel.solve(np.eye(channel.outputs))[:, column]
        longer = np.zeros((len(codes), scores.shape[1] + 1))
        longer[:, :-1] += without[:, None] * scores
        longer[:, 1:] += has[:, None] * scores
        scores = longer
    sampling = sampling_for(reports, weights, strata, clusters)
    if sampling is None:
        values = scores.mean(axis=0)
        return SumScore(values, np.cov(scores.T) / len(codes), norm_sub(values), len(codes))
    values = np.average(scores, axis=0, weights=sampling.scaled)
    covariance = sampling.covariance((np.arange(len(codes)), (scores - values) / sampling.scaled.sum()))
    return SumScore(values, covariance, norm_sub(values), len(codes), sampling.df)

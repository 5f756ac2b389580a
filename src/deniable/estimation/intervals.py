"""Confidence intervals for cells, always from the unbiased core and not clipped; `shown` clips what people see.

Wilson's interval asks which true values x would not be surprised by the estimate, using the variance that x itself
implies. For a binomial share that is a quadratic equation; it stays one here. If a cell held x and the other cells
shared the rest as estimated, its second moment would be  s(x) = x D_vv + (1 - x) r,  where D = (Q o Q) P and r is
the average of D_vu over the other cells. So the interval's ends solve

    (estimate - x)^2 = z^2 sum over samples of weight^2 (s(x) - x^2) / n.

Where a cell is one binomial (k-RR, mixtures, any two-by-two channel), r does not depend on the other cells and this
*is* Wilson's interval for the reports, mapped through the channel. There, two more intervals can be mapped likewise:
Clopper and Pearson's (never covers less than it says, so it is wider) and that of the likelihood ratio (profile).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.channels.sets.possible_sets import holds_sets
from deniable.core.randomness import SECURE, Source, check_source
from deniable.core.results import Interval
from deniable.core.table import Table
from deniable.errors import InputError
from deniable.numerics.root_finding import bracketed_root
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.likelihood.covariance_operator import Dispersion, Population, Sample
    from deniable.likelihood.efficient_estimate import Efficient

Method = Literal["wilson", "wald", "clopper_pearson", "profile", "bootstrap"]
_METHODS = '"wilson", "wald", "clopper_pearson", "profile" or "bootstrap"'
_MOST_NUMBERS = 1 << 27  # that a bootstrap holds: a gigabyte
_FAR = 50.0  # limits: a likelihood ratio beyond is as far as any


def intervals(
    unbiased: NDArray[np.float64],
    dispersion: Dispersion,
    level: float,
    method: Method,
    *,
    pooled: Efficient | None = None,
    simultaneous: bool = False,
    replicates: int = 9999,
    source: Source = SECURE,
) -> Interval:
    """Intervals for every cell.

    Args:
        unbiased: the unbiased estimate.
        dispersion: its covariance.
        level: the coverage of each interval; of all of them together when `simultaneous`.
        method: "wilson", "wald", "clopper_pearson", "profile" (the last two where each cell is one binomial), or
            "bootstrap": percentiles of estimates from reports drawn anew.
        pooled: the efficient estimate, where there is one: "wilson" and "wald" are then around it.
        simultaneous: hold all true cells at once (Bonferroni: each misses with (1 - level) / cells; two cells are one
            question, so they need no correction).
        replicates: for "bootstrap", how many times the reports are drawn anew.
        source: for "bootstrap", where they are drawn from.
    """
    check_source(source)
    if not 0 < level < 1:
        raise InputError(f"a confidence level lies between 0 and 1, not {level!r}", level=level)
    if method in ("clopper_pearson", "profile", "bootstrap") and not dispersion.samples:
        raise InputError(
            f'method="{method}" looks at reports that cover the table through a channel that can be inverted by '
            f'itself, and there are none: several parts tell this table together. Use "wilson" or "wald"',
            method=method,
        )
    cells = unbiased.size if simultaneous and unbiased.size > 2 else 1
    miss = (1 - level) / cells
    z2 = critical_value(miss, dispersion.df) ** 2
    if pooled is not None and method in ("wilson", "wald"):
        half = np.sqrt(z2 * pooled.variances)
        both = pooled.values - half, pooled.values + half
        low, high = pooled.score_interval(z2) if method == "wilson" else both
    elif method == "wilson":
        low, high = _spread(unbiased, dispersion, z2, *_wilson(unbiased, dispersion, z2))
    elif method == "wald":
        half = np.sqrt(z2 * dispersion.variances)
        low, high = _spread(unbiased, dispersion, z2, unbiased - half, unbiased + half)
    elif method == "clopper_pearson":
        low, high = _through(dispersion, lambda x, n: clopper_pearson(x, n, miss), method)
    elif method == "profile":
        low, high = _through(dispersion, lambda x, n: likelihood_ratio(x, n, z2), method)
    elif method == "bootstrap":
        low, high = _percentiles(dispersion, miss, replicates, source)
    else:
        raise InputError(f"method must be {_METHODS}, not {method!r}", method=method)
    names = {"wilson": "Wilson", "wald": "Wald", "clopper_pearson": "Clopper-Pearson", "profile": "profile likelihood"}
    told = "parametric bootstrap" if method == "bootstrap" else names[method]
    told += "" if method in ("wald", "bootstrap") else " through the channel"
    return Interval(low, high, level, f"{told}, simultaneous" if simultaneous else told)


def critical_value(miss: float, df: float = np.inf) -> float:
    """The two-sided critical value: normal, or Student's t where a survey's clusters leave few degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    if not 0 < miss < 1:
        raise InputError(f"a confidence level lies between 0 and 1, not {1 - miss:g}", level=1 - miss)
    return float(ndtri(1 - miss / 2) if np.isinf(df) else stdtrit(df, 1 - miss / 2))


def tail(miss: float, df: float = np.inf) -> float:
    """What percentiles of replicates leave out at each end, so that few clusters widen them as Student's t does.

    >>> tail(0.05), round(tail(0.05, 4), 4)
    (0.025, 0.0027)
    """
    from scipy.special import ndtr

    return miss / 2 if np.isinf(df) else float(ndtr(-critical_value(miss, df)))


def _wilson(
    unbiased: NDArray[np.float64], dispersion: Dispersion, z2: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b, c = _variance_at(dispersion)
    # (e - x)^2 = z2 (a + b x + c x^2), times the survey's design effect
    z2_cell = z2 * dispersion.design_effect
    lead = 1 - z2_cell * c
    middle = unbiased + z2_cell * b / 2
    root = np.sqrt(np.maximum(middle**2 - lead * (unbiased**2 - z2_cell * a), 0.0))
    return (middle - root) / lead, (middle + root) / lead


def _spread(
    unbiased: NDArray[np.float64],
    dispersion: Dispersion,
    z2: float,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same ends, but where they are one point: reports that are all alike do not show how they vary.

    There the interval is as long as at the possible table that is nearest; where reports speak of more attributes,
    whose part in it is not known, at even shares.
    """
    point = high <= low
    if not point.any() or not dispersion.samples:
        return low, high
    likely = norm_sub(unbiased)
    expected = np.zeros(dispersion.domain.shape)
    for sample in dispersion.samples:
        even = np.full(sample.observation.domain.shape, 1 / sample.observation.domain.cells)
        there = sample.at(sample.reordered(likely) if sample.is_direct else even)
        expected += sample.weight**2 * there.variances(dispersion.population)
    half = np.sqrt(z2 * expected * dispersion.design_effect)
    return np.where(point, unbiased - half, low), np.where(point, unbiased + half, high)


def dispersion_at(dispersion: Dispersion, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the variance of each cell would be if that were its true share."""
    a, b, c = _variance_at(dispersion)
    return np.maximum(a + b * cells + c * cells**2, 0.0) * dispersion.design_effect


def _variance_at(dispersion: Dispersion) -> tuple[NDArray[np.float64], ...]:
    """(a, b, c) of the variance a + b x + c x^2 at a cell's true value x, for independent respondents."""
    parts = [
        [sample.weight**2 * part for part in variance_of(sample, dispersion.population)]
        for sample in dispersion.samples
    ]
    return tuple(np.sum(part, axis=0) for part in zip(*parts, strict=True))


def _through(dispersion: Dispersion, binomial: Any, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Map an interval for each report's share through the channel: pi_v = (lambda_v - offset_v) / scale_v."""
    sample = dispersion.samples[0]
    affine = sample.observation.channel.affine()
    if len(dispersion.samples) > 1 or not sample.is_direct or affine is None or dispersion.population == "fixed":
        raise InputError(
            f'method="{method}" needs every cell to be one binomial: one sample from a larger population through one '
            f'k-RR, mixture or two-by-two channel. Use "wilson", which holds for any channel',
            method=method,
        )
    observation = sample.observation
    scale, offset, counts = (
        sample.to_asked(observation.truth_shape(part.ravel()[: observation.channel.inputs]))
        for part in (*affine, observation.counts)
    )
    effect = np.broadcast_to(dispersion.design_effect, counts.shape)
    ends = [(end - offset) / scale for end in binomial(counts / effect, observation.n / effect)]
    return np.minimum(*ends), np.maximum(*ends)


def clopper_pearson(
    successes: NDArray[np.float64], n: NDArray[np.float64], miss: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clopper and Pearson's interval for a share: the tails of the binomial, as quantiles of the beta distribution.

    >>> [round(float(end), 4) for end in clopper_pearson(np.array(7.0), np.array(20.0), 0.05)]
    [0.1539, 0.5922]
    """
    from scipy.special import betaincinv

    # A beta distribution with a parameter of zero is a point: the share's own end.
    low = np.where(successes > 0, betaincinv(np.maximum(successes, 1e-300), n - successes + 1, miss / 2), 0.0)
    high = np.where(successes < n, betaincinv(successes + 1, np.maximum(n - successes, 1e-300), 1 - miss / 2), 1.0)
    return low, high


def likelihood_ratio(
    successes: NDArray[np.float64], n: NDArray[np.float64], z2: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares whose log-likelihood lies within z2 / 2 of the best: 2 n KL(observed, share) <= z2."""
    from scipy.special import rel_entr

    z = np.sqrt(z2)

    def left(share: NDArray[np.float64], observed: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
        fall = 2 * n * (rel_entr(observed, share) + rel_entr(1 - observed, 1 - share))
        return z - np.minimum(np.sqrt(np.maximum(fall, 0.0)), _FAR * z)  # nearly straight, and finite at the ends

    observed = np.stack([successes / n] * 2)
    ends = np.stack([np.zeros_like(observed[0]), np.ones_like(observed[1])])
    low, high = bracketed_root(left, observed, ends, observed, np.broadcast_to(n, ends.shape))
    return low, high


def _percentiles(
    dispersion: Dispersion, miss: float, replicates: int, source: Source
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if dispersion.population == "fixed" or not np.all(np.asarray(dispersion.design_effect) == 1):
        raise InputError(
            'method="bootstrap" draws independent respondents from a larger population; for weights, strata, clusters '
            'or a fixed population use "wilson" or "wald"',
            method="bootstrap",
        )
    if dispersion.domain.cells * replicates > _MOST_NUMBERS:
        raise InputError(
            f'{replicates} bootstrap replicates of {dispersion.domain.cells} cells are too many to hold; use "wilson", '
            f"or fewer replicates",
            method="bootstrap",
        )
    rng = source.stream().generator()
    again = np.zeros((*dispersion.domain.shape, replicates))
    for sample in dispersion.samples:
        again += sample.weight * sample.unbiased(_again(sample.observation, rng, replicates))
    low, high = np.quantile(again, [miss / 2, 1 - miss / 2], axis=-1)
    return low, high


def _again(observation: Observation, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
    """Counts of as many reports: categories with the observed shares, sets from the nearest possible table."""
    channel = observation.channel
    if holds_sets(channel):
        likely = norm_sub(channel.solve(observation.shares))
        return channel.draw(likely, observation.n, rng, replicates)
    drawn = rng.multinomial(observation.n, observation.shares.ravel(), size=replicates).T
    return drawn.reshape(*channel.output_shape, replicates).astype(np.float64)


def variance_of(
    sample: Sample, population: Population
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """A sample's variance as a function a + b x + c x^2 of the cell's true value x."""
    n = sample.observation.n
    if not sample.is_direct:
        zero = np.zeros(sample.domain.shape)
        return sample.variances(population), zero, zero
    diagonal, others = cell_moments(sample)
    # s(x) = others + (diagonal - others) x
    if population == "super":
        return others / n, (diagonal - others) / n, np.full(others.shape, -1 / n)
    unasked = (1 - n / sample.observation.population) / n
    return others / n, (diagonal - others - 1) / n + unasked, np.full(others.shape, -unasked)


def cell_moments(sample: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """D_vv, and the average r of D_vu over the other cells u, weighted by how frequent they seem to be."""
    observation, channel = sample.observation, sample.observation.channel
    diagonal, sums = (sample.to_asked(observation.truth_shape(part)) for part in channel.spread())
    even = (sums - diagonal) / (channel.inputs - 1)
    if channel.affine() is not None:
        return diagonal, even  # all D_vu beside the diagonal are equal
    likely = Table(sample.domain, norm_sub(sample.estimate)).project(observation.domain.names).values
    moments = sample.second_moments(channel.apply(likely.reshape(channel.input_shape)))
    likely = sample.to_asked(likely)
    rest = 1 - likely
    weighted = np.divide(moments - likely * diagonal, rest, out=even.copy(), where=rest > 1e-6)
    return diagonal, weighted

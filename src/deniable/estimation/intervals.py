"""Confidence intervals for cells, always from the unbiased core and never clipped.

Wilson's interval asks which true values x would not be surprised by the estimate, using the variance that x itself
implies. For a binomial share that is a quadratic equation; it stays one here. If a cell held x and the other cells
shared the rest as estimated, its second moment would be  s(x) = x D_vv + (1 - x) r,  where D = (Q o Q) P and r is
the average of D_vu over the other cells. So the interval's ends solve

    (estimate - x)^2 = z^2 sum over samples of weight^2 (s(x) - x^2) / n.

Where a cell is one binomial (k-RR, mixtures, any two-by-two channel), r does not depend on the other cells and this
*is* Wilson's interval for the reports, mapped through the channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from deniable.errors import InputError
from deniable.estimation.projection import norm_sub
from deniable.results import Interval
from deniable.tables.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.dispersion import Dispersion, Population, Sample

Method = Literal["wilson", "wald"]


def intervals(unbiased: NDArray[np.float64], dispersion: Dispersion, level: float, method: Method) -> Interval:
    """Intervals for every cell, each with the given coverage."""
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise InputError(f"a confidence level lies between 0 and 1, not {level!r}", level=level)
    z2 = float(ndtri((1 + level) / 2)) ** 2
    if method == "wald":
        half = np.sqrt(z2 * dispersion.variances)
        return Interval(unbiased - half, unbiased + half, level, "Wald")
    if method != "wilson":
        raise InputError(f'method must be "wilson" or "wald", not {method!r}')
    a, b, c = np.zeros(unbiased.shape), np.zeros(unbiased.shape), np.zeros(unbiased.shape)
    for sample in dispersion.samples:
        a_i, b_i, c_i = variance_of(sample, dispersion.population)
        a, b, c = a + sample.weight**2 * a_i, b + sample.weight**2 * b_i, c + sample.weight**2 * c_i
    # (e - x)^2 = z2 (a + b x + c x^2)
    lead = 1 - z2 * c
    middle = unbiased + z2 * b / 2
    root = np.sqrt(np.maximum(middle**2 - lead * (unbiased**2 - z2 * a), 0.0))
    return Interval((middle - root) / lead, (middle + root) / lead, level, "Wilson through the channel")


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

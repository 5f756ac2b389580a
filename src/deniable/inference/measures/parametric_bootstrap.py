"""Parametric bootstrap of an estimate: reports drawn anew from the fitted table, and estimated as the estimate was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.core.table import summed
from deniable.errors import InputError
from deniable.estimation.several_sources import Averaged
from deniable.inference.measures.profile_likelihood import evidence_of
from deniable.inference.monte_carlo import checked, generator_of
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import inverted
from deniable.likelihood.quasi_likelihood import countable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from deniable.estimation.estimate import Estimate

_GAP = 1e-3  # nats left to gain
_MIXED = 0.01  # share of the even table in a start


def bootstrap_tables(estimate: Estimate, replicates: int, source: Source | None) -> NDArray[np.float64]:
    """Tables estimated from reports drawn anew, last axis of replicates: what the estimate could have been.

    Reports are drawn from the fitted table, and each replicate is estimated as the estimate was: by inversion, or by
    maximum likelihood (of sets, by that of counts as precise). Without a source, the data determine the draws.
    Respondents with weights, strata or clusters are not drawn one by one: clusters are, in their strata (Rao & Wu
    1988), and replicates are efficient estimates.
    """
    if not np.isinf(estimate.dispersion.df):
        return _by_cluster(estimate, replicates, generator_of([evidence_of(estimate)], source))
    samples = estimate.dispersion.samples
    if any(not sample.is_direct for sample in samples):
        raise InputError('method="bootstrap" needs reports about exactly the estimated attributes; use "delta"')
    domain = estimate.table.domain
    seen = countable(inverted(estimate.dispersion))
    rng = generator_of([seen], source)
    truth = fit(seen, gap=_GAP).pi
    if estimate.method == "inversion" or isinstance(estimate.dispersion, Averaged):
        tables = np.zeros((*domain.shape, checked(replicates)))
        for sample in samples:
            o = sample.observation
            own = summed(truth, seen.domain, o.domain).reshape(*o.channel.input_shape, 1)
            tables += sample.weight * sample.unbiased(o.channel.draw(own, o.n, rng, replicates))
        return tables
    start = _MIXED / seen.cells + (1 - _MIXED) * truth
    found = fit(seen, counts=seen.again(truth, rng, checked(replicates)), starts=[start], gap=_GAP)
    return summed(found.pi, seen.domain, domain)


def _by_cluster(estimate: Estimate, replicates: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Efficient tables with clusters drawn anew."""
    pooled = estimate.pooled
    sampling = None if pooled is None else pooled.sampling
    if pooled is None or sampling is None:
        raise InputError(
            'method="bootstrap" of a weighted table draws clusters anew and estimates efficiently; this is another '
            'estimate. Use method="delta", or estimate the table without method="inversion"'
        )
    place, table = pooled.linear
    drawn = [pooled.again(counts) for _, counts in sampling.bootstrap(place, len(table), replicates, rng)]
    return (pooled.evidence.margin @ np.concatenate(drawn).T).reshape(*pooled.domain.shape, replicates)

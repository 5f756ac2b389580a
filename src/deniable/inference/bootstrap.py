"""Parametric bootstrap on counts: reports drawn anew from a fitted table, a thousand replicates at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.base import multinomials
from deniable.errors import InputError
from deniable.inference.fit import GAP, Part, saturated
from deniable.tables.marginals import summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.fit.engine import Fitted

# Replicates are fitted less sharply than the data: a statistic 2e-4 off does not change its rank among a thousand.
_GAP = 1e-4
_TIE = 2 * _GAP  # statistics closer than that count as equal


def draw(
    rng: np.random.Generator, n: int, shares: NDArray[np.float64], replicates: int | None = None
) -> NDArray[np.float64]:
    """Draw n reports from each replicate's shares (last axis); from one table, `replicates` times."""
    if replicates is not None and replicates < 1:
        raise InputError(f"the bootstrap needs at least 1 replicate, not {replicates}")
    drawn = multinomials(shares.reshape(-1, shares.shape[-1]), n, rng, replicates or shares.shape[-1])
    return drawn.T.reshape(*shares.shape[:-1], -1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """Two hypotheses about the same observations, each a list of tables to fit (`Part`), H0 inside H1.

    Parts speak of the observations they hold; log-likelihoods add up over parts, as over blocks and groups.
    """

    observations: Sequence[Observation]
    h0: Sequence[Part]
    h1: Sequence[Part]

    def _places(self, part: Part) -> list[int]:
        return [next(i for i, o in enumerate(self.observations) if o is mine) for mine in part.observations]

    def _fit(
        self,
        parts: Sequence[Part],
        counts: Sequence[NDArray[np.float64]],
        near: Sequence[NDArray[np.float64]] | None,
        gap: float,
    ) -> tuple[list[Fitted], NDArray[np.float64]]:
        fits = [
            part.fit([counts[i] for i in self._places(part)], near=None if near is None else near[k], gap=gap)
            for k, part in enumerate(parts)
        ]
        return fits, np.sum([fit.loglik for fit in fits], axis=0)

    def statistic(
        self,
        counts: Sequence[NDArray[np.float64]],
        near: Sequence[NDArray[np.float64]] | None = None,
        gap: float = GAP,
    ) -> tuple[NDArray[np.float64], list[Fitted]]:
        """2 (log-likelihood under H1 - under H0) of every replicate, and the tables fitted under H0."""
        null, below = self._fit(self.h0, counts, near, gap)
        # Under H1 start from the table fitted under H0, which is a table of H1 too, and can only get better.
        starts = [self._seen_from(null, part) for part in self.h1]
        above = self._fit(self.h1, counts, starts, gap)[1]
        return np.maximum(2 * (above - below), 0.0), null

    def _seen_from(self, null: Sequence[Fitted], part: Part) -> NDArray[np.float64]:
        """The H0 table of the attributes of an H1 part: that of the H0 part holding its first observation."""
        home = next(k for k, p in enumerate(self.h0) if any(o is part.observations[0] for o in p.observations))
        return summed(null[home].pi, self.h0[home].domain, part.domain)

    def again(
        self, null: Sequence[Fitted], rng: np.random.Generator, replicates: int | None
    ) -> list[NDArray[np.float64]]:
        """Counts of every observation, drawn from the tables fitted under H0."""
        drawn: list[NDArray[np.float64]] = [np.empty(0)] * len(self.observations)
        for part, fit in zip(self.h0, null, strict=True):
            for i, shares in zip(self._places(part), part.expected(fit.pi), strict=True):
                drawn[i] = draw(rng, self.observations[i].n, shares, replicates)
        return drawn

    def test(self, replicates: int, rng: np.random.Generator) -> tuple[float, float, NDArray[np.float64]]:
        """The statistic, its bootstrap p-value (1 + exceedances) / (1 + replicates), and the simulated statistics."""
        observed, null = self.statistic([o.counts[..., None] for o in self.observations])
        drawn = self.again(null, rng, replicates)
        near = [np.repeat(fit.pi, replicates, axis=-1) for fit in null]
        simulated, _ = self.statistic(drawn, near, _GAP)
        return float(observed[0]), p_value(float(observed[0]), simulated), simulated

    def warp_speed(
        self, counts: Sequence[NDArray[np.float64]], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Statistics of many simulated surveys, and one bootstrap statistic of each (Giacomini, Politis & White 2013).

        The bootstrap statistics, pooled over the surveys, are the reference for all of them: a test's size or power
        costs two fits a survey instead of a thousand.
        """
        observed, null = self.statistic(counts, gap=_GAP)
        simulated, _ = self.statistic(self.again(null, rng, None), [fit.pi for fit in null], _GAP)
        return observed, simulated


def p_value(observed: float, simulated: NDArray[np.float64]) -> float:
    """(1 + how many simulated statistics reach the observed one) / (1 + replicates)."""
    return float((1 + (simulated >= observed - _TIE).sum()) / (1 + len(simulated)))


def bootstrap_tables(estimate: Estimate, replicates: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Tables estimated from reports drawn anew, last axis of replicates: what the estimate could have been.

    Reports are drawn from the fitted table, and each replicate is estimated as the estimate was: by inversion, or by
    maximum likelihood. Respondents with weights, strata or clusters are not drawn one by one: clusters are, in their
    strata (Rao & Wu 1988), and replicates are efficient estimates.
    """
    if not np.isinf(estimate.dispersion.df):
        return _by_cluster(estimate, replicates, rng)
    samples = estimate.dispersion.samples
    if any(not sample.is_direct for sample in samples):
        raise InputError('method="bootstrap" needs reports about exactly the estimated attributes; use "delta"')
    domain = estimate.table.domain
    part = saturated([sample.observation for sample in samples])
    truth = part.fit().pi
    drawn = [
        draw(rng, sample.observation.n, shares, replicates)
        for sample, shares in zip(samples, part.expected(truth), strict=True)
    ]
    if estimate.method == "inversion":
        tables = np.zeros((*domain.shape, replicates))
        for sample, counts in zip(samples, drawn, strict=True):
            own = sample.observation.truth_shape(sample.observation.channel.solve(counts / sample.observation.n))
            tables += sample.weight * summed(own, sample.observation.domain, domain)
        return tables
    return summed(part.fit(drawn, near=np.repeat(truth, replicates, axis=-1), gap=1e-3).pi, part.domain, domain)


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

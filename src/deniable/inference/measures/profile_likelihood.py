"""Profile likelihood for the odds ratio: all tables of a given odds ratio, fitted at once for a grid of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import inverted
from deniable.likelihood.hypothesis_models import OddsRatio
from deniable.likelihood.quasi_likelihood import countable
from deniable.numerics.root_finding import bracketed_root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.estimate import Estimate
    from deniable.likelihood.evidence import Evidence

_WIDEST = 16.0  # log odds ratios are looked for in -16 .. 16; beyond, an end is 0 or infinite
_GAP = 1e-6  # nats left to gain
_MOST = 60_000
_MIXED = 0.01  # share of the even table in a start
_CLOSE = 6e-8  # of a log odds ratio


def evidence_of(estimate: Estimate) -> Evidence:
    """What the reports behind an estimate say; of those that cover the table, where others were not pooled."""
    return inverted(estimate.dispersion) if estimate.pooled is None else estimate.pooled.evidence


def odds_ratio_interval(evidence: Evidence, rows: tuple[int, int], columns: tuple[int, int]) -> Profile:
    """A function from the level to the interval's ends: { psi: 2 (best - best at psi) <= z^2 }.

    Rows and columns are those of the first and second asked attribute.
    """
    seen = countable(evidence)
    best = fit(seen, gap=_GAP, most=_MOST)
    return Profile(seen, rows, columns, best.pi, float(best.loglik[0]))


@dataclass(frozen=True, eq=False)
class Profile(Frozen):
    """The likelihood of the odds ratio of two rows and two columns, beside the likeliest table and its own."""

    evidence: Evidence
    rows: tuple[int, int]
    columns: tuple[int, int]
    best: NDArray[np.float64]
    loglik: float
    effect: float = 1.0  # by how much weights and clusters stretch the likelihood ratio
    df: float = np.inf

    def fall(self, log_psi: NDArray[np.float64]) -> NDArray[np.float64]:
        """2 (best - best at psi)."""
        model, many = OddsRatio(self.rows, self.columns, np.exp(log_psi)), len(log_psi)
        start = np.repeat(_MIXED / self.best.size + (1 - _MIXED) * self.best, many, axis=-1)
        counts = np.repeat(self.evidence.counts, many, axis=-1)
        fits = fit(self.evidence, model, counts, starts=[model.maximize(start)], gap=_GAP, most=_MOST)
        return 2 * (self.loglik - fits.loglik)

    def __call__(self, level: float) -> tuple[float, float]:
        """The ends of the interval."""
        limit = self.effect * critical_value(1 - level, self.df) ** 2
        two_way = self.best[..., 0].sum(axis=tuple(range(2, self.best.ndim - 1)))
        centre = _log_odds_ratio(two_way[np.ix_(self.rows, self.columns)])

        def left(log_psi: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.sqrt(limit) - np.sqrt(np.maximum(self.fall(log_psi), 0.0))  # nearly straight

        ends = np.array([-_WIDEST, _WIDEST])
        low, high = bracketed_root(left, np.array([centre, centre]), ends, close=_CLOSE)
        return (float(np.exp(low)) if low > -_WIDEST else 0.0, float(np.exp(high)) if high < _WIDEST else np.inf)


def _log_odds_ratio(four: NDArray[np.float64]) -> float:
    """That of the likeliest table, within what is looked through; 0 where every odds ratio fits equally well."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(four)
        value = logs[0, 0] + logs[1, 1] - logs[0, 1] - logs[1, 0]
    return 0.0 if np.isnan(value) else float(np.clip(value, -_WIDEST, _WIDEST))


def stretched(ends: Profile, estimate: Estimate, slope: NDArray[np.float64]) -> Profile:
    """The same of a survey with weights or clusters: its likelihood ratio grows by the design effect of log psi.

    `slope` is what log psi changes by with each cell; the survey's degrees of freedom widen the limit too.
    """
    if estimate.pooled is not None:
        effect = float(estimate.pooled.along(slope).design_effect[0])
    else:
        alike = Dispersion(estimate.dispersion.samples, estimate.table.domain).quadratic(slope)
        effect = estimate.dispersion.quadratic(slope) / alike if alike > 0 else 1.0
    return replace(ends, effect=effect, df=estimate.covariance.df)

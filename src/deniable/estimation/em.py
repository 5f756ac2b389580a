"""Maximum likelihood on the simplex: EM, accelerated, and stopped by a certificate.

The log-likelihood of category observations is concave in pi, so its gradient bounds how much is left to gain: with

    g = sum over observations of M' P' (counts / P M pi),     sum(pi g) = n,

no distribution has a log-likelihood more than max(g) - n above that of pi. EM (pi <- pi g / n) creeps; SQUAREM
(Varadhan & Roland 2008) takes two EM steps, extrapolates, and takes one more. Iteration stops when the certified
gap is small enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.domain import Domain
from deniable.errors import ConvergenceError, EstimationError
from deniable.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation

GAP = 1e-3  # nats left to gain, for estimates
MOST_CELLS = 1 << 20
_FLOOR = 1e-3  # an extrapolation may shrink a cell at most this much at once: EM never revives a zero


@dataclass(frozen=True, eq=False)
class Fit:
    """A maximum-likelihood table, and the certificate that it is one."""

    table: Table
    loglik: float
    gap: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class _Step:
    """One EM evaluation at pi: the next pi, the log-likelihood and the certified gap."""

    following: NDArray[np.float64]
    loglik: float
    gap: float


def maximum_likelihood(
    observations: Sequence[Observation],
    domain: Domain,
    *,
    gap: float = GAP,
    most: int = 100_000,
    accelerate: bool = True,
    progress: Callable[[int, float], None] | None = None,
) -> Fit:
    """Fit the table over `domain` to every observation at once.

    Observations may speak of different attributes inside the domain; where one speaks of more (a channel that cannot be
    collapsed), the fit is made over the larger domain and projected.

    Args:
        observations: category counts with their channels.
        domain: the asked attributes.
        gap: how many nats of log-likelihood may be left to gain.
        most: how many evaluations to make before giving up.
        accelerate: use SQUAREM; plain EM otherwise (for comparison).
        progress: called with the evaluations made and the gap reached.
    """
    whole = Domain(
        [
            *domain.values(),
            *{v.name: v for o in observations for v in o.domain.values() if v.name not in domain}.values(),
        ]
    )
    if whole.cells > MOST_CELLS:
        raise EstimationError(
            f"a table of {whole.cells} cells is too large for maximum likelihood (at most {MOST_CELLS}); ask for "
            'fewer attributes or use method="inversion" or "norm_sub"',
            cells=whole.cells,
        )
    refuse_sets(observations)
    n = sum(float(o.counts.sum()) for o in observations)
    used = 0

    def step(pi: NDArray[np.float64]) -> _Step:
        nonlocal used
        used += 1
        loglik, gradient = likelihood(observations, Table(whole, pi))
        result = _Step(pi * gradient / n, loglik, float(gradient.max() - n))
        if progress is not None:
            progress(used, result.gap)
        return result

    pi = np.full(whole.shape, 1 / whole.cells)
    now = step(pi)
    while now.gap > gap:
        if used >= most:
            raise ConvergenceError(
                f"maximum likelihood stopped after {used} evaluations with {now.gap:.3g} nats left to gain (wanted "
                f"{gap:g}). Raise the gap, or use fewer cells",
                gap=now.gap,
            )
        pi, now = _squarem(step, pi, now, gap) if accelerate else (now.following, step(now.following))
    return Fit(Table(whole, pi / pi.sum()).project(domain.names), now.loglik, now.gap, used)


def refuse_sets(observations: Sequence[Observation]) -> None:
    """Refuse counts of sets: they have no likelihood that could be computed."""
    sets = [o for o in observations if o.is_support]
    if sets:
        raise EstimationError(
            f"reports through {sets[0].channel.name} are sets, whose counts are not sufficient: there is no likelihood "
            f'of them to maximize. Use what needs none: method="wls" for tables, "wald_bootstrap" for tests, "delta" '
            f"for measures",
            channel=sets[0].channel.name,
        )


def likelihood(observations: Sequence[Observation], table: Table) -> tuple[float, NDArray[np.float64]]:
    """The log-likelihood of a distribution (multinomial coefficients left out) and its gradient."""
    loglik, gradient = 0.0, np.zeros(table.shape)
    for o in observations:
        lam = o.channel.apply(table.project(o.domain.names).values.reshape(o.channel.input_shape))
        seen = o.counts > 0  # a report that did not come contributes neither 0 log 0 nor 0 / 0
        loglik += float((o.counts[seen] * np.log(lam[seen])).sum())
        ratio = np.divide(o.counts, lam, out=np.zeros_like(lam), where=seen)
        pulled = o.truth_shape(o.channel.adjoint(ratio))
        gradient += Table(o.domain, pulled).expand(table.domain)
    return loglik, gradient


def _squarem(
    step: Callable[[NDArray[np.float64]], _Step], pi: NDArray[np.float64], now: _Step, gap: float
) -> tuple[NDArray[np.float64], _Step]:
    """One SQUAREM cycle from pi, whose evaluation is `now`."""
    first = now.following
    at_first = step(first)
    if at_first.gap <= gap:
        return first, at_first
    second = at_first.following
    r = first - pi
    v = second - first - r
    length = float(np.sqrt((v**2).sum()))
    alpha = max(1.0, float(np.sqrt((r**2).sum())) / length) if length > 0 else 1.0
    # Far extrapolations may overshoot: halve the excess over a plain double step until the likelihood holds. It may
    # fall by a nat while more than that is left to gain: leaps that never lose are short, and take far longer.
    allowed = min(1.0, at_first.gap)
    while alpha > 1.01:
        leap = np.maximum(pi + 2 * alpha * r + alpha**2 * v, _FLOOR * second)
        leap /= leap.sum()
        at_leap = step(leap)
        if at_leap.loglik >= at_first.loglik - allowed:
            return leap, at_leap
        alpha = (alpha + 1) / 2
    return second, step(second)

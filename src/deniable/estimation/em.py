"""Maximum likelihood on the simplex, stopped by a certificate.

The log-likelihood of reports is concave in pi, so its gradient bounds how much is left to gain: with

    g = sum over observations of M' P' (counts / P M pi),     sum(pi g) = n,

no distribution has a log-likelihood more than max(g) - n above that of pi. `fit.engine` climbs until that is little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.core.table import Table
from deniable.likelihood.em import MOST_CELLS, fit
from deniable.likelihood.evidence import Evidence, of_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.designs.observation import Observation

__all__ = ["GAP", "MOST_CELLS", "Fit", "likelihood", "maximum_likelihood"]

GAP = 1e-3  # nats left to gain, for estimates


@dataclass(frozen=True, eq=False)
class Fit:
    """A maximum-likelihood table, and the certificate that it is one."""

    table: Table
    loglik: float
    gap: float
    evaluations: int


def maximum_likelihood(
    reports: Evidence | Sequence[Observation],
    domain: Domain,
    *,
    gap: float | None = GAP,
    most: int = 100_000,
    accelerate: bool = True,
    progress: Callable[[int, float], None] | None = None,
) -> Fit:
    """Fit the table over `domain` to everything reported at once.

    Observations may speak of different attributes inside the domain; where one speaks of more (a channel that cannot be
    collapsed), the fit is made over the larger domain and projected.

    Args:
        reports: evidence about the domain, or counts with their channels.
        domain: the asked attributes.
        gap: how many nats of log-likelihood may be left to gain; None for as many as do not show in any cell.
        most: how many evaluations to make before giving up.
        accelerate: leap (SQUAREM), or take what a closed form gives; plain EM otherwise (for comparison).
        progress: called with the evaluations made and the gap reached.
    """
    evidence = reports if isinstance(reports, Evidence) else of_counts(reports, domain)
    found = fit(evidence, gap=gap, most=most, accelerate=accelerate, progress=progress)
    pi = found.pi[..., 0]
    table = Table(evidence.domain, pi / pi.sum()).project(domain.names)
    return Fit(table, float(found.loglik[0]), float(found.gap[0]), found.evaluations)


def likelihood(observations: Sequence[Observation], table: Table) -> tuple[float, NDArray[np.float64]]:
    """The log-likelihood of a distribution (multinomial coefficients left out) and its gradient."""
    loglik, gradient = of_counts(observations, table.domain).evaluate(table.values[..., None])
    return float(loglik[0]), gradient[..., 0]

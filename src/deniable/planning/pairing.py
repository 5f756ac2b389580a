"""Paired respondents (JRR) in a plan: what pairing would gain, and what has to be said beside it.

Each report alone is randomized response, so the errors of unpaired coins change by one term. With c = pq / (p - q)^2,
K pairs among n respondents and x the share of a category (`estimation.paired`):

    Var = Var without pairing + 2 c rho (K / n^2) (1 - 2x)^2,       rho <= 0.

The coins are those of least variance at the planned epsilon (`paired_optimum`), nobody colluding. That epsilon is the
published theorem's, an average over pairings; against whoever knows the shared coin the true one is larger, up to what
devices give away by default: beyond that nobody could answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.designs.paired.design import Paired
from deniable.device.memory import DEFAULT_LIMIT
from deniable.summary import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.domain import Domain
    from deniable.tables.table import Table


def best_pairs(domain: Domain, epsilon: float, n: int, truth: Table | None) -> Paired:
    """The paired design of least variance at a claimed epsilon, for the assumed shares (even ones by default)."""
    expected: dict[str, list[float]] = {}
    for name, variable in domain.items():
        if truth is not None and name in truth.domain:
            expected[name] = truth.normalize().project([name]).values.tolist()
        else:
            expected[name] = [1 / len(variable)] * len(variable)
    return Paired.best(domain, epsilon, n, expected=expected, coin=max(DEFAULT_LIMIT, epsilon))


def added_variance(design: Paired, name: str, shares: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """What pairing adds to the variance of each category's share: zero or less."""
    coins = design.coins[name]
    p, rho = float(coins.p), float(coins.rho)
    c = p * (1 - p) / (2 * p - 1) ** 2
    return 2 * c * rho * (n // 2) / n**2 * (1 - 2 * shares) ** 2


def told(design: Paired, gain: Sequence[float]) -> str:
    """What a reader must know about the paired candidate, its gain included."""
    if all(coin.rho == 0 for coin in design.coins.values()):
        return "Pairing respondents (JRR) would gain nothing at these shares: the best correlation is none."
    least, most = float(np.nanmin(gain)), float(np.nanmax(gain))
    times = f"{least:.2f}" if most - least < 5e-3 else f"{least:.2f} to {most:.2f}"
    return (
        f"Pairing respondents (JRR) would have {times} times the variance of the same coins unpaired, but it is not "
        f"epsilon-LDP: {design.claimed_epsilon:.4g} is what its theorem claims on average over hidden pairings, and "
        f"against whoever knows the shared coin epsilon is {number(design.epsilon)}. It is listed last, and never "
        f"recommended."
    )

"""The paper's synthetic table, and the estimators compared on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable import KRR, Domain, Kronecker, Observation, estimate
from reproduction.simulated_counts import each_mean, projected_rows, sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

_MOST_FITS = 40  # tables fitted by maximum likelihood in a setting: their errors vary little


def dependent(d: int, v: float) -> NDArray[np.float64]:
    """A d x d table with margins proportional to 1/2, 1/3, ..., 1/(d + 1) and Cramer's V exactly v.

    The paper says only that V is "controlled". (1 - v) lambda lambda' + v diag(lambda) has phi^2 = v^2 (d - 1).
    """
    share = 1 / np.arange(2.0, d + 2)
    share /= share.sum()
    return (1 - v) * np.outer(share, share) + v * np.diag(share)


def product(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """RR-Ind of estimated joint tables (trials last): the product of their margins."""
    return tables.sum(axis=1)[:, None] * tables.sum(axis=0)[None]


def projected(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest tables without negative cells (trials last)."""
    flat = tables.reshape(-1, tables.shape[-1]).T
    return projected_rows(flat).T.reshape(tables.shape)


def likeliest(channel: Channel, counts: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Maximum-likelihood tables of the first few trials."""
    domain = Domain({f"a{i}": range(size) for i, size in enumerate(shape)})
    fits = [
        estimate(Observation(domain, channel, counts[..., i]), domain.names, "mle", gap=1e-2).values
        for i in range(min(counts.shape[-1], _MOST_FITS))
    ]
    return np.stack(fits, axis=-1)


def errors(
    rng: np.random.Generator, pi: NDArray[np.float64], epsilon: float, n: int, trials: int, *, power: int = 1
) -> dict[str, NDArray[np.float64]]:
    """Mean error over the cells, one a trial: epsilon an attribute (RR-Joint: 2 epsilon for the pair)."""
    shape = pi.shape
    own = Kronecker([KRR(size, epsilon=epsilon) for size in shape])
    counts = sampled(rng, own, pi, n, trials)
    raw = own.solve(counts / n)
    together = KRR(pi.size, epsilon=2 * epsilon)
    joint = together.solve(sampled(rng, together, pi, n, trials) / n).reshape(*shape, trials)
    found = {
        "RR-Ind": product(raw),
        "RR-Ind-Joint": raw,
        "RR-Ind-Joint, projected": projected(raw),
        "RR-Ind-Joint, likelihood": likeliest(own, counts, shape),
        "RR-Joint": joint,
        "RR-Joint, projected": projected(joint),
    }
    return {name: each_mean(tables, pi, power) for name, tables in found.items()}


def rounded(pi: NDArray[np.float64], epsilon: float, n: int) -> float:
    """The paper's error: nothing is drawn, the expected shares of reports are rounded to multiples of 1 / n."""
    own = Kronecker([KRR(size, epsilon=epsilon) for size in pi.shape])
    return float(np.abs(own.solve(np.round(own.apply(pi) * n) / n) - pi).mean())

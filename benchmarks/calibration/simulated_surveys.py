"""Simulated surveys about two attributes that were disguised together, as counts: tables, associations, Wald's test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable import Domain, Observation
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.quasi_likelihood import Quasi, countable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.likelihood.evidence import Evidence

ALPHA = 0.05
TABLES = {
    "2x2": np.outer([0.6, 0.4], [0.7, 0.3]),
    "3x4": np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]),
    "skewed 2x2": np.outer([0.9, 0.1], [0.8, 0.2]),
    "sparse 3x4": np.outer([0.9, 0.08, 0.02], [0.7, 0.2, 0.09, 0.01]),
}
# Associations, as what they move into two cells of a table and out of two others: so large that Wald's test has the
# power it had in an earlier simulation.
SHIFTS = {"2x2": 0.025, "3x4": 0.035, "sparse 3x4": 0.0155}


@dataclass(frozen=True, eq=False)
class Surveys:
    """Counts of many simulated surveys (last axis); `first` is the observation of the first of them."""

    first: Observation
    counts: NDArray[np.float64]

    @cached_property
    def evidence(self) -> Evidence:
        """What the first of them says, countable."""
        return countable(of_counts([self.first]))

    @cached_property
    def reports(self) -> NDArray[np.float64]:
        """The counts of all, as the evidence has them."""
        said = self.evidence.groups[0].said
        flat = self.counts.reshape(-1, self.counts.shape[-1])
        return said.counted(self.counts) if isinstance(said, Quasi) else flat


def surveys(channel: Channel, pi: NDArray[np.float64], n: int, count: int, rng: np.random.Generator) -> Surveys:
    """Draw the reports of n respondents, `count` times."""
    drawn = channel.draw(pi.reshape(channel.input_shape), n, rng, count)
    domain = Domain({"a": range(pi.shape[0]), "b": range(pi.shape[1])})
    return Surveys(Observation(domain, channel, drawn[..., 0]), drawn)


def associated(name: str) -> NDArray[np.float64]:
    """A table with its association: a share moved into two cells and out of two others, margins as before."""
    corner = np.zeros(TABLES[name].shape)
    corner[0, 0] = corner[1, 1] = 1
    corner[0, 1] = corner[1, 0] = -1
    moved: NDArray[np.float64] = TABLES[name] + SHIFTS[name] * corner
    return moved


def wald_rejects(found: Surveys) -> NDArray[np.bool_]:
    """Whether Wald's test rejects each survey: covariance under H1 and under H0, the larger of the two p-values."""
    from scipy.special import chdtri

    channel, shape = found.first.channel, found.first.domain.shape
    counts = found.counts.reshape(-1, found.counts.shape[-1]).T
    n = float(counts[0].sum())
    inverse = np.linalg.inv(channel.matrix())
    pi = (counts / n @ inverse.T).reshape(-1, *shape)
    rows, columns = pi.sum(axis=2), pi.sum(axis=1)
    d = (pi - rows[:, :, None] * columns[:, None, :])[:, :-1, :-1].reshape(len(pi), -1)

    def statistic(
        rows: NDArray[np.float64], columns: NDArray[np.float64], lam: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        k = _slopes(rows, columns) @ inverse
        mean = np.einsum("bik,bk->bi", k, lam)
        v = (np.einsum("bik,bk,bjk->bij", k, lam, k) - mean[:, :, None] * mean[:, None, :]) / (n - 1)
        return np.einsum("bi,bi->b", d, np.linalg.solve(v, d[..., None])[..., 0])

    inside = [np.maximum(margin, 1e-6) for margin in (rows, columns)]
    null_rows, null_columns = (margin / margin.sum(axis=1, keepdims=True) for margin in inside)
    null = (null_rows[:, :, None] * null_columns[:, None, :]).reshape(len(pi), -1) @ channel.matrix().T
    least = np.minimum(statistic(rows, columns, counts / n), statistic(null_rows, null_columns, null))
    rejected: NDArray[np.bool_] = least > float(chdtri(d.shape[1], ALPHA))
    return rejected


def _slopes(rows: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """How each survey's residuals move with its cells: surveys x residuals x cells."""
    r, c = rows.shape[1], columns.shape[1]
    slopes = np.zeros((len(rows), r - 1, c - 1, r, c))
    for i in range(r - 1):
        for j in range(c - 1):
            slopes[:, i, j, i, j] += 1
            slopes[:, i, j, i, :] -= columns[:, j, None]
            slopes[:, i, j, :, j] -= rows[:, i, None]
    return slopes.reshape(len(rows), (r - 1) * (c - 1), r * c)

"""The efficient estimate: every report that speaks of the asked attributes, weighted as it deserves, nothing clipped.

With F the information of all reports at a plausible table pi0, C = F^+ on the tables that sum to zero, and s the
gradient of the log-likelihood there,

    estimate = pi0 + C s,

which for counts is generalised least squares: linear in them, unbiased whatever pi0 is, and as precise as any unbiased
estimate can be where pi0 is the truth. For a functional w, a report u of group o pulls the estimate by
A_o[u] = (P_o M_o C w)[u] / lambda_o[u]. So its variance, estimated without bias from the counts y_o themselves, is

    sum over o of  n_o / (n_o - 1) (sum of A_o^2 y_o - (sum of A_o y_o)^2 / n_o),

and if the functional were x, the table being estimate + (x - w.estimate) d with d = C w / (w' C w), it would be

    Var(x) = sum over o of  n_o (sum of A_o^2 lambda_o(x) - (sum of A_o lambda_o(x))^2),

a quadratic in x: the score interval's ends solve (w.estimate - x)^2 = z^2 Var(x). For one k-RR it is Wilson's.
Reports that came one by one stand for those that did not: sums over them take the place of lambda.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.fit.said import Counted, Moments
from deniable.frozen import Frozen, readonly
from deniable.tables.simplex import norm_sub

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.domain import Domain
    from deniable.estimation.fit.evidence import Evidence
    from deniable.estimation.fit.group import Group

    Array = NDArray[np.float64]

MOST_CELLS = 1024  # a dense problem
_ROUNDS = 3  # estimates, each weighted at the one before
_MIXED = 0.01  # share of the even table in the plausible one: no report is taken to be impossible
_SINGULAR = 1e-12  # of the largest: information below it is none
_NEGLIGIBLE = 1e-6  # of the asked cells' length: how much of it may lie where there is none


@dataclass(frozen=True, eq=False)
class Efficient(Frozen):
    """The efficient estimate of the asked table, its covariance and its score intervals.

    Attributes:
        evidence: what the reports say.
        likely: the plausible table over `evidence.domain` at which reports are weighted, flat.
    """

    evidence: Evidence
    likely: Array

    @property
    def domain(self) -> Domain:
        """The asked attributes."""
        return self.evidence.asked

    # -- the estimate ------------------------------------------------------------------------------------------------

    @cached_property
    def _inverted(self) -> tuple[Array, Array]:
        return _tangent_inverse(self.evidence.information(self.likely), self.likely)

    @property
    def _inverse(self) -> Array:
        """C: the information inverted on the tables that sum to zero."""
        return self._inverted[0]

    @cached_property
    def determined(self) -> bool:
        """Whether rounding leaves enough of the information to tell every asked cell."""
        margin = self.evidence.margin.T
        away = margin - margin.T @ self.likely
        return bool(np.linalg.norm(away - self._inverted[1] @ away) <= _NEGLIGIBLE * np.linalg.norm(away))

    @cached_property
    def _whole(self) -> Array:
        """The estimate over all attributes, those that ride along too."""
        gradient = self.evidence.evaluate(self.likely.reshape(*self.evidence.domain.shape, 1))[1]
        return readonly(self.likely + self._inverse @ gradient.ravel())

    @cached_property
    def values(self) -> Array:
        """The estimated cells; they sum to one and may be negative."""
        return readonly((self.evidence.margin @ self._whole).reshape(self.domain.shape))

    # -- its errors --------------------------------------------------------------------------------------------------

    @cached_property
    def _toward(self) -> Array:
        """C w for every asked cell w: (cells, asked cells)."""
        return readonly(self._inverse @ self.evidence.margin.T)

    def _pulls(self, group: Group) -> Array:
        """A_o: how far each report of a group pulls each asked cell."""
        lam = group.forward(self.likely[:, None])
        return np.divide(group.forward(self._toward), lam, out=np.zeros((len(lam), self.domain.cells)), where=lam > 0)

    @cached_property
    def _matrix(self) -> Array:
        total = np.zeros((self.domain.cells, self.domain.cells))
        for group in self.evidence.groups:
            if isinstance(group.said, Moments):
                own = group.down(self._toward)
                total += own.T @ group.said.precision @ own
                continue
            pulls, n = self._pulls(group), group.said.n
            # A single report does not show how reports vary; there the plausible table does.
            y = group.counts if n > 1 else self._expected(group, self.likely)
            mean = pulls.T @ y
            total += n / max(n - 1, 1) * ((pulls.T * y) @ pulls - np.outer(mean, mean) / n)
        return readonly(total)

    def _expected(self, group: Group, table: Array) -> Array:
        """The counts that a table makes one expect."""
        lam = group.forward(table[:, None])[:, 0]
        if isinstance(group.said, Counted):
            return group.said.n * lam
        return group.counts * lam / group.forward(self.likely[:, None])[:, 0]

    def matrix(self) -> Array:
        """The covariance of the asked cells."""
        return self._matrix

    @cached_property
    def variances(self) -> Array:
        """Per-cell variances, in the table's shape."""
        return readonly(np.maximum(np.diag(self._matrix), 0.0).reshape(self.domain.shape))

    def __matmul__(self, w: ArrayLike) -> Array:
        """Multiply the covariance by a vector over the cells, in the table's shape."""
        vector = np.asarray(w, dtype=np.float64).ravel()
        return (self._matrix @ vector).reshape(self.domain.shape)

    def quadratic(self, w: ArrayLike) -> float:
        """The variance of the linear functional w'pi."""
        vector = np.asarray(w, dtype=np.float64).ravel()
        return float(vector @ self._matrix @ vector)

    # -- score intervals ---------------------------------------------------------------------------------------------

    @cached_property
    def variance_at(self) -> tuple[Array, Array, Array]:
        """(a, b, c) with Var = a + b t + c t^2 if a cell were t above its estimate, in the table's shape."""
        cells = self.domain.cells
        own = np.einsum("ij,ij->j", self.evidence.margin.T, self._toward)  # w' C w
        direction = self._toward / np.where(own > 0, own, 1.0)
        a, b, c = np.zeros(cells), np.zeros(cells), np.zeros(cells)
        for group in self.evidence.groups:
            parts = self._of_moments(group, direction) if isinstance(group.said, Moments) else None
            if parts is None:
                parts = self._of_reports(group, direction)
            a, b, c = a + parts[0], b + parts[1], c + parts[2]
        shape = self.domain.shape
        return readonly(a.reshape(shape)), readonly(b.reshape(shape)), readonly(c.reshape(shape))

    def _of_reports(self, group: Group, direction: Array) -> tuple[Array, Array, Array]:
        pulls, n = self._pulls(group), group.said.n
        if isinstance(group.said, Counted):
            now, moved = n * group.forward(self._whole[:, None]), n * group.forward(direction)
        else:
            lam = group.forward(self.likely[:, None])
            now, moved = group.counts[:, None], group.counts[:, None] * group.forward(direction) / lam
        mean, shift = (pulls * now).sum(axis=0), (pulls * moved).sum(axis=0)
        flat = (pulls**2 * now).sum(axis=0) - mean**2 / n
        return flat, (pulls**2 * moved).sum(axis=0) - 2 * mean * shift / n, -(shift**2) / n

    def _of_moments(self, group: Group, direction: Array) -> tuple[Array, Array, Array]:
        """Counts of sets: their second moments are linear in the table, where they are about no more than it."""
        said = group.said
        assert isinstance(said, Moments)
        own = group.down(self._toward)
        weights = said.precision @ own
        if set(said.source.domain) != set(said.part):
            flat = (own * weights).sum(axis=0)
            return flat, np.zeros_like(flat), np.zeros_like(flat)
        channel, n = said.source.channel, max(said.n, 2)
        now, moved = group.down(self._whole[:, None])[:, 0], group.down(direction)
        flat, slope, bend = (np.zeros(self.domain.cells) for _ in range(3))
        for j in range(self.domain.cells):
            w = weights[:, j].reshape(channel.input_shape)
            for into, table in ((flat, now), (slope, moved[:, j])):
                shares = channel.apply(table.reshape(channel.input_shape))
                into[j] = float((w * channel.moments_times(shares, w)).sum())
            mean, shift = float(weights[:, j] @ now), float(weights[:, j] @ moved[:, j])
            flat[j], slope[j], bend[j] = flat[j] - mean**2, slope[j] - 2 * mean * shift, -(shift**2)
        return flat / n, slope / n, bend / n

    def score_interval(self, z2: float) -> tuple[Array, Array]:
        """The ends of (estimate - x)^2 = z2 Var(x), for every cell."""
        a, b, c = self.variance_at
        lead, middle = 1 - z2 * c, z2 * b / 2
        root = np.sqrt(np.maximum(middle**2 + lead * z2 * a, 0.0))
        return self.values + (middle - root) / lead, self.values + (middle + root) / lead


def efficient_from(evidence: Evidence, likely: ArrayLike | None = None) -> Efficient:
    """The efficient estimate; reports are weighted at `likely`, or at the estimate itself, a few rounds long."""
    even = np.full(evidence.cells, 1 / evidence.cells)
    if likely is not None:
        return Efficient(evidence, np.asarray(likely, dtype=np.float64).ravel())
    found = Efficient(evidence, even)
    for _ in range(_ROUNDS - 1):
        found = Efficient(evidence, _MIXED * even + (1 - _MIXED) * norm_sub(found._whole))
    return found


def _tangent_inverse(information: Array, likely: Array) -> tuple[Array, Array]:
    """F^+ on the vectors that sum to zero, and F F^+: the functionals that reports tell of.

    In the coordinates x / sqrt(pi) every cell's own share of the information is of one size, so that rounding does not
    take a rare cell for one that nobody speaks of.
    """
    root = np.sqrt(likely)
    scaled = root[:, None] * information * root
    # Sum x = 0 is orthogonal to sqrt(pi) here.
    away = np.eye(len(root)) - np.outer(root, root)
    values, vectors = np.linalg.eigh(away @ scaled @ away)
    told = values > _SINGULAR * max(float(values[-1]), 1e-300)
    found = away @ vectors[:, told]
    inverse = root[:, None] * ((found / values[told]) @ found.T) * root
    return readonly(inverse), readonly((found / root[:, None]) @ (found.T * root))

"""Hypotheses about a table, as the step that fits them to complete counts.

EM needs one thing of a hypothesis: the best table of its kind if everybody's truth were counted. For "anything goes"
that is the counts themselves; for independence, the product of their margins. Each model also certifies a fit: how many
nats the log-likelihood could still gain by changing any one of the model's factors. All arrays carry a last axis of
replicates, so that a thousand bootstrap samples are fitted in one go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Model(Protocol):
    """A hypothesis about a table."""

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The model's best table for complete counts (or any positive weights), summing to one."""
        ...

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Nats that are at most left to gain by any one factor; `gradient` is that of the log-likelihood at pi."""
        ...

    def among(self, chosen: NDArray[np.bool_]) -> Model:
        """The same model for some of the replicates."""
        ...


def _total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.sum(axis=tuple(range(values.ndim - 1)))


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, with 0 / 0 = 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)


@dataclass(frozen=True)
class Saturated:
    """Any table. The log-likelihood is concave here, so its gap bounds the distance to the very best."""

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The counts' shares."""
        return counts / _total(counts)

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """max(gradient) - n, n = sum(pi gradient)."""
        cells = tuple(range(pi.ndim - 1))
        return gradient.max(axis=cells) - (pi * gradient).sum(axis=cells)

    def among(self, chosen: NDArray[np.bool_]) -> Saturated:  # noqa: ARG002 - nothing in it depends on the replicate
        """Itself."""
        return self


@dataclass(frozen=True)
class Independence:
    """pi = pi_C pi_a|C pi_b|C pi_R|abC: the axes a and b are independent within each cell of the axes C = `given`.

    Axes R that are neither are left free (they come in where a channel cannot be collapsed to a and b).
    """

    a: int
    b: int
    given: tuple[int, ...] = ()

    def _sums(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Margins over C, aC, bC and abC, axes kept."""
        cells = range(x.ndim - 1)
        keeps = [self.given, (self.a, *self.given), (self.b, *self.given), (self.a, self.b, *self.given)]
        out = [x.sum(axis=tuple(axis for axis in cells if axis not in keep), keepdims=True) for keep in keeps]
        return tuple(out)

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of the counts' margins."""
        c, ac, bc, abc = self._sums(counts)
        joint = ratio(ac * bc, c)
        free = joint * ratio(counts, abc) if abc.shape != counts.shape else joint
        return free / _total(free)

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """The gaps of the factors, each with the others held, added up."""
        c, ac, bc, abc = self._sums(pi)
        of_a, of_b, of_rest = ratio(ac, c), ratio(bc, c), ratio(pi, abc)
        # Gradient by a within C, others averaged: sum over b, R of pi_b|C pi_R|abC g. Likewise by b.
        inside = gradient * of_rest
        by_ab = inside.sum(axis=self._others(pi, self.a, self.b), keepdims=True)
        by_a = (by_ab * of_b).sum(axis=self.b, keepdims=True)
        by_b = (by_ab * of_a).sum(axis=self.a, keepdims=True)
        mean = (by_a * of_a).sum(axis=self.a, keepdims=True)
        left = _total(c * (by_a.max(axis=self.a, keepdims=True) - mean))
        left += _total(c * (by_b.max(axis=self.b, keepdims=True) - mean))
        left += mean.max(axis=tuple(range(pi.ndim - 1))) - _total(c * mean)
        rest = self._others(pi, self.a, self.b)
        if rest:
            left += _total(abc * (gradient.max(axis=rest, keepdims=True) - by_ab))
        return left

    def _others(self, x: NDArray[np.float64], *axes: int) -> tuple[int, ...]:
        return tuple(axis for axis in range(x.ndim - 1) if axis not in (*axes, *self.given))

    def among(self, chosen: NDArray[np.bool_]) -> Independence:  # noqa: ARG002 - nothing in it depends on the replicate
        """Itself."""
        return self


@dataclass(frozen=True, eq=False)
class OddsRatio:
    """Any two-way table whose four cells (rows, columns) have the odds ratio psi, one psi a replicate.

    psi = x_00 x_11 / (x_01 x_10) for the cells in the given order. The likeliest table for complete counts keeps the
    margins of the four cells and solves a quadratic equation for one of them.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    psi: NDArray[np.float64]

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move the four cells along their margins until the odds ratio is psi."""
        shares = counts / _total(counts)
        (i, k), (j, m) = self.rows, self.columns
        four = shares[i, j] + shares[i, m] + shares[k, j] + shares[k, m]
        row, column = shares[i, j] + shares[i, m], shares[i, j] + shares[k, j]
        # (psi - 1) x^2 - (four + (psi - 1)(row + column)) x + psi row column = 0, the root between 0 and the margins.
        s = four + (self.psi - 1) * (row + column)
        x = (
            2
            * self.psi
            * row
            * column
            / (s + np.sqrt(np.maximum(s**2 - 4 * self.psi * (self.psi - 1) * row * column, 0)))
        )
        x = np.clip(x, np.maximum(0, row + column - four), np.minimum(row, column))
        shares[i, j], shares[i, m], shares[k, j], shares[k, m] = x, row - x, column - x, four - row - column + x
        return shares

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """No certificate: the gain of one more step stands in for it, to first order."""
        return ((self.maximize(pi * gradient) - pi) * gradient).sum(axis=(0, 1))

    def among(self, chosen: NDArray[np.bool_]) -> OddsRatio:
        """The psi of some replicates."""
        return OddsRatio(self.rows, self.columns, self.psi[chosen])

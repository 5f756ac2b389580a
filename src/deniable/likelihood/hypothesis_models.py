"""Hypotheses about a table, as the step that fits them to complete counts.

EM needs one thing of a hypothesis: the best table of its kind if everybody's truth were counted. For "anything goes"
that is the counts themselves; for independence, the product of their margins. Each model also certifies a fit: how many
nats the log-likelihood could still gain by changing any one of the model's factors. All arrays carry a last axis of
replicates, so that a thousand bootstrap samples are fitted in one go.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from deniable.likelihood.report_group import Fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain

TINY = 1e-200  # cells may shrink, but never to a zero that no step could leave
_NEAR, _MIXED = 0.3, 0.05  # share of the even table in a start at one cell, and in one at a fitted table
_STRICTER = 10.0  # EM has its margins settle before its likelihood has risen


class Model(Protocol):
    """A hypothesis about a table."""

    logarithmic: bool  # whether it is a linear space in log pi, so that leaps are made there
    concave: bool  # whether the log-likelihood has one hill under it, so that the gap bounds the distance to the top

    def step(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """From a table of the model to one that is likelier: fitted to the complete counts pi gradient."""
        ...

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """A table of the model near some counts (or any positive weights), summing to one."""
        ...

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Nats that are at most left to gain by any one factor; `gradient` is that of the log-likelihood at pi."""
        ...

    def among(self, chosen: NDArray[np.bool_]) -> Model:
        """The same model for some of the replicates."""
        ...


@dataclass(frozen=True, eq=False)
class Factor:
    """One of the tables that a table of a model is the product of, and how many of its numbers are free.

    `even` is what the factor would be if it told no category from another.
    """

    values: NDArray[np.float64]
    even: NDArray[np.float64]
    free: int


@runtime_checkable
class Factored(Model, Protocol):
    """A model whose tables are products of tables that are fitted apart from each other."""

    def factors(self, pi: NDArray[np.float64]) -> list[Factor]:
        """Those of a table of the model; their product is the table."""
        ...


class _Direct:
    """A model whose best table for complete counts is known in closed form: the same for all replicates."""

    logarithmic = False
    concave = False

    def step(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """That table."""
        return self.maximize(pi * gradient)

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def among(self, chosen: NDArray[np.bool_]) -> Any:  # noqa: ARG002 - nothing in it depends on the replicate
        """Itself."""
        return self


def _total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.sum(axis=tuple(range(values.ndim - 1)))


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, with 0 / 0 = 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)


def _within(shares: NDArray[np.float64], axes: Iterable[int]) -> Factor:
    """Shares over some axes, within each cell of the others."""
    over = prod(shares.shape[axis] for axis in axes)
    free = (over - 1) * prod(shares.shape[:-1]) // over
    return Factor(shares, np.full(shares.shape, 1 / over), free)


@dataclass(frozen=True)
class Saturated(_Direct):
    """Any table. The log-likelihood is concave here, so its gap bounds the distance to the very best."""

    concave = True

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The counts' shares."""
        return counts / _total(counts)

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """max(gradient) - n, n = sum(pi gradient)."""
        cells = tuple(range(pi.ndim - 1))
        return gradient.max(axis=cells) - (pi * gradient).sum(axis=cells)

    def factors(self, pi: NDArray[np.float64]) -> list[Factor]:
        """The table itself."""
        return [_within(pi, range(pi.ndim - 1))]


@dataclass(frozen=True)
class Independence(_Direct):
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

    def factors(self, pi: NDArray[np.float64]) -> list[Factor]:
        """pi_C, pi_a|C, pi_b|C and pi_R|abC."""
        c, ac, bc, abc = self._sums(pi)
        rest = self._others(pi, self.a, self.b)
        own = [_within(c, self.given)] if self.given else []
        free = [_within(ratio(pi, abc), rest)] if rest else []
        return [*own, _within(ratio(ac, c), (self.a,)), _within(ratio(bc, c), (self.b,)), *free]

    def starts(self, table: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Where to climb from, given the best table of any kind: its margins, the even table, its strongest cell.

        There are several hills under independence, and one start misses the highest now and then.
        """
        flat = table.reshape(-1, table.shape[-1])
        even = np.full_like(flat, 1 / len(flat))
        strongest = _NEAR * even
        strongest[flat.argmax(axis=0), np.arange(flat.shape[1])] += 1 - _NEAR
        mixed = _MIXED * even + (1 - _MIXED) * flat
        return [self.maximize(start.reshape(table.shape)) for start in (mixed, even, strongest)]


@dataclass(frozen=True, eq=False)
class OddsRatio(_Direct):
    """Any table whose first two axes have the odds ratio psi in four cells (rows, columns), one psi a replicate.

    Other axes are summed over, and left free. psi = x_00 x_11 / (x_01 x_10) for the cells in the given order. The
    likeliest table for complete counts keeps the margins of the four cells and solves a quadratic equation for one.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    psi: NDArray[np.float64]

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move the four cells along their margins until the odds ratio is psi."""
        if counts.ndim > 3:
            two_way = counts.sum(axis=tuple(range(2, counts.ndim - 1)), keepdims=True)
            margin = self.maximize(two_way.reshape(*counts.shape[:2], -1)).reshape(two_way.shape)
            return margin * ratio(counts, two_way)
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
        return _total((self.maximize(pi * gradient) - pi) * gradient)

    def among(self, chosen: NDArray[np.bool_]) -> OddsRatio:
        """The psi of some replicates."""
        return OddsRatio(self.rows, self.columns, self.psi[chosen])


@dataclass(frozen=True, eq=False)
class GivenMargin(_Direct):
    """Any table whose sums over all axes but some are known: one table for all replicates, or one for each."""

    axes: tuple[int, ...]
    margin: NDArray[np.float64]  # over these axes in order, replicates last

    concave = True

    def _spread(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        shape = [size if axis in self.axes else 1 for axis, size in enumerate(x.shape[:-1])]
        return self.margin.reshape(*shape, -1)

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The counts' shares within each cell of the margin."""
        others = tuple(axis for axis in range(counts.ndim - 1) if axis not in self.axes)
        return self._spread(counts) * ratio(counts, counts.sum(axis=others, keepdims=True))

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Within each cell of the margin, what its best cell would gain."""
        others = tuple(axis for axis in range(pi.ndim - 1) if axis not in self.axes)
        best = gradient.max(axis=others, keepdims=True)
        return _total(self._spread(pi) * best) - _total(pi * gradient)

    def factors(self, pi: NDArray[np.float64]) -> list[Factor]:
        """The given margin, which stays as it is, and the shares within it."""
        given = self._spread(pi)
        others = tuple(axis for axis in range(pi.ndim - 1) if axis not in self.axes)
        within = [_within(ratio(pi, given), others)] if others else []
        return [Factor(given, given, 0), *within]

    def among(self, chosen: NDArray[np.bool_]) -> GivenMargin:
        """The margins of some replicates."""
        return self if self.margin.shape[-1] == 1 else GivenMargin(self.axes, self.margin[..., chosen])


@dataclass(frozen=True)
class Apart(_Direct):
    """A table for each of several groups of respondents, which are the first axis, and nothing in common.

    Tables of groups sum to one each, so there is one hill.
    """

    concave = True

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The shares within every group."""
        return counts / _by_group(counts)

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those of the groups, added up."""
        cells = tuple(range(1, pi.ndim - 1))
        return (gradient.max(axis=cells) - (pi * gradient).sum(axis=cells)).sum(axis=0)


@dataclass(frozen=True)
class SameMargin(_Direct):
    """Tables of several groups, the first axis, that are the same when summed down to the axes `kept`.

    pi_g = m r_g, m over the kept axes and r_g the shares of the others within them, each group's own.
    """

    kept: tuple[int, ...]

    def _others(self, x: NDArray[np.float64]) -> tuple[int, ...]:
        return tuple(axis for axis in range(1, x.ndim - 1) if axis not in self.kept)

    def _parts(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The common margin and each group's shares within it."""
        own = x.sum(axis=self._others(x), keepdims=True)
        common = own.sum(axis=0, keepdims=True)
        within = ratio(x, own)
        if self._others(x):  # a cell that nobody of a group is in is shared out evenly there
            over = prod(x.shape[axis] for axis in self._others(x))
            within = np.where(own > 0, within, 1 / over)
        else:
            within = np.ones_like(x)
        return common / _total(common), within

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The margin of all groups together, and each one's own shares."""
        common, within = self._parts(counts)
        return common * within

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """The gaps of the common margin and of each group's shares, added up."""
        common, within = self._parts(pi)
        rest = self._others(pi)
        by_margin = (within * gradient).sum(axis=rest, keepdims=True)
        pooled = by_margin.sum(axis=0, keepdims=True)
        cells = tuple(range(pi.ndim - 1))
        left = pooled.max(axis=cells) - _total(common * pooled)
        if rest:
            left += _total(common * (gradient.max(axis=rest, keepdims=True) - by_margin))
        return left

    def factors(self, pi: NDArray[np.float64]) -> list[Factor]:
        """The common margin, and the shares within it."""
        common, within = self._parts(pi)
        rest = self._others(pi)
        own = [_within(within, rest)] if rest else []
        return [_within(common, self.kept), *own]


def _by_group(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x.sum(axis=tuple(range(1, x.ndim - 1)), keepdims=True)


class Loglinear:
    """Interactions of some sets of attributes, the generators, and no others: log pi is a sum of tables over them.

    A step matches the generators' margins, one after the other (a round of iterative proportional fitting): it never
    leaves the model, and never loses likelihood.
    """

    logarithmic = True
    concave = False

    def __init__(self, domain: Domain, generators: Sequence[Sequence[str]]) -> None:
        """Take the table's attributes and the generators."""
        self.domain, self.generators = domain, tuple(map(tuple, generators))
        self._margins = [Fold(domain, names) for names in self.generators]

    def step(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale the table to the margins of the complete counts."""
        return self._fitted(pi, pi * gradient)

    def maximize(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """A round from the even table; of a table that is in the model already, the table itself."""
        return self._fitted(np.full(counts.shape, 1 / self.domain.cells), counts)

    def _fitted(self, pi: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        expected = counts / _total(counts)
        for fold in self._margins:
            scale = fold.down(expected) / np.maximum(fold.down(pi), TINY)
            pi = (pi.reshape(*fold.shape, -1) * scale).reshape(pi.shape)
        return np.maximum(pi / _total(pi), TINY)

    def gap(self, pi: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """No certificate: the chi-square distance between margins fitted and expected stands in for it."""
        n = _total(pi * gradient)
        expected, worst = pi * gradient / n, np.zeros(pi.shape[-1])
        for fold in self._margins:
            target, have = fold.down(expected), fold.down(pi)
            far = (target - have) ** 2 / np.maximum(have, TINY)
            worst = np.maximum(worst, far.reshape(-1, pi.shape[-1]).sum(axis=0))
        return _STRICTER * n * worst

    def among(self, chosen: NDArray[np.bool_]) -> Loglinear:  # noqa: ARG002 - nothing in it depends on the replicate
        """Itself."""
        return self

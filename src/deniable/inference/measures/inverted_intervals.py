"""Intervals of measures that cannot be negative, by inverting a test: phi^2, Cramer's V, mutual information.

Next to zero such a measure is a square, and value -+ z errors does not cover: noise alone makes it positive. Let u be
the estimated table, P the product of its margins and D its residual, scaled so that phi(P + t D) = t. If the truth were
P + t D, estimates would be P + t D + e, e normal with the estimate's covariance, and their phi^2, drawn a thousand
times, shows whether that of u is among them. What phi^2 divides by is that of u in all of them: margins drawn anew
around those of u would be off twice, and phi^2 too large. And D is what is left of the residual once noise has
explained what it can: of the whole residual most lies where noise is largest. The interval holds every t for which it
is neither among the alpha / 2 smallest nor among the alpha / 2 largest, and its ends are the measure at these. Where
there is no association to be seen it begins at 0. Mutual information is compared itself, unless some cell could be
empty, where it has no slope.

A margin below its own error may have any size up to a few errors, and phi, which divides by it, as many values. So the
test is made for several margins that the reports allow, each with the phi that it can have at all, and the interval
holds every t that one of them does not reject (the largest p-value over a nuisance: Berger & Boos 1994). In phi^2 of an
estimate no margin counts less than its error, or what chance brings next to zero would decide everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen, readonly
from deniable.inference.measures.delta_method import NEAR_ZERO
from deniable.inference.measures.profile_likelihood import evidence_of
from deniable.inference.monte_carlo import generator_of
from deniable.numerics.root_finding import root
from deniable.numerics.simplex import norm_sub
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from deniable.estimation.estimate import Estimate

    Array = NDArray[np.float64]

_DRAWS = 999
_CLOSE = 1e-7  # of the largest phi: how near the ends are found
_RAREST = 0.01  # of an even share: no margin is taken to be smaller
_FIRM = 1.5  # errors from zero
_ROUNDING = 1e-9
_MARGINS = 5  # of each attribute that are tried where one is below its error


@dataclass(frozen=True, eq=False)
class Inverted(Frozen):
    """The interval of a measure of a two-way estimate.

    Attributes:
        estimate: the table.
        measure: of a table without negative cells.
        squared: whether the measure is phi^2 itself; else it is mutual information.
    """

    estimate: Estimate
    measure: Callable[[Array], np.inexact[Any]]
    squared: bool = True

    @cached_property
    def _noise(self) -> Array:
        """e, (rows, columns, draws): as many as replicates of a test, and half of them the others turned round."""
        covariance = self.estimate.covariance.matrix()
        values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        half = generator_of([evidence_of(self.estimate)], None).standard_normal((len(root), _DRAWS // 2 + 1))
        # A survey's few clusters leave the covariance itself uncertain: as much wider as Student's law is.
        wider = critical_value(0.05, self.estimate.covariance.df) / critical_value(0.05)
        e = wider * (root @ np.concatenate([half, -half], axis=1))
        return readonly(e.reshape(*self.estimate.efficient.values.shape, -1))

    # -- margins -----------------------------------------------------------------------------------------------------

    @cached_property
    def _margins(self) -> tuple[Array, Array]:
        """The estimated shares of rows and of columns; they may be negative."""
        table = self.estimate.efficient.values
        return readonly(table.sum(axis=1)), readonly(table.sum(axis=0))

    @cached_property
    def _errors(self) -> tuple[Array, Array]:
        """Their standard errors."""
        r, c = self.estimate.efficient.values.shape
        covariance = self.estimate.covariance.matrix().reshape(r, c, r, c)
        variances = np.einsum("ijik->i", covariance), np.einsum("ijkj->j", covariance)
        rows, columns = (readonly(np.sqrt(np.maximum(each, 0.0))) for each in variances)
        return rows, columns

    @cached_property
    def noisy(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows and which columns are below their errors."""
        rows, columns = (readonly(m < e) for m, e in zip(self._margins, self._errors, strict=True))
        return rows, columns

    @property
    def _in_doubt(self) -> bool:
        return any(each.any() for each in self.noisy)

    @property
    def _is_firm(self) -> bool:
        """Whether all margins are so far from zero that what they divide hardly depends on their errors."""
        return all((m > _FIRM * e).all() for m, e in zip(self._margins, self._errors, strict=True))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which categories are too rare for these reports to say how strong the association is."""
        named = zip(self.estimate.table.domain.items(), self.noisy, strict=True)
        rare = [
            f"{c!r} of {name}" for (name, v), few in named for c, is_so in zip(v.categories, few, strict=True) if is_so
        ]
        if not rare:
            return ()
        told = (
            f"{listed(rare)} cannot be told from empty: the share is below its standard error, and how strong the "
            f"association is depends on it. The interval holds what any share allows that the reports allow. Merge "
            f"such categories with others before you estimate, or ask more people."
        )
        return (told,)

    def _allowed(self, level: float) -> Iterator[tuple[Array, Array]]:
        """Margins to try: the estimated ones, and others where noise leaves them open."""
        z = critical_value(1 - level, self.estimate.covariance.df)
        each = [
            [_share(m)] if not noisy.any() else _between(m, e, noisy, z)
            for m, e, noisy in zip(self._margins, self._errors, self.noisy, strict=True)
        ]
        yield from ((rows, columns) for rows in each[0] for columns in each[1])

    # -- the test ----------------------------------------------------------------------------------------------------

    @cached_property
    def _floors(self) -> tuple[Array, Array]:
        """What margins count at least in phi^2 of an estimate; more than nothing where nobody reported a category."""
        rows, columns = (readonly(np.clip(e, _RAREST / len(e), 1 / len(e))) for e in self._errors)
        return rows, columns

    def _expected(self, rows: Array, columns: Array) -> Array:
        """What phi^2 divides by, margins with a last axis of replicates."""
        low, left = self._floors
        return np.maximum(rows, low[:, None])[:, None] * np.maximum(columns, left[:, None])[None]

    @cached_property
    def _own_expected(self) -> Array:
        """The same of the estimate itself, with a last axis of one."""
        rows, columns = self._margins
        return readonly(self._expected(rows[:, None], columns[:, None]))

    @cached_property
    def _residual(self) -> Array:
        """How the cells differ from independence, in units of the root of what they would be."""
        table = self.estimate.efficient.values[..., None]
        return readonly((_apart(table) / np.sqrt(self._own_expected))[..., 0])

    @cached_property
    def _direction(self) -> Array:
        """The residual without what noise explains of it, in each direction of its own; all of it if that is all."""
        e, (rows, columns) = self._noise, self._margins
        moved = e - rows[:, None, None] * e.sum(axis=0) - columns[None, :, None] * e.sum(axis=1)[:, None]
        noise = (moved / np.sqrt(self._own_expected)).reshape(self._residual.size, -1)
        variances, axes = np.linalg.eigh(noise @ noise.T / noise.shape[1])
        along = axes.T @ self._residual.ravel()
        left = np.sign(along) * np.sqrt(np.maximum(along**2 - variances, 0.0))
        # Directions that no table has (margins sum to one) hold but rounding.
        is_left = left @ left > _ROUNDING * (along @ along)
        return readonly((axes @ left).reshape(self._residual.shape) if is_left else self._residual)

    def _of(self, rows: Array, columns: Array) -> _Line:
        """The tables of these margins whose residuals are like those that were seen."""
        product = np.outer(rows, columns)
        d = self._direction * np.sqrt(product)
        d = d - d.mean(axis=0) - d.mean(axis=1, keepdims=True) + d.mean()
        size = float(np.sqrt((d**2 / product).sum()))
        return _Line(product, d / size if size > 0 else d)

    def _squares(self, line: _Line) -> Callable[[float], Array]:
        """phi^2 of the estimates drawn at t, which is a polynomial in it: margins are the same for all t."""
        drawn, d = line.product[..., None] + self._noise, line.d[..., None]
        expected = self._own_expected
        if not self._is_firm:
            expected = self._expected(drawn.sum(axis=1), drawn.sum(axis=0))
        rest = _apart(drawn)
        scaled = rest / expected
        zero, one, two = (
            (rest * scaled).sum(axis=(0, 1)),
            (d * scaled).sum(axis=(0, 1)),
            (d**2 / expected).sum(axis=(0, 1)),
        )
        return lambda t: zero + 2 * t * one + t**2 * two

    def _informations(self, line: _Line) -> Callable[[float], Array]:
        """Mutual information of the estimates drawn at t; cells below zero have none."""

        def drawn(t: float) -> Array:
            tables = line.at(t)[..., None] + self._noise
            return _shared(tables, self._expected(tables.sum(axis=1), tables.sum(axis=0)))

        return drawn

    @cached_property
    def _own(self) -> bool:
        """Whether mutual information is compared itself: no cell could be empty."""
        surely = self.estimate.efficient.values >= NEAR_ZERO * self.estimate.std_error
        return not self.squared and bool(surely.all())

    @cached_property
    def _seen(self) -> float:
        """What is compared, of the estimate itself."""
        if self._own:
            return float(_shared(self.estimate.efficient.values[..., None], self._own_expected)[0])
        return float((self._residual**2).sum())

    # -- the interval ------------------------------------------------------------------------------------------------

    def __call__(self, level: float) -> tuple[float, float]:
        """The ends of the interval."""
        in_doubt, found = self._in_doubt, []
        widest = self._largest(level)
        for rows, columns in self._allowed(level):
            line = self._of(rows, columns)
            most = min(self._strongest, _largest_phi(rows, columns)) if in_doubt else widest
            ends = self._not_rejected(line, most, (1 - level) / 2, bounded=in_doubt)
            if ends is not None:
                found.append([self._at(line, t, most=bool(end)) for end, t in enumerate(ends)])
        if not found:  # no margins that were tried explain what was seen
            return 0.0, self._strongest**2 if self.squared else float(np.log(min(self.estimate.values.shape)))
        lows, highs = zip(*found, strict=True)
        return float(min(lows)), float(max(highs))

    @cached_property
    def _strongest(self) -> float:
        """The phi of the strongest association there is."""
        return float(np.sqrt(min(self.estimate.values.shape) - 1))

    def _largest(self, level: float) -> float:
        """The largest phi of margins that the reports allow, the rarest category of each made rarer and less rare."""
        z = critical_value(1 - level, self.estimate.covariance.df)
        margins = [_between(m, e, m == m.min(), z) for m, e in zip(self._margins, self._errors, strict=True)]
        found = max(_largest_phi(rows, columns) for rows in margins[0] for columns in margins[1])
        return min(self._strongest, found)

    def _not_rejected(self, line: _Line, most: float, alpha: float, *, bounded: bool) -> tuple[float, float] | None:
        """The least and the largest t that the test does not reject; None if it rejects all that there can be."""
        drawn = (self._informations if self._own else self._squares)(line)
        if bounded and (drawn(most) >= self._seen).mean() <= alpha:
            return None
        few = int(alpha * self._noise.shape[-1])  # of the draws: no more of them may lie beyond what was seen
        low = _edge(lambda t: -float(np.partition(-drawn(t), few)[few]) - self._seen, most)
        high = _edge(lambda t: float(np.partition(drawn(t), few)[few]) - self._seen, most)
        return low, high

    def _at(self, line: _Line, t: float, *, most: bool) -> float:
        """The measure where phi is t: at least, or at `most`."""
        if not t or self.squared:
            return t**2
        tables = [table for table in (line.at(t), line.at(-t)) if (table >= 0).all()]
        if tables:
            found = [float(np.real(self.measure(table))) for table in tables]
            return max(found) if most else min(found)
        # No table: what mutual information is at most, or at least, for a phi and for these margins.
        margins = [line.product.sum(axis=axis) for axis in (0, 1)]
        if most:
            return min(float(np.log1p(t**2)), *(float(-(m * np.log(m)).sum()) for m in margins))
        return t**2 * _least_share(float((1 / np.maximum(margins[0][:, None], margins[1][None])).max()))


@dataclass(frozen=True, eq=False)
class _Line:
    """Tables P + t D, of which phi is t."""

    product: Array
    d: Array

    def at(self, t: float) -> Array:
        return self.product + t * self.d


def _apart(tables: Array) -> Array:
    """How the cells of each table differ from the product of its margins."""
    return tables - tables.sum(axis=1)[:, None] * tables.sum(axis=0)[None]


def _shared(tables: Array, expected: Array) -> Array:
    positive = tables > 0
    parts = np.zeros_like(tables)
    np.log(np.divide(tables, expected, out=np.ones_like(tables), where=positive), out=parts)
    return np.asarray((tables * parts).sum(axis=(0, 1)))


def _least_share(ratio: float) -> float:
    """Mutual information is at least this share of phi^2 where no cell is above `ratio` times the product of margins.

    With r the cell over the product, information is the mean of r log r - r + 1 and phi^2 that of (r - 1)^2, and the
    first over the second falls with r.

    >>> round(_least_share(1.0001), 3), round(_least_share(2.0), 3)
    (0.5, 0.386)
    """
    return float((ratio * np.log(ratio) - ratio + 1) / (ratio - 1) ** 2) if ratio > 1 else 0.5


def _largest_phi(rows: Array, columns: Array) -> float:
    """No table with these margins has a larger one; of two rows and two columns, one has it.

    phi^2 + 1 is the sum of x_ij x_ij / (x_i. x_.j), and x_ij is at most the smaller of its margins, so that it is at
    most the mean over rows (or over columns) of the largest 1 / max(x_i., x_.j).
    """
    if len(rows) == len(columns) == 2:
        a, b = sorted((float(rows.min()), float(columns.min())))
        return float(np.sqrt(a * (1 - b) / ((1 - a) * b)))
    most = 1 / np.maximum(rows[:, None], columns[None])
    bound = min(float(rows @ most.max(axis=1)), float(columns @ most.max(axis=0)))
    return float(np.sqrt(max(bound - 1, 0.0)))


def _edge(f: Callable[[float], float], most: float) -> float:
    """The least t at which a function is not below zero; it stays so beyond."""
    return root(f, 0.0, most, _CLOSE * most) if f(0.0) < 0 else 0.0


def _share(shares: Array) -> Array:
    """A margin that can be divided by."""
    share = np.maximum(norm_sub(shares), _RAREST / len(shares))
    return share / share.sum()


def _between(shares: Array, errors: Array, noisy: NDArray[np.bool_], z: float) -> list[Array]:
    """Margins that noise leaves open: z errors up and down where it could have emptied a category.

    Where that is so of all of them, from the estimated margin to the even one.
    """
    if noisy.all():
        return [(1 - x) * _share(shares) + x / len(shares) for x in np.linspace(0, 1, _MARGINS)]
    found = []
    for x in np.linspace(-z, z, _MARGINS):
        moved = shares.copy()
        moved[noisy] = np.maximum(shares[noisy] + x * errors[noisy], _RAREST / len(shares))
        moved[~noisy] *= max(1 - moved[noisy].sum(), _RAREST) / moved[~noisy].sum()
        found.append(_share(moved))
    return found

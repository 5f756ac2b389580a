"""Shares of a population out of a fit with partial pooling, weighted by how many people each of its cells has.

Cell c of the population has w_c of its people, predictors x_c and a group g; a row of the result is a sum over cells,

    theta = sum over c of  w_c F(x_c'beta + s b_g).

Given the parameters the b_g are independent, each with the posterior law that its group's reports leave; a group that
nobody was asked in keeps the normal law of all groups. The estimate is the posterior mean at the fitted parameters, and

    Var theta = sum over g of  Var(sum over c in g of w_c F(x_c'beta + s b_g) | reports)  +  J C J',

C the parameters' covariance (log s included) and J the derivative of the estimate in them: what is not known of the
groups, and what is not known of the law they come from. The first part grows with s, of which few groups tell little,
and too small a value more often than too large a one: it is averaged over what s may be, by its likelihood, all s being
equally likely beforehand and the other parameters following along C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from deniable.core.results import Interval, frame_of, intervals_by_row
from deniable.core.summary import Shown, Span, Summary, beside, share, stamped_columns
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.inference.measures.delta_method import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.core.results import Frame
    from deniable.regression.integrated_likelihood import Marginal

    Array = NDArray[np.float64]

METHOD = "posterior mean and delta method, symmetric in log odds"
_STEP = 1e-5
_POINTS = 9  # of log s, in standard errors those of Gauss-Hermite for a normal law


@dataclass(frozen=True, eq=False, repr=False)
class Poststratified(Shown, Frozen):
    """Shares of a population, a row for each value of the attributes that were asked for.

    Attributes:
        name: which share it is.
        rows: what tells the rows apart: headings, and a label each.
        sizes: how many people of the population are in each row; nobody is in two.
        values: the shares.
        covariance: of the shares.
        facts: what they were made of.
        notes: what a reader must know.
        backend: the data frame library of the answers.
    """

    name: str
    rows: Mapping[str, tuple[Category, ...]]
    sizes: Array
    values: Array
    covariance: Array
    facts: Mapping[str, object]
    notes: tuple[str, ...] = ()
    backend: str | None = None

    @property
    def std_error(self) -> Array:
        """Standard errors of the shares, as predictions of the population that there is."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def overall(self) -> Measure:
        """The share in the whole population: the rows' shares by their sizes."""
        weights = self.sizes / self.sizes.sum()
        value, error = float(weights @ self.values), float(np.sqrt(weights @ self.covariance @ weights))

        def ends(level: float) -> tuple[float, float]:
            low, high = _ends(np.array([value]), np.array([error]), level)
            return float(low[0]), float(high[0])

        return Measure(self.name, value, error, METHOD, ends=ends)

    def interval(self, level: float = 0.95) -> Interval:
        """Intervals of the shares, made in log odds, so that they stay between 0 and 1."""
        return Interval(*_ends(self.values, self.std_error, level), level, METHOD)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the shares as a data frame: a row each."""
        low, high = self.interval(level)
        numbers = {"size": self.sizes, "estimate": self.values, "std_error": self.std_error, "low": low, "high": high}
        columns = beside({name: list(labels) for name, labels in self.rows.items()}, numbers)
        return frame_of(stamped_columns(columns, self.summary(level).notes), self.backend)

    def summary(self, level: float = 0.95) -> Summary:
        """A row each; and the whole population, where there are several."""
        low, high = self.interval(level)
        cells = {name: list(labels) for name, labels in self.rows.items()}
        table = beside(cells, _told(self.sizes, self.values, self.std_error, (low, high), level))
        whole: dict[str, list[Any]] = {}
        if len(self.values) > 1:
            one, total = self.overall, np.array([self.sizes.sum()])
            ends = tuple(np.array([end]) for end in one.interval(level))
            told = _told(total, np.array([one.value]), np.array([one.std_error]), (ends[0], ends[1]), level)
            whole = {"population": ["everybody"], **told}
        return Summary(table, self.notes, facts=dict(self.facts), beside=whole)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the share of each row with its interval."""
        labels = [", ".join(map(str, row)) for row in zip(*self.rows.values(), strict=True)]
        ends = tuple(self.interval(level))
        return intervals_by_row(labels, self.values, (ends[0], ends[1]), ax, of=self.name, level=level, bars=True)

    def __repr__(self) -> str:
        return f"<Poststratified: {self.name} in {len(self.values)} rows of {self.sizes.sum():,.0f} people>"


def _ends(values: Array, errors: Array, level: float) -> tuple[Array, Array]:
    """logit(share) -+ z std_error / (share (1 - share)), back on the scale of shares."""
    inside = np.clip(values, 1e-15, 1 - 1e-15)
    half = critical_value(1 - level) * errors / (inside * (1 - inside))
    return special.expit(special.logit(inside) - half), special.expit(special.logit(inside) + half)


def _told(sizes: Array, values: Array, errors: Array, ends: tuple[Array, Array], level: float) -> dict[str, list[Any]]:
    return {
        "size": [int(size) if size.is_integer() else float(size) for size in sizes],
        "estimate": [share(float(value)) for value in values],
        "std_error": [share(float(error), 2) for error in errors],
        f"{level:.0%} interval": [Span(float(low), float(high)) for low, high in zip(*ends, strict=True)],
    }


def spreads_between(marginal: Marginal, values: Array, matrix: Array) -> tuple[Array, Array]:
    """What log s may be: points, with the other parameters that go with it, and how likely each is.

    With z standard errors from the fitted one, the weight is that of Gauss-Hermite's rule times the likelihood times s,
    over the normal density that the rule is for.
    """
    z, mass = special.roots_hermitenorm(_POINTS)
    points = values + z[:, None] * matrix[:, -1] / np.sqrt(matrix[-1, -1])
    heights = np.array([marginal.value(point)[0] for point in points]) + points[:, -1] + z**2 / 2
    weights = mass * np.exp(heights - heights.max())
    return points, weights / weights.sum()


@dataclass(frozen=True)
class Cells:
    """The cells of a population.

    Attributes:
        design: their predictors, as the fit has them.
        group: each one's group; those that nobody was asked in come after those that the fit has.
        row: the row of the result that each belongs to.
        weight: which part of its row it is.
    """

    design: Array
    group: NDArray[np.intp]
    row: NDArray[np.intp]
    weight: Array

    def estimate(self, marginal: Marginal, values: Array, matrix: Array) -> tuple[Array, Array]:
        """The shares of all rows, and their covariance, at fitted parameters with their covariance."""
        found = self._means(*self._shares(marginal, values))
        jacobian = np.empty((len(found), len(values)))
        for place, step in enumerate(_STEP * np.eye(len(values))):
            above, below = (self._means(*self._shares(marginal, values + side * step)) for side in (1, -1))
            jacobian[:, place] = (above - below) / (2 * _STEP)
        points, weights = spreads_between(marginal, values, matrix)
        within = sum(
            weight * self._within(*self._shares(marginal, point)) for point, weight in zip(points, weights, strict=True)
        )
        return found, within + jacobian @ matrix @ jacobian.T

    def _shares(self, marginal: Marginal, params: Array) -> tuple[Array, Array]:
        """Of every cell at each of its group's nodes the share, and the node's posterior mass."""
        integrated = marginal.integrate(params)
        points, mass = special.roots_hermite(marginal.nodes)
        strangers = max(int(self.group.max()) + 1 - marginal.count, 0)
        # A group without reports has the law of all groups: b = sqrt(2) t, with the mass of t over sqrt(pi).
        b = np.vstack([integrated.b, np.tile(np.sqrt(2) * points, (strangers, 1))])[self.group]
        mass = np.vstack([integrated.mass, np.tile(mass / np.sqrt(np.pi), (strangers, 1))])[self.group]
        eta = self.design @ params[: self.design.shape[1]]
        return marginal.link.parts(eta[:, None] + np.exp(params[-1]) * b)[1], mass

    def _means(self, share: Array, mass: Array) -> Array:
        return np.bincount(self.row, self.weight * (share * mass).sum(axis=1)).astype(np.float64)

    def _within(self, share: Array, mass: Array) -> Array:
        """The rows' covariance given the parameters: sums over groups, whose shifts are independent."""
        rows = int(self.row.max()) + 1
        covariance = np.zeros((rows, rows))
        order = np.argsort(self.group, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1):
            reached, place = np.unique(self.row[mine], return_inverse=True)
            sums = np.zeros((len(reached), share.shape[1]))
            np.add.at(sums, place, self.weight[mine, None] * share[mine])
            away = sums - sums @ mass[mine[0]][:, None]
            covariance[np.ix_(reached, reached)] += (away * mass[mine[0]]) @ away.T
        return covariance

"""Totals: how many people there are in each cell, not only which share of them.

With N the sum of the weights and pi the shares, the totals are T = N pi. Respondent i with weight w_i contributes
w_i (N z_i + pi (N / n)) to them, z_i to the shares: the size of the population was estimated too. Where it is known,
because weights were raked to it or because it is given, nothing but the shares varies.

GroupedTotals: how many people there are in each cell of each public group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import Interval, intervals_by_row
from deniable.core.rows import SHOWN, columns_of, frame, rows_of
from deniable.core.summary import Shown, Summary
from deniable.core.table import Table
from deniable.errors import InputError
from deniable.estimation.by_group import by_group, one_refusal_each, rows_by_group
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.results import Frame
    from deniable.core.rows import Row
    from deniable.estimation.by_group import Grouped
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.notes.refused import Refused

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Totals(Shown, Frozen):
    """Estimated numbers of people.

    Attributes:
        table: how many in each cell; where the shares are negative, so are these.
        n: how many reports covered the table.
        population: how many there are altogether.
        covariance: of the cells, written out.
        df: degrees of freedom behind it.
        reason: where the size of the population comes from, in words.
    """

    table: Table
    n: int
    population: float
    covariance: Array
    df: float
    reason: str

    @property
    def values(self) -> Array:
        """The numbers of people."""
        return self.table.values

    @property
    def std_error(self) -> Array:
        """Their standard errors."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)).reshape(self.table.shape)

    def interval(self, level: float = 0.95) -> Interval:
        """Wald intervals, with Student's t where clusters are few; not clipped at zero."""
        half = critical_value(1 - level, self.df) * self.std_error
        return Interval(self.values - half, self.values + half, level, "Wald")

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """What is told of every cell."""
        low, high = self.interval(level)
        told = {"estimate": self.values, "std_error": self.std_error, "low": low, "high": high}
        return rows_of(self.table.cells(), self.n, told, stamp=self.table.origin.stamp)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the totals as a data frame: a row a cell."""
        return frame(self.table.attributes, self.rows(level), self.table.backend, SHOWN, value="total")

    def summary(self, level: float = 0.95) -> Summary:
        """The totals, a row a cell."""
        columns = _whole(self.table.attributes, self.rows(level))
        notes = (f"{self.population:,.0f} people: {self.reason}.",)
        origin = self.table.origin
        return Summary(columns, (*notes, *origin.note), stamp=origin.stamp)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every cell's total with its interval."""
        labels = [", ".join(map(str, cell)) for cell in zip(*self.table.cells().values(), strict=True)]
        low, high = self.interval(level)
        ends = (low.ravel(), high.ravel())
        return intervals_by_row(labels, self.values.ravel(), ends, ax, of="people", level=level, bars=True)

    def __repr__(self) -> str:
        return f"<Totals of {' x '.join(self.table.attributes)}: {self.population:,.0f} people>"


def _whole(names: Sequence[str], rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Rows of totals as columns of whole people: nobody is interested in parts of one. A frame has them."""
    return {
        name: [value if not isinstance(value, float) or isnan(value) else round(value) for value in values]
        for name, values in columns_of(names, rows, SHOWN, value="total").items()
    }


def totals(estimate: Estimate, population: float | None = None) -> Totals:
    """The totals behind an estimate's efficient shares.

    Args:
        estimate: shares with their errors.
        population: how many people there are; by default the sum of the weights, with its own error.
    """
    sampling = None if estimate.pooled is None else estimate.pooled.sampling
    domain, shares = estimate.table.domain, estimate.efficient.values
    if population is not None:
        if not np.isfinite(population) or not population > 0:
            raise InputError(f"population must be a number above 0, not {population!r}")
        size, reason = float(population), "given"
        covariance = size**2 * estimate.covariance.matrix()
    elif sampling is None:
        raise InputError(
            "without weights that stand for people, a total needs the size of the population: totals(population=...)"
        )
    else:
        assert estimate.pooled is not None
        size = sampling.total
        place, z = estimate.pooled.linear
        # Everybody who is looked at adds to the population, also those who were asked something else.
        rest = np.where((place < 0) & sampling.within, len(z), place)
        table = size * np.vstack([z, np.zeros(z.shape[1])]) + shares.ravel() * size / sampling.within.sum()
        covariance = sampling.covariance((rest, table))
        known = sampling.margins is not None and sampling.inside is None
        reason = "known, weights being raked to it" if known else "the sum of the weights, with its own error"
    values = Table(domain, size * shares, estimate.table.backend, estimate.origin)
    return Totals(values, estimate.n, size, covariance, estimate.covariance.df, reason)


@dataclass(frozen=True, eq=False)
class GroupedTotals(Shown, Frozen, Mapping[Any, "Totals"]):
    """The totals of each group: a mapping from a group to its `Totals`.

    Attributes:
        by: the public attribute.
        totals: the groups' totals, in the order of the groups.
        refused: the groups of which too few have answered, and what stands in their place.
    """

    by: str
    totals: Mapping[Any, Totals]
    refused: Mapping[Any, Refused] = field(default_factory=dict)

    def __getitem__(self, group: Any) -> Totals:
        return self.totals[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.totals)

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The disguised attributes."""
        return next(iter(self.values())).table.attributes

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """The rows of all groups, the group before the categories."""
        return rows_by_group(self, self.refused, level)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write all groups as one data frame: a row a cell, the group in the first column."""
        backend = next(iter(self.values())).table.backend
        return frame([self.by, *self.attributes], self.rows(level), backend, SHOWN, value="total")

    def summary(self, level: float = 0.95) -> Summary:
        """All groups behind each other, a row a cell."""
        columns = _whole([self.by, *self.attributes], one_refusal_each(self.rows(level)))
        sizes = ", ".join(f"{group} {found.population:,.0f}" for group, found in self.items())
        reasons = " / ".join(dict.fromkeys(found.reason for found in self.values()))
        origin = next(iter(self.values())).table.origin
        notes = (f"People by {self.by}: {sizes} ({reasons}).", *origin.note)
        return Summary(columns, notes, stamp=origin.stamp)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the total of every cell of every group with its interval."""
        rows = one_refusal_each(self.rows(level))
        labels = [", ".join(filter(None, map(str, row.cell))) for row in rows]
        ends = ([row.low for row in rows], [row.high for row in rows])
        return intervals_by_row(labels, [row.estimate for row in rows], ends, ax, of="people", level=level, bars=True)

    def __repr__(self) -> str:
        return f"<Totals of {' x '.join(self.attributes)} by {self.by}: {counted(len(self), 'group')}>"


def grouped_totals(estimates: Grouped, population: Mapping[Any, float] | None = None) -> GroupedTotals:
    """The totals behind the estimates of groups.

    Args:
        estimates: each group's shares with their errors.
        population: how many people there are in each group; by default the sums of the survey weights.
    """
    if population is None and any(e.pooled is None or e.pooled.sampling is None for e in estimates.values()):
        raise InputError(
            f"without weights that stand for people, totals need the size of every group: "
            f"totals({{{next(iter(estimates))!r}: 61_000, ...}})"
        )
    if population is None:
        sizes: Mapping[Any, float | None] = dict.fromkeys(estimates)
    elif not isinstance(population, Mapping):
        raise InputError(
            f"groups have sizes of their own, such as totals({{{next(iter(estimates))!r}: 61_000, ...}}), not one "
            f"population of {population!r}"
        )
    elif not set(estimates) <= set(population) <= {*estimates, *estimates.refused}:
        raise InputError(
            f"give the size of every group of {estimates.by!r}: these are {listed(estimates)}, sizes are there for "
            f"{listed(population) or 'none'}"
        )
    else:
        sizes = population
    parts = ((group, (found, sizes[group])) for group, found in estimates.items())
    totals = by_group(estimates.by, parts, lambda part: part[0].totals(part[1]))
    return GroupedTotals(estimates.by, totals, estimates.refused)

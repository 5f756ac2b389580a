"""GroupedTotals: how many people there are in each cell of each public group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary, beside, stamped_columns
from deniable.errors import InputError
from deniable.estimation.by_group import by_group, rows_by_group
from deniable.frozen import Frozen
from deniable.text import counted, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.core.results import Frame
    from deniable.estimation.grouped import Grouped
    from deniable.estimation.totals import Totals


@dataclass(frozen=True, eq=False)
class GroupedTotals(Shown, Frozen, Mapping[Any, "Totals"]):
    """The totals of each group: a mapping from a group to its `Totals`.

    Attributes:
        by: the public attribute.
        totals: the groups' totals, in the order of the groups.
        refused: what is said of the groups of which too few have answered.
    """

    by: str
    totals: Mapping[Any, Totals]
    refused: Mapping[Any, str] = field(default_factory=dict)

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

    def _columns(self, level: float, *, told: bool = True) -> tuple[dict[str, list[Any]], dict[str, list[float]]]:
        """The cells of all groups, and what is told of each; of those that are refused, whether it is told why."""
        return rows_by_group(self.by, self, level, self.refused if told else dict.fromkeys(self.refused, ""))

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write all groups as one data frame: a row a cell, the group in the first column."""
        first, columns = next(iter(self.values())).table, beside(*self._columns(level, told=False))
        return frame_of(stamped_columns(columns, word=first.origin.stamp), first.backend)

    def summary(self, level: float = 0.95) -> Summary:
        """All groups behind each other, a row a cell."""
        cells, numbers = self._columns(level)
        # Nobody is interested in parts of a person; `to_frame` has them.
        whole = {
            name: [math.nan if math.isnan(value) else round(value) for value in values]
            for name, values in numbers.items()
        }
        sizes = ", ".join(f"{group} {found.population:,.0f}" for group, found in self.items())
        reasons = " / ".join(dict.fromkeys(found.reason for found in self.values()))
        origin = next(iter(self.values())).table.origin
        notes = (f"People by {self.by}: {sizes} ({reasons}).", *origin.note)
        return Summary({**cells, **whole}, notes, stamp=origin.stamp)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the total of every cell of every group with its interval."""
        cells, numbers = self._columns(level)
        labels = [", ".join(filter(None, map(str, row))) for row in zip(*cells.values(), strict=True)]
        ends = (np.array(numbers["low"]), np.array(numbers["high"]))
        return intervals_by_row(labels, numbers["total"], ends, ax, of="people", level=level, bars=True)

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
    return GroupedTotals(estimates.by, totals, {group: one.reason for group, one in estimates.refused.items()})

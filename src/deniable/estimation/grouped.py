"""Grouped: one estimate for each value of a public attribute, which is the cross table of the two.

A public attribute travels in clear, so who belongs to which group is known, and only the other attribute is disguised.
The shares of a group are shares of its own members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs.reports import SMALL_CELL
from deniable.drawing import intervals_by_row
from deniable.estimation.by_group import rows_by_group
from deniable.frozen import Frozen
from deniable.results import frame_of
from deniable.summary import Shown, beside, of_shares
from deniable.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.estimation.estimate import Estimate
    from deniable.estimation.grouped_totals import GroupedTotals
    from deniable.results import Frame
    from deniable.summary import Summary

FEWEST = 30  # reports of a group: below that, errors say more than estimates


def small_groups(by: str, sizes: Mapping[Any, int]) -> list[str]:
    """What must be known of groups that are small, a sentence each."""
    told = []
    for group, n in sizes.items():
        if n < SMALL_CELL:
            told.append(
                f"{by} = {group}: only {counted(n, 'report')}. Its members could be recognised by it, and its shares "
                f"are noise; join it with another group before you publish."
            )
        elif n < FEWEST:
            told.append(f"{by} = {group}: only {n} reports, so its errors say more than its shares.")
    return told


@dataclass(frozen=True, eq=False)
class Grouped(Shown, Frozen, Mapping[Any, "Estimate"]):
    """An estimate for each group: a mapping from a group to its estimate.

    Attributes:
        by: the public attribute.
        estimates: the groups' estimates, in the order of the groups.
        unknown: how many reports do not say to which group they belong; they are in none.
    """

    by: str
    estimates: Mapping[Any, Estimate]
    unknown: int = 0

    def __getitem__(self, group: Any) -> Estimate:
        return self.estimates[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The disguised attributes."""
        return next(iter(self.values())).attributes

    def warnings(self) -> list[str]:
        """What must be known of groups that are small, a sentence each."""
        told = small_groups(self.by, {group: found.n for group, found in self.items()})
        if self.unknown:
            told.append(f"{counted(self.unknown, 'report')} without a value of {self.by} are in no group.")
        return told

    def _columns(self, level: float) -> tuple[dict[str, list[Any]], dict[str, list[float]]]:
        """The cells of all groups, and what is told of each."""
        return rows_by_group(self.by, self, level)

    def summary(self, level: float = 0.95) -> Summary:
        """All groups behind each other, a row a cell."""
        first = next(iter(self.values()))
        cells, numbers = self._columns(level)
        sizes = ", ".join(f"{first.labels.shown(self.by, group)} {found.n}" for group, found in self.items())
        told = [
            f"Shares of each group's own members. Reports: {sizes}.",
            *self.warnings(),
            f"Details: {first.details}.",
        ]
        asked = first.labels.asked([*self.attributes, self.by])
        return of_shares(first.labels.cells(cells), numbers, level, told, asked)

    def totals(self, population: Mapping[Any, float] | None = None) -> GroupedTotals:
        """How many people there are in each cell of each group, with their errors.

        Args:
            population: how many there are in each group; by default the sums of the survey weights, with their errors.
        """
        from deniable.estimation.grouped_totals import grouped_totals

        return grouped_totals(self, population)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write all groups as one data frame: a row a cell, the group in the first column."""
        cells, numbers = self._columns(level)
        return frame_of(beside(cells, numbers), next(iter(self.values())).table.backend)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every cell of every group with its interval."""
        labels = next(iter(self.values())).labels
        cells, numbers = self._columns(level)
        names = [", ".join(row) for row in zip(*labels.cells(cells).values(), strict=True)]
        ends = (np.array(numbers["low"]), np.array(numbers["high"]))
        return intervals_by_row(
            names,
            numbers["estimate"],
            ends,
            ax,
            of=f"share of each group of {self.by}",
            level=level,
            bars=True,
            title=labels.asked([*self.attributes, self.by]),
        )

    def __repr__(self) -> str:
        return f"<Grouped estimates of {' x '.join(self.attributes)} by {self.by}: {counted(len(self), 'group')}>"

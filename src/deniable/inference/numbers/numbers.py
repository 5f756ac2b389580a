"""Numbers: several derived numbers of one sort, a row each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import Interval, frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary, beside, stamped_columns
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.core.results import Frame
    from deniable.inference.measures.delta_method import Measure


@dataclass(frozen=True, eq=False)
class Numbers(Shown, Frozen):
    """Several numbers of one sort: means by group, quantiles by level.

    Attributes:
        name: what they are.
        rows: what tells them apart: a heading, and a label each.
        measures: the numbers with their errors.
    """

    name: str
    rows: Mapping[str, tuple[Category, ...]]
    measures: tuple[Measure, ...]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The numbers."""
        return readonly(np.array([measure.value for measure in self.measures]))

    @cached_property
    def std_error(self) -> NDArray[np.float64]:
        """Their standard errors."""
        return readonly(np.array([measure.std_error for measure in self.measures]))

    def interval(self, level: float = 0.95) -> Interval:
        """A confidence interval for each."""
        ends = [tuple(measure.interval(level)) for measure in self.measures]
        low, high = (np.array([float(end[i]) for end in ends]) for i in (0, 1))
        return Interval(low, high, level, self.measures[0].method)

    @property
    def _notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for measure in self.measures for note in measure.warnings))

    def _columns(self, level: float) -> dict[str, Any]:
        low, high = self.interval(level)
        found: dict[str, list[Any]] = {
            "value": self.values.tolist(),
            "std_error": self.std_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }
        return beside({heading: list(labels) for heading, labels in self.rows.items()}, found)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the numbers as a data frame: a row each."""
        return frame_of(stamped_columns(self._columns(level), self._notes))

    def summary(self, level: float = 0.95) -> Summary:
        """A row each, and what to keep in mind."""
        return Summary(self._columns(level), self._notes, title=f"{self.name} ({self.measures[0].method})")

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw a number a row with its interval."""
        low, high = self.interval(level)
        labels = [", ".join(str(part) for part in row) for row in zip(*self.rows.values(), strict=True)]
        ax = intervals_by_row(labels, self.values, (low, high), ax, of=self.name, level=level, reference=None)
        ax.set_ylabel(", ".join(self.rows), parse_math=False)
        return ax

"""Estimate: a table, its errors, how many reports it stands on and how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.drawing import DARK, LIGHT, MARK
from deniable.estimation.intervals import Method, intervals
from deniable.frozen import Frozen, readonly
from deniable.randomness import SECURE, Source
from deniable.results import Interval, axes, frame_of, legend
from deniable.summary import Shown, beside, of_shares

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.estimation.dispersion import Dispersion
    from deniable.results import Frame
    from deniable.summary import Summary
    from deniable.tables.table import Table


@dataclass(frozen=True, eq=False)
class Estimate(Shown, Frozen):
    """An estimated table.

    Attributes:
        table: the estimate by the method that was chosen.
        unbiased: the unbiased estimate, whatever the method; its cells may be negative, and errors come from it.
        dispersion: the covariance of the unbiased estimate, as an operator.
        n: how many reports covered the table.
        method: the name of the method.
        reason: why this method, and what it did, in words.
        warnings: what a reader must know.
    """

    table: Table
    unbiased: Table
    dispersion: Dispersion
    n: int
    method: str
    reason: str
    warnings: tuple[str, ...] = ()

    @property
    def values(self) -> NDArray[np.float64]:
        """The table's numbers."""
        return self.table.values

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the table's axes."""
        return self.table.attributes

    @cached_property
    def std_error(self) -> NDArray[np.float64]:
        """Standard errors of the unbiased cells."""
        return readonly(np.sqrt(self.dispersion.variances))

    @property
    def covariance(self) -> Dispersion:
        """The covariance of the unbiased cells, as an operator: `@`, `quadratic(w)`, `matrix()`."""
        return self.dispersion

    def interval(
        self,
        level: float = 0.95,
        method: Method = "wilson",
        *,
        simultaneous: bool = False,
        replicates: int = 9999,
        source: Source = SECURE,
    ) -> Interval:
        """Confidence intervals for the cells, from the unbiased core, not clipped to [0, 1].

        Each holds its cell with the given level; all of them at once when `simultaneous`. The last two arguments are
        those of method="bootstrap".
        """
        return intervals(
            self.unbiased.values,
            self.dispersion,
            level,
            method,
            simultaneous=simultaneous,
            replicates=replicates,
            source=source,
        )

    def project(self, attributes: str | Iterable[str]) -> Table:
        """Sum the estimated table down to some attributes (for their errors, estimate them directly)."""
        return self.table.project(attributes)

    def _numbers(self, level: float) -> dict[str, NDArray[np.float64]]:
        """What is told of every cell."""
        interval = self.interval(level)
        cells = {
            "estimate": self.values,
            "unbiased": self.unbiased.values,
            "std_error": self.std_error,
            "low": interval.low,
            "high": interval.high,
        }
        return {name: values.ravel() for name, values in cells.items()}

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the estimate as a data frame: a row a cell."""
        return frame_of(beside(self.table.cells(), self._numbers(level)), self.table.backend)

    def notes(self) -> list[str]:
        """What was done and what to keep in mind, a sentence each."""
        told = [f"{self.n} reports about {' and '.join(self.attributes)}; method {self.method}: {self.reason}."]
        negative = int((self.unbiased.values < 0).sum())
        if negative:
            told.append(
                f"{negative} of {self.values.size} unbiased cells are negative: the truth there is near zero and the "
                "noise fell below it. They are shown as they are; intervals and errors belong to them."
            )
        return [*told, *self.warnings]

    def summary(self, level: float = 0.95) -> Summary:
        """The estimate as it is shown everywhere: a row a cell, and what to keep in mind."""
        return of_shares(self.table.cells(), self._numbers(level), level, self.notes())

    def __repr__(self) -> str:
        return f"<Estimate of {' x '.join(self.attributes)}: {self.values.size} cells, {self.n} reports, {self.method}>"

    def plot(self, ax: Axes | None = None, *, truth: Table | None = None, level: float = 0.95) -> Axes:
        """Draw every cell with its interval; the truth beside it where it is known (in a simulation)."""
        labels = [", ".join(str(part) for part in cell) for cell in zip(*self.table.cells().values(), strict=True)]
        ax = axes(ax, rows=len(labels))
        interval, rows = self.interval(level), np.arange(len(labels))
        ax.barh(rows, self.values.ravel(), color=LIGHT, label=f"estimate ({self.method})")
        ax.hlines(rows, interval.low.ravel(), interval.high.ravel(), color=DARK, label=f"{level:.0%} interval")
        ax.plot(self.unbiased.values.ravel(), rows, "|", color=DARK, markersize=10, label="unbiased")
        if truth is not None:
            shares = truth.project(self.attributes).normalize().values.ravel()
            ax.plot(shares, rows, "o", color=MARK, label="truth")
        ax.set_yticks(rows, labels, parse_math=False)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_xlabel("share of respondents")
        ax.set_ylabel(", ".join(self.attributes))
        legend(ax)
        return ax

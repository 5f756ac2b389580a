"""Estimate: a table, its errors, how many reports it stands on and how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.labels import UNKNOWN, Labels
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.randomness import SECURE, Source
from deniable.core.results import Interval, axes, legend
from deniable.core.rows import frame, of_shares, rows_of
from deniable.core.summary import Shown, largest
from deniable.core.table import Table
from deniable.errors import InputError
from deniable.estimation.intervals import Method, dispersion_at, intervals
from deniable.estimation.notes.denominators import applies_to_all, stands_on
from deniable.estimation.notes.fewer_than_chance import ALARM, accused, fewer_than_chance, too_few
from deniable.estimation.shown_intervals import none_shown, shown_interval, stated_error, why_none_shown
from deniable.frozen import Frozen, fix, readonly
from deniable.numerics.simplex import norm_sub
from deniable.plotting import DARK, LIGHT, MARK, MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.results import Frame
    from deniable.core.rows import Row
    from deniable.core.summary import Summary
    from deniable.estimation.totals import Totals
    from deniable.likelihood.covariance_operator import Dispersion
    from deniable.likelihood.efficient_estimate import Efficient


_BELOW = (
    "The whole interval lies below 0%, so none is shown. Respondents may not have answered as they were asked, or "
    f"reports were made up: of honest surveys, fewer than 1 in {1 / ALARM:,.0f} come to this."
)
_MISSES = 5e-4  # of a sum of one: what is not rounding in shares that are shown
_LABEL = 32  # letters in a line beside an axis


@dataclass(frozen=True, eq=False)
class Estimate(Shown, Frozen):
    """An estimated table.

    What people are shown is one point and one interval a cell, the point in the interval and both between 0 and 1,
    whatever the method: `shown` and `interval(clip=True)`, laid out in `rows`. `unbiased`, `efficient` and
    `interval(clip=False)` are not clipped. `values` and `interval()` are what is shown, but for method "inversion",
    which is asked for by name: its values are the unbiased ones.

    Attributes:
        table: the estimate by the method that was chosen.
        unbiased: the inverse of the reports that cover the table, whatever the method; its cells may be negative, and
            those of sets (hashes, unary reports), where each is counted by itself, need not sum to one.
        dispersion: the covariance of the unbiased estimate, as an operator.
        n: how many reports covered the table.
        method: the name of the method.
        reason: why this method, and what it did, in words.
        warnings: what a reader must know.
        labels: the survey's words, in which tables and charts are shown.
        gap: how many nats the likelihood of `table` is short of the best at most, where that is how it was made.
        origin: whether its reports are simulated, or a pilot's.
    """

    table: Table
    unbiased: Table
    dispersion: Dispersion
    n: int
    method: str
    reason: str
    warnings: tuple[str, ...] = ()
    pooled: Efficient | None = None  # from all reports; None where only those that cover the table could be used
    labels: Labels = UNKNOWN
    gap: float | None = None
    origin: Origin = PEOPLE

    def __post_init__(self) -> None:
        super().__post_init__()
        fix(self, table=self.table.coming_from(self.origin), unbiased=self.unbiased.coming_from(self.origin))

    @property
    def values(self) -> NDArray[np.float64]:
        """The table's numbers."""
        return self.table.values

    @cached_property
    def shown(self) -> NDArray[np.float64]:
        """The numbers that people are shown: the table's, or of "inversion" the nearest that are not negative."""
        return self.values if self.is_clipped else readonly(norm_sub(self.values))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the table's axes."""
        return self.table.attributes

    @cached_property
    def efficient(self) -> Table:
        """The estimate from every report that speaks of the table, nothing clipped: errors and intervals are its own.

        Where only the reports that cover the table could be used, it is the unbiased one; `reason` says so.
        """
        return (
            self.unbiased
            if self.pooled is None
            else Table(self.table.domain, self.pooled.values, self.table.backend, self.origin)
        )

    @property
    def used(self) -> tuple[str, ...]:
        """Which reports the efficient estimate stands on, a line for every group of them."""
        if self.pooled is not None:
            return self.pooled.evidence.used
        return tuple(f"{s.observation!r}"[1:-1] for s in self.dispersion.samples)

    @property
    def stands_on(self) -> str:
        """How many reports it stands on, and how many were about something else, in words."""
        evidence = None if self.pooled is None else self.pooled.evidence
        return stands_on(self.n, self.attributes, evidence, self.origin)

    @cached_property
    def std_error(self) -> NDArray[np.float64]:
        """Standard errors of the efficient cells.

        Of a cell below 0 or above 1 it is what it would be at that end: reports that are all alike do not show how they
        vary. Nor does it contradict the interval that is shown: see `stated_error`.
        """
        cells = self.efficient.values
        outside = (cells < 0) | (cells > 1)
        there = self._variances_at(np.clip(cells, 0.0, 1.0)) if outside.any() else 0.0
        found = np.sqrt(np.where(outside, there, self.covariance.variances))
        # Where no interval is shown, the unclipped one still says how far the noise reaches.
        unclipped = self.interval(clip=False)
        wide = stated_error(found, (unclipped.low + unclipped.high) / 2, unclipped, self.covariance.df)
        shown = self.interval(clip=True)
        stated = stated_error(found, self.shown, shown, self.covariance.df)
        return readonly(np.where(np.isnan(shown.low), wide, stated))

    def _variances_at(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the variance of each cell would be if that were the cell's true share."""
        if self.pooled is not None:
            return self.pooled.variances_at(values)
        return dispersion_at(self.dispersion, values)

    @property
    def covariance(self) -> Dispersion | Efficient:
        """The covariance of the efficient cells, as an operator: `@`, `quadratic(w)`, `matrix()`."""
        return self.dispersion if self.pooled is None else self.pooled

    def interval(
        self,
        level: float = 0.95,
        method: Method = "wilson",
        *,
        clip: bool | None = None,
        simultaneous: bool = False,
        replicates: int = 9999,
        source: Source = SECURE,
    ) -> Interval:
        """Confidence intervals for the cells.

        Each holds its cell with the given level; all of them at once when `simultaneous`. "wilson" is the score
        interval, which for one question through k-RR is Wilson's. "clopper_pearson", "profile" and "bootstrap" look at
        the reports that cover the table alone; the last two arguments are those of "bootstrap".

        They are what 0 to 1 leaves of the interval around the efficient estimate, stretched to `shown`. Where it
        leaves nothing the ends are NaN, and `notes` says what that means. With `clip=False` they are not clipped, and
        belong to the efficient estimate; by default so for method "inversion", whose values are not clipped either.
        """
        found = intervals(
            self.unbiased.values,
            self.dispersion,
            level,
            method,
            pooled=self.pooled,
            simultaneous=simultaneous,
            replicates=replicates,
            source=source,
        )
        if not (self.is_clipped if clip is None else clip):
            return found
        return shown_interval(found, self.shown)

    @property
    def is_clipped(self) -> bool:
        """Whether the method keeps shares between 0 and 1; all do but "inversion"."""
        return self.method != "inversion"

    def totals(self, population: float | None = None) -> Totals:
        """How many people there are in each cell, with their errors.

        Args:
            population: how many there are altogether; by default the sum of the survey weights, with its own error.
        """
        from deniable.estimation.totals import totals

        return totals(self, population)

    def project(self, attributes: str | Iterable[str]) -> Table:
        """Sum the estimated table down to some attributes (for their errors, estimate them directly)."""
        return self.table.project(attributes)

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """What is told of every cell, wherever an estimate is shown: in text, frames, JSON, CSV, pages and scripts."""
        interval, unclipped = self.interval(level, clip=True), self.interval(level, clip=False)
        numbers = {
            "estimate": self.shown,
            "std_error": self.std_error,
            "low": interval.low,
            "high": interval.high,
            "unbiased": self.unbiased.values,
            "efficient": self.efficient.values,
            "unclipped_low": unclipped.low,
            "unclipped_high": unclipped.high,
        }
        reasons = why_none_shown(unclipped)
        return rows_of(self.table.cells(), self.n, numbers, reasons=reasons, stamp=self.origin.stamp)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the estimate as a data frame: a row a cell."""
        return frame(self.attributes, self.rows(level), self.table.backend)

    @property
    def details(self) -> str:
        """How it was made, for whoever wants to know exactly."""
        return f"method {self.method}: {self.reason}"

    def _detailed(self) -> list[str]:
        return [f"Details: {self.details}."]

    def notes(self, level: float = 0.95, *, looked_at: int = 1) -> list[str]:
        """What it stands on and what to keep in mind, a sentence each; `looked_at` tables are looked at together."""
        told = [f"{self.stands_on}."]
        return [*told, *applies_to_all([self.table.domain]), *self._of_range(level, looked_at), *self.warnings]

    def _of_range(self, level: float, looked_at: int = 1) -> list[str]:
        """What to keep in mind where the noise led out of 0 to 1."""
        negative = int((self.efficient.values < 0).sum())
        raw: list[str] = []
        if not self.is_clipped:
            below, together = f"{negative} of {self.values.size} unbiased cells are negative", float(self.values.sum())
            raw = [f"{below}: the truth there is near zero and the noise fell below it."] if negative else []
            if abs(together - 1) > _MISSES:
                apart = f"The unbiased cells sum to {together:.1%}: reports are sets, and inversion counts who holds"
                raw.append(f"{apart} each cell by itself.")
        if not negative:
            return raw
        cells = [", ".join(cell) for cell in zip(*self.labels.cells(self.table.cells()).values(), strict=True)]
        unclipped = self.interval(level, clip=False)
        pvalues = np.where(unclipped.high < 0, self._fewer_than_chance, 1.0)
        few = [cells[cell] for cell in too_few(pvalues, looked_at * len(cells))]
        return [*raw, *self._accused(pvalues, looked_at * len(cells)), *none_shown(cells, unclipped, few)]

    @cached_property
    def _fewer_than_chance(self) -> NDArray[np.float64]:
        """The p-value of every cell; 1 where no independent respondents were counted: of pairs, and by weights."""
        if not self.dispersion.are_counts:
            return readonly(np.ones(self.table.shape))
        counted = [sample.observation for sample in self.dispersion.samples]
        return readonly(fewer_than_chance(counted, self.table.domain))

    def _accused(self, pvalues: NDArray[np.float64], looked_at: int) -> tuple[str, ...]:
        """What to say of cells of which fewer reports came than chance alone explains."""
        return accused(pvalues, self.table.domain, looked_at, _BELOW)

    def summary(self, level: float = 0.95) -> Summary:
        """The estimate as it is shown everywhere: a row a cell, and what to keep in mind."""
        cells = self.labels.cells(self.table.cells())
        told = [*self.notes(level), *self._detailed()]
        asked = self.labels.asked(self.attributes)
        return of_shares(cells, self.rows(level), level, told, asked)

    def __repr__(self) -> str:
        return f"<Estimate of {' x '.join(self.attributes)}: {self.values.size} cells, {self.n} reports, {self.method}>"

    def true_shares(self, truth: Table) -> NDArray[np.float64]:
        """What a known table says of these cells: of those who were asked, where not everybody was."""
        known = truth.project(self.attributes)
        each = self.table.domain.values()
        codes = [[known.domain[one.name].code(category) for category in one.categories] for one in each]
        shares = known.values[np.ix_(*codes)]
        return np.asarray(shares / shares.sum())

    def plot(
        self, ax: Axes | None = None, *, truth: Table | None = None, level: float = 0.95, top: int = MOST_ROWS
    ) -> Axes:
        """Draw every cell with its interval; the truth beside it where it is known (in a simulation).

        Of more than `top` cells, only the largest are drawn, and the axis says so.
        """
        shown = largest(self.shown, top)
        cells = zip(*self.labels.cells(self.table.cells()).values(), strict=True)
        named = [fill(", ".join(cell), _LABEL) for cell in cells]
        ax = axes(ax, rows=len(shown))
        interval, rows = self.interval(level, clip=True), np.arange(len(shown))
        ax.barh(rows, self.shown.ravel()[shown], color=LIGHT, label=f"estimate ({self.method})")
        low, high = interval.low.ravel()[shown], interval.high.ravel()[shown]
        ax.hlines(rows, low, high, color=DARK, label=f"{level:.0%} interval")
        if truth is not None:
            if not isinstance(truth, Table):
                raise InputError(
                    f"the truth is a table, not {type(truth).__name__}: Table.count(people, domain) counts one, and "
                    f"Table(domain, shares) takes the shares as they are"
                )
            shares = self.true_shares(truth).ravel()[shown]
            ax.plot(shares, rows, "o", color=MARK, label="truth")
        ax.set_yticks(rows, [named[cell] for cell in shown], parse_math=False)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        cut = f" (the {len(shown)} largest of {len(named)})" if len(shown) < len(named) else ""
        ax.set_xlabel(f"share of respondents{cut}")
        ax.set_ylabel(", ".join(self.attributes))
        legend(ax, self.labels.asked(self.attributes))
        return ax

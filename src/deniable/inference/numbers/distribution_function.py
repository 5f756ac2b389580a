"""The distribution function of an ordered attribute, with bands that hold all of it at once.

F_j is the share of those who answered at most category j. Where a band must hold every F_j at once, the critical value
is that of the largest of the standardised errors, whose correlations are known: it is smaller than Bonferroni's,
because neighbouring points err together. And since F never falls, a bound of one point is one of its neighbours too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.randomness import Seeded
from deniable.core.results import Interval, axes, legend
from deniable.core.rows import frame, of_shares, rows_of
from deniable.core.summary import Shown, Summary, stamp_of
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.shown_intervals import shown_interval, stated_error
from deniable.frozen import Frozen, readonly
from deniable.inference.numbers.functionals_of_reports import Known, Options, Told, lifted, only
from deniable.inference.numbers.ordered_attribute import Ordered, Scores, ordered
from deniable.plotting import DARK, LIGHT, MARK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.results import Frame
    from deniable.core.rows import Row
    from deniable.core.table import Table
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected

    Array = NDArray[np.float64]

_DRAWS = 1 << 14  # of the largest error: its 95% point is then known to about 1%


@dataclass(frozen=True, eq=False)
class Distribution(Shown, Frozen):
    """A distribution function.

    Attributes:
        read: the attribute and its order.
        values: the share up to each category but the last, from the estimate without negative cells: it never falls.
        efficient: the same from the efficient estimate: unbiased, and what errors and bands belong to.
        told: the errors.
        known: what it was made of.
        notes: what a reader must know besides.
    """

    read: Ordered
    values: Array
    efficient: Array
    told: Told
    known: Known
    notes: tuple[str, ...] = ()

    @property
    def at(self) -> Array | list[Any]:
        """Where the points lie: upper edges of bins, else categories."""
        return self.read.labels[:-1] if self.read.edges is None else self.read.edges[1:-1]

    @property
    def std_error(self) -> Array:
        """Standard errors of the efficient points; of one outside of 0 to 1 as it would be at that end.

        None contradicts the point's interval: see `stated_error`.
        """
        kept = np.clip(self.told.values, 0.0, 1.0)
        found = np.where(kept == self.told.values, self.told.std_error, self.told.error_at(kept))
        return stated_error(found, self.values, self.interval(simultaneous=False), self.known.df)

    @cached_property
    def correlation(self) -> Array:
        """How the points err together."""
        error = np.where(self.told.std_error > 0, self.told.std_error, 1.0)
        return readonly(self.told.covariance / np.outer(error, error))

    def critical_value(self, level: float) -> float:
        """What the largest of the standardised errors stays below with this probability."""
        count, miss = len(self.values), 1 - level
        if count == 1:
            return critical_value(miss, self.known.df)
        if np.isfinite(self.known.df):
            return critical_value(miss / count, self.known.df)  # a survey's clusters: Bonferroni
        if not 0 < level < 1:
            raise InputError(f"a confidence level lies between 0 and 1, not {level!r}", level=level)
        scale, vectors = np.linalg.eigh(self.correlation)
        root = vectors * np.sqrt(np.maximum(scale, 0.0))
        # Always the same draws: a band does not change when it is looked at again.
        drawn = Seeded(0).stream().generator().standard_normal((_DRAWS, count))
        return float(np.quantile(np.abs(drawn @ root.T).max(axis=1), level))

    def interval(self, level: float = 0.95, *, simultaneous: bool = True, clip: bool = True) -> Interval:
        """A band that holds the whole function with this probability, or, not `simultaneous`, each point by itself.

        It is what 0 to 1 leaves of it, stretched to `values`; with `clip=False` it belongs to `efficient`.
        """
        z = self.critical_value(level) if simultaneous else critical_value(1 - level, self.known.df)
        low, high = (end + self._shift for end in self.told.interval(z**2))
        if simultaneous:  # F never falls, so what bounds one point bounds those beside it
            low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        how = "score interval" if self.known.pooled is not None else "normal interval"
        found = Interval(low, high, level, f"{how}, simultaneous" if simultaneous else how)
        return shown_interval(found, self.values) if clip else found

    @cached_property
    def _shift(self) -> Array:
        # Where some stand aside, the functionals told are deviations from the value.
        return readonly(self.efficient - self.told.values)

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """What is told of every point."""
        band = self.interval(level)
        numbers = {"estimate": self.values, "efficient": self.efficient, "std_error": self.std_error}
        numbers |= {"low": band.low, "high": band.high}
        return rows_of(self._places(), self.known.n, numbers, stamp=stamp_of(self.notes))

    def _places(self) -> dict[str, list[Any]]:
        heading = f"{self.read.variable.name} {'at most' if self.read.edges is None else 'below'}"
        return {heading: list(self.at) if isinstance(self.at, list) else self.at.tolist()}

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the function as a data frame: a row a point."""
        numbers = ("estimate", "efficient", "std_error", "low", "high")
        return frame([*self._places()], self.rows(level), numbers=numbers)

    def summary(self, level: float = 0.95) -> Summary:
        """A row a point, and what to keep in mind."""
        told = f"Shares up to each category, from {self.known.n} reports; the intervals hold all of them at once, with "
        notes = [f"{told}probability {level:.0%}."]
        notes += self.known.left_out(self.read)
        return of_shares(self._places(), self.rows(level), level, [*notes, *self.known.warnings, *self.notes])

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, truth: Table | None = None) -> Axes:
        """Draw the function with its band; the truth beside it where it is known (in a simulation)."""
        ax = axes(ax, size=(6.4, 3.8))
        band = self.interval(level)
        x = np.arange(len(self.values), dtype=np.float64) if isinstance(self.at, list) else self.at
        shown = list(self.at) if isinstance(self.at, list) else [f"{edge:g}" for edge in self.at]
        how = "mid" if isinstance(self.at, list) else None
        ax.fill_between(x, band.low, band.high, step=how, color=LIGHT, label=f"{level:.0%} band")  # type: ignore[arg-type]
        ax.plot(x, self.values, "o-" if how is None else "o", color=DARK, label="estimate")
        if truth is not None:
            shares = truth.project(self.read.variable.name).normalize().values[self.read.places]
            ax.plot(x, np.cumsum(shares / shares.sum())[:-1], "x", color=MARK, label="truth")
        step = max(1, len(shown) // 12)
        ax.set_xticks(x[::step], [str(label) for label in shown[::step]], parse_math=False)
        ax.set_xlabel(self.read.variable.name, parse_math=False)
        ax.set_ylabel(f"share {'at most' if self.read.edges is None else 'below'}")
        legend(ax)
        return ax


@stamped
def cdf(
    source: Estimate | Collected,
    attribute: str | None = None,
    *,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    **options: Unpack[Options],
) -> Distribution:
    """The distribution function of an ordered or numeric attribute, with a band that holds all of it at once.

    Arguments as for `mean`; here it suffices that categories have an order, by default that in which they are listed.

    >>> import deniable as dn
    >>> found = cdf(dn.Observation("trust", dn.KRR(3, 1.0), [400, 250, 350]), "trust")
    >>> found.values.round(3).tolist(), found.std_error.round(3).tolist()
    ([0.516, 0.621], [0.043, 0.041])
    """
    known, variable = only(source, attribute, options)
    read = ordered(variable, scores, edges)
    steps = read.steps()
    table = known.table.sum(axis=tuple(i for i, name in enumerate(known.domain) if name != variable.name))
    shares = steps.T @ table
    if shares[-1] <= 0:
        raise InputError(
            f"the estimate has nobody who answered {variable.name!r} with a number", attribute=variable.name
        )
    along = lifted(known.domain, variable.name, steps)
    inner = along[:, 1:-1]
    told = known.tell(inner)
    efficient = told.values
    if read.aside:
        all_told = known.tell(along[:, -1:]).values[0]
        efficient = told.values / all_told
        told = known.tell((inner - along[:, -1:] * efficient) / all_told)
    return Distribution(read, readonly(shares[1:-1] / shares[-1]), readonly(efficient), told, known)

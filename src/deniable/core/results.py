"""What results have in common: how they show themselves, and the two smallest of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.core.summary import Shown, Summary, number
from deniable.frozen import Frozen
from deniable.plotting import DARK, LIGHT, MARK, axes, intervals_by_row, legend, panels, pyplot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = [
    "Frame",
    "Interval",
    "TestResult",
    "axes",
    "backend_of",
    "frame_of",
    "intervals_by_row",
    "legend",
    "panels",
    "pyplot",
]


class Frame(Protocol):
    """A data frame of the library that the user came with, else a pyarrow table; what all of these can do.

    It is a frame wherever this package or narwhals takes one. To use what only one library has, say which it is:
    `assert isinstance(frame, pandas.DataFrame)`.
    """

    @property
    def columns(self) -> Any:
        """The columns, or their names."""
        ...

    def __getitem__(self, name: Any, /) -> Any: ...

    def __len__(self) -> int: ...

    def drop(self, *args: Any, **kwargs: Any) -> Any:
        """Leave columns out."""
        ...

    def join(self, *args: Any, **kwargs: Any) -> Any:
        """Join another frame."""
        ...


def frame_of(columns: Mapping[str, Any], backend: Any = None) -> Frame:
    """Make a data frame: of the library named by `backend` (what the user came with), else a pyarrow table."""
    import narwhals as nw
    import pyarrow as pa

    table: Frame = pa.table(dict(columns))
    if backend is None or backend == "pyarrow":
        return table
    return nw.from_arrow(table, backend=backend).to_native()


def backend_of(frame: Any) -> str:
    """Name the data frame library of a frame, as `frame_of` takes it."""
    import narwhals as nw

    return str(nw.from_native(frame, eager_only=True).implementation.value)


@dataclass(frozen=True, eq=False)
class Interval(Shown, Frozen):
    """Lower and upper ends of confidence intervals, shaped like the table they belong to.

    Ends are not clipped to [0, 1]: an interval that reaches below zero says how far the noise reaches.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    method: str

    def contains(self, values: Any) -> NDArray[np.bool_]:
        """Tell for every cell whether the interval holds the value."""
        return (self.low <= values) & (values <= self.high)

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        # So that `low, high = estimate.interval()` reads as it is meant.
        return iter((self.low, self.high))

    def summary(self) -> Summary:
        """Every interval, a row a cell."""
        columns: dict[str, list[Any]] = {
            "cell": [", ".join(map(str, place)) for place in np.ndindex(np.shape(self.low))],
            "low": [float(end) for end in np.ravel(self.low)],
            "high": [float(end) for end in np.ravel(self.high)],
        }
        return Summary(columns, title=f"{self.level:.0%} intervals, {self.method}")

    def __repr__(self) -> str:
        return f"<Interval: {np.size(self.low)} at {self.level:.0%}, {self.method}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every interval, a row a cell."""
        cells = self.summary().columns["cell"]
        return intervals_by_row(
            cells, None, (self.low, self.high), ax, of="value", level=self.level, reference=None, title=self.method
        )


@dataclass(frozen=True)
class TestResult(Shown, Frozen):
    """The outcome of a hypothesis test.

    Attributes:
        statistic: the value of the test's statistic.
        pvalue: the probability, were the hypothesis true, of a statistic at least this large.
        df: degrees of freedom, where the reference distribution has them.
        method: the test's name, in words.
        notes: what a reader must know to use the result.
        simulated: the statistics drawn under the hypothesis, where the reference was simulated.
    """

    __test__ = False  # not a test case, whatever pytest thinks of the name

    statistic: float
    pvalue: float
    df: float | None
    method: str
    notes: tuple[str, ...] = ()
    simulated: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def summary(self) -> Summary:
        """The test in one row."""
        columns: dict[str, list[Any]] = {
            "test": [self.method],
            "statistic": [self.statistic],
            "df": ["" if self.df is None else self.df],
            "p-value": [self.pvalue],
        }
        return Summary(columns, self.notes)

    def plot(self, ax: Axes | None = None, *, alpha: float = 0.05) -> Axes:
        """Draw the statistic against what it would be were the hypothesis true, with the part that rejects at `alpha`.

        The reference is what was simulated, else the chi-square law where the p-value is its tail. Where neither is
        known (or the statistic is infinite), the p-value itself is drawn against `alpha`.
        """
        ax = axes(ax, size=(6.4, 3.4))
        if self.simulated is not None and len(self.simulated) and math.isfinite(self.statistic):
            self._plot_simulated(ax, self.simulated, alpha)
        elif self._is_chi_square():
            self._plot_chi_square(ax, alpha)
        else:
            self._plot_pvalue(ax, alpha)
        ax.margins(y=0)
        legend(ax, f"{self.method}: p = {self.pvalue:.3g}")
        return ax

    def _is_chi_square(self) -> bool:
        from scipy.stats import chi2

        known = self.df is not None and self.df > 0 and math.isfinite(self.statistic)
        return known and math.isclose(float(chi2.sf(self.statistic, self.df)), self.pvalue, rel_tol=1e-6)

    def _plot_simulated(self, ax: Axes, simulated: NDArray[np.float64], alpha: float) -> None:
        critical = float(np.quantile(simulated, 1 - alpha))
        last = max(float(simulated.max()), self.statistic, critical) or 1.0
        edges = np.linspace(0, last * 1.02, 41) if simulated.min() >= 0 else np.histogram_bin_edges(simulated, 40)
        heights, _ = np.histogram(simulated, edges)
        colours = [DARK if edge >= critical else LIGHT for edge in edges[:-1]]
        told = f"under the hypothesis ({len(simulated)} draws)"
        ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=colours, label=told)
        ax.set_ylabel("how many")
        self._observed(ax, critical, alpha)

    def _plot_chi_square(self, ax: Axes, alpha: float) -> None:
        from scipy.stats import chi2

        critical = float(chi2.isf(alpha, self.df))
        last = max(float(chi2.isf(1e-4, self.df)), self.statistic * 1.05)
        # The density of one degree of freedom has no end at zero.
        x = np.linspace(last / 400, last, 400)
        density = chi2.pdf(x, self.df)
        ax.plot(x, density, color=DARK, label=f"chi-square, {self.df:g} df")
        ax.fill_between(x, density, where=x >= critical, color=LIGHT)
        ax.set_ylim(0, 1.1 * float(density[x >= min(0.3, critical)].max()))
        ax.set_ylabel("density")
        self._observed(ax, critical, alpha)

    def _observed(self, ax: Axes, critical: float, alpha: float) -> None:
        ax.axvline(critical, color="black", linestyle=":", label=f"rejects beyond (level {alpha:g})")
        ax.axvline(self.statistic, color=MARK, linewidth=2, label=f"observed {number(float(self.statistic))}")
        ax.set_xlabel("statistic")

    def _plot_pvalue(self, ax: Axes, alpha: float) -> None:
        ax.axvspan(0, alpha, color=LIGHT, label=f"rejects (level {alpha:g})")
        ax.plot([self.pvalue], [0], "o", color=MARK, markersize=10, clip_on=False, label="observed")
        ax.set_xlim(0, 1)
        ax.set_ylim(-1, 1)
        ax.set_yticks([])
        ax.set_xlabel("p-value")

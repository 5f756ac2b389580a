"""A smoothed density: what the shares of neighbouring bins tell about each other.

Shares of many narrow bins are noisy one by one. If the density is smooth, its heights h (share / width) change little
from bin to bin. The smoothed heights minimise

    (e - W h)' C^-1 (e - W h) + lambda |D h|^2,     sum of the shares one,

with e the efficient shares, C their covariance, W the widths and D second differences over the bins' middles. lambda
is the one under which the reports are most likely when D h is taken to be normal with variance 1 / lambda (the
restricted likelihood): with much noise it is large. The result is smoothed, so it is biased where the density bends
sharply; errors are those of h given lambda.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import Interval, axes, frame_of, legend
from deniable.core.summary import Shown, Summary, stamped_columns
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.frozen import Frozen, readonly
from deniable.inference.numbers.functionals_of_reports import Options, lifted, only
from deniable.inference.numbers.ordered_attribute import Ordered, Scores, ordered
from deniable.numerics.simplex import norm_sub
from deniable.plotting import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.results import Frame
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected

    Array = NDArray[np.float64]

_FEWEST = 4  # bins below which there is nothing to smooth


@dataclass(frozen=True, eq=False)
class Density(Shown, Frozen):
    """A smoothed density.

    Attributes:
        read: the attribute and its order.
        edges: of the bins.
        heights: share per unit in every bin; never negative, and the shares sum to one.
        std_error: of the heights.
        rough: the heights before smoothing.
        left_out: how many respondents take no part, where some do not, and what else a reader must know.
        penalty: lambda, relative to how rough the reports are; larger is smoother.
        n: how many reports.
        df: degrees of freedom behind the errors; infinite but for a survey's clusters.
    """

    read: Ordered
    edges: Array
    heights: Array
    std_error: Array
    rough: Array
    penalty: float
    n: int
    df: float = np.inf
    left_out: tuple[str, ...] = ()

    @cached_property
    def shares(self) -> Array:
        """The smoothed share of every bin."""
        return readonly(self.heights * np.diff(self.edges))

    def interval(self, level: float = 0.95) -> Interval:
        """Pointwise intervals of the heights, given how much was smoothed."""
        half = critical_value(1 - level, self.df) * self.std_error
        return Interval(self.heights - half, self.heights + half, level, "normal interval, smoothed")

    def _columns(self, level: float) -> dict[str, list[Any]]:
        low, high = self.interval(level)
        return {
            self.read.variable.name: [str(label) for label in self.read.labels],
            "density": self.heights.tolist(),
            "unsmoothed": self.rough.tolist(),
            "std_error": self.std_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the density as a data frame: a row a bin."""
        return frame_of(stamped_columns(self._columns(level), self.left_out))

    def summary(self, level: float = 0.95) -> Summary:
        """A row a bin, and what to keep in mind."""
        note = (
            f"Share per unit, from {self.n} reports, smoothed: neighbouring bins are taken to be alike, as far as the "
            f"reports suggest it. Where the density bends sharply it is too flat."
        )
        return Summary(self._columns(level), (note, *self.left_out), title=f"density of {self.read.variable.name}")

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the density with its intervals, and the unsmoothed heights as steps."""
        ax = axes(ax, size=(6.4, 3.8))
        low, high = self.interval(level)
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        ax.stairs(self.rough, self.edges, color=LIGHT, label="unsmoothed")
        ax.fill_between(middle, low, high, color=LIGHT, alpha=0.5, label=f"{level:.0%} interval")
        ax.plot(middle, self.heights, color=DARK, label="smoothed")
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xlabel(self.read.variable.name, parse_math=False)
        ax.set_ylabel("share per unit")
        legend(ax)
        return ax


@stamped
def density(
    source: Estimate | Collected,
    attribute: str | None = None,
    *,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    **options: Unpack[Options],
) -> Density:
    """A smoothed density of a numeric attribute with at least four categories. Arguments as for `mean`.

    Points are taken for bins that reach half way to their neighbours.
    """
    known, variable = only(source, attribute, options)
    read = ordered(variable, scores, edges)
    bounds = _bounds(read)
    count = len(read.places)
    if count < _FEWEST:
        raise InputError(
            f"{variable.name!r} has {count} categories that count; a density is smoothed over {_FEWEST} or more",
            attribute=variable.name,
        )
    columns = np.zeros((len(variable), count))
    columns[read.places, np.arange(count)] = 1.0
    told = known.tell(lifted(known.domain, variable.name, columns))
    whole = float(told.values.sum())
    shares, cov = told.values / whole, told.covariance / whole**2
    width = np.diff(bounds)
    smooth, spread, penalty = _smoothed(shares, cov, width, _differences(bounds))
    return Density(
        read,
        readonly(bounds),
        readonly(norm_sub(smooth * width) / width),
        readonly(spread),
        readonly(shares / width),
        penalty,
        known.n,
        known.df,
        (*known.left_out(read), *known.warnings),
    )


def _bounds(read: Ordered) -> Array:
    if read.edges is not None:
        if not np.isfinite(read.edges).all():
            raise InputError(
                f"the first or last bin of {read.variable.name!r} has no end: give edges=, all of them finite",
                attribute=read.variable.name,
            )
        return read.edges
    sizes = read.sizes()
    if not (np.diff(sizes) > 0).all():
        raise InputError(f"two categories of {read.variable.name!r} have the same score; a density needs them apart")
    half = (sizes[1:] + sizes[:-1]) / 2
    return np.concatenate([[2 * sizes[0] - half[0]], half, [2 * sizes[-1] - half[-1]]])


def _differences(bounds: Array) -> Array:
    """Second differences of the heights over the bins' middles, on a scale of one bin."""
    middle = (bounds[:-1] + bounds[1:]) / 2 / np.diff(bounds).mean()
    rows = np.zeros((len(middle) - 2, len(middle)))
    for i in range(len(rows)):
        one, two = middle[i + 1] - middle[i], middle[i + 2] - middle[i + 1]
        rows[i, i : i + 3] = 1 / one, -1 / one - 1 / two, 1 / two
    return rows


def _smoothed(shares: Array, cov: Array, width: Array, rows: Array) -> tuple[Array, Array, float]:
    """Heights, their errors and lambda. Everything in the space of shares that sum to one.

    With a basis B of the vectors that sum to zero, shares = even + B x; x has the information B' C^-1 B.
    """
    count = len(shares)
    basis = np.linalg.svd(np.ones((1, count)))[2][1:].T
    even = width / width.sum()
    inside = basis.T @ cov @ basis
    information = np.linalg.pinv(inside, rcond=1e-10, hermitian=True)
    rough = (rows / width) @ basis
    offset = (rows / width) @ even  # zero for the flat density, which is not rough
    found = basis.T @ (shares - even)
    # In coordinates where the information is one and the roughness diagonal, everything is a sum over them.
    values, vectors = np.linalg.eigh(inside)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    bend, turn = np.linalg.eigh(root.T @ rough.T @ rough @ root)
    bend = np.maximum(bend, 0.0)
    x = turn.T @ (np.linalg.pinv(root, rcond=1e-8) @ found)
    told = bend > 1e-10 * max(float(bend.max()), 1e-300)
    grid = np.logspace(-6, 8, 281) / max(float(np.median(bend[told])), 1e-300)

    def unlikely(penalty: float) -> float:
        shrunk = penalty * bend[told]
        return float((x[told] ** 2 * shrunk / (1 + shrunk) - np.log(shrunk / (1 + shrunk))).sum())

    penalty = float(min(grid, key=unlikely))
    total = information + penalty * rough.T @ rough
    solved = np.linalg.solve(total, information @ found - penalty * rough.T @ offset)
    heights = (even + basis @ solved) / width
    errors = basis @ np.linalg.inv(total) @ basis.T / np.outer(width, width)
    return heights, np.sqrt(np.maximum(np.diag(errors), 0.0)), penalty

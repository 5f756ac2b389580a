"""Plots: axes in one style, dots with their intervals as most results draw them, and epsilons beside each other.

The style itself is `figures.mplstyle`, beside this file. Axes that the caller brings are drawn on as they are.
"""

from __future__ import annotations

import math
import textwrap
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from matplotlib import RcParams
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

DARK, MARK, LIGHT, GREY = "#08519c", "#d94801", "#9ecae1", "#636363"  # as in the style: what is found, what to notice
_WIDTH, _ROW, _AROUND = 6.4, 0.34, 1.4  # inches: of a figure, of a row in it, of its axis and legend
_LEAST_HEIGHT, _MOST_HEIGHT = 2.4, 20.0
MOST_ROWS = 40  # beyond that nobody reads labels
_LEGEND, _TITLE = 36, 54  # letters in a line of a legend, of a title
_MARKERS = "sDv"


def pyplot() -> ModuleType:
    """Import matplotlib when a plot is asked for, and say how to install it when it is absent."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed: pip install 'deniable[plot]'", extra="plot"
        ) from None
    return plt


def style() -> RcParams:
    """The settings of `figures.mplstyle`."""
    import matplotlib as mpl

    path = files("deniable").joinpath("figures.mplstyle")
    return mpl.rc_params_from_file(str(path), use_default_template=False)


def axes(ax: Axes | None = None, *, rows: int | None = None, size: tuple[float, float] | None = None) -> Axes:
    """The axes to draw on: those given, or new ones in the package's style, high enough for so many rows."""
    if ax is not None:
        return ax
    height = 4.0 if rows is None else min(max(_LEAST_HEIGHT, _AROUND + _ROW * rows), _MOST_HEIGHT)
    (made,) = panels(None, 1, size=size or (_WIDTH, height))
    return made


def panels(given: Sequence[Axes] | None, count: int, *, size: tuple[float, float]) -> Sequence[Axes]:
    """So many axes beside each other, with one scale: those given, or new ones in the package's style."""
    if given is not None:
        return given
    plt = pyplot()
    # Only what the style sets is put back. The first figure of a session loads matplotlib's back end, which turns
    # drawing in notebooks on; `rc_context` would put back that as well, and no later figure would appear.
    wanted = style()
    before = {name: plt.rcParams[name] for name in wanted}
    plt.rcParams.update(wanted)
    try:
        made = plt.subplots(1, count, sharey=True, squeeze=False, layout="constrained", figsize=size)[1]
    finally:
        plt.rcParams.update(before)
    return tuple(made[0])


def intervals_by_row(
    labels: Sequence[object],
    values: ArrayLike | None,
    ends: tuple[ArrayLike, ArrayLike],
    ax: Axes | None = None,
    *,
    of: str,
    level: float = 0.95,
    name: str = "estimate",
    reference: float | None = 0.0,
    beside: Mapping[str, ArrayLike] | None = None,
    title: str = "",
    bars: bool = False,
    instead: Mapping[int, str] | None = None,
) -> Axes:
    """Draw a number a row with its interval; what is beyond the first rows is left out, and said to be.

    Args:
        labels: the rows' names.
        values: the numbers; None if there are only intervals.
        ends: the intervals' lower and upper ends. One that is infinite or missing is drawn as far as the axis goes.
        ax: where to draw.
        of: what the axis measures.
        level: of the intervals.
        name: what the numbers are called in the legend.
        reference: where a line marks "nothing"; None for none.
        beside: other numbers for the same rows, by name; NaN where a row has none.
        title: above everything.
        bars: draw the numbers as bars from zero: for shares.
        instead: what stands in the place of a number that is not shown, by its row.
    """
    shown = min(len(labels), MOST_ROWS)
    rows = np.arange(shown)
    ax = axes(ax, rows=shown)
    low, high = (np.ravel(np.asarray(end, dtype=np.float64))[:shown] for end in ends)
    if reference is not None:
        ax.axvline(reference, color="black", linewidth=0.8)
    if values is not None:
        found = np.ravel(np.asarray(values, dtype=np.float64))[:shown]
        if bars:
            ax.barh(rows, found, height=0.7, color=LIGHT, label=name)
        else:
            ax.plot(found, rows, "o", color=DARK, label=name)
        for row in np.flatnonzero(~np.isfinite(found)):
            told = "undefined" if np.isnan(found[row]) else "infinite" if found[row] > 0 else "minus infinite"
            told = (instead or {}).get(int(row), told)
            ax.annotate(told, (0.99, row), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=GREY)
    given = ~np.isnan(low) & ~np.isnan(high)
    if given.any():
        left, right = _edges(ax, low, high)
        starts, stops = np.clip(low[given], left, None), np.clip(high[given], None, right)
        ax.hlines(rows[given], starts, stops, color=DARK, linewidth=1.8, label=f"{level:.0%} interval")
        for endless, edge, marker in ((np.isinf(low), left, "<"), (np.isinf(high), right, ">")):
            ax.plot(np.full(endless.sum(), edge), rows[endless], marker, color=DARK)
    for marker, (called, others) in zip(_MARKERS, (beside or {}).items(), strict=False):
        placed = np.ravel(np.asarray(others, dtype=np.float64))[:shown]
        ax.plot(placed, rows, marker, color=MARK, markerfacecolor="none", label=called)
    ax.set_yticks(rows, [str(label) for label in labels[:shown]], parse_math=False)
    ax.set_ylim(shown - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    more = f" (and {len(labels) - shown} more, not shown)" if len(labels) > shown else ""
    ax.set_xlabel(of + more)
    legend(ax, title)
    return ax


def _edges(ax: Axes, low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    """How far an interval without an end is drawn: a little beyond everything else."""
    ends = np.concatenate([low, high])
    known = [*ends[np.isfinite(ends)].tolist(), *ax.dataLim.intervalx[np.isfinite(ax.dataLim.intervalx)].tolist()]
    least, most = min(known, default=0.0), max(known, default=1.0)
    reach = 0.15 * (most - least) or 1.0
    return least - reach, most + reach


def beliefs(posterior: Callable[[float], float], title: str, ax: Axes | None = None) -> Axes:
    """Draw what a report can do to anybody's belief: from what was believed before to the most and least after it.

    The least follows from the most by symmetry: who believes b in one thing believes 1 - b in its opposite.
    """
    ax = axes(ax, size=(4.6, 4.2))
    before = [step / 200 for step in range(201)]
    most = [posterior(belief) for belief in before]
    least = [1 - posterior(1 - belief) for belief in before]
    (line,) = ax.plot(before, most, label="at most after the report")
    ax.plot(before, least, color=line.get_color(), linestyle="--", label="at least")
    ax.fill_between(before, least, most, color=line.get_color(), alpha=0.12)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, label="unchanged")
    for belief in (0.05, 0.5):
        ax.annotate(
            f"{belief:.0%} to {math.ceil(1000 * posterior(belief)) / 10:.1f}%",  # a promise is rounded up
            (belief, posterior(belief)),
            xytext=(6, -9),
            textcoords="offset points",
            fontsize="small",
        )
        ax.plot([belief], [posterior(belief)], "o", color=line.get_color(), markersize=4)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.set_xlabel("belief before")
    ax.set_ylabel("belief after")
    ax.set_title(title)
    ax.legend(loc="lower right", fontsize="small", frameon=False)
    return ax


def legend(ax: Axes, title: str = "") -> None:
    """Put the legend above the axes, where it hides nothing, with the title over it."""
    handles, labels = ax.get_legend_handles_labels()
    # Three beside each other only where they fit: a wide legend would squeeze the axes.
    columns = 3 if sum(map(len, labels)) <= _LEGEND else 2
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "borderpad": 0}
    told = "\n".join(textwrap.wrap(title, _TITLE))
    made = ax.legend(handles, labels, title=told, ncols=columns, frameon=False, alignment="left", **place)
    made.get_title().set_fontsize("medium")
    for text in (made.get_title(), *made.get_texts()):
        text.set_parse_math(False)  # a category may have dollar signs in it


def epsilons(shown: Sequence[tuple[str, float]], title: str, ax: Axes | None = None) -> Axes:
    """Draw epsilons as bars, a row each; an infinite one runs to the edge and is said to be infinite."""
    ax = axes(ax, size=(6.4, 1.2 + 0.4 * len(shown)))
    finite = [epsilon for _, epsilon in shown if math.isfinite(epsilon)]
    edge = 1.25 * max([*finite, 0.1])
    for row, (_, epsilon) in enumerate(shown):
        is_finite = math.isfinite(epsilon)
        ax.barh([row], [epsilon if is_finite else edge], height=0.6, hatch="" if is_finite else "//")
        place = (epsilon, row) if is_finite else (edge / 2, row)
        inside: dict[str, Any] = {} if is_finite else {"backgroundcolor": "white"}
        ax.annotate(
            f"{epsilon:.4g}" if is_finite else "infinite",
            place,
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            **inside,
        )
    ax.set_yticks(range(len(shown)), [name for name, _ in shown])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, edge)
    ax.set_xlabel("epsilon")
    ax.set_title("\n".join(textwrap.wrap(title, 50)))
    return ax

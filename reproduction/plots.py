"""Pictures of outcomes: curves, heat maps, histograms, the paper's numbers beside ours; and writing them as SVG."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    from reproduction.record import Line

    Draw = Callable[[Axes, Mapping[str, Sequence[Any]]], None]


MOST_LINES = 40  # lines of a comparison that can still be read
_COLOURS = ("#08519c", "#d94801", "#238b45", "#6a51a3", "#636363", "#cb181d", "#41b6c4", "#8c6d31", "#e377c2")
_STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "deniable",
    "text.parse_math": False,
}


def curves(x: str, y: str, by: str, *, log: str = "", error: str | None = None, panel: str | None = None) -> Draw:
    """Make a function that draws column y over column x, a curve for every value of `by`, a panel for every `panel`.

    `log` names the logarithmic axes ("", "x", "y" or "xy"); `error` is a column of bars' half lengths.
    """

    def draw(ax: Axes, data: Mapping[str, Sequence[Any]]) -> None:
        panels = list(dict.fromkeys(data[panel])) if panel else [None]
        names = list(dict.fromkeys(data[by]))
        for axes, shown in zip(split(ax, len(panels)), panels, strict=True):
            for colour, name in zip(_cycle(len(names)), names, strict=True):
                rows = [i for i, value in enumerate(data[by]) if value == name]
                rows = [i for i in rows if panel is None or data[panel][i] == shown]
                at, height = [data[x][i] for i in rows], [data[y][i] for i in rows]
                reach = [data[error][i] for i in rows] if error else None
                axes.errorbar(at, height, yerr=reach, label=name, color=colour, marker="o", markersize=3, capsize=2)
            if "x" in log:
                axes.set_xscale("log")
            if "y" in log:
                axes.set_yscale("log")
            axes.set_xlabel(x)
            axes.set_title("" if shown is None else f"{panel} {shown}", fontsize="medium")
        first = axes.figure.axes[0]
        first.set_ylabel(y)
        axes.figure.legend(
            *first.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize="small"
        )

    return draw


def heat_maps(value: str, panel: str, row: str, column: str) -> Draw:
    """Make a function that draws column `value` over `row` and `column`, a map for every value of `panel`."""

    def draw(ax: Axes, data: Mapping[str, Sequence[Any]]) -> None:
        panels = list(dict.fromkeys(data[panel]))
        most = max(data[value])
        for axes, shown in zip(split(ax, len(panels)), panels, strict=True):
            at = [i for i, name in enumerate(data[panel]) if name == shown]
            rows, columns = (list(dict.fromkeys(data[name][i] for i in at)) for name in (row, column))
            grid = np.array([data[value][i] for i in at]).reshape(len(rows), len(columns))
            image = axes.imshow(grid, vmin=min(0.0, float(grid.min())), vmax=most, cmap="viridis", aspect="auto")
            axes.set_title(shown, fontsize="medium")
            axes.set_xlabel(column)
            axes.set_ylabel(row)
        axes.figure.colorbar(image, ax=axes.figure.axes, shrink=0.8)

    return draw


def histograms(value: str, by: str, panel: str) -> Draw:
    """Make a function that draws histograms of a column, one for every value of `by`."""

    def draw(ax: Axes, data: Mapping[str, Sequence[Any]]) -> None:
        panels, names = (list(dict.fromkeys(data[name])) for name in (panel, by))
        for axes, shown in zip(split(ax, len(panels)), panels, strict=True):
            for colour, name in zip(_cycle(len(names)), names, strict=True):
                both = zip(data[value], data[panel], data[by], strict=True)
                values = [v for v, p, b in both if p == shown and b == name]
                axes.hist(values, bins=20, alpha=0.6, label=name, color=colour)
            axes.set_title(shown, fontsize="medium")
            axes.set_xlabel(value)
        first = axes.figure.axes[0]
        axes.figure.legend(
            *first.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize="small"
        )

    return draw


def comparison(ax: Axes, lines: Sequence[Line]) -> None:
    """The paper's numbers beside ours, a row a line, each as a multiple of the larger of the two."""
    shown = [line for line in lines if line.paper is not None][:MOST_LINES] or list(lines)[:MOST_LINES]
    for place, line in enumerate(shown):
        whole = max(abs(line.ours), abs(line.paper or 0.0)) or 1.0
        ax.plot([line.ours / whole], [place], "o", color=_COLOURS[0], label="" if place else "ours")
        if line.paper is not None:
            ax.plot([line.paper / whole], [place], "x", color=_COLOURS[1], label="" if place else "paper")
    ax.set_yticks(range(len(shown)), [line.what for line in shown], fontsize="x-small", parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(min(0.0, ax.get_xlim()[0]), 1.05)
    ax.set_xlabel("share of the larger of the two")
    ax.legend(frameon=False, fontsize="small")


def split(ax: Axes, count: int) -> list[Axes]:
    """Put panels side by side, at most three in a row, in place of the one that was made."""
    if count == 1:
        return [ax]
    figure = ax.figure
    ax.remove()
    columns = min(count, 3)
    grid = figure.subplots(-(-count // columns), columns, squeeze=False).ravel()
    for empty in grid[count:]:
        empty.remove()
    return list(grid[:count])


def _cycle(count: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(count)]


def written(draw: Callable[[Axes], object], size: tuple[float, float]) -> str:
    """What a function draws on axes, as SVG: the same bytes for the same picture."""
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):
        figure, text = Figure(figsize=size, layout="constrained"), StringIO()
        draw(figure.add_subplot())
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()

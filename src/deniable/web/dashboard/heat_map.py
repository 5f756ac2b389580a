"""Cramer's V of every pair as a heat map: drawn in vectors, each square with its number on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.core.provenance import PEOPLE
from deniable.reporting.charts import drawn, drawn_png

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from deniable.core.provenance import Origin
    from deniable.web.dashboard.page_views import Pair

_ON_LIGHT, _ON_DARK = "#101010", "#fdfdfd"  # on the squares, which are the same by day and by night
_FULL = 0.5  # the V that is drawn darkest: a strong association


def heat_map(rows: Sequence[Pair], kind: str = "svg", origin: Origin = PEOPLE) -> str | bytes:
    """Draw pairs, as an `<svg>` element or the bytes of a PNG file."""
    names = list(dict.fromkeys(name for row in rows for name in row.pair))
    grid = np.full((len(names), len(names)), np.nan)

    def draw(ax: Axes) -> None:
        for row in rows:
            i, j = (names.index(name) for name in row.pair)
            grid[i, j] = grid[j, i] = row.v
            colour = _ON_DARK if row.v > 0.6 * _FULL else _ON_LIGHT
            for x, y in ((i, j), (j, i)):
                told = f"{row.v:.2f}\n{row.stars}".strip()
                ax.text(x, y, told, ha="center", va="center", fontsize=9, color=colour)
        edges = np.arange(len(names) + 1) - 0.5
        ax.pcolormesh(edges, edges, grid, cmap="Blues", vmin=0, vmax=_FULL, edgecolors="white", linewidth=2)
        ax.set_xticks(range(len(names)), names, rotation=40, ha="right")
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(length=0)
        ax.set_aspect("equal")
        ax.set_xlabel(origin.stamp)
        ax.invert_yaxis()
        for side in ax.spines.values():
            side.set_visible(False)

    side = 1.8 + 0.65 * len(names)
    if kind == "png":
        return drawn_png(draw, size=(side, side))
    return drawn(draw, origin.titled("Cramer's V of every pair of questions."), size=(side, side))

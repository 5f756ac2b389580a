"""The picture of a fitted regression: its coefficients with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.core.results import intervals_by_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.core.summary import Summary


def plot_coefficients(summary: Summary, level: float, ax: Axes | None = None) -> Axes:
    """Draw every coefficient with its interval; the intercept says nothing about a predictor and is left out."""
    terms, values, *_, low, high = summary.columns.values()
    kept = [i for i, term in enumerate(terms) if not str(term).endswith("Intercept")] or list(range(len(terms)))
    some = [[column[i] for i in kept] for column in (terms, values, low, high)]
    title = str(summary.facts["model"])
    return intervals_by_row(some[0], some[1], (some[2], some[3]), ax, of="coefficient", level=level, title=title)

"""Estimates drawn as SVG text: the same numbers give the same bytes, and a page can hold many of them.

A figure is made without pyplot, so no window, backend or "current figure" of the caller is touched.
"""

from __future__ import annotations

import re
from html import escape
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

from deniable.core.provenance import PEOPLE
from deniable.errors import MissingExtraError
from deniable.estimation.by_group import Grouped
from deniable.plotting import DARK, LIGHT, MOST_ROWS, style

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from deniable.core.provenance import Origin
    from deniable.core.table import Table
    from deniable.estimation.estimate import Estimate
    from deniable.inference.hypothesis_tests.all_pairs import Pairs

_WIDTH = 4.4  # inches: narrow enough that the labels can still be read when a phone shrinks it
_ROW = 0.34  # inches a cell
_AROUND = 1.25  # inches for the axis and the legend
_SVG: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud, and takes a fraction of the bytes
    "svg.hashsalt": "deniable",  # otherwise names inside the file are random
}


def chart(estimate: Estimate | Grouped, *, truth: Table | None = None, level: float = 0.95, name: str = "chart") -> str:
    """Draw an estimate with its intervals, and the truth where it is known, as an `<svg>` element.

    Args:
        estimate: what to draw: one, or one for each group.
        truth: a table over (at least) the estimate's attributes, in a simulation or a demonstration.
        level: the coverage of the intervals.
        name: put before every identifier inside the SVG; charts on one page need different names.
    """
    draw, size = _of_estimate(estimate, truth, level)
    return drawn(draw, describe(estimate, truth, level), size=size, name=name)


def chart_png(estimate: Estimate | Grouped, *, truth: Table | None = None, level: float = 0.95) -> bytes:
    """The same picture as a PNG file, sharp enough for slides."""
    draw, size = _of_estimate(estimate, truth, level)
    return drawn_png(draw, size=size)


def _of_estimate(
    estimate: Estimate | Grouped, truth: Table | None, level: float
) -> tuple[Callable[[Axes], None], tuple[float, float]]:
    every = list(estimate.values()) if isinstance(estimate, Grouped) else [estimate]

    def draw(ax: Axes) -> None:
        if isinstance(estimate, Grouped):
            estimate.plot(ax, level=level)
            ax.set_title("")
            ax.set_xlabel(estimate.origin.titled("share of the group"))
        else:
            estimate.plot(ax, truth=truth, level=level)
        ax.set_ylabel("")  # the heading beside it says what was asked
        if legend := ax.get_legend():
            legend.remove()
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.figure.legend(
            *ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=9
        )

    rows = sum(each.values.size for each in every)
    rows += len(estimate.refused) if isinstance(estimate, Grouped) else 0
    return draw, (_WIDTH, _AROUND + _ROW * min(rows, MOST_ROWS))


def strengths(pairs: Pairs, *, name: str = "chart", origin: Origin = PEOPLE) -> str:
    """Draw Cramer's V of tested pairs as an `<svg>` element: bars, which unlike a heat map hold no pixels."""

    def draw(ax: Axes) -> None:
        rows = range(len(pairs.pairs))
        ax.barh(rows, pairs.v, color=[DARK if p < 0.05 else LIGHT for p in pairs.adjusted])
        ax.set_yticks(rows, [" and ".join(pair) for pair in pairs.pairs])
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)
        ax.set_xlim(0, max(0.1, float(pairs.v.max())) * 1.05)
        ax.set_xlabel(origin.titled("Cramer's V (dark: corrected p below .05)"))

    size = (_WIDTH, _AROUND + _ROW * len(pairs.pairs))
    return drawn(draw, origin.titled("Cramer's V of the tested pairs of attributes."), size=size, name=name)


def drawn(draw: Callable[[Any], object], label: str, *, size: tuple[float, float], name: str = "chart") -> str:
    """Run a function that draws on axes, and return what it drew as an `<svg>` element.

    Args:
        draw: takes the axes.
        label: what the picture shows, in one sentence.
        size: in inches.
        name: put before every identifier inside the SVG.
    """
    written = StringIO()
    _save(draw, size, written, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(written.getvalue(), label, name)


def drawn_png(draw: Callable[[Any], object], *, size: tuple[float, float]) -> bytes:
    """Run a function that draws on axes, and return what it drew as a PNG file."""
    written = BytesIO()
    _save(draw, size, written, format="png", dpi=200, metadata={"Software": None})
    return written.getvalue()


def _save(draw: Callable[[Any], object], size: tuple[float, float], to: StringIO | BytesIO, **how: Any) -> None:
    try:
        import matplotlib as mpl
        import matplotlib.style
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "charts need matplotlib, which is not installed: pip install 'deniable[plot]'", extra="plot"
        ) from None
    # Starting from the library's own defaults: a user's matplotlibrc must not change a report.
    with mpl.rc_context():
        matplotlib.style.use("default")
        mpl.rcParams.update({**style(), **_SVG})
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(to, transparent=False, **how)


def describe(estimate: Estimate | Grouped, truth: Table | None = None, level: float = 0.95) -> str:
    """Say in one sentence what a chart shows: for those who hear it instead of seeing it."""
    one = next(iter(estimate.values())) if isinstance(estimate, Grouped) else estimate
    names = [*estimate.attributes, *([estimate.by] if isinstance(estimate, Grouped) else [])]
    asked = one.labels.asked(names) or ", ".join(names)
    shown = estimate.origin.titled(f"Estimated shares of {asked} with {level:.0%} intervals")
    return f"{shown}, and the true shares." if truth is not None else f"{shown}."


def _inline(svg: str, label: str, name: str) -> str:
    """Turn matplotlib's file into an element that can stand in a page: no prologue, its own names, a description."""
    body = svg[svg.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # A style sheet inside an inline SVG would hold for the whole page: say the same on the element itself.
    body = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    # matplotlib names every group; keep what something refers to, and number it so that the names are stable.
    referred = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    names = {old: f"{name}-{number}" for number, old in enumerate(referred)}
    body = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", body)
    body = re.sub(r'(href="#|url\(#)([^")]+)', lambda m: m[1] + names[m[2]], body)
    style = "stroke-linejoin: round; stroke-linecap: butt"
    body = body.replace("<svg", f'<svg role="img" aria-labelledby="{name}-title" style="{style}"', 1)
    end = body.index(">") + 1
    lines = f'{body[:end]}\n<title id="{name}-title">{escape(label)}</title>{body[end:]}'.splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if line.strip())

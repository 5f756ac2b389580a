"""The two pictures of privacy: what a report can do to a belief, and epsilons beside each other."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from deniable.drawing import axes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes


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

"""A picture of privacy: epsilons beside each other."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from deniable.plotting import axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


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

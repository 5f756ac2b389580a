"""Views as large as the largest wanted table."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Literal

from deniable.designs.kinds.views import Views
from deniable.planning.candidates.purpose import MOST_CELLS

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def one(purpose: Purpose) -> Views | None:
    """One question of a view is answered."""
    return _views(purpose, "one")


def every(purpose: Purpose) -> Views | None:
    """All questions of a view are answered."""
    return _views(purpose, "all")


def _views(purpose: Purpose, answer: Literal["one", "all"]) -> Views | None:
    asked, k = purpose.asked, max(len(table) for table in purpose.tables)
    if k < 2 or k >= len(asked):
        return None
    cells = sorted((len(variable) for variable in asked.values()), reverse=True)[:k]
    sensible = prod(cells) <= MOST_CELLS
    return Views(asked, k, purpose.epsilon, answer=answer, channel=purpose.channel) if sensible else None

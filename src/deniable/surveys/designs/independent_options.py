"""Every question of every respondent, each with its share of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.independent import Independent
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = SETS


def make(wish: Wish) -> Independent:
    """The design that a file asks for."""
    return Independent(wish.domain, wish.epsilon, channel=wish.channels)

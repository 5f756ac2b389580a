"""One question of each respondent, with the whole budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.sampled import Sampled
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = SETS


def make(wish: Wish) -> Sampled:
    """The design that a file asks for."""
    return Sampled(wish.domain, wish.epsilon, channel=wish.channels)

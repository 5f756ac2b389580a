"""All questions of every respondent together, as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.joint import Joint
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = SETS


def make(wish: Wish) -> Joint:
    """The design that a file asks for."""
    return Joint(wish.domain, wish.epsilon, channel=wish.channels)

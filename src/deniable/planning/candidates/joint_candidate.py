"""Everything that is asked, together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.joint import Joint
from deniable.planning.candidates.purpose import MOST_CELLS

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Joint | None:
    """What is asked as one question, where it has not too many possible answers."""
    asked = purpose.asked
    sensible = len(asked) > 1 and asked.cells <= MOST_CELLS
    return Joint(asked, purpose.epsilon, channel=purpose.channel) if sensible else None

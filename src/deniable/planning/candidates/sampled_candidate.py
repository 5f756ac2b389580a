"""One attribute of each respondent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.sampled import Sampled

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Sampled | None:
    """One of what is asked, with the whole budget."""
    return Sampled(purpose.asked, purpose.epsilon, channel=purpose.channel) if len(purpose.asked) > 1 else None

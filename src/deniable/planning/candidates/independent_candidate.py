"""Every attribute of every respondent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.independent import Independent

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Independent:
    """What is asked, each attribute with its share of the budget."""
    return Independent(purpose.asked, purpose.epsilon, channel=purpose.channel)

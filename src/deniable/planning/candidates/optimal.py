"""What is certified to need the fewest respondents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.channels.choice import planned_for
from deniable.designs.optimal import Optimal

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Optimal | None:
    """The mix of questions and channels with the least summed variance of what is wanted."""
    if purpose.channel != "krr":
        return None  # it chooses its channels itself, once
    return Optimal(purpose.asked, purpose.wanted, purpose.epsilon, channel=planned_for(purpose.n))

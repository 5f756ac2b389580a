"""What is certified to need the fewest respondents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.channels.best_channel import planned_for
from deniable.designs.kinds.optimal import Optimal
from deniable.errors import DesignError

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Optimal | None:
    """The mix of questions and channels with the least summed variance of what is wanted."""
    if purpose.channel != "krr":
        return None  # it chooses its channels itself, once
    channel = planned_for(purpose.n)
    if purpose.guess is not None:
        try:
            return Optimal(purpose.asked, purpose.wanted, purpose.epsilon, channel=channel, truth=purpose.guess)
        except DesignError:
            pass  # too much to be weighed at a guess: the best at even shares, judged at the guess
    return Optimal(purpose.asked, purpose.wanted, purpose.epsilon, channel=channel)

"""Channels for the questions of a design: of a named kind, or made for what is wanted of each question.

dn.Joint(domain, 1.0, channel="optimal")                       for the shares of all cells
dn.Sampled(domain, 1.0, channel=dn.MadeFor("mean(age)"))       of each question, for what is wanted of it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.aims.aim import Wanted, channel_rows
from deniable.aims.parse import gathered
from deniable.channels.best_channel import best_channel
from deniable.errors import ConvergenceError, PrecisionError
from deniable.frozen import Frozen, fix
from deniable.optimal.column_generation import LARGEST
from deniable.optimal.optimal_channel import optimal_channel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.channels.best_channel import Choice, Chooser
    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain


@dataclass(frozen=True, init=False)
class MadeFor(Frozen):
    """Makes, of each question, the channel that tells what is wanted of it with the fewest respondents.

    Wanted numbers that a question does not hold all attributes of are no matter of its channel. A question of which
    nothing is wanted but its own table, or with more than 256 possible answers, gets the channel of least variance.

    >>> from deniable.core.domain import Domain
    >>> channel = MadeFor("mean(age)")(Domain({"age": [20, 30, 40, 50]}), 1.0)
    >>> channel.inputs, channel.epsilon <= 1.0
    (4, True)
    """

    wanted: tuple[Wanted, ...]

    def __init__(self, wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]]) -> None:
        """Take what is wanted, as in `floor`."""
        fix(self, wanted=gathered(wanted))

    def __call__(self, question: Domain, epsilon: float) -> Channel:
        """The channel of a question with so much epsilon."""
        inside = [one for one in self.wanted if set(one.attributes) <= set(question)]
        # Of its own table alone, sets of the best size are as good as can be.
        others = [one for one in inside if not one.is_table or set(one.attributes) != set(question)]
        if others and question.cells <= LARGEST:
            try:
                return optimal_channel(channel_rows(question, inside), epsilon)
            except (ConvergenceError, PrecisionError):
                pass  # what is found for every question is the next best
        return best_channel(question.cells, epsilon, "least_variance")


def channel_for(question: Domain, epsilon: float, choice: Choice | Chooser) -> Channel:
    """The channel of a question: of a named kind, or what a function makes of the question and its epsilon."""
    if choice == "optimal":
        choice = MadeFor([question.names])
    return choice(question, epsilon) if callable(choice) else best_channel(question.cells, epsilon, choice)

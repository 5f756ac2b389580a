"""What a survey file asks for, and the channels that its questions go through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deniable.channels.best_channel import best_channel, kept_channel
from deniable.optimal.channel_for import MadeFor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.aims.aim import Wanted
    from deniable.channels.best_channel import Choice
    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain
    from deniable.surveys.schema import DesignEntry, PanelEntry

SETS = ("channel", "respondents")  # the keys of every design whose questions may go through any channel


@dataclass(frozen=True)
class Channels:
    """Makes the channel of each question: `choice`, with a second level for what a panel repeats."""

    choice: Choice
    panel: PanelEntry | None
    wanted: tuple[Wanted, ...] = ()
    respondents: int | None = None  # so many are planned: of channels alike in variance, the one of the least work

    def __call__(self, question: Domain, epsilon: float) -> Channel:
        """The channel of a question with so much epsilon."""
        if self.panel is not None and set(question) <= set(self.panel.repeats):
            choice: Choice = "least_variance" if self.choice == "optimal" else self.choice
            return kept_channel(question.cells, epsilon, choice, float(self.panel.again))
        if self.choice == "optimal":
            made = MadeFor(self.wanted or [question.names])(question, epsilon)
            if made.kind == "patterns":  # whose reports are categories
                return made
            return replace(self, choice="least_variance")(question, epsilon)
        return best_channel(question.cells, epsilon, self.choice, n=self.respondents)


@dataclass(frozen=True)
class Wish:
    """What a survey file asks for."""

    domain: Domain
    epsilon: float
    entry: DesignEntry
    tables: Sequence[Sequence[str]]
    channels: Channels
    wanted: tuple[Wanted, ...]  # the tables too; and the shares of what is asked and not spoken of

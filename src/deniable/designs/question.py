"""A question: what is answered together, and how the answer is disguised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels.match_categories import matched
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain


@dataclass(frozen=True)
class Question(Frozen):
    """A set of attributes answered together, and the channel their joint answer goes through."""

    attributes: tuple[str, ...]
    channel: Channel

    @property
    def name(self) -> str:
        """The attributes, joined."""
        return "*".join(self.attributes)

    def asked_of(self, domain: Domain) -> Question:
        """The question as it is asked: with what our code runs, truths in the domain's order."""
        return Question(tuple(self.attributes), matched(self.channel, domain.project(self.attributes))[0].executed())

"""Joint: one tuple of all attributes through one channel (RR-Joint)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels.channel import Channel
from deniable.core.domain import Category, Domain
from deniable.designs.ballots import even_share
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.request import ChannelOptions
from deniable.errors import DesignError
from deniable.optimal.channel_for import channel_for
from deniable.optimal.generated_questions import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.channels.best_channel import Choice, Chooser
    from deniable.designs.request import Proposal, Request


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Joint(Design):
    """Ask for the whole tuple at once, with the whole budget.

    >>> Joint({"sex": ["F", "M"], "smokes": ["no", "yes"]}, epsilon=1.0).questions[0].channel
    <KRR(4): 4 truths, 4 reports, epsilon 0.999961>
    """

    kind = "joint"
    Options = ChannelOptions

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        epsilon: float | None = None,
        *,
        channel: Channel | Choice | Chooser | None = None,
    ) -> None:
        """Take the respondent's total `epsilon` (and the name of a channel: "krr" by default), or a channel itself."""
        known = domain if isinstance(domain, Domain) else Domain(domain)
        if (epsilon is None) != isinstance(channel, Channel):
            raise DesignError("give either epsilon= (and, if you like, the name of a channel) or a channel=")
        if not isinstance(channel, Channel):
            assert epsilon is not None
            channel = channel_for(known, even_share(epsilon, 1), channel or "krr")
        super().__init__(known, [Question(known.names, channel)], [[0]])

    @classmethod
    def make(cls, request: Request, options: ChannelOptions) -> Joint:
        """Ask for all attributes together, as one combination."""
        return cls(request.domain, request.epsilon, channel=request.channels(options))

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose it where there are several attributes, and not too many combinations."""
        sensible = len(request.domain) > 1 and request.domain.cells <= MOST_CELLS
        return request.both_ways(cls.kind, ChannelOptions()) if sensible else ()

"""Independent: every attribute is asked, each through a channel of its own (RR-Independent)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.core.domain import Category, Domain
from deniable.designs.ballots import shares
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.request import ChannelOptions
from deniable.errors import DesignError
from deniable.optimal.channel_for import channel_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.channels.best_channel import Choice, Chooser
    from deniable.channels.channel import Channel
    from deniable.designs.request import Proposal, Request


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Independent(Design):
    """Ask every attribute; joint tables of any attributes come out by Kronecker inversion (RR-Ind-Joint).

    The respondent's total is the sum over the attributes: with m attributes each gets epsilon / m.

    >>> design = Independent({"sex": ["F", "M"], "smokes": ["no", "yes"]}, epsilon=1.0)
    >>> design
    <Independent over sex, smokes: 2 questions, 1 ballot, epsilon 0.999936 a respondent>
    """

    kind = "independent"
    Options = ChannelOptions

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        epsilon: float | Mapping[str, float] | None = None,
        *,
        channels: Mapping[str, Channel] | None = None,
        channel: Choice | Chooser = "krr",
    ) -> None:
        """Take the respondent's total `epsilon`, or one for each attribute, or the channels themselves.

        With an epsilon, `channel` names the kind: "krr", whose joint tables have a likelihood and a plain test, or
        "least_variance" and others, see `channels.best_channel`; or it is a function that makes a question's channel.
        """
        known = domain if isinstance(domain, Domain) else Domain(domain)
        if (epsilon is None) == (channels is None):
            raise DesignError("give either epsilon= (a total, or one for each attribute) or channels=")
        if channels is not None and set(channels) != set(known):
            raise DesignError(f"channels must name each of {sorted(known)} once; they name {sorted(channels)}")
        if channels is None:
            assert epsilon is not None
            budget = shares(epsilon, known.names)
            channels = {name: channel_for(known.project([name]), budget[name], channel) for name in known}
        questions = [Question((name,), channels[name]) for name in known]
        super().__init__(known, questions, [range(len(questions))])

    @classmethod
    def make(cls, request: Request, options: ChannelOptions) -> Independent:
        """Ask every attribute, each with its share of the epsilon."""
        return cls(request.domain, request.epsilon, channel=request.channels(options))

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose it always."""
        return request.both_ways(cls.kind, ChannelOptions())

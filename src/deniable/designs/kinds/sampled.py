"""Sampled: one attribute, drawn by the respondent's device, with the whole budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.core.domain import Category, Domain
from deniable.designs.ballots import even_share
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.request import ChannelOptions
from deniable.optimal.channel_for import channel_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.channels.best_channel import Choice, Chooser
    from deniable.designs.request import Proposal, Request


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Sampled(Design):
    """Ask one attribute of each respondent. No pair is ever observed, so no association can be.

    >>> design = Sampled({"a": [0, 1], "b": [0, 1, 2]}, epsilon=1.0)
    >>> len(design.ballots), design.covers(["a", "b"])
    (2, False)
    """

    kind = "sampled"
    Options = ChannelOptions

    def __init__(
        self, domain: Domain | Mapping[str, Iterable[Category]], epsilon: float, *, channel: Choice | Chooser = "krr"
    ) -> None:
        """Take the respondent's total, all of which the one drawn attribute gets, and the kind of channel."""
        known = domain if isinstance(domain, Domain) else Domain(domain)
        budget = even_share(epsilon, 1)
        questions = [Question((name,), channel_for(known.project([name]), budget, channel)) for name in known]
        super().__init__(known, questions, [[index] for index in range(len(questions))])

    @classmethod
    def make(cls, request: Request, options: ChannelOptions) -> Sampled:
        """Ask one attribute of each respondent, with the whole epsilon."""
        return cls(request.domain, request.epsilon, channel=request.channels(options))

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose it where there are several attributes."""
        return request.both_ways(cls.kind, ChannelOptions()) if len(request.domain) > 1 else ()

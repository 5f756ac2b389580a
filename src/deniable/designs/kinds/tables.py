"""Tables: one of the wanted tables, drawn by the respondent's device, with the whole budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.aims.default_aims import shares_and_pairs
from deniable.core.domain import Category, Domain
from deniable.designs.ballots import even_share
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.request import ChannelOptions
from deniable.optimal.channel_for import channel_for
from deniable.optimal.generated_questions import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deniable.channels.best_channel import Choice, Chooser
    from deniable.designs.request import Proposal, Request


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Tables(Design):
    """Ask one of some tables of each respondent: as good as can be where these tables are what is wanted.

    Splitting a budget over several questions loses several times as much as asking each of fewer people.

    >>> design = Tables({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, [["a", "b"], ["c"]], epsilon=1.0)
    >>> [question.name for question in design.questions], len(design.ballots)
    (['a*b', 'c'], 2)
    """

    kind = "tables"
    Options = ChannelOptions

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        tables: Iterable[Sequence[str]],
        epsilon: float,
        *,
        channel: Choice | Chooser = "krr",
    ) -> None:
        """Take the tables, each a list of attributes, the respondent's total, and the kind of channel."""
        known = domain if isinstance(domain, Domain) else Domain(domain)
        budget = even_share(epsilon, 1)
        questions = [Question(tuple(table), channel_for(known.project(table), budget, channel)) for table in tables]
        super().__init__(known, questions, [[index] for index in range(len(questions))])

    @classmethod
    def make(cls, request: Request, options: ChannelOptions) -> Tables:
        """Ask for one of the wanted tables; of every share and every pair, the pairs, which tell the shares as well."""
        return cls(request.domain, _asked(request), request.epsilon, channel=request.channels(options))

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose it where it is neither one table, the joint design, nor single attributes, the sampled one."""
        parts = [request.domain.project(table) for table in _asked(request)]
        if len(parts) < 2 or all(len(part) == 1 for part in parts) or max(part.cells for part in parts) > MOST_CELLS:
            return ()
        return request.both_ways(cls.kind, ChannelOptions())


def _asked(request: Request) -> list[tuple[str, ...]]:
    wanted = list(request.tables)
    if len(request.domain) > 1 and request.aims == shares_and_pairs(request.domain):
        return [table for table in wanted if len(table) > 1]
    return wanted

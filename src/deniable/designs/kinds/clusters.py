"""Clusters: one tuple for each cluster of a partition (RR-Clusters, Domingo-Ferrer & Soria-Comas)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from deniable.core.domain import Category, Domain
from deniable.designs.ballots import even_share
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.request import ChannelOptions
from deniable.errors import DesignError
from deniable.optimal.channel_for import channel_for
from deniable.optimal.generated_questions import MOST_CELLS
from deniable.text import listed

if TYPE_CHECKING:
    from deniable.channels.best_channel import Choice, Chooser
    from deniable.designs.request import Proposal, Request


class ClustersOptions(ChannelOptions, kw_only=True, frozen=True):
    """Which attributes are asked as one."""

    clusters: Annotated[
        tuple[tuple[str, ...], ...],
        Meta(description="The attributes that are asked as one combination, a list for each combination."),
    ]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Clusters(Design):
    """Ask one tuple a cluster; attributes that depend on each other belong into one cluster.

    The respondent's total is the sum over the clusters. `deniable.find_clusters` finds a partition from the reports
    of a first small sample.

    >>> domain = Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    >>> [question.name for question in Clusters(domain, [["a", "c"], ["b"]], epsilon=2.0).questions]
    ['a*c', 'b']
    """

    kind = "clusters"
    Options = ClustersOptions

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        clusters: Sequence[Sequence[str]],
        epsilon: float | Sequence[float],
        *,
        channel: Choice | Chooser = "krr",
    ) -> None:
        """Take a partition of the attributes, the respondent's total (or one epsilon a cluster), the channel's kind."""
        known = domain if isinstance(domain, Domain) else Domain(domain)
        parts = [known.project(cluster) for cluster in clusters]
        named = [name for part in parts for name in part]
        if sorted(named) != sorted(known):
            raise DesignError(
                f"clusters must hold every attribute once; the domain has {listed(sorted(known))}, the clusters hold "
                f"{listed(sorted(named))}"
            )
        if isinstance(epsilon, Sequence):
            budget = [even_share(part, 1) for part in epsilon]
        else:
            budget = [even_share(epsilon, len(parts))] * len(parts)
        if len(budget) != len(parts):
            raise DesignError(f"there are {len(parts)} clusters but {len(budget)} epsilons")
        questions = [
            Question(part.names, channel_for(part, share, channel)) for part, share in zip(parts, budget, strict=True)
        ]
        super().__init__(known, questions, [range(len(questions))])

    @classmethod
    def make(cls, request: Request, options: ClustersOptions) -> Clusters:
        """Ask one combination a cluster, the epsilon shared."""
        return cls(request.domain, options.clusters, request.epsilon, channel=request.channels(options))

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose that attributes of the same wanted table share a cluster."""
        asked = request.domain
        cluster = {name: [name] for name in asked}
        for table in request.tables:
            joined = list(dict.fromkeys(name for attribute in table for name in cluster[attribute]))
            cluster |= dict.fromkeys(joined, joined)
        parts = tuple(dict.fromkeys(tuple(cluster[name]) for name in asked))
        sensible = 1 < len(parts) < len(asked) and all(asked.project(part).cells <= MOST_CELLS for part in parts)
        return request.both_ways(cls.kind, ClustersOptions(clusters=parts)) if sensible else ()

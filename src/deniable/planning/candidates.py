"""The designs that a plan compares: a name, and a function that makes the design for what is wanted.

A function returns None where its design makes no sense. Each is made with k-RR, and once more with the channel of least
variance; `optimal` chooses its channels itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from deniable.channels.choice import Choice, best_channel
from deniable.designs.base import Design, Question
from deniable.designs.clusters import Clusters
from deniable.designs.independent import Independent
from deniable.designs.joint import Joint
from deniable.designs.optimal import Optimal
from deniable.designs.sampled import Sampled
from deniable.designs.views import Views
from deniable.planning.pairing import best_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.domain import Domain
    from deniable.optimal.wanted import Wanted
    from deniable.tables.table import Table

_MOST_CELLS = 4096  # a joint question with more possible answers is not proposed


@dataclass(frozen=True)
class Purpose:
    """What a plan is made for.

    Attributes:
        domain: all attributes.
        epsilon: what each respondent may spend in total.
        wanted: the wanted numbers.
        n: the number of respondents.
        truth: the assumed joint table; None for even shares.
        channel: the kind of channel that questions go through.
    """

    domain: Domain
    epsilon: float
    wanted: tuple[Wanted, ...]
    n: int
    truth: Table | None = None
    channel: Choice = "krr"

    @cached_property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The sets of attributes that some wanted number is about: asked together, they tell it."""
        return tuple(dict.fromkeys(one.attributes for one in self.wanted))

    @cached_property
    def asked(self) -> Domain:
        """The attributes that some table needs, in the domain's order: nobody is asked about others."""
        needed = {name for table in self.tables for name in table}
        return self.domain.project([name for name in self.domain if name in needed])


CANDIDATES: dict[str, Callable[[Purpose], Design | None]] = {}


def candidate(name: str) -> Callable[[Any], Any]:
    """Register a way to make a design: a function of what is wanted; None where it makes no sense."""

    def register(make: Any) -> Any:
        CANDIDATES[name] = make
        return make

    return register


@candidate("independent")
def _independent(purpose: Purpose) -> Design | None:
    return Independent(purpose.asked, purpose.epsilon, channel=purpose.channel)


@candidate("joint")
def _joint(purpose: Purpose) -> Design | None:
    asked = purpose.asked
    return (
        Joint(asked, purpose.epsilon, channel=purpose.channel)
        if len(asked) > 1 and asked.cells <= _MOST_CELLS
        else None
    )


@candidate("clusters")
def _clusters(purpose: Purpose) -> Design | None:
    """Attributes that share a table share a cluster."""
    asked = purpose.asked
    cluster = {name: [name] for name in asked}
    for table in purpose.tables:
        joined = list(dict.fromkeys(name for attribute in table for name in cluster[attribute]))
        cluster |= dict.fromkeys(joined, joined)
    parts = [list(names) for names in dict.fromkeys(tuple(cluster[name]) for name in asked)]
    sensible = 1 < len(parts) < len(asked) and all(asked.project(part).cells <= _MOST_CELLS for part in parts)
    return Clusters(asked, parts, purpose.epsilon, channel=purpose.channel) if sensible else None


@candidate("sampled")
def _sampled(purpose: Purpose) -> Design | None:
    return Sampled(purpose.asked, purpose.epsilon, channel=purpose.channel) if len(purpose.asked) > 1 else None


@candidate("tables")
def _one_table(purpose: Purpose) -> Design | None:
    """Each respondent answers one of the wanted tables, drawn by their device, with the whole budget."""
    parts = [purpose.asked.project(table) for table in dict.fromkeys(purpose.tables)]
    if len(parts) < 2 or all(len(part) == 1 for part in parts) or max(part.cells for part in parts) > _MOST_CELLS:
        return None  # one table is the joint design, single attributes are the sampled one
    questions = [Question(part.names, best_channel(part.cells, purpose.epsilon, purpose.channel)) for part in parts]
    return Design(purpose.asked, questions, [[index] for index in range(len(questions))])


def _views(purpose: Purpose, answer: Any) -> Design | None:
    asked, k = purpose.asked, max(len(table) for table in purpose.tables)
    if k < 2 or k >= len(asked):
        return None
    cells = sorted((len(variable) for variable in asked.values()), reverse=True)[:k]
    return (
        Views(asked, k, purpose.epsilon, answer=answer, channel=purpose.channel) if prod(cells) <= _MOST_CELLS else None
    )


@candidate("views, one answer")
def _views_one(purpose: Purpose) -> Design | None:
    return _views(purpose, "one")


@candidate("views, all answers")
def _views_all(purpose: Purpose) -> Design | None:
    return _views(purpose, "all")


@candidate("optimal")
def _optimal(purpose: Purpose) -> Design | None:
    """The mix of questions and channels with the least summed variance of what is wanted."""
    if purpose.channel != "krr":
        return None  # it chooses its channels itself, once
    return Optimal(purpose.asked, purpose.wanted, purpose.epsilon)


@candidate("paired")
def _paired(purpose: Purpose) -> Design | None:
    """Coins shared by pairs of respondents; only for tables of one attribute."""
    if all(len(table) > 1 for table in purpose.tables):
        return None
    return best_pairs(purpose.asked, purpose.epsilon, purpose.n, purpose.truth)

"""Among those asked: a question that a public condition puts to some is answered by them, and by nobody else.

Whoever a question is not put to sends "does not apply", disguised like any answer, so that nobody is missing. Who that
is, is known in clear. To count it as an answer would make any two questions under one condition look associated: they
do not apply to the same people. So respondents who were not asked all of some attributes are left out of what is said
of them; of the others nobody's answer is "does not apply", and the channel from their truths is

    P without the columns of the truths that hold it,

with all its rows: such a report still comes, by chance (`channels.some_truths`; `channels.sets.some_sets` where
reports are sets).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.kronecker import product
from deniable.channels.match_categories import dealt
from deniable.channels.sets.some_sets import SomeSets
from deniable.channels.sets.support import Support
from deniable.channels.some_truths import SomeTruths
from deniable.core.domain import Domain, Variable
from deniable.designs.observation import Observation
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.designs.marginal_channel import Column, Told

    Condition = Mapping[str, Sequence[Any]]  # values of public columns
    Rules = Mapping[str, Condition]


@dataclass(frozen=True, eq=False)
class Among(Frozen):
    """Those who were asked about some attributes.

    Attributes:
        inside: which respondents were.
        without: the attributes whose channels leave "does not apply" out.
    """

    inside: NDArray[np.bool_]
    without: tuple[str, ...]

    @cached_property
    def _known(self) -> dict[tuple[int, Domain], tuple[Channel, Told]]:
        """What was made of what is told, so that what is told alike stays one object; beside what it was made of."""
        return {}

    def told(self, told: Told) -> Told:
        """What a ballot tells about truths that do apply."""
        if not set(self.without) & set(told.domain):
            return told
        key = id(told.channel), told.domain
        if key not in self._known:
            domain, channel = applying(told.domain, self.without), _chosen(told.domain, told.channel, self.without)
            self._known[key] = told.channel, replace(told, domain=domain, channel=channel)
        return replace(self._known[key][1], columns=told.columns)

    def columns(self, told: Told, domain: Domain) -> tuple[Column, ...]:
        """The columns of what a ballot tells, each with its channel from truths that do apply; `domain`: of all."""
        return tuple(
            column
            if not set(self.without) & set(column.attributes)
            else replace(column, channel=_chosen(domain.project(column.attributes), column.channel, self.without))
            for column in told.columns
        )

    def counted(self, seen: Observation) -> Observation:
        """Counts of categories as counts about truths that do apply; of sets they are other counts."""
        if not set(self.without) & set(seen.domain):
            return seen
        domain, channel = applying(seen.domain, self.without), _chosen(seen.domain, seen.channel, self.without)
        return Observation(domain, channel, seen.counts.ravel(), population=seen.population, label=seen.label)


def conditions(show_if: Rules, names: Sequence[str], domain: Domain, public: Sequence[str]) -> dict[str, Condition]:
    """Of some attributes those that a condition on known public columns puts to some only, with the condition."""
    some = [name for name in names if name in show_if and name in domain and NOT_ASKED in domain[name].categories]
    found = {name: show_if[name] for name in some}
    return {name: rules for name, rules in found.items() if rules and set(rules) <= set(public)}


def among(public: Any, rules: Mapping[str, Condition]) -> Among:
    """Those who were asked all attributes of some rules."""
    return Among(np.logical_and.reduce([_asked(public, each) for each in rules.values()]), tuple(rules))


def _asked(public: Any, rules: Condition) -> NDArray[np.bool_]:
    """The respondents for whom all rules hold; whoever has no value of a column was not asked."""
    inside = np.ones(len(public), dtype=bool)
    for name, values in rules.items():
        shown = {str(value) for value in values}
        column = public[name]
        kept = [value for value in column.unique().drop_nulls().to_list() if str(value) in shown]
        if not kept:  # an empty list has no type that could be compared
            return np.zeros(len(public), dtype=bool)
        inside &= column.is_in(kept).fill_null(value=False).to_numpy().astype(bool)
    return inside


def applying(domain: Domain, without: Iterable[str]) -> Domain:
    """A domain in which "does not apply" is no answer to some attributes."""
    return Domain(
        [
            Variable(name, tuple(c for c in variable.categories if c != NOT_ASKED)) if name in without else variable
            for name, variable in domain.items()
        ]
    )


def _chosen(domain: Domain, channel: Channel, without: Sequence[str]) -> Channel:
    """The channel with the truths that apply only."""
    made: list[Channel] = []
    factors = channel.factors
    for factor, variables in dealt(factors, list(domain.values())):
        kept = np.ones((), dtype=bool)
        for variable in variables:
            here = [variable.name not in without or category != NOT_ASKED for category in variable.categories]
            kept = np.logical_and.outer(kept, here)
        made.append(factor if kept.all() else _part(factor, np.flatnonzero(kept).tolist()))
    return product(made)


def _part(channel: Channel, truths: Sequence[int]) -> Channel:
    return SomeSets(channel, truths) if isinstance(channel, Support) else SomeTruths(channel, truths)

"""Among those asked: a question that a public condition puts to some is answered by them, and by nobody else.

Whoever a question is not put to sends "does not apply", disguised like any answer, so that nobody is missing. Who that
is, is known in clear. To count it as an answer would make any two questions under one condition look associated: they
do not apply to the same people. So respondents who were not asked all of some attributes are left out of what is said
of them; of the others nobody's answer is "does not apply", and the channel from their truths is

    P without the columns of the truths that hold it,

with all its rows: such a report still comes, by chance. Reports that are sets keep the category: it is nobody's then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.blockwise import Blockwise
from deniable.channels.dense import Dense
from deniable.channels.kronecker import Kronecker
from deniable.device.encoding import NOT_ASKED
from deniable.domain import Domain, Variable
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels.base import Channel
    from deniable.designs.told import Told

    Condition = Mapping[str, Sequence[Any]]  # values of public columns
    Rules = Mapping[str, Condition]

_MOST = 1 << 14  # entries of a matrix whose columns are chosen


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
            made = replace(told, domain=_applying(told.domain, self.without), channel=_chosen(told, self.without))
            self._known[key] = told.channel, made
        return replace(self._known[key][1], columns=told.columns)


def conditions(show_if: Rules, names: Sequence[str], domain: Domain, public: Sequence[str]) -> dict[str, Condition]:
    """Of some attributes those that a condition on known public columns puts to some only, with the condition."""
    some = [name for name in names if name in show_if and name in domain and NOT_ASKED in domain[name].categories]
    found = {name: show_if[name] for name in some}
    return {name: rules for name, rules in found.items() if rules and set(rules) <= set(public)}


def among(public: Any, rules: Mapping[str, Condition], told: Iterable[Told | None]) -> Among:
    """Those who were asked all attributes of some rules; `told` is what their reports tell."""
    inside = np.logical_and.reduce([_asked(public, each) for each in rules.values()])
    without = tuple(rules) if all(each is None or _can_choose(each) for each in told) else ()
    return Among(inside, without)


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


def _can_choose(told: Told) -> bool:
    """Whether truths can be left out of a channel: not out of one whose reports are sets, or that differs by block."""
    channels = [told.channel, *(column.channel for column in told.columns)]
    if any(channel.is_support or isinstance(channel, Blockwise) for channel in channels):
        return False
    return all(factor.inputs * factor.outputs <= _MOST for factor in _factors(told.channel))


def _factors(channel: Channel) -> Sequence[Channel]:
    return channel.channels if isinstance(channel, Kronecker) else (channel,)


def _applying(domain: Domain, without: Sequence[str]) -> Domain:
    return Domain(
        [
            Variable(name, tuple(c for c in variable.categories if c != NOT_ASKED)) if name in without else variable
            for name, variable in domain.items()
        ]
    )


def _chosen(told: Told, without: Sequence[str]) -> Channel:
    """The channel with the truths that apply only."""
    left = list(told.domain.values())
    made: list[Channel] = []
    for factor in _factors(told.channel):
        mine, size = [], 1
        while size < factor.inputs:
            mine.append(left.pop(0))
            size *= len(mine[-1])
        kept = np.ones((), dtype=bool)
        for variable in mine:
            here = [variable.name not in without or category != NOT_ASKED for category in variable.categories]
            kept = np.logical_and.outer(kept, here)
        if kept.all():
            made.append(factor)
        else:
            made.append(Dense(factor.matrix()[:, kept.ravel()], name=factor.name))
    return made[0] if len(made) == 1 else Kronecker(made)

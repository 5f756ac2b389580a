"""What the reports to one ballot tell about some attributes, and in which of their columns they tell it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from deniable.channels.kronecker import product

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain
    from deniable.designs.question import Question

H = TypeVar("H", bound=Hashable)


@dataclass(frozen=True)
class Column:
    """One question's answers, as far as they are about the attributes asked for.

    `collapsed` holds the question's shape and the axes that remain when its answers are summed over the other
    attributes.
    """

    place: int
    attributes: tuple[str, ...]
    channel: Channel
    collapsed: tuple[tuple[int, ...], tuple[int, ...]] | None

    def narrow(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Turn answers to the whole question into answers about these attributes."""
        if self.collapsed is None:
            return answers
        shape, axes = self.collapsed
        digits = np.indices(shape).reshape(len(shape), -1)[list(axes)]
        lookup = np.ravel_multi_index(tuple(digits), tuple(shape[axis] for axis in axes))
        return lookup.astype(np.min_scalar_type(int(lookup.max())))[answers]


@dataclass(frozen=True)
class Told:
    """The attributes that a ballot tells about, the channel from them to the reports, and the columns they stand in."""

    domain: Domain
    channel: Channel
    columns: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class Telling:
    """What every ballot of a design tells about any attributes, worked out once for each.

    Whoever looks at all pairs of many attributes asks each of many ballots again and again. What several ballots tell
    alike is one and the same object, so that nobody need compare channels number by number to find out.
    """

    domain: Domain
    questions: Sequence[Question]
    ballots: Sequence[Sequence[int]]

    @cached_property
    def _asked(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(a for i in ballot for a in self.questions[i].attributes) for ballot in self.ballots)

    @cached_property
    def _asking(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {name: [] for name in self.domain}
        for ballot, names in enumerate(self._asked):
            for name in names:
                found[name].append(ballot)
        return found

    def asking(self, attributes: Iterable[str]) -> list[int]:
        """The ballots that ask any of some attributes: a few, where there are many views."""
        return sorted({ballot for name in attributes for ballot in self._asking.get(name, ())})

    @cached_property
    def _kept(self) -> dict[tuple[int, frozenset[str]], Told]:
        return {}

    @cached_property
    def _known(self) -> dict[Hashable, Hashable]:
        return {}

    def _one_for_all(self, value: H) -> H:
        return cast("H", self._known.setdefault(value, value)) if len(self.ballots) > 1 else value

    def about(self, ballot: int, attributes: Iterable[str]) -> Told | None:
        """What a ballot tells about some attributes, or None if it tells nothing."""
        wanted = self._asked[ballot].intersection(attributes)
        if not wanted:
            return None
        known = self._kept.get((ballot, wanted))
        return known or self._kept.setdefault((ballot, wanted), self._worked_out(ballot, wanted))

    def _worked_out(self, ballot: int, wanted: Collection[str]) -> Told:
        questions = [(place, self.questions[index]) for place, index in enumerate(self.ballots[ballot])]
        columns = [self._column(*each, wanted) for each in questions if not set(wanted).isdisjoint(each[1].attributes)]
        names = tuple(name for column in columns for name in column.attributes)
        channel = product([column.channel for column in columns])
        return Told(self._one_for_all(self.domain.project(names)), self._one_for_all(channel), tuple(columns))

    def _column(self, place: int, question: Question, wanted: Collection[str]) -> Column:
        attributes = tuple(name for name in question.attributes if name in wanted)
        shape = self.domain.project(question.attributes).shape
        axes = tuple(question.attributes.index(name) for name in attributes)
        channel = question.channel.collapse(shape, axes)
        if channel is None:
            # No channel of the wanted attributes alone: keep the whole question and let the estimate be projected.
            return Column(place, question.attributes, question.channel, None)
        return Column(place, attributes, channel, None if len(axes) == len(shape) else (shape, axes))

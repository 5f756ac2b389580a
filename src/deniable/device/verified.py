"""A design that keeps its promise: what `verify` makes of the bytes that a server sent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from deniable.device import messages
from deniable.device.epsilon import epsilon_of
from deniable.device.refusal import refuse
from deniable.device.wire import encode
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deniable.device.encoding import Coded
    from deniable.device.kinds.base import Kind


@dataclass(frozen=True)
class VerifiedQuestion(Frozen):
    """A question whose channel's integers were found sound."""

    domain: Mapping[str, messages.Attribute]
    channel: Kind
    ratio: Fraction

    @property
    def name(self) -> str:
        """The attributes, joined."""
        return "*".join(self.domain)

    def is_static(self, static: Collection[str]) -> bool:
        """Tell whether none of the attributes changes, and the channel stays the same."""
        stays = self.channel.limits is None and not self.channel.has_coin
        return stays and all(name in static for name in self.domain)

    def cell(self, codes: Mapping[str, int]) -> int:
        """The truth of the channel that the attributes' codes make together."""
        cell = 0
        for attribute in self.domain.values():
            cell = cell * len(attribute) + codes[attribute.name]
        return cell

    def key(self, words: Sequence[str]) -> str:
        """Names the question, its main-language words and its channel: what a device remembers answers by."""
        return messages.design_id(encode([*self._named, list(words)]))

    @cached_property
    def first_key(self) -> str:
        """What version 1 remembered answers by: the words were not part of it. Read, and never written any more."""
        return messages.design_id(encode(self._named))

    @property
    def _named(self) -> list[object]:
        return [[[v.name, list(v.categories)] for v in self.domain.values()], self.channel]


@dataclass(frozen=True)
class VerifiedDesign(Frozen):
    """A design that keeps its promise."""

    id: str
    message: messages.Design | messages.FirstDesign
    domain: Mapping[str, messages.Attribute]
    public: tuple[messages.Attribute, ...]
    questions: tuple[VerifiedQuestion, ...]
    ballots: tuple[tuple[int, ...], ...]
    ratio: Fraction
    asked_coded: tuple[Coded, ...] = ()
    public_coded: tuple[Coded, ...] = ()

    @property
    def terms(self) -> messages.Design:
        """The message, which devices answer only if it is of this version."""
        if isinstance(self.message, messages.FirstDesign):
            refuse("unknown-version", "designs of version 1 can be read, not answered")
        return self.message

    @cached_property
    def plan_id(self) -> str:
        """The name that all amendments of this design share."""
        return self.id if isinstance(self.message, messages.FirstDesign) else messages.plan_id(self.message)

    @property
    def weights(self) -> tuple[int, ...] | None:
        """How often each ballot is drawn; None: all alike, as in every design of version 1."""
        return None if isinstance(self.message, messages.FirstDesign) else self.message.weights

    @property
    def epsilon(self) -> float:
        """The true total of the dearest ballot, rounded up."""
        return epsilon_of(self.ratio)

    def asked(self, ballot: int) -> tuple[VerifiedQuestion, ...]:
        """The questions of a ballot."""
        return tuple(self.questions[index] for index in self.ballots[ballot])

    @property
    def is_adaptive(self) -> bool:
        """Tell whether channels are published block by block."""
        return self.questions[0].channel.limits is not None

    @property
    def claim(self) -> Fraction | None:
        """The exact ratio that is claimed for a whole report, where less is claimed than the true one: deniability."""
        if self.message.plan.kind != "deniability":
            return None
        limits = [question.channel.limits for question in self.questions]
        claims = [Fraction(1) if each is None else each.claim for each in limits]  # all have some: `verify` has looked
        return max(prod((claims[index] for index in ballot), start=Fraction(1)) for ballot in self.ballots)

    @property
    def is_paired(self) -> bool:
        """Tell whether respondents share coins two by two."""
        return any(question.channel.has_coin for question in self.questions)

    def is_static(self, question: VerifiedQuestion) -> bool:
        """Tell whether none of a question's attributes changes, and its channel stays the same."""
        return question.is_static(self.message.static)

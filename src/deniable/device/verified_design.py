"""A design that keeps its promise: what `verify` makes of the bytes that a server sent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from deniable.device.epsilon import epsilon_of
from deniable.device.panel import share_of
from deniable.device.protocol import messages
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.exchange import exchange_of
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.device.channels.channel_kind import Kind
    from deniable.device.protocol.answer_encoding import Coded
    from deniable.device.protocol.exchange import Exchange


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

    @property
    def is_repeated(self) -> bool:
        """Tell whether a panel keeps its disguise: `verify` has looked that just those have two levels."""
        return self.channel.kept is not None

    def cell(self, codes: Mapping[str, int]) -> int:
        """The truth of the channel that the attributes' codes make together."""
        cell = 0
        for attribute in self.domain.values():
            cell = cell * len(attribute) + codes[attribute.name]
        return cell

    def key(self, panel: str, audience: Sequence[str], words: Sequence[str]) -> str:
        """What a disguise is kept by: a panel at its addresses, a question, its main-language words and its channel."""
        attributes = [[v.name, list(v.categories)] for v in self.domain.values()]
        return messages.design_id(encode([panel, list(audience), attributes, self.channel, list(words)]))


@dataclass(frozen=True)
class VerifiedDesign(Frozen):
    """A design that keeps its promise."""

    id: str
    message: messages.Design
    domain: Mapping[str, messages.Attribute]
    public: tuple[messages.Attribute, ...]
    questions: tuple[VerifiedQuestion, ...]
    ballots: tuple[tuple[int, ...], ...]
    ratio: Fraction
    asked_coded: tuple[Coded, ...]
    public_coded: tuple[Coded, ...]

    @cached_property
    def plan_id(self) -> str:
        """The name that all amendments of this design share."""
        return messages.plan_id(self.message)

    @property
    def epsilon(self) -> float:
        """The true total of the dearest ballot, rounded up."""
        return epsilon_of(self.ratio)

    def asked(self, ballot: int) -> tuple[VerifiedQuestion, ...]:
        """The questions of a ballot."""
        return tuple(self.questions[index] for index in self.ballots[ballot])

    @cached_property
    def exchange(self) -> Exchange:
        """What a device settles with the collector before it answers."""
        return exchange_of(self)

    @property
    def claim(self) -> Fraction | None:
        """The exact ratio that is claimed for a whole report, where less is claimed than the true one: deniability."""
        if not self.message.deniability:
            return None
        limits = [question.channel.limits for question in self.questions]
        claims = [Fraction(1) if each is None else each.claim for each in limits]  # all have some: `verify` has looked
        return max(prod((claims[index] for index in ballot), start=Fraction(1)) for ballot in self.ballots)

    @cached_property
    def found_again(self) -> Fraction | None:
        """At most this share of a panel's people is found again by what they send; None for what is no panel."""
        return share_of(self.message)

"""Request: what a design is asked for, and the options that a kind of design takes beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Meta

from deniable.channels.best_channel import Choice, best_channel, kept_channel
from deniable.errors import DesignError
from deniable.optimal.channel_for import MadeFor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Guess
    from deniable.channels.best_channel import Chooser
    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain
    from deniable.errors import DeniableError


class Options(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a kind of design takes beside a request: the keys of `[design]`, the options of `deniable randomize`."""

    @classmethod
    def described(cls) -> dict[str, str]:
        """What each of them is, in a sentence."""
        metas = {name: _metas(hint) for name, hint in get_type_hints(cls, include_extras=True).items()}
        return {name: next((m.description for m in found if m.description), "") for name, found in metas.items()}

    def at_fault(self, error: DeniableError) -> str | None:
        """The option that an error about a design speaks of: the one it names, else one that a detail is called as."""
        named = error.details.get("option", next((key for key in self.__struct_fields__ if key in error.details), None))
        return str(named) if named else None


def _metas(annotation: Any) -> list[Meta]:
    """What an annotation says beside its type, at whatever depth."""
    said = [each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Meta)]
    return said + [meta for part in get_args(annotation) for meta in _metas(part)]


class ChannelOptions(Options, kw_only=True, frozen=True):
    """The options of every design whose questions may go through any channel."""

    channel: Annotated[
        Choice, Meta(description='How an answer is disguised; "least_variance" computes which way tells most.')
    ] = "krr"
    respondents: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="How many are planned: of channels alike in variance, least_variance takes the one of the "
                "least work.",
            ),
        ]
        | None
    ) = None


class Proposal(NamedTuple):
    """A design that a plan may compare with others: what it is called there, and the options that make it."""

    label: str
    options: Options


@dataclass(frozen=True)
class Request:
    """What a survey, a table or a plan wants of a design.

    Attributes:
        domain: the attributes that are asked for.
        epsilon: what each respondent may spend in total.
        aims: the wanted numbers.
        n: how many respondents are planned; 0 where nobody has said.
        guess: the assumed truth at which designs are compared; None for even shares.
        shares: the same as a file says it, where it is shares by attribute.
        repeats: the attributes whose disguise a panel keeps from wave to wave.
        again: the epsilon of what is sent of a kept disguise.
        is_served: whether respondents' own devices are to answer it.
    """

    domain: Domain
    epsilon: float
    aims: tuple[Wanted, ...]
    n: int = 0
    guess: Guess | None = None
    shares: Mapping[str, tuple[float, ...]] | None = None
    repeats: tuple[str, ...] = ()
    again: float = 0.0
    is_served: bool = False

    @cached_property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The sets of attributes that some wanted number is about: asked together, they tell it."""
        return tuple(dict.fromkeys(one.attributes for one in self.aims))

    def channels(self, options: ChannelOptions) -> Chooser:
        """What makes the channel of each question."""
        if options.respondents is not None and options.channel != "least_variance":
            raise DesignError(
                "how many respondents are planned decides only which channel has the least variance at the least work. "
                'Say channel = "least_variance", or leave respondents out',
                option="respondents",
            )
        return partial(self._channel, options.channel, options.respondents)

    def _channel(self, choice: Choice, respondents: int | None, question: Domain, epsilon: float) -> Channel:
        if set(question) <= set(self.repeats):
            return kept_channel(
                question.cells, epsilon, "least_variance" if choice == "optimal" else choice, self.again
            )
        if choice == "optimal":
            made = MadeFor(self.aims)(question, epsilon)
            if made.kind == "patterns":  # whose reports are categories
                return made
            choice = "least_variance"
        return best_channel(question.cells, epsilon, choice, n=respondents)

    def both_ways(self, label: str, options: ChannelOptions) -> Iterator[Proposal]:
        """A design through k-RR, and through the channels of least variance for as many respondents as are planned."""
        yield Proposal(label, options)
        sharper = msgspec.structs.replace(options, channel="least_variance", respondents=self.n)
        yield Proposal(f"{label}, least variance", sharper)

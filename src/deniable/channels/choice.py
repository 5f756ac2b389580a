"""Which channel for a question with so many possible answers: named, or the one of least variance.

Which is best is computed, not remembered: every channel is made for the same epsilon, and the variances of the unbiased
cells are summed at even shares. k-RR is kept unless another is better by more than a hundredth, because its reports are
answers of the question, whose counts have a likelihood; so it is the default as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from deniable.channels.hadamard import HadamardResponse
from deniable.channels.hashing import LocalHashing
from deniable.channels.krr import KRR
from deniable.channels.subset import SubsetSelection
from deniable.channels.two_level import TwoLevel
from deniable.channels.unary import Unary
from deniable.device.kinds.base import IN_ONE_NUMBER
from deniable.device.kinds.hadamard import MOST_CATEGORIES
from deniable.device.kinds.hashing import PRIME
from deniable.errors import DesignError, PrecisionError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels.base import Channel
    from deniable.domain import Domain

    Chooser = Callable[[Domain, float], Channel]
    """What makes the channel of a question, given its attributes and its epsilon."""

Choice = Literal["krr", "unary", "subset", "hashing", "hadamard", "least_variance"]

_MAKERS: dict[str, tuple[int, Callable[[int, float], Channel]]] = {  # the most categories it takes, and how it is made
    "krr": (1 << 32, KRR),
    "subset": (IN_ONE_NUMBER, SubsetSelection),
    "unary": (IN_ONE_NUMBER, Unary),
    "hashing": (PRIME, LocalHashing),
    "hadamard": (MOST_CATEGORIES, HadamardResponse),
}
_BETTER = 0.99


def best_channel(cells: int, epsilon: float, choice: Choice = "krr") -> Channel:
    """The channel for one question with this many possible answers.

    >>> best_channel(4, 1.0, "least_variance"), best_channel(16, 1.0, "least_variance")
    (<KRR(4): 4 truths, 4 reports, epsilon 0.999961>, <SubsetSelection(16, d=4): 16 truths, epsilon 0.999961>)
    """
    if choice not in get_args(Choice):
        raise DesignError(f"channel must be one of {listed(get_args(Choice))}, not {choice!r}", channel=choice)
    if choice != "least_variance":
        most, make = _MAKERS[choice]
        if cells > most:
            raise DesignError(
                f'a report through channel "{choice}" holds at most {most} possible answers, and this question has '
                f'{cells}. Use "hashing" or "hadamard"',
                channel=choice,
            )
        return make(cells, epsilon)
    return _least_variance(cells, epsilon, _all(cells, epsilon))


def kept_channel(cells: int, epsilon: float, choice: Choice, again: KRR) -> Channel:
    """The same for a question that is asked again and again, and always gets the same answer.

    A category is repeated as it is. A set that is repeated would be a pseudonym: of sets the first is kept, and every
    report is made of it through `again`, bit by bit. What that costs in variance counts where the least is looked for.

    >>> [kept_channel(12, 1.0, "least_variance", KRR(2, again)).name for again in (2.0, 4.0)]
    ['HadamardResponse(12)', 'TwoLevel(SubsetSelection(12, d=3))']
    """
    if choice != "least_variance":
        return _kept(best_channel(cells, epsilon, choice), again)
    able = [channel for channel in _all(cells, epsilon) if not isinstance(channel, LocalHashing)]
    return _least_variance(cells, epsilon, [_kept(channel, again) for channel in able])


def channel_for(question: Domain, epsilon: float, choice: Choice | Chooser) -> Channel:
    """The channel of a question: of a named kind, or what a function makes of the question and its epsilon."""
    return choice(question, epsilon) if callable(choice) else best_channel(question.cells, epsilon, choice)


def _kept(channel: Channel, again: KRR) -> Channel:
    if isinstance(channel, LocalHashing):
        raise DesignError(
            'reports through channel "hashing" are all different, so one that is repeated is a pseudonym, and there is '
            'no second level for it. Use "hadamard" for a question with many answers that is asked again',
            channel="hashing",
        )
    return TwoLevel(channel, again) if isinstance(channel, Unary | SubsetSelection) else channel


def _all(cells: int, epsilon: float) -> list[Channel]:
    return [channel for most, make in _MAKERS.values() if cells <= most and (channel := _made(make, cells, epsilon))]


def _least_variance(cells: int, epsilon: float, found: list[Channel]) -> Channel:
    if not found:
        raise PrecisionError(f"no channel for {cells} possible answers meets epsilon {epsilon:g}", requested=epsilon)
    spread = {channel: _total_variance(channel) for channel in found}
    best = min(found, key=lambda channel: spread[channel])
    plain = found[0]
    return plain if isinstance(plain, KRR) and spread[best] > _BETTER * spread[plain] else best


def _made(make: Callable[[int, float], Channel], cells: int, epsilon: float) -> Channel | None:
    try:
        return make(cells, epsilon)
    except PrecisionError:
        return None


def _total_variance(channel: Channel) -> float:
    return float(channel.variance(np.full(channel.inputs, 1 / channel.inputs), 1).sum())

"""Which channel for a question with so many possible answers: named, or the one of least variance.

Which is best is computed, not remembered: every channel is made for the same epsilon, and the variances of the unbiased
cells are summed at even shares. k-RR is kept unless another is better by more than a hundredth, because its reports are
answers of the question, whose counts have a likelihood; so it is the default as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from deniable.channels.hadamard import HadamardResponse
from deniable.channels.hashing import PRIME, LocalHashing
from deniable.channels.krr import KRR
from deniable.channels.masks import IN_ONE_NUMBER
from deniable.channels.subset import SubsetSelection
from deniable.channels.unary import Unary
from deniable.domain import listed
from deniable.errors import DesignError, PrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels.base import Channel

Choice = Literal["krr", "unary", "subset", "hashing", "hadamard", "least_variance"]

_MAKERS: dict[str, tuple[int, Callable[[int, float], Channel]]] = {  # the most categories it takes, and how it is made
    "krr": (1 << 32, KRR),
    "subset": (IN_ONE_NUMBER, SubsetSelection),
    "unary": (IN_ONE_NUMBER, Unary),
    "hashing": (PRIME, LocalHashing),
    "hadamard": (1 << 20, HadamardResponse),
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
    found = [channel for most, make in _MAKERS.values() if cells <= most and (channel := _made(make, cells, epsilon))]
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

"""One answer's disguise, draw by draw, in the order that all clients share (`tests/vectors/outcomes.json`).

============  =======================================================================================================
categories    one draw
`unary`       a draw for each category, in order: it is in the set if the draw is below `own` (the truth) or `other`
`subset`      a draw below `own` puts the truth in; then Floyd's rounds, each an even number below j + 1
`hashing`     the function's A, B and C, each an even number below 65537; then one draw for the hash value
`two_level`   the draws of the kept set; then, each time it is sent, a draw for each category: below `other`, its bit is
              turned over
============  =======================================================================================================

An even number below n takes 32-bit draws: the first that lies below the largest multiple of n, modulo n. How many that
are depends on n alone. `Channel.randomize` has the same law, and other, faster ways for many answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deniable.channels.hashing import PRIME, LocalHashing
from deniable.channels.subset import SubsetSelection
from deniable.channels.two_level import TwoLevel
from deniable.channels.unary import Unary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from deniable.channels.base import Channel

    Draw: TypeAlias = Callable[[int], int]
    """A uniform number of so many bits."""


def disguise(channel: Channel, truth: int, draw: Draw) -> int:
    """The report that draws make of a truth."""
    if not 0 <= truth < channel.inputs:  # every answer was encoded before: this cannot be reached
        raise AssertionError("a code that the channel does not have")
    match channel:
        case TwoLevel():
            return resend(channel, disguise(channel.first, truth, draw), draw)
        case Unary():
            return _unary(channel, truth, draw)
        case SubsetSelection():
            return _subset(channel, truth, draw)
        case LocalHashing():
            return _hashing(channel, truth, draw)
    assert channel.bits is not None
    return int(channel.outcome(np.array([truth]), np.array([draw(channel.bits)]))[0])


def resend(channel: TwoLevel, kept: int, draw: Draw) -> int:
    """What is sent of a kept set this time."""
    turned = [draw(channel.again.bits) < channel.again.other for _ in range(channel.inputs)]
    return kept ^ _set(v for v, over in enumerate(turned) if over)


def below(n: int, draw: Draw) -> int:
    """A number below n, all of them equally likely."""
    limit = (1 << 32) - (1 << 32) % n
    while (drawn := draw(32)) >= limit:
        pass
    return drawn % n


def draw_ballot(weights: Sequence[int], draw: Draw) -> int:
    """Draw a ballot, by the design's weights; by nothing else.

    An even number below the weights' sum, and the ballot in whose stretch it falls.
    """
    place = below(sum(weights), draw)
    for number, weight in enumerate(weights):
        place -= weight
        if place < 0:
            return number
    raise AssertionError  # the weights' sum is above every place


def _unary(channel: Unary, truth: int, draw: Draw) -> int:
    assert channel.bits is not None
    drawn = [draw(channel.bits) for _ in range(channel.inputs)]
    return _set(v for v, each in enumerate(drawn) if each < (channel.own if v == truth else channel.other))


def _subset(channel: SubsetSelection, truth: int, draw: Draw) -> int:
    assert channel.bits is not None
    is_kept = draw(channel.bits) < channel.own
    others = channel.inputs - 1
    found: set[int] = set()
    for j in range(others - channel.d, others):
        drawn = below(j + 1, draw)
        if not (is_kept and j == others - channel.d):  # without its first round, Floyd's algorithm takes one less
            found.add(j if drawn in found else drawn)
    return _set([*(v if v < truth else v + 1 for v in found), *([truth] if is_kept else [])])


def _hashing(channel: LocalHashing, truth: int, draw: Draw) -> int:
    a, b, c = (below(PRIME, draw) for _ in range(3))
    hashed = (a + b * truth + c * truth**2) % PRIME * channel.g // PRIME
    return ((a * PRIME + b) * PRIME + c) * channel.g + disguise(channel.value, hashed, draw)


def _set(members: Iterable[int]) -> int:
    return sum(1 << v for v in members)

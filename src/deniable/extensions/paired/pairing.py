"""Pairing respondents at random, and dealing each pair its coins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.randomness import Stream

ALONE = -1


def pair_up(n: int, stream: Stream) -> NDArray[np.int64]:
    """Everybody's partner in a uniformly random pairing; `ALONE` for the one who is left over when n is odd.

    >>> from deniable.core.randomness import Seeded
    >>> partner = pair_up(5, Seeded(1).stream())
    >>> int((partner == ALONE).sum()), [int(partner[partner[i]]) == i for i in range(5) if partner[i] != ALONE]
    (1, [True, True, True, True])
    """
    order = stream.permutation(n)
    first, second = order[0 : n - n % 2 : 2], order[1:n:2]
    partner = np.full(n, ALONE, dtype=np.int64)
    partner[first], partner[second] = second, first
    return partner


def deal(partner: NDArray[np.int64], stream: Stream) -> NDArray[np.int8]:
    """One shared coin a pair: +1 for one member, -1 for the other; whoever is alone gets a coin of their own."""
    sides = (1 - 2 * (stream.words(len(partner), 8) & 1).astype(np.int8)).astype(np.int8)
    follows = np.flatnonzero(partner > np.arange(len(partner)))
    sides[follows] = -sides[partner[follows]]
    return sides


def completed(partner: NDArray[np.int64], answered: NDArray[np.bool_]) -> int:
    """How many pairs both answered."""
    paired = partner != ALONE
    return int((answered[paired] & answered[partner[paired]]).sum()) // 2

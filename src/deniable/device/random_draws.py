"""Random draws of a device: straight from the operating system, one at a time.

An even number below n takes 32-bit draws: the first that lies below the largest multiple of n, modulo n. How many that
are depends on n alone. All clients draw in the same order (`tests/vectors/outcomes.json`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Draw: TypeAlias = Callable[[int], int]
    """A uniform number of so many bits."""


def draw(bits: int) -> int:
    """A uniform number of 8, 16, 32 or 64 bits, which nobody can predict."""
    return int.from_bytes(os.urandom(bits // 8), "little")


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
    return stretch(weights, below(sum(weights), draw))


def stretch(lengths: Sequence[int], place: int) -> int:
    """Which of the stretches, laid end to end, a place falls into.

    >>> stretch([2, 3], 1), stretch([2, 3], 2)
    (0, 1)
    """
    for index, length in enumerate(lengths):
        place -= length
        if place < 0:
            return index
    raise AssertionError("a place beyond the last stretch")

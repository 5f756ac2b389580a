"""Packed coins: many bits, each 1 with probability exactly b / 2^B, sixty-four to a word.

A draw u of B uniform bits lies below the integer b with probability b / 2^B. Sixty-four such draws are compared with b
at once, binary digit by binary digit, from the last to the first. Let `below` say whether the digits read so far make u
the smaller; the next digit of u is uniform, and so is its complement r:

    digit of b is 1:   u is smaller if its digit is 0, undecided if it is 1:   below = r | below
    digit of b is 0:   u is larger if its digit is 1, undecided if it is 0:    below = r & below

One AND or OR a digit, no branch on any data, no rounding: all 2^B draws lead where b says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.core.randomness import Stream

CHUNK = 1 << 15  # words at a time: the coins and their random bits stay in the processor's cache
COINS = 64 * CHUNK


def toss(count: int, weight: int, bits: int, stream: Stream) -> Iterator[NDArray[np.uint64]]:
    """Toss `count` coins that show 1 with probability weight / 2^bits, `COINS` at a time.

    Coin k is bit k of the little-endian words; the last word may hold coins too many. The array is used again for the
    next chunk, so it must be read before going on.

    >>> from deniable.core.randomness import Seeded
    >>> tossed = [np.bitwise_count(words).sum() for words in toss(1 << 20, 1 << 14, 16, Seeded(1).stream())]
    >>> round(float(sum(tossed)) / (1 << 20), 2)
    0.25
    """
    words = np.empty(min(CHUNK, -(-count // 64)), dtype="<u8")
    random = np.empty_like(words)
    for start in range(0, count, COINS):
        size = min(CHUNK, -(-(count - start) // 64))
        below, r = words[:size], random[:size]
        below[:] = 0
        for digit in digits(weight, bits):
            stream.fill(r)
            (np.bitwise_or if digit else np.bitwise_and)(below, r, out=below)
        yield below


def digits(weight: int, bits: int) -> list[int]:
    """The binary digits of a weight, last first, without the zeros at its end: those could only AND zeros.

    >>> digits(0b0110, 4)
    [1, 1, 0]
    """
    every = [weight >> place & 1 for place in range(bits)]
    return every[every.index(1) :]

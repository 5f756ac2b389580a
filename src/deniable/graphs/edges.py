"""Edge-local randomized response: every pair of nodes says "edge" or "no edge" through a coin of its own.

Nobody sees the graph. A node knows its own list of neighbours and answers, for each pair it reports, with the truth
flipped with probability q = b / 2^B (the two-category `KRR`). Non-edges are answered like edges: that a pair is silent
would be its answer. So there are n (n - 1) / 2 reports however sparse the graph is, and the noise alone makes about
q n (n - 1) / 2 of them say "edge".

Who reports a pair decides what it costs:

=============  =======================================  ====================  ========================
reported by    who answers for the pair i < j           epsilon of an edge    epsilon of a person
=============  =======================================  ====================  ========================
`"one"`        i, the one who comes first               epsilon               (n - 1) epsilon
`"both"`       i and j, each with a coin of their own   2 epsilon             2 (n - 1) epsilon
=============  =======================================  ====================  ========================

An edge is protected by its row; a person's whole list of neighbours only by the last column, which is hardly a
promise. The list of nodes is public. The number of edges stays secret.

Coins are packed, sixty-four to a word, each 1 with probability exactly b / 2^B. A draw u of B uniform bits lies below
the integer b with probability b / 2^B. Sixty-four such draws are compared with b at once, binary digit by binary digit,
from the last to the first. Let `below` say whether the digits read so far make u the smaller; the next digit of u is
uniform, and so is its complement r:

    digit of b is 1:   u is smaller if its digit is 0, undecided if it is 1:   below = r | below
    digit of b is 0:   u is larger if its digit is 1, undecided if it is 0:    below = r & below

One AND or OR a digit, no branch on any data, no rounding: all 2^B draws lead where b says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from deniable.channels.krr import KRR
from deniable.core.randomness import SECURE, Source, check_source
from deniable.errors import DesignError
from deniable.frozen import readonly
from deniable.graphs.graph import Graph
from deniable.graphs.noisy_graph import NoisyGraph
from deniable.graphs.pair_sets import LIST_BELOW, PairSet, pairs_of, places

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


Reporter = Literal["one", "both"]

_GIVEN_AWAY = (
    "The nodes were taken from the edges, so being on the public list of nodes says that a person has at least one "
    "edge. Give the list of nodes yourself to avoid this."
)


def randomize(
    graph: Any,
    epsilon: float | None = None,
    *,
    reported_by: Reporter = "one",
    channel: KRR | None = None,
    source: Source = SECURE,
) -> NoisyGraph:
    """Disguise every pair of a graph.

    Every call draws anew, and nobody counts the calls: two disguises of the same edges tell what both tell together.
    `deniable.graphs.graph_job.randomize_graph` disguises a file, and sees to that.

    Args:
        graph: A `Graph`, or what `Graph.of` takes: a networkx graph, adjacency lists, a matrix.
        epsilon: What one report of one pair may spend.
        reported_by: `"one"` end of a pair answers for it, or `"both"` do; an edge then costs twice epsilon.
        channel: The two-category channel itself, in place of `epsilon`.
        source: For simulations only; leave it alone otherwise.

    >>> from deniable.core.randomness import Seeded
    >>> triangle = Graph([(0, 1), (1, 2), (0, 2)], nodes=50)
    >>> randomize(triangle, epsilon=3.0, source=Seeded(1))
    <NoisyGraph: 50 nodes, 55 pairs reported as edges, epsilon 2.9997 an edge>
    """
    check_source(source)
    truth = Graph.of(graph)
    if (epsilon is None) == (channel is None):
        raise DesignError("give either an epsilon for the report of a pair, or a channel")
    if reported_by not in get_args(Reporter):
        raise DesignError(f'a pair is reported_by="one" of its ends or by "both", not {reported_by!r}')
    coin = KRR(2, epsilon=epsilon) if channel is None else channel
    if coin.inputs != 2:
        raise DesignError(f"a pair is an edge or not, but {coin.name} has {coin.inputs} categories", channel=coin)
    reports = tuple(flipped(truth.pairs, coin, source.stream()) for _ in range(1 if reported_by == "one" else 2))
    return NoisyGraph(truth.nodes, reports, coin, (_GIVEN_AWAY,) if truth.nodes_from_edges else ())


def flipped(truth: PairSet, coin: KRR, stream: Stream) -> PairSet:
    """Flip every pair's membership with the coin's probability, a chunk of pairs at a time.

    The outcome is kept as a list if the coin makes few ones, else as bits: a decision that does not look at the truth.
    """
    total = pairs_of(truth.n)
    listed = coin.q < LIST_BELOW
    packed = np.empty(0 if listed else -(-total // 8), dtype=np.uint8)
    parts: list[NDArray[np.int64]] = []
    for chunk, words in enumerate(toss(total, coin.other, coin.bits, stream)):
        first = chunk * COINS
        coins = words.view(np.uint8)[: -(-(total - first) // 8)]
        if total - first < 8 * len(coins):
            coins[-1] &= (1 << (total - first) % 8) - 1  # coins of no pair
        start, stop = np.searchsorted(truth.data, (first, first + COINS))
        _toggle(coins, truth.data[start:stop] - first)
        if listed:
            parts.append(places(coins) + first)
        else:
            packed[first // 8 : first // 8 + len(coins)] = coins
    return PairSet(truth.n, readonly(np.concatenate(parts) if listed else packed))


def _toggle(packed: NDArray[np.uint8], where: NDArray[np.int64]) -> None:
    """Flip the bits at some places."""
    masks = np.left_shift(np.uint8(1), (where % 8).astype(np.uint8))
    np.bitwise_xor.at(packed, where // 8, masks)

"""A graph made from the reports, with a given number of edges (Wang, Wu & Hu 2016, section 6.4).

Of m true edges, m C(r, w) p^w q^(r - w) are expected among the pairs that w of their r reports call an edge. The
resampled graph takes that many pairs of each such class, at random: with one report a pair, p m of the reported edges
and q m of the others. It is one draw that fits the reports, can be handed to any program, and is biased: most of the
structure among the reported edges is noise, so triangles nearly vanish when epsilon is small. For a statistic itself,
take its unbiased estimate.

**Public or secret, the number of edges decides what this costs.** The paper gives the graph its true 2m nonzero
entries, so m must be public. Left out here, m is estimated from the reports, and nothing further is given away.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.randomness import SECURE, Source, check_source
from deniable.errors import InputError
from deniable.graphs.degrees_and_triangles import MOST_DENSE
from deniable.graphs.graph import Graph
from deniable.graphs.pair_sets import endpoints, pairs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.graphs.noisy_graph import NoisyGraph


def resampled(noisy: NoisyGraph, edges: int | None = None, *, source: Source = SECURE) -> Graph:
    """Draw a graph that fits the reports.

    Args:
        noisy: The reports.
        edges: The public number of edges; without it, its unbiased estimate, rounded, within 0 and all pairs.
        source: Where the draw comes from. It looks at reports only, so a seeded one does no harm.

    >>> from deniable.graphs.edges import randomize
    >>> from deniable.core.randomness import Seeded
    >>> path = Graph([(0, 1), (1, 2), (2, 3)], nodes=30)
    >>> resampled(randomize(path, epsilon=2.0, source=Seeded(1)), edges=3, source=Seeded(2))
    <Graph: 30 nodes, 3 edges>
    """
    check_source(source)
    n, total = len(noisy.nodes), pairs_of(len(noisy.nodes))
    if n > MOST_DENSE:
        raise InputError(f"resampling looks at every pair of at most {MOST_DENSE} nodes; here are {n}", n=n)
    if edges is None:
        edges = int(np.clip(round(noisy.degrees().total.value), 0, total))
    if not 0 <= edges <= total:
        raise InputError(f"a graph of {n} nodes has between 0 and {total} edges, not {edges}", edges=edges)
    said = np.sum([pairs.flags() for pairs in noisy.reports], axis=0, dtype=np.uint8)
    sizes = np.bincount(said, minlength=len(noisy.reports) + 1)
    rng = source.stream().generator()
    chosen = [
        rng.choice(np.flatnonzero(said == times), size, replace=False, shuffle=False)
        for times, size in enumerate(_shares(edges, sizes, noisy.channel.p).tolist())
    ]
    i, j = endpoints(np.concatenate(chosen), n)
    return Graph(np.column_stack([i, j]), n) if noisy.nodes == range(n) else _labelled(noisy, i, j)


def _labelled(noisy: NoisyGraph, i: NDArray[np.int64], j: NDArray[np.int64]) -> Graph:
    return Graph([(noisy.nodes[a], noisy.nodes[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)], noisy.nodes)


def _shares(edges: int, sizes: NDArray[np.int64], p: float) -> NDArray[np.int64]:
    """How many edges to take from the pairs with 0, 1, .. reports, none more than there are pairs.

    >>> _shares(10, np.array([90, 30]), 0.8).tolist(), _shares(10, np.array([90, 5]), 0.8).tolist()
    ([2, 8], [5, 5])
    """
    r = len(sizes) - 1
    expected = [edges * comb(r, w) * p**w * (1 - p) ** (r - w) for w in range(r + 1)]
    shares = np.zeros(r + 1, dtype=np.int64)
    for w in range(r, 0, -1):
        shares[w] = min(round(expected[w]), sizes[w], edges - shares.sum())
    shares[0] = min(edges - shares.sum(), sizes[0])
    for w in range(r, 0, -1):  # the pairs that nobody reported may be fewer than were wanted of them
        shares[w] += min(edges - shares.sum(), sizes[w] - shares[w])
    return shares

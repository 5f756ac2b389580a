"""Generated graphs to try things on: a few well-linked people, and friends of friends who became friends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.core.randomness import Seeded
from deniable.errors import InputError
from deniable.graphs.graph import Graph
from deniable.graphs.pair_sets import check_size, pairs_of

if TYPE_CHECKING:
    from deniable.core.randomness import Source


def clustered_graph(nodes: int, edges: int, closing: float = 0.5, *, source: Source | None = None) -> Graph:
    """Grow a graph node by node, like Holme and Kim (2002).

    Every newcomer brings its share of the edges. Each goes to an older node chosen with probability proportional to its
    degree plus one, or, with probability `closing`, to a friend of a friend the newcomer has made already: a triangle.

    >>> clustered_graph(180, 684, closing=0.5)
    <Graph: 180 nodes, 684 edges>
    """
    if not 0 <= edges <= pairs_of(check_size(nodes)) or not 0 <= closing < 1:
        raise InputError(
            f"a graph of {nodes} nodes has 0 to {pairs_of(nodes)} edges, and closing is a probability below 1; asked "
            f"for {edges} edges, closing {closing}"
        )
    rng = (source or Seeded(1)).stream().generator()
    friends: list[list[int]] = [[] for _ in range(nodes)]
    ends = [0]  # every node once, and once more for each of its edges
    brought = 0
    for new in range(1, nodes):
        while brought < edges * new // (nodes - 1) and len(friends[new]) < new:
            old = ends[rng.integers(len(ends))]
            if friends[new] and rng.random() < closing:
                through = friends[friends[new][rng.integers(len(friends[new]))]]
                old = through[rng.integers(len(through))]
            if old != new and old not in friends[new]:
                friends[new].append(old)
                friends[old].append(new)
                ends.append(old)
                brought += 1
        ends += [new] * (1 + len(friends[new]))
    pairs = [(old, new) for new in range(nodes) for old in friends[new] if old < new]
    return Graph(np.array(pairs, dtype=np.int64).reshape(-1, 2), nodes)

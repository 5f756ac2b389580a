"""A second stand-in for the paper's network, denser in triangles: 180 people, 684 friendships, 832 triangles.

Newcomers choose four friends, rather whom many know; then friendships are exchanged in pairs, a-b and c-d for a-d and
c-b, whenever that loses no triangle. Exchanges leave everybody's number of friends as it is. Nobody gets more than 13
friends in common with another one, which is what noise for a curator's triangle counts is measured by.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from deniable import Seeded
from deniable.graphs import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

NODES, EDGES, TRIANGLES, COMMON = 180, 684, 832, 13
_NEW = 4
_JOINED = _NEW + EDGES // _NEW
_EVEN = 1  # how many friends everybody seems to have besides the real ones, to a newcomer


@cache
def knitted() -> Graph:
    """The graph; always the same."""
    rng = Seeded(8).stream().generator()
    links = grown(rng)
    ends = np.argwhere(np.triu(links))
    have = int(np.trace(links @ links @ links)) // 6
    while have < TRIANGLES:
        first, second = rng.integers(len(ends), size=2)
        (a, b), (c, d) = ends[first], ends[second][:: rng.choice([-1, 1])]
        if len({a, b, c, d}) < 4 or links[a, d] or links[c, b]:
            continue
        changed = links.copy()
        changed[[a, b, c, d], [b, a, d, c]] = 0
        changed[[a, d, c, b], [d, a, b, c]] = 1
        now = triangles_near(changed, a, b, c, d) - triangles_near(links, a, b, c, d)
        if 0 <= now <= TRIANGLES - have and most_in_common(changed, (a, b, c, d)) <= COMMON:
            links, have = changed, have + now
            ends[first], ends[second] = (a, d), (c, b)
    return Graph(np.argwhere(np.triu(links)), NODES)


def grown(rng: np.random.Generator) -> NDArray[np.int64]:
    """Who knows whom before exchanges, as a matrix."""
    links = np.zeros((NODES, NODES), dtype=np.int64)
    for new in range(_NEW, _JOINED):
        weight = links[:new].sum(axis=1) + _EVEN
        friends = rng.choice(new, size=_NEW, replace=False, p=weight / weight.sum())
        links[new, friends] = links[friends, new] = 1
    return links


def triangles_near(links: NDArray[np.int64], a: int, b: int, c: int, d: int) -> int:
    """Triangles on any of the four pairs that an exchange touches; a triangle may hold two of them."""
    pairs = [(a, b), (c, d), (a, d), (c, b)]
    found = {frozenset((x, y, int(z))) for x, y in pairs if links[x, y] for z in np.flatnonzero(links[x] & links[y])}
    return len(found)


def most_in_common(links: NDArray[np.int64], nodes: tuple[int, ...]) -> int:
    """The largest number of common friends that one of the nodes has with anybody."""
    shared = links[list(nodes)] @ links
    shared[np.arange(len(nodes)), list(nodes)] = 0
    return int(shared.max())

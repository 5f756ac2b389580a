"""The true graph: nodes, whose list is public, and edges, each of which is somebody's secret.

Simple and undirected: a pair of nodes is an edge or is not. What could mean anything else is refused: an edge given
twice, an edge from a node to itself, a neighbour that does not name the node back, an edge to a node nobody listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError, MissingExtraError
from deniable.frozen import Frozen, again, fix, readonly
from deniable.graphs.pair_sets import PairSet, check_size, endpoints, number

if TYPE_CHECKING:
    from types import ModuleType

    import networkx as nx
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

Node = Hashable


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Graph(Frozen):
    """A simple undirected graph.

    Args:
        edges: Pairs of nodes, or an array of shape (edges, 2).
        nodes: Every node, edges or not; a number n stands for 0 .. n - 1. Without it the nodes are those of the edges,
            and the list of nodes, which is public, then gives away that each of them has an edge.

    >>> graph = Graph([("ann", "bob"), ("bob", "cem"), ("ann", "cem"), ("cem", "dora")])
    >>> graph
    <Graph: 4 nodes, 4 edges>
    >>> graph.degrees().tolist(), graph.triangles().tolist()
    ([2, 2, 3, 1], [1, 1, 1, 0])
    """

    nodes: Sequence[Node]
    pairs: PairSet
    nodes_from_edges: bool  # whether the list of nodes was read off the edges

    def __init__(self, edges: Iterable[Any] | NDArray[Any], nodes: Iterable[Node] | int | None = None) -> None:
        """Check and number the edges."""
        listed = edges if isinstance(edges, np.ndarray) else list(edges)
        from_edges = nodes is None
        if nodes is None:
            nodes = dict.fromkeys(node for edge in listed for node in _both(edge))
        fix(self, nodes=labelled(nodes), nodes_from_edges=from_edges)
        if isinstance(listed, np.ndarray) and isinstance(self.nodes, range):
            codes = _array_codes(listed, len(self.nodes))
        else:
            codes = _label_codes(listed, self.nodes)
        fix(self, pairs=PairSet(len(self.nodes), readonly(self._numbers(codes))))

    @classmethod
    def _of(cls, **parts: Any) -> Graph:
        """A graph of parts that were checked."""
        made = cls.__new__(cls)
        fix(made, **parts)
        return made

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return again(Graph._of, nodes=self.nodes, pairs=self.pairs, nodes_from_edges=self.nodes_from_edges)

    def _numbers(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        low, high = codes.min(axis=1), codes.max(axis=1)
        if (low == high).any():
            node = self.nodes[int(low[low == high][0])]
            raise InputError(
                f"{node!r} is listed as its own neighbour; self-loops ({int((low == high).sum())} here) are no "
                f"relation between two people. Leave them out",
                node=node,
            )
        numbers = np.sort(number(low, high, len(self.nodes)))
        again = numbers[1:][np.diff(numbers) == 0]
        if again.size:
            raise InputError(
                f"an edge is listed more than once ({again.size} repetitions in all; a-b and b-a are the same edge). "
                f"List every edge once. Which it is is not said here: that two people are linked is what is disguised",
                repetitions=int(again.size),
            )
        return numbers

    # -- other ways in and out ----------------------------------------------------------------------------------

    @classmethod
    def from_adjacency(cls, adjacency: Mapping[Node, Iterable[Node]] | Any) -> Graph:
        """Read adjacency lists {node: neighbours}, or a square matrix of 0 and 1 (NumPy or scipy.sparse).

        >>> Graph.from_adjacency({"ann": ["bob"], "bob": ["ann"], "cem": []})
        <Graph: 3 nodes, 1 edges>
        """
        labels: Sequence[Node]
        if isinstance(adjacency, Mapping):
            labels = labelled(adjacency)
            codes = _label_codes(((node, other) for node, others in adjacency.items() for other in others), labels)
        else:
            labels, codes = _entries(adjacency)
        ordered = codes[:, 0] * len(labels) + codes[:, 1]
        back = codes[:, 1] * len(labels) + codes[:, 0]
        if len(np.unique(ordered)) != len(ordered):
            raise InputError("a node's list names the same neighbour twice; list every neighbour once")
        alone = codes[~np.isin(ordered, back)]
        if len(alone):
            raise InputError(
                f"the adjacency is not symmetric: {len(alone)} entries stand one way round only. An edge belongs to "
                f"both its ends; if the relation has a direction, it is not a graph of this kind",
                entries=len(alone),
            )
        up = codes[codes[:, 0] <= codes[:, 1]]  # a self-loop stays in, to be refused by name
        return cls(up, len(labels)) if isinstance(labels, range) else cls(named(labels, *up.T), labels)

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """Read a networkx graph: undirected, without parallel edges. Attributes are not looked at."""
        if graph.is_directed() or graph.is_multigraph():
            kind = "directed" if graph.is_directed() else "a multigraph"
            raise InputError(
                f"this networkx graph is {kind}; a pair of nodes can only be an edge or not. Convert it with "
                f"networkx.Graph(graph) if direction and multiplicity do not matter"
            )
        return cls(list(graph.edges()), list(graph.nodes()))

    @classmethod
    def of(cls, graph: Any) -> Graph:
        """Take a graph in any of the forms above."""
        if isinstance(graph, Graph):
            return graph
        if hasattr(graph, "is_multigraph"):
            return cls.from_networkx(graph)
        if isinstance(graph, Mapping) or hasattr(graph, "tocoo") or isinstance(graph, np.ndarray):
            return cls.from_adjacency(graph)
        raise InputError(
            f"cannot read a {type(graph).__name__} as a graph. Give a Graph(edges, nodes), a networkx graph, adjacency "
            f"lists {{node: neighbours}} or a symmetric matrix of 0 and 1"
        )

    def to_networkx(self) -> nx.Graph:
        """Make a networkx graph."""
        out = networkx().Graph()
        out.add_nodes_from(self.nodes)
        out.add_edges_from(self.edges())
        return out

    # -- what it holds -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and list(self.nodes) == list(other.nodes) and self.pairs == other.pairs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Graph: {len(self)} nodes, {len(self.pairs)} edges>"

    def edges(self) -> list[tuple[Node, Node]]:
        """Every edge once, as a pair of nodes."""
        return named(self.nodes, *endpoints(self.pairs.data, len(self)))

    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of every node."""
        return self.pairs.degrees

    def triangles(self) -> NDArray[np.int64]:
        """The number of triangles through every node: T_i = (A^3)_ii / 2."""
        a = self.sparse
        return np.asarray((a @ a).multiply(a).sum(axis=1), dtype=np.int64).ravel() // 2

    @cached_property
    def sparse(self) -> csr_array:
        """The adjacency matrix A as a scipy.sparse array of int64."""
        from scipy.sparse import csr_array

        i, j = endpoints(self.pairs.data, len(self))
        ones = np.ones(2 * len(i), dtype=np.int64)
        made = csr_array((ones, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(len(self), len(self)))
        for part in (made.data, made.indices, made.indptr):
            readonly(part)
        return made


def networkx() -> ModuleType:
    """Import networkx when a graph of its kind is asked for, and say how to install it when it is absent."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError(
            "graphs of this kind need networkx, which is not installed: pip install 'deniable[reproduce]'",
            extra="reproduce",
        ) from None
    return nx


def named(nodes: Sequence[Node], i: NDArray[np.int64], j: NDArray[np.int64]) -> list[tuple[Node, Node]]:
    """Pairs of positions as pairs of nodes."""
    return [(nodes[a], nodes[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)]


def labelled(nodes: Iterable[Node] | int) -> Sequence[Node]:
    """Check a list of nodes, or make one of a number."""
    if isinstance(nodes, int | np.integer):
        return range(check_size(int(nodes)))
    labels = nodes if isinstance(nodes, range) else tuple(nodes)
    check_size(len(labels))
    if len(set(labels)) != len(labels):
        twice = Counter(labels).most_common(1)[0][0]
        raise InputError(f"the node {twice!r} is listed twice; every node needs a name of its own", node=twice)
    return labels


def _both(edge: Any) -> tuple[Node, Node]:
    try:
        one, other = edge.tolist() if isinstance(edge, np.ndarray) else edge
    except (TypeError, ValueError):
        raise InputError(f"an edge is a pair of nodes, not a {type(edge).__name__} of another length") from None
    return one, other


def _array_codes(edges: NDArray[Any], n: int) -> NDArray[np.int64]:
    if edges.dtype.kind not in "iu" or edges.ndim != 2 or edges.shape[1] != 2:
        raise InputError(f"an array of edges holds whole numbers in two columns, not {edges.dtype} of {edges.shape}")
    strangers = edges[((edges < 0) | (edges >= n)).any(axis=1)]
    if len(strangers):
        raise InputError(
            f"{len(strangers)} edges name a node outside 0 .. {n - 1}",
            edges=len(strangers),
        )
    return edges.astype(np.int64)


def _label_codes(edges: Iterable[Any], nodes: Sequence[Node]) -> NDArray[np.int64]:
    position = {node: code for code, node in enumerate(nodes)}
    try:
        codes = [(position[one], position[other]) for one, other in map(_both, edges)]
    except KeyError as stranger:
        node = stranger.args[0]
        raise InputError(
            f"an edge names the node {node!r}, which is not among the {len(nodes)} nodes listed. Add it to the nodes, "
            f"or correct the edge",
            node=node,
        ) from None
    return np.array(codes, dtype=np.int64).reshape(-1, 2)


def _entries(matrix: Any) -> tuple[range, NDArray[np.int64]]:
    """The nodes and the ones of a square matrix of 0 and 1."""
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"an adjacency matrix is square, not of shape {shape}", shape=shape)
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        kept = entries.data != 0
        values, codes = entries.data[kept], np.column_stack([entries.row[kept], entries.col[kept]])
    else:
        codes = np.argwhere(matrix)
        values = matrix[tuple(codes.T)]
    if not (values == 1).all():
        strange = values[values != 1][0]
        raise InputError(f"an adjacency matrix holds 0 and 1; this one holds {strange}. Weights are not protected")
    return range(check_size(shape[0])), codes.astype(np.int64)

"""A disguised graph: what the pairs reported, through which coin, and what can be learned from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from deniable.core.results import axes, legend
from deniable.errors import InputError
from deniable.frozen import Frozen, readonly
from deniable.graphs import degrees_and_triangles as statistics
from deniable.graphs.edge_statement import EdgeStatement
from deniable.graphs.graph import Node, named, networkx
from deniable.graphs.pair_sets import PairSet, endpoints
from deniable.plotting import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import networkx as nx
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from deniable.channels.krr import KRR
    from deniable.graphs.degrees_and_triangles import NodeEstimate


@dataclass(frozen=True, eq=False, repr=False)
class NoisyGraph(Frozen):
    """What a graph's pairs reported.

    Attributes:
        nodes: the public list of nodes.
        reports: the pairs reported as edges by their first end; with two reports a pair, then those by their second.
        channel: the two-category channel that every report went through.
        notes: sentences that belong into the privacy statement.
    """

    nodes: Sequence[Node]
    reports: tuple[PairSet, ...]
    channel: KRR
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.reports) not in {1, 2} or any(pairs.n != len(self.nodes) for pairs in self.reports):
            raise InputError(f"a pair of {len(self.nodes)} nodes has one report or two, about these very nodes")

    # -- privacy ------------------------------------------------------------------------------------------------

    def describe(self) -> EdgeStatement:
        """Say in words what the reports can tell about an edge and about a person."""
        return EdgeStatement(self.channel.ratio, len(self.reports), len(self.nodes), self.notes)

    def with_notes(self, *notes: str) -> NoisyGraph:
        """The same reports with more sentences in their statement."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def epsilon(self) -> float:
        """Of an edge: that of its one report, or of its two together."""
        return self.describe().epsilon

    def __repr__(self) -> str:
        said = sum(len(pairs) for pairs in self.reports)
        what = "pairs reported" if len(self.reports) == 1 else "reports of pairs"
        return f"<NoisyGraph: {len(self.nodes)} nodes, {said} {what} as edges, epsilon {self.epsilon:.6g} an edge>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.describe()._repr_html_()}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many nodes have which degree: as reported, noise and all, and as estimated."""
        found = self.degrees("shrunk").values
        ax = axes(ax)
        reported = self.reported_degrees / len(self.reports)
        edges = np.histogram_bin_edges(np.concatenate([reported, found]), 30).tolist()
        ax.hist(reported, edges, color=LIGHT, label="as reported")
        ax.hist(found, edges, histtype="step", linewidth=1.8, color=DARK, label="estimated (shrunk)")
        ax.set_xlabel("degree")
        ax.set_ylabel("nodes")
        legend(ax, f"{len(self.nodes)} nodes, epsilon {self.epsilon:.4g} an edge")
        return ax

    # -- estimates ----------------------------------------------------------------------------------------------

    @property
    def noise(self) -> float:
        """s2, the variance that a pair's estimate X~ has around the truth: p q / (p - q)^2 / reports."""
        return statistics.noise(self.channel, len(self.reports))

    @cached_property
    def reported_degrees(self) -> NDArray[np.int64]:
        """How often each node's pairs were reported as edges, noise and all."""
        return readonly(np.sum([pairs.degrees for pairs in self.reports], axis=0))

    def degrees(self, method: Literal["unbiased", "shrunk"] = "unbiased") -> NodeEstimate:
        """Estimate every node's degree; `total` is the number of edges."""
        return statistics.degrees(self, method)

    def triangles(self) -> NodeEstimate:
        """Estimate the number of triangles through every node; `total` is the number of triangles."""
        return statistics.triangles(self)

    # -- other forms --------------------------------------------------------------------------------------------

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """Every report of an edge, as (who reports, the other)."""
        for second, pairs in enumerate(self.reports):
            for numbers in pairs.numbers():
                i, j = endpoints(numbers, len(self.nodes))
                yield from named(self.nodes, j, i) if second else named(self.nodes, i, j)

    def to_networkx(self) -> nx.Graph:
        """Make a networkx graph of the reports: undirected for one report a pair, arcs from the reporter for two."""
        nx = networkx()
        out = nx.Graph() if len(self.reports) == 1 else nx.DiGraph()
        out.add_nodes_from(self.nodes)
        out.add_edges_from(self.edges())
        return out

    def matrix(self) -> NDArray[np.float32]:
        """W, symmetric: how many reports call the pair an edge. E W = reports (q + (p - q) A) off the diagonal."""
        n = len(self.nodes)
        w = np.zeros((n, n), dtype=np.float32)
        for pairs in self.reports:
            for numbers in pairs.numbers():
                w[endpoints(numbers, n)] += 1
        w += w.T
        return w

    def sparse(self) -> csr_array:
        """The same as a scipy.sparse array."""
        from scipy.sparse import csr_array

        n = len(self.nodes)
        found = chain.from_iterable(pairs.numbers() for pairs in self.reports)
        i, j = endpoints(np.concatenate([np.empty(0, dtype=np.int64), *found]), n)
        ones = np.ones(2 * len(i), dtype=np.float32)
        return csr_array((ones, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n))

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import deniable
from deniable.core.randomness import Seeded
from deniable.errors import InputError, MissingExtraError
from deniable.graphs import Graph
from deniable.graphs.graph_files import clustered_graph


def test_degrees_and_triangles_of_the_truth(kite):
    assert kite.degrees().tolist() == [2, 3, 3, 3, 1, 0]
    assert kite.triangles().tolist() == [1, 2, 2, 1, 0, 0]
    assert repr(kite) == "<Graph: 6 nodes, 6 edges>"
    assert len(kite) == 6
    assert kite.edges() == [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("d", "e")]


def test_every_way_in_gives_the_same_graph(kite):
    matrix = kite.sparse.toarray()
    numbered = Graph(np.argwhere(np.triu(matrix)), 6)
    assert Graph.from_adjacency(matrix) == numbered == Graph.from_adjacency(csr_array(matrix))
    lists = {node: [kite.nodes[j] for j in np.flatnonzero(row)] for node, row in zip(kite.nodes, matrix, strict=True)}
    assert Graph.of(lists) == kite == Graph.of(kite)
    assert numbered != kite
    assert Graph.of(matrix) == numbered


def test_a_graph_may_have_no_edge():
    assert Graph([], nodes=3).degrees().tolist() == [0, 0, 0]
    assert Graph([], nodes=3).triangles().tolist() == [0, 0, 0]


def test_nodes_taken_from_the_edges_are_marked():
    assert Graph([("b", "a")]).nodes == ("b", "a")
    assert Graph([("b", "a")]).nodes_from_edges
    assert not Graph([("b", "a")], nodes="ab").nodes_from_edges
    assert Graph(np.array([[0, 7]])).nodes == (0, 7)


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ([("a", "x")], "abc", "names the node 'x', which is not among the 3 nodes"),
        ([("a", "a")], "abc", "'a' is listed as its own neighbour"),
        ([("a", "b"), ("b", "a")], "abc", "an edge is listed more than once \\(1 repetitions"),
        ([("a", "b", 1.0)], "abc", "an edge is a pair of nodes, not"),
        ([3], "abc", "an edge is a pair of nodes, not a int"),
        ([3], None, "an edge is a pair of nodes, not a int"),
        ([], "aab", "'a' is listed twice"),
        ([], None, "0 nodes has no pair"),
        (np.array([[0, 9]]), 3, "outside 0 .. 2"),
        (np.array([[0, -1]]), 3, "outside 0 .. 2"),
        (np.array([0, 1]), 3, "two columns"),
        (np.array([[0.0, 1.0]]), 3, "whole numbers"),
        ([], 10**6, "62.5 GB"),
    ],
)
def test_bad_edges_are_refused_by_name(edges, nodes, message):
    with pytest.raises(InputError, match=message):
        Graph(edges, nodes)


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        ({"a": ["b"], "b": []}, "1 entries stand one way round only"),
        ({"a": ["b", "b"], "b": ["a"]}, "the same neighbour twice"),
        ({"a": ["x"], "b": []}, "names the node 'x'"),
        ({"a": ["a"], "b": []}, "its own neighbour"),
        (np.array([[0, 1], [0, 0]]), "not symmetric"),
        (np.array([[1, 0], [0, 0]]), "its own neighbour"),
        (np.array([[0, 2], [2, 0]]), "holds 0 and 1; this one holds 2"),
        (csr_array(np.array([[0, 0.5], [0.5, 0]])), "this one holds 0.5"),
        (np.zeros((2, 3)), "is square"),
        ("a-b", "cannot read a str as a graph"),
    ],
)
def test_bad_adjacency_is_refused(adjacency, message):
    with pytest.raises(InputError, match=message):
        Graph.of(adjacency)


def test_networkx_and_back(kite):
    import networkx as nx

    again = kite.to_networkx()
    assert Graph.of(again) == kite
    assert nx.triangles(again) == dict(zip(kite.nodes, kite.triangles().tolist(), strict=True))
    for wrong in (nx.DiGraph, nx.MultiGraph):
        with pytest.raises(InputError, match=r"networkx.Graph\(graph\)"):
            Graph.of(wrong(again))
    again.add_edge("a", "a")
    with pytest.raises(InputError, match="its own neighbour"):
        Graph.of(again)


def test_without_networkx_it_says_what_to_install(kite, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deniable\[reproduce\]'"):
        kite.to_networkx()


def test_the_public_names():
    assert deniable.graphs.Graph is Graph


def test_generated_graphs_have_the_asked_size_and_more_triangles_when_closing():
    loose, tight = (clustered_graph(100, 300, closing, source=Seeded(1)) for closing in (0.0, 0.9))
    assert len(loose.pairs) == len(tight.pairs) == 300
    assert tight.triangles().sum() > 1.5 * loose.triangles().sum()
    assert len(clustered_graph(6, 15).pairs) == 15
    with pytest.raises(InputError, match="0 to 15 edges"):
        clustered_graph(6, 16)

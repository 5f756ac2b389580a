import pytest

from deniable.graphs import Graph


@pytest.fixture
def kite():
    """Two triangles that share an edge, a tail, and a node on its own."""
    return Graph([("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("d", "e")], nodes="abcdef")

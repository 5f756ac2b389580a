import numpy as np
import pytest

from deniable.core.randomness import Seeded
from deniable.errors import DeniableError, InputError
from deniable.graphs import Graph, randomize, read_graph, read_noisy_graph, write_graph, write_noisy_graph
from deniable.graphs.graph_files import clustered_graph


@pytest.mark.parametrize("name", ["g.edges", "g.csv", "g.tsv"])
def test_an_edge_list_goes_out_and_in(kite, tmp_path, name):
    write_graph(kite, tmp_path / name)
    again = read_graph(tmp_path / name, nodes=kite.nodes)
    assert again == kite
    inferred = read_graph(tmp_path / name)
    assert set(inferred.nodes) == set(kite.nodes)
    assert len(inferred.pairs) == len(kite.pairs)
    assert not inferred.nodes_from_edges


def test_comments_blank_lines_and_numbers(tmp_path):
    file = tmp_path / "g.txt"
    file.write_text("# friends\n\n0 1\n1   2 # close\n", encoding="utf-8")
    assert read_graph(file, nodes=4) == Graph([(0, 1), (1, 2)], nodes=4)
    assert read_graph(file) == Graph([("0", "1"), ("1", "2")])
    assert read_graph(file).nodes_from_edges


@pytest.mark.parametrize(
    ("text", "nodes", "message"),
    [
        ("a b 3\n", None, "line 1: an edge is two names, not 3"),
        ("a b\nb a\n", None, "g.txt: an edge is listed more than once"),
        ("a a\n", "ab", "its own neighbour"),
        ("a x\n", "ab", "names the node 'x'"),
        ("a b\n", 4, "a node is not a whole number"),
        ("0 9\n", 4, "names the node 9"),
        ("", None, "no pair"),
    ],
)
def test_bad_edge_lists_are_refused(tmp_path, text, nodes, message):
    file = tmp_path / "g.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_graph(file, nodes)


@pytest.mark.parametrize("bad", ["a b", "#a", "", "a\nb"])
def test_names_that_an_edge_list_cannot_hold_are_refused(tmp_path, bad):
    with pytest.raises(InputError, match="cannot stand in this edge list"):
        write_graph(Graph([(bad, "z")]), tmp_path / "g.txt")


def test_networkx_reads_the_edge_list(kite, tmp_path):
    import networkx as nx

    write_graph(kite, tmp_path / "g.txt")
    assert set(map(frozenset, nx.read_edgelist(tmp_path / "g.txt").edges())) == set(map(frozenset, kite.edges()))


@pytest.mark.parametrize("name", ["r.npz", "r.edges", "r.csv"])
@pytest.mark.parametrize("reported_by", ["one", "both"])
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_reports_go_out_and_in(kite, tmp_path, name, reported_by, epsilon):
    for number, graph in enumerate((kite, clustered_graph(40, 100), Graph([("x", "y")]))):
        noisy = randomize(graph, epsilon, reported_by=reported_by, source=Seeded(1))
        write_noisy_graph(noisy, tmp_path / f"{number}{name}")
        again = read_noisy_graph(tmp_path / f"{number}{name}")
        assert again.channel == noisy.channel
        assert list(again.nodes) == list(noisy.nodes)
        assert again.reports == noisy.reports
        assert again.notes == noisy.notes
        assert again.degrees().values.tolist() == noisy.degrees().values.tolist()


def test_bits_take_one_bit_a_pair(tmp_path):
    write_noisy_graph(randomize(clustered_graph(1000, 5000), 1.0), tmp_path / "r.npz")
    assert (tmp_path / "r.npz").stat().st_size < 1000 * 999 / 16 + 2000


def test_what_is_no_file_of_reports_is_refused(kite, tmp_path):
    write_graph(kite, tmp_path / "truth.txt")
    with pytest.raises(InputError, match="does not say by which channel"):
        read_noisy_graph(tmp_path / "truth.txt")
    (tmp_path / "junk.npz").write_bytes(b"PK junk")
    with pytest.raises(InputError, match=r"junk.npz does not hold the reports"):
        read_noisy_graph(tmp_path / "junk.npz")
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    with pytest.raises(InputError, match="does not hold"):
        read_noisy_graph(tmp_path / "other.npz")
    with pytest.raises(InputError, match="texts or numbers"):
        write_noisy_graph(randomize(Graph([(object(), "a")]), 1.0), tmp_path / "r.npz")


HEAD = '# deniable {"format":1,"channel":{"kind":"krr","k":2,"other":9,"bits":16},"reports":1,"nodes":["a","b","c"]}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "a x\n", "'x' is not among the nodes"),
        (HEAD + "b a\n", "only first ends report"),
        (HEAD + "a b\na b\n", "ascend"),
        (HEAD + "a\n", "does not hold"),
        (HEAD.replace('"format":1', '"format":2'), "format 2"),
        (HEAD.replace('"reports":1', '"reports":3'), "one or two to a pair"),
        (HEAD.replace('"other":9', '"other":0'), "at least one draw"),
        (HEAD.replace('"k":2', '"k":3'), "two-category"),
        (HEAD.replace('"krr"', '"unary"'), "two-category KRR: a part of it must be k-RR, not 'unary'"),
        (HEAD.replace('"k":2,', ""), "two-category KRR"),
        (HEAD.replace('"reports":1', '"reports":1,"x":1'), "does not hold"),
        (HEAD.replace('"nodes":["a","b","c"]', '"nodes":9999999'), "at one bit each"),
        (HEAD.replace('"nodes":["a","b","c"]', '"nodes":["a","b","a"]'), "twice"),
        ("# deniable {\n", "does not hold"),
    ],
)
def test_altered_reports_are_refused(tmp_path, text, message):
    file = tmp_path / "r.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DeniableError, match=message):
        read_noisy_graph(file)

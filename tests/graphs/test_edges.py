from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from deniable.channels.krr import KRR
from deniable.core.randomness import Seeded
from deniable.device.epsilon import epsilon_of
from deniable.errors import DesignError, InputError
from deniable.graphs import EdgeStatement, Graph, NoisyGraph, edges, randomize
from deniable.graphs import edges as coins
from deniable.graphs.graph_files import clustered_graph
from deniable.graphs.pair_sets import pairs_of


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 6.0])
def test_edges_and_others_flip_with_the_same_exact_chance(epsilon):
    truth = np.triu(np.ones((1500, 1500), dtype=bool), 1) & (np.arange(1500) % 10 == 0)
    graph = Graph(np.argwhere(truth), 1500)
    noisy = randomize(graph, epsilon, source=Seeded(1))
    truth, said, q = graph.pairs.flags(), noisy.reports[0].flags(), noisy.channel.q
    for group in (0, 1):
        flips = (said != truth)[truth == group]
        # 6 standard errors: a false alarm below 1e-8 each.
        assert abs(flips.mean() - q) < 6 * (q * (1 - q) / len(flips)) ** 0.5


def test_every_pair_flips_its_share():
    graph, source = Graph([(0, 1), (3, 4), (7, 8)], nodes=9), Seeded(2)
    said = np.array([randomize(graph, 1.0, source=source).reports[0].flags() for _ in range(2000)])
    flips = (said != graph.pairs.flags()).mean(axis=0)
    q = KRR(2, epsilon=1.0).q
    assert np.abs(flips - q).max() < 6.2 * (q * (1 - q) / 2000) ** 0.5  # 36 pairs: a false alarm below 1e-7
    # Neighbouring pairs flip independently.
    centred = said != graph.pairs.flags()
    both = [(centred[:, one] & centred[:, other]).mean() for one, other in pairwise(range(36))]
    assert np.abs(np.array(both) - q * q).max() < 6.2 * (q * q / 2000) ** 0.5


def test_bits_and_lists_hold_the_same_flips(monkeypatch):
    graph = clustered_graph(300, 900)
    listed = randomize(graph, 6.0, source=Seeded(3))
    monkeypatch.setattr(edges, "LIST_BELOW", 0)
    packed = randomize(graph, 6.0, source=Seeded(3))
    assert not listed.reports[0].packed
    assert packed.reports[0].packed
    assert listed.reports[0] == packed.reports[0]


@pytest.mark.parametrize("n", [12, 17, 90])
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_chunks_join_without_a_seam(n, epsilon, monkeypatch):
    monkeypatch.setattr(coins, "CHUNK", 2)
    monkeypatch.setattr(coins, "COINS", 128)
    monkeypatch.setattr(edges, "COINS", 128)
    source, total = Seeded(4), pairs_of(n)
    graph = Graph(np.argwhere(np.triu(np.ones((n, n)), 1)), n)
    repetitions = -(-8000 // total)
    said = np.concatenate([randomize(graph, epsilon, source=source).reports[0].flags() for _ in range(repetitions)])
    p = KRR(2, epsilon=epsilon).p
    assert len(said) == repetitions * total
    assert abs(said.mean() - p) < 6 * (p * (1 - p) / len(said)) ** 0.5


def test_a_seed_repeats_and_without_one_nothing_does():
    graph = clustered_graph(100, 300)
    again = [randomize(graph, 1.0, source=Seeded(5)).reports[0] for _ in range(2)]
    assert again[0] == again[1]
    assert randomize(graph, 1.0).reports[0] != randomize(graph, 1.0).reports[0]
    two = randomize(graph, 1.0, reported_by="both", source=Seeded(5)).reports
    assert two[0] != two[1]


def test_who_reports_an_edge_decides_what_it_costs(kite):
    one, both = (randomize(kite, 1.0, reported_by=who) for who in ("one", "both"))
    assert one.epsilon == one.channel.epsilon <= 1.0
    assert both.describe().edge_ratio == one.channel.ratio**2
    assert 1.99 < both.epsilon <= 2.0
    assert one.describe().person_epsilon >= 5 * one.epsilon
    assert one.describe().person_epsilon == pytest.approx(5 * one.epsilon)
    assert both.describe().person_epsilon == pytest.approx(10 * one.epsilon)
    assert both.noise == one.noise / 2


def test_the_statement_says_what_is_public(kite):
    text = str(randomize(kite, 1.0).describe())
    assert "reported by one of its two ends" in text
    assert "Public: the list of nodes. The number of edges is not released" in text
    assert "each with a coin of their own" in str(randomize(kite, 1.0, reported_by="both").describe())
    assert "at least one edge" in str(randomize(Graph([("a", "b")]), 1.0).describe())
    assert "at least one edge" not in text


def test_the_statement_is_rounded_up():
    statement = EdgeStatement(Fraction(3), 1, 11)
    assert statement.epsilon == epsilon_of(Fraction(3))
    assert statement.posterior(0.5) == 0.75
    assert "epsilon of an edge: 1.0987" in str(statement)
    assert "epsilon of a person: 10.9862" in str(statement)
    assert "&lt;" in EdgeStatement(Fraction(3), 1, 11, ("a < b",))._repr_html_()


def test_the_statement_of_a_huge_graph_is_quick():
    assert EdgeStatement(KRR(2, epsilon=4.0).ratio, 2, 100_000).person_epsilon == pytest.approx(8e5, rel=1e-3)


def test_reports_name_the_reporter_first(kite):
    noisy = randomize(kite, 20.0, reported_by="both", source=Seeded(6))
    assert list(noisy.edges()) == [*kite.edges(), *((b, a) for a, b in kite.edges())]
    assert repr(noisy).startswith("<NoisyGraph: 6 nodes, 12 reports of pairs as edges, epsilon")


def test_networkx_out(kite):
    import networkx as nx

    one, both = (randomize(kite.to_networkx(), 20.0, reported_by=who).to_networkx() for who in ("one", "both"))
    assert nx.utils.graphs_equal(one, kite.to_networkx())
    assert both.is_directed()
    assert both.number_of_edges() == 12
    assert set(both) == set(kite.nodes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either an epsilon"),
        ({"epsilon": 1.0, "channel": KRR(2, epsilon=1.0)}, "either an epsilon"),
        ({"epsilon": 1.0, "reported_by": "all"}, "reported_by"),
        ({"channel": KRR(3, epsilon=1.0)}, "3 categories"),
        ({"epsilon": 0.0}, "epsilon"),
    ],
)
def test_wrong_arguments_are_refused(kite, arguments, message):
    with pytest.raises(DesignError, match=message):
        randomize(kite, **arguments)


def test_reports_about_other_nodes_are_refused(kite):
    noisy = randomize(kite, 1.0)
    with pytest.raises(InputError, match="these very nodes"):
        NoisyGraph(range(5), noisy.reports, noisy.channel)
    with pytest.raises(InputError, match="one report or two"):
        NoisyGraph(noisy.nodes, (), noisy.channel)

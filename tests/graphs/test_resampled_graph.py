import numpy as np
import pytest

from deniable.core.randomness import Seeded
from deniable.errors import InputError
from deniable.graphs import Graph, randomize, resampled
from deniable.graphs.graph_files import clustered_graph


@pytest.mark.parametrize("reported_by", ["one", "both"])
def test_a_public_number_of_edges_is_met_with_the_expected_share_of_reported_ones(reported_by):
    graph = clustered_graph(180, 684)
    noisy = randomize(graph, 2.0, reported_by=reported_by, source=Seeded(1))
    drawn = resampled(noisy, 684, source=Seeded(2))
    assert len(drawn.pairs) == 684
    assert drawn.nodes == graph.nodes
    said = np.sum([pairs.flags() for pairs in noisy.reports], axis=0)[drawn.pairs.data]
    p, r = noisy.channel.p, len(noisy.reports)
    assert said.sum() == pytest.approx(684 * p * r, abs=2)


def test_without_a_public_number_the_estimate_is_taken(kite):
    noisy = randomize(kite, 3.0, source=Seeded(3))
    expected = min(15, max(0, round(noisy.degrees().total.value)))
    drawn = resampled(noisy, source=Seeded(4))
    assert len(drawn.pairs) == expected
    assert drawn.nodes == kite.nodes


def test_at_a_large_epsilon_it_is_the_graph(kite):
    assert resampled(randomize(kite, 20.0), 6) == kite


@pytest.mark.parametrize("edges", [0, 3, 15])
def test_any_number_of_edges_can_be_asked_for(kite, edges):
    for seed in range(20):
        assert len(resampled(randomize(kite, 1.0, reported_by="both", source=Seeded(seed)), edges).pairs) == edges


def test_impossible_numbers_and_sizes_are_refused(kite):
    with pytest.raises(InputError, match="between 0 and 15 edges, not 16"):
        resampled(randomize(kite, 1.0), 16)
    with pytest.raises(InputError, match="at most 20000 nodes"):
        resampled(randomize(Graph([], nodes=20_001), 12.0), 1)

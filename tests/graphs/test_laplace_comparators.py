import itertools
from math import exp, log

import numpy as np
import pytest
from scipy.integrate import quad

from deniable.channels.laplace import BinnedLaplace
from deniable.core.randomness import Seeded
from deniable.errors import DesignError, InputError
from deniable.graphs import Graph, laplace_global, laplace_local, laplace_smooth
from deniable.graphs import laplace_comparators as comparators
from deniable.graphs.graph_files import clustered_graph
from deniable.graphs.laplace_comparators import smooth_sensitivity, smoothing


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_local_mechanism_is_binned_laplace_noise(kite, epsilon):
    noisy = laplace_local(kite, epsilon)
    assert noisy.channel.q == pytest.approx(BinnedLaplace(2, epsilon).matrix()[0, 1], abs=1e-9)
    assert noisy.epsilon == pytest.approx(log(2 * exp(epsilon / 2) - 1), abs=1e-6)


@pytest.mark.parametrize(("what", "scale"), [("degrees", 2 / 1.5), ("triangles", 3 * 4 / 1.5)])
def test_global_noise_has_the_scale_of_its_sensitivity(kite, what, scale):
    released = laplace_global(kite, 1.5, what, source=Seeded(1))
    assert released.scale == pytest.approx(scale)
    assert (released.epsilon, released.delta) == (1.5, 0.0)
    many = [laplace_global(kite, 1.5, what, source=Seeded(seed)).values for seed in range(500)]
    errors = np.abs(np.array(many) - getattr(kite, what)())
    assert errors.mean() == pytest.approx(scale, rel=0.12)


def neighbours(graph):
    """Every graph that differs in one pair."""
    matrix = graph.sparse.toarray()
    for i, j in itertools.combinations(range(len(graph)), 2):
        other = matrix.copy()
        other[i, j] = other[j, i] = 1 - matrix[i, j]
        yield Graph.from_adjacency(other)


def local_sensitivity(graph, what):
    return max(int(np.abs(getattr(graph, what)() - getattr(other, what)()).sum()) for other in neighbours(graph))


@pytest.mark.parametrize(
    "edges", [[], [(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2), (3, 4)], [(0, 1), (1, 2), (2, 3), (3, 4)]]
)
def test_smooth_sensitivity_is_the_maximum_over_all_graphs_by_distance(edges):
    graph, beta = Graph(edges, nodes=5), 0.3
    pairs = list(itertools.combinations(range(5), 2))
    true = graph.pairs.flags()
    best = 0.0
    for flags in itertools.product((0, 1), repeat=10):
        distance = int((np.array(flags) != true).sum())
        other = Graph([pair for pair, flag in zip(pairs, flags, strict=True) if flag], nodes=5)
        common = (other.sparse @ other.sparse).toarray()
        np.fill_diagonal(common, 0)
        best = max(best, exp(-beta * distance) * 3 * common.max())
    assert smooth_sensitivity(graph, beta) == pytest.approx(best)


def test_sensitivities_of_sequences(kite):
    assert local_sensitivity(kite, "degrees") == 2
    common = (kite.sparse @ kite.sparse).toarray()
    np.fill_diagonal(common, 0)
    assert local_sensitivity(kite, "triangles") == 3 * common.max()
    assert smooth_sensitivity(kite, 50.0) == pytest.approx(3 * common.max())
    assert smooth_sensitivity(kite, 0.0) == 3 * 4


def test_smooth_sensitivity_changes_by_at_most_its_factor(kite):
    for beta in (0.05, 0.4):
        here = smooth_sensitivity(kite, beta)
        assert all(abs(log(smooth_sensitivity(other, beta) / here)) <= beta + 1e-12 for other in neighbours(kite))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (4.0, 1e-2), (4.0, 1e-6)])
def test_one_number_keeps_epsilon_and_delta(epsilon, delta):
    """The mass by which one noise exceeds e^epsilon times the other's density, at the worst shift and scale."""
    beta = smoothing(epsilon, delta, 1)
    for ratio in (exp(beta), exp(-beta)):
        one, other = 2 / epsilon, 2 * ratio / epsilon  # scales for sensitivities 1 and ratio
        shift = min(1.0, ratio)

        def excess(x, one=one, other=other, shift=shift):
            return max(0.0, exp(-abs(x) / one) / (2 * one) - exp(epsilon - abs(x - shift) / other) / (2 * other))

        reach = 60 * max(one, other)
        mass = sum(quad(excess, low, high, limit=500)[0] for low, high in [(-reach, 0), (0, shift), (shift, reach)])
        assert mass <= delta * (1 + 1e-6)


def test_a_sequence_needs_far_more_noise_than_one_number():
    graph = clustered_graph(180, 684)
    sequence, single = (laplace_smooth(graph, 4.0, as_one_number=one, source=Seeded(1)) for one in (False, True))
    assert sequence.scale > 2 * single.scale
    assert "delta 1e-06" in sequence.guarantee
    assert single.guarantee.startswith("none")
    assert sequence.values.shape == (180,)
    # The smoothing stays within what the two halves pay for, up to rounding.
    assert smoothing(4.0, 1e-6, 180) == pytest.approx(4.0 / 2 / 180)


def test_wrong_arguments_are_refused(kite, monkeypatch):
    with pytest.raises(InputError, match="degrees"):
        laplace_global(kite, 1.0, "cliques")
    with pytest.raises(DesignError, match="delta"):
        laplace_smooth(kite, 1.0, delta=0.0)
    for mechanism in (laplace_local, laplace_global, laplace_smooth):
        with pytest.raises(DesignError, match="epsilon"):
            mechanism(kite, -1.0)
    monkeypatch.setattr(comparators, "MOST_DENSE", 5)
    with pytest.raises(InputError, match="here are 6"):
        laplace_smooth(kite, 1.0)

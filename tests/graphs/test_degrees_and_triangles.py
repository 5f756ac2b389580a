import itertools
from math import comb, exp

import numpy as np
import pytest

from deniable.channels.krr import KRR
from deniable.core.randomness import Seeded
from deniable.errors import EstimationError, InputError
from deniable.graphs import (
    Graph,
    NoisyGraph,
    degree_variance,
    noise,
    randomize,
    triangle_total_variance,
    triangle_variance,
)
from deniable.graphs import degrees_and_triangles as statistics
from deniable.graphs.graph_files import clustered_graph
from deniable.graphs.pair_sets import PairSet

COIN = KRR(2, epsilon=1.5)
PAW = Graph([(0, 1), (0, 2), (1, 2), (2, 3)], nodes=4)
TRIANGLE = Graph([(0, 1), (0, 2), (1, 2)], nodes=3)
DIAMOND = Graph([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], nodes=5)


def every_outcome(graph, channel, reports):
    """Every disguise of a tiny graph, with its exact probability."""
    truth = graph.pairs.flags()
    for said in itertools.product((0, 1), repeat=reports * len(truth)):
        flags = np.array(said).reshape(reports, -1)
        flips = int((flags != truth).sum())
        sets = tuple(PairSet(len(graph), np.flatnonzero(flag)) for flag in flags)
        yield channel.q**flips * channel.p ** (flags.size - flips), NoisyGraph(graph.nodes, sets, channel)


@pytest.fixture(
    scope="module", params=[(PAW, 1), (DIAMOND, 1), (TRIANGLE, 2)], ids=["paw", "diamond", "triangle, both report"]
)
def enumerated(request):
    """A graph, s2, and exact means and variances over every outcome of its disguise."""
    graph, reports = request.param
    s2 = noise(COIN, reports)
    chances, rows = [], []
    for chance, noisy in every_outcome(graph, COIN, reports):
        d, t = noisy.degrees(), noisy.triangles()
        variances, total = statistics._estimated_variances(d.values, statistics._walks(noisy)[1], s2)
        rows.append(np.concatenate([d.values, t.values, [d.total.value, t.total.value], variances, [total]]))
        chances.append(chance)
    weights, table = np.array(chances), np.array(rows)
    assert weights.sum() == pytest.approx(1)
    mean = weights @ table
    n = len(graph)
    spread = weights @ (table - mean) ** 2
    return graph, s2, np.split(mean, [n, 2 * n, 2 * n + 2]), np.split(spread, [n, 2 * n, 2 * n + 2])


def test_estimates_are_unbiased_over_all_outcomes(enumerated):
    graph, _, (degrees, triangles, totals, _), _ = enumerated
    assert degrees == pytest.approx(graph.degrees())
    assert triangles == pytest.approx(graph.triangles())
    assert totals == pytest.approx([len(graph.pairs), graph.triangles().sum() / 3])


def test_closed_form_variances_hold_over_all_outcomes(enumerated):
    graph, s2, _, (degrees, triangles, totals, _) = enumerated
    n = len(graph)
    assert degrees == pytest.approx([degree_variance(n, s2)] * n)
    assert triangles == pytest.approx(triangle_variance(graph, s2))
    assert totals == pytest.approx([comb(n, 2) * s2, triangle_total_variance(graph, s2)])


def test_estimated_variances_are_unbiased_over_all_outcomes(enumerated):
    graph, s2, (*_, variances), _ = enumerated
    assert variances == pytest.approx([*triangle_variance(graph, s2), triangle_total_variance(graph, s2)])


def test_the_noise_of_a_pair():
    for epsilon in (0.5, 2.0, 4.0):
        assert noise(KRR(2, epsilon=epsilon)) == pytest.approx(exp(epsilon) / (exp(epsilon) - 1) ** 2, rel=0.01)
    assert noise(COIN, 2) == noise(COIN) / 2


@pytest.mark.parametrize("reported_by", ["one", "both"])
def test_the_sums_equal_the_matrix_they_stand_for(reported_by):
    graph = clustered_graph(60, 200)
    noisy = randomize(graph, 1.0, reported_by=reported_by, source=Seeded(3))
    r, channel = len(noisy.reports), noisy.channel
    x = (noisy.matrix().astype(float) - r * channel.q) / (r * (channel.p - channel.q))
    np.fill_diagonal(x, 0)
    two = x @ x
    estimate = noisy.triangles()
    assert noisy.degrees().values == pytest.approx(x.sum(axis=1))
    assert estimate.values == pytest.approx(np.diagonal(two @ x) / 2)
    np.fill_diagonal(two, 0)
    assert statistics._walks(noisy)[1] == pytest.approx((two**2).sum(axis=1))


def test_sparse_and_dense_give_the_same(monkeypatch):
    noisy = randomize(clustered_graph(600, 2000), 6.0, reported_by="both", source=Seeded(4))
    dense = noisy.triangles()
    monkeypatch.setattr(statistics, "MOST_DENSE", 10)
    sparse = noisy.triangles()
    assert sparse.values == pytest.approx(dense.values, abs=1e-9)
    assert sparse.std_error == pytest.approx(dense.std_error)
    monkeypatch.setattr(statistics, "MOST_PATHS", 10)
    with pytest.raises(EstimationError, match="a larger epsilon makes fewer"):
        noisy.triangles()


def test_simulated_variances_meet_the_closed_forms():
    graph, source, repetitions = clustered_graph(60, 200), Seeded(5), 300
    noisy = [randomize(graph, 2.0, source=source) for _ in range(repetitions)]
    s2 = noisy[0].noise
    d = np.mean([np.mean((y.degrees().values - graph.degrees()) ** 2) for y in noisy]) / degree_variance(60, s2)
    ratios = [np.mean((y.triangles().values - graph.triangles()) ** 2 / triangle_variance(graph, s2)) for y in noisy]
    # Seeded, hence always the same; were it not, both bounds lie beyond 5 of the averages' standard errors.
    assert abs(d - 1) < 0.07
    assert abs(np.mean(ratios) - 1) < 6 * np.std(ratios) / repetitions**0.5
    assert np.std(ratios) / repetitions**0.5 < 0.03


def test_intervals_cover():
    graph, source = clustered_graph(80, 300), Seeded(6)
    covered = []
    for _ in range(200):
        noisy = randomize(graph, 2.0, source=source)
        covered.append(
            [
                noisy.degrees("shrunk").interval(0.9).contains(graph.degrees()).mean(),
                noisy.triangles().interval(0.9).contains(graph.triangles()).mean(),
            ]
        )
    degrees, triangles = np.mean(covered, axis=0)
    assert degrees == pytest.approx(0.9, abs=0.015)
    assert triangles == pytest.approx(0.9, abs=0.04)  # counts of few triangles are skewed


def test_shrunk_degrees_follow_their_formula_and_err_less():
    graph = clustered_graph(180, 684)
    noisy = randomize(graph, 2.0, source=Seeded(7))
    plain, shrunk = noisy.degrees(), noisy.degrees("shrunk")
    weight = 1 - 178 * noisy.noise / plain.values.var(ddof=1)
    expected = plain.values.mean() + weight * (plain.values - plain.values.mean())
    assert shrunk.values == pytest.approx(np.clip(expected, 0, 179))
    assert shrunk.unbiased.tolist() == plain.values.tolist()
    assert shrunk.interval().low.tolist() == plain.interval().low.tolist()
    assert np.abs(shrunk.values - graph.degrees()).mean() < np.abs(plain.values - graph.degrees()).mean()
    assert f"{weight:.0%}" in str(shrunk)


def test_degrees_that_differ_by_no_more_than_noise_become_the_mean():
    values, weight = statistics._shrunk(np.array([1.0, 2.0, 3.0]), s2=5.0)
    assert (values.tolist(), weight) == ([2.0, 2.0, 2.0], 0.0)
    assert statistics._shrunk(np.array([2.0, 2.0]), s2=5.0)[1] == 0.0


def test_an_estimate_shows_itself(kite):
    estimate = randomize(kite, 4.0, source=Seeded(8)).degrees()
    assert estimate.to_frame().column_names == ["node", "degree", "std_error", "low", "high"]
    assert f"All edges: {estimate.total.value:.1f}, standard error" in str(estimate)
    assert "90% intervals go from low to high" in str(estimate.summary(0.9))
    assert list(estimate.summary(0.9).columns["low"]) == estimate.interval(0.9).low.tolist()
    assert repr(estimate) == "<NodeEstimate: degree of 6 nodes>"
    assert "<table>" in estimate._repr_html_()


def test_wrong_questions_are_refused(kite):
    noisy = randomize(kite, 4.0)
    with pytest.raises(InputError, match='"unbiased" or "shrunk"'):
        noisy.degrees("best")
    with pytest.raises(InputError, match="confidence level"):
        noisy.degrees().interval(95)
    with pytest.raises(EstimationError, match="three corners"):
        randomize(Graph([], nodes=2), 1.0).triangles()

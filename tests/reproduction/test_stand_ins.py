"""The data that stands in for private data, and the small formulas that items compare with."""

from __future__ import annotations

from itertools import combinations
from math import exp

import numpy as np
import pytest

from deniable.channels.krr import KRR
from deniable.extensions.paired.optimal_coins import paired_optimum
from deniable.extensions.paired.pairing import count_variance
from reproduction.jrr.public_data import CENSUS, on_the_grid
from reproduction.rrba.revealed import revealed
from reproduction.rrba.subset_formula import support, typical_distance, variance
from reproduction.wang.cholesterol import COUNTS, LDL_CUTS, TOTAL_CUTS
from reproduction.wang.knitted import COMMON, knitted


def test_the_cholesterol_counts_are_those_of_the_diabetes_data():
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    columns = {name: data.data[:, place] for place, name in enumerate(data.feature_names)}
    table = np.zeros_like(COUNTS)
    np.add.at(table, (np.digitize(columns["s2"], LDL_CUTS), np.digitize(columns["s1"], TOTAL_CUTS)), 1)
    assert table.tolist() == COUNTS.tolist()
    assert COUNTS.sum() == 442


@pytest.mark.parametrize(("t", "epsilon"), [(4, 0.5), (6, 1.0), (8, 0.5), (9, 1.0)])
def test_subset_selection_by_enumeration(t, epsilon):
    d, p, q = support(t, epsilon)
    subsets = list(combinations(range(t), d))
    weight = {True: exp(epsilon), False: 1.0}  # how likely a subset with, and without, the own cell
    total = sum(weight[0 in subset] for subset in subsets)
    own, other = (sum(weight[0 in s] for s in subsets if cell in s) / total for cell in (0, 1))
    assert (own, other) == pytest.approx((p, q))
    pi = np.random.default_rng(1).dirichlet(np.ones(t))
    lam = p * pi + q * (1 - pi)
    assert variance(pi, epsilon) == pytest.approx(lam * (1 - lam) / (p - q) ** 2)
    spread = pi * p * (1 - p) + (1 - pi) * q * (1 - q)
    assert typical_distance(pi, epsilon, 8000) == pytest.approx(np.sqrt(8000 * spread.sum()) / (p - q))


def test_subsets_of_one_cell_are_k_rr():
    pi = np.array([0.2, 0.5, 0.3])
    assert support(3, 2.0)[0] == 1
    assert variance(pi, 2.0) == pytest.approx(KRR(3, epsilon=2.0).variance(pi, 1), rel=1e-2)  # executed in integers


def test_the_knitted_graph_is_what_it_says():
    graph = knitted()
    links = np.zeros((180, 180), dtype=int)
    for a, b in graph.edges():
        links[a, b] = links[b, a] = 1
    common = links @ links
    np.fill_diagonal(common, 0)
    assert (len(graph), len(graph.pairs), int(graph.triangles().sum()) // 3) == (180, 684, 832)
    assert common.max() == COMMON


@pytest.mark.parametrize("colluders", [1, 5, 50])
def test_the_grid_search_keeps_the_privacy_theorem_and_forgets_the_variance(colluders):
    n, yes, _ = CENSUS
    p, rho = on_the_grid(0.1, n, colluders)
    q = 1 - p

    def ratio(r):
        return (colluders * (1 - r) * p + (n - colluders - 1) * p) / (colluders * (q + r * p) + (n - colluders - 1) * q)

    assert ratio(rho) <= exp(0.1) * (1 + 1e-12)
    assert rho >= -q / p
    if rho > -q / p:
        assert ratio(rho - 1e-4) > exp(0.1)  # it is the least on the grid
    best = paired_optimum(0.1, n, colluders, yes / n)
    assert count_variance(p, rho, n, yes) >= best.variance * (1 - 1e-9)


def test_dust_of_a_projection_counts_as_zero():
    # Alarm's tables, blocks of 18: nearly all hold a zero; comparing floats with 0 misses about one in ten.
    all_zeros, _ = revealed(np.random.default_rng(1), "alarm", 18, 360, 0.5)
    some, _ = revealed(np.random.default_rng(1), "alarm", 18, 360, 0.5, never_below=0.0)
    assert some < all_zeros - 0.05
    assert all_zeros > 0.9

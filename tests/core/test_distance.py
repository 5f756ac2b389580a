"""Distances of tables: against SciPy where it has them, by hand where not, by name and not by place."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import euclidean, jensenshannon
from scipy.stats import chisquare, entropy

import deniable as dn
from deniable.core.distance import Distance, distance_between
from deniable.errors import DesignError, InputError

KINDS = Distance.__args__
DOMAIN = dn.Domain({"a": ["x", "y", "z"], "b": [0, 1]})


def tables(seed):
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 60, 6).astype(float) for _ in range(2)]


@pytest.mark.parametrize("seed", range(5))
def test_every_distance_is_what_its_name_says(seed):
    x, y = tables(seed)
    p, q = x / x.sum(), y / y.sum()
    expected = {
        "l2": euclidean(x, y),
        "ese": euclidean(x, y) ** 2,
        "mse": np.mean((x - y) ** 2),
        "mae": np.mean(np.abs(x - y)),
        "chi2": chisquare(x, y * x.sum() / y.sum()).statistic,
        "tv": max(p[list(cells)].sum() - q[list(cells)].sum() for cells in subsets(6)),  # the event that tells most
        "js": jensenshannon(p, q),
        "hellinger": np.linalg.norm(np.sqrt(p) - np.sqrt(q)) / np.sqrt(2),
    }
    for kind in KINDS:
        other = y * x.sum() / y.sum() if kind == "chi2" else y
        assert distance_between(x, other, kind) == pytest.approx(expected[kind], rel=1e-12), kind


def subsets(t):
    return ([cell for cell, taken in enumerate(bits) if taken] for bits in product([0, 1], repeat=t))


def test_the_jensen_shannon_distance_is_the_root_of_the_divergence():
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.1, 0.0, 0.9])
    middle = (p + q) / 2
    assert distance_between(p, q, "js") ** 2 == pytest.approx((entropy(p, middle) + entropy(q, middle)) / 2)


@pytest.mark.parametrize("kind", KINDS)
def test_names_decide_and_places_do_not(kind):
    x, y = (dn.Table(DOMAIN, values.reshape(3, 2)) for values in tables(3))
    turned = dn.Table({"b": [1, 0], "a": ["z", "x", "y"]}, y.values.T[::-1][:, [2, 0, 1]])
    assert x.distance(turned, kind) == pytest.approx(x.distance(y, kind))
    assert x.distance(x, kind) == pytest.approx(0, abs=1e-7)


def test_what_cannot_be_compared_is_refused_with_the_way_out():
    counts, shares = dn.Table({"a": [0, 1]}, [60, 40]), dn.Table({"a": [0, 1]}, [0.6, 0.4])
    assert counts.distance(shares, "tv") == counts.distance(shares, "js") == 0
    with pytest.raises(InputError, match=r"one table holds shares and the other counts.*normalize"):
        counts.distance(shares, "l2")
    with pytest.raises(InputError, match="there is no distance 'tvd'; there are 'l2'"):
        counts.distance(shares, "tvd")
    with pytest.raises(InputError, match=r"negative cell.*norm_sub"):
        dn.Table({"a": [0, 1]}, [1.1, -0.1]).distance(shares, "js")
    with pytest.raises(InputError, match="the total of a table is 0"):
        dn.Table({"a": [0, 1]}, [0, 0]).distance(shares, "tv")
    with pytest.raises(DesignError, match="do not have the same attributes"):
        counts.distance(dn.Table({"b": [0, 1]}, [1, 1]))
    with pytest.raises(InputError, match="categories"):
        counts.distance(dn.Table({"a": [0, 2]}, [1, 1]))


def test_cells_that_mean_nothing_are_refused():
    with pytest.raises(InputError, match="not below 0"):
        distance_between(np.array([1.0, 9.0]), np.array([-1.0, 11.0]), "chi2")
    with pytest.raises(InputError, match="a cell without a value"):
        distance_between(np.array([np.nan, 9.0]), np.array([1.0, 9.0]), "l2")


def test_what_is_expected_nowhere_and_found_is_infinitely_far():
    assert distance_between(np.array([1.0, 9.0]), np.array([0.0, 10.0]), "chi2") == np.inf
    assert distance_between(np.array([0.0, 9.0]), np.array([0.0, 10.0]), "chi2") == pytest.approx(0.1)

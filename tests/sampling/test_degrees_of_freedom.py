"""Degrees of freedom: Satterthwaite's against matrices written out, replicates' against their rank, what they hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard

import deniable as dn
from deniable.errors import TooFewReportsError
from deniable.sampling.degrees_of_freedom import ALIKE, satterthwaite
from deniable.sampling.read_sampling import sampling

UNEQUAL = np.array([20, 30, 40, 50, 60, 80, 100, 200])  # people of eight clusters


def variance(stratum):
    """M: Z'MZ is the variance that sums Z of clusters have in their strata."""
    alike = (stratum[:, None] == stratum).astype(float)
    n = alike.sum(axis=1)
    return (np.diag(n) - alike) / (n - 1)


def written_out(stratum, weight, squares):
    """(tr QD)^2 / tr QDQD with Q = (I - h 1')' M (I - h 1')."""
    less = np.eye(len(weight)) - np.outer(weight / weight.sum(), np.ones(len(weight)))
    q = less.T @ variance(stratum) @ less * ((1 - ALIKE) * squares + ALIKE * weight**2)
    return np.trace(q) ** 2 / np.trace(q @ q)


@pytest.mark.parametrize("seed", range(5))
def test_they_are_the_traces_written_out(seed):
    rng = np.random.default_rng(seed)
    stratum = np.concatenate([np.repeat(range(3), 2), rng.integers(0, 3, 15)])
    weight = np.where(rng.random(21) < 0.2, 0.0, rng.gamma(1, 30, 21))
    squares = weight * rng.uniform(1, 2, 21)
    assert satterthwaite(stratum, weight, squares) == pytest.approx(written_out(stratum, weight, squares), rel=1e-9)


def test_they_are_the_moments_of_the_stated_variance():
    # Of 40,000 draws a variance of V has a relative sd below .03 (V's kurtosis is below 30); six of them.
    rng, one = np.random.default_rng(1), np.zeros(8, dtype=int)
    v = (1 - ALIKE) * UNEQUAL + ALIKE * UNEQUAL**2
    e = rng.normal(size=(40_000, 8)) * np.sqrt(v)
    z = e - UNEQUAL / UNEQUAL.sum() * e.sum(axis=1, keepdims=True)
    stated = np.einsum("ri,ij,rj->r", z, variance(one), z)
    expected = 2 * stated.mean() ** 2 / stated.var()
    assert satterthwaite(one, UNEQUAL.astype(float), UNEQUAL.astype(float)) == pytest.approx(expected, rel=0.18)


def test_clusters_that_are_alike_have_clusters_less_strata():
    home = np.repeat(np.arange(12), 5)
    assert sampling(60, clusters=home).df == 11
    assert sampling(60, strata=home % 3, clusters=home).df == 9
    assert sampling(60).df == 59
    part = sampling(60, strata=home % 3, clusters=home).only(home < 6)
    assert part.df == 3  # six clusters in three strata
    with pytest.raises(TooFewReportsError, match="lie in 1 cluster"):
        sampling(60, clusters=home).only(home < 1).df  # noqa: B018 - refused where it is asked


def test_uneven_weights_and_sizes_cost_some():
    home = np.repeat(np.arange(8), UNEQUAL)
    assert sampling(len(home), clusters=home).df == pytest.approx(3.02, abs=0.01)
    heavy = np.where(np.arange(60) < 6, 10.0, 1.0)  # six people of sixty carry half of all weight
    assert sampling(60, heavy).df < 15
    beside = sampling(len(home), clusters=home)
    assert beside.df_beside(1) == beside.df
    assert beside.df_beside(7) == 1


def replicates(kind):
    """Replicate weights of four strata of two clusters of ten people each, and the scales that "jkn" takes."""
    cluster = np.repeat(np.arange(8), 10)
    out, mine = np.arange(8), cluster[:, None]
    if kind == "jkn":
        return np.where(mine == out, 0.0, np.where(mine == out ^ 1, 2.0, 1.0)), np.full(8, 0.5)
    if kind == "jk1":
        return np.where(mine == out, 0.0, 8 / 7), None
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, (4, 200)) if kind == "bootstrap" else (hadamard(8)[1:5] > 0).astype(int)
    return 2.0 * np.stack([first, 1 - first], axis=1).reshape(8, -1)[cluster], None


@pytest.mark.parametrize(("kind", "df"), [("bootstrap", 4), ("brr", 4), ("jkn", 4), ("jk1", 7)])
def test_replicates_have_the_rank_of_their_weights_less_one(kind, df):
    design = dn.Joint({"a": range(2)}, 3.0)
    reports = dn.Reports.of_codes(design, *design.randomize_codes(np.arange(80)[:, None] % 3 // 2, source=dn.Seeded(1)))
    columns, scales = replicates(kind)
    weights = dn.replicate_weights(reports, columns, kind, weights=np.ones(80), scales=scales)
    assert weights.df == np.linalg.matrix_rank(columns) - 1 == df
    found = dn.estimate(reports, "a", weights=weights)
    assert found.pooled.df == found.dispersion.df == df
    half = found.interval(method="wald").high - found.efficient.values
    assert half == pytest.approx(stats.t.ppf(0.975, df) * found.std_error)
    # A part of the people knows no more than its own clusters: here those of two strata.
    part = weights.only(np.arange(80) < 40)
    assert part.df == np.linalg.matrix_rank(columns[:40]) - 1


# -- what they are for -------------------------------------------------------------------------------------------------


def held(sizes, stratum, runs, seed):
    """How often a 95% interval of a share holds it: clusters' shares are beta, intraclass correlation .05."""
    rng, strata = np.random.default_rng(seed), len(set(stratum))
    home, inside = np.repeat(np.arange(len(sizes)), sizes), 0
    drawn = sampling(len(home), strata=stratum[home], clusters=home)
    yes = rng.binomial(sizes, rng.beta(0.3 * 19, 0.7 * 19, (runs, len(sizes))))
    share = yes.sum(axis=1) / sizes.sum()
    z = (yes - sizes * share[:, None]) / sizes.sum()
    error = np.sqrt(np.einsum("ri,ij,rj->r", z, variance(stratum), z))
    assert strata < len(sizes)
    inside = np.abs(share - 0.3) <= stats.t.ppf(0.975, drawn.df) * error
    return inside.mean()


def test_intervals_of_few_clusters_hold_the_truth():
    # Of 20,000 surveys a coverage has a sd below .0022; five of them (one in 3 million) beside what is required.
    assert held(UNEQUAL, np.zeros(8, dtype=int), 20_000, 1) - 0.011 >= 0.90
    assert held(np.array([60, 60, 60, 60]), np.array([0, 0, 1, 1]), 20_000, 2) >= 0.93
    assert held(np.array([30, 90, 40, 120]), np.array([0, 0, 1, 1]), 20_000, 3) >= 0.93

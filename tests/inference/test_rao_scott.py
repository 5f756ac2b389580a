"""Weighted tests and measures: against the formulas for open answers, against each other, against unweighted ones."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import deniable as dn
from deniable.errors import InputError, NotCoveredError
from deniable.sampling.read_sampling import sampling

DOMAIN = dn.Domain({"a": range(2), "b": range(3), "c": range(2)})
N, CLUSTERS = 1200, 60


def sent(design, slope=0.4, seed=1):
    """Answers that differ between clusters; b goes with a where there is a slope."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(CLUSTERS), N // CLUSTERS)
    a = (rng.random(N) < rng.beta(3, 4, CLUSTERS)[cluster]).astype(int)
    b = np.minimum((rng.random(N) * 3 + slope * a).astype(int), 2)
    columns = {"a": a, "b": b, "c": rng.integers(0, 2, N)}
    return design.randomize(pa.table(columns), source=dn.Seeded(seed)), cluster, rng.choice([1.0, 2.0, 5.0], N)


OPEN = dn.Joint(DOMAIN, 20.0)  # the truth but once in 10^8 answers


def test_open_answers_have_the_published_statistic():
    reports, cluster, weights = sent(OPEN)
    strata = cluster % 3
    found = dn.independence(reports, "a", "b", weights=weights, strata=strata, clusters=cluster)
    codes = reports.answers[:, 0] // 2
    hit = (codes[:, None] == np.arange(6)).astype(float)
    p = (weights[:, None] * hit).sum(axis=0) / weights.sum()
    table = p.reshape(2, 3)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns)
    pearson = N * ((table - expected) ** 2 / expected).sum()

    # Design effects of d_ij, its derivatives taken by differences.
    def d(x):
        y = x.reshape(2, 3)
        return (y - np.outer(y.sum(axis=1), y.sum(axis=0)))[:-1, :-1].ravel()

    at = expected.ravel()
    jacobian = np.stack([(d(at + 1e-6 * e) - d(at - 1e-6 * e)) / 2e-6 for e in np.eye(6)], axis=1)
    covariance = sampling(N, weights, strata, cluster).covariance((codes.astype(np.int64), (np.eye(6) - p)))
    total = sampling(N, weights, strata, cluster).scaled.sum()
    by_sampling = jacobian @ covariance @ jacobian.T / total**2
    plain = jacobian @ (np.diag(at) - np.outer(at, at)) @ jacobian.T / N
    effects = np.linalg.eigvals(np.linalg.solve(plain, by_sampling)).real
    nu = effects.sum() ** 2 / (effects**2).sum()
    assert found.statistic == pytest.approx(pearson / effects.sum(), rel=1e-3)
    assert found.df == pytest.approx(nu, rel=1e-3)
    found_df = sampling(N, weights, strata, cluster).df
    assert found.pvalue == pytest.approx(stats.f.sf(pearson / effects.sum(), nu, nu * found_df), rel=1e-2)


DESIGNS = [
    dn.Joint(DOMAIN, 4.0),
    dn.Views(DOMAIN, 2, 4.0),
    dn.Joint(DOMAIN, 4.0, channel="unary"),
    dn.Views(DOMAIN, 2, 4.0, channel="hadamard"),
    dn.Blocks(DOMAIN, 2, 4.0, block_size=300),
]


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_equal_weights_agree_with_the_unweighted_test(design):
    reports, _, _ = sent(design, slope=0.25)
    weighted = dn.independence(reports, "a", "b", weights=np.full(N, 3.0))
    again = dn.independence(
        reports, "a", "b", weights=np.full(N, 3.0), method="bootstrap", replicates=399, source=dn.Seeded(1)
    )
    # Two references of one statistic: 399 replicates have an sd below .025, four of them.
    assert again.pvalue == pytest.approx(weighted.pvalue, abs=0.1)
    assert weighted.notes[1].startswith("Design effects")


def test_independent_answers_have_pearson_s_p():
    reports, _, _ = sent(dn.Independent(DOMAIN, 12.0), slope=0.1)
    plain = dn.independence(reports, "a", "b", method="pearson")
    assert dn.independence(reports, "a", "b", weights=np.ones(N)).pvalue == pytest.approx(plain.pvalue, abs=0.02)


def test_two_groups_are_compared_by_their_difference():
    reports, cluster, weights = sent(OPEN)
    group = (np.arange(N) % 3 == 0).astype(int)  # groups cut across clusters
    with_groups = dn.Reports(reports.to_frame().append_column("g", pa.array(group)), OPEN)
    drawn = {"weights": weights, "clusters": cluster}
    found = dn.homogeneity(with_groups, "a", by="g", **drawn)
    said = reports.answers[:, 0] // 6
    pair = dn.prevalence(said, dn.KRR(2, 20.0), weights, clusters=cluster, by=group).difference(1, 0)
    assert found.statistic == pytest.approx(float(pair.values[1] / pair.std_error[1]) ** 2, rel=5e-3)
    again = dn.homogeneity(with_groups, "a", by="g", method="bootstrap", source=dn.Seeded(1), **drawn)
    assert again.pvalue == pytest.approx(found.pvalue, abs=0.1)
    within = dn.independence(with_groups, "a", "b", given="g", **drawn)
    assert "within each value of g" in within.method
    assert within.df < 4.0001
    given = dn.conditional_independence(with_groups, "a", "b", "c", **drawn)
    assert "given c" in given.method


def test_goodness_of_fit_of_one_share_is_its_z():
    reports, cluster, weights = sent(OPEN)
    found = dn.goodness_of_fit(reports, "a", {0: 0.5, 1: 0.5}, weights=weights, clusters=cluster)
    share = dn.estimate(reports, "a", weights=weights, clusters=cluster)
    z = float((share.efficient.values[1] - 0.5) / share.std_error[1])
    assert found.statistic == pytest.approx(z**2, rel=1e-3)
    assert found.pvalue == pytest.approx(stats.f.sf(z**2, 1, CLUSTERS - 1), rel=1e-2)


def test_measures_have_the_sampling_s_errors():
    reports, cluster, weights = sent(dn.Joint({"a": range(2), "b": range(3), "c": range(2)}, 5.0))
    drawn = {"weights": weights, "clusters": cluster}
    found = dn.estimate(reports, ["a", "b"], **drawn)
    odds = partial(dn.odds_ratio, outcomes=(0, 2))
    for measure in (partial(dn.difference, outcome=2), dn.correlation, odds):
        delta = measure(found, method="delta")
        # 299 replicates: an sd has a relative error of 4%; four of them, and curvature.
        assert measure(found, method="bootstrap", replicates=299, source=dn.Seeded(1)).std_error == pytest.approx(
            delta.std_error, rel=0.25
        )
        assert delta.df == sampling(N, weights, clusters=cluster).df < CLUSTERS - 1
    profile, wald = odds(found).interval(), odds(found, method="delta").interval()
    assert np.log(float(profile.high) / float(profile.low)) == pytest.approx(
        np.log(float(wald.high) / float(wald.low)), rel=0.1
    )
    assert dn.cramers_v(found).std_error > 0
    pairs = dn.all_pairs(reports, **drawn)
    assert pairs["a", "b"].pvalue == dn.independence(reports, "a", "b", **drawn).pvalue
    alone = dn.estimate(reports, "a", "inversion", **drawn)
    assert dn.entropy(alone).std_error > 0


def test_synthetic_records_are_those_of_the_population():
    reports, _, _ = sent(OPEN)
    heavy = np.where(reports.answers[:, 0] // 6 == 1, 5.0, 1.0)
    records = dn.synthesize(reports, 2000, weights=heavy, source=dn.Seeded(1))
    share = dn.estimate(reports, "a", weights=heavy).values[1]
    assert np.mean(np.asarray(records["a"])) == pytest.approx(share, abs=0.01)


def test_refusals():
    reports, _, weights = sent(dn.Sampled(DOMAIN, 2.0))
    with pytest.raises(NotCoveredError):
        dn.independence(reports, "a", "b", weights=weights)
    reports, _, weights = sent(dn.Joint(DOMAIN, 2.0))
    with pytest.raises(InputError, match="takes respondents for independent draws"):
        dn.independence(reports, "a", "b", "lrt", weights=weights)
    with pytest.raises(InputError, match="parts of one sample"):
        dn.homogeneity({"x": reports, "y": reports}, "a", weights=weights)
    with pytest.raises(InputError, match="holds counts"):
        dn.independence(dn.Observation(["a", "b"], dn.KRR(4, 1.0), [[3, 7], [4, 6]]), "a", "b", weights=[1.0] * 20)
    with pytest.raises(InputError, match="at least 1 replicate"):
        dn.independence(reports, "a", "b", "bootstrap", weights=weights, replicates=0)
    own = dn.estimate(
        dn.Views(DOMAIN, 2, 2.0).randomize(reports_frame(), source=dn.Seeded(1)),
        ["a", "b"],
        "inversion",
        weights=np.ones(200) + np.arange(200) % 2,
    )
    with pytest.raises(InputError, match="draws clusters anew"):
        dn.entropy(own, method="bootstrap")


def reports_frame():
    rng = np.random.default_rng(3)
    return pa.table({"a": rng.integers(0, 2, 200), "b": rng.integers(0, 3, 200), "c": rng.integers(0, 2, 200)})

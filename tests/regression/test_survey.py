"""Regressions on samples with weights, strata and clusters: against the formulas for open answers, and a jackknife."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import deniable as dn
from deniable.errors import InputError

N, CLUSTERS = 900, 30


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(CLUSTERS), N // CLUSTERS)
    x = rng.integers(-1, 2, N)
    z = rng.integers(0, 2, N)
    shift = rng.normal(size=CLUSTERS)[cluster]
    y = (rng.random(N) < 1 / (1 + np.exp(-(-0.5 + 0.8 * x + 0.6 * z + shift)))).astype(int)
    return pd.DataFrame(
        {"y": y, "x": x, "z": z, "w": rng.choice([1.0, 3.0], N), "cluster": cluster, "stratum": cluster % 5}
    )


DRAWN = {"weights": "w", "strata": "stratum", "clusters": "cluster"}


def test_open_answers_have_the_textbook_sandwich(people):
    fit = dn.logit("y ~ x + z", people, **DRAWN)
    X = np.column_stack([np.ones(N), people.x, people.z])
    p = 1 / (1 + np.exp(-X @ fit.params.to_numpy()))
    w = people.w.to_numpy()
    scores = (w * (people.y.to_numpy() - p))[:, None] * X
    assert np.abs(scores.sum(axis=0)).max() < 1e-6
    meat = 0.0
    for h in range(5):
        sums = np.array([scores[people.cluster == c].sum(axis=0) for c in range(CLUSTERS) if c % 5 == h])
        away = sums - sums.mean(axis=0)
        meat = meat + len(sums) / (len(sums) - 1) * away.T @ away
    bread = np.linalg.inv((X * (w * p * (1 - p))[:, None]).T @ X)
    assert fit.covariance.to_numpy() == pytest.approx(bread @ meat @ bread, rel=1e-6)
    # Clusters less strata less coefficients but one.
    assert fit.freedom == CLUSTERS - 5 + 1 - 3
    low, high = fit.interval()
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, fit.freedom) * fit.std_error.to_numpy())
    z = fit.params / fit.std_error
    assert fit.pvalue.to_numpy() == pytest.approx(2 * stats.t.sf(np.abs(z), fit.freedom))
    assert fit.wald_test("x").pvalue == pytest.approx(fit.pvalue["x"])


@pytest.mark.parametrize("kind", [dn.Joint, dn.Sampled])
def test_disguised_answers_have_the_jackknife_s_errors(people, kind):
    design = kind({"y": [0, 1], "z": [0, 1]}, 5.0)
    reports = design.randomize(people, keep=["x"], source=dn.Seeded(4))
    w, cluster = people.w.to_numpy(), people.cluster.to_numpy()
    fit = dn.logit("y ~ x", reports, weights=w, clusters=cluster)
    each = np.array(
        [dn.logit("y ~ x", reports, weights=np.where(cluster == c, 0.0, w)).params.to_numpy() for c in range(CLUSTERS)]
    )
    jackknife = (CLUSTERS - 1) / CLUSTERS * ((each - each.mean(axis=0)) ** 2).sum(axis=0)
    # Jackknife and linearization differ by one over the clusters, and by curvature.
    assert fit.std_error.to_numpy() == pytest.approx(np.sqrt(jackknife), rel=0.12)
    replicates = np.stack([np.where(cluster == c, 0.0, w * CLUSTERS / (CLUSTERS - 1)) for c in range(CLUSTERS)], axis=1)
    published = dn.replicate_weights(reports, replicates, "jk1", weights=w)
    again = dn.logit("y ~ x", reports, weights=published)
    assert again.std_error.to_numpy() == pytest.approx(fit.std_error.to_numpy(), rel=0.05)


def test_raked_weights_and_what_they_explain(people):
    design = dn.Joint({"y": [0, 1]}, 6.0)
    reports = design.randomize(people, keep=["z"], source=dn.Seeded(5))
    raked = dn.rake(reports, {"z": {0: 0.3, 1: 0.7}}, clusters=people.cluster)
    fit = dn.logit("y ~ z", reports, weights=raked)
    same = dn.logit("y ~ z", reports, weights=raked.weights, clusters=people.cluster)
    assert fit.params.to_numpy() == pytest.approx(same.params.to_numpy())
    # The margin of z is known, but y within z is not: the errors of coefficients by z stay.
    assert fit.std_error.to_numpy() == pytest.approx(same.std_error.to_numpy(), rel=0.1)
    # A constant is a mean over z: what z explains of it is known.
    mean, plain = (dn.logit("y ~ 1", reports, weights=w) for w in (raked, raked.weights))
    assert mean.std_error["Intercept"] > 0
    assert plain.kind == "survey"


def test_refusals(people):
    with pytest.raises(InputError, match="takes rows for independent"):
        dn.logit("y ~ x", people, clusters="cluster", covariance="hessian")
    with pytest.raises(InputError, match="weights=, strata= or clusters="):
        dn.logit("y ~ x", people, covariance="survey")
    reports = dn.Joint({"y": [0, 1]}, 6.0).randomize(people, source=dn.Seeded(5))
    raked = dn.replicate_weights(reports, np.ones((N, 4)), "brr", weights=np.ones(N))
    with pytest.raises(InputError, match="already"):
        dn.logit("y ~ 1", reports, weights=raked, clusters=people.cluster)
    with pytest.raises(InputError, match="of 900 respondents, the reports of 10"):
        dn.logit("y ~ x", people.iloc[:10], weights=raked)

"""Models of compliance for weighted, stratified and clustered respondents: every one against a jackknife."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InputError
from deniable.sampling.read_sampling import sampling

N, CLUSTERS = 1500, 30
P = {"low": 0.25, "high": 0.75}
WARNER = dn.Warner(0.85)


@pytest.fixture(scope="module")
def survey():
    """Two random groups, clusters that differ, and weights."""
    rng = np.random.default_rng(6)
    cluster = np.repeat(np.arange(CLUSTERS), N // CLUSTERS)
    group = rng.choice(["low", "high"], N)
    carries = rng.random(N) < rng.beta(3, 6, CLUSTERS)[cluster]
    told = rng.random(N) < np.array([P[g] for g in group])
    said = (carries | told).astype(int)
    items = np.where(rng.random((N, 3)) < 0.85, carries[:, None], rng.random((N, 3)) < 0.2).astype(int)
    return said, group, items, rng.choice([1.0, 2.0, 4.0], N), cluster


MODELS = {
    "cdm": lambda said, group, _, **drawn: dn.compliance.cdm(said, group, p=P, **drawn),
    "cdm_symmetric": lambda said, group, _, **drawn: dn.compliance.cdm_symmetric(
        said, group, forced={"low": (0.0, 0.25), "high": (0.0, 0.75)}, **drawn
    ),
    "sld": lambda said, group, _, **drawn: dn.compliance.sld(said, group, p={"low": 0.75, "high": 0.25}, **drawn),
    "extended crosswise": lambda said, group, _, **drawn: dn.compliance.extended_crosswise(
        said, group, p={"low": 0.3, "high": 0.8}, **drawn
    ),
    "anchored crosswise": lambda _said, _group, items, **drawn: dn.compliance.anchored_crosswise(
        items[:, 0], items[:, 1], p=0.2, anchor_p=0.9, **drawn
    ),
    "self_protective": lambda _said, _group, items, **drawn: dn.compliance.self_protective(
        items, [WARNER] * 3, **drawn
    ),
    "sum_score": lambda _said, _group, items, **drawn: dn.compliance.sum_score(items, [WARNER] * 3, **drawn),
}


FITTED = ("self_protective", "extended crosswise")


def numbers(found):
    if isinstance(found, dn.compliance.SumScore):
        return found.values, found.std_error
    return np.array(list(found.params.values())), np.array(list(found.std_error.values()))


@pytest.mark.parametrize("name", MODELS)
def test_equal_weights_agree_with_none(survey, name):
    *data, _, _ = survey
    plain, even = MODELS[name](*data), MODELS[name](*data, weights=np.full(N, 5.0))
    assert numbers(even)[0] == pytest.approx(numbers(plain)[0], rel=1e-6)
    # Robust errors: those of models whose fit leaves something are only near the model's own.
    assert numbers(even)[1] == pytest.approx(numbers(plain)[1], rel=0.2 if name in FITTED else 1e-3)
    assert even.n == plain.n == N
    assert even.df == N - 1


@pytest.mark.parametrize("name", MODELS)
def test_errors_are_those_of_leaving_clusters_out(survey, name):
    *data, weights, cluster = survey
    found = MODELS[name](*data, weights=weights, clusters=cluster, strata=np.zeros(N))
    each = np.array(
        [numbers(MODELS[name](*data, weights=np.where(cluster == c, 0.0, weights)))[0] for c in range(CLUSTERS)]
    )
    jackknife = np.sqrt((CLUSTERS - 1) / CLUSTERS * ((each - each.mean(axis=0)) ** 2).sum(axis=0))
    assert numbers(found)[1] == pytest.approx(jackknife, rel=0.12)
    assert found.df == sampling(N, weights, np.zeros(N), cluster).df


def test_tests_are_corrected_by_the_design_effect(survey):
    said, group, items, weights, cluster = survey
    drawn = {"weights": weights, "clusters": cluster}
    plain, found = (
        dn.compliance.extended_crosswise(said, group, p={"low": 0.3, "high": 0.8}, **d) for d in ({}, drawn)
    )
    assert "Rao and Scott" in found.fit.method
    assert found.fit.pvalue > plain.fit.pvalue
    cheats = dn.compliance.cdm(said, group, p=P, **drawn)
    assert cheats.compliance.pvalue <= 1
    assert dn.compliance.self_protective(items, [WARNER] * 3, **drawn).fit is None


def test_refusals():
    with pytest.raises(InputError, match="give one report each, not counts"):
        dn.compliance.cdm({"low": (55, 45), "high": (35, 65)}, p=P, weights=[1.0] * 200)
    with pytest.raises(InputError, match="one value for each of the 4 reports"):
        dn.compliance.cdm([0, 1, 0, 1], ["low", "low", "high", "high"], p=P, weights=[1.0])


@pytest.mark.parametrize("name", ["cdm", "sld"])
def test_clusters_that_are_all_alike_test_nothing_and_stop_nothing(name):
    # Everybody reports the same: neither the share nor how well the model fits varies between clusters.
    reports, groups = np.zeros(40, dtype=int), np.tile(["a", "b"], 20)
    p = {"cdm": {"a": 0.2, "b": 0.6}, "sld": {"a": 0.82, "b": 0.4}}[name]
    found = getattr(dn.compliance, name)(reports, groups, p=p, clusters=np.repeat(np.arange(4), 10))
    assert np.isnan(found.compliance.pvalue)
    assert "nothing can be tested" in str(found.summary())


def test_devices_that_fit_in_every_cluster_alike_are_not_tested():
    reports, groups = np.zeros(60, dtype=int), np.tile(["a", "b", "c"], 20)
    p = {"a": 0.2, "b": 0.5, "c": 0.8}
    found = dn.compliance.extended_crosswise(reports, groups, p=p, clusters=np.repeat(np.arange(4), 15))
    assert found.fit is None or np.isnan(found.fit.pvalue)

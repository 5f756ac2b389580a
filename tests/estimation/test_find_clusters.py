"""RR-Clusters: dependent attributes are found from a pilot that is not asked again."""

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import InputError
from deniable.estimation.find_clusters import dependence

DOMAIN = dn.Domain({name: [0, 1] for name in "abcdef"})


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "a": a,
            "b": a ^ (rng.random(n) < 0.1),
            "c": c,
            "d": c ^ (rng.random(n) < 0.15),
            "e": rng.integers(0, 2, n),
            "f": rng.integers(0, 2, n),
        }
    ).astype(int)


def test_the_dependent_attributes_share_a_cluster():
    reports = dn.Independent(DOMAIN, 6.0).randomize(people(20_000), source=dn.Seeded(1))
    assert dn.find_clusters(reports, least_dependence=0.2) == [["a", "b"], ["c", "d"], ["e"], ["f"]]


def test_clusters_stay_small_enough():
    everyone = pd.DataFrame({name: people(20_000)["a"] for name in "abcdef"})
    reports = dn.Independent(DOMAIN, 6.0).randomize(everyone, source=dn.Seeded(2))
    found = dn.find_clusters(reports, most_cells=8)
    assert sorted(name for cluster in found for name in cluster) == list("abcdef")
    assert max(len(cluster) for cluster in found) == 3


def test_dependence_is_corrected_for_noise():
    """Independent attributes: the plug-in V is far from zero, the corrected one is near it; a strong V is kept."""
    source = dn.Seeded(3)
    even = dn.Table({"x": range(4), "y": range(4)}, np.full(16, 1 / 16))
    design = dn.Independent(even.domain, 2.0)
    runs = [dn.estimate(design.simulate(even, 5000, source=source), ["x", "y"], "norm_sub") for _ in range(30)]
    assert np.mean([dependence(run) for run in runs]) < 0.08
    strong = dn.Table(even.domain, 0.5 * np.eye(4) / 4 + 0.5 / 16)  # V is .5
    kept = dn.estimate(design.simulate(strong, 10**6, source=source), ["x", "y"], "norm_sub")
    assert dependence(kept) == pytest.approx(0.5, abs=0.03)


def test_nobody_is_asked_twice_and_everybody_spends_epsilon_once():
    frame = people(10_000)
    pilot, others = dn.randomize_in_clusters(frame, DOMAIN, 6.0, pilot=0.2, least_dependence=0.2, source=dn.Seeded(4))
    assert (pilot.n, others.n) == (2000, 8000)
    assert pilot.design.epsilon <= 6.0
    assert others.design.epsilon <= 6.0
    assert ("a", "b") in {question.attributes for question in others.design.questions}
    both = dn.estimate([pilot, others], ["a", "b"], "inversion")
    assert both.n == 10_000
    alone = dn.estimate(others, ["a", "b"], "inversion")
    assert both.std_error.max() < alone.std_error.max()
    truth = dn.Table.count(frame, DOMAIN).project(["a", "b"]).normalize().values
    assert np.abs(both.values - truth).max() < 6 * both.std_error.max()


def test_an_impossible_pilot_is_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        dn.randomize_in_clusters(people(100), DOMAIN, 1.0, pilot=1.5)
    with pytest.raises(InputError, match="leave nobody"):
        dn.randomize_in_clusters(people(2), DOMAIN, 1.0, pilot=0.5)


def test_observations_alone_do_not_name_the_attributes():
    observation = dn.Observation(["x", "y"], dn.Kronecker([dn.KRR(2, 1.0)] * 2), [[50, 60], [40, 50]])
    with pytest.raises(InputError, match="name the attributes"):
        dn.find_clusters(observation)
    assert dn.find_clusters(observation, ["x", "y"]) == [["x"], ["y"]]

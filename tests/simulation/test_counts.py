"""Simulation on counts is the record-level path in distribution, and its cost does not grow with n."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency

import deniable as dn
from deniable.errors import InputError, UnknownAttributeError

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})
TRUTH = dn.Table(DOMAIN, np.random.default_rng(0).dirichlet(np.full(12, 1.0)))
DESIGNS = {
    "independent": dn.Independent(DOMAIN, 3.0),
    "joint": dn.Joint(DOMAIN, 2.0),
    "clusters": dn.Clusters(DOMAIN, [["c", "a"], ["b"]], 2.0),
    "sampled": dn.Sampled(DOMAIN, 1.0),
    "views one": dn.Views(DOMAIN, 2, 1.0),
    "views all": dn.Views(DOMAIN, 2, 2.0, answer="all"),
}


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_counts_and_records_have_the_same_distribution(design):
    """Pool many runs of either path and compare every cell of every observation by a chi-square test.

    Six designs: a p-value under 1e-7 in any of them has a chance under 1e-6.
    """
    runs, n, names = 60, 500, ["c", "b"]
    rng, records, counts = np.random.default_rng(1), {}, {}
    cells = TRUTH.normalize().values.ravel()
    for seed in range(runs):
        codes = np.stack(np.unravel_index(rng.choice(12, n, p=cells), DOMAIN.shape), axis=1)
        frame = pa.table({name: codes[:, i] for i, name in enumerate(DOMAIN)})
        for found, source in (
            (records, design.randomize(frame, source=dn.Seeded(seed))),
            (counts, design.simulate(TRUTH, n, source=dn.Seeded(10_000 + seed))),
        ):
            for o in source.tabulate(names):
                key = (o.domain.names, o.channel)
                found[key] = found.get(key, 0) + o.counts.ravel()
    assert records.keys() == counts.keys()
    stacked = np.array([np.concatenate([side[key] for key in records]) for side in (records, counts)])
    assert chi2_contingency(stacked).pvalue > 1e-7


def test_a_billion_respondents_are_a_handful_of_multinomials():
    tallies = DESIGNS["views one"].simulate(TRUTH, 10**9, source=dn.Seeded(2))
    estimate = dn.estimate(tallies, ["a", "b"])
    assert estimate.n == pytest.approx(10**9 / 3, rel=1e-3)
    assert np.abs(estimate.values - TRUTH.project(["a", "b"]).values).max() < 6 * estimate.std_error.max()
    assert estimate.std_error.max() < 2e-4


def test_a_table_over_some_attributes_simulates_what_is_said_about_them():
    part = DESIGNS["views one"].simulate(TRUTH.project(["a", "c"]), 3000, source=dn.Seeded(3))
    assert {o.domain.names for o in part.tabulate()} == {("a",), ("c",), ("a", "c")}
    assert sum(o.n for o in part.tabulate()) == 3000
    with pytest.raises(UnknownAttributeError, match="'b' were not simulated"):
        part.tabulate(["a", "b"])


def test_every_respondent_is_somewhere():
    for design in DESIGNS.values():
        assert sum(o.n for o in design.simulate(TRUTH, 777, source=dn.Seeded(4)).observations) == 777


def test_what_is_no_population_is_refused():
    with pytest.raises(InputError, match="negative cells"):
        DESIGNS["joint"].simulate(dn.Table(DOMAIN, np.r_[-1, np.ones(11)]), 10)
    with pytest.raises(InputError, match="at least 1, not 0"):
        DESIGNS["joint"].simulate(TRUTH, 0)


def test_a_question_that_cannot_be_collapsed_needs_its_whole_table():
    rng = np.random.default_rng(5)
    matrix = rng.dirichlet(np.full(4, 2.0), 4).T + np.eye(4)
    domain = dn.Domain({"a": [0, 1], "b": [0, 1]})
    design = dn.Joint(domain, channel=dn.Dense(matrix / matrix.sum(axis=0)))
    with pytest.raises(InputError, match="Give a table over all of them"):
        design.simulate(dn.Table(domain.project("a"), [1, 1]), 10)

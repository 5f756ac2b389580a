"""Designs whose reports are sets: from a frame to a table, a file and a test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from chequered import black
from deniable.designs.observation import Observation
from deniable.errors import DesignError, EstimationError, InputError, InvalidTestError
from deniable.estimation.inversion import pooled_inverse
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.gather import tabulated

DOMAIN = dn.Domain({"a": ["x", "y", "z"], "b": ["p", "q", "r", "s"], "c": ["no", "yes"]})
TRUTH = dn.Table(DOMAIN, np.random.default_rng(1).dirichlet(np.full(24, 2.0)).reshape(3, 4, 2))
NAMES = ["unary", "subset", "hashing", "hadamard", "least_variance"]
SIGMAS = 6  # 2e-9 a cell; fewer than 500 cells are compared


def people(n, seed=2):
    cells = np.random.default_rng(seed).choice(24, size=n, p=TRUTH.values.ravel())
    codes = np.stack(np.unravel_index(cells, (3, 4, 2)), axis=1)
    frame = pd.DataFrame({v.name: np.array(v.categories)[codes[:, i]] for i, v in enumerate(DOMAIN.values())})
    return frame.assign(region=np.where(np.arange(n) % 3 == 0, "north", "south"))


def near(found, table):
    truth = table.project(found.attributes).values
    return (np.abs(found.unbiased.values - truth) <= SIGMAS * found.std_error).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "make",
    [
        lambda name: dn.Joint(DOMAIN, 2.0, channel=name),
        lambda name: dn.Views(DOMAIN, 2, 2.0, channel=name),
        lambda name: dn.Clusters(DOMAIN, [["a", "b"], ["c"]], 3.0, channel=name),
        lambda name: dn.Independent(DOMAIN, 4.0, channel=name),
    ],
    ids=["joint", "views", "clusters", "independent"],
)
def test_tables_come_out_of_every_design(make, name):
    design = make(name)
    assert design.epsilon <= {"joint": 2, "views": 2, "clusters": 3, "independent": 4}[design.kind]
    reports = design.randomize(people(6000), keep=["region"], source=dn.Seeded(3))
    for attributes in (["a", "b"], ["a"], ["b", "a"]):
        found = dn.estimate(reports, attributes)
        assert near(found, TRUTH)
        assert found.values.min() >= 0
        assert found.values.sum() == pytest.approx(1)
    parts = dn.estimate(reports, ["a"], by="region")
    assert sorted(parts) == ["north", "south"]
    assert dn.design_from_dict(design.to_dict()) == design


@pytest.mark.parametrize("name", ["unary", "subset", "hashing"])
def test_reports_survive_a_frame_and_every_kind_of_file(name, tmp_path):
    design = dn.Joint(DOMAIN, 1.0, channel=name)
    reports = design.randomize(people(500), keep=["region"], source=dn.Seeded(4))
    again = dn.Reports(reports.to_frame(), design)
    np.testing.assert_array_equal(again.answers, reports.answers)
    table = dn.estimate(reports, ["a", "b", "c"]).values
    for suffix in (".parquet", ".csv", ".sav", ".dta"):
        path = reports.write(tmp_path / f"reports{suffix}")
        back = dn.read_reports(path)
        np.testing.assert_array_equal(back.answers, reports.answers, err_msg=suffix)
    for engine in ("bincount", "duckdb"):
        stored = dn.open_reports(tmp_path / "reports.parquet", engine=engine)
        np.testing.assert_allclose(dn.estimate(stored, ["a", "b", "c"]).values, table)
    with pytest.raises(InputError, match="no answer of this design can have"):
        dn.Reports(reports.to_frame().assign(**{"dn_answer_a*b*c": 1 << 60}), design)
    with pytest.raises(InputError, match="not categories"):
        reports.labelled()


def test_products_are_counted_by_engines_as_in_memory(tmp_path):
    design = dn.Independent(DOMAIN, channels={"a": dn.Unary(3, 1.0), "b": dn.KRR(4, 1.0), "c": dn.KRR(2, 1.0)})
    reports = design.randomize(people(800), source=dn.Seeded(5))
    reports.write(tmp_path / "r.parquet")
    stored = dn.open_reports(tmp_path / "r.parquet", engine="duckdb")
    for names in (["a", "b"], ["a"], ["b", "c"]):
        (ours,), (theirs,) = reports.tabulate(names), stored.tabulate(names)
        np.testing.assert_array_equal(ours.counts, theirs.counts)
        assert ours.n == theirs.n == 800
        assert ours.is_support == ("a" in names)


def test_an_observation_knows_how_many_reports_its_counts_are():
    channel = dn.Unary(4, 1.0)
    counts = channel.tally(channel.randomize(np.arange(100) % 4, source=dn.Seeded(6)))
    observation = Observation("v", channel, counts)
    assert observation.n == observation.population == 100
    np.testing.assert_allclose(observation.shares, counts / 100)
    with pytest.raises(InputError, match="5 reports but"):
        Observation("v", channel, counts[:-1])


def test_simulation_on_counts_is_simulation_of_people():
    design = dn.Joint(DOMAIN, 2.0, channel="subset")
    many = [
        dn.estimate(design.simulate(TRUTH, 3000, source=dn.Seeded(i)), DOMAIN.names, "inversion") for i in range(60)
    ]
    mean = np.mean([found.values for found in many], axis=0)
    predicted = many[0].dispersion.at(TRUTH.values).variances
    assert (np.abs(mean - TRUTH.values) <= SIGMAS * np.sqrt(predicted / 60)).all()


@pytest.mark.parametrize(("name", "population"), black(["unary", "subset", "hashing"], ["super", "fixed"], of=3))
def test_the_covariance_is_that_of_repeated_disguises(name, population):
    """The same people disguised 400 times (fixed), or other people each time (super; on counts, as the test above)."""
    design, n = dn.Joint(DOMAIN.project(["a", "c"]), 1.5, channel=name), 600
    frame, source, tables = people(n, 7), dn.Seeded(8), []
    for _ in range(400):
        fixed = population == "fixed"
        made = design.randomize(frame, source=source) if fixed else design.simulate(TRUTH, n, source=source)
        found = dn.estimate(made, ["a", "c"], "inversion", population=population)
        tables.append(found.values.ravel())
    measured = np.cov(np.array(tables).T)
    predicted = found.dispersion.matrix()
    np.testing.assert_allclose(np.diagonal(predicted), found.dispersion.variances.ravel(), rtol=1e-9)
    # A variance of 400 runs has a relative sd of 7%; the prediction's own noise is smaller. 45% is beyond six of them.
    np.testing.assert_allclose(np.diagonal(predicted), np.diagonal(measured), rtol=0.45)
    # A covariance has an sd of at most variance / sqrt(400) = 5% of the variance.
    assert np.abs(predicted - measured).max() <= 0.45 * np.diagonal(measured).max()


def test_intervals_of_every_method():
    reports = dn.Joint(DOMAIN.project(["b"]), 1.0, channel="unary").randomize(people(3000)[["b"]], source=dn.Seeded(9))
    found = dn.estimate(reports, ["b"])
    shares = TRUTH.project(["b"]).values
    for method in ("wilson", "wald", "clopper_pearson", "profile", "bootstrap"):
        interval = found.interval(0.999999, method, source=dn.Seeded(10), replicates=400)
        if method != "bootstrap":  # 400 replicates do not reach so far into the tails
            assert ((interval.low <= shares) & (shares <= interval.high)).all(), method
        assert ((interval.low < found.unbiased.values) & (found.unbiased.values < interval.high)).all(), method


def test_sets_and_categories_are_pooled_by_their_precision():
    part = DOMAIN.project(["a", "b"])
    sets, categories = dn.Joint(part, 1.0, channel="subset"), dn.Joint(part, 1.0)
    reports = [d.simulate(TRUTH.project(["a", "b"]), 20_000, source=dn.Seeded(11)) for d in (sets, categories)]
    found = dn.estimate(reports, ["a", "b"])
    assert found.method == "mle"
    assert near(found, TRUTH)
    samples = pooled_inverse(tabulated(reports, ["a", "b"])).samples
    alone = [Dispersion([type(s)(s.observation, part, 1.0)], part).variances.mean() for s in samples]
    assert found.dispersion.variances.mean() < min(alone)
    assert max(s.weight for s in samples) == next(s.weight for s in samples if s.observation.is_support)


def test_what_needs_a_likelihood_is_refused_by_name():
    reports = dn.Joint(DOMAIN, 1.0, channel="subset").randomize(people(400), source=dn.Seeded(12))
    counted = reports.tabulate()
    with pytest.raises(EstimationError, match="wls"):
        dn.estimate(counted, ["a", "b", "c"], method="mle")
    with pytest.raises(InvalidTestError, match="lrt"):
        dn.independence(reports, "a", "b", "pearson")
    with pytest.raises(InputError, match="test all attributes of that question"):
        dn.independence(reports, "a", "b", "two_step")
    with pytest.raises(EstimationError, match="wls"):
        dn.estimate(reports, ["a", "b", "c"], method="loglinear")
    for channel in (dn.SubsetSelection(2, 1.0), dn.Unary(2, 1.0)):
        outcome = pd.DataFrame({"y": channel.randomize([0, 1] * 50), "x": range(100)})
        with pytest.raises(DesignError, match="sets of answers"):
            dn.logit("y ~ x", outcome, channel=channel)
    with pytest.raises(DesignError, match="does not fit one number"):
        dn.Joint({"v": range(60)}, channel=dn.Unary(60, 1.0))
    with pytest.raises(DesignError, match="at most 53"):
        dn.Joint({"v": range(60)}, 1.0, channel="subset")


def test_counts_that_no_sets_have_are_refused():
    with pytest.raises(InputError, match="larger than the number of reports"):
        Observation("v", dn.Unary(3, 1.0), [50, 60, 1000, 100])
    with pytest.raises(InputError, match="larger than the number of reports"):
        Observation("v", dn.Unary(4, 1.0), [10, 10, 10, 10, 0])


def test_sets_that_were_only_counted_are_used_by_least_squares():
    pair, one = DOMAIN.project(["a", "c"]), DOMAIN.project(["a"])
    reports = [
        dn.Joint(pair, 2.0).simulate(TRUTH.project(["a", "c"]), 4000, source=dn.Seeded(20)),
        dn.Joint(one, 2.0, channel="unary").simulate(TRUTH.project(["a"]), 4000, source=dn.Seeded(21)),
    ]
    found = dn.estimate([o for part in reports for o in part.tabulate()], ["a", "c"])
    assert found.method == "wls"
    assert any("unary" in line.lower() for line in found.used)
    assert near(found, TRUTH)


def test_the_product_of_marginals_sums_to_one():
    reports = dn.Joint(DOMAIN, 1.0, channel="unary").simulate(TRUTH, 4000, source=dn.Seeded(22))
    assert dn.estimate(reports, ["a", "b"], method="product").values.sum() == pytest.approx(1)


def test_no_cell_carries_what_a_total_of_sets_misses():
    """Even truth, three attributes of four: the first cell must not be special (it was when it took the rest)."""
    even = dn.Domain({name: range(4) for name in "abc"})
    table = dn.Table(even, np.full((4, 4, 4), 1 / 64))
    design = dn.Views(even, 2, 1.0, channel="unary")
    firsts = [
        float(dn.estimate(design.simulate(table, 30_000, source=dn.Seeded(i)), list("abc")).values[0, 0, 0])
        for i in range(40)
    ]
    # A cell has a relative sd of about .5 here, its mean of 40 runs of .08.
    assert 64 * np.mean(firsts) == pytest.approx(1, abs=0.48)


def test_a_table_no_question_covers_comes_from_sets_too():
    design = dn.Views(DOMAIN, 2, 4.0, channel="subset")
    reports = design.simulate(TRUTH, 300_000, source=dn.Seeded(13))
    found = dn.estimate(reports, ["a", "b", "c"])
    assert found.method == "ipf"
    assert np.abs(found.values - TRUTH.values).sum() < 0.5  # what pairs say about the triple, not the triple itself
    for pair in (["a", "b"], ["b", "c"]):
        np.testing.assert_allclose(found.project(pair).values, TRUTH.project(pair).values, atol=0.02)
    few = dn.estimate(design.simulate(TRUTH, 60, source=dn.Seeded(14)), ["a", "b", "c"])
    assert any("less dependence than noise" in warning for warning in few.warnings)


def test_prevalence_of_a_question_with_many_answers():
    channel = dn.LocalHashing(100, 2.0)
    truth = np.zeros(20_000, dtype=int)
    truth[:4000] = 42
    truth[4000:] = np.arange(16_000) % 100
    found = dn.prevalence(channel.randomize(truth, source=dn.Seeded(15)), channel)
    shares = np.bincount(truth, minlength=100) / len(truth)
    assert (np.abs(found.values - shares) <= SIGMAS * found.std_error).all()
    assert found.values.min() >= 0
    grouped = dn.prevalence(channel.randomize(truth, source=dn.Seeded(16)), channel, by=np.arange(20_000) % 2)
    assert len(grouped) == 2
    with pytest.raises(InputError, match="sets of answers"):
        dn.prevalence(channel.randomize(truth[:10]), channel, weights=np.ones(10))


def test_audit_finds_no_more_than_is_claimed():
    channel = dn.SubsetSelection(6, 1.0)
    found = dn.audit(channel, confidence=1 - 1e-7)
    assert 0.5 < found.lower_bound <= channel.epsilon
    hashing = dn.LocalHashing(100, 1.0)
    assert 0.5 < dn.audit(hashing, confidence=1 - 1e-7).lower_bound <= hashing.epsilon

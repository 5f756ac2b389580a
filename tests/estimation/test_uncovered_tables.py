"""Estimates of tables that no question covers."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.core.table import Table, independent
from deniable.errors import InputError, MissingExtraError, NotCoveredError
from deniable.estimation.joint_tables.loglinear import fit_loglinear
from deniable.estimation.joint_tables.uncovered_tables import (
    ENGINES,
    ModelEstimate,
    bootstrap,
    connected,
    product_is_nearer,
)
from deniable.likelihood.gather import tabulated
from deniable.numerics.proportional_fitting import fit_margins

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(3)
    logs = rng.normal(size=(2, 3, 1)) + rng.normal(size=(2, 1, 2)) + rng.normal(size=(1, 3, 2))
    return dn.Table(DOMAIN, np.exp(0.6 * logs)).normalize()


@pytest.fixture(scope="module")
def reports(truth):
    return dn.Views(DOMAIN, k=2, epsilon=3.0).simulate(truth, 60_000, source=dn.Seeded(1))


@pytest.mark.parametrize("method", ["loglinear", "ipf", "qp", "l1"])
def test_every_engine_comes_near_a_table_without_three_way_interaction(reports, truth, method):
    result = dn.estimate(reports, NAMES, method=method)
    apart = np.abs(result.values - truth.values).sum() / 2
    # Reports err by about .01 in total variation; smallest norm and l1 fill the undetermined direction their own way.
    assert apart < (0.03 if method in ("loglinear", "ipf") else 0.1)
    assert result.method == method
    assert result.table.total == pytest.approx(1)
    assert (result.values >= 0).all()


def test_auto_is_the_log_linear_model_and_says_so(reports):
    result = dn.estimate(reports, ["c", "a", "b"])
    assert isinstance(result, ModelEstimate)
    assert result.method == "loglinear"
    assert result.attributes == ("c", "a", "b")
    assert "the log-linear model c*a + c*b + a*b" in result.reason
    text = str(result)
    assert "No question covers 'c', 'a', 'b' together" in text
    assert "200 bootstrap replicates) do not include" in text
    assert "efficient" not in text.splitlines()[0]


def test_product_is_the_product_of_marginals(reports):
    result = dn.estimate(reports, NAMES, method="product")
    np.testing.assert_allclose(result.values, independent(result.table).values, atol=1e-12)
    assert len(result.warnings) == 1


def test_errors_are_those_of_repeated_surveys(truth):
    # 80 surveys: a chi-square of 79 degrees of freedom makes a standard deviation .58 to 1.48 times the stated one in
    # all but 4e-8 of all seeds a cell, and there are twelve. Intervals of 60: with cells that move together, .07 below
    # .95 is beyond 5 standard errors.
    design, source = dn.Views(DOMAIN, k=2, epsilon=4.0), dn.Seeded(2)
    results = [dn.estimate(design.simulate(truth, 12_000, source=source), NAMES) for _ in range(80)]
    values = np.array([r.values for r in results])
    stated = np.mean([r.std_error for r in results[:20]], axis=0)
    apart = values.std(axis=0, ddof=1) / stated
    assert ((apart > 0.58) & (apart < 1.48)).all()
    covered = np.mean([r.interval(0.95).contains(truth.values) for r in results[:60]])
    assert 0.88 < covered <= 1


def test_the_covariance_is_an_operator(reports):
    result = dn.estimate(reports, NAMES)
    matrix = result.covariance.matrix()
    np.testing.assert_allclose(matrix, np.cov(result.dispersion.values.reshape(12, -1)), atol=1e-12)
    np.testing.assert_allclose(np.diagonal(matrix), result.std_error.ravel() ** 2, rtol=1e-9)
    w = np.random.default_rng(0).normal(size=12)
    assert result.covariance.quadratic(w) == pytest.approx(w @ matrix @ w)
    np.testing.assert_array_equal(dn.estimate(reports, NAMES).std_error, result.std_error)  # a fixed seed


def test_intervals_are_percentiles_and_nothing_else(reports):
    result = dn.estimate(reports, NAMES)
    interval = result.interval(0.9)
    assert interval.method == "parametric bootstrap, 200 replicates"
    np.testing.assert_allclose(interval.low, np.quantile(result.dispersion.values, 0.05, axis=-1))
    wider = result.interval(0.9, simultaneous=True)
    assert (wider.high - wider.low >= interval.high - interval.low).all()
    with pytest.raises(InputError, match="bootstrap"):
        result.interval(method="wald")
    with pytest.raises(InputError, match="between 0 and 1"):
        result.interval(1.5)


def test_the_slow_bootstrap_runs_the_engine_itself(reports):
    told = tabulated(reports, NAMES)
    table = dn.estimate(reports, NAMES, method="ipf").table
    again = bootstrap(told, table, "ipf", 10, dn.Seeded(3))
    assert again.shape == (2, 3, 2, 10)
    assert np.abs(again.mean(axis=-1) - table.values).max() < 0.02


@pytest.mark.parametrize("nearer", [True, False])
def test_it_warns_when_the_product_is_expected_to_be_nearer(truth, nearer):
    truth = independent(truth) if nearer else truth
    reports = dn.Views(DOMAIN, k=2, epsilon=1.0 if nearer else 4.0).simulate(truth, 3000, source=dn.Seeded(7))
    assert product_is_nearer(tabulated(reports, NAMES)) == nearer
    result = dn.estimate(reports, NAMES)
    assert any("product of marginals" in warning for warning in result.warnings) == nearer
    product = dn.estimate(reports, NAMES, method="product")
    apart = [np.abs(r.values - truth.values).sum() for r in (result, product)]
    assert (apart[0] > apart[1]) == nearer


def test_a_question_that_covers_keeps_its_unbiased_core(reports):
    result = dn.estimate(reports, ["a", "b"], method="loglinear")
    assert not isinstance(result, ModelEstimate)
    np.testing.assert_array_equal(result.unbiased.values, dn.estimate(reports, ["a", "b"]).unbiased.values)
    np.testing.assert_allclose(result.values, dn.estimate(reports, ["a", "b"], method="mle").values, atol=1e-3)


def test_attributes_that_nothing_connects_are_refused():
    domain = dn.Domain({"a": [0, 1], "b": [0, 1]})
    reports = dn.Sampled(domain, epsilon=1.0).simulate(dn.Table(domain, np.ones(4)), 500, source=dn.Seeded(0))
    with pytest.raises(NotCoveredError, match="no respondent was asked about 'a', 'b' together"):
        dn.estimate(reports, ["a", "b"])
    for method in ("inversion", "mle", "norm_sub", "shrink"):
        with pytest.raises(NotCoveredError):
            dn.estimate(reports, ["a", "b"], method=method)
    product = dn.estimate(reports, ["a", "b"], method="product")  # who asks for it by name gets it
    assert product.method == "product"
    assert connected([("a", "b"), ("b", "c")], DOMAIN)
    assert not connected([("a", "b"), ("c",)], DOMAIN)


def test_an_unknown_method_is_refused(reports):
    with pytest.raises(InputError, match="loglinear"):
        dn.estimate(reports, ["a", "b"], method="guess")
    with pytest.raises(NotCoveredError):
        dn.estimate(reports, NAMES, method="guess")


def test_a_survey_in_blocks_answers_too(truth):
    reports = dn.Blocks(DOMAIN, epsilon=3.0, block_size=200).simulate(truth, 20_000, source=dn.Seeded(5))
    result = dn.estimate(reports, NAMES)
    assert np.abs(result.values - truth.values).sum() / 2 < 0.1
    assert result.n == 20_000
    # Knowing each report's block would hardly change the fit: far less than its errors.
    with_blocks = fit_loglinear(tabulated(reports, NAMES))
    assert np.abs(with_blocks.table.values - result.values).max() < result.std_error.max()


def test_the_graphical_model_needs_its_extra(reports, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deniable\[graphical\]'"):
        dn.estimate(reports, NAMES, method="graphical")


@pytest.mark.slow
def test_the_graphical_model_gives_a_joint_table(reports, truth):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table, what = ENGINES["graphical"](tabulated(reports, NAMES))
    assert "graphical model" in what
    assert np.abs(table.values - truth.values).sum() / 2 < 0.05


def test_a_table_that_only_a_model_implies_has_errors_where_other_attributes_ride_along():
    # Sets of pairs have no form for one attribute of a pair: reports about c and d bring d along.
    domain = dn.Domain({name: [0, 1] for name in "abcd"})
    truth = dn.Table(domain, np.random.default_rng(1).dirichlet(np.full(16, 4.0)).reshape(2, 2, 2, 2))
    views = dn.Views(domain, 2, 4.0, channel="unary").simulate(truth, 20_000, source=dn.Seeded(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dn.estimate(views, ["a", "b", "c"])
    assert (found.std_error > 0).all()
    apart = np.abs(found.efficient.values - truth.project(["a", "b", "c"]).values)
    assert (apart < 6 * found.std_error + 0.05).all()  # a three-way interaction, which no pair tells of, is left out


def test_margins_that_contradict_each_other_leave_a_table():
    # Of few reports one margin may have everybody where another has nobody: a table of NaN, or one with a single cell.
    domain = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    shares = {("a", "b"): [[1, 0], [0, 0]], ("b", "c"): [[0, 0], [0.5, 0.5]], ("a", "c"): [[0, 0], [0, 1]]}
    margins = [Table(domain.project(names), np.array(values, dtype=float)) for names, values in shares.items()]
    fitted = fit_margins(margins, domain).values
    assert fitted.sum() == pytest.approx(1)
    assert (fitted > 0).all()


def test_few_reports_of_pairs_state_errors_of_a_table_that_nobody_was_asked():
    domain = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
    design = dn.Views(domain, 2, 0.5, channel="subset")
    people = pd.DataFrame({"a": ["yes"] * 50, "b": [0, 1, 2, 1, 1] * 10, "c": ["no"] * 50})
    for seed in range(3):
        found = dn.estimate(design.randomize(people, source=dn.Seeded(seed)), ["a", "b", "c"])
        interval = found.interval()
        assert np.isfinite(found.values).all()
        assert (found.std_error > 0.02).all()  # of fifty people through much noise
        assert ((interval.low <= found.values) & (found.values <= interval.high)).all()

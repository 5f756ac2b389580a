"""Odd input: the right answer, or an error that says what is wrong and what to do."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import (
    ConvergenceError,
    DivergenceError,
    FormulaError,
    InputError,
    MissingValueError,
    ProbabilityError,
    SeparationError,
    TooFewReportsError,
    UnknownAttributeError,
    UnknownCategoryError,
)

WARNER = dn.Warner(0.8)
KUK = dn.Kuk(0.8, 0.2, repetitions=3)  # four reports for two truths
DOMAIN = dn.Domain({"a": ["x", "y"], "b": [0, 1, 2]})
TOGETHER = dn.KRR(6, epsilon=1.0)
RARE = dn.Observation(DOMAIN, TOGETHER, [[50, 40, 0], [30, 30, 0]])  # category 2 was never reported
TWO = dn.Observation(DOMAIN, TOGETHER, [[1, 0, 0], [0, 1, 0]])
HUGE = dn.Observation(DOMAIN, TOGETHER, [[2e8, 1e8, 2e8], [2e8, 1e8, 2e8]])
MEASURES = [
    dn.entropy,
    dn.mutual_information,
    dn.chi2,
    dn.g2,
    dn.cramers_v,
    dn.correlation,
    partial(dn.odds_ratio, outcomes=(0, 2)),
    partial(dn.risk_ratio, outcome=2),
    partial(dn.difference, outcome=2),
]


def frame(n=600):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    truth = (rng.random(n) < 1 / (1 + np.exp(1 - x))).astype(int)
    return pd.DataFrame(
        {
            "x": x,
            "g": rng.integers(0, 3, n),
            "y": WARNER.randomize(truth, source=dn.Seeded(1)),
            "k": KUK.randomize(truth, source=dn.Seeded(2)),
            "number": x + 2 * truth + rng.normal(size=n),
        }
    )


# -- one question -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "error", "told"),
    [
        ([], TooFewReportsError, "no reports"),
        ([1], TooFewReportsError, "needs at least 2"),
        (3, InputError, "a list, array or series"),
        ([None, None], MissingValueError, "2 of 2"),
        ([1, 2, 1], UnknownCategoryError, "not among 0, 1"),
        ([[0, 1], [1, 0]], InputError, "one value a respondent"),
    ],
)
def test_reports_that_are_none(codes, error, told):
    with pytest.raises(error, match=told):
        dn.prevalence(codes, WARNER)


def test_a_device_must_be_a_channel():
    with pytest.raises(InputError, match=r"such as Warner\(0.8\), not 0.8"):
        dn.prevalence([0, 1], 0.8)
    with pytest.raises(InputError, match=r"such as Warner\(0.8\), not 0.8"):
        dn.logit("y ~ x", frame(), 0.8)


@pytest.mark.parametrize("labels", [[True, False, True], [1, 0, 1], [1.0, 0.0, 1.0], np.array([True, False, True])])
def test_truth_values_and_numbers_are_the_same_reports(labels):
    assert dn.prevalence(labels, WARNER).values.tolist() == pytest.approx([2 / 9, 7 / 9])
    assert dn.prevalence(labels, WARNER, categories=(False, True)).values.tolist() == pytest.approx([2 / 9, 7 / 9])


@pytest.mark.parametrize("survey", [{}, {"weights": [1] * 60}, {"clusters": [1, 2] * 30}])
def test_groups_that_all_say_the_same_still_have_an_interval(survey):
    low, high = dn.prevalence([0] * 60, WARNER, by=[1] * 30 + [2] * 30, **survey).difference(1, 2).interval()
    assert np.isfinite([low, high]).all()
    assert (low < 0).all()
    assert (high > 0).all()


def test_one_cluster_is_too_few():
    with pytest.raises(TooFewReportsError, match="there is a single cluster"):
        dn.prevalence([0, 1, 1, 0], WARNER, clusters=[1, 1, 1, 1])
    with pytest.raises(TooFewReportsError, match="2 of 2 strata"):
        dn.prevalence([0, 1, 1, 0], WARNER, clusters=[1, 1, 2, 2], strata=[1, 1, 2, 2])


def test_two_samples_need_two_probabilities():
    with pytest.raises(InputError, match="two probabilities"):
        dn.unrelated_two_samples([0, 1], [0, 1], p=0.7)
    with pytest.raises(TooFewReportsError, match="0 answers"):
        dn.unrelated_two_samples([], [0, 1], p=(0.7, 0.3))


@pytest.mark.parametrize("level", [0, 1, 2, -0.5])
def test_a_level_lies_between_zero_and_one(level):
    items = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    data = frame()
    for result in (
        dn.prevalence([0, 1, 1, 0], WARNER),
        dn.prevalence([0, 1] * 30, WARNER, by=[1] * 30 + [2] * 30).difference(1, 2),
        dn.unrelated_two_samples([0, 1], [0, 1], p=(0.7, 0.3)),
        dn.entropy(dn.estimate(HUGE, "a")),
        dn.compliance.cdm({"low": (55, 45), "high": (35, 65)}, p={"low": 0.25, "high": 0.75}),
        dn.compliance.sum_score(items, [WARNER, WARNER]),
        dn.correlate(data, "x", "number"),
        dn.logit("y ~ x", data, WARNER),
    ):
        with pytest.raises(InputError, match="confidence level"):
            result.interval(level)


# -- measures and tests -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("observation", [TWO, RARE, HUGE], ids=["two", "rare", "huge"])
def test_measures_of_odd_tables_do_not_warn(observation, measure, method):
    more = {"replicates": 99, "source": dn.Seeded(1)} if method == "bootstrap" else {}
    found = measure(dn.estimate(observation, ["a", "b"], "inversion"), method=method, **more)
    assert found.name in str(found)
    if "ratio" in found.name and method == "bootstrap":
        low, high = found.interval()
        assert 0 <= low <= high  # a ratio of shares has a sign


@pytest.mark.parametrize("n", [2_000, 20_000, 200_000, 2_000_000, 10**9])
def test_the_profile_of_an_odds_ratio_narrows_with_n(n):
    shares = np.array([[0.35, 0.25], [0.134, 0.266]])
    channel = dn.KRR(4, epsilon=2.0)
    counts = n * channel.apply(shares.ravel()).reshape(2, 2)
    table = dn.estimate(dn.Observation(["a", "b"], channel, counts), ["a", "b"])
    profile, delta = dn.odds_ratio(table).interval(), dn.odds_ratio(table, method="delta").interval()
    # On a logarithmic scale the two intervals agree to a share of their width that falls with its size.
    width = np.log(delta.high / delta.low)
    tolerance = max(0.2 * width**2, 1e-3 * width)
    assert np.log(profile.low) == pytest.approx(np.log(delta.low), abs=tolerance)
    assert np.log(profile.high) == pytest.approx(np.log(delta.high), abs=tolerance)


def test_walds_test_is_refused_where_its_covariance_is_singular():
    with pytest.raises(TooFewReportsError, match='method="lrt"'):
        dn.independence(TWO, "a", "b", method="wald")
    assert 0 < dn.independence(TWO, "a", "b", source=dn.Seeded(1)).pvalue <= 1


@pytest.mark.parametrize(
    ("channel", "counts"),
    [
        (dn.KRR(4, epsilon=8.0), [[2, 0], [0, 0]]),  # a negative variance
        (dn.Kronecker([dn.KRR(2, epsilon=4.0)] * 2), [[2, 0], [0, 0]]),  # none at all
        (dn.Kronecker([dn.KRR(2, epsilon=4.0)] * 2), [[0, 2], [2, 0]]),  # none, but for rounding
        (dn.Kronecker([dn.KRR(2, epsilon=4.0)] * 2), [[3, 1], [0, 0]]),
    ],
)
def test_walds_test_is_refused_where_few_reports_leave_no_variance(channel, counts):
    observation = dn.Observation(dn.Domain({"a": [0, 1], "b": [0, 1]}), channel, counts)
    with pytest.raises(TooFewReportsError, match='method="lrt"'):
        dn.independence(observation, "a", "b", method="wald")


@pytest.mark.parametrize("replicates", [0, -1])
def test_a_bootstrap_needs_replicates(replicates):
    with pytest.raises(InputError, match="at least 1 replicate"):
        dn.independence(RARE, "a", "b", replicates=replicates)
    with pytest.raises(InputError, match="at least 1 replicate"):
        dn.goodness_of_fit(RARE, "a", {"x": 0.5, "y": 0.5}, replicates=replicates)
    with pytest.raises(InputError, match="at least 2"):
        dn.entropy(dn.estimate(RARE, "a"), method="bootstrap", replicates=replicates)


def test_categories_that_do_not_match_are_not_pooled():
    other = dn.Observation(dn.Domain({"a": ["x", "z"], "b": [0, 1, 2]}), TOGETHER, np.full((2, 3), 9))
    with pytest.raises(UnknownCategoryError, match="'x', 'y' in some reports and 'x', 'z' in others"):
        dn.independence([RARE, other], "a", "b")
    with pytest.raises(UnknownCategoryError, match="same categories"):
        dn.homogeneity({"g": RARE, "h": other}, ["a", "b"])
    with pytest.raises(UnknownAttributeError, match="'c'"):
        dn.independence(RARE, "a", "c")
    with pytest.raises(InputError, match="there is no group"):
        dn.homogeneity({}, "a")


def test_functions_and_scores_that_do_not_fit():
    table = dn.estimate(RARE, ["a", "b"])
    with pytest.raises(InputError, match="one number, not 'text'"):
        dn.derived(table, lambda _: "text")
    with pytest.raises(InputError, match="both attributes"):
        dn.correlation(table, [(1, 2)])
    with pytest.raises(InputError, match="between 0 and 1"):
        dn.adjusted([0.1, np.nan])
    with pytest.raises(InputError, match="sum to 1"):
        dn.goodness_of_fit(RARE, "a", {"x": np.nan, "y": 0.5})


@pytest.mark.parametrize("dense", [False, True])
def test_more_reports_than_truths_everywhere(dense):
    domain = dn.Domain({"a": [0, 1], "b": [0, 1]})
    channel = dn.Kronecker([dn.Kuk(0.8, 0.2, repetitions=2), dn.Kuk(0.7, 0.3, repetitions=3)])
    truth = np.array([[0.5, 0.2], [0.1, 0.2]])
    counts = 40_000 * channel.apply(truth)
    used = dn.Dense(channel.matrix()) if dense else channel
    observation = dn.Observation(domain, used, counts.reshape(used.output_shape))
    table = dn.estimate(observation, ["a", "b"])
    assert table.values == pytest.approx(truth, abs=1e-4)
    assert dn.odds_ratio(table).value == pytest.approx(5.0, rel=1e-3)
    for method in ("lrt", "wald", "two_step"):
        assert dn.independence(observation, "a", "b", method=method, source=dn.Seeded(1)).pvalue < 0.01
    assert dn.goodness_of_fit(observation, ["a", "b"], truth, source=dn.Seeded(1)).pvalue > 0.5
    assert dn.homogeneity({1: observation, 2: observation}, ["a", "b"]).pvalue > 0.99


# -- regression -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reports", [0, 1])
@pytest.mark.parametrize("channel", [None, WARNER])
def test_one_kind_of_report_is_separation(reports, channel):
    with pytest.raises(SeparationError, match="jeffreys"):
        dn.logit("y ~ x", frame().assign(y=reports), channel)


def test_a_misspelt_option_is_not_ignored():
    with pytest.raises(InputError, match="logit takes no weight=: write weights="):
        dn.logit("y ~ x", frame(), WARNER, weight="g")


@pytest.mark.parametrize(
    ("change", "more", "error", "told"),
    [
        ({}, {"weights": ["a"] * 600}, InputError, "weights must be numbers from 0"),
        ({}, {"weights": np.eye(600)[0]}, TooFewReportsError, "1 reports for 2 parameters"),
        (
            {},
            {"clusters": np.where(np.arange(600) > 5, 1.0, np.nan)},
            MissingValueError,
            "6 of 600 values",
        ),
        ({"x": np.inf}, {}, InputError, "infinite"),
    ],
)
def test_rows_that_cannot_be_used(change, more, error, told):
    data = frame()
    for name, value in change.items():
        data.loc[0, name] = value
    with pytest.raises(error, match=told):
        dn.logit("y ~ x", data, WARNER, **more)


@pytest.mark.parametrize("data", [[1, 2], {"y": [1], "x": [2]}, None])
def test_a_frame_is_needed(data):
    with pytest.raises(InputError, match="data frame"):
        dn.logit("y ~ x", data, WARNER)
    with pytest.raises(InputError, match="data frame"):
        dn.correlate(data, "x", "y")


def test_what_a_formula_error_says_is_plain_text():
    with pytest.raises(FormulaError) as caught:
        dn.logit("y ~ x +* ", frame(), WARNER)
    assert caught.value.message.isprintable()


def test_ways_out_that_do_not_exist_are_not_offered():
    data = frame()
    with pytest.raises(DivergenceError) as caught:
        dn.linear("number ~ y", data.assign(y=0), rr={"y": WARNER})
    assert "jeffreys" not in caught.value.message
    with pytest.raises(ConvergenceError, match="without error") as exact:
        dn.linear("number ~ x", data.assign(number=2 * data["x"]))
    assert "jeffreys" not in exact.value.message
    with pytest.raises(InputError, match="no predictors"):
        dn.logit("y ~ 1", data, WARNER).lr_test()


def test_groups_of_a_random_intercept_must_be_known():
    data = frame()
    with pytest.raises(MissingValueError, match="no group"):
        dn.random_intercept("y ~ x", data.assign(g=data["g"].where(data["g"] > 0)), WARNER, groups="g")


def test_a_column_is_not_correlated_with_itself():
    with pytest.raises(InputError, match="different columns"):
        dn.correlate(frame(), "y", "y", channels={"y": WARNER})


@pytest.mark.parametrize("model", [dn.logit, dn.probit, dn.multinomial])
def test_regressions_take_devices_with_more_reports_than_truths(model):
    fit = model("k ~ x", frame(), KUK)
    assert fit.pvalue.to_numpy()[-1] < 1e-4


# -- compliance -------------------------------------------------------------------------------------------------------


def test_probabilities_of_compliance_models_are_checked():
    counts = {"a": (50, 50), "b": (30, 70)}
    for model in (dn.compliance.cdm, dn.compliance.sld, dn.compliance.extended_crosswise):
        with pytest.raises(ProbabilityError, match="between 0 and 1"):
            model(counts, p={"a": 0.2, "b": 1.8})
    for name in ("p", "anchor_p", "anchor_prevalence", "inattentive"):
        with pytest.raises(ProbabilityError, match=name):
            dn.compliance.anchored_crosswise([0, 1] * 9, [1, 1] * 9, **{"p": 0.2, "anchor_p": 0.2, name: 1.5})


def test_counts_and_codes_of_compliance_models_are_checked():
    with pytest.raises(InputError, match="two numbers from 0"):
        dn.compliance.cdm({"a": (np.nan, 5), "b": (5, 5)}, p={"a": 0.2, "b": 0.7})
    with pytest.raises(MissingValueError, match="1 reports are missing"):
        dn.compliance.cdm([0, np.nan, 1, 0], ["a", "a", "b", "b"], p={"a": 0.2, "b": 0.7})
    with pytest.raises(InputError, match="codes"):
        dn.compliance.sum_score([["no", "yes"], ["no", "no"]], [WARNER, WARNER])
    items = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    assert dn.compliance.sum_score(items.astype(float), [WARNER] * 2).values == pytest.approx(
        dn.compliance.sum_score(items, [WARNER] * 2).values
    )


# -- planning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -5, 10.5])
def test_power_needs_a_whole_number_of_respondents(n):
    with pytest.raises(InputError, match="whole number"):
        dn.power(WARNER, n, prevalence=0.1)


def test_a_category_is_named_by_its_label():
    named = dn.Warner(0.8, categories=("no", "yes"))
    assert dn.power(named, 100, prevalence=0.1, category="yes") == dn.power(WARNER, 100, prevalence=0.1, category=1)
    with pytest.raises(UnknownCategoryError, match="it has 'no', 'yes'"):
        dn.power(named, 100, prevalence=0.1, category="maybe")
    with pytest.raises(UnknownCategoryError, match="it has 0, 1"):
        dn.sample_size_for_width(WARNER, 0.1, 0.1, category=7)


def test_an_assumed_table_must_have_the_designs_categories():
    design = dn.Joint({"a": [0, 1], "b": [0, 1, 2]}, epsilon=1.0)
    assumed = dn.Table(dn.Domain({"a": [0, 1], "b": [0, 1]}), [[0.4, 0.1], [0.1, 0.4]])
    with pytest.raises(UnknownCategoryError, match="0, 1 here and 0, 1, 2 there"):
        dn.power(design, 1000, table=assumed)

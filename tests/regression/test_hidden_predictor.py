"""Disguised predictors: against brute force, least squares and simulation."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom, norm

import deniable as dn
from chequered import times
from deniable.errors import FormulaError, InputError, SmallCellWarning
from deniable.regression.likelihood.label_switching import renamed
from deniable.regression.likelihood.profile_interval import profile

WARNER = dn.Warner(0.75)


@pytest.fixture(scope="module")
def frame(survey):
    return survey.assign(x=WARNER.randomize(survey.truth.to_numpy(), source=dn.Seeded(2)))


def test_a_linear_model_equals_a_brute_force_optimum(frame):
    fit = dn.linear("y ~ x + age", frame, rr={"x": WARNER})
    rows, age, y = WARNER.matrix()[frame.x], frame.age.to_numpy(), frame.y.to_numpy()

    def loss(p):
        share = expit(p[4] + p[5] * age)
        total = 0.0
        for x, prior in ((0, 1 - share), (1, share)):
            total = total + rows[:, x] * prior * norm.pdf(y, p[0] + p[1] * x + p[2] * age, np.exp(p[3]))
        return -np.log(total).sum()

    found = minimize(loss, np.array([0, 1, 0, 0, 0, 0.0]), method="BFGS", options={"gtol": 1e-4})
    assert fit.loglik == pytest.approx(-found.fun, rel=1e-10)
    np.testing.assert_allclose(fit.values, found.x, atol=1e-4)
    assert loss(fit.values) == pytest.approx(-fit.loglik, rel=1e-12)
    assert list(fit.nuisance.index) == ["log(sigma)", "x = 1: Intercept", "x = 1: age"]


def test_a_logistic_model_with_both_sides_disguised(survey):
    rng = np.random.default_rng(4)
    outcome = (rng.random(len(survey)) < expit(-0.5 + 1.2 * survey.truth + 0.3 * survey.age)).astype(int)
    device = dn.Warner(0.85)
    data = survey.assign(
        x=WARNER.randomize(survey.truth.to_numpy(), source=dn.Seeded(2)),
        report=device.randomize(outcome.to_numpy(), source=dn.Seeded(3)),
    )
    fit = dn.logit("report ~ x + age", data, channel=device, rr={"x": WARNER})
    rows, told, age = WARNER.matrix()[data.x], device.matrix()[data.report], data.age.to_numpy()

    def loss(p):
        share = expit(p[3] + p[4] * age)
        total = 0.0
        for x, prior in ((0, 1 - share), (1, share)):
            yes = expit(p[0] + p[1] * x + p[2] * age)
            total = total + rows[:, x] * prior * (told[:, 0] * (1 - yes) + told[:, 1] * yes)
        return -np.log(total).sum()

    found = minimize(loss, fit.values + 0.1, method="BFGS", options={"gtol": 1e-4})
    assert fit.loglik == pytest.approx(-found.fun, rel=1e-9)
    np.testing.assert_allclose(fit.values, found.x, atol=2e-3)
    for bad in (fit.predict, fit.marginal_effects, lambda: fit.loglik_null):
        with pytest.raises(InputError):
            bad()
    shown = fit.predict(pd.DataFrame({"x": [1], "age": [0.0]}))
    assert shown["estimate"][0] == pytest.approx(expit(fit.params["Intercept"] + fit.params["x"]))


def test_almost_no_disguise_is_least_squares(survey):
    clear = dn.Warner(1 - 1e-12, categories=("no", "yes"))
    data = survey.assign(x=np.array(["no", "yes"])[survey.truth])
    fit = dn.linear("y ~ x*age", data, rr={"x": clear})
    design = np.c_[np.ones(len(data)), survey.truth, survey.age, survey.truth * survey.age]
    peer = sm.OLS(survey.y, design).fit()
    np.testing.assert_allclose(fit.params, peer.params, atol=1e-6)
    np.testing.assert_allclose(fit.std_error, peer.bse * np.sqrt(2996 / 3000), rtol=1e-4)
    assert list(fit.params.index) == ["Intercept", "x[T.yes]", "age", "x[T.yes]:age"]


def test_three_categories_and_two_disguised_predictors(survey):
    krr, survey = dn.KRR(3, epsilon=3.0), survey.head(1500)
    data = survey.assign(
        x=WARNER.randomize(survey.truth.to_numpy(), source=dn.Seeded(2)),
        k=krr.randomize(survey.three.to_numpy(), source=dn.Seeded(4)),
        y=survey.y + 1.0 * (survey.three == 2),
    )
    fit = dn.linear("y ~ x + C(k) + age", data, rr={"x": WARNER, "k": krr})
    # Each estimate within 5.5 standard errors of the truth: false alarm 4e-8 each.
    truth = {"Intercept": 0.0, "x": 1.5, "C(k)[T.1]": 0.0, "C(k)[T.2]": 1.0, "age": -0.5}
    for term, value in truth.items():
        assert abs(fit.params[term] - value) < 5.5 * fit.std_error[term]
    assert "k = 2: C(x)[T.1]" in fit.nuisance.index
    smaller = dn.linear("y ~ x + C(k) + age", data, rr={"x": WARNER, "k": krr}, rr_models={"k": "age"})
    assert smaller.df == fit.df - 2
    assert fit.lr_test(smaller).df == 2


@pytest.mark.slow
def test_the_likelihood_beats_regression_on_unbiased_scores():
    # The estimate from unbiased scores is consistent as well, but throws the outcome's information on x away: with a
    # strong effect the maximum likelihood standard error is less than half of it. 60 samples: the ratio of two
    # standard deviations has a relative error of 13%, so 5 of these lie between the bound and its expectation of .3; of
    # 24 it has one of 21%, with as many below .62.
    samples = times(60, 24)
    rng, estimates, moments, hits = np.random.default_rng(6), [], [], []
    for seed in range(samples):
        truth = (rng.random(400) < 0.3).astype(int)
        y = 3.0 * truth + rng.normal(size=400)
        x = WARNER.randomize(truth, source=dn.Seeded(seed))
        fit = dn.linear("y ~ x", pd.DataFrame({"x": x, "y": y}), rr={"x": WARNER})
        estimates.append(fit.params["x"])
        hits.append(abs(fit.params["x"] - 3) < 1.96 * fit.std_error["x"])
        score = (x - 0.25) / 0.5
        share = score.mean()
        moments.append(np.cov(score, y)[0, 1] / (share * (1 - share)))
    assert np.std(estimates) < times(50, 62) / 100 * np.std(moments)
    assert abs(np.mean(estimates) - 3) < 5.5 * np.std(estimates) / np.sqrt(samples)
    assert np.sum(hits) >= binom.ppf(1e-6, samples, 0.95)


def test_refusals(frame):
    with pytest.raises(FormulaError, match="does not use"):
        dn.linear("y ~ age", frame, rr={"x": WARNER})
    with pytest.raises(InputError, match="rr_models names"):
        dn.linear("y ~ x", frame, rr={"x": WARNER}, rr_models={"z": "age"})
    many = dn.KRR(300, epsilon=5.0)
    with pytest.raises(InputError, match="300 combinations"):
        dn.linear("y ~ x", frame, rr={"x": many})
    robust = dn.linear("y ~ x + age", frame, rr={"x": WARNER}, clusters="village")
    assert robust.kind == "survey"
    weighted = dn.linear("y ~ x", frame, rr={"x": WARNER}, weights="weight")
    assert weighted.kind == "survey"


# -- two groups whose names the reports hardly tell --------------------------------------------------------------------


def two_groups(epsilon, seed, n=150, spread=0.3):
    rng, device = np.random.default_rng(seed), dn.KRR(2, epsilon)
    x = rng.integers(0, 2, n)
    reports = device.randomize(x, source=dn.Seeded(seed))
    return dn.linear(
        "y ~ x", pd.DataFrame({"x": reports, "y": 1.2 * x + spread * rng.normal(size=n)}), rr={"x": device}
    )


def test_errors_reach_coefficients_with_the_categories_exchanged_that_fit_nearly_as_well():
    """Which group is which is said by reports alone, at epsilon .05 hardly at all: slopes are 1.2 or -1.2."""
    for seed in range(4):  # of three of these, what the reports say leads to a category with nobody in it
        fit = two_groups(0.05, seed)
        slope, error = fit.params["x"], fit.std_error["x"]
        assert abs(abs(slope) - 1.2) < 0.3  # 0.3 sqrt(4 / 150) = .05: six of them
        assert abs(slope) - 1.96 * error < -1.2 + 0.3
        assert "exchanged" in fit.notes[0]
    clear = two_groups(3.0, 1)
    assert clear.notes == ()
    assert clear.std_error["x"] < 0.1


def test_exchanged_categories_are_the_same_model_with_other_names():
    fit = two_groups(1.0, 1)
    intercept, slope, *_ = fit.values
    (other,) = renamed(fit.likelihood, fit.values)
    assert other[:2] == pytest.approx([intercept + slope, -slope], abs=1e-3)
    assert other[2] == pytest.approx(fit.values[2], abs=1e-3)  # log(sigma)
    assert other[3:] == pytest.approx(-fit.values[3:], abs=1e-3)  # the log odds of x


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
def test_shares_of_what_rides_along_go_with_the_group_that_gets_another_name():
    rng, n = np.random.default_rng(1), 300
    a = rng.integers(0, 2, n)
    c = np.where(rng.random(n) < 0.1, 1 - a, a)  # one in ten is otherwise than in a
    truths = pd.DataFrame({"a": a, "c": c, "w": 2.0 * a + 0.5 * rng.normal(size=n)})
    design = dn.Joint(dn.Domain({"a": [0, 1], "c": [0, 1]}), 2.0, channel="hashing")
    fit = dn.linear("w ~ a", design.randomize(truths, keep=["w"], source=dn.Seeded(1)))
    riding = sum("c = 1 |" in str(label) for label in fit.labels)
    (other,) = renamed(fit.likelihood, fit.values, riding)
    of_no, of_yes = np.split(fit.values[-riding:], 2)
    assert np.abs(of_no - of_yes).max() > 1
    np.testing.assert_array_equal(other[-riding:], np.append(of_yes, of_no))


def test_errors_reach_as_far_as_a_likelihood_that_is_no_parabola():
    """At one end of each interval it is z^2 / 2 lower with everything else fitted again, and at the other no less."""
    fit = two_groups(1.0, 2, spread=0.9)
    curved = np.sqrt(np.diagonal(np.linalg.inv(-fit.likelihood.evaluate(fit.values)[2])))
    for place, error in enumerate(fit.std_error):
        assert error > 1.2 * curved[place]
        ends = [fit.values[place] + side * 1.96 * error for side in (-1, 1)]
        falls = [fit.loglik - profile(fit.likelihood, place, end, [fit.values])[0][0] for end in ends]
        assert min(falls) == pytest.approx(1.96**2 / 2, abs=0.1)


def test_an_open_predictor_beside_a_disguised_one_only_has_a_part_in_the_model_of_that_one(survey):
    rng = np.random.default_rng(1)
    z = rng.normal(size=4000)
    a = (rng.random(4000) < 1 / (1 + np.exp(-1.5 * z))).astype(int)
    frame = pd.DataFrame({"a": WARNER.randomize(a, source=dn.Seeded(1)), "z": z, "w": 1 + 0.5 * a * z})
    frame["w"] += rng.normal(size=4000)
    for formula in ("w ~ a:z", "w ~ a + I(a * z)"):
        fit, said = (dn.linear(formula, frame, rr={"a": WARNER}, **how) for how in ({}, {"rr_models": {"a": "z"}}))
        np.testing.assert_allclose(fit.values, said.values, rtol=1e-6)
        truth = pd.Series({"Intercept": 1.0, "a": 0.0}).reindex(fit.params.index, fill_value=0.5)
        # 20 errors off where the model of a leaves z out; false alarm 6e-7 each.
        assert (np.abs(fit.params - truth) < 5 * fit.std_error).all()


def test_names_with_spaces_are_names():
    rng = np.random.default_rng(2)
    people = pd.DataFrame({name: rng.integers(0, 2, 600) for name in ("has pain", "my age", "y")})
    people["my region"] = rng.integers(0, 3, 600)
    design = dn.Joint(dn.Domain({name: [0, 1] for name in ("has pain", "my age", "y")}), 4.0)
    spaced = design.randomize(people, keep=["my region"], source=dn.Seeded(2))
    plain = dn.Joint(dn.Domain({name: [0, 1] for name in ("pain", "age", "y")}), 4.0).randomize(
        people.set_axis(["pain", "age", "y", "region"], axis=1), keep=["region"], source=dn.Seeded(2)
    )
    for formula, same in (
        ("y ~ `has pain` + `my age` + `my region`", "y ~ pain + age + region"),
        ("y ~ C(`has pain`) * C(`my region`)", "y ~ C(pain) * C(region)"),
    ):
        np.testing.assert_allclose(dn.logit(formula, spaced).values, dn.logit(same, plain).values, rtol=1e-6)


def test_errors_do_not_depend_on_what_weights_add_up_to():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 2000)
    frame = pd.DataFrame({"a": WARNER.randomize(a, source=dn.Seeded(1)), "w": 0.5 * a + rng.normal(size=2000)})
    errors = [dn.linear("w ~ a", frame, rr={"a": WARNER}, weights=np.full(2000, k)).std_error for k in (1.0, 1e-4, 1e4)]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-5)
    np.testing.assert_allclose(errors[2], errors[0], rtol=1e-5)
    np.testing.assert_allclose(errors[0], dn.linear("w ~ a", frame, rr={"a": WARNER}).std_error, rtol=0.1)


def test_errors_of_a_sample_by_clusters_may_be_smaller_than_those_of_a_simple_one():
    # Groups are even in every cluster, and clusters differ by much more than people within one do.
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"a": np.arange(2000) % 2, "school": np.arange(2000) // 20})
    people["w"] = 0.5 * people.a + rng.normal(size=100)[people.school] + 0.3 * rng.normal(size=2000)
    with pytest.warns(SmallCellWarning, match="school"):
        reports = dn.Joint({"a": [0, 1]}, 5.0).randomize(people, keep=["w", "school"], source=dn.Seeded(3))
    fit, simple = dn.linear("w ~ a", reports, clusters="school"), dn.linear("w ~ a", reports)
    assert fit.std_error["a"] < 0.5 * simple.std_error["a"]
    assert abs(fit.params["a"] - 0.5) < 5.5 * fit.std_error["a"]  # Student's t, 98 degrees: false alarm 3e-7

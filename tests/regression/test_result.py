"""Tests, predictions, effects and the printed table."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.stats import chi2, norm

import deniable as dn
from deniable.errors import InputError

CHANNEL = dn.Warner(0.8)


@pytest.fixture(scope="module")
def frame(survey):
    return survey.assign(report=CHANNEL.randomize(survey.truth.to_numpy(), source=dn.Seeded(1)))


@pytest.fixture(scope="module")
def fit(frame):
    return dn.logit("report ~ age + C(sex)", frame, channel=CHANNEL)


def test_information_criteria_and_intervals(fit):
    assert fit.aic == pytest.approx(-2 * fit.loglik + 6)
    assert fit.bic == pytest.approx(-2 * fit.loglik + 3 * np.log(3000))
    low, high = fit.interval(0.9)
    np.testing.assert_allclose(high - low, 2 * 1.6448536269514722 * fit.std_error)
    np.testing.assert_allclose(fit.pvalue, 2 * norm.sf(np.abs(fit.params / fit.std_error)))
    np.testing.assert_allclose(np.sqrt(np.diagonal(fit.covariance)), fit.std_error)
    with pytest.raises(InputError, match="level"):
        fit.interval(95)


def test_likelihood_ratio_and_wald(frame, fit):
    smaller = dn.logit("report ~ age", frame, channel=CHANNEL)
    test = fit.lr_test(smaller)
    assert test.statistic == pytest.approx(2 * (fit.loglik - smaller.loglik))
    assert test.pvalue == pytest.approx(chi2.sf(test.statistic, 1))
    whole = fit.lr_test()
    assert whole.df == 2
    empty = dn.logit("report ~ 1", frame, channel=CHANNEL)
    assert whole.statistic == pytest.approx(2 * (fit.loglik - empty.loglik), abs=1e-8)
    wald = fit.wald_test("age")
    assert wald.statistic == pytest.approx((fit.params["age"] / fit.std_error["age"]) ** 2)
    assert fit.wald_test(["age", "C(sex)[T.m]"]).df == 2
    for bad in (lambda: fit.wald_test("nobody"), lambda: smaller.lr_test(fit), lambda: fit.wald_test([])):
        with pytest.raises(InputError):
            bad()
    weighted = dn.logit("report ~ age", frame, channel=CHANNEL, weights="weight")
    with pytest.raises(InputError, match="wald_test"):
        weighted.lr_test()


def test_predictions_by_the_delta_method(frame, fit):
    shown = fit.predict(pd.DataFrame({"age": [0.5], "sex": ["m"]}), level=0.9)
    x = np.array([1, 0.5, 1])
    eta, error = x @ fit.params.to_numpy(), np.sqrt(x @ fit.covariance.to_numpy() @ x)
    share = 1 / (1 + np.exp(-eta))
    assert shown["estimate"][0] == pytest.approx(share)
    assert shown["std_error"][0] == pytest.approx(share * (1 - share) * error)
    assert shown["low"][0] == pytest.approx(1 / (1 + np.exp(-(eta - 1.6448536269514722 * error))))
    assert len(fit.predict()) == len(frame)


def test_marginal_effects_equal_statsmodels(survey):
    direct = dn.logit("truth ~ age + sex", survey)
    peer = smf.logit("truth ~ age + sex", survey).fit(disp=0, tol=1e-12).get_margeff(dummy=True).summary_frame()
    ours = direct.marginal_effects().set_index("variable")
    for ours_name, peer_name in (("age", "age"), ("sex", "sex[T.m]")):
        assert ours.estimate[ours_name] == pytest.approx(peer["dy/dx"][peer_name], rel=1e-6)
        assert ours.std_error[ours_name] == pytest.approx(peer["Std. Err."][peer_name], rel=1e-5)


def test_marginal_effects_follow_transformations(frame):
    fit = dn.logit("report ~ age + np.power(age, 2) + age:sex + C(village > 30)", frame, channel=CHANNEL)
    b = fit.params
    design = fit.design.matrix
    share = 1 / (1 + np.exp(-design @ b.to_numpy()))
    slope = b["age"] + 2 * b["np.power(age, 2)"] * frame.age + b["age:sex[T.m]"] * (frame.sex == "m")
    effects = fit.marginal_effects(["age"]).iloc[0]
    assert effects.estimate == pytest.approx(np.mean(share * (1 - share) * slope), rel=1e-7)
    with pytest.raises(InputError, match="'nobody'"):
        fit.marginal_effects(["nobody"])


def test_effects_of_categories_and_truth_values(frame):
    data = frame.assign(old=frame.age > 0, place=frame.village % 3, s=frame.sex.astype("category"))
    effects = dn.logit("report ~ old + C(place) + s", data, channel=CHANNEL).marginal_effects()
    assert effects.contrast.tolist() == ["True - False", "1 - 0", "2 - 0", "m - f"]


def test_a_linear_model_without_disguise_is_least_squares(survey):
    fit = dn.linear("y ~ truth + age", survey)
    peer = sm.OLS(survey.y, np.c_[np.ones(len(survey)), survey.truth, survey.age]).fit()
    np.testing.assert_allclose(fit.params, peer.params, rtol=1e-8)
    # Maximum likelihood divides by n, least squares by n - 3.
    np.testing.assert_allclose(fit.std_error, peer.bse * np.sqrt(2997 / 3000), rtol=1e-7)
    assert fit.loglik == pytest.approx(peer.llf, rel=1e-12)
    shown = fit.predict(pd.DataFrame({"truth": [1], "age": [0.0]}))
    assert shown["estimate"][0] == pytest.approx(fit.params["Intercept"] + fit.params["truth"])
    for bad in (fit.marginal_effects, lambda: fit.loglik_null):
        with pytest.raises(InputError):
            bad()
    with pytest.raises(InputError, match="number"):
        dn.linear("sex ~ age", survey)
    assert "log(sigma)" in str(fit)


def test_how_it_shows_itself(fit):
    text = str(fit.summary())
    assert repr(fit.summary()) == text == str(fit)
    for part in ("logit, report ~ age + C(sex)", "Warner(0.8)", "Pr(1)", "log-likelihood", "C(sex)[T.m]", "0.975"):
        assert part in text
    html = fit._repr_html_()
    assert "<table>" in html
    assert "C(sex)[T.m]" in html
    assert repr(fit).startswith("<logit: report ~ age + C(sex); 3000 reports")


def test_several_maxima_are_told():
    # Found by search: an RR logit likelihood with two maxima of different height.
    channel, rng = dn.Warner(0.75), np.random.default_rng
    told = 0
    for seed in range(40):
        draw = rng(seed)
        x, z = draw.normal(size=500), draw.normal(size=500)
        truth = (draw.random(500) < 0.1).astype(int)
        data = pd.DataFrame({"x": x, "z": z, "report": channel.randomize(truth, source=dn.Seeded(seed))})
        try:
            found = dn.logit("report ~ x + z", data, channel=channel)
        except dn.DeniableError:
            continue
        told += bool(found.notes)
        if found.notes:
            assert "other maxima" in str(found)
            assert "other maxima" in found._repr_html_()
            break
    assert told

"""Jeffreys' penalty: Firth's regression for a direct question, and finite always."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import deniable as dn


def test_a_direct_question_gives_firths_regression():
    # Firth's estimate solves  sum_i (y_i - p_i + h_i (1/2 - p_i)) x_i = 0,  h the diagonal of the hat matrix.
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = (rng.random(40) < 1 / (1 + np.exp(-x))).astype(int)
    fit = dn.logit("y ~ x", pd.DataFrame({"x": x, "y": y}), penalty="jeffreys")
    design = np.c_[np.ones(40), x]
    share = 1 / (1 + np.exp(-design @ fit.params.to_numpy()))
    weight = share * (1 - share)
    information = design.T @ (weight[:, None] * design)
    hat = weight * np.einsum("ij,jk,ik->i", design, np.linalg.inv(information), design)
    np.testing.assert_allclose(design.T @ (y - share + hat * (0.5 - share)), 0, atol=1e-6)
    np.testing.assert_allclose(fit.std_error, np.sqrt(np.diagonal(np.linalg.inv(information))), rtol=1e-9)


def test_an_intercept_has_a_closed_form():
    # Firth's estimate of a log odds from s of n is log((s + 1/2) / (n - s + 1/2)), finite at s = 0.
    for s, n in ((0, 20), (3, 20), (20, 20)):
        frame = pd.DataFrame({"y": np.r_[np.ones(s, int), np.zeros(n - s, int)]})
        fit = dn.logit("y ~ 1", frame, categories=(0, 1), penalty="jeffreys")
        assert fit.params["Intercept"] == pytest.approx(np.log((s + 0.5) / (n - s + 0.5)), abs=1e-6)


@pytest.mark.parametrize("model", [dn.logit, dn.multinomial])
def test_through_a_channel_against_brute_force(model):
    # Two groups, all but one report "no": the likelihood alone diverges.
    channel = dn.Warner(0.7)
    frame = pd.DataFrame({"x": [0] * 30 + [1] * 30, "report": [0] * 29 + [1] + [0] * 20 + [1] * 10})
    design, rows = np.c_[np.ones(60), frame.x], channel.matrix()[frame.report]

    def loss(beta):
        share = 1 / (1 + np.exp(-design @ beta))
        slope = 0.4 * share * (1 - share)
        lam = 0.3 + 0.4 * share
        information = design.T @ ((slope**2 / (lam * (1 - lam)))[:, None] * design)
        return -np.log(rows[:, 0] * (1 - share) + rows[:, 1] * share).sum() - np.linalg.slogdet(information)[1] / 2

    found = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
    fit = model("report ~ x", frame, channel=channel, penalty="jeffreys")
    np.testing.assert_allclose(fit.params, found.x, atol=1e-5)
    assert "jeffreys" in str(fit)


def test_mixed_designs_have_the_sum_of_their_informations():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=80), "report": rng.integers(0, 2, 80), "g": ["a", "b"] * 40})
    channels = {"a": dn.Warner(0.8), "b": None}
    both = dn.logit("report ~ x", frame, channel=channels, design_column="g", penalty="jeffreys")
    assert np.isfinite(both.params).all()
    robust = dn.logit(
        "report ~ x", frame, channel=channels, design_column="g", penalty="jeffreys", covariance="sandwich"
    )
    assert robust.kind == "sandwich"


def test_few_events_in_a_group_are_said_to_be_rough():
    rng, device = np.random.default_rng(3), dn.Warner(0.8)
    group = (np.arange(2000) < 40).astype(int)
    truth = (rng.random(2000) < np.where(group, 0.5, 0.3)).astype(int)
    frame = pd.DataFrame({"y": device.randomize(truth, source=dn.Seeded(1)), "g": group})
    (told,) = dn.logit("y ~ g", frame, device, penalty="jeffreys").notes
    assert told.startswith("Few events: of those with g some ")
    assert "rough" in told
    frame["g"] = (np.arange(2000) < 1000).astype(int)
    assert not dn.logit("y ~ g", frame, device, penalty="jeffreys").notes

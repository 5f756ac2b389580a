import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

import deniable as dn


def design_of(frame):
    return np.c_[np.ones(len(frame)), frame.age]


def test_a_direct_question_equals_mnlogit(survey):
    fit = dn.multinomial("three ~ age", survey)
    peer = sm.MNLogit(survey.three, design_of(survey)).fit(disp=0, method="newton", tol=1e-12)
    np.testing.assert_allclose(fit.params, peer.params.to_numpy().T.ravel(), rtol=1e-6)
    np.testing.assert_allclose(fit.std_error, peer.bse.to_numpy().T.ravel(), rtol=1e-6)
    assert fit.loglik == pytest.approx(peer.llf, rel=1e-10)
    assert fit.loglik_null == pytest.approx(peer.llnull, rel=1e-8)
    assert list(fit.params.index) == [(1, "Intercept"), (1, "age"), (2, "Intercept"), (2, "age")]


@pytest.mark.parametrize(
    "channel",
    [
        dn.KRR(3, epsilon=2.0),
        dn.ForcedResponse([0.1, 0.05, 0.1]),
        dn.Dense([[0.7, 0.1, 0.1], [0.1, 0.6, 0.1], [0.1, 0.2, 0.5], [0.1, 0.1, 0.3]]),
    ],
    ids=lambda c: c.name,
)
def test_through_a_channel_against_brute_force(survey, channel):
    report = channel.randomize(survey.three.to_numpy(), source=dn.Seeded(1))
    fit = dn.multinomial("report ~ age", survey.assign(report=report), channel=channel)
    design, rows = design_of(survey), channel.matrix()[report]

    def loss(flat):
        eta = np.c_[np.zeros(len(design)), design @ flat.reshape(2, 2).T]
        power = np.exp(eta)
        return -np.log((rows * power).sum(axis=1) / power.sum(axis=1)).sum()

    found = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-5})
    assert fit.loglik == pytest.approx(-found.fun, rel=1e-10)
    np.testing.assert_allclose(fit.params, found.x, atol=1e-4)


def test_two_categories_are_the_logit(survey):
    channel = dn.Warner(0.8)
    frame = survey.assign(report=channel.randomize(survey.truth.to_numpy(), source=dn.Seeded(1)))
    two, one = dn.multinomial("report ~ age", frame, channel=channel), dn.logit("report ~ age", frame, channel=channel)
    np.testing.assert_allclose(two.params, one.params, rtol=1e-8)
    np.testing.assert_allclose(two.std_error, one.std_error, rtol=1e-8)


def test_predictions_and_effects_sum_over_categories(survey):
    channel = dn.KRR(3, epsilon=2.0)
    report = channel.randomize(survey.three.to_numpy(), source=dn.Seeded(1))
    frame = survey.assign(report=np.array(["never", "once", "often"])[report])
    fit = dn.multinomial("report ~ age", frame, channel=channel, categories=("never", "once", "often"))
    shown = fit.predict(pd.DataFrame({"age": [0.0, 1.0]}))
    np.testing.assert_allclose(shown[["never estimate", "once estimate", "often estimate"]].sum(axis=1), 1)
    effects = fit.marginal_effects()
    assert effects.category.tolist() == ["never", "once", "often"]
    assert effects.estimate.sum() == pytest.approx(0, abs=1e-9)
    assert "each category against never" in str(fit)

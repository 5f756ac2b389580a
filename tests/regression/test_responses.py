import numpy as np
import pytest

from deniable.regression.likelihood.responses import CAUCHIT, CLOGLOG, LOGIT, PROBIT

LINKS = [LOGIT, PROBIT, CLOGLOG, CAUCHIT]


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_density_and_slope_are_the_derivatives(link):
    eta, h = np.linspace(-3, 2, 41), 1e-5
    low, high, density, slope = link.parts(eta)
    np.testing.assert_allclose(low + high, 1, atol=1e-15)
    np.testing.assert_allclose(density, (link.parts(eta + h)[1] - link.parts(eta - h)[1]) / (2 * h), rtol=1e-8)
    np.testing.assert_allclose(slope, (link.parts(eta + h)[2] - link.parts(eta - h)[2]) / (2 * h), atol=1e-9)
    np.testing.assert_allclose(link.inverse(high), eta, atol=1e-9)


def test_both_tails_keep_their_digits():
    # e^-30 / (1 + e^-30), Phi(-8), 1 - e^(-e^-30) and arctan: tail values to full relative precision.
    for link, eta, tail in [
        (LOGIT, -30.0, 9.357622968839299e-14),
        (PROBIT, -8.0, 6.220960574271785e-16),
        (CLOGLOG, -30.0, 9.357622968839737e-14),
        (CAUCHIT, -1e9, 1 / (np.pi * 1e9)),
    ]:
        assert link.parts(np.array([eta]))[1][0] == pytest.approx(tail, rel=1e-12)
    for link, eta, tail in [(LOGIT, 30.0, 9.357622968839299e-14), (PROBIT, 8.0, 6.220960574271785e-16)]:
        assert link.parts(np.array([eta]))[0][0] == pytest.approx(tail, rel=1e-12)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_extreme_predictors_stay_finite(link):
    assert all(np.isfinite(part).all() for part in link.parts(np.array([-1e4, 1e4])))

"""Golden tests: Wang, Wu & Hu (2016), equations 8, 11, 19 and 21, and what was found beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import laplace

from deniable.channels.krr import KRR
from deniable.channels.laplace import BinnedLaplace
from deniable.errors import DesignError

EPSILONS = [0.5, 1, 2, 5]


def binned(t, scale):
    """Equation 21 by SciPy's distribution function, categories 1 .. t."""
    cuts = np.array([-np.inf, *(np.arange(1, t) + 0.5), np.inf])
    return np.array([np.diff(laplace.cdf(cuts, loc=v, scale=scale)) for v in range(1, t + 1)]).T


def trace(channel, pi):
    """The trace of n x the dispersion matrix (equation 18)."""
    return channel.variance(pi, 1).sum()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_equation_8_is_binary_randomized_response(epsilon):
    e = math.exp(epsilon)
    np.testing.assert_allclose(KRR(2, epsilon).matrix(), np.array([[e, 1], [1, e]]) / (1 + e), rtol=1.1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_equation_11_is_the_binary_laplace_mechanism(epsilon):
    lie = math.exp(-epsilon / 2) / 2
    np.testing.assert_allclose(BinnedLaplace(2, epsilon).matrix(), [[1 - lie, lie], [lie, 1 - lie]], atol=2**-32)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("t", [3, 6, 20])
def test_equation_19_is_k_ary_randomized_response(t, epsilon):
    e = math.exp(epsilon)
    expected = (np.ones((t, t)) + (e - 1) * np.eye(t)) / (t - 1 + e)
    np.testing.assert_allclose(KRR(t, epsilon).matrix(), expected, rtol=1e-3 * epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("t", [2, 3, 6, 11])
def test_equation_21_is_the_binned_laplace_mechanism(t, epsilon):
    np.testing.assert_allclose(BinnedLaplace(t, epsilon).matrix(), binned(t, (t - 1) / epsilon), atol=2**-32)


@pytest.mark.parametrize(("epsilon", "true"), [(1, 0.832), (5, 3.15)])
def test_the_binary_laplace_mechanism_is_randomized_response_with_less_budget(epsilon, true):
    spent = BinnedLaplace(2, epsilon).epsilon
    assert spent == pytest.approx(math.log(2 * math.exp(epsilon / 2) - 1), abs=1e-8)
    assert spent == pytest.approx(true, rel=2e-3)
    np.testing.assert_allclose(KRR(2, spent).matrix(), BinnedLaplace(2, epsilon).matrix(), rtol=5e-3)


def test_erratum_equation_21_read_literally_spends_23_instead_of_1():
    literal = binned(6, 1 / 5)  # F with epsilon / (t - 1) for its scale, not (t - 1) / epsilon
    assert math.log((literal.max(axis=1) / literal.min(axis=1)).max()) == pytest.approx(23.15, abs=0.01)
    assert BinnedLaplace(6, 1).epsilon == pytest.approx(0.9909, abs=1e-4)


@pytest.mark.parametrize("t", [2, 3, 6, 11])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_true_epsilon_of_binned_laplace_is_below_the_nominal_one(t, epsilon):
    assert BinnedLaplace(t, epsilon).epsilon < epsilon


@pytest.mark.parametrize(("epsilon", "ratio"), [(1, 181.4), (2, 97.5), (5, 16.4)])
def test_at_equal_true_epsilon_randomized_response_disperses_far_less(epsilon, ratio):
    # t = 6, even truths, sampling included; the Laplace mechanism gets the nominal budget that makes it spend epsilon.
    nominal = brentq(lambda budget: BinnedLaplace(6, budget).epsilon - epsilon, epsilon, 1.2 * epsilon, xtol=1e-9)
    even = np.full(6, 1 / 6)
    assert trace(BinnedLaplace(6, nominal), even) / trace(KRR(6, epsilon), even) == pytest.approx(ratio, rel=5e-3)


@pytest.mark.parametrize(("t", "epsilon"), [(1, 1), (6, 0), (6, -1), (6, math.inf), (6, math.nan)])
def test_impossible_arguments_are_refused(t, epsilon):
    with pytest.raises(DesignError, match=r"at least 2 categories|positive and finite"):
        BinnedLaplace(t, epsilon)

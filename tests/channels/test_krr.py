"""k-RR from a requested epsilon: integers that never spend more than was asked for."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.channels.kronecker import BLOCK, Kronecker
from deniable.channels.krr import KRR
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, PrecisionError, ProbabilityError, SingularChannelError

categories = st.integers(2, 300)
epsilons = st.floats(0.01, 8)


def reachable(k, epsilon):
    """Rounding b up by less than one takes less than k draws from the truth: is that certainly within 0.1%?"""
    return k * (k + math.exp(epsilon)) / 2**32 <= 0.9e-3 * epsilon


@given(categories, epsilons)
def test_epsilon_is_at_most_what_was_asked_and_within_a_thousandth(k, epsilon):
    try:
        channel = KRR(k, epsilon)
    except PrecisionError:
        assert not reachable(k, epsilon)
        return
    assert 0.999 * epsilon <= channel.epsilon <= epsilon
    # Rigorously, in fractions: a / b <= a lower bound of e^epsilon.
    assert Fraction(channel.keep, channel.other) == channel.ratio <= exp_below(epsilon)
    assert channel.keep + (k - 1) * channel.other == 2**channel.bits


@given(categories, epsilons)
def test_one_draw_less_for_the_others_would_spend_too_much(k, epsilon):
    try:
        channel = KRR(k, epsilon)
    except PrecisionError:
        return
    if channel.other > 1:
        assert KRR(k, other=channel.other - 1, bits=channel.bits).ratio > exp_below(epsilon)


@given(categories, epsilons)
def test_sixteen_bits_are_taken_whenever_they_suffice(k, epsilon):
    other = math.ceil(2**16 / (exp_below(epsilon) + k - 1))
    keep = 2**16 - (k - 1) * other
    suffices = keep > other and KRR(k, other=other, bits=16).epsilon >= 0.999 * epsilon
    if suffices:
        assert KRR(k, epsilon) == KRR(k, other=other, bits=16)
    elif reachable(k, epsilon):
        assert KRR(k, epsilon).bits == 32


@pytest.mark.parametrize(("k", "epsilon"), [(2, 30), (4, 1e-12), (2**20, 1.0), (300, 25)])
def test_an_epsilon_out_of_reach_is_refused_with_what_was_reached(k, epsilon):
    with pytest.raises(PrecisionError, match=r"cannot meet epsilon .* Ask for fewer categories") as refusal:
        KRR(k, epsilon)
    assert refusal.value.requested == epsilon
    assert refusal.value.reached is None or refusal.value.reached < epsilon


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 2000])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(DesignError, match=r"epsilon = .* cannot be used"):
        KRR(4, epsilon)


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"k": 1, "epsilon": 1.0}, DesignError, "at least 2 categories, not 1"),
        ({"k": 4.0, "epsilon": 1.0}, ProbabilityError, "k must be a whole number, not 4.0"),
        ({"k": 4}, DesignError, "needs an epsilon"),
        ({"k": 4, "other": 100}, DesignError, "needs an epsilon"),
        ({"k": 4, "other": 100.0, "bits": 16}, ProbabilityError, "other must be a whole number, not 100.0"),
        ({"k": 2, "other": True, "bits": 16}, ProbabilityError, "other must be a whole number, not True"),
        ({"k": 4, "other": 100, "bits": 8}, DesignError, "16 or 32 bits, not 8"),
        ({"k": 4, "other": 0, "bits": 16}, ProbabilityError, "leaves 65536 for the truth"),
        ({"k": 3, "other": 32768, "bits": 16}, ProbabilityError, "leaves 0 for the truth"),
        ({"k": 2, "other": 32768, "bits": 16}, SingularChannelError, "nothing can be recovered"),
    ],
)
def test_impossible_arguments_are_refused_with_the_reason(arguments, error, told):
    with pytest.raises(error, match=told):
        KRR(**arguments)


def test_numpys_integers_are_as_good_as_pythons():
    # They used to survive inside, where they overflow, hash differently and are not JSON.
    assert KRR(np.uint8(200), 1.0).to_dict() == KRR(200, 1.0).to_dict()
    assert hash(KRR(np.int64(4), 1.0)) == hash(KRR(4, 1.0))


def test_a_collapsed_tuple_spends_less():
    whole = KRR(12, 1.0)
    part = whole.collapse((3, 4), (1,))
    assert (part.inputs, part.other, part.bits) == (4, 3 * whole.other, whole.bits)
    assert part.epsilon < whole.epsilon


def test_one_draw_is_enough_for_the_truth():
    channel = KRR(2, other=65535, bits=16)  # says the truth least of all
    assert (channel.keep, channel.ratio, channel.name) == (1, Fraction(65535), "KRR(2)")
    assert pickle.loads(pickle.dumps(channel)).to_dict() == channel.to_dict()  # noqa: S301 - our own bytes


@pytest.mark.parametrize("method", ["apply", "adjoint", "solve", "solve_adjoint", "solve_squared"])
def test_several_columns_at_once_are_each_by_itself(method):
    # Axes before and behind its own, as a product of channels and a bootstrap have them.
    channel, x = KRR(3, 1.0), np.random.default_rng(1).random((3, 2, 4))
    together = getattr(channel, method)(x)
    for i in range(2):
        for j in range(4):
            np.testing.assert_allclose(together[:, i, j], getattr(channel, method)(x[:, i, j]), rtol=1e-12)
    large = KRR(BLOCK + 1, 1.0)  # too large to be a matrix, so that it acts on its own axis
    product = Kronecker([KRR(2, 1.0), large])
    P, y = np.kron(KRR(2, 1.0).matrix(), large.matrix()), np.random.default_rng(2).random((2, BLOCK + 1))
    expected = {
        "apply": P @ y.ravel(),
        "adjoint": P.T @ y.ravel(),
        "solve": np.linalg.solve(P, y.ravel()),
        "solve_adjoint": np.linalg.solve(P.T, y.ravel()),
        "solve_squared": np.linalg.inv(P) ** 2 @ y.ravel(),
    }
    np.testing.assert_allclose(getattr(product, method)(y).ravel(), expected[method], rtol=1e-9)

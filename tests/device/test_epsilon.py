"""Exact ratios: every rounding goes against whoever claims privacy."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.device.epsilon import (
    LARGEST_EPSILON,
    as_ratio,
    compose,
    epsilon_below,
    epsilon_of,
    exp_above,
    exp_below,
    float_above,
    posterior,
)
from deniable.errors import DesignError, InputError

# Executed channels have 32-bit weights, so these are the ratios that occur ...
weights = st.integers(min_value=1, max_value=2**32)
ratios = st.builds(lambda a, b: Fraction(max(a, b), min(a, b)), weights, weights)
# ... and these are the ones that hurt: next to 1, enormous, or with long numerators.
hard_ratios = st.one_of(
    st.builds(lambda n: 1 + Fraction(1, n), st.integers(1, 10**400)),
    st.builds(Fraction, st.integers(1, 10**400)),
    st.builds(lambda n, d: 1 + Fraction(n, d), st.integers(0, 10**120), st.integers(1, 10**120)),
)
epsilons = st.floats(min_value=0, max_value=LARGEST_EPSILON, exclude_min=True)
probabilities = st.floats(min_value=0, max_value=1)


def ln(ratio: Fraction) -> Fraction:
    """The logarithm to so many digits that even 1 + 1e-400 keeps over five hundred of them."""
    wide = Context(prec=950)
    return Fraction(wide.ln(wide.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))))


def exp(epsilon: float) -> Fraction:
    return Fraction(Context(prec=900).exp(Decimal(epsilon)))


@given(st.one_of(ratios, hard_ratios))
def test_epsilon_is_the_smallest_float_not_below_the_logarithm(ratio):
    epsilon, exact = epsilon_of(ratio), ln(ratio)
    assert Fraction(epsilon) >= exact
    if epsilon > 0:
        assert Fraction(math.nextafter(epsilon, 0)) < exact


@given(st.one_of(ratios, hard_ratios))
def test_epsilon_below_is_the_largest_float_not_above_the_logarithm(ratio):
    below, exact = epsilon_below(ratio), ln(ratio)
    assert Fraction(below) <= exact
    assert Fraction(math.nextafter(below, math.inf)) > exact


@given(epsilons)
def test_the_power_is_below_and_tight(epsilon):
    power, true = exp_below(epsilon), exp(epsilon)
    assert 1 < power <= true
    assert (true - power) / true < Fraction(1, 10**40)


@given(epsilons)
def test_there_and_back_never_exceeds_the_requested_epsilon(epsilon):
    assert epsilon_of(exp_below(epsilon)) <= epsilon
    assert epsilon_of(exp_below(epsilon)) >= math.nextafter(epsilon, 0)


@given(ratios, ratios)
def test_epsilon_keeps_the_order(a, b):
    assert (epsilon_of(a) <= epsilon_of(b)) == (a <= b) or epsilon_of(a) == epsilon_of(b)


@given(st.lists(ratios, max_size=6))
def test_composition_is_the_exact_product(several):
    together = compose(several)
    assert together == math.prod(several, start=Fraction(1))
    # The rounded-up sum of rounded-up parts can only be larger, up to the float addition's own rounding.
    assert epsilon_of(together) <= math.fsum(epsilon_of(ratio) for ratio in several) * (1 + 1e-15)


@given(probabilities, ratios)
def test_the_posterior_is_bayes_rule_rounded_up(prior, ratio):
    belief = Fraction(prior)
    true = belief * ratio / (belief * ratio + 1 - belief)
    after = posterior(prior, ratio)
    assert true <= Fraction(after) <= 1
    assert prior <= after
    assert Fraction(math.nextafter(after, -1)) < true or after == 0


@given(st.fractions())
def test_a_float_above_is_the_next_one(number):
    above = float_above(number)
    assert Fraction(above) >= number > Fraction(math.nextafter(above, -math.inf))


def test_the_ends():
    assert epsilon_of(Fraction(1)) == 0.0
    assert epsilon_below(Fraction(1)) == 0.0
    assert epsilon_of(math.inf) == math.inf
    assert compose([]) == 1
    assert compose([Fraction(2), math.inf, Fraction(3)]) == math.inf
    assert posterior(0.0, math.inf) == 0.0
    assert posterior(1e-300, math.inf) == 1.0
    assert posterior(1.0, Fraction(7)) == 1.0
    assert float_above(Fraction(10**400)) == math.inf
    assert epsilon_below(math.inf) == math.inf
    assert compose([math.inf, Fraction(10**400)]) == math.inf  # which no float could be multiplied by


def test_next_to_one_the_logarithm_has_a_bound_that_needs_no_digits():
    # ln r >= 1 - 1/r, here 2^-400: a hundred digits of r cannot be told from 1.
    assert epsilon_below(1 / (1 - Fraction(1, 2**400))) == 2.0**-400
    # ln r <= r - 1.
    assert epsilon_of(1 + Fraction(1, 2**400)) == 2.0**-400


def test_the_power_is_pinned_to_its_last_digit():
    # Sixty digits of e, the last one less by one: accounts are compared with exactly this.
    assert exp_below(1.0) == Fraction("2.71828182845904523536028747135266249775724709369995957496696")


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 1000.0])
def test_what_no_epsilon_may_beat_is_above_the_power_and_close(epsilon):
    below = exp_below(epsilon)  # at most 1e-40 below the power itself
    assert below * (1 + Fraction(1, 10**39)) < exp_above(epsilon) <= below * (1 + Fraction(1, 10**30))


@pytest.mark.parametrize(("text", "number"), [(" 1.5 ", "1.5"), ("", "1")])
def test_a_text_is_answered_with_the_line_to_write(text, number):
    with pytest.raises(DesignError, match=f"write epsilon={number}, not {text!r}"):
        exp_below(text)


def test_the_largest_epsilon_is_one_thousand():
    assert exp_below(1000.0) > 1
    with pytest.raises(DesignError, match="at most 1000"):
        exp_below(math.nextafter(1000.0, math.inf))


def test_the_textbook_value():
    assert epsilon_of(Fraction(3)) == pytest.approx(1.0986122886681098, abs=0)  # Warner's p = 3/4


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (math.nan, "not a number"),
        *[(low, "above 0") for low in (0, 0.0, -0.5, -1.0, -math.inf)],
        *[(high, "at most 1000") for high in (math.inf, 1e9, 10**400)],
    ],
)
def test_what_is_no_epsilon_is_refused(bad, why):
    with pytest.raises(DesignError, match=f"cannot be used: .*{why}") as caught:
        exp_below(bad)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("bad", [Fraction(1, 2), 0, -3, 2.0, math.nan, -math.inf, "3/2", None])
@pytest.mark.parametrize("function", [as_ratio, epsilon_of, lambda ratio: compose([math.inf, ratio])])
def test_what_is_no_ratio_is_refused(function, bad):
    with pytest.raises(DesignError, match="at least 1"):
        function(bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_what_is_no_prior_is_refused(bad):
    with pytest.raises(InputError, match="between 0 and 1"):
        posterior(bad, Fraction(2))


def test_ratios_of_numpy_integers_do_not_overflow():
    ratio = Fraction(np.int64(2**40), np.int64(1))
    assert compose([ratio] * 4) == 2**160
    assert type(as_ratio(np.int64(3)).numerator) is int


def test_the_callers_decimal_context_does_not_matter():
    with localcontext() as context:
        context.prec = 3
        assert epsilon_of(Fraction(3)) == 1.0986122886681098
        assert abs(exp_below(1.0) - exp(1.0)) < Fraction(1, 10**40)

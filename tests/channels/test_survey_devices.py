"""The classic devices, formula by formula as their docstrings state them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.channels.survey_devices import (
    Crosswise,
    ForcedResponse,
    Kuk,
    Mangat,
    Triangular,
    UnrelatedQuestion,
    Warner,
)
from deniable.errors import ProbabilityError, SingularChannelError


def yes_if(device):
    """Pr(report 1 | truth 0), Pr(report 1 | truth 1)."""
    return tuple(device.matrix()[1])


def test_warner():
    assert yes_if(Warner(0.8)) == pytest.approx((0.2, 0.8))
    assert Warner(0.8).ratio == 4


def test_forced_response():
    f = [0.1, 0.05, 0.25]
    expected = [[f[u] + (1 - sum(f)) * (u == v) for v in range(3)] for u in range(3)]
    np.testing.assert_allclose(ForcedResponse(f).matrix(), expected, rtol=1e-12)


def test_unrelated_question():
    p, prevalence = 0.7, 0.25
    assert yes_if(UnrelatedQuestion(p, prevalence)) == pytest.approx(((1 - p) * prevalence, p + (1 - p) * prevalence))


def test_crosswise_is_warners_channel():
    assert yes_if(Crosswise(0.25)) == pytest.approx((0.75, 0.25))
    np.testing.assert_array_equal(Crosswise(0.25).matrix(), Warner(0.25).matrix())


def test_crosswise_by_its_story():
    # Report 1 = the answers to the innocent question (yes with probability p) and the sensitive one are the same.
    p = 0.3
    same = [sum(share for innocent, share in ((1, p), (0, 1 - p)) if innocent == truth) for truth in (0, 1)]
    assert yes_if(Crosswise(p)) == pytest.approx(tuple(same))


def test_triangular():
    assert yes_if(Triangular(0.25)) == pytest.approx((0.25, 1))
    assert Triangular(0.25).epsilon == math.inf


def test_mangat():
    assert yes_if(Mangat(0.7)) == pytest.approx((0.3, 1))
    assert Mangat(0.7).epsilon == math.inf


@pytest.mark.parametrize("r", [1, 2, 3, 5])
def test_kuk_counts_red_cards(r):
    def binomial(share):
        return [math.comb(r, red) * share**red * (1 - share) ** (r - red) for red in range(r + 1)]

    np.testing.assert_allclose(Kuk(0.75, 0.4, repetitions=r).matrix().T, [binomial(0.4), binomial(0.75)], rtol=1e-12)


def test_probabilities_are_taken_as_stated():
    assert Warner(0.8).ratio == Warner(Fraction(4, 5)).ratio == Warner("4/5").ratio == Fraction(4)
    assert ForcedResponse([Fraction(1, 6), Fraction(1, 12)]).ratio == Fraction(10)
    assert Warner(Fraction(1, 6)).name == "Warner(0.166667)"


def test_categories_belong_to_the_truths():
    assert Warner(0.8, categories=("no", "yes")).categories == ("no", "yes")
    with pytest.raises(ProbabilityError, match="2 truths but 3 categories"):
        Warner(0.8, categories=("no", "maybe", "yes"))


@pytest.mark.parametrize(
    "device", [lambda: Warner(0.5), lambda: Crosswise(0.5), lambda: Kuk(0.4, 0.4), lambda: UnrelatedQuestion(0, 0.3)]
)
def test_a_fair_coin_is_refused_with_possible_causes(device):
    with pytest.raises(SingularChannelError, match=r"cannot be inverted .* \(a\) .* \(b\) .* \(c\)"):
        device()


@pytest.mark.parametrize(
    ("device", "told"),
    [
        (lambda: Warner(1.2), "p must lie between 0 and 1, not 1.2"),
        (lambda: Warner(math.nan), "p must be a probability, not nan"),
        (lambda: Warner(None), "p must be a probability, not None"),
        (lambda: ForcedResponse([0.6, 0.6]), "sum to 1.2, more than 1"),
        (lambda: UnrelatedQuestion(0.7, -0.1), "prevalence must lie between 0 and 1, not -0.1"),
        (lambda: Kuk(0.7, 0.2, repetitions=0), "repetitions must be at least 1, not 0"),
        (lambda: Kuk(0.7, 0.2, repetitions=1.5), "repetitions must be a whole number, not 1.5"),
    ],
)
def test_an_impossible_device_is_refused_with_the_number(device, told):
    with pytest.raises(ProbabilityError, match=told):
        device()

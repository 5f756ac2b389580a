"""How many of a panel's people one answer tells apart: the formula against every report and every kept disguise."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.device.channels import kind_from_dict
from deniable.device.panel import found_again, in_hundred, singled_out

BIT = dn.KRR(2, 1.5)
FRESH = {
    "krr": dn.KRR(5, 1.0),
    "mostly lies": dn.KRR(3, other=30000, bits=16),
    "mixture": dn.Mixture.from_weights(20000, [20000, 15536, 10000], 16),
    "dense": dn.Dense.from_weights([[40000, 10000], [15536, 25536], [10000, 30000]], 16),
    "unary": dn.Unary(4, 1.0),
    "subset": dn.SubsetSelection(5, 2.0, d=2),
    "hadamard": dn.HadamardResponse(6, 1.0),
    "block design": dn.BlockDesign(9, 1.0, order=3),
}


@pytest.mark.parametrize("channel", FRESH.values(), ids=FRESH)
def test_of_what_is_drawn_anew_no_channel_tells_more_apart_than_is_said(channel):
    law = channel.likelihood(channel.every_report(1 << 12))
    assert np.allclose(law.sum(axis=0), 1)
    told = float(kind_from_dict(channel.to_dict()).singled_out)
    assert law.max(axis=1).sum() <= told * (1 + 1e-12)
    if channel.kind == "krr" and channel.keep > channel.other:
        assert law.max(axis=1).sum() == pytest.approx(told, rel=1e-12)


def masks(members, k):
    return [sum(1 << v for v in chosen) for size in members for chosen in combinations(range(k), size)]


@pytest.mark.parametrize(
    ("channel", "kept"),
    [
        (TwoLevel(dn.Unary(4, 1.0), BIT), masks(range(5), 4)),
        (TwoLevel(dn.SubsetSelection(6, 1.0, d=2), BIT), masks([2], 6)),
        (TwoLevel(dn.SubsetSelection(5, 1.0, d=1), BIT), masks([1], 5)),
        (TwoLevelKRR(dn.KRR(7, 1.0), dn.KRR(7, 2.0)), range(7)),
    ],
    ids=lambda each: each.name if hasattr(each, "name") else "",
)
def test_of_what_is_kept_it_is_the_sum_of_the_largest_chances_of_the_second_level(channel, kept):
    again, k = channel.again, channel.inputs
    if isinstance(channel, TwoLevelKRR):
        law = again.matrix()
    else:
        reports = np.arange(1 << k)
        turned = np.array([[int(x ^ z).bit_count() for z in kept] for x in reports])
        law = again.q**turned * again.p ** (k - turned)
    assert np.allclose(law.sum(axis=0), 1)
    told = kind_from_dict(channel.to_dict()).singled_out
    assert law.max(axis=1).sum() == pytest.approx(float(told), rel=1e-12)


@pytest.mark.parametrize("law", [dn.KRR(4, 1.0).matrix(), np.kron(dn.KRR(2, 0.5).matrix(), dn.KRR(3, 2.0).matrix())])
def test_even_shares_of_what_is_kept_are_the_worst(law):
    # sum over z of pi(z) max over x of W(x|z) / (W pi)(x), at most its value at even shares.
    rng, k = np.random.default_rng(3), len(law)
    worst = law.max(axis=1).sum()
    for concentration in (0.05, 0.5, 1, 5, 1e6):
        for pi in rng.dirichlet(np.full(k, concentration), 200):
            assert (pi * (law / (law @ pi)[:, None]).max(axis=0)).sum() <= worst + 1e-9


class Asked:
    """A question with a channel, as a plan has it."""

    def __init__(self, channel):
        self.channel = kind_from_dict(channel.to_dict())


class Plan:
    """Two questions that are kept, on a ballot together and one of them alone."""

    half = TwoLevelKRR(dn.KRR(2, 1.0), dn.KRR(2, other=1 << 14, bits=16))  # k p = 1.5
    questions = (Asked(half), Asked(half))
    ballots = ((0, 1), (0,))


def test_questions_and_public_attributes_multiply_and_ballots_are_averaged():
    assert singled_out(Plan, None, []) == (Fraction(9, 4) + Fraction(3, 2)) / 2
    assert singled_out(Plan, [3, 1], [2, 5]) == 10 * (3 * Fraction(9, 4) + Fraction(3, 2)) / 4
    assert found_again(Plan, None, [], 100) == Fraction(15, 800)
    assert found_again(Plan, None, [1000], 100) == 1


def test_a_share_is_shown_rounded_up():
    assert [in_hundred(Fraction(*share)) for share in ((1, 20), (1, 30), (1, 10**9))] == ["5.00", "3.34", "0.01"]

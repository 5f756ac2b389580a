"""Every number of the paired privacy statement, against an enumeration or a second way."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable.device.privacy_statement import rounded_up
from deniable.errors import DesignError, InputError
from deniable.extensions.paired.pair_attacks import all_truths_epsilon, exact_ratio, items_ratio
from deniable.extensions.paired.pair_privacy import PairedPrivacy

HALF = Fraction(1, 2)


def coin(p, rho):
    """(p, d) with d = sqrt(-rho p q), as fractions next to the floats; the corner exactly."""
    exact = Fraction(p)
    if rho == "corner":
        return exact, 1 - exact
    return exact, Fraction(math.sqrt(-rho * p * (1 - p)))


def pairings(people):
    if not people:
        yield []
        return
    first, rest = people[0], people[1:]
    for other in rest:
        yield from ([(first, other), *more] for more in pairings([x for x in rest if x != other]))


def set_probability(p, d, t, matchings):
    """The probability of one vector of truthfulness, averaged over pairings; -1 stands for nobody."""
    q = 1 - p
    joint = {2: p * p - d * d, 1: p * q + d * d, 0: q * q - d * d}
    total = Fraction(0)
    for matching in matchings:
        chance = Fraction(1)
        for i, j in matching:
            chance *= joint[t[i] + t[j]]
        total += chance
    return total / len(matchings)


@pytest.mark.parametrize(("p", "d"), [("7/10", "3/10"), ("7/10", "1/10"), ("3/5", "2/5"), ("9/10", "1/20")])
@pytest.mark.parametrize("n", [4, 6])
def test_the_exact_value_and_the_other_truths_by_brute_force(p, d, n):
    p, d = Fraction(p), Fraction(d)
    matchings = list(pairings(list(range(n))))
    chance = {t: set_probability(p, d, t, matchings) for t in product((0, 1), repeat=n)}
    assert sum(chance.values()) == 1
    for m in range(n - 1):
        worst = Fraction(1)
        for known in product((0, 1), repeat=m):
            # The victim is the last of the n; the others in between are honest and unknown.
            odds = [sum(c for t, c in chance.items() if t[:m] == known and t[-1] == own) for own in (0, 1)]
            if sum(odds):
                worst = max([worst, *(odds[a] / odds[1 - a] if odds[1 - a] else math.inf for a in (0, 1))])
        assert exact_ratio(p, d, n, m) == worst
    # Somebody who knows all other truths sees everybody's truthfulness but one's.
    target = 0.05
    epsilon = all_truths_epsilon(float(p), float(d), n, target)

    def lost(at):
        grown = math.exp(at)
        return sum(max(0.0, float(c) - grown * float(chance[(*t[:-1], 1 - t[-1])])) for t, c in chance.items())

    if math.isinf(epsilon):
        assert lost(400) > target
    else:
        assert lost(epsilon + 1e-6) <= target <= lost(epsilon - 1e-6) + 1e-12


def test_an_odd_one_out_is_paired_with_nobody():
    p, d = Fraction(7, 10), Fraction(3, 10)
    assert exact_ratio(p, d, 5, 2) == exact_ratio(p, d, 6, 2)
    matchings = []
    for alone in range(5):
        matchings += [(alone, m) for m in pairings([i for i in range(5) if i != alone])]
    joint = {2: p * p - d * d, 1: p * (1 - p) + d * d, 0: (1 - p) ** 2 - d * d}
    odds = {}
    for t in product((0, 1), repeat=5):
        chance = sum(
            (p if t[alone] else 1 - p) * math.prod(joint[t[i] + t[j]] for i, j in matching)
            for alone, matching in matchings
        )
        odds[t[0], t[1], t[4]] = odds.get((t[0], t[1], t[4]), 0) + chance
    worst = max(odds[a, b, 1] / odds[a, b, 0] for a in (0, 1) for b in (0, 1))
    assert exact_ratio(p, d, 5, 2) == worst


def test_the_theorem_is_exact_with_one_colluder_and_too_small_with_two():
    p, q = Fraction(7, 10), Fraction(3, 10)
    one = PairedPrivacy(((p, q),), 6, 1)
    assert one.exact_epsilon == one.claimed_epsilon
    two = PairedPrivacy(((p, q),), 6, 2)
    assert two.exact_epsilon == pytest.approx(1.735, abs=5e-4)
    assert two.claimed_epsilon == pytest.approx(1.516, abs=5e-4)


def test_against_the_partner_and_against_the_coin():
    n, m, rho = 10_000, 500, -0.19
    p = (n - 1) / (1 + math.exp(-1)) / (n - 1 - m * rho)
    told = PairedPrivacy((coin(p, rho),), n, m)
    assert told.claimed_epsilon == pytest.approx(1)
    assert told.partner_epsilon == pytest.approx(1.83, abs=5e-3)
    assert told.epsilon == pytest.approx(2.43, abs=5e-3)
    assert told.epsilon > told.partner_epsilon > told.claimed_epsilon


def test_delta_at_the_claimed_epsilon():
    n, m = 10_000, 500
    p = ((n - 1) / (1 + math.exp(-1)) - m) / (n - 1 - m)
    told = PairedPrivacy((coin(p, "corner"),), n, m)
    assert told.claimed_epsilon == pytest.approx(1)
    assert told.partner_delta == pytest.approx(0.014, abs=5e-4)
    assert told.coin_delta == pytest.approx(0.025, abs=5e-4)
    assert told.server_delta == pytest.approx(0.5)
    assert told.epsilon == told.partner_epsilon == math.inf
    # In closed form: a colluding partner who lied knows everything, a coin in favour tells everything.
    share = m / (n - 1)
    assert told.partner_delta == pytest.approx(share * (1 - p))
    assert told.coin_delta == pytest.approx(share / 2)


@pytest.mark.parametrize(("n", "expected"), [(10_000, 0.337), (1000, 1.26)])
def test_against_somebody_who_knows_all_other_truths(n, expected):
    p = 1 / (1 + math.exp(-0.1))
    told = PairedPrivacy((coin(p, "corner"),), n)
    assert told.claimed_epsilon == pytest.approx(0.1)
    assert told.all_truths_epsilon(1e-6) == pytest.approx(expected, abs=5e-3)


def test_without_correlation_nothing_is_lost():
    told = PairedPrivacy(((Fraction(3, 4), Fraction(0)),), 1000, 10)
    assert told.is_ldp
    numbers = [told.epsilon, told.partner_epsilon, told.claimed_epsilon, told.all_truths_epsilon()]
    assert numbers == pytest.approx([math.log(3)] * 4)
    assert told.partner_delta == told.coin_delta == told.server_delta == 0
    assert len(told.lines()) == 1
    # A hair of correlation changes these numbers by a hair.
    near = PairedPrivacy(((Fraction(3, 4), Fraction(1, 10**6)),), 1000, 10)
    assert near.all_truths_epsilon() == pytest.approx(math.log(3), abs=1e-4)


def test_more_respondents_hide_the_last_one_better():
    numbers = [all_truths_epsilon(0.55, 0.4, n) for n in (100, 1001, 10_000, 400_000)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] > math.log(0.55 / 0.45)


def test_items_of_one_person():
    p = 1 / (1 + math.exp(-1))
    q = 1 - p
    half_corner = items_ratio(*coin(p, -q / p / 2))
    assert math.log(half_corner) == pytest.approx(2.62, abs=5e-3)
    assert math.log(items_ratio(Fraction(p), Fraction(0))) == pytest.approx(2.00)
    assert items_ratio(*coin(p, "corner")) == math.inf


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2])
def test_asking_for_epsilon_against_the_partner_makes_no_correlation_best(epsilon, share):
    """Neither against the partner (p_max fixed) nor against the coin (p + d fixed) does any rho < 0 pay."""
    top = 1 / (1 + math.exp(-epsilon))
    level = (1 - 2 * share) ** 2

    def variance(p, rho):
        return p * (1 - p) / (2 * p - 1) ** 2 * (1 + rho * level)

    p = np.linspace(0.5, top, 2001)[1:]
    by_partner = variance(p, 1 - top / p)  # (1 - rho) p = top
    by_coin = variance(p, -((top - p) ** 2) / (p * (1 - p)))
    plain = variance(top, 0.0)
    for values in (by_partner, by_coin):
        assert values.min() >= plain * (1 - 1e-12)
        assert values.argmin() == len(p) - 1


def test_several_coins_share_one_pairing():
    one = coin(0.7, -0.2)
    told = PairedPrivacy((one, one), 100, 5)
    single = PairedPrivacy((one,), 100, 5)
    assert told.ratio == single.ratio**2
    assert told.partner_ratio == single.partner_ratio**2
    # The partner is the same in both coins: the average over one pairing is below that over two.
    assert single.claimed_epsilon < told.claimed_epsilon <= 2 * single.claimed_epsilon
    alone = PairedPrivacy((one, one), 100, 0)
    assert alone.claimed_epsilon == pytest.approx(2 * PairedPrivacy((one,), 100, 0).claimed_epsilon)
    assert told.exact_epsilon is None
    # The probabilities of all outcomes of both coins, summed by hand.
    p, d = map(float, one)
    grown = math.exp(told.claimed_epsilon)
    lost = 0.0
    for sides in product((p + d, p - d), repeat=2):
        for t in product((0, 1), repeat=2):
            here = math.prod(s if own else 1 - s for s, own in zip(sides, t, strict=True)) / 4
            there = math.prod(1 - s if own else s for s, own in zip(sides, t, strict=True)) / 4
            lost += max(0.0, here - grown * there)
    assert told.server_delta == pytest.approx(lost)


def test_the_words_hold_every_number_and_refuse_the_name():
    told = PairedPrivacy((coin(0.7, -0.2),), 60, 3)
    text = str(told)
    assert "not epsilon-LDP" in text
    numbers = [told.claimed_epsilon, told.exact_epsilon, told.partner_epsilon, told.epsilon, told.all_truths_epsilon()]
    for number in numbers:
        assert f"{math.ceil(number * 1e4) / 1e4:.4f}" in text
    for delta in (told.partner_delta, told.coin_delta, told.server_delta):
        assert rounded_up(delta) in text
    assert told._repr_html_().count("<li>") == len(told.lines())
    assert "infinite" in str(PairedPrivacy((coin(0.7, "corner"),), 60))


def test_the_number_of_respondents_is_asked_for_when_it_matters():
    unknown = PairedPrivacy((coin(0.7, -0.2),), None, 3)
    with pytest.raises(InputError, match="respondents="):
        _ = unknown.claimed_epsilon
    assert "unknown until" in str(unknown)
    assert PairedPrivacy((coin(0.7, -0.2),)).claimed_epsilon == pytest.approx(math.log(7 / 3))


@pytest.mark.parametrize(
    ("coins", "n", "m"),
    [
        (((HALF, Fraction(0)),), 10, 0),
        (((Fraction(3, 4), Fraction(1, 3)),), 10, 0),
        (((Fraction(3, 4), Fraction(-1, 9)),), 10, 0),
        (((Fraction(3, 4), Fraction(0)),), 10, 9),
        (((Fraction(3, 4), Fraction(0)),), 10, -1),
    ],
)
def test_impossible_coins_and_crowds_are_refused(coins, n, m):
    with pytest.raises(DesignError):
        PairedPrivacy(coins, n, m)


def test_delta_and_respondents_are_checked():
    with pytest.raises(InputError, match="delta"):
        all_truths_epsilon(0.7, 0.1, 100, 0)
    with pytest.raises(InputError, match="two respondents"):
        all_truths_epsilon(0.7, 0.1, 1)

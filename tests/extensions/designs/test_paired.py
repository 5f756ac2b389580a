"""The paired design: who is paired, what is reported, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm

import deniable as dn
from deniable.channels.bitmask import Bitmask
from deniable.errors import DesignError, InputError, NotCoveredError, NotExecutableError
from deniable.extensions.paired.pair_attacks import items_ratio
from deniable.extensions.paired.pairing import ALONE, completed, deal, pair_up

YES_NO = {"smokes": ["no", "yes"]}


def people(n, yes):
    return pd.DataFrame({"smokes": ["no"] * (n - yes) + ["yes"] * yes})


# -- pairing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 101])
def test_everybody_has_one_partner_but_an_odd_one(n):
    partner = pair_up(n, dn.Seeded(3).stream())
    paired = np.flatnonzero(partner != ALONE)
    assert len(paired) == n - n % 2
    np.testing.assert_array_equal(partner[partner[paired]], paired)
    assert not (partner == np.arange(n)).any()


def test_pairings_are_uniform():
    source, runs = dn.Seeded(4), 6000
    seen = np.zeros((5, 5))
    for _ in range(runs):
        partner = pair_up(5, source.stream())
        for i, j in enumerate(partner.tolist()):
            seen[i, i if j == ALONE else j] += 1
    # Each of five is equally likely to meet each of the others or nobody. A cell is binomial(6000, 1/5); of 25 cells a
    # right program has one beyond 5.7 standard deviations with probability below 4e-7.
    assert np.abs(seen - runs / 5).max() < 5.7 * math.sqrt(runs * 0.16)


def test_a_pair_shares_a_fair_coin_with_opposite_sides():
    partner = pair_up(10_001, dn.Seeded(5).stream())
    sides = deal(partner, dn.Seeded(6).stream())
    paired = partner != ALONE
    assert set(np.unique(sides)) == {-1, 1}
    np.testing.assert_array_equal(sides[paired], -sides[partner[paired]])
    first = sides[np.flatnonzero(partner > np.arange(len(partner)))]
    # 5000 fair coins: beyond 5 standard deviations with probability 6e-7.
    assert abs(first.sum()) < 5 * math.sqrt(len(first))


def test_completed_pairs_are_those_of_which_both_answered():
    partner = np.array([1, 0, 3, 2, 5, 4, ALONE])
    assert completed(partner, np.ones(7, dtype=bool)) == 3
    assert completed(partner, np.array([1, 1, 1, 0, 0, 0, 1], dtype=bool)) == 1
    assert completed(partner, np.zeros(7, dtype=bool)) == 0


# -- the design ------------------------------------------------------------------------------------------------------


def test_each_report_alone_is_randomized_response():
    design = dn.Paired(YES_NO, p=0.7, rho=-0.4)
    n = 40_000
    reports = design.randomize(people(n, n // 4), source=dn.Seeded(8))
    said = reports.answers[:, 0]
    assert reports.pairs == n // 2
    # Within each truth group a member's partner is mostly outside of it, so counts are near binomial; 6 standard
    # deviations of the binomial, which a negative correlation can only make smaller: below 1e-8.
    for group, share in ((said[: 3 * n // 4], 0.3), (said[3 * n // 4 :], 0.7)):
        assert abs(group.mean() - share) < 6 * math.sqrt(0.21 / len(group))


def test_partners_are_as_correlated_as_they_should_be():
    design = dn.Paired(YES_NO, p=0.7, rho=-0.4)
    n, source = 20_000, dn.Seeded(9)
    partner = pair_up(n, source.stream())
    said = design._answers(np.zeros((n, 1), dtype=np.uint8), partner, source)[:, 0]
    truthful = said == 0
    first = np.flatnonzero(partner > np.arange(n))
    seen = np.zeros((2, 2))
    np.add.at(seen, (truthful[first].astype(int), truthful[partner[first]].astype(int)), 1)
    expected = np.array(design.coins["smokes"].joint, dtype=float) * len(first)
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-7, 3)  # a right program fails once in 1e7


def test_nobody_answers_for_a_partner_who_does_not():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.2)
    frame = people(1001, 100).assign(region=np.repeat(["a", "b", "c"], [300, 300, 401]))
    answered = np.ones(1001, dtype=bool)
    answered[::3] = False
    reports = design.randomize(frame, keep=["region"], answered=answered, source=dn.Seeded(10))
    assert reports.n == answered.sum() == len(reports.public)
    assert reports.public["region"].to_list() == frame["region"][answered].to_list()
    # Of 500 pairs about 4/9 are complete: hypergeometric, standard deviation about 7; 7 of them: below 1e-11.
    assert abs(reports.pairs - 500 * 4 / 9) < 50
    with pytest.raises(InputError, match="one truth value"):
        design.randomize(frame, answered=[True])


def test_an_odd_one_out_is_still_asked():
    reports = dn.Paired(YES_NO, p=0.8, rho=-0.2).randomize(people(7, 3), source=dn.Seeded(1))
    assert (reports.n, reports.pairs) == (7, 3)
    assert dn.Paired(YES_NO, p=0.8, rho=-0.2).randomize(people(1, 0)).pairs == 0


def test_more_categories_get_a_coin_each():
    design = dn.Paired({"drug": ["none", "a", "b"], "smokes": ["no", "yes"]}, p=0.75, rho=-0.1)
    assert isinstance(design.questions[0].channel, Bitmask)
    coin = (design.coins["drug"].p, design.coins["drug"].d)
    assert design.privacy.coins == (coin,) * 3  # two bits differ between two drugs, one between yes and no
    frame = pd.DataFrame({"drug": ["none", "a", "b"] * 10, "smokes": ["no", "yes", "no"] * 10})
    reports = design.randomize(frame, source=dn.Seeded(2))
    assert reports.answers[:, 0].max() < 8
    read = dn.PairedReports(reports.to_frame(), design, pairs=reports.pairs)
    np.testing.assert_array_equal(read.answers, reports.answers)


# -- what it says about privacy --------------------------------------------------------------------------------------


def test_it_does_not_call_itself_private_at_the_claimed_epsilon():
    design = dn.Paired(YES_NO, p=0.75, rho=-0.2, respondents=1000, colluders=10)
    assert not design.is_ldp
    assert design.epsilon == design.privacy.epsilon > design.privacy.partner_epsilon > design.claimed_epsilon
    assert design.ratio == design.privacy.ratio
    told = str(design.describe())
    assert all(line in told for line in design.privacy.lines())
    assert "not epsilon-LDP" in told
    plain = dn.Paired(YES_NO, p=0.75, rho=0)
    assert plain.is_ldp
    assert plain.epsilon == plain.claimed_epsilon == dn.Warner(0.75).executed().epsilon


def test_the_corner_is_marked_and_infinite():
    design = dn.Paired.best(YES_NO, 1.0, 1000)
    assert design.is_corner
    assert math.isinf(design.epsilon)
    assert design.claimed_epsilon <= 1.0
    assert "infinite" in str(design.describe())
    assert not dn.Paired(YES_NO, p=0.75, rho=-0.2).is_corner


def test_the_best_coins_of_several_attributes_share_the_claimed_epsilon():
    domain = {"smokes": ["no", "yes"], "drug": ["none", "a", "b"]}
    design = dn.Paired.best(domain, 2.0, 10_000, colluders=20, expected={"drug": [0.9, 0.05, 0.05]})
    assert 1.9 < design.claimed_epsilon <= 2.0
    with pytest.raises(InputError, match="3 categories"):
        dn.Paired.best(domain, 1.0, 100, expected={"drug": 0.1})
    with pytest.raises(InputError, match="'other'"):
        dn.Paired.best(domain, 1.0, 100, expected={"other": 0.1})


def test_an_audit_of_single_reports_finds_no_more_than_randomized_response():
    design = dn.Paired(YES_NO, p=0.75, rho=-0.2)
    result = dn.audit(design, runs=20_000, confidence=1 - 1e-7, claimed=math.log(3))
    assert not result.violated  # wrong with probability 1e-7
    assert result.lower_bound > 0.5


# -- what is refused -------------------------------------------------------------------------------------------------


def test_joint_tables_are_refused_and_the_design_is_marked():
    design = dn.Paired({"a": [0, 1], "b": [0, 1]}, p=0.8, rho=-0.1)
    assert design.correlated
    assert design.covers(["a"])
    assert not design.covers(["a", "b"])
    reports = design.randomize(pd.DataFrame({"a": [0, 1] * 20, "b": [1, 1] * 20}), source=dn.Seeded(1))
    assert [o.domain.names for o in reports.tabulate()] == [("a",), ("b",)]
    for given in (reports, dn.Reports(reports.to_frame(), design)):
        with pytest.raises(NotCoveredError, match="one attribute at a time"):
            dn.estimate(given, ["a", "b"])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"p": 0.8},
        {"p": 0.8, "rho": -0.1, "coins": {"smokes": dn.Coins.of(0.8, 0)}},
        {"coins": {"drinks": dn.Coins.of(0.8, 0)}},
        {"p": 0.8, "rho": -0.3},
        {"p": 0.8, "rho": -0.1, "respondents": 10, "colluders": 9},
    ],
)
def test_impossible_designs_are_refused(arguments):
    with pytest.raises(DesignError):
        dn.Paired(YES_NO, **arguments)


def test_reports_cannot_hold_more_pairs_than_people():
    design = dn.Paired(YES_NO, p=0.8, rho=-0.1)
    frame = design.randomize(people(10, 5)).to_frame()
    with pytest.raises(InputError, match="completed pairs"):
        dn.PairedReports(frame, design, pairs=6)


def test_designs_are_told_apart_by_their_coins():
    one, same, other = (dn.Paired(YES_NO, p=0.8, rho=rho) for rho in (-0.1, -0.1, -0.2))
    assert one == same
    assert one.id == same.id != other.id
    assert "rho=-0.1" in repr(one)


def test_a_simulation_pairs_everybody():
    design = dn.Paired({"a": [0, 1], "b": [0, 1, 2]}, p=0.8, rho=-0.1)
    table = dn.Table(design.domain, [[4, 2, 1], [1, 1, 1]])
    drawn = design.simulate(table, 5001, source=dn.Seeded(1))
    assert (drawn.n, drawn.pairs) == (5001, 2500)
    assert sum(o.n for o in drawn.tabulate(["a"])) == 5001
    for bad in (lambda: design.simulate(table, 0), lambda: design.simulate(table * -1 + 2, 5)):
        with pytest.raises(InputError):
            bad()


# -- several items of one person -------------------------------------------------------------------------------------


def test_items_of_one_person_have_the_ratio_of_both_reports():
    domain = {"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0, 1]}
    design = dn.PairedItems(domain, p=0.75, rho=-0.2)
    one = items_ratio(design.coins.p, design.coins.d)
    assert design.ratio == one**2
    assert design.epsilon > 4 * math.log(3)
    assert "not safer" in str(design.describe())
    # Each item alone is RR(p), and the joint channel is that of the coins.
    channel = design.questions[0].channel
    joint = np.array(design.coins.joint, dtype=float)
    np.testing.assert_allclose(channel.matrix()[:, 0], [joint[1, 1], joint[1, 0], joint[0, 1], joint[0, 0]])
    assert channel.weights().sum(axis=0).tolist() == [1 << 32] * 4


def test_items_at_the_corner_and_other_shapes_are_refused():
    pair = {"a": [0, 1], "b": [0, 1]}
    with pytest.raises(NotExecutableError):
        dn.PairedItems(pair, p=0.8, rho=-0.25)
    for domain in ({"a": [0, 1]}, {"a": [0, 1], "b": [0, 1, 2]}):
        with pytest.raises(DesignError, match="two by two"):
            dn.PairedItems(domain, p=0.8, rho=-0.1)


def test_items_are_estimated_with_their_gain():
    """The sum of two items has the variance of a pair, 2 pq/(p-q)^2 (1 + rho) where both are alike."""
    design = dn.PairedItems({"a": [0, 1], "b": [0, 1]}, p=0.75, rho=-0.3)
    n = 200_000
    frame = pd.DataFrame({"a": np.zeros(n, dtype=int), "b": np.zeros(n, dtype=int)})
    est = dn.estimate(design.randomize(frame, source=dn.Seeded(3)), ["a", "b"], method="inversion", population="fixed")
    items = np.array([[0, 1], [1, 2]])
    noise = 0.75 * 0.25 / 0.25
    assert est.covariance.quadratic(items) * n == pytest.approx(2 * noise * 0.7, rel=0.02)
    total = float((est.values * items).sum())
    assert abs(total) < norm.isf(1e-7) * math.sqrt(2 * noise * 0.7 / n)
    assert Fraction(design.coins.rho) >= Fraction(-3, 10)

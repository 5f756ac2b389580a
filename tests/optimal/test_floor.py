"""The floor: printed values, the sum over sets against all cells at once, and no channel below it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import nextafter

import numpy as np
import pytest

import deniable as dn
from deniable.aims.aim import asked_of, matrix_of
from deniable.aims.contrasts import Contrasts
from deniable.aims.parse import gathered
from deniable.datasets import network
from deniable.errors import DesignError, InputError, UnknownCategoryError
from deniable.optimal.channel_problem import Problem
from deniable.optimal.floor import at_even_shares, at_truth
from deniable.optimal.optimal_channel import closed_form

DOMAIN = dn.Domain({"a": [0, 1, 2], "b": ["no", "yes"], "c": [1, 4, 5, 9]})
LISTS = {
    "shares": ["c"],
    "pairs": [["a", "b"], ["c", "a"], ["b", "c"]],
    "weighted": [dn.Wanted.table("a", "b", weight=3), dn.Wanted.shares("c"), ["a", "c"]],
    "a mean": [dn.Wanted.mean("c")],
    "a mean beside tables": [dn.Wanted.mean("c", weight=2), ["a", "c"], "b"],
    "associations": [dn.Wanted.association("a", "b"), dn.Wanted.association("c", "b", "a")],
    "a difference, a cdf, a table": [dn.Wanted.difference("c", "a"), dn.Wanted.cdf("c"), ["b", "a"]],
    "groups that hang together": [dn.Wanted.difference("c", "a"), dn.Wanted.difference("b", "a"), dn.Wanted.mean("a")],
}


def whole(wanted):
    """W over all cells of what is asked, and these cells: the long way."""
    items = gathered(wanted)
    asked = asked_of(DOMAIN, items)
    return matrix_of(asked, items), asked.cells


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_sum_over_sets_is_the_sum_of_singular_values(name, epsilon):
    rows, t = whole(LISTS[name])
    singular = np.linalg.svd(rows - rows.mean(axis=1, keepdims=True), compute_uv=False).sum()
    e = np.exp(epsilon)
    by_hand = min((m * e + t - m) ** 2 / (m * (t - m)) for m in range(1, t)) / (e - 1) ** 2 * singular**2 / t
    items = gathered(LISTS[name])
    closed = at_even_shares(epsilon, t, Contrasts(asked_of(DOMAIN, items), items).singular_sum ** 2)
    assert closed == pytest.approx(by_hand, rel=1e-8)
    assert closed < by_hand
    found = dn.floor(DOMAIN, LISTS[name], epsilon)
    assert found.cells == t
    # The largest of all floors: and nothing is below the variance of direct questions to everybody.
    assert found.loss >= closed
    assert found.loss >= ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum() / t * (1 - 1e-8)


@pytest.mark.parametrize("name", LISTS)
def test_a_truth_of_even_shares_gives_the_continuous_form(name):
    rows, t = whole(LISTS[name])
    even = dn.Table(DOMAIN, np.full(DOMAIN.shape, 1 / DOMAIN.cells))
    items = gathered(LISTS[name])
    asked = asked_of(DOMAIN, items)
    found = at_truth(1.0, matrix_of(asked, items), np.ones(asked.cells))
    factor = 4 * np.e / (np.e - 1) ** 2
    singular = np.linalg.svd(rows - rows.mean(axis=1, keepdims=True), compute_uv=False).sum()
    assert found == pytest.approx(factor * singular**2 / t, rel=1e-8)
    assert found <= dn.floor(DOMAIN, LISTS[name], 1.0, even).loss <= dn.floor(DOMAIN, LISTS[name], 1.0).loss


def test_four_yes_no_attributes():
    domain = {name: ["no", "yes"] for name in "abcd"}
    pairs = list(combinations("abcd", 2))
    assert dn.floor(domain, pairs, 1.0).loss == pytest.approx(154.3, abs=0.05)
    truth = dn.Table(domain, np.full((2,) * 4, 1 / 16))
    assert dn.floor(domain, pairs, 1.0, truth).loss == pytest.approx(153.9, abs=0.05)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("survey", (84.5, 16.6, 5.1)), ("child", (1601, 315, 95.9)), ("alarm", (4434, 872, 265.6))],
)
def test_all_pairs_of_benchmark_networks(name, expected):
    domain = network(name).domain
    pairs = list(combinations(domain.names, 2))
    squared = Contrasts(domain, gathered(pairs)).singular_sum ** 2
    found = [at_even_shares(epsilon, domain.cells, squared) / len(pairs) for epsilon in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose(found, expected, rtol=0.005, atol=0.05)  # as printed, with two to four digits


@pytest.mark.parametrize(("k", "epsilon"), [(3, 1.0), (5, 0.5), (9, 2.0), (12, 3.0)])
def test_shares_of_one_question_have_subset_selections_variance(k, epsilon):
    # The set size that the floor's m names, through a channel of its own: variances summed, from its integers.
    channel = dn.SubsetSelection(k, epsilon)
    loss = channel.variance(np.full(k, 1 / k), 1).sum()
    found = dn.floor({"x": list(range(k))}, "x", epsilon)
    assert found.times(loss) == pytest.approx(1, abs=2e-3)
    assert loss >= found.loss


def test_no_random_channel_is_below_the_floor(random_channel):
    rng = np.random.default_rng(11)
    judged, least = 0, np.inf
    for _ in range(300):
        t, epsilon = int(rng.integers(2, 9)), float(rng.uniform(0.1, 4))
        truth = np.ones(t) if rng.random() < 0.5 else rng.dirichlet(np.full(t, 0.7))
        problem = Problem.of(rng.normal(size=(rng.integers(1, t + 2), t)), epsilon, truth)
        channel = random_channel(rng, t, epsilon)
        np.testing.assert_allclose(channel.sum(axis=0), 1, rtol=1e-9)
        if np.linalg.matrix_rank(channel, 1e-4) < t:
            continue  # it does not tell everything; the loss of what it does not tell is no number
        judged += 1
        least = min(least, problem.loss(channel) / closed_form(problem))
    assert judged > 100
    assert least >= 1


def test_what_it_says():
    found = dn.floor(DOMAIN, ["b"], 1.0)
    assert "at even shares" in str(found)
    assert found.respondents(0.001) == pytest.approx(found.loss / 0.001, abs=1)
    guess = dn.Table(dn.Domain({"b": ["no", "yes"]}), [0.9, 0.1])
    assert "at your guess" in str(dn.floor(DOMAIN, ["b"], 1.0, guess))
    with pytest.raises(InputError, match="above 0"):
        found.respondents(0)


def test_a_certificate_can_raise_it():
    plain = dn.floor(DOMAIN, dn.Wanted.mean("c"), 1.0)
    raised = dn.floor(DOMAIN, dn.Wanted.mean("c"), 1.0, certify=True)
    assert raised.loss > 1.1 * plain.loss
    assert raised.loss == raised.certificate.check()
    assert "(certified)" in str(raised)
    with pytest.raises(InputError, match="16 possible answers"):
        dn.floor(DOMAIN, [["a", "b", "c"]], 1.0, certify=True)


def test_refusals():
    many = dn.Domain({f"x{i}": list(range(10)) for i in range(5)})
    guess = dn.Table(many.project("x0"), np.full(10, 0.1))
    with pytest.raises(InputError, match="at most 4096"):
        dn.floor(many, [many.names], 1.0, guess)
    with pytest.raises(UnknownCategoryError, match="'never', 'often' here and 'no', 'yes' there"):
        dn.floor(DOMAIN, "b", 1.0, dn.Table({"b": ["never", "often"]}, [0.5, 0.5]))
    with pytest.raises(InputError, match="negative cells"):
        dn.floor(DOMAIN, "b", 1.0, dn.Table({"b": ["no", "yes"]}, [1.5, -0.5]))
    with pytest.raises(DesignError):
        dn.floor(DOMAIN, "b", 0.0)
    wide = dn.Domain({"x": list(range(70)), "y": list(range(70))})
    with pytest.raises(InputError, match="hang together"):
        dn.floor(wide, dn.Wanted.difference("x", "y", groups=[(0, 1)], scores=range(70)), 1.0)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (1.25, "1.25"),
        (nextafter(1.25, 2), "1.26"),
        (1.25 + 1e-8, "1.26"),
        (1.0, "1.00"),
        (1 + 1.3e-9, "1.0001"),  # as near as the floor, which is lowered by a billionth, can be reached
        (1.0002, "1.01"),
    ],
)
def test_nothing_is_called_nearer_than_it_is(loss, said):
    found = dn.Floor(1.0, 1.0, 2, is_even=True).distance(loss)
    assert found == f"needs at most {said} times as many respondents as the best possible design, at even shares"
    assert Fraction(said) >= Fraction(loss)

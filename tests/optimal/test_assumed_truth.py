"""Guesses of the truth: losses two ways, better designs where the guess is right, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from chequered import one_of
from deniable.aims.assumed_truth import Guess
from deniable.designs.distance_to_best import loss_of
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, InputError, UnknownAttributeError, UnknownCategoryError
from deniable.optimal.channel_problem import Problem
from deniable.optimal.column_generation import solution
from deniable.optimal.round_patterns import few_patterns, whole_weights
from deniable.planning.expected_reports import expected_evidence, expected_variances
from deniable.surveys.survey import parse_survey

DOMAIN = dn.Domain({"age": [20, 30, 40], "sex": ["F", "M"], "smokes": ["no", "yes"], "trust": [0, 1, 2]})
TRUTH = dn.Table(DOMAIN, np.random.default_rng(3).dirichlet(np.full(36, 0.7)))
RARE = {"smokes": [0.97, 0.03]}


def by_evidence(design, wanted, truth, n=1e6):
    """The loss once more, from the information of the reports that `estimate` would use."""
    total = 0.0
    for one in wanted:
        evidence, whole = expected_evidence(design, truth, n, one.attributes)
        shares = whole.project(one.attributes).values.ravel()
        total += n * expected_variances(evidence, whole.values, one.rows(design.domain, shares)).sum()
    return total


@pytest.mark.parametrize(
    "wanted",
    one_of(
        2,
        [
            ["difference(trust by sex; scores 0 1 2)", "quantiles(age; 0.25 0.5) weight 3", "smokes"],
            [["sex", "smokes"], "mean(age)"],
        ],
    ),
    ids=str,
)
def test_the_loss_at_a_guess_is_what_the_evidence_gives_there(wanted):
    design = dn.Optimal(DOMAIN, wanted, 1.0, truth=TRUTH)
    assert design.loss == pytest.approx(by_evidence(design, design.wanted, TRUTH), rel=1e-6)
    assert design.floor.loss <= design.loss
    plain = dn.Optimal(DOMAIN, wanted, 1.0)
    assert design.loss <= loss_of(plain, plain.wanted, TRUTH) * 1.001
    assert "at your guess" in str(design.describe())
    assert "at your guess" not in str(plain.describe())


@pytest.mark.parametrize("design", [dn.Independent(DOMAIN, 2.0), dn.Views(DOMAIN, 2, 1.0, channel="least_variance")])
def test_the_loss_of_any_design_at_a_guess(design):
    wanted = [dn.Wanted.table("age", "sex"), dn.Wanted.mean("trust")]
    # Sets count by their moments in one of the two, where they are many.
    assert loss_of(design, wanted, TRUTH) == pytest.approx(by_evidence(design, wanted, TRUTH), rel=1e-4)
    # At even shares, by the other program.
    even = {"sex": [1, 1]}
    assert loss_of(design, wanted, even) == pytest.approx(dn.loss_of(design, wanted), rel=1e-9)


def test_a_mixture_is_the_average_of_what_it_mixes():
    wanted, one, other = [dn.Wanted.table("sex", "smokes")], RARE, {"smokes": [0.6, 0.4]}
    mixed = [(3, one), (1, other)]
    design = dn.Joint(DOMAIN.project(["sex", "smokes"]), 1.0)
    apart = [loss_of(design, wanted, each) for each in (one, other)]
    assert loss_of(design, wanted, mixed) == pytest.approx(np.average(apart, weights=[3, 1]))
    floors = [dn.floor(DOMAIN, wanted, 1.0, each).loss for each in (one, other)]
    assert dn.floor(DOMAIN, wanted, 1.0, mixed).loss == pytest.approx(np.average(floors, weights=[3, 1]))
    assert dn.Optimal(DOMAIN, wanted, 1.0, truth=mixed).times >= 1


def test_a_plan_at_a_guess_says_so_and_ranks_by_it():
    wanted = [["sex", "smokes"], "mean(age)"]
    found = dn.plan(DOMAIN, 1.0, wanted, 5000, truth=[RARE, {"smokes": [0.9, 0.1]}])
    assert "at your guess" in str(found)
    assert min(found.times(one) for one in found.candidates if one.covers_all) >= 1
    same = dn.plan(DOMAIN, 1.0, wanted, 5000, truth=dn.Table({"smokes": ["no", "yes"]}, [0.97, 0.03]))
    alone = dn.plan(DOMAIN, 1.0, wanted, 5000, truth=RARE)
    np.testing.assert_allclose([one.loss for one in same.candidates], [one.loss for one in alone.candidates])
    assert alone.at(n=100).n == 100


TEXT = """
format = 1
name = "smoking"
title = "Smoking"
epsilon = 1.0
[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
[[questions]]
name = "trust"
text = "How much?"
kind = "scale"
first = 1
last = 3
[design]
kind = "optimal"
guess = {{ {} }}
"""


def test_a_survey_file_takes_shares():
    text = TEXT
    design = parse_survey(text.format("smokes = [0.9, 0.1]")).design
    assert design.guess.populations[0].project("smokes").values.tolist() == [0.9, 0.1]
    for wrong in ("smokes = [0.9]", "drinks = [0.9, 0.1]", "smokes = [0, 0]", "smokes = [2, -1]"):
        with pytest.raises(InputError, match=r"design\.guess"):
            parse_survey(text.format(wrong))
    with pytest.raises(InputError, match="takes no guess"):
        parse_survey(text.format("smokes = [0.9, 0.1]").replace('"optimal"', '"joint"'))


def test_a_survey_file_carries_the_integers_and_solves_nothing(monkeypatch):
    text = TEXT.format("smokes = [0.9, 0.1]").replace("1.0\n", '1.0\nwanted = ["mean(trust)", "smokes"]\n')
    first = parse_survey(text).design
    carried = f"{text}made = '{first.canonical().decode()}'\n"
    monkeypatch.setattr("deniable.optimal.optimal_channel.solution", None)  # whoever solves falls
    monkeypatch.setattr("deniable.designs.search_questions._balanced", None)
    again = parse_survey(carried).design
    assert again.id == first.id
    assert str(again.describe()) == str(first.describe())
    cheap = carried.replace("epsilon = 1.0", "epsilon = 0.5")
    other = carried.replace("last = 3", "last = 4")
    kind = carried.replace('"kind":"optimal"', '"kind":"design"')
    torn = carried.replace('"bits":16', '"bits":17')
    more = carried.replace('"mean(trust)"', '"smokes * trust"')
    for wrong, match in ((cheap, "more than 0.5"), (other, "other attributes"), (kind, "of kind"), (torn, "bits")):
        with pytest.raises(InputError, match=rf"design\.made: .*{match}"):
            parse_survey(wrong)
    with pytest.raises(InputError, match="made for something else"):
        parse_survey(more)


def test_noise_of_the_solver_changes_integers_and_not_how_good_they_are():
    """So integers are carried, never computed twice."""
    problem = Problem.of(np.tril(np.ones((9, 9)))[:-1], 1.0)
    found, rng = solution(problem), np.random.default_rng(0)
    for size in (0.0, 1e-13, 1e-9):
        p = found.point.p * (1 + size * rng.normal(size=len(found.point.p)))
        moved = found._replace(point=found.point._replace(p=p))
        channel, loss = whole_weights(problem, *few_patterns(problem, moved), found.point.loss)
        assert loss <= found.point.loss * 1.001
        assert channel.ratio <= exp_below(1.0)


@pytest.mark.parametrize(
    ("truth", "error", "match"),
    [
        ({"drinks": [0.5, 0.5]}, UnknownAttributeError, "not among"),
        ({"smokes": [1, 2, 3]}, InputError, "2 shares"),
        ({"smokes": [float("nan"), 1]}, InputError, "from 0 upwards"),
        ({}, InputError, "not empty"),
        ([], InputError, "several guesses"),
        ([(0, RARE)], InputError, "above 0"),
        ("smokes", InputError, "shares by attribute"),
        (3, InputError, "shares by attribute"),
        ([1], InputError, "shares by attribute"),
        (dn.Table({"drinks": ["no", "yes"]}, [0.5, 0.5]), UnknownAttributeError, "of none of"),
        (dn.Table({"smokes": ["yes", "perhaps"]}, [0.1, 0.9]), UnknownCategoryError, "categories"),
    ],
)
def test_what_is_no_guess_is_refused(truth, error, match):
    with pytest.raises(error, match=match):
        Guess.of(DOMAIN, truth)


def test_too_much_for_a_guess_is_refused_with_the_way_out():
    wide = dn.Domain({f"x{i}": range(30) for i in range(3)})
    with pytest.raises(DesignError, match="leave the truth out"):
        dn.Optimal(wide, [["x0", "x1"]], 1.0, truth={"x0": np.arange(1, 31)})


@pytest.mark.parametrize("wanted", ["quantiles(age; 0.5)", "difference(trust by sex; scores 0 1 2)"])
def test_numbers_that_are_not_linear_are_told_at_every_truth(wanted):
    """What is best for their derivative at even shares alone would tell nothing elsewhere."""
    design = dn.Optimal(DOMAIN, wanted, 1.0)
    (one,) = design.wanted
    for truth in ({}, TRUTH.project(one.attributes)):
        assert loss_of(design, [one], truth or None) < np.inf
    reports = design.simulate(TRUTH.project(design.domain.names), 5000, source=dn.Seeded(1))
    if one.kind == "quantiles":
        assert dn.median(reports, "age").value in {20, 30, 40}
    else:
        assert np.isfinite(dn.mean_difference(reports, "trust", "sex").value)

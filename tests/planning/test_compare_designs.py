"""`compare`: the same people through several designs; what it says agrees with the closed forms and with `estimate`."""

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import InputError, UnknownAttributeError

TRUTH = dn.Table({"a": ["no", "yes"], "b": ["x", "y", "z"]}, [[0.4, 0.1, 0.1], [0.05, 0.05, 0.3]])
DOMAIN = TRUTH.domain
DESIGNS = {"joint": dn.Joint(DOMAIN, 2.0), "single": dn.Sampled(DOMAIN, 2.0)}


def row(found, design, table, method="inversion"):
    (one,) = (r for r in found.rows if (r.design, r.table, r.method) == (design, table, method))
    return one


def test_squared_errors_are_the_stated_variances():
    n, repeats = 1500, 200
    found = dn.compare(
        TRUTH, DESIGNS, ["a"], n=n, repeats=repeats, methods=["inversion"], distance="ese", source=dn.Seeded(4)
    )
    pi = TRUTH.project("a").values
    expected = {"undisguised": 2 * pi[0] * pi[1] / n}
    for name, design in DESIGNS.items():
        reports = design.simulate(TRUTH, 4_000_000, source=dn.Seeded(1))
        error = dn.estimate(reports, "a", method="inversion").std_error
        expected[name] = float((error**2).sum()) * 4_000_000 / n
    for name, variance in expected.items():
        one = row(found, name, ("a",), "counted" if name == "undisguised" else "inversion")
        # A mean of 200 squared errors, each nearly a chi-square of one degree times the variance: its standard error is
        # variance * sqrt(2 / 200) = .1 of it. Six of them: a false alarm below 1e-6 at three comparisons.
        assert one.distance == pytest.approx(variance, rel=6 * (2 / repeats) ** 0.5)
        assert one.std_error == pytest.approx(variance * (2 / repeats) ** 0.5, rel=0.5)


def test_a_distance_is_that_of_the_estimate_from_the_population():
    found = dn.compare(TRUTH, DESIGNS, ["a"], n=500, repeats=2, distance="l2", source=dn.Seeded(5))
    again = dn.compare(TRUTH, DESIGNS, ["a"], n=500, repeats=2, distance="l2", source=dn.Seeded(5))
    other = dn.compare(TRUTH, DESIGNS, ["a"], n=500, repeats=2, distance="l2", source=dn.Seeded(6))
    assert found.to_frame().equals(again.to_frame())
    assert not found.to_frame().equals(other.to_frame())
    assert 0 < row(found, "joint", ("a",), "auto").distance < 1


def test_people_of_a_frame_are_the_same_as_their_table():
    people = pd.DataFrame({"b": ["y"] * 30 + ["x"] * 70, "a": ["yes"] * 60 + ["no"] * 40, "other": range(100)})
    table = dn.Table.count(people, DOMAIN)
    for truth in (people, table):
        found = dn.compare(truth, DESIGNS, n=200_000, repeats=2, source=dn.Seeded(1))
        # Total variation of 200,000 draws of four cells that occur: about .002.
        assert row(found, "undisguised", ("a", "b"), "counted").distance < 0.01


def test_what_a_design_does_not_tell_is_said_and_stops_nothing():
    found = dn.compare(TRUTH, DESIGNS, n=300, repeats=2, source=dn.Seeded(1))
    assert found.tables == (("a",), ("b",), ("a", "b"))
    told = row(found, "single", ("a", "b"), "auto")
    assert np.isnan(told.distance)
    assert "together" in told.reason
    assert np.isfinite(row(found, "single", ("a",), "auto").distance)
    assert "single: no respondent was asked about 'a', 'b' together" in str(found)


def test_the_true_epsilon_stands_beside_the_claimed_one():
    paper = dn.Blocks(DOMAIN, mode="deniability", keep=0.5, block_size=100)
    found = dn.compare(TRUTH, [paper, dn.Joint(DOMAIN, 1.0), dn.Joint(DOMAIN, 2.0)], ["a"], n=200, repeats=2)
    assert {one.design: (one.epsilon, one.claimed_epsilon) for one in found.rows if one.design == "Blocks"} == {
        "Blocks": (np.inf, paper.claimed_epsilon)
    }
    assert [one.design for one in found.rows] == ["undisguised", "Blocks", "Joint", "Joint 2"]
    text = str(found)
    assert "claimed" in text
    assert "infinite" in text


def test_many_tables_are_averaged_and_drawn():
    truth = dn.Table({name: ["no", "yes"] for name in "abc"}, np.full((2, 2, 2), 1 / 8))
    found = dn.compare(truth, {"views": dn.Views(truth.domain, k=2, epsilon=2.0)}, n=300, repeats=2)
    assert "2 attributes" in str(found)
    assert "+-" not in str(found)  # an error of the mean over tables is not stated, and none is promised
    assert len(found.to_frame()) == 2 * 6
    panels = found.plot()
    assert len(panels) == 6
    assert panels[0].get_xlabel() == "a: tv from the truth"


def test_bad_input_gets_the_way_out():
    for designs, n, repeats, wanted, told in (
        ([], 10, 2, None, "compare takes designs"),
        (["joint"], 10, 2, None, "compare takes designs"),
        (DESIGNS, 1, 2, None, "at least 2 people"),
        (DESIGNS, 10, 1, None, "at least 2 people and 2 repeats"),
        (DESIGNS, 10, 2, [], "name the tables"),
        ([DESIGNS["joint"], dn.Joint({"a": ["no", "yes"]}, 1.0)], 10, 2, None, "different attributes"),
        ({"single": DESIGNS["single"]}, 10, 2, [["a", "b"]], "no design tells any of the tables"),
    ):
        with pytest.raises(InputError, match=told):
            dn.compare(TRUTH, designs, wanted, n=n, repeats=repeats)
    with pytest.raises(UnknownAttributeError):
        dn.compare(TRUTH, DESIGNS, ["c"], n=10, repeats=2)
    with pytest.raises(InputError, match="the truth says nothing of 'b'"):
        dn.compare(TRUTH.project("a"), DESIGNS, n=10, repeats=2)
    with pytest.raises(InputError, match="there is no distance"):  # asked of people undisguised first
        dn.compare(TRUTH, DESIGNS, n=10, repeats=2, distance="kl")


def test_a_distance_that_some_estimate_has_not_is_said_and_stops_nothing():
    found = dn.compare(
        TRUTH, DESIGNS, [["a", "b"]], n=60, repeats=3, methods=["inversion", "mle"], distance="js", source=dn.Seeded(3)
    )
    assert "negative cell" in row(found, "joint", ("a", "b")).reason
    assert np.isfinite(row(found, "joint", ("a", "b"), "mle").distance)

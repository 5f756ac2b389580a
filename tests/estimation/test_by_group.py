"""Estimates by public groups: each group's own, small ones with a warning, and the way there named."""

from __future__ import annotations

import pickle
import re
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import deniable as dn
from deniable.errors import InputError, TooFewReportsError
from deniable.inference.monte_carlo import seed_of
from deniable.likelihood.gather import gather
from exams import TOGETHER, answered


def test_every_group_gets_the_estimate_of_its_own_members():
    reports = answered(TOGETHER)
    found = dn.estimate(reports, "cheated", by="faculty")
    assert list(found) == ["arts", "law"]
    for group, part in reports.groups("faculty"):
        assert np.array_equal(found[group].values, dn.estimate(part, "cheated").values)
    frame = found.to_frame()
    assert frame["faculty"].to_pylist() == ["arts", "arts", "law", "law"]
    assert np.allclose(frame["estimate"].to_pylist()[2:], found["law"].values)


def test_groups_are_shown_as_one_cross_table_in_words():
    told = str(dn.estimate(answered(TOGETHER, language="de"), "cheated", by="faculty"))
    assert told.startswith("Haben Sie in einer Prüfung betrogen? (cheated); Ihre Fakultät (faculty)\n")
    assert "Kunst (arts)  Ja (yes)" in told
    assert "Reports: Kunst (arts) 100, Jura (law) 500." in told


def in_groups(sizes):
    """Reports of groups of these sizes about x, whose categories are numbers."""
    groups = [group for group, n in sizes.items() for _ in range(n)]
    people = {"x": [0, 1] * (len(groups) // 2), "group": groups}
    with pytest.warns() if min(sizes.values()) < 10 else nullcontext():
        return dn.Joint({"x": [0, 1]}, 1.0).randomize(people, keep=["group"], source=dn.Seeded(1))


@pytest.mark.parametrize("weights", [None, np.arange(1, 101)], ids=["alone", "weighted"])
def test_a_group_that_too_few_answered_is_refused_in_its_place_and_stops_no_other(weights):
    reports = in_groups({"arts": 40, "both": 24, "law": 36})
    given = {} if weights is None else {"weights": weights}
    found = dn.estimate(reports, "x", by="group", **given)
    assert (list(found), list(found.every)) == (["arts", "law"], ["arts", "both", "law"])
    assert "both" not in found
    assert str(found.refused["both"]) == "24 of 30 answers needed"
    with pytest.raises(TooFewReportsError, match=r"^group = both: 24 of 30 answers needed$") as refusal:
        found["both"]
    assert (refusal.value.by, refusal.value.group, refusal.value.n) == ("group", "both", 24)
    if weights is None:
        assert np.array_equal(found["law"].values, dn.estimate(dict(reports.groups("group"))["law"], "x").values)
    rows = found.summary().rows()
    assert [(row["group"], row["x"]) for row in rows[2:4]] == [("both", "24 of 30 answers needed"), ("law", "0")]
    assert (rows[2]["estimate"], rows[2]["95% interval"]) == ("-", "-")
    assert f"both,24 of 30 answers needed,{'nan,' * 4}Simulated" in found.to_csv().splitlines()
    frame = found.to_frame()
    assert (frame["x"].to_pylist(), frame["group"].to_pylist()[2:4]) == ([0, 1] * 3, ["both", "both"])
    assert np.isnan(frame["estimate"].to_numpy()).tolist() == [False, False, True, True, False, False]
    assert pickle.loads(pickle.dumps(found)).refused["both"].reason == "24 of 30 answers needed"  # noqa: S301
    drawn = found.plot(Figure().subplots())
    assert [tick.get_text() for tick in drawn.get_yticklabels()][2:4] == ["both", "law, 0"]
    assert [text.get_text() for text in drawn.texts] == ["24 of 30 answers needed"]
    sizes = {"arts": 400, "law": 360}
    for known in (sizes, {**sizes, "both": 240}):
        totals = found.totals(known)
        assert list(totals) == ["arts", "law"]
        assert "both   24 of 30 answers needed" in str(totals)


def test_thirty_answers_are_enough():
    assert list(dn.estimate(in_groups({"arts": 30, "law": 70}), "x", by="group")) == ["arts", "law"]


def test_where_no_group_can_be_shown_each_says_how_many_it_has():
    told = r"no group of 'group' can be shown: arts: 29 of 30 answers needed; law: 9 of 30 answers needed"
    with pytest.raises(TooFewReportsError, match=told):
        dn.estimate(in_groups({"arts": 29, "law": 9}), "x", by="group")


def test_answers_are_those_about_the_table_not_all_of_the_group():
    people = {"x": ["a", "b"] * 50, "y": ["c", "d"] * 50, "group": ["arts"] * 34 + ["law"] * 66}
    reports = dn.Sampled({"x": ["a", "b"], "y": ["c", "d"]}, 1.0).randomize(people, keep=["group"], source=dn.Seeded(1))
    asked = {group: int(part.ballot_counts()[0]) for group, part in reports.groups("group")}
    found = dn.estimate(reports, "x", by="group")
    assert found.refused["arts"].n == asked["arts"] < 30 <= asked["law"] == found["law"].n


def test_reports_without_a_group_are_counted():
    people = pa.table({"x": ["a", "b"] * 50, "group": ["arts"] * 40 + ["law"] * 57 + [None] * 3})
    with pytest.warns():
        reports = dn.Joint({"x": ["a", "b"]}, 1.0).randomize(people, keep=["group"], source=dn.Seeded(1))
    found = dn.estimate(reports, "x", by="group")
    assert found.unknown == 3
    assert "3 reports without a value of group are in no group." in found.warnings()


def test_a_public_attribute_in_a_table_names_the_way():
    with pytest.raises(InputError, match=r"estimate\(reports, 'cheated', by='faculty'\).*--table cheated --by faculty"):
        dn.estimate(answered(), ["cheated", "faculty"])
    with pytest.raises(InputError, match="'faculty' is public: it was not disguised"):
        dn.estimate(answered(), "faculty")


def test_the_plot_has_a_row_for_every_cell_of_every_group():
    ax = dn.estimate(answered(TOGETHER), "cheated", by="faculty").plot(Figure().subplots())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["Arts, No", "Arts, Yes", "Law, No", "Law, Yes"]


def test_the_same_reports_give_the_same_p_wherever_they_are_tested():
    reports = answered('[design]\nkind = "joint"')
    first = dn.all_pairs(reports, replicates=99)
    alone = dn.independence(reports, "cheated", "stress", replicates=99)
    assert first.tests[0].pvalue == alone.pvalue
    assert dn.all_pairs(reports, replicates=99).tests[0].pvalue == alone.pvalue
    other = answered('[design]\nkind = "joint"', seed=8)
    assert seed_of([gather(reports, "cheated")]) != seed_of([gather(other, "cheated")])


def test_totals_of_groups_are_those_of_each_of_them():
    people = {"x": ["a", "b"] * 50, "group": ["arts"] * 40 + ["law"] * 60}
    reports = dn.Joint({"x": ["a", "b"]}, 2.0).randomize(people, keep=["group"], source=dn.Seeded(1))
    found = dn.estimate(reports, "x", by="group", weights=[3.0] * 40 + [5.0] * 60)
    totals = found.totals()
    assert {group: one.population for group, one in totals.items()} == pytest.approx({"arts": 120, "law": 300})
    assert np.array_equal(totals["law"].values, found["law"].totals().values)
    rows = totals.to_frame()
    assert rows.column_names == ["group", "x", "total", "std_error", "low", "high", "origin"]
    assert rows["group"].to_pylist() == ["arts", "arts", "law", "law"]
    assert rows["total"].to_numpy()[2:] == pytest.approx(found["law"].totals().values)
    known = found.totals({"arts": 1000, "law": 3000})
    assert sum(known["arts"].values) == pytest.approx(1000)
    assert "People by group: arts 1,000, law 3,000 (given)." in str(known).splitlines()
    for wrong, told in [({"arts": 7}, "size of every group of 'group'"), (4000, "sizes of their own, such as totals")]:
        with pytest.raises(InputError, match=told):
            found.totals(wrong)
    with pytest.raises(InputError, match=r"size of every group: totals\(\{'arts': "):
        dn.estimate(reports, "x", by="group").totals()


# -- groups of which too little is left -------------------------------------------------------------------------------

ANALYSES = {
    "homogeneity": lambda reports, by, **drawn: dn.homogeneity(reports, "x", by=by, **drawn),
    "given": lambda reports, by, **drawn: dn.independence(reports, "x", "y", given=by, **drawn),
}


@pytest.mark.parametrize("by", ["group", "number"])
@pytest.mark.parametrize("drawn", [{}, {"weights": np.ones(81)}], ids=["plain", "weighted"])
@pytest.mark.parametrize("analysis", ANALYSES.values(), ids=ANALYSES)
def test_a_group_of_which_too_few_are_left_is_left_out_and_counted(analysis, drawn, by):
    people = {"x": [*["a", "b"] * 40, "a"], "y": [*["c", "c", "d", "d"] * 20, "c"]}
    people |= {"group": [*["arts", "arts", "science"] * 26, "arts", "arts", "law"]}
    people["number"] = [{"arts": 0.5, "science": 1.0, "law": 2.0}[name] for name in people["group"]]
    reports = dn.Independent({"x": ["a", "b"], "y": ["c", "d"]}, 2.0)
    with pytest.warns(match="fewer than 10"):
        reports = reports.randomize(people, keep=["group", "number"], source=dn.Seeded(1))
    found = analysis(reports, by, **drawn)
    lonely = "law" if by == "group" else 2.0
    assert re.search(rf"Left out: 1 of {by} {lonely} \(", str(found)), found
    without = reports._rows(np.arange(80))
    alone = analysis(without, by, **{name: column[:80] for name, column in drawn.items()})
    assert found.statistic == pytest.approx(alone.statistic, rel=1e-6)
    assert found.pvalue == pytest.approx(alone.pvalue, rel=0.01)  # weighted, it stays in the sample: 79 degrees for 78


@pytest.mark.parametrize("drawn", [{}, {"weights": np.ones(20)}], ids=["plain", "weighted"])
def test_where_no_two_groups_are_left_it_is_said_of_which(drawn):
    people = {"x": ["a", "b"] * 10, "group": ["arts"] * 19 + ["law"]}
    with pytest.warns(match="fewer than 10"):
        reports = dn.Joint({"x": ["a", "b"]}, 2.0).randomize(people, keep=["group"], source=dn.Seeded(1))
    with pytest.raises(TooFewReportsError, match=r"compare.* law.*1 report|Left out: 1 of group law"):
        dn.homogeneity(reports, "x", by="group", **drawn)


def test_of_groups_in_a_mapping_the_small_one_is_named_too():
    many, few = (dn.Observation("x", dn.KRR(2, 1.0), counts) for counts in ([20, 30], [0, 1]))
    with pytest.raises(TooFewReportsError, match="law: 1 report"):
        dn.homogeneity({"arts": many, "law": few}, "x")
    assert "Left out: 1 of group law" in str(dn.homogeneity({"arts": many, "law": few, "science": many}, "x"))


def test_groups_of_open_columns_are_named():
    answers, groups = [0, 1] * 20, ["arts"] * 39 + ["law"]
    with pytest.raises(TooFewReportsError, match=r"group 'law': 1 of 30 answers needed.*Join this group"):
        dn.prevalence(answers, dn.Warner(0.8), by=groups)["law"]
    many = {"by": ["arts"] * 80 + ["law"] * 40, "weights": [1] * 80 + [0] * 40}
    weighted = dn.prevalence([0, 1] * 60, dn.Warner(0.8), **many)
    with pytest.raises(TooFewReportsError, match=r"group 'law': nobody has any weight.*Join this group"):
        weighted["law"]
    devices = {"arts": dn.Warner(0.8), "law": dn.Warner(0.3)}
    with pytest.raises(TooFewReportsError, match="these have 'arts' 39, 'law' 1"):
        dn.compliance.cheating_detection(answers, groups, channels=devices)


# -- what must be known of a group -------------------------------------------------------------------------------------


def test_what_is_said_of_an_estimate_is_said_of_it_as_a_group_too():
    people = {"x": ["a", "b"] * 100, "group": ["arts", "arts", "law", "law"] * 50, "school": [*range(5)] * 40}
    reports = dn.Joint({"x": ["a", "b"]}, 2.0).randomize(people, keep=["group", "school"], source=dn.Seeded(1))
    found = dn.estimate(reports, "x", by="group", clusters="school")
    assert str(found).count("Errors stand on 4 degrees of freedom") == 1  # of all groups, so once


def test_an_interval_that_is_missing_in_a_group_is_explained():
    # Disguised "no" from everybody in law: fewer yes than chance leaves even where nobody is one.
    columns = {"x": pa.array([0, 1] * 40 + [0] * 60), "group": pa.array(["arts"] * 80 + ["law"] * 60)}
    codes, groups = columns["x"].to_pylist(), columns["group"].to_pylist()
    told = str(dn.prevalence(codes, dn.Warner(0.8), by=groups))
    assert "\nlaw: Fewer reports of '1' (answer) came than chance alone explains" in told
    assert "arts: " not in told
    reports = dn.Joint({"x": [0, 1]}, 1.0).randomize(columns, keep=["group"], source=dn.Seeded(1))
    frame = reports.to_frame()
    answer = next(name for name in frame.column_names if name != "group")
    frame = frame.set_column(frame.column_names.index(answer), answer, pa.array(codes, frame[answer].type))
    sent = dn.Reports(frame, reports.design)
    told = str(dn.estimate(sent, "x", by="group"))
    assert "\nlaw: Fewer reports of '1' (x) came than chance alone explains" in told

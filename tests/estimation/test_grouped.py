"""Estimates by public groups: each group's own, small ones with a warning, and the way there named."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import deniable as dn
from deniable.errors import InputError
from deniable.estimation.fit.gathering import gather
from deniable.inference.reference import seed_of
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


@pytest.mark.parametrize(("arts", "warning"), [(9, "could be recognised"), (29, "say more than"), (30, None)])
def test_small_groups_are_warned_about(arts, warning):
    people = pa.table({"x": ["a", "b"] * 50, "group": ["arts"] * arts + ["law"] * (100 - arts)})
    with pytest.warns() if arts < 10 else nullcontext():
        reports = dn.Joint({"x": ["a", "b"]}, 1.0).randomize(people, keep=["group"], source=dn.Seeded(1))
    told = dn.estimate(reports, "x", by="group").warnings()
    assert len(told) == (0 if warning is None else 1)
    if warning:
        assert told[0].startswith(f"group = arts: only {arts} reports")
        assert warning in told[0]


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

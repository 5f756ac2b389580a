"""SPSS and Stata files: a named, labelled column a question; PSPP, pandas and pyreadstat read them, and so do we."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import deniable as dn
from deniable.errors import InputError
from exams import TOGETHER, answered

APART = '[design]\nkind = "sampled"'  # each is asked one question


def pspp(commands, folder):
    """What PSPP prints."""
    (folder / "commands.sps").write_text(commands, encoding="utf-8")
    ran = subprocess.run(
        ["pspp", "-O", "format=csv", "commands.sps"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_pspp_shows_names_labels_meanings_and_who_was_not_asked(tmp_path):
    reports = answered(APART, language="de")
    reports.write(tmp_path / "exams.sav")
    shown = pspp("GET FILE='exams.sav'.\nDISPLAY DICTIONARY.\nFREQUENCIES cheated faculty.\n", tmp_path)
    assert "cheated,2,[disguised] Haben Sie in einer Prüfung betrogen?,Nominal" in shown
    assert "faculty,4,Ihre Fakultät,Nominal" in shown
    asked = reports.design.questions[0].name
    assert asked == "cheated"
    codes = reports.answers[reports.rows_of(0), 0]
    assert f"N,Valid,{len(codes)},600" in shown
    assert f"Missing,{600 - len(codes)},0" in shown
    assert f"Valid,Nein,{(codes == 0).sum()}," in shown
    assert f",Ja,{(codes == 1).sum()}," in shown
    assert "Valid,Jura,500," in shown


def test_stata_files_are_read_by_others(tmp_path):
    answered(TOGETHER).write(tmp_path / "exams.dta")
    with pd.io.stata.StataReader(tmp_path / "exams.dta") as reader:
        assert reader.variable_labels()["stress"] == "[disguised] How stressed are you?"
        assert reader.data_label == "Exams"
        frame = reader.read()
    assert frame["faculty"].cat.categories.tolist() == ["Law", "Arts"]
    assert frame["cheated"].value_counts().to_dict() == {
        name: int((answered(TOGETHER).answers[:, 0] == code).sum()) for code, name in enumerate(("No", "Yes"))
    }


DESIGNS = {"ballots": APART, "together": TOGETHER, "one tuple": '[design]\nkind = "joint"'}


@pytest.mark.parametrize("suffix", ["sav", "dta"])
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_nothing_is_lost_on_the_way_there_and_back(suffix, design, tmp_path):
    reports = answered(design)
    back = dn.read_reports(reports.write(tmp_path / f"reports.{suffix}"))
    assert np.array_equal(back.answers, reports.answers)
    assert np.array_equal(back.ballots, reports.ballots)
    assert back.public["faculty"].to_list() == reports.public["faculty"].to_list()
    assert back.design.id == reports.design.id


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_strange_names_numbers_truth_values_gaps_and_sets_survive(suffix, tmp_path):
    domain = dn.Domain({"Größe, in cm?": ["< 170", ">= 170"], "by": [f"c{i}" for i in range(9)]})
    asked = [dn.Question(("Größe, in cm?",), dn.KRR(2, 1.0)), dn.Question(("by",), dn.SubsetSelection(9, 1.0))]
    design = dn.Design(domain, asked, [[0, 1]])
    n = 120
    people = pa.table(
        {
            "Größe, in cm?": ["< 170", ">= 170"] * (n // 2),
            "by": [f"c{i % 9}" for i in range(n)],
            "weight": [0.5, 2.0] * (n // 2),
            "paid": [True, False, None] * (n // 3),
        }
    )
    reports = design.randomize(people, keep=["weight", "paid"], source=dn.Seeded(3))
    back = dn.read_reports(reports.write(tmp_path / f"reports.{suffix}"))
    assert np.array_equal(back.answers, reports.answers)
    assert back.public["weight"].to_list() == people["weight"].to_pylist()
    assert back.public["paid"].to_list() == people["paid"].to_pylist()


def test_a_file_whose_columns_nobody_tells_is_refused(tmp_path):
    reports = answered(TOGETHER)
    place = reports.write(tmp_path / "exams.sav")
    fields = {key: text for key, text in reports.header.fields.items() if key != "words"} | {"format": "1"}
    (tmp_path / "exams.sav.design.json").write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(InputError, match=r"does not say which column is which question.*Export the reports again"):
        dn.read_reports(place)


def test_a_column_that_was_removed_is_missed(tmp_path):
    answered(APART).write(tmp_path / "exams.sav")
    frame, _ = pyreadstat.read_sav(tmp_path / "exams.sav")
    pyreadstat.write_sav(frame.drop(columns="stress"), str(tmp_path / "exams.sav"))
    with pytest.raises(InputError, match="lacks the column 'stress'"):
        dn.read_reports(tmp_path / "exams.sav")


def test_files_are_written_where_neither_pandas_nor_pyreadstat_is_installed(tmp_path):
    answered().write(tmp_path / "exams.parquet")
    program = """
import sys
class Absent:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("pandas", "polars", "pyreadstat"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import deniable as dn
reports = dn.read_reports("exams.parquet")
for name in ("exams.sav", "exams.dta"):
    reports.write(name)
reports.labelled(in_words=True)
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert "cheated" in pspp("GET FILE='exams.sav'.\nDISPLAY DICTIONARY.\n", tmp_path)


def test_the_labelled_table_has_a_column_a_question_with_gaps_where_nobody_asked():
    reports = answered(APART, language="de")
    table = reports.labelled(in_words=True)
    assert table.column_names == ["cheated", "stress", "faculty"]
    for row, (ballot, code) in enumerate(zip(reports.ballots.tolist(), reports.answers[:, 0].tolist(), strict=True)):
        assert table["cheated"][row].as_py() == (("Nein", "Ja")[code] if ballot == 0 else None)
    assert set(table["faculty"].to_pylist()) == {"Kunst", "Jura"}
    assert set(reports.labelled()["cheated"].to_pylist()) == {"no", "yes", None}

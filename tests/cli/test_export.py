"""`deniable export`: the same reports in every format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deniable as dn


@pytest.mark.parametrize("suffix", ["parquet", "csv", "sav", "dta"])
def test_every_format(suffix, run):
    result = run("export", "in/reports.parquet", "-o", f"r.{suffix}", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"output": f"r.{suffix}", "reports": 4000, "scores": 7}
    assert np.array_equal(dn.read_reports(f"r.{suffix}").answers, dn.read_reports("in/reports.parquet").answers)


def test_scores_stand_beside_the_reports(run):
    result = run("export", "in/reports.parquet", "-o", "r.csv", "--table", "sex,income")
    assert "do not clip" in result.stdout
    table, reports = pd.read_csv("r.csv"), dn.read_reports("in/reports.parquet")
    for name, category, place in (("income", "above_50K", 1), ("sex", "F", 0)):
        share = dn.estimate(reports, name, "inversion").unbiased.values[place]
        assert abs(table[f"dn_share_{name}_{category}"].mean() - share) < 0.01
    assert "dn_share_sex_income_F_above_50K" in table
    run("export", "in/reports.parquet", "-o", "plain.csv", "--no-scores")
    assert not [name for name in pd.read_csv("plain.csv") if name.startswith("dn_share_")]


def test_the_design_alone(run):
    assert run("export", "in/reports.parquet", "-o", "d.json").stdout == "The design in d.json\n"
    assert json.loads(Path("d.json").read_text())["sha256"] == dn.read_reports("in/reports.parquet").design.id


def test_a_table_of_categories(run):
    common = ("--domain", "in/domain.toml", "--epsilon", "3", "--design", "independent", "--keep", "region")
    run("randomize", "in/people.parquet", *common, "-o", "r.parquet")
    assert run("export", "r.parquet", "--labelled", "-o", "t.csv").exit_code == 0
    table = pd.read_csv("t.csv")
    assert list(table.columns) == ["sex", "income", "age", "region"]
    assert set(table["income"]) == {"<=50K", ">50K"}


def test_different_questions_make_a_column_each_with_gaps(run):
    assert run("export", "in/reports.parquet", "--labelled", "-o", "t.csv").exit_code == 0
    table, reports = pd.read_csv("t.csv"), dn.read_reports("in/reports.parquet")
    assert reports.public is not None
    assert set(table.columns) == {*(question.name for question in reports.design.questions), *reports.public.columns}
    for ballot, (index,) in enumerate(reports.design.ballots):
        name = reports.design.questions[index].name
        assert table[name].notna().tolist() == (reports.ballots == ballot).tolist()


@pytest.mark.parametrize("suffix", ["R", "py", "ipynb"])
def test_scripts(suffix, run):
    result = run("export", "in/reports.parquet", "-o", f"analysis.{suffix}", "--table", "sex,income")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"4000 reports in analysis.{suffix}")
    text = Path(f"analysis.{suffix}").read_text(encoding="utf-8")
    assert "sex" in text
    assert "income" in text


def test_options_that_do_not_go_together(run):
    assert "--table asks for" in run("export", "in/reports.parquet", "-o", "r.json", "--table", "sex").stderr
    assert "--no-scores goes with" in run("export", "in/reports.parquet", "-o", "r.R", "--no-scores").stderr
    assert "has its labels anyway" in run("export", "in/reports.parquet", "-o", "r.sav", "--labelled").stderr
    assert "no attribute 'six'" in run("export", "in/reports.parquet", "-o", "a.R", "--table", "six").stderr


def test_nothing_is_overwritten(run):
    Path("r.csv").write_text("mine")
    assert "already there" in run("export", "in/reports.parquet", "-o", "r.csv").stderr
    assert Path("r.csv").read_text() == "mine"

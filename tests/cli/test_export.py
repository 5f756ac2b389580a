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
    assert json.loads(result.stdout) == {"output": f"r.{suffix}", "reports": 4000}
    assert np.array_equal(dn.read_reports(f"r.{suffix}").answers, dn.read_reports("in/reports.parquet").answers)


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


def test_different_questions_make_no_one_table(run):
    assert run("export", "in/reports.parquet", "--labelled", "-o", "t.csv").exit_code == 3
    assert not Path("t.csv").exists()


def test_nothing_is_overwritten(run):
    Path("r.csv").write_text("mine")
    assert "already there" in run("export", "in/reports.parquet", "-o", "r.csv").stderr
    assert Path("r.csv").read_text() == "mine"

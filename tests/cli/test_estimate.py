"""`deniable estimate`: a table a person can read, the same numbers as the library's, JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.cli.common import bar


@pytest.mark.parametrize("source", ["in/reports.parquet", "in/reports.csv"])
@pytest.mark.parametrize("engine", ["bincount", "duckdb"])
def test_the_numbers_are_the_library_s(source, engine, run):
    result = run("estimate", source, "--table", "sex,income", "--engine", engine)
    assert result.exit_code == 0, result.output
    found = dn.estimate(dn.read_reports(source), ["sex", "income"])
    interval = found.interval()
    for value, low, high in zip(*map(np.ravel, (found.values, interval.low, interval.high)), strict=True):
        assert f"{value:.1%}" in result.stdout
        assert f"{low:.1%} to {high:.1%}" in result.stdout
    assert "█" in result.stdout
    assert "4000 reports; epsilon 2.0000 a respondent." in result.stdout


def test_without_a_table_every_attribute_is_shown(run):
    output = run("estimate", "in/reports.parquet").stdout
    assert all(f"reports about {name};" in output for name in ("sex", "income", "age"))


def test_by_a_public_column(run):
    output = run("estimate", "in/reports.parquet", "--table", "sex", "--by", "region").stdout
    assert "region: north" in output
    assert "region: south" in output


@pytest.mark.parametrize("source", ["in/reports.parquet", "in/reports.csv"])
def test_weights_and_clusters_are_public_columns(source, run):
    drawn = ("--weights", "weight", "--clusters", "school")
    data = json.loads(run("estimate", source, "--table", "sex", *drawn, "--json").stdout)
    found = dn.estimate(dn.read_reports(source), "sex", weights="weight", clusters="school")
    (table,) = data["tables"]
    assert [cell["std_error"] for cell in table["cells"]] == pytest.approx(found.std_error.tolist())
    assert "weights, clusters (19 degrees of freedom)" in table["reason"]
    by = json.loads(run("estimate", source, "--table", "sex", "--by", "region", *drawn, "--json").stdout)
    assert [table["region"] for table in by["tables"]] == ["north", "south"]
    assert "no public column 'schol'" in run("estimate", source, "--clusters", "schol").output


def test_json_has_every_number(run):
    data = json.loads(run("estimate", "in/reports.parquet", "--table", "sex,income", "--level", "0.9", "--json").stdout)
    found = dn.estimate(dn.read_reports("in/reports.parquet"), ["sex", "income"])
    (table,) = data["tables"]
    assert [cell["estimate"] for cell in table["cells"]] == found.values.ravel().tolist()
    assert [cell["low"] for cell in table["cells"]] == found.interval(0.9).low.ravel().tolist()
    assert table["cells"][1]["cell"] == {"sex": "F", "income": ">50K"}
    assert data["design"] == dn.read_reports("in/reports.parquet").design.id


def test_a_plot_is_an_svg_file(run):
    result = run("estimate", "in/reports.parquet", "--table", "age", "--plot", "new/age.svg")
    assert result.exit_code == 0, result.output
    assert Path("new/age.svg").read_text().startswith("<?xml")


def test_nothing_is_coloured_outside_a_terminal(run):
    assert "\x1b" not in run("estimate", "in/reports.parquet").output


def test_bars_never_run_backwards():
    assert bar(-0.1, 0.5, 1.0, blocks=False) == "-" * 12
    assert bar(-0.2, -0.1, 1.0, blocks=True) == ""

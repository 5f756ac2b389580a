"""`deniable estimate`: a table a person can read, the same numbers as the library's, JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import deniable as dn
from deniable.cli.terminal import bar
from deniable.core.labels import UNKNOWN
from exams import EXAMS, TOGETHER, answered


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
    assert all(f"reports about {name}" in output for name in ("sex", "income", "age"))


def test_by_a_public_column(run):
    output = run("estimate", "in/reports.parquet", "--table", "sex", "--by", "region").stdout
    found = dn.estimate(dn.read_reports("in/reports.parquet"), "sex", by="region")
    for group in ("north", "south"):
        rows = [line.split() for line in output.splitlines() if line.startswith(f" {group} ")]
        assert [row[1:3] for row in rows] == [[s, f"{x:.1%}"] for s, x in zip("FM", found[group].values, strict=True)]


def test_a_public_column_in_a_table_names_the_way(run):
    result = run("estimate", "in/reports.parquet", "--table", "sex,region")
    assert result.exit_code != 0
    assert "--table sex --by region" in result.stderr


def test_numbers_that_are_no_tables(run):
    texts = ("mean(age; scores 1 2 4)", "quantiles(age; 0.5)", "cdf(age)")
    asked = [part for text in texts for part in ("--table", text)]
    reports = dn.read_reports("in/reports.parquet")
    found = dn.mean(reports, "age", scores=[1, 2, 4])
    printed = run("estimate", "in/reports.parquet", *asked).stdout
    assert f"{found.value:.4f}" in printed
    assert "reports about" not in printed  # no table beside
    rows = json.loads(run("estimate", "in/reports.parquet", *asked, "--table", "sex", "--json").stdout)["numbers"]
    assert [row["which"] for row in rows] == ["", "0.5 (middle)", "up to young", "up to middle"]
    assert [rows[0]["estimate"], rows[0]["low"]] == pytest.approx([found.value, float(found.interval().low)])
    by = json.loads(run("estimate", "in/reports.parquet", *asked[:2], "--by", "region", "--json").stdout)["numbers"]
    for row, (group, part) in zip(by, reports.groups("region"), strict=True):
        assert row["region"] == group
        assert row["estimate"] == pytest.approx(dn.mean(part, "age", scores=[1, 2, 4]).value, abs=1e-6)
    drawn = ("--weights", "weight", "--clusters", "school")
    weighted = json.loads(run("estimate", "in/reports.parquet", *asked[:2], *drawn, "--json").stdout)["numbers"]
    estimate = dn.estimate(reports, "age", weights="weight", clusters="school")
    assert weighted[0]["estimate"] == pytest.approx(dn.mean(estimate, scores=[1, 2, 4]).value)
    refused = run("estimate", "in/reports.parquet", "--table", "difference(age by sex)").stderr
    assert "is no number that is told here" in refused
    assert "no table to draw" in run("estimate", "in/reports.parquet", *asked[:2], "--plot", "p.svg").stderr


@pytest.mark.parametrize("source", ["in/reports.parquet", "in/reports.csv"])
def test_weights_and_clusters_are_public_columns(source, run):
    drawn = ("--weights", "weight", "--clusters", "school")
    data = json.loads(run("estimate", source, "--table", "sex", *drawn, "--json").stdout)
    found = dn.estimate(dn.read_reports(source), "sex", weights="weight", clusters="school")
    (table,) = data["tables"]
    assert [cell["std_error"] for cell in table["cells"]] == pytest.approx(found.std_error.tolist())
    assert "weights, clusters (18.8 degrees of freedom)" in table["reason"]
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


def test_bars_show_the_estimate_and_never_run_backwards(run):
    assert bar(0.5, 1.0, 12, blocks=False) == "#" * 6
    assert bar(-0.2, 1.0, 12, blocks=True) == ""
    assert "bar: estimate" in run("estimate", "in/reports.parquet", "--table", "sex").stdout


@pytest.fixture
def exams(run):
    """Reports with words, in a file."""
    answered(TOGETHER).write("exams.parquet")
    return "exams.parquet"


@pytest.mark.parametrize("arguments", [(), ("--language", "de"), ("--table", "cheated,stress"), ("--by", "faculty")])
def test_tables_fit_eighty_columns(arguments, exams, run):
    output = run("estimate", exams, *arguments, columns=80).stdout
    assert max(map(len, output.splitlines())) <= 80
    assert "…" not in output


def test_words_are_shown_in_the_chosen_language(exams, run):
    output = run("estimate", exams, "--language", "de").stdout
    assert "Haben Sie in einer Prüfung betrogen? (cheated)" in output
    assert "Ja (yes)" in output
    data = json.loads(run("estimate", exams, "--language", "de", "--json").stdout)
    assert data["tables"][1]["questions"] == ["Wie gestresst sind Sie?"]
    assert "no words in 'fr'" in run("estimate", exams, "--language", "fr").stderr
    assert "name the survey file, as in --words" in run("estimate", "in/reports.parquet", "--language", "de").stderr


def test_a_survey_file_brings_the_words(run):
    answered(TOGETHER).with_labels(UNKNOWN).write("bare.parquet")
    Path("exams.toml").write_text(EXAMS.replace("DESIGN", TOGETHER), encoding="utf-8")
    assert "Prüfung" in run("estimate", "bare.parquet", "--words", "exams.toml", "--language", "de").stdout
    assert "of another survey" in run("estimate", "in/reports.parquet", "--words", "exams.toml").stderr


def test_many_categories_are_cut_with_a_count_the_largest_first(run):
    towns = [f"t{i}" for i in range(200)]
    design = dn.Joint({"town": towns}, 4.0)
    people = pa.table({"town": [f"t{i % 7 + 100}" for i in range(3000)]})
    design.randomize(people, source=dn.Seeded(1)).write("towns.parquet")
    output = run("estimate", "towns.parquet", "--top", "7").stdout
    shown = [line.split()[0] for line in output.splitlines() if line.startswith(" t1")]
    assert sorted(shown) == [f"t{100 + i}" for i in range(7)]
    assert "... and 193 smaller ones; --top 200 shows all." in output
    found = dn.estimate(dn.read_reports("towns.parquet"), "town")
    ax = found.plot(Figure().subplots(), top=7)
    assert ax.get_xlabel() == "Simulated: share of respondents (the 7 largest of 200)"
    assert len(ax.get_yticklabels()) == 7


def test_sorting_puts_the_largest_first(exams, run):
    found = dn.estimate(dn.read_reports(exams), "stress")
    order = [str(1 + place) for place in np.argsort(-found.values)]
    output = run("estimate", exams, "--table", "stress", "--sort").stdout
    assert [line.split()[0] for line in output.splitlines() if line.startswith((" 1 ", " 2 ", " 3 "))] == order


def test_several_files_are_several_waves(run):
    both = ("estimate", "in/reports.parquet", "in/reports.csv", "--table", "sex")
    data = json.loads(run(*both, "--json").stdout)
    assert data["reports"] == 8000
    assert len(data["designs"]) == 2
    sources = [dn.read_reports("in/reports.parquet"), dn.read_reports("in/reports.csv")]
    (table,) = data["tables"]
    assert "test of one common population" in table["reason"]
    shares = [cell["estimate"] for cell in table["cells"]]
    assert shares == pytest.approx(dn.estimate(sources, "sex").values.tolist())
    average = run(*both, "--average")
    assert "the average over the respondents of 2 sources" in average.stdout
    assert "8000 reports" in average.stdout
    refused = run(*both, "--by", "region")
    assert refused.exit_code != 0
    assert "--by takes one file" in refused.stderr


@pytest.mark.parametrize(
    "asked", ["incme", "sex,incme", "sex * incme", "mean(incme)", "quantiles(incme; 0.5)", "cdf(incme)"]
)
@pytest.mark.parametrize("more", [(), ("--by", "region"), ("--json",), ("in/reports.csv",)])
def test_a_misspelt_attribute_is_told_as_one(run, asked, more):
    """Not as one that too few have answered."""
    result = run("estimate", "in/reports.parquet", *more, "--table", asked)
    assert result.exit_code != 0
    assert "there is no attribute 'incme'" in result.stderr
    assert "did you mean 'income'?" in " ".join(result.stderr.split())

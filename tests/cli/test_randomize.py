"""`deniable randomize`: reports that read back, the promise as printed, no seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.cli.randomize import command
from deniable.designs.registry import DESIGNS

BASE = ("randomize", "in/people.parquet", "--domain", "in/domain.toml", "--epsilon", "2", "-o", "out.parquet")


@pytest.mark.parametrize("kind", sorted(set(DESIGNS) - {"paired", "paired_items"}))
def test_every_design_gives_reports_that_read_back(kind, run):
    extra = ("--cluster", "sex,income", "--cluster", "age") if kind == "clusters" else ()
    result = run(*BASE, "--design", kind, "--keep", "region", *extra)
    assert result.exit_code == 0, result.output
    reports = dn.read_reports("out.parquet")
    assert reports.design.kind == kind
    assert reports.n == 4000
    assert 1.99 < reports.design.epsilon <= 2.0
    assert all(line in result.stdout for line in reports.design.describe().lines())
    assert result.stderr == ""


PAIRED = (*BASE[:5], "6", "--attribute", "sex", "--attribute", "income", "--design", "paired", *BASE[6:])


def test_paired_rows_are_charged_for_whoever_knows_the_coins(run):
    result = run(*PAIRED, "--p", "0.7", "--rho", "-0.1", "--keep", "region")
    assert result.exit_code == 0, result.output
    reports = dn.read_reports("out.parquet")
    assert (reports.design.kind, reports.n, reports.pairs) == ("paired", 4000, 2000)
    assert reports.public_names == ("region",)
    assert "Against a partner or a matching server who knows the shared coin" in result.stdout
    assert "disguised by whoever held the table" in result.stdout
    again = run(*PAIRED, "--p", "0.7", "--rho", "-0.1")
    assert (again.exit_code, "spend their epsilon a second time" in again.stderr) == (6, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((*PAIRED, "--p", "0.7"), "--design paired needs --rho: How partners depend on each other"),
        ((*PAIRED, "--p", "0.99", "--rho", "-0.001"), "--p: whoever knows the coins of a pair learns epsilon"),
        (
            (*BASE, "--p", "0.7"),
            "--p belongs to --design paired and --design paired_items, not to --design optimal: leave it out",
        ),
        ((*BASE, "--design", "blocks", "--rho", "-0.1"), "--rho belongs to --design paired and"),
        ((*BASE, "--cluster", "sex,income"), "--cluster belongs to --design clusters"),
        ((*BASE, "--design", "blocks", "--cluster", "sex,income"), "--cluster belongs to --design clusters"),
        ((*PAIRED, "--p", "0.7", "--rho", "-0.1", "--block-size", "3"), "--block-size belongs to --design blocks"),
        ((*BASE, "--design", "optimal", "--made", "xx"), "--made: "),
        ((*BASE, "--design", "joint", "--k", "2"), "--k belongs to --design blocks and --design views, not to"),
        ((*BASE, "--design", "sampled", "--answer", "one"), "--answer belongs to --design blocks and"),
        ((*BASE, "--design", "independent", "--phi", "9"), "--phi belongs to --design blocks"),
        ((*BASE, "--design", "views", "--k", "0"), "--k: Expected 'int' >= 1; found 0"),
        ((*BASE, "--design", "views", "--k", "9"), "--k: a view combines between 1 and 3 attributes, not 9"),
        ((*BASE, "--design", "blocks", "--design-keep", "0.5"), "--design-keep: goes with mode"),
        ((*BASE, "--design", "joint", "--respondents", "9"), "--respondents: how many respondents are planned"),
        ((*BASE, "--guess", "sex=1"), "--guess: the guess of 'sex' must be 2 shares"),
        ((*BASE, "--guess", "sex"), "write shares in the order of the categories"),
        ((*BASE, "--table", "sex,nothing"), "nothing"),
        ((*BASE[:4], *BASE[6:]), "say how much a person's whole report may tell, as --epsilon 2"),
        ((*BASE, "--design", "blocks", "--keep", "nothing"), "no column 'nothing'"),
        ((*BASE[:-1], "out.csv", "--design", "blocks"), "written to a .parquet file"),
    ],
)
def test_what_does_not_go_together_is_refused(options, told, run):
    result = run(*options)
    assert result.exit_code != 0
    assert told in result.stderr
    assert not Path("out.parquet").exists()


def test_every_option_of_a_design_is_an_option_of_the_command(run):
    fields = {f"design_{name}" for kind in DESIGNS for name in DESIGNS[kind].Options.__struct_fields__}
    assert {option.name for option in command.params if option.name.startswith("design_")} == fields
    flags = [flag for option in command.params for flag in option.opts]
    assert len(set(flags)) == len(flags)
    given = ("--k", "1", "--answer", "all", "--phi", "0.4", "--block-size", "300")
    result = run(*BASE, "--design", "blocks", *given)
    assert result.exit_code == 0, result.output
    design = dn.read_reports("out.parquet").design
    assert (design.k, design.answer, float(design.phi), design.block_size) == (1, "all", 0.4, 300)


def test_what_is_wanted_decides_about_the_design(run):
    result = run(*BASE, "--design", "tables", "--table", "sex,income", "--channel", "least_variance")
    assert result.exit_code == 0, result.output
    asked = [question.name for question in dn.read_reports("out.parquet").design.questions]
    assert asked == ["sex*income", "age"]  # what nobody spoke of counts with its shares
    more = ("--wanted", "mean(age)", "--attribute", "age", "--guess", "age=2,1,1", "--again")
    told = run(*BASE[:-1], "guessed.parquet", *more)
    assert "at your guess" in told.stdout, told.output


SURVEY = """
format = 1
name = "people"
title = "People"
epsilon = 2.0
tables = [["sex", "income"]]

[design]
kind = "clusters"
clusters = [["sex", "income"], ["age"]]

[[questions]]
name = "sex"
text = "?"
choices = ["F", "M"]

[[questions]]
name = "income"
text = "?"
choices = ["<=50K", ">50K"]

[[questions]]
name = "age"
text = "?"
choices = ["young", "middle", "old"]
"""


def test_a_survey_file_says_all_of_it_unless_something_else_is_said(run):
    Path("survey.toml").write_text(SURVEY, encoding="utf-8")
    survey = dn.read_survey("survey.toml")
    base = ("randomize", "in/people.parquet", "--domain", "survey.toml", "--again")
    assert run(*base, "-o", "own.parquet").exit_code == 0
    assert dn.read_reports("own.parquet").design == survey.design
    assert run(*base, "--epsilon", "3", "--channel", "unary", "-o", "louder.parquet").exit_code == 0
    design = dn.Clusters(survey.domain, [["sex", "income"], ["age"]], 3.0, channel="unary")
    assert dn.read_reports("louder.parquet").design == design
    assert run(*base, "--design", "tables", "-o", "tables.parquet").exit_code == 0
    assert [q.name for q in dn.read_reports("tables.parquet").design.questions] == ["sex*income", "age"]


def test_csv_gives_the_same_design(run):
    run(*BASE)
    run("randomize", "in/people.csv", "--domain", "in/domain.toml", "--epsilon", "2", "-o", "csv.parquet", "--again")
    assert dn.read_reports("csv.parquet").design == dn.read_reports("out.parquet").design


def test_an_inferred_domain_is_warned_of_and_recorded(run):
    arguments = ("--infer-domain", "--attribute", "sex", "--attribute", "income", "--epsilon", "2", "-o", "out.parquet")
    result = run("randomize", "in/people.parquet", *arguments)
    assert result.exit_code == 0, result.output
    assert "Warning: The categories were read off the data" in result.stderr
    reports = dn.read_reports("out.parquet")
    assert "read off the data" in str(reports.describe())
    assert list(reports.design.domain) == ["sex", "income"]


def test_public_columns_that_single_people_out_are_warned_of(run):
    frame = dn.read_reports("in/reports.parquet").public.to_native().to_pandas()
    frame["sex"], frame["who"] = "F", np.arange(len(frame))
    frame.to_parquet("p.parquet")
    Path("d.toml").write_text('sex = ["F", "M"]')
    result = run("randomize", "p.parquet", "--domain", "d.toml", "--epsilon", "1", "--keep", "who", "-o", "o.parquet")
    assert "4000 combinations of the public columns 'who'" in result.stderr


@pytest.mark.parametrize("kind", ["views", "blocks"])
def test_a_public_column_named_twice_rides_along_once(kind, run):
    result = run(*BASE, "--design", kind, "--keep", "region", "--keep", "school", "--keep", "region")
    assert result.exit_code == 0, result.output
    assert dn.read_reports("out.parquet").public_names == ("region", "school")
    assert "Traceback" not in result.output


def test_json(run):
    data = json.loads(run(*BASE, "--json").stdout)
    assert data["reports"] == 4000
    assert data["design"] == dn.read_reports("out.parquet").design.id


def test_two_runs_differ_and_there_is_no_seed(run):
    run(*BASE)
    told = run(*BASE[:-1], "other.parquet")
    assert (told.exit_code, "say --again" in told.stderr) == (6, True)
    told = run(*BASE[:-1], "other.parquet", "--again")
    assert "disguised once before; together these disguises tell epsilon" in told.stdout
    one, other = (dn.read_reports(name).answers for name in ("out.parquet", "other.parquet"))
    assert not np.array_equal(one, other)
    assert not [option for option in command.params if "seed" in option.name or "source" in option.name]


def test_run_again_it_refuses(run):
    run(*BASE)
    result = run(*BASE)
    assert result.exit_code == 6
    assert "spend their epsilon a second time" in result.stderr


def test_the_header_says_what_the_reports_are_for(run):
    wanted = ("--table", "sex,income", "--wanted", "mean(age)")
    assert run(*BASE[:-1], "aims.parquet", *wanted).exit_code == 0
    reports = dn.read_reports("aims.parquet")
    assert reports.labels.aims == ("sex * income", "mean(age)")
    assert "mean(age)" in run("estimate", "aims.parquet").output  # without the words of any file


def test_a_survey_s_words_come_along_with_the_public_answers_that_they_speak_of(run):
    survey = """format = 1
name = "people"
title = "People"
epsilon = 2.0

[[questions]]
name = "sex"
text = "Are you a woman?"
kind = "choice"
choices = ["F", "M"]

[[public]]
name = "region"
text = "Where do you live?"
choices = ["north", "south"]
"""
    Path("s.toml").write_text(survey)
    people = pd.DataFrame({"sex": ["F", "M"] * 30, "region": ["north"] * 30 + ["south"] * 30})
    for name, options, question in (("a", (), "sex"), ("b", ("--keep", "region"), "Are you a woman?")):
        people.assign(other=name).iloc[: 40 + len(options)].to_parquet(f"{name}.parquet")
        done = run("randomize", f"{name}.parquet", "--domain", "s.toml", *options, "-o", f"{name}-out.parquet")
        assert done.exit_code == 0, done.output
        labels = dn.read_reports(f"{name}-out.parquet").labels
        assert labels.aims == ("sex",)
        assert labels.question("sex") == question

"""`deniable plan`: designs side by side before anybody is asked."""

from __future__ import annotations

import json
from pathlib import Path

import deniable as dn
from deniable.surveys.survey import read_survey
from exams import EXAMS, TOGETHER
from small_survey import question, survey_file

BASE = ("plan", "in/domain.toml", "--epsilon", "2", "--n", "10000", "--table", "sex,income")


def test_the_numbers_are_the_library_s(run):
    from deniable.planning.forecast import plan

    data = json.loads(run(*BASE, "--json").stdout)
    domain = dn.Domain({"sex": ["F", "M"], "income": ["<=50K", ">50K"], "age": ["young", "middle", "old"]})
    forecast = plan(domain, 2.0, [["sex", "income"]], 10_000)
    assert data["recommended"] == forecast.candidates[0].name
    assert data["candidates"][0]["std_error"] == list(forecast.candidates[0].std_error)


def test_it_is_a_page_to_read(run):
    result = run(*BASE, "--error", "0.01")
    assert result.exit_code == 0, result.output
    assert "Recommended:" in result.stdout
    assert "A standard error of 1.00% for sex x income:" in result.stdout
    assert "can shift anybody's odds" in result.stdout


def test_the_needed_respondents_give_the_wanted_error(run):
    needed = json.loads(run(*BASE, "--error", "0.01", "--json").stdout)["needed"][0]
    again = json.loads(run(*BASE[:5], str(needed), *BASE[6:], "--json").stdout)
    assert 0.0098 < again["candidates"][0]["std_error"][0] < 0.0101


def test_a_plot_is_an_svg_file(run):
    assert run(*BASE, "--plot", "p.svg").exit_code == 0
    assert "<svg" in Path("p.svg").read_text()


def test_a_survey_file_says_epsilon_and_tables(run):
    assert run("new").exit_code == 0
    data = json.loads(run("plan", "survey.toml", "--n", "2000", "--json").stdout)
    survey = dn.read_survey("survey.toml")
    assert data["epsilon"] == survey.epsilon
    assert data["tables"] == [["cannabis", "sleep"], ["drinks"], ["born_abroad"], ["well_water"]]
    assert {name for table in data["tables"] for name in table} == set(survey.domain)


def test_many_tables_are_numbered_on_a_narrow_screen(run):
    from click.testing import CliRunner

    from deniable.cli.app import app

    assert run("new").exit_code == 0
    arguments = ["plan", "survey.toml", "--n", "2000"]
    narrow = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"}).stdout
    assert "1: cannabis x sleep, 2: drinks, 3: born_abroad, 4: well_water." in narrow
    assert "tables" in narrow
    assert "4: well_water" not in CliRunner().invoke(app, arguments, env={"COLUMNS": "150"}).stdout


def test_what_another_epsilon_would_give(run):
    result = run(*BASE)
    double = json.loads(run(*BASE[:3], "4", *BASE[4:], "--json").stdout)
    best = double["candidates"][0]["std_error"][0]
    row = next(line.split() for line in result.stdout.splitlines() if line.split()[1:2] == ["4"])
    assert row[2] == f"{best:.2%}"
    # Rounded up: what is printed as a promise is never better than the true one.
    assert 0 <= float(row[3]) - double["odds_factor"] < 0.0101
    assert 0 <= float(row[4].rstrip("%")) / 100 - double["belief_after_5_percent"] < 0.0011


def test_without_a_wanted_error_the_usual_ones_are_shown(run):
    printed = run(*BASE).stdout
    for error in (0.05, 0.02, 0.01):
        needed = json.loads(run(*BASE, "--error", error, "--json").stdout)["needed"][0]
        assert f" {needed}" in printed


def test_the_survey_s_own_design_is_judged_and_the_recommended_one_written(run):
    Path("own.toml").write_text(EXAMS.replace("DESIGN", TOGETHER), encoding="utf-8")
    result = run("plan", "own.toml", "--n", "2000", "-o", "better.toml")
    assert result.exit_code == 0, result.output
    assert "as in the file" in result.stdout
    better, before = read_survey("better.toml"), read_survey("own.toml")
    data = json.loads(run("plan", "own.toml", "--n", "2000", "--json").stdout)
    assert data["candidates"][0]["design"] == better.design.id
    assert (better.labels, better.epsilon) == (before.labels, before.epsilon)
    data = json.loads(run("plan", "better.toml", "--n", "2000", "--json").stdout)
    assert data["candidates"][0]["design"] == better.design.id
    assert "already there" in run("plan", "own.toml", "--n", "2000", "-o", "better.toml").stderr
    refused = run("plan", "in/domain.toml", "--epsilon", "1", "--n", "9", "-o", "x.toml").stderr
    assert "is no survey file" in refused
    assert "`deniable new` writes one to begin with" in refused


BLOCKS = """[design]
kind = "blocks"
k = 2
"""
PAIRS = """[design]
kind = "paired"
p = 0.6
rho = -0.02
accept = "a partner who knows the coin"
"""
YES_NO = """
format = 1
name = "pairs"
title = "Pairs"
epsilon = 2.0

[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"

[[questions]]
name = "drinks"
text = "Do you drink?"
kind = "yes-no"

"""


def test_a_survey_in_pairs_is_judged_and_one_in_blocks_says_why_it_is_not(run):
    for name, design in (("pairs", PAIRS), ("blocks", BLOCKS)):
        Path(f"{name}.toml").write_text(YES_NO + design, encoding="utf-8")
    pairs, blocks = (run("plan", f"{name}.toml", "--n", "2000") for name in ("pairs", "blocks"))
    assert (pairs.exit_code, blocks.exit_code) == (0, 0)
    assert "as in the file" in pairs.stdout
    assert "in blocks" not in pairs.stdout
    assert "as in the file" not in blocks.stdout
    assert "The file's own design is in blocks, and is not judged here" in " ".join(blocks.stdout.split())
    asked = ("pairs.toml", True), ("blocks.toml", False)
    for name, judged in asked:
        data = json.loads(run("plan", name, "--n", "2000", "--json").stdout)
        assert data["own_design_judged"] is judged
        assert ("as in the file" in [one["name"] for one in data["candidates"]]) is judged
        assert data["recommended"] != "as in the file"
        assert run("plan", name, "--n", "2000", "-o", f"better-{name}").exit_code == 0
        assert read_survey(f"better-{name}").design.id == data["candidates"][0]["design"]
    assert json.loads(run(*BASE, "--json").stdout)["own_design_judged"] is None


GUESSED = survey_file(
    "trust",
    question("smokes", "Do you smoke?", "yes-no"),
    question("trust", "Do you trust the post office?", "scale", first=1, last=4),
    epsilon=1.0,
    wanted=["mean(trust)"],
    design={"kind": "sampled"},
)


def test_a_guess_is_planned_at_and_kept(run):
    Path("even.toml").write_text(GUESSED, encoding="utf-8")
    even = json.loads(run("plan", "even.toml", "--n", "2000", "--json").stdout)
    given = ("--guess", "smokes=0.9,0.1", "--guess", "trust=6,2,1,1")
    done = run("plan", "even.toml", "--n", "2000", *given, "-o", "guessed.toml", "--json")
    found = json.loads(done.stdout)
    assert found["guess"] == {"smokes": [0.9, 0.1], "trust": [6.0, 2.0, 1.0, 1.0]}
    assert found["recommended"] == "optimal"
    assert found["candidates"][0]["error"] < even["candidates"][0]["error"]
    written = dn.read_survey("guessed.toml")
    assert written.guess == {"smokes": (0.9, 0.1), "trust": (6.0, 2.0, 1.0, 1.0)}
    assert written.design.id == found["candidates"][0]["design"]
    assert "at your guess" in str(written.design.describe())
    # The file's own guess is what is planned at next, and stays in what is written.
    again = run("plan", "guessed.toml", "--n", "2000", "-o", "again.toml", "--json")
    assert json.loads(again.stdout)["guess"] == found["guess"]
    assert dn.read_survey("again.toml").guess == written.guess
    for wrong, told in (("smokes=a,b", "as smokes=0.8,0.2"), ("smokes=1", "2 shares"), ("drinks=1,2", "not among")):
        refused = run("plan", "even.toml", "--n", "2000", "--guess", wrong)
        assert refused.exit_code == 3
        assert told in refused.stderr

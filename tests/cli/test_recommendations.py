"""Whatever a plan proposes is made by the very next command, and by a survey file, to the last integer."""

from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path

import pytest

import deniable as dn
from deniable.cli.design_options import in_words
from deniable.designs.registry import DESIGNS
from deniable.errors import SurveyError
from deniable.surveys.survey import parse_survey, with_design

N, EPSILON = 2000, 1.5
CATEGORIES = {"sex": ("F", "M"), "income": ("<=50K", ">50K"), "age": ("young", "middle", "old")}
TABLES = [("sex", "income"), ("age",)]


def survey(names, tables):
    """A survey file that asks these attributes, and wants these tables."""
    asked = "".join(
        f'[[questions]]\nname = {json.dumps(name)}\ntext = "?"\nchoices = {json.dumps(CATEGORIES[name])}\n'
        for name in names
    )
    head = f'format = 1\nname = "people"\ntitle = "?"\nepsilon = {EPSILON}\ntables = {json.dumps(tables)}\n'
    return head + asked


# What is asked, wanted and guessed: together their plans have every kind that is ever proposed.
EVERY = tuple(CATEGORIES)
PLANS = {
    "tables": (EVERY, TABLES, None),
    "shares": (("sex", "income"), [("sex",), ("income",)], None),
    "pairs": (EVERY, [("sex", "income"), ("sex", "age")], None),
    "guess": (EVERY, TABLES, {"sex": (0.7, 0.3), "age": (0.2, 0.4, 0.4)}),
}


@cache
def proposed(what):
    names, tables, guess = PLANS[what]
    domain = dn.Domain({name: CATEGORIES[name] for name in names})
    return dn.plan(domain, EPSILON, tables, N, truth=guess).candidates


def test_every_kind_that_is_proposed_is_among_them():
    found = {one.kind for what in PLANS for one in proposed(what)}
    assert found == {kind for kind in DESIGNS if "propose" in vars(DESIGNS[kind])}


@pytest.mark.parametrize("what", PLANS)
def test_a_proposal_is_what_the_command_makes(what, run):
    names, tables, _ = PLANS[what]
    words = [f"--attribute={name}" for name in names] + [f"--table={','.join(table)}" for table in tables]
    asked = ("randomize", "in/people.parquet", "--domain=in/domain.toml", f"--epsilon={EPSILON}", "--again", *words)
    for place, one in enumerate(proposed(what)):
        result = run(*asked, *shlex.split(in_words(one.kind, one.options)), "-o", f"{place}.parquet")
        assert result.exit_code == 0, (one.name, result.output)
        assert dn.read_reports(f"{place}.parquet").design == one.design, one.name


@pytest.mark.parametrize("what", PLANS)
def test_a_proposal_is_what_a_survey_file_makes(what):
    names, tables, _ = PLANS[what]
    for one in proposed(what):
        text = with_design(survey(names, tables), one.kind, one.options)
        if one.is_correlated:  # whom it is weak against must be accepted in so many words
            text += '\naccept = "a partner who knows the coin"'
        if one.covers_all:
            assert parse_survey(text).design == one.design, one.name
        else:
            with pytest.raises(SurveyError, match="cannot be recovered"):
                parse_survey(text)


@pytest.mark.parametrize(
    "asked",
    [
        ("in/domain.toml", "--epsilon", "2"),
        ("in/domain.toml", "--epsilon", "2", "--table", "sex,income", "--wanted", "mean(age) weight 2"),
        ("in/domain.toml", "--epsilon", "0.7", "--table", "sex,income"),
        ("in/domain.toml", "--epsilon", "1", "--guess", "sex=0.7,0.3", "--guess", "age=2,4,4"),
        ("survey.toml",),
        ("survey.toml", "--epsilon", "0.9", "--table", "income,age"),
    ],
)
def test_the_command_that_a_plan_prints_makes_what_it_recommends(asked, run):
    Path("survey.toml").write_text(survey(CATEGORIES, TABLES), encoding="utf-8")
    printed = run("plan", *asked, "--n", str(N))
    assert printed.exit_code == 0, printed.output
    data = json.loads(run("plan", *asked, "--n", str(N), "--json").stdout)
    assert data["command"] in printed.stdout
    words = shlex.split(data["command"].replace("people.parquet", "in/people.parquet"))
    assert words[0] == "deniable"
    result = run(*words[1:])
    assert result.exit_code == 0, result.output
    assert dn.read_reports("reports.parquet").design.id == data["candidates"][0]["design"]


def test_a_survey_file_is_written_as_it_is_but_for_the_design(run):
    Path("survey.toml").write_text(survey(CATEGORIES, TABLES), encoding="utf-8")
    for more in (("--epsilon", "0.9"), ("--table", "income,age"), ("--wanted", "mean(age)")):
        refused = run("plan", "survey.toml", "--n", str(N), *more, "-o", "better.toml")
        assert (refused.exit_code, "are said in the file itself" in " ".join(refused.stderr.split())) == (3, True)
    assert run("plan", "survey.toml", "--n", str(N), "-o", "better.toml").exit_code == 0
    result = run("randomize", "in/people.parquet", "--domain", "better.toml", "-o", "out.parquet")
    assert result.exit_code == 0, result.output
    assert dn.read_reports("out.parquet").design == dn.read_survey("better.toml").design

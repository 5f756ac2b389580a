"""`deniable new`: a survey file to start from, or out of another program's questionnaire."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.cli.new import example_text
from deniable.surveys.survey import parse_survey

FORM = {
    "title": "Health",
    "elements": [
        {"type": "radiogroup", "name": "smokes", "title": "Do you smoke?", "choices": ["never", "daily"]},
        {"type": "boolean", "name": "drinks", "title": "Do you drink?"},
        {"type": "comment", "name": "why\u0007not"},
    ],
}


@pytest.fixture
def form(run):
    Path("form.json").write_text(json.dumps(FORM), encoding="utf-8")
    return run


def test_without_anything_it_is_the_example(run):
    result = run("new")
    assert result.exit_code == 0
    assert result.stdout == "Wrote survey.toml. Edit it, then: deniable serve survey.toml\n"
    assert Path("survey.toml").read_text(encoding="utf-8") == example_text()


def test_a_questionnaire_is_taken_over_and_what_is_not_is_said(form):
    result = form("new", "--from", "form.json", "--epsilon", "1.5", "-o", "health.toml")
    assert result.exit_code == 0, result.output
    text = Path("health.toml").read_text(encoding="utf-8")
    survey = parse_survey(text)
    assert (survey.name, survey.epsilon, list(survey.domain)) == ("form", 1.5, ["smokes", "drinks"])
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert comments[0].startswith("# Made from form.json.")
    assert "is left out: what is typed freely cannot be disguised" in " ".join(comments)
    assert "is left out" in result.stderr
    assert result.stdout == "Wrote health.toml. Edit it, then: deniable serve health.toml\n"


def test_nothing_left_out_is_said_too(run):
    asked = [{**element, "isRequired": True} for element in FORM["elements"][:2]]
    Path("form.json").write_text(json.dumps({"elements": asked}), encoding="utf-8")
    result = run("new", "--from", "form.json", "--json")
    assert json.loads(result.stdout) == {"output": "survey.toml", "left_out": []}
    assert "# Every question was taken over.\n" in Path("survey.toml").read_text(encoding="utf-8")


def test_an_excel_form_can_be_planned_with_at_once(run):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "survey"
    for row in (["type", "name", "label"], ["select_one yn", "smokes", "Do you smoke?"]):
        book.active.append(row)
    lists = book.create_sheet("choices")
    for row in (["list_name", "name", "label"], ["yn", "y", "Yes"], ["yn", "n", "No"]):
        lists.append(row)
    book.save("form.xlsx")
    assert run("new", "--from", "form.xlsx").exit_code == 0
    planned = json.loads(run("plan", "survey.toml", "--n", "1000", "--json").stdout)
    assert planned["epsilon"] == 2.0
    assert planned["tables"] == [["smokes"]]


def test_only_force_overwrites(form):
    Path("survey.toml").write_text("precious", encoding="utf-8")
    assert form("new", "--from", "form.json").exit_code == 3
    assert Path("survey.toml").read_text(encoding="utf-8") == "precious"
    assert form("new", "--from", "form.json", "--force").exit_code == 0
    assert parse_survey(Path("survey.toml").read_text(encoding="utf-8")).title == {"en": "Health"}


def test_a_form_that_cannot_be_read_does_not_touch_the_file_it_would_overwrite(run):
    Path("survey.toml").write_text("precious", encoding="utf-8")
    Path("form.json").write_text("{", encoding="utf-8")
    assert run("new", "--from", "form.json", "--force").exit_code == 3
    assert Path("survey.toml").read_text(encoding="utf-8") == "precious"

"""Questionnaires of other programs: what can be disguised is taken over, the rest is named."""

from __future__ import annotations

import copy
import json

import pytest

from chequered import one_of
from deniable.errors import InputError
from deniable.surveys.importing.import_survey import import_survey
from deniable.surveys.survey import parse_survey

SURVEYJS = {
    "title": {"default": "Health", "de": "Gesundheit"},
    "pages": [
        {
            "elements": [
                {"type": "html", "name": "hello", "html": "<p>Hello</p>"},
                {
                    "type": "radiogroup",
                    "name": "smokes",
                    "title": {"default": 'Do you "smoke"?', "de": "Rauchen Sie?"},
                    "choices": [
                        {"value": "never", "text": {"default": "Never", "de": "Nie"}},
                        {"value": "daily", "text": {"default": "Daily", "de": "Täglich"}},
                    ],
                },
                {"type": "panel", "elements": [{"type": "boolean", "name": "drinks", "title": "Do you drink?"}]},
            ]
        },
        {
            "elements": [
                {"type": "rating", "name": "sleep", "title": "How do you sleep?", "rateMax": 7},
                {
                    "type": "dropdown",
                    "name": "2nd job",
                    "choices": ["no", "yes", "prefer"],
                    "visibleIf": "{smokes}='x'",
                },
                {"type": "comment", "name": "why"},
                {"type": "checkbox", "name": "drugs", "choices": ["a", "b"]},
                {"type": "radiogroup", "name": "country", "choicesByUrl": {"url": "x"}},
            ]
        },
    ],
}


def test_surveyjs(tmp_path):
    (tmp_path / "My Health.json").write_text(json.dumps(SURVEYJS), encoding="utf-8")
    found = import_survey(tmp_path / "My Health.json", epsilon=2.0)
    survey = parse_survey(found.text)
    assert survey.name == "my-health"
    assert survey.languages == ("en", "de")
    assert survey.title == {"en": "Health", "de": "Gesundheit"}
    assert [(i.name, i.kind, len(i.options)) for i in survey.questions] == [
        ("smokes", "choice", 2),
        ("drinks", "yes-no", 2),
        ("sleep", "scale", 7),
        ("_2nd_job", "choice", 3),
    ] or survey.questions[3].name == "q_2nd_job"
    assert survey.questions[0].text["de"] == "Rauchen Sie?"
    told = " ".join(found.left_out)
    for name in ("'why' is left out", "'drugs' is left out", "'country' is left out", "'2nd job'", "visibleIf"):
        assert name in told


def told(questions, tmp_path, **about):
    """The imported questions by name, and what is said of the others."""
    needed = {"isRequired": True}
    elements = [{**needed, **question} for question in questions] + [{**needed, "type": "boolean", "name": "last"}]
    (tmp_path / "q.json").write_text(json.dumps({"elements": elements, **about}))
    found = import_survey(tmp_path / "q.json", epsilon=1.0)
    survey = parse_survey(found.text)
    return {item.name: item for item in survey.questions}, list(found.left_out)


def test_a_matrix_is_a_question_for_every_row(tmp_path):
    matrix = {
        "type": "matrix",
        "name": "trust",
        "title": {"default": "Do you trust", "de": "Vertrauen Sie"},
        "columns": ["no", {"value": "yes", "text": {"default": "Yes", "de": "Ja"}}],
        "rows": [{"value": "police", "text": {"default": "the police", "de": "der Polizei"}}, "courts"],
    }
    asked, said = told([matrix], tmp_path)
    assert list(asked) == ["trust_police", "trust_courts", "last"]
    assert asked["trust_police"].text == {"en": "Do you trust: the police", "de": "Vertrauen Sie: der Polizei"}
    assert asked["trust_courts"].text["de"] == "Vertrauen Sie: courts"
    assert said == []


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ({"type": "rating", "rateMin": 0, "rateMax": 10, "rateStep": 2}, ["0", "2", "4", "6", "8", "10"]),
        ({"type": "rating", "rateCount": 3}, ["1", "2", "3"]),
        ({"type": "slider", "min": 0, "max": 100, "step": 50}, ["0", "50", "100"]),
        ({"type": "boolean", "labelTrue": "Agreed", "labelFalse": "Refused"}, ["no", "yes"]),
    ],
)
def test_steps_and_words_are_those_of_the_questionnaire(question, answers, tmp_path):
    asked, said = told([{"name": "q", **question}], tmp_path)
    assert [option.value for option in asked["q"].options] == answers
    if question["type"] == "boolean":
        assert [option.text["en"] for option in asked["q"].options] == ["Refused", "Agreed"]
    assert said == []


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"type": "text", "inputType": "number"}, "a number needs bins"),
        ({"type": "text", "inputType": "date"}, "a list of periods"),
        ({"type": "text"}, "typed freely"),
        ({"type": "slider", "max": 10**30}, "at most 101 steps"),
        ({"type": "rating", "rateMin": 5, "rateMax": 5}, "goes up"),
        ({"type": "paneldynamic", "templateElements": []}, "asked as often"),
        ({"type": "matrix", "columns": ["a", "b"]}, "a matrix needs rows"),
        ({"type": "html"}, "it asks nothing"),
        ({"type": "imagepicker", "multiSelect": True, "choices": ["a", "b"]}, "several answers at once"),
        ({"type": "hologram"}, "'hologram' are not known here"),
    ],
)
def test_what_cannot_be_taken_is_said_with_the_true_reason(question, why, tmp_path):
    asked, (said,) = told([{"name": "q", **question}], tmp_path)
    assert list(asked) == ["last"]
    assert said.startswith("'q' is left out: ")
    assert why in said


def test_what_changes_is_said(tmp_path):
    panel = {
        "type": "panel",
        "visibleIf": "{a} = 1",
        "elements": [{"type": "boolean", "name": "b c", "isRequired": True, "description": "Think."}],
    }
    questions = [panel, {"type": "boolean", "name": "b-c", "isRequired": False}]
    asked, said = told(questions, tmp_path, triggers=[{"type": "skip"}])
    assert list(asked) == ["b_c", "b_c_2", "last"]
    for sentence in (
        "'b c' is asked of everybody here",
        "'b-c' is called 'b_c_2' here: the name was taken",
        "The triggers are left out",
        "'b-c' could be left unanswered; whoever is asked answers here",
        "What explained 'b c' beside the question is left out",
    ):
        assert sum(sentence in line for line in said) == 1, sentence


def test_incomplete_translations_are_named(tmp_path):
    questionnaire = {
        "title": {"default": "Health", "fr": "Santé"},
        "elements": [
            {"type": "boolean", "name": "smokes", "title": {"default": "Do you smoke?", "de": "Rauchen Sie?"}}
        ],
    }
    (tmp_path / "q.json").write_text(json.dumps(questionnaire))
    found = import_survey(tmp_path / "q.json", epsilon=1.0)
    assert parse_survey(found.text).languages == ("en",)
    assert "The texts in de, fr are left out" in found.left_out[0]


@pytest.fixture
def xlsform(tmp_path):
    import openpyxl

    def write(survey, choices=(), settings=None):
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "survey"
        for row in survey:
            sheet.append(row)
        lists = book.create_sheet("choices")
        for row in choices:
            lists.append(row)
        if settings:
            about = book.create_sheet("settings")
            for row in settings:
                about.append(row)
        book.save(tmp_path / "form.xlsx")
        return tmp_path / "form.xlsx"

    return write


def test_what_a_form_s_groups_and_rules_do_is_said(xlsform):
    path = xlsform(
        [
            ["type", "name", "label::English", "required", "relevant", "choice_filter", "hint"],
            ["begin_group", "g", "Group", None, "${x} = 1"],
            ["select_one yn or_other", "smokes", "Do you smoke?", "yes", None, "x=1", "Think."],
            ["end_group"],
            ["begin repeat", "r"],
            ["select_one yn", "child", "Does the child?"],
            ["end repeat"],
            ["select_one yn", "drinks", "Do you drink?"],
            ["geopoint", "home", "Where?"],
            ["date", "born", "When?"],
            ["note", "bye", "Bye"],
        ],
        [["list_name", "name", "label::English"], ["yn", "y", "Yes"], ["yn", "n", "No"]],
    )
    found = import_survey(path, epsilon=1.5)
    assert [item.name for item in parse_survey(found.text).questions] == ["smokes", "drinks"]
    for sentence in (
        "label::English'",
        "'smokes' is asked of everybody here",
        "'smokes' had an \"other\" answer",
        "'smokes' offers all its answers here",
        "What explained 'smokes'",
        "'drinks' could be left unanswered",
        "'child' is left out: it is asked as often",
        "'home' is left out: a place",
        "'born' is left out: a date",
        "'bye' is left out: it asks nothing",
    ):
        assert sum(sentence in line for line in found.left_out) == 1, (sentence, found.left_out)


def test_xlsform(xlsform):
    path = xlsform(
        [
            ["type", "name", "label::English (en)", "label::Deutsch (de)", "relevant", "parameters"],
            ["start", "start"],
            ["begin group", "g", "Group"],
            ["select_one yn", "smokes", "Do you smoke?", "Rauchen Sie?"],
            ["select_one grade", "school", "How far?", "Wie weit?", "${smokes} = 'y'"],
            ["end group"],
            ["range", "sleep", "Sleep?", "Schlaf?", None, "start=1 end=5 step=1"],
            ["integer", "age", "Age?", "Alter?"],
            ["select_multiple yn", "drugs", "Drugs?", "Drogen?"],
            ["note", "bye", "Bye", "Tschüss"],
        ],
        [
            ["list_name", "name", "label::English (en)", "label::Deutsch (de)"],
            ["yn", "y", "Yes", "Ja"],
            ["yn", "n", "No", "Nein"],
            ["grade", 1, "One", "Eins"],
            ["grade", 2, "Two", "Zwei"],
        ],
        [["form_title"], ["A form"]],
    )
    found = import_survey(path, epsilon=1.5)
    survey = parse_survey(found.text)
    assert survey.title == {"en": "A form", "de": "A form"}
    assert survey.domain["smokes"].categories == ("y", "n")
    assert survey.domain["school"].categories == ("1", "2")
    assert survey.domain["sleep"].categories == ("1", "2", "3", "4", "5")
    assert survey.questions[0].text["de"] == "Rauchen Sie?"
    told = " ".join(found.left_out)
    assert "'age' is left out: a number needs bins" in told
    assert "'drugs' is left out" in told
    assert "'school' is asked of everybody" in told


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("q.json", "{", "not JSON"),
        ("q.json", "[]", "not a SurveyJS questionnaire"),
        ("q.json", '{"elements": [{"type": "comment", "name": "why"}]}', "none of its questions"),
        ("q.xlsx", "no", "not a readable Excel file"),
        ("q.docx", "", "imported from"),
    ],
)
def test_what_cannot_be_imported_is_refused(name, content, told, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=told):
        import_survey(tmp_path / name, epsilon=1.0)


def test_a_form_without_its_sheet_is_refused(tmp_path):
    import openpyxl

    openpyxl.Workbook().save(tmp_path / "q.xlsx")
    with pytest.raises(InputError, match="no sheet named survey"):
        import_survey(tmp_path / "q.xlsx", epsilon=1.0)
    with pytest.raises(InputError, match="there is no file"):
        import_survey(tmp_path / "absent.json", epsilon=1.0)


def places(tree, path=()):
    """Every place in a JSON tree."""
    yield path
    for key, child in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from places(child, (*path, key))


STRANGE = [None, {"a": 1}, 5, "x", [], True, "a\nb\x07", -1, {}, 1e99, [5], ""]


@pytest.mark.parametrize("value", one_of(3, STRANGE), ids=repr)
def test_whatever_is_wrong_with_it_is_taken_over_or_refused_in_words(value, tmp_path):
    """Every part of a questionnaire is replaced by something else, one after the other: no other error comes out."""
    path, outcomes = tmp_path / "q.json", set()
    for place in places(SURVEYJS):
        tree = copy.deepcopy({"": SURVEYJS})
        part, last = tree, ""
        for key in place:
            part, last = part[last], key
        part[last] = value
        path.write_text(json.dumps(tree[""]), encoding="utf-8")
        try:
            found = import_survey(path, epsilon=1.0)
        except InputError as error:
            outcomes.add(("refused, and the file named", str(path) in error.message))
        else:
            outcomes.add(("taken over", parse_survey(found.file("q\n.json")) == parse_survey(found.text)))
    assert outcomes == {("refused, and the file named", True), ("taken over", True)}


def test_an_error_names_the_question_and_not_its_place(tmp_path):
    broken = {"elements": [{"type": "dropdown", "name": "sleep", "choices": ["well", "well"]}]}
    (tmp_path / "q.json").write_text(json.dumps(broken))
    with pytest.raises(InputError, match=r"q\.json cannot be taken over: 'sleep'\.choices.*'well'"):
        import_survey(tmp_path / "q.json", epsilon=1.0)


def test_a_range_in_broken_steps_is_left_out(xlsform):
    rows = [["type", "name", "label", "parameters"], ["range", "a", "A", "start=0 end=1 step=0.5"]]
    with pytest.raises(InputError, match="ranges go in steps of one"):
        import_survey(xlsform(rows), epsilon=1.0)


def test_answers_that_a_flag_switches_on(tmp_path):
    asked = {
        "type": "radiogroup",
        "name": "drug",
        "choices": ["cannabis", "cocaine"],
        "showNoneItem": True,
        "noneText": "None of these",
        "showDontKnowItem": True,
        "showRefuseItem": True,
    }
    (tmp_path / "q.json").write_text(json.dumps({"elements": [asked]}))
    survey = parse_survey(import_survey(tmp_path / "q.json", epsilon=1.0).text)
    (drug,) = survey.questions
    assert [option.text["en"] for option in drug.options][:4] == ["cannabis", "cocaine", "None of these", "Don't know"]
    assert survey.domain["drug"].categories[:4] == ("cannabis", "cocaine", "none", "dontknow")
    assert len(drug.options) == 5  # and not answering, which is an answer

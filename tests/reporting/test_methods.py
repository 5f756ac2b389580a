"""The paper's paragraphs: true of the design they are about, in both languages; silent about what it does not do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.device.statement import rounded_up
from deniable.errors import InputError
from deniable.reporting.markdown import markdown
from deniable.reporting.methods import Facts, facts_of_reports, facts_of_survey, methods
from deniable.reporting.methods_words import SENTENCES
from deniable.reporting.sources import _SOURCES, cited
from exams import EXAMS, TOGETHER, answered, exams


def written(design="", language="en"):
    return markdown(methods(facts_of_survey(exams(design), language)))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_numbers_are_the_design_s_own_rounded_up(language):
    survey, text = exams(), written(language=language)
    stated = survey.design.describe()
    for number in (
        rounded_up(stated.epsilon, 4),
        rounded_up(stated.ratio, 3),
        rounded_up(100 * stated.posterior(0.5), 2),
        rounded_up(100 * stated.posterior(0.05), 2),
    ):
        assert (number if language == "en" else number.replace(".", ",")) in text
    truth = survey.design.questions[0].channel.matrix()[0, 0]
    assert (f"{truth:.4f}" if language == "en" else f"{truth:.4f}".replace(".", ",")) in text
    assert survey.labels.speaking(language).question("cheated") in text
    assert str(stated.ratio) in text


def test_what_a_design_does_not_do_is_not_said():
    assert "which of 2 sets of questions" in written()
    assert "sets of questions" not in written(TOGETHER)
    assert "published anew" not in written()
    assert "a set of answers" not in written()
    assert "Imran" not in written()
    assert "repeats its earlier disguise" not in written()


def test_what_travels_in_clear_is_named():
    assert "outside this bound, are the answers to: \u201cYour faculty\u201d." in written()
    assert "außerhalb dieser Grenze, sind die Antworten auf: \u201eIhre Fakultät\u201c." in written(language="de")


@pytest.mark.parametrize(("admission", "told", "unsaid"), [
    ("open", "may answer more than once", "noted which invitation"),
    ("invited", "noted which invitation went to whom", "cannot be taken back"),
    ("blind", "blindly signed admission", "noted which invitation"),
])  # fmt: skip
def test_who_may_answer(admission, told, unsaid):
    text = written(f'admission = "{admission}"')
    assert told in text
    assert unsaid not in text


def test_collected_reports_bring_their_number_and_the_hash_that_was_printed():
    reports = answered()
    served = reports.with_labels(reports.labels.served_as("ab" * 32))
    text = markdown(methods(facts_of_reports(served)))
    assert "600 reports came in." in text
    assert "ab" * 32 in text
    assert "more than once" not in text  # who could answer is not known from reports


def test_reports_that_no_collector_took_are_refused():
    with pytest.raises(InputError, match="respondents' own devices"):
        facts_of_reports(answered())


def test_a_promise_that_is_not_one_number_is_refused():
    pairs = dn.Paired({"cheated": ["no", "yes"]}, p=0.75, rho=-0.2)
    with pytest.raises(InputError, match="does not fit into one number"):
        methods(Facts(exams().labels, pairs))


def test_every_sentence_is_there_in_both_languages_with_the_same_places():
    for name, words in SENTENCES.items():
        assert set(words) == {"en", "de"}, name
        english, german = (sorted(re.findall(r"{(\w+)}", text)) for text in words.values())
        assert english == german, name


def test_sources_are_cited_and_in_bibtex():
    text = written()
    for name in ("warner1965", "kasiviswanathan2011", "wang2016", "wilson1927", "dempster1977", "deniable"):
        assert re.search(rf"^@\w+{{{name},$", text, re.MULTILINE), name
    assert all(cited(name) for name in _SOURCES)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("exams.toml").write_text(EXAMS.replace("DESIGN", ""), encoding="utf-8")
    ran = CliRunner().invoke(app, ["report", "exams.toml", "--methods", "-o", "methods.md", "--language", "de"])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == "methods.md: 6 sections.\n"
    assert "## Für die Ethikkommission" in Path("methods.md").read_text(encoding="utf-8")
    assert CliRunner().invoke(app, ["report", "exams.toml", "--methods", "-o", "methods.html"]).exit_code == 0

"""A survey's words: attached to reports, kept in files, shown in the chosen language, never those of another survey."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

import deniable as dn
from deniable.core.labels import UNKNOWN, Labels
from deniable.errors import InputError
from deniable.files.header import Header
from exams import TOGETHER, answered, exams


def test_a_printed_table_shows_what_was_asked_and_answered_with_the_names_beside():
    told = str(dn.estimate(answered(language="de"), "cheated")).splitlines()
    assert told[0] == "Haben Sie in einer Prüfung betrogen? (cheated)"
    assert [line.split()[:2] for line in told[2:4]] == [["Nein", "(no)"], ["Ja", "(yes)"]]
    assert str(dn.estimate(answered(), "cheated")).splitlines()[2].startswith("No  ")  # the same word is not said twice


def test_nobody_reads_how_many_nats_a_likelihood_is_short_of_the_best():
    found = dn.estimate(answered(), "cheated")
    assert found.gap is not None
    assert not any("nats" in text for text in (str(found), found._repr_html_()))


def test_a_chart_is_labelled_in_the_chosen_language():
    ax = dn.estimate(answered(language="de"), "cheated").plot(Figure().subplots())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["Nein (no)", "Ja (yes)"]
    assert ax.get_legend().get_title().get_text() == "Haben Sie in einer Prüfung betrogen? (cheated)"


def test_without_words_names_stand_for_themselves():
    found = dn.estimate(answered().with_labels(UNKNOWN), "cheated")
    assert str(found).splitlines()[0].split()[0] == "cheated"
    assert found.plot(Figure().subplots()).get_legend().get_title().get_text() == ""


@pytest.mark.parametrize("suffix", ["parquet", "csv", "sav", "dta"])
@pytest.mark.parametrize("design", ["", TOGETHER], ids=["ballots", "together"])
def test_files_keep_the_words(suffix, design, tmp_path):
    reports = answered(design, language="de")
    back = dn.read_reports(reports.write(tmp_path / f"reports.{suffix}"))
    assert back.labels == reports.labels
    assert back.labels.language == "de"
    assert dn.open_reports(tmp_path / f"reports.{suffix}").labels == reports.labels


def test_a_file_without_words_is_written_as_before():
    header = replace(answered().header, words=None)
    assert header.fields["format"] == "1"
    assert "words" not in header.fields
    assert Header.from_fields(header.fields, "a file") == header


def test_words_of_another_survey_are_refused():
    other = Labels(answers={"cheated": {"yes": {"en": "Yes"}, "no": {"en": "No"}}})  # the other way round
    with pytest.raises(InputError, match=r"of another survey.*'cheated'.*'yes', 'no'.*here it has 'no', 'yes'"):
        answered().with_labels(other)
    with pytest.raises(InputError, match=r"'drinks'.*these reports do not have"):
        answered().with_labels(Labels(answers={"drinks": {"no": {"en": "No"}}}))


def test_a_language_that_the_survey_does_not_have_is_refused():
    with pytest.raises(InputError, match="no words in 'fr'; the survey has 'en', 'de'"):
        exams().labels.speaking("fr")


def test_damaged_words_in_a_file_are_refused():
    fields = {**answered().header.fields, "words": '{"title": 1}'}
    with pytest.raises(InputError, match="a file: the survey's words cannot be read"):
        Header.from_fields(fields, "a file")

"""What was corrected in words while people answered, and whether answers changed: in numbers, and wherever shown."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2, chi2_contingency

import deniable as dn
from deniable.core.labels import Changed, Correction, Labels
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.reporting.markdown import markdown
from deniable.reporting.methods_section import facts_of_reports, methods
from deniable.reporting.report_file import report
from deniable.reporting.scripts.write_script import SCRIPTS, write_script
from deniable.reporting.survey_results import survey

ASKED = Changed("question", "smokes", "", "en", "Do you smoke?", "Do you not smoke?")
TITLE = Changed("title", "", "", "en", "Habits", "Customs")
REGION = Changed("question", "region", "", "en", "Where?", "From where?")


def labels_of(*corrections, **more):
    answers = {"smokes": {one: {"en": one.title()} for one in ("no", "yes")}}
    texts = {"smokes": {"en": "Do you not smoke?"}, "drinks": {"en": "Do you drink?"}}
    made = Labels({"en": "Customs"}, texts, answers, public=("region",), design="ab" * 32, **more)
    return replace(made, corrections=corrections)


def collected(design, columns, public, seed=1):
    """Reports with the public columns that a collector writes, of which one says under which words each was made."""
    made = design.randomize(pa.table(columns), source=dn.Seeded(seed))
    frame = made.to_frame()
    for name in public:
        frame = frame.append_column(name, pa.array(columns[name]))
    return dn.Reports(frame, design)


def reports_of(counts, *corrections, shares=None, seed=1, **more):
    """So many reports under each of the words, of which these shares say yes to the first question."""
    shares = shares or [0.3] * len(counts)
    columns = {"smokes": [], "drinks": [], "region": [], "dn_words": []}
    for number, (n, share) in enumerate(zip(counts, shares, strict=True), 1):
        columns["smokes"] += ["yes"] * round(share * n) + ["no"] * (n - round(share * n))
        columns["drinks"] += ["no", "yes"] * (n // 2) + ["no"] * (n % 2)
        columns["region"] += ["town", "country", "country"] * (n // 3) + ["town"] * (n % 3)
        columns["dn_words"] += [f"words {number}"] * n
    design = dn.Independent({"smokes": ["no", "yes"], "drinks": ["no", "yes"]}, 4.0)
    made = collected(design, columns, ["region", "dn_words"], seed)
    return made.with_labels(labels_of(*corrections, **more))


def test_nothing_is_said_where_nothing_was_corrected():
    made = reports_of([100])
    found = dn.corrected_words(made)
    assert (len(found), list(found), found.lines) == (0, [], [])
    assert not any("words" in note for note in dn.estimate(made, "smokes").notes())


def test_counts_and_the_test_are_those_of_the_reports():
    made = reports_of([200, 300], Correction("a misprint", (ASKED,)), shares=[0.3, 0.7])
    (one,) = dn.corrected_words(made)
    assert (one.before, one.after, one.number) == (200, 300, 1)
    (test,) = one.tests
    assert test.attribute == "smokes"
    # Another way: the table of words by reports, counted here. Equal truths give equal reports.
    said = np.array(made.to_frame()["dn_answer_smokes"].to_pylist())
    words = np.array(made.public["dn_words"].to_list())
    table = [[((words == each) & (said == code)).sum() for code in (0, 1)] for each in ("words 1", "words 2")]
    expected = chi2_contingency(table, correction=False)
    np.testing.assert_allclose([test.test.statistic, test.test.pvalue], [expected.statistic, expected.pvalue])
    assert test.test.pvalue < 1e-6
    assert test.test.pvalue == dn.homogeneity(made, "smokes", by="dn_words").pvalue


def test_answers_that_did_not_change_are_found_alike_as_often_as_they_should():
    pvalues = [
        dn.corrected_words(reports_of([300, 200], Correction("why", (ASKED,)), seed=seed))[0].tests[0].test.pvalue
        for seed in range(60)
    ]
    assert 1e-6 < chi2.sf(-2 * np.log(pvalues).sum(), 2 * len(pvalues)) < 1 - 1e-6  # Fisher: uniform, or nearly so


def test_a_title_is_about_all_questions_and_a_question_about_itself():
    made = reports_of([100, 100, 100], Correction("one", (TITLE,)), Correction("two", (ASKED, REGION)))
    first, second = dn.corrected_words(made)
    assert [each.attribute for each in first.tests] == ["smokes", "drinks", "region"]
    assert [each.attribute for each in second.tests] == ["smokes", "region"]
    assert [(one.before, one.after) for one in (first, second)] == [(100, 200), (200, 100)]
    # What travels in clear is compared as it is.
    table = [[68, 132], [34, 66]]
    expected = chi2_contingency(table, correction=False)
    np.testing.assert_allclose(second.tests[1].test.statistic, expected.statistic, atol=1e-9)


@pytest.mark.parametrize(
    ("counts", "reason"), [([29, 100], "29 of 30"), ([100, 29], "29 of 30"), ([100, 0], "0 of 30")]
)
def test_few_answers_on_either_side_are_not_compared(counts, reason):
    (one,) = dn.corrected_words(reports_of(counts, Correction("why", (ASKED, REGION))))
    assert [each.test for each in one.tests] == [None, None]
    assert all(reason in each.reason for each in one.tests)
    assert (one.before, one.after) == tuple(counts)
    json.dumps(one.told)


def test_whoever_was_not_asked_does_not_count():
    design = dn.Joint({"smokes": ["no", "yes", NOT_ASKED]}, 4.0)
    columns = {"smokes": ["no", NOT_ASKED] * 60, "region": ["town", "country"] * 60}
    columns["dn_words"] = ["words 1"] * 60 + ["words 2"] * 60
    made = collected(design, columns, ["region", "dn_words"])
    made = made.with_labels(Labels(corrections=(Correction("", (ASKED,)),), show_if={"smokes": {"region": ("town",)}}))
    (one,) = dn.corrected_words(made)
    assert any(note.startswith("Used: 60 reports") for note in one.tests[0].test.notes)
    (note,) = [note for note in dn.estimate(made, "smokes").notes() if "words" in note]
    assert "which nobody declared: 30 reports before, 30 after" in note


def test_pairs_are_not_tested_and_that_is_said():
    design = dn.Paired({"smokes": ["no", "yes"]}, p=0.7, rho=-0.1)
    columns = {"smokes": ["no", "yes"] * 100, "dn_words": ["words 1"] * 100 + ["words 2"] * 100}
    made = collected(design, columns, ["dn_words"])
    (one,) = dn.corrected_words(made.with_labels(Labels(corrections=(Correction("why", (ASKED,)),))))
    assert one.tests[0].test is None
    assert "not tested (" in one.said


# -- wherever it is shown ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made():
    return reports_of([200, 300], Correction("a misprint", (ASKED,)), shares=[0.3, 0.7])


def is_told(text, *, tested=True):
    texts = ("Do you smoke?", "Do you not smoke?", "a misprint", "200", "300", *(["p = "] if tested else []))
    return all(part in text for part in texts)


def test_estimates_say_how_many_came_before_and_after(made):
    notes = " ".join(dn.estimate(made, "smokes").notes())
    assert "'smokes' were changed while people answered, declared as \"a misprint\": 200 reports before, 300" in notes
    assert not any("were changed" in note for note in dn.estimate(made, "drinks").notes())
    grouped = dn.estimate(made, "smokes", by="dn_words")
    assert not any("were changed" in note for one in grouped.values() for note in one.notes())


@pytest.mark.parametrize("suffix", ["parquet", "csv", "sav", "dta"])
def test_files_keep_it(made, suffix, tmp_path):
    found = dn.corrected_words(made)
    path = made.write(tmp_path / f"reports.{suffix}", remarks=found.lines)
    again = dn.corrected_words(dn.read_reports(path))
    assert [one.told for one in again] == [one.told for one in found]
    beside = tmp_path / f"reports.{suffix}.design.json"
    header = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
    assert suffix == "parquet" or is_told(header["remarks"])
    if suffix == "sav":
        from deniable.designs.reports.labelled_sheet import sheet

        (column,) = [column for column in sheet(made) if column.name == "dn_words"]
        assert column.label == "dn_words; words 2 since: a misprint"


def test_large_files_keep_it_too(made, tmp_path):
    path = made.write(tmp_path / "reports.parquet")
    assert dn.corrected_words(dn.open_reports(path)).lines == dn.corrected_words(made).lines


@pytest.mark.parametrize("suffix", SCRIPTS)
def test_scripts_say_it(made, suffix, tmp_path):
    path, *_ = write_script(made, tmp_path / f"analysis{suffix}")
    assert is_told(path.read_text(encoding="utf-8").replace('\\"', '"'))


def test_the_report_has_old_beside_new(made):
    estimates, about = survey(made, replicates=19)
    text = report("Habits", made.design, estimates, **about)
    assert is_told(text)
    assert "Words that were corrected" in text


@pytest.mark.parametrize(("language", "word"), [("en", "corrected while people answered"), ("de", "berichtigt")])
def test_the_methods_paragraph_says_it(made, language, word):
    spoken = made.with_labels(labels_of(*made.labels.corrections, languages=("en", "de"), language=language))
    text = markdown(methods(facts_of_reports(spoken)))
    assert is_told(text)
    assert text.count(word) == 2  # among methods, and in the data statement


def test_whatever_a_correction_quotes_stays_a_text(tmp_path):
    why = '=cmd|"/C calc"!A1\nquit()\n# <script>alert(1)</script> [a](http://b) ' + "é" * 3000
    change = Changed("question", "smokes", "", "en", "=1+1\n</table><script>", "`code` | ${x} \\input{/etc/passwd}")
    made = reports_of([200, 300], Correction(why, (change,)))
    found = dn.corrected_words(made)
    assert all("\n" not in line for line in found.lines)
    for suffix in ("parquet", "csv", "sav", "dta"):
        again = dn.read_reports(made.write(tmp_path / f"reports.{suffix}", remarks=found.lines))
        assert dn.corrected_words(again).lines == found.lines
    for suffix in SCRIPTS:
        path, *_ = write_script(made, tmp_path / f"analysis{suffix}")
        written = path.read_text(encoding="utf-8")
        assert "\nquit()" not in written
        assert suffix != ".ipynb" or "<script>" not in written
    estimates, about = survey(made, replicates=19)
    assert "<script>" not in report("Habits", made.design, estimates, **about)
    (row, _) = found.to_csv().splitlines()[1:3]
    assert ",\"'=1+1" in row


def test_reports_that_do_not_say_under_which_words_are_told_so():
    made = reports_of([200, 300], Correction("a misprint", (ASKED,)))
    frame = made.to_frame().drop_columns(["dn_words"])
    (one,) = dn.corrected_words(dn.Reports(frame, made.design).with_labels(made.labels))
    assert (one.before, one.after, one.tests) == (None, None, ())
    assert "is not known, for they have no column dn_words" in one.said
    json.dumps(one.told)


def test_sources_that_asked_in_other_words_are_told():
    first, second = (reports_of([200], seed=seed) for seed in (1, 2))
    other = second.with_labels(
        replace(labels_of(), texts={"smokes": {"en": "Did you smoke?"}, "drinks": {"en": "Do you drink?"}})
    )
    assert "The sources did not ask about 'smokes' in the same words." in dn.estimate([first, other], "smokes").notes()
    assert not any("same words" in note for note in dn.estimate([first, other], "drinks").notes())
    assert not any("same words" in note for note in dn.estimate([first, second], "smokes").notes())


def test_labels_of_a_file_keep_corrections(made):
    kept = Labels.from_json(made.labels.json(), "here")
    assert kept == made.labels
    assert made.with_labels(labels_of()).labels.corrections == made.labels.corrections

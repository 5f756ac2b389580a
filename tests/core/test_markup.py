"""Results as LaTeX, Markdown and CSV: every result, every digit, nothing that a word in it could break."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

import deniable as dn
from deniable.core.summary import Summary
from exams import TOGETHER, answered


@pytest.fixture(scope="module")
def found():
    return dn.estimate(answered(TOGETHER), ["cheated", "stress"])


def test_latex_has_a_row_a_cell_and_the_question_as_its_caption(found):
    text = found.to_latex()
    assert text.count("\\\\\n") == 1 + found.values.size
    assert r"\caption{Have you cheated in an exam? (cheated); How stressed are you? (stress)}" in text
    assert r"cheated & stress & estimate & " in text
    assert r"std\_error & 95\% interval" in text
    assert text.count("{tabular}") == 2


def test_csv_has_every_digit(found):
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [float(row["estimate"]) for row in rows] == found.values.ravel().tolist()
    assert [float(row["95% interval, low"]) for row in rows] == found.interval().low.ravel().tolist()


def test_markdown_and_files(found, tmp_path):
    assert found.to_markdown(tmp_path / "table.md").splitlines()[3].startswith("|---|---|---:|---:|---:|"[:8])
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == found.to_markdown() + "\n"
    found.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text(encoding="utf-8") == found.to_latex() + "\n"


def test_groups_tests_and_regressions_too():
    reports = answered(TOGETHER)
    assert r"faculty & cheated & estimate" in dn.estimate(reports, "cheated", by="faculty").to_latex()
    assert "Pearson" in dn.independence(reports, "cheated", "stress").to_latex()
    frame = pd.DataFrame({"said": [0, 1, 1, 0, 1, 0, 1, 1] * 40, "age": list(range(320))})
    fit = dn.logit("said ~ age", frame, dn.Warner(0.8))
    text = fit.to_latex()
    assert r"\begin{tabular}" in text
    assert "age &" in text
    assert text.count(r"\toprule") == 2  # what was fitted, and the coefficients


def test_words_stay_words():
    evil = Summary({"a_b": [r"\input{x} & 5% #1 $ ~ ^ <b>", "=1+1"]}, ("100% | *sure*",))
    escaped = r"\textbackslash{}input\{x\} \& 5\% \#1 \$ \textasciitilde{} \textasciicircum{} \textless{}b"
    assert escaped in evil.to_latex()
    assert "&lt;b>" in evil.to_markdown()
    assert r"100% \| \*sure\*" in evil.to_markdown()
    assert "'=1+1" in evil.to_csv()

"""`deniable report`: one file with everything in it, as HTML or Markdown."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import deniable as dn
from exams import TOGETHER, answered

QUICK = ("--replicates", "19")


def test_the_page_has_every_part(run):
    result = run("report", "in/reports.parquet", "-o", "new/report.html", "--title", "Income & sex", *QUICK)
    assert result.exit_code == 0, result.output
    page = Path("new/report.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*)</h2>", page) == [
        "What was asked",
        "What a report can tell about a person",
        "How answers were disguised",
        "Estimates",
        "Cross tables",
        "By group",
        "Associations",
        "Data quality",
        "Method",
        "Sources",
        "To check or repeat this",
    ]
    assert "<h1>Income &amp; sex</h1>" in page
    assert dn.read_reports("in/reports.parquet").design.id in page
    assert hashlib.sha256(Path("in/reports.parquet").read_bytes()).hexdigest() in page
    assert "<script" not in page
    assert not re.search(r'(?:href|src)="(?!#)', page)


def test_markdown_has_the_same_headings(run):
    assert run("report", "in/reports.csv", "-o", "r.md", *QUICK).exit_code == 0
    assert run("report", "in/reports.csv", "-o", "r.txt", "--markdown", *QUICK).exit_code == 0
    text = Path("r.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == 11
    assert "| F | " in text
    assert "<svg" not in text


def test_only_the_asked_tables_are_crossed(run):
    result = run("report", "in/reports.parquet", "-o", "r.md", "--table", "sex,income", "--json", *QUICK)
    assert json.loads(result.stdout) == {"output": "r.md", "reports": 4000, "alarms": [], "nearness": ""}
    assert r"sex \\ age" not in Path("r.md").read_text()


def test_other_endings_are_refused(run):
    result = run("report", "in/reports.parquet", "-o", "report.pdf")
    assert result.exit_code == 3
    assert "an .html or an .md file" in result.stderr


def test_a_weighted_report_says_so(run):
    drawn = ("--weights", "weight", "--clusters", "school")
    result = run("report", "in/reports.parquet", "-o", "weighted.md", "--table", "sex,income", *drawn)
    assert result.exit_code == 0, result.output
    text = Path("weighted.md").read_text()
    assert "whom their weights stand for" in text
    assert "Rao and Scott" in text
    assert "errors by linearization over weights, clusters (18.8 degrees of freedom)" in text
    assert "column school" in text


def test_words_groups_and_the_hash_that_the_server_printed(run):
    reports = answered(TOGETHER)
    reports.with_labels(reports.labels.served_as("ab" * 32)).write("exams.parquet")
    assert run("report", "exams.parquet", "-o", "r.md", "--language", "de", *QUICK).exit_code == 0
    text = Path("r.md").read_text(encoding="utf-8")
    assert text.startswith("# Prüfungen\n")
    assert "| cheated | Haben Sie in einer Prüfung betrogen? | Nein (no), Ja (yes) |" in text
    assert "### Haben Sie in einer Prüfung betrogen? (cheated)" in text
    assert "Kunst (arts), 100 reports" in text
    assert f"| design, as its server printed it | {'ab' * 32} |" in text
    assert "nats" not in text

"""Markdown: the same document, nothing in it that a category's name could turn into markup."""

from __future__ import annotations

import re

import numpy as np
import pytest

import deniable as dn
from deniable.core.provenance import PEOPLE
from deniable.core.randomness import Seeded
from deniable.core.results import frame_of
from deniable.reporting.document import Details, Document, Section
from deniable.reporting.html import _block as as_html
from deniable.reporting.html import html
from deniable.reporting.markdown import _block, markdown
from deniable.reporting.report_file import document, write_report
from deniable.reporting.survey_results import survey

EVIL = "<b>|`*_[x](y)\n# z"


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    domain = dn.Domain({EVIL: ["a|b", "<i>"], "b": ["x", "y", "z"], "c": [0, 1]})
    people = frame_of({name: rng.choice(np.array(v.categories), 3000) for name, v in domain.items()})
    reports = dn.Views(domain, 2, 3.0).randomize(people, source=Seeded(1)).with_notes("Something to know.")
    estimates, about = survey(reports, replicates=19)
    return document("A | title", reports.design, estimates, facts=[("file", "r.parquet")], **about)


def test_both_forms_have_the_same_headings(made):
    headings = [section.heading for section in made.sections]
    text, page = markdown(made), html(made)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == headings
    assert re.findall(r"<h2>(.*)</h2>", page) == headings
    assert {"Cross tables", "Associations"} <= set(headings)


def test_every_row_of_a_table_has_its_cells(made):
    rows = [line for line in markdown(made).splitlines() if line.startswith("|")]
    for line in rows:
        assert line.endswith("|")
    bare = [len(re.findall(r"(?<!\\)\|", line)) for line in rows]
    assert min(bare) >= 3


def test_names_are_not_markup(made):
    text = re.sub(r"```.*?```", "", markdown(made), flags=re.DOTALL)
    assert "<b>" not in text.replace("\\<b>", "")
    assert "\n# z" not in text


def test_the_note_and_the_fact_are_there(made):
    for text in (markdown(made), html(made)):
        assert "Something to know." in text
        assert "r.parquet" in text


def test_a_fence_is_longer_than_what_it_holds():
    text = markdown(Document("t", "", (Section("s", (Details("d", "a ```` b"),)),)))
    assert "`````json" in text


def test_unknown_blocks_are_a_mistake_of_ours():
    for render in (_block, as_html):
        with pytest.raises(TypeError, match="no blocks of type int"):
            render(3)


def test_the_name_of_the_file_chooses_the_form(tmp_path):
    design = dn.Joint({"a": [0, 1]}, 1.0)
    known = dn.estimate(design.randomize(frame_of({"a": [0, 1] * 50}), source=Seeded(1)).with_origin(PEOPLE), "a")
    assert write_report(tmp_path / "r.md", "T", design, [known]).read_text().startswith("# T\n")
    assert write_report(tmp_path / "r.html", "T", design, [known]).read_text().startswith("<!DOCTYPE html>")

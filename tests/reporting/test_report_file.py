"""The report: one file, nothing from outside, everything escaped, every part there."""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser

import pytest

from deniable.core.domain import Domain
from deniable.core.provenance import PEOPLE
from deniable.core.randomness import Seeded
from deniable.core.results import frame_of
from deniable.core.table import Table
from deniable.designs.kinds.joint import Joint
from deniable.designs.kinds.views import Views
from deniable.designs.observation import Observation
from deniable.estimation.estimator import estimate
from deniable.reporting.report_file import held_by, report, write_report

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Reads a page strictly: every tag closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.ids = [], [], [], []
        self.headings = []  # the header cells of each table
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "table":
            self.headings.append([])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] == "th":
            self.headings[-1].append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def survey():
    domain = Domain({"a": ["no", "yes"], "b": ["x", "y", "z"], "c": ["no", "yes"]})
    people = frame_of(
        {"a": ["no", "yes", "no", "no"] * 500, "b": ["x", "y", "z", "x"] * 500, "c": ["no", "yes"] * 1000}
    )
    design = Views(domain, k=2, epsilon=3.0)
    reports = design.randomize(people, source=Seeded(7)).with_origin(PEOPLE)
    return design, [estimate(reports, names) for names in ("a", "b", ("a", "b"))], Table.count(people, domain)


@pytest.fixture(scope="module")
def made():
    design, estimates, truth = survey()
    return design, estimates, truth, report("A title", design, estimates, truth=truth, lead="Two words.")


def test_it_is_one_well_formed_page(made):
    page = Page(made[-1])
    assert made[-1].startswith("<!DOCTYPE html>")
    assert [page.count(tag) for tag in ("html", "main", "h1", "title")] == [1, 1, 1, 1 + 3]  # a title for each chart
    assert page.count("h2") == 8
    assert page.count("h3") == page.count("svg") == 3
    assert page.count("table") == page.count("caption") == 3 + 2
    assert len(set(page.ids)) == len(page.ids)


def test_nothing_comes_from_outside_and_nothing_runs(made):
    page = Page(made[-1])
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on")
            # Names of XML vocabularies look like addresses; nothing is loaded from them.
            assert name.startswith("xmlns") or not re.search(r"(https?:)?//|javascript:|data:", value or ""), (
                name,
                value,
            )
            if name in ("href", "xlink:href", "src"):
                assert value.startswith("#")
    assert not re.search(r"@import|url\((?!#)", made[-1])


def test_every_chart_can_be_heard(made):
    page = Page(made[-1])
    charts = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert all(chart["role"] == "img" and chart["aria-labelledby"] in page.ids for chart in charts)
    assert page.text.count("Estimated shares of") == 3


def test_what_a_chart_refers_to_is_in_it(made):
    page = Page(made[-1])
    referred = re.findall(r'(?:href="#|url\(#)([^")]+)', made[-1])
    assert referred
    assert set(referred) <= set(page.ids)


def test_truth_and_estimate_are_columns(made):
    page = Page(made[-1])
    assert page.headings[1:-1] == [
        ["a", "estimate", "std_error", "95% interval", "truth"],
        ["b", "estimate", "std_error", "95% interval", "truth"],
        ["a", "b", "estimate", "std_error", "95% interval", "truth"],
    ]


def test_without_a_truth_none_is_spoken_of(made):
    design, estimates, _, _ = made
    page = Page(report("A title", design, estimates))
    assert not any("truth" in heading for heading in page.headings)
    assert "Here the truth is known" not in page.text


def test_the_count_of_held_truths_is_right(made):
    _, estimates, truth, text = made
    held, cells = map(sum, zip(*(held_by(known, truth) for known in estimates), strict=True))
    assert cells == 2 + 3 + 6
    assert f"{held} of the {cells} intervals below hold it" in Page(text).text
    assert text.count("(outside)") == cells - held


def test_a_missed_truth_is_marked():
    design, estimates, _ = survey()
    wrong = Table(Domain({"a": ["no", "yes"]}), [1, 99])
    page = Page(report("A title", design, estimates[:1], truth=wrong))
    assert "1.0% (outside)" in page.text
    assert "0 of the 2 intervals below hold it" in page.text


def test_the_privacy_statement_is_there_word_for_word(made):
    design, *_, text = made
    page = Page(text)
    assert all(line in page.text for line in design.describe().lines())


def test_the_design_can_be_checked_from_the_page(made):
    design, *_, text = made
    page = Page(text)
    assert design.id in page.text
    assert str(design.ratio) in page.text
    shown = page.texts[page.texts.index("The design in full") + 1]
    assert hashlib.sha256(shown.encode()).hexdigest() == design.id


def test_fewer_than_chance_explains_are_said():
    domain = Domain({"a": ["no", "yes"], "b": ["no", "yes"]})
    design = Joint(domain, epsilon=1.0)
    # A cell that nobody has is still reported by about one in six; reported by one in fifty, it is estimated below 0.
    counts = Observation(domain, design.questions[0].channel, [300, 10, 100, 90])
    known = estimate(counts, domain.names)
    assert known.unbiased.at(a="no", b="yes") < 0
    page = Page(report("A title", design, [known]))
    assert page.headings[1] == ["a", "b", "estimate", "std_error", "95% interval"]
    assert "Fewer reports of 'no, yes' (a and b) came than chance alone explains" in page.text
    assert "Nothing to report" not in page.text


def test_texts_are_escaped():
    evil = '<script>alert("x")</script> & $co$'
    domain = Domain({evil: [evil, "</svg>"]})
    people = frame_of({evil: [evil, "</svg>"] * 50})
    design = Joint(domain, epsilon=3.0)
    known = estimate(design.randomize(people, source=Seeded(7)).with_origin(PEOPLE), evil)
    text = report(evil, design, [known], truth=Table.count(people, domain), lead=evil, citations=[evil])
    page = Page(text)
    assert not page.count("script")
    assert page.count("svg") == 1
    assert evil in page.text


def test_the_same_numbers_give_the_same_bytes(made):
    design, estimates, truth, text = made
    assert report("A title", design, estimates, truth=truth, lead="Two words.") == text


def test_it_is_written_into_a_new_folder(tmp_path):
    design, estimates, _ = survey()
    path = write_report(tmp_path / "new" / "report.html", "Ünïcode", design, estimates)
    assert "<h1>Ünïcode</h1>" in path.read_text(encoding="utf-8")

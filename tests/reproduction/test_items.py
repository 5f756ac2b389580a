"""Every item runs, writes what it should, and finds what was found before."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from chequered import one_of
from reproduction import runner
from reproduction.pages import choosing, claims, filled, reproduction
from reproduction.references import references
from reproduction.registry import find, papers
from reproduction.runner import execute

ITEMS = find("all")
FIRST = {item.paper: item for item in reversed(ITEMS)}


def only_axes(draw, _size):
    """What `written` does up to the layout and the file, which are the same for every picture."""
    figure = Figure()
    draw(figure.add_subplot())
    assert any(ax.has_data() or ax.texts for ax in figure.axes)
    return "<svg/>"


TRIED = {(item.paper, item.name): item for item in (*FIRST.values(), *one_of(4, ITEMS))}


@pytest.mark.parametrize("item", TRIED.values(), ids=lambda item: f"{item.paper}-{item.name}")
def test_a_short_run_finds_what_was_found_before(item, tmp_path, monkeypatch):
    whole = item is FIRST[item.paper]  # of a paper one picture is laid out and written; `make reproduce` writes all
    if not whole:
        monkeypatch.setattr(runner, "written", only_axes)
    done = execute(item, tmp_path, smoke=True)
    assert item.stored is not None
    assert done.record.drift(item.stored) == []
    assert done.record.lines
    assert len({line.what for line in done.record.lines}) == len(done.record.lines)
    written = tmp_path / "smoke" / item.paper / item.name
    assert len(written.with_suffix(".csv").read_text().splitlines()) > 1
    if whole:
        assert ET.parse(written.with_suffix(".svg")).getroot().tag.endswith("}svg")  # noqa: S314 - we wrote it ourselves


def test_what_a_short_run_measures_a_long_one_does_too():
    for item in ITEMS:
        stored, what = item.stored, (item.paper, item.name)
        assert stored is not None, what
        assert stored.trials == item.trials, what
        assert all(line.verdict != "differs" or line.note or item.why for line in stored.lines), what


def test_the_pages_say_what_is_stored(repository):
    records = {(item.paper, item.name): item.stored for item in ITEMS}
    page = repository / "docs" / "explanation" / "reproduction.md"
    assert page.read_text(encoding="utf-8") == reproduction(records)
    for name, tables in (
        ("docs/explanation/which-should-i-use.md", choosing(records)),
        ("reproduction/CLAIMS.md", claims(records)),
    ):
        page = (repository / name).read_text(encoding="utf-8")
        assert page == filled(page, tables)


def test_a_number_found_elsewhere_is_ours_or_the_difference_is_explained():
    for reference in references():
        (item,) = find(*reference.item.split())
        (ours,) = (line for line in item.stored.lines if line.what == reference.line)
        assert reference.agrees(ours) or reference.why, (reference.item, reference.line)


def test_every_item_says_where_it_stands():
    for paper in papers():
        assert paper.title
        assert paper.reference
        for item in paper.items:
            assert item.where
            assert item.claim.endswith(".")
            assert item.file.parent.name.replace("_", "-") == paper.name

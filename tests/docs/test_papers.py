"""The pages of the papers: every row's call runs, every item is there, and its verdict is the one that was computed."""

from __future__ import annotations

import doctest
import re
import warnings
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from reproduction.registry import papers

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "papers").glob("*.md"))
COMPUTED = (DOCS / "explanation" / "reproduction.md").read_text(encoding="utf-8")
VERDICT = re.compile(r'Verdict: \*\*(.+?)\*\*.*?make reproduce ITEM="(.+?)"', re.DOTALL)


def rows_under(page, heading):
    """The cells of every row of the tables under a heading that begins so."""
    found = re.search(rf"^## {heading}.*?$(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no heading {heading!r}"
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@cache
def first_walk(page):
    """The names that the page's first example leaves: what its tables call."""
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    with redirect_stdout(StringIO()):
        for example in doctest.DocTestParser().get_examples(blocks[0]):
            exec(compile(example.source, page.name, "single"), names)  # noqa: S102 - our own page
    return names


def calls():
    for page in PAGES:
        for heading in ("Symbols", "Equations"):
            for row in rows_under(page, heading):
                yield pytest.param(page, row, id=f"{page.stem}: {row[0]}")


@pytest.mark.parametrize(("page", "row"), list(calls()))
def test_every_row_has_a_call_that_runs(page, row):
    assert len(row) == 3, "a row is: in the paper | what it says | call"
    assert all(row)
    code = re.fullmatch(r"`([^`]+)`", row[2])
    assert code, f"{row[2]!r} is no call"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = eval(code[1].replace(r"\|", "|"), dict(first_walk(page)))  # noqa: S307 - our own page
    assert found is not None


def items():
    for page in PAGES:
        for row in rows_under(page, "Tables and figures"):
            yield pytest.param(row, id=f"{page.stem}: {row[0]}")


@pytest.mark.parametrize("row", list(items()))
def test_every_verdict_is_the_one_that_was_computed(row):
    verdicts = {name: verdict for verdict, name in VERDICT.findall(COMPUTED)}
    name = row[1].strip("`")
    assert name in {f"{paper.name} {item.name}" for paper in papers() for item in paper.items}
    assert row[2] == verdicts[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_every_part_that_a_reader_of_the_paper_looks_for(page):
    headings = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [
        *("What it proposes", "Symbols", "Equations, theorems and algorithms", "Tables and figures"),
        *("On your own data", "What to use instead, today"),
    ]
    assert [heading for heading in headings if heading in wanted] == wanted
    text = page.read_text(encoding="utf-8")
    assert "errata.md" in text
    assert "reproduction.md" in text

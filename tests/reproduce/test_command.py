"""`deniable reproduce` lists, computes, compares, and refuses what makes no sense."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.reproduce.item import Item
from deniable.reproduce.record import Line, Record


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments], prog_name="deniable")


def test_without_arguments_everything_is_listed():
    output = run().output
    for name in ("rrba", "jrr", "wang", "rr-ind-joint", "choose", "table-6", "figures-9-12", "section-3-3"):
        assert name in output


def test_one_item_is_printed_beside_the_paper(tmp_path):
    result = run("rrba", "figure-4", "--output", str(tmp_path))
    assert result.exit_code == 0
    assert "0.6931" in result.output
    assert "1.609" in result.output
    assert "T[v]" in result.output
    assert sorted(path.name for path in (tmp_path / "rrba").iterdir()) == [
        "figure-4.csv",
        "figure-4.json",
        "figure-4.svg",
    ]
    assert "Nothing has changed" in run("rrba", "figure-4", "--output", str(tmp_path)).output


def test_a_number_that_has_drifted_is_an_error(tmp_path, monkeypatch):
    before = Record((Line("d = 6: number of views", 4.0),), (), 1, 1, 0.0)
    monkeypatch.setattr(Item, "stored", before)
    result = run("rrba", "views", "--smoke", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "DRIFTED rrba views: d = 6: number of views: 5" in result.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("rrbr",), "there is no paper"),
        (("rrba", "table-9"), "has no item"),
        (("rrba", "--write", "page.md"), "--write makes a page of all papers"),
        (("rrba", "--accept", "--smoke"), "too short to be stored"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, told):
    result = run(*arguments)
    assert result.exit_code == 3
    assert told in result.stderr

"""The runner lists, computes, compares, and refuses what makes no sense."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from deniable.errors import InputError
from reproduction.__main__ import command, main
from reproduction.item import Item
from reproduction.record import Line, Record
from reproduction.registry import papers


def run(*arguments):
    return CliRunner().invoke(command, arguments)


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
    error = run(*arguments).exception
    assert isinstance(error, InputError)
    assert told in error.message


def test_an_error_of_ours_is_a_line_and_an_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reproduction", "rrbr"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == InputError.exit_code
    assert capsys.readouterr().err.startswith("Error: there is no paper 'rrbr'; choose from all, rrba")


def test_json_has_the_list_and_the_lines_of_an_item(tmp_path):
    listed = json.loads(run("--json").stdout)
    assert [one["item"] for one in listed] == [item.name for paper in papers() for item in paper.items]
    result = run("rrba", "views", "--smoke", "--json", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    assert found["verdict"] == "reproduced"
    assert all({"what", "ours", "verdict"} <= set(line) for line in found["lines"])
    assert found["drifted"] == []

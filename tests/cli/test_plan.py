"""`deniable plan`: designs side by side before anybody is asked."""

from __future__ import annotations

import json
from pathlib import Path

import deniable as dn

BASE = ("plan", "in/domain.toml", "--epsilon", "2", "--n", "10000", "--table", "sex,income")


def test_the_numbers_are_the_library_s(run):
    from deniable.planning.forecast import plan

    data = json.loads(run(*BASE, "--json").stdout)
    domain = dn.Domain({"sex": ["F", "M"], "income": ["<=50K", ">50K"], "age": ["young", "middle", "old"]})
    forecast = plan(domain, 2.0, [["sex", "income"]], 10_000)
    assert data["recommended"] == forecast.candidates[0].name
    assert data["candidates"][0]["std_error"] == list(forecast.candidates[0].std_error)


def test_it_is_a_page_to_read(run):
    result = run(*BASE, "--error", "0.01")
    assert result.exit_code == 0, result.output
    assert "Recommended:" in result.stdout
    assert "A standard error of 1.00% for sex x income:" in result.stdout
    assert "can shift anybody's odds" in result.stdout


def test_the_needed_respondents_give_the_wanted_error(run):
    needed = json.loads(run(*BASE, "--error", "0.01", "--json").stdout)["needed"][0]
    again = json.loads(run(*BASE[:5], str(needed), *BASE[6:], "--json").stdout)
    assert 0.0098 < again["candidates"][0]["std_error"][0] < 0.0101


def test_a_plot_is_an_svg_file(run):
    assert run(*BASE, "--plot", "p.svg").exit_code == 0
    assert "<svg" in Path("p.svg").read_text()

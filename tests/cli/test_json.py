"""`--json` of the commands whose other tests live elsewhere: nothing but JSON on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.reproduce.registry import papers
from deniable.web.serve import Service, background


def test_simulated_respondents_come_with_the_truth_about_them(run, tmp_path):
    assert run("new").exit_code == 0
    service = Service.open(Path("survey.toml"), tmp_path / "data")
    with background(service) as url:
        result = run("simulate", url, "--n", "20", "--batch", "20", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["respondents"] == 20
    for name, shares in data["truth"].items():
        assert set(shares) == set(map(str, service.collector.survey.domain[name].categories))
        assert sum(shares.values()) == pytest.approx(1)


def test_reproduced_items_come_with_their_lines(run):
    listed = json.loads(run("reproduce", "--json").stdout)
    assert [one["item"] for one in listed] == [item.name for paper in papers() for item in paper.items]
    result = run("reproduce", "rrba", "views", "--smoke", "--json", "--output", "build")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    assert found["verdict"] == "reproduced"
    assert all({"what", "ours", "verdict"} <= set(line) for line in found["lines"])
    assert found["drifted"] == []

"""`--json` of the commands whose other tests live elsewhere: nothing but JSON on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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

"""Views in blocks, every combination answered: from the file over devices and the store to results and a report."""

from __future__ import annotations

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

from chequered import one_of
from deniable.cli.app import app
from deniable.collection.simulate_respondents import Crowd
from deniable.web.serve import Service, background

PEOPLE = 240
SURVEY = """
format = 1
name = "views"
title = "Views"
epsilon = 8.0
tables = [["q0", "q1"], ["q0", "q1", "q2"]]

[design]
kind = "blocks"
answer = "all"
block_size = 60
"""
QUESTION = """
[[questions]]
name = "q{number}"
text = "?"
kind = "yes-no"
"""


@pytest.mark.parametrize("questions", one_of(2, [5, 4]))
def test_results_files_and_reports_tell_all_of_it(questions, tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY + "".join(QUESTION.format(number=q) for q in range(questions)), encoding="utf-8")
    service = Service.open(path, tmp_path / "data")
    names = [f"q{q}" for q in range(questions)]
    with background(service) as url, httpx.Client(base_url=url, timeout=300) as client:
        crowd = Crowd(url, batch=120)
        for i in range(PEOPLE):
            crowd.answer({name: "yes" if i % 3 == 0 or i % 7 == q else "no" for q, name in enumerate(names)})
        crowd.flush()
        crowd.close()
        given = {"Authorization": f"Bearer {service.token}"}
        found = client.get("/v1/results", headers=given)
        assert found.status_code == 200
        tables = {tuple(table["attributes"]): table for table in found.json()["tables"]}
        assert list(tables) == [*((name,) for name in names), ("q0", "q1"), ("q0", "q1", "q2")]
        assert client.post("/analyst/login", data={"token": service.token}, headers={"Origin": url}).status_code == 303
        assert client.get("/analyst/results.json").status_code == 200
        pair = client.get("/analyst/tables", params={"of": ["q0", "q1"]})
        assert pair.status_code == 200
    # 240 at epsilon 4 an answer: a standard error near .05 around .43, and six of them.
    yes = tables[("q0",)]["cells"][1]["efficient"]
    assert abs(yes - np.mean([i % 3 == 0 or i % 7 == 0 for i in range(PEOPLE)])) < 0.3
    data = str(tmp_path / "data")
    for command in (
        ["estimate", data, "--table", "q0,q1", "--table", "q0,q1,q2"],
        ["test", data, "q0", "q1"],
        ["report", data, "-o", str(tmp_path / "report.html")],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output

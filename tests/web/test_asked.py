"""A served survey whose questions are put to some: results, dashboard and report are of those who were asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.collection.export import collected
from deniable.web.results import results
from deniable.web.serve import Service, background

SURVEY = """
format = 1
name = "work"
title = "Work"
epsilon = 4.0
admission = "open"
design = { kind = "joint" }
[[public]]
name = "works"
text = "Do you work?"
choices = ["no", "yes"]
[[questions]]
name = "fiddles"
text = "Do you fiddle?"
kind = "yes-no"
show_if = { works = "yes" }
[[questions]]
name = "steals"
text = "Do you steal?"
kind = "yes-no"
show_if = { works = "yes" }
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    path = folder / "work.toml"
    path.write_text(SURVEY, encoding="utf-8")
    service = Service.open(path, folder / "data")
    with background(service) as url:
        done = CliRunner().invoke(app, ["simulate", url, "--n", "400"])
        assert done.exit_code == 0, done.output
        found = results(service.collector)
    return folder / "data", found


def test_results_are_of_those_who_were_asked(served):
    place, found = served
    reports = collected(place)
    asked = int((reports.public["works"] == "yes").sum())
    assert 40 < asked < 400
    assert all(table["reports"] == asked for table in found["tables"])
    estimate = dn.estimate(reports, ["fiddles", "steals"])
    assert estimate.values.shape == (2, 2)
    assert estimate.n == asked


def test_the_report_says_of_how_many(served, tmp_path, monkeypatch):
    place, _ = served
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["report", str(place), "-o", "r.md", "--replicates", "99"])
    assert done.exit_code == 0, done.output
    text = Path("r.md").read_text(encoding="utf-8")
    assert "people were not asked" in text
    assert "Not everybody was asked" in text

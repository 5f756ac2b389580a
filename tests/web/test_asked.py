"""A served survey whose questions are put to some: results, dashboard and report are of those who were asked."""

from __future__ import annotations

from pathlib import Path

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.collection.load_reports import collected
from deniable.core.labels import Labels
from deniable.designs.reports import set_reports as sets
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.web.api.results_endpoint import results
from deniable.web.dashboard.page_data import table_of
from deniable.web.serve import Service, background
from small_survey import public, question, survey_file

SURVEY = survey_file(
    "work",
    public("works", ["no", "yes"], "Do you work?"),
    question("fiddles", "Do you fiddle?", "yes-no", show_if={"works": "yes"}),
    question("steals", "Do you steal?", "yes-no", show_if={"works": "yes"}),
    design={"kind": "joint"},
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    path = folder / "work.toml"
    path.write_text(SURVEY, encoding="utf-8")
    service = Service.open(path, folder / "data")
    with background(service) as url:
        done = CliRunner().invoke(app, ["simulate", url, "--n", "400"])
        assert done.exit_code == 0, done.output
        service.store.compact(service.collector.numbers)  # all are shown
        found = results(service.collector)
        with httpx.Client(base_url=url, timeout=300) as client:
            pages = _pages(client, new_token(service.store, ANALYST))
    return folder / "data", found, pages


def _pages(client, token):
    """What an analyst sees, as text and as the cells of its tables."""
    told = {"Origin": "http://testserver", "Host": "testserver"}
    assert client.post("/analyst/login", data={"token": token}, headers=told).status_code == 303
    paths = ("/analyst", "/analyst/associations", "/analyst/tables?of=fiddles&of=steals")
    return {path: client.get(path).text for path in paths}


def test_results_are_of_those_who_were_asked(served):
    place, found, _ = served
    reports = collected(place)
    asked = int((reports.public["works"] == "yes").sum())
    assert 40 < asked < 400
    assert all(table.reports == asked for table in found.tables)
    estimate = dn.estimate(reports, ["fiddles", "steals"])
    assert estimate.values.shape == (2, 2)
    assert estimate.n == asked


def test_the_dashboard_shows_what_those_sent_who_were_asked(served):
    place, _, pages = served
    reports = collected(place)
    asked = reports.public["works"].to_numpy() == "yes"
    sent = reports.answers[asked, 0].astype(int)
    came = np.bincount(sent // 3, minlength=3) / asked.sum()  # fiddles, of no, yes, does not apply
    page = pages["/analyst"]
    for share in came[:2]:
        assert f"{share:.1%}" in page
    assert f"{came[2]:.1%} of the reports of those who were asked say" in page
    assert f"{reports.n - asked.sum()} people were not asked" in page
    table = pages["/analyst/tables?of=fiddles&of=steals"]
    first = np.bincount(sent, minlength=9)[0] / asked.sum()
    assert f"{first:.1%}" in table
    for text in pages.values():
        assert 'scope="row">does not apply' not in text


def test_the_report_says_of_how_many(served, tmp_path, monkeypatch):
    place, *_ = served
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["report", str(place), "-o", "r.md", "--replicates", "99"])
    assert done.exit_code == 0, done.output
    text = Path("r.md").read_text(encoding="utf-8")
    assert "people were not asked" in text
    assert "Not everybody was asked" in text


def test_many_sets_are_counted_among_those_who_were_asked(monkeypatch):
    monkeypatch.setattr(sets, "MOST_SINGLY", 10)
    monkeypatch.setattr(sets, "FEW_KINDS", 1)
    works = np.array(["no", "yes"] * 300)
    frame = {"works": works, "b": np.where(works == "yes", "yes", NOT_ASKED)}
    design = dn.Joint({"b": ["no", "yes", NOT_ASKED]}, 4.0, channel="subset")
    labels = Labels(show_if={"b": {"works": ("yes",)}})
    reports = design.randomize(frame, keep=["works"], source=dn.Seeded(1)).with_labels(labels)
    found = dn.estimate(reports, ["b"])
    assert found.values.shape == (2,)
    assert found.n == 300
    assert "300 people were not asked" in str(found)
    assert table_of(reports, found).rows[0].raw is None

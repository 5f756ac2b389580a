"""Surveys whose reports are sets: from devices over the collector to results, pages, files and the command line."""

from __future__ import annotations

import csv
import io
import json

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

from chequered import one_of
from deniable.channels.krr import KRR
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.cli.app import app
from deniable.collection.simulate_respondents import Crowd
from deniable.storage.open_store import find_store
from deniable.web.dashboard.page_data import MOST_CELLS
from deniable.web.serve import Service, background

SURVEY = """
format = 1
name = "trips"
title = "Trips"
epsilon = 3.0
{panel}
tables = [["month"], ["abroad"]]

[design]
{design}

[[questions]]
name = "month"
text = "In which month did you last travel?"
kind = "scale"
first = 1
last = 12

[[questions]]
name = "abroad"
text = "How far?"
choices = ["at home", "near", "far"]
"""
LABELS = [str(month) for month in range(1, 13)]
PEOPLE = 600
SIGMAS = 6.0  # 2e-9 a cell; fewer than 200 cells are compared


@pytest.fixture
def served(tmp_path):
    """A function that serves a survey, lets people answer, and logs an analyst in."""
    opened = []

    def start(design, panel="", people=PEOPLE):
        path = tmp_path / "survey.toml"
        path.write_text(SURVEY.format(design=design, panel=panel), encoding="utf-8")
        service = Service.open(path, tmp_path / "data")
        running = background(service)
        url = running.__enter__()
        opened.append(running)
        invitations = service.collector.entrance.invite(people) if panel else ()
        crowd = Crowd(url, batch=500, invitations=invitations)
        months = np.random.default_rng(1).choice(12, p=np.arange(1, 13) / 78, size=people)
        for month in months.tolist():
            crowd.answer({"month": LABELS[month], "abroad": ["at home", "near", "far"][month % 3]})
        crowd.flush()
        service.store.compact(service.collector.numbers)  # all are shown
        client = httpx.Client(base_url=url, timeout=300)
        opened.append(client)
        same = {"Origin": url}
        assert client.post("/analyst/login", data={"token": service.token}, headers=same).status_code == 303
        client.headers["Authorization"] = f"Bearer {service.token}"
        return service, client, np.bincount(months, minlength=12) / people

    yield start
    for each in reversed(opened):
        each.__exit__(None, None, None)


def near(cells, truth):
    unbiased, errors = (np.array([cell[key] for cell in cells]) for key in ("efficient", "std_error"))
    assert (np.abs(unbiased - truth) < SIGMAS * errors).all()
    assert all(cell["unclipped_low"] < cell["efficient"] < cell["unclipped_high"] for cell in cells)
    # What is shown holds together, unless it is said that the range leaves no interval.
    shown = [cell for cell in cells if cell["low"] is not None]
    assert all(0 <= cell["low"] <= cell["estimate"] <= cell["high"] <= 1 for cell in shown)
    assert all(cell["unclipped_high"] < 0 or cell["unclipped_low"] > 1 for cell in cells if cell not in shown)


def test_a_survey_of_least_variance_from_devices_to_estimates(served, tmp_path):
    service, client, truth = served('channel = "least_variance"\nkind = "independent"')
    channels = [question.channel for question in service.collector.survey.design.questions]
    assert [type(channel) for channel in channels] == [SubsetSelection, KRR]

    found = client.get("/v1/results").json()
    assert found["reports"] == PEOPLE
    month, abroad = found["tables"]
    assert month["method"] == "mle"
    assert [cell["categories"] for cell in month["cells"]] == [[label] for label in LABELS]
    near(month["cells"], truth)
    near(abroad["cells"], [truth[0::3].sum(), truth[1::3].sum(), truth[2::3].sum()])
    rows = list(csv.DictReader(io.StringIO(client.get("/v1/results.csv").text)))
    assert [row["categories"] for row in rows if row["attributes"] == "month"] == LABELS

    overview = client.get("/analyst").text
    assert f"{PEOPLE:,}" in overview
    assert client.get("/analyst/progress").json() == {"reports": PEOPLE, "open": True}
    assert client.get("/analyst/chart.svg?of=month").status_code == 200
    influence = channels[0].largest_weight()
    assert f"{influence:.2f}"[:4] in client.get("/analyst/privacy").text

    # What is stored is counted by report, and what is downloaded gives the same estimates.
    store, number = service.store, service.collector.number
    assert store.counts(number) == store.recount(number)
    assert store.total(number) == PEOPLE
    for kind in ("parquet", "csv"):
        assert client.get(f"/analyst/reports.{kind}").status_code == 200
        path = tmp_path / f"reports.{kind}"
        run = CliRunner()
        assert run.invoke(app, ["export", str(tmp_path / "data"), "-o", str(path)]).exit_code == 0
        told = run.invoke(app, ["estimate", str(path), "--table", "month", "--json"])
        assert told.exit_code == 0, told.output
        (again,) = json.loads(told.stdout)["tables"]
        for key in ("estimate", "std_error", "low", "high"):
            assert [cell[key] for cell in again["cells"]] == pytest.approx([cell[key] for cell in month["cells"]])


def test_associations_of_sets(served):
    _, client, _ = served('channel = "least_variance"\nkind = "joint"', people=400)
    assert "likelihood ratio" in client.get("/analyst/tables?of=month&of=abroad").text
    assert "month" in client.get("/analyst/associations").text
    assert client.get("/analyst/associations.svg").headers["content-type"].startswith("image/svg+xml")


@pytest.mark.parametrize("channel", one_of(2, ["unary", "hashing", "hadamard"]))
def test_every_other_kind_is_served_too(served, channel):
    _, client, truth = served(f'channel = "{channel}"\nkind = "sampled"')
    month = next(table for table in client.get("/v1/results").json()["tables"] if table["attributes"] == ["month"])
    near(month["cells"], truth)
    assert client.get("/analyst").status_code == 200


@pytest.mark.parametrize("channel", one_of(2, ["krr", "unary", "subset"]))
def test_what_a_panel_repeats_has_two_levels_and_is_estimated_through_both(served, channel):
    panel = 'admission = "invited"\npanel = { name = "p", people = 1000000, repeats = ["month"], again = 1.0 }'
    service, client, truth = served(f'channel = "{channel}"\nkind = "sampled"', panel)
    kind = TwoLevelKRR if channel == "krr" else TwoLevel
    assert isinstance(service.collector.survey.design.questions[0].channel, kind)
    assert "If at least 1000 people take part, at most" in client.get("/analyst/privacy").text
    month = next(table for table in client.get("/v1/results").json()["tables"] if table["attributes"] == ["month"])
    near(month["cells"], truth)


def test_a_set_that_no_device_draws_is_turned_away(served):
    service, client, _ = served('channel = "subset"\nkind = "joint"', people=1)
    channel = service.collector.survey.design.questions[0].channel
    report = {"version": 2, "id": "ab" * 32, "design": service.collector.design_id, "ballot": 0, "public": []}
    everything, fitting = (1 << channel.inputs) - 1, (1 << channel.d) - 1
    for mask, status in ((everything, 422), (0, 422), (1 << 40, 422), (1 << 53, 400), (fitting, 204)):
        assert client.post("/v1/reports", json={**report, "answers": [mask]}).status_code == status


@pytest.mark.parametrize(
    "channel",
    [
        Unary(5, 1.0),
        SubsetSelection(9, 1.0),
        LocalHashing(5, 1.0),
        TwoLevel(Unary(5, 1.0), KRR(2, 2.0)),
        KRR(4, 1.0),
        TwoLevelKRR(KRR(4, 1.0), KRR(4, 2.0)),
    ],
    ids=lambda channel: channel.name,
)
def test_the_influence_of_a_made_up_report(channel):
    worst = 0.0
    reports = np.arange(min(channel.reports, 1 << 9)).astype(np.uint64)
    for members in channel.members(reports):
        worst = max(worst, float(np.abs(channel.solve(members)).max()))
    assert channel.largest_weight() == pytest.approx(worst)


def test_the_influence_of_a_made_up_column_is_known_without_the_matrix():
    small = HadamardResponse(6, 1.0)
    assert small.largest_weight() == pytest.approx(np.abs(small.solve(np.eye(8))).max())
    assert HadamardResponse(100_000, 1.0).largest_weight() == pytest.approx(small.largest_weight(), rel=1e-3)


def test_a_question_with_very_many_categories_does_not_fill_the_page(tmp_path):
    path = tmp_path / "survey.toml"
    most = MOST_CELLS + 1
    many = SURVEY.replace("last = 12", f"last = {most}").format(design='channel = "hashing"', panel="")
    path.write_text(many, encoding="utf-8")
    service = Service.open(path, tmp_path / "data")
    with background(service) as url, httpx.Client(base_url=url, timeout=300) as client:
        crowd = Crowd(url, batch=100)
        for person in range(200):
            crowd.answer({"month": str(person + 1), "abroad": "near"})
        crowd.flush()
        service.store.compact([service.collector.number])  # all are shown
        client.post("/analyst/login", data={"token": service.token}, headers={"Origin": url})
        page = client.get("/analyst").text
        assert "Too many categories for this page: month" in page
        assert len(page) < 100_000
        assert client.get("/analyst/chart.svg?of=month").status_code == 422
        assert client.get("/analyst/associations").status_code == 200
        found = client.get("/analyst/results.json").json()
        assert {len(table["cells"]) for table in found["tables"]} == {most, 3}
    store = find_store(tmp_path / "data")
    assert store.total(1) == 200
    store.close()

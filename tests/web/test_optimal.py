"""A survey made for some numbers, from its file over devices and the store to dashboard, files and report."""

from __future__ import annotations

import json

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.simulate_respondents import Crowd
from deniable.device.verify import verify
from deniable.errors import RefusedDesignError, SurveyError
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service, background
from small_survey import question, survey_file

SURVEY = survey_file(
    "stress",
    question("stress", "How much stress do you have?", "scale", first=0, last=10),
    question("years", "For how many years?", "scale", first=0, last=8),
    question("sleep", "How do you sleep?", choices=["well", "so-so", "badly"]),
    question("smokes", "Do you smoke?", "yes-no"),
    epsilon=1.0,
    tables=[["sleep", "smokes"]],
    wanted=["mean(stress) weight 2", "ranges(years; 0..4)"],
    design={"kind": "optimal"},
)
PEOPLE = 1500


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A served survey that people have answered, and an analyst's client."""
    folder = tmp_path_factory.mktemp("optimal")
    path = folder / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    service = Service.open(path, folder / "data")
    with background(service) as url, httpx.Client(base_url=url, timeout=300) as client:
        crowd, rng = Crowd(url, batch=500), np.random.default_rng(2)
        stress, years = rng.integers(0, 11, PEOPLE), rng.integers(0, 9, PEOPLE)
        for one, two in zip(stress.tolist(), years.tolist(), strict=True):
            crowd.answer({"stress": str(one), "years": str(two), "sleep": "well", "smokes": "no" if one < 6 else "yes"})
        crowd.flush()
        assert client.post("/analyst/login", data={"token": service.token}, headers={"Origin": url}).status_code == 303
        yield service, client, folder, (stress.mean(), (years <= 4).mean())


def test_the_design_is_served_as_it_was_made(served):
    service, *_ = served
    design = service.collector.survey.design
    kinds = {question.name: question.channel.kind for question in design.questions}
    assert kinds["stress"] == kinds["years"] == "patterns"
    assert not design.covers(["years"])
    body = service.store.designs()[service.collector.design_id][1]
    message = json.loads(body)
    assert message["plan"]["kind"] == "optimal"
    assert tuple(message["weights"]) == design.weights
    # Cut by hand, it is refused: the integers are verified, and so is their hash.
    changed = body.replace(b'"kind":"optimal"', b'"kind":"views"')
    with pytest.raises(RefusedDesignError, match="hash"):
        verify(changed, service.collector.design_id)


def test_the_dashboard_tells_the_wanted_numbers_and_the_distance_to_the_best(served):
    _, client, _, truth = served
    page = client.get("/analyst").text
    assert "What the survey was made for" in page
    assert "mean(stress) weight 2" in page
    assert "times as many respondents as the best possible design, at even shares" in page
    assert client.get("/analyst/privacy").status_code == 200
    found = client.get("/analyst/results.json").json()
    told = [table["attributes"] for table in found["tables"]]
    assert ["sleep", "smokes"] in told
    assert ["years"] not in told
    assert truth[0] > 0


def test_the_same_numbers_from_the_store_and_in_a_report(served):
    _, _, folder, truth = served
    run = CliRunner()
    out = folder / "report.md"
    done = run.invoke(
        app,
        ["report", str(folder / "data"), "-o", str(out), "--words", str(folder / "survey.toml"), "--replicates", "19"],
    )
    assert done.exit_code == 0, done.output
    text = out.read_text(encoding="utf-8")
    assert "mean(stress) weight 2" in text
    assert "times as many respondents as the best possible design" in text
    assert "No table of 'years' is shown" in text
    import deniable as dn
    from deniable.collection.load_reports import collected
    from deniable.inference.numbers.aim_estimates import wanted_numbers

    reports = collected(folder / "data")
    found = wanted_numbers(reports, parse_survey(SURVEY).wanted)
    # Two numbers, seven standard errors (a 95% interval is 3.92 of them wide): a normal is that far off with 3e-12.
    for row, true in zip(found.rows, truth, strict=True):
        assert abs(row.estimate - true) < 7 * (row.high - row.low) / 3.92
    refused = run.invoke(app, ["estimate", str(folder / "data"), "--table", "years"])
    assert refused.exit_code != 0
    assert "tell only some sums" in refused.output
    assert dn.estimate(reports, ["sleep", "smokes"]).values[0].sum() > 0.5


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ('["mean(nobody)"]', "nobody"),
        ('["mode(stress)"]', "wants 'mode', which is none of"),
        ('["quantiles(stress; 2)"]', "between 0 and 1"),
        ('["mean(stress) weight 0"]', "above 0"),
        ('["sleep * (smokes"]', "names no wanted numbers"),
    ],
)
def test_wrong_wishes_name_their_place(wanted, told):
    text = SURVEY.replace('["mean(stress) weight 2", "ranges(years; 0..4)"]', wanted)
    with pytest.raises(SurveyError, match=r"wanted\[0\]") as caught:
        parse_survey(text)
    assert told in str(caught.value)


def test_what_a_design_does_not_tell_is_refused_when_the_file_is_read():
    text = SURVEY.replace('kind = "optimal"', 'kind = "sampled"').replace('tables = [["sleep", "smokes"]]', "")
    text = text.replace("mean(stress) weight 2", "association(sleep, smokes)")
    with pytest.raises(SurveyError, match=r'wanted\[0\]: no report of a sampled design tells .* "optimal"'):
        parse_survey(text)

"""Made-up reports are marked, kept away from other people's, and tried out where they never count."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import replace

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.cli.collect.serve import found_there
from deniable.collection.load_reports import collected
from deniable.collection.shown_state import Shown
from deniable.collection.simulate_respondents import Crowd
from deniable.collection.simulated_marks import has_others, simulated
from deniable.device.protocol.http_transport import Http
from deniable.errors import CollectorError, InputError
from deniable.storage.open_store import FILE
from deniable.surveys.survey import pilot_of
from deniable.web.api.results_endpoint import results
from deniable.web.serve import Service, background
from exams import EXAMS, exams

PERSON = {"cheated": "no", "stress": "1", "faculty": "law"}


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "exams.toml"
    path.write_text(EXAMS.replace("DESIGN", ""), encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def simulate(url, *more):
    return run("simulate", url, "--n", 40, *more)


def answer(url, tmp_path, number=0):
    """One person's own device."""
    with dn.Client(url, state=tmp_path / f"device{number}") as client:
        assert client.answer(PERSON, public=["faculty"]).delivered


@pytest.mark.parametrize("batch", [1, 7])
def test_what_is_simulated_is_marked_and_said(survey, tmp_path, batch):
    data = tmp_path / "data"
    service = Service.open(survey, data)
    with background(service) as url:
        for _ in range(2):  # simulations may follow one another
            assert simulate(url, "--batch", batch).exit_code == 0
        answer(url, tmp_path)
        service.store.compact(service.collector.numbers)  # all are shown
        found = results(service.collector)
        assert (found.reports, found.origin.simulated) == (81, 80)
        assert "80 of the 81 reports are simulated" in "".join(found_there(service, data))
    assert collected(data).origin.said.startswith("80 of the 81 reports are simulated")
    told = run("estimate", data, "--json")
    assert "Note: 80 of the 81 reports are simulated" in told.stderr
    assert json.loads(told.stdout)["reports"] == 81  # the note is not among the numbers
    copy = tmp_path / "copy.sqlite"
    assert run("backup", data, copy).exit_code == 0
    assert collected(copy).origin == collected(data).origin


def test_nothing_is_simulated_among_other_people_unless_forced(survey, tmp_path):
    service = Service.open(survey, tmp_path / "data")
    with background(service) as url:
        answer(url, tmp_path)
        assert not has_others(Shown(service.store))  # one is not shown
        service.store.compact(service.collector.numbers)
        assert has_others(service.store)
        refused = simulate(url)
        assert refused.exit_code == 3
        assert "other people's reports" in refused.output
        assert "--pilot" in refused.output
        assert results(service.collector).reports == 1
        assert simulate(url, "--force").exit_code == 0
        service.store.compact(service.collector.numbers)
        assert results(service.collector).origin.simulated == 40
        assert simulate(url).exit_code == 3  # the one person is still there


def test_real_devices_mark_nothing_and_a_store_without_reports_holds_nobody(survey, tmp_path):
    data = tmp_path / "data"
    service = Service.open(survey, data)
    with background(service) as url:
        assert not has_others(service.store)
        with urllib.request.urlopen(f"{url}/v1/simulated", timeout=60) as said:  # noqa: S310 - our own server
            assert json.load(said) == {"others": False}
        answer(url, tmp_path)
        assert simulated(service.store, service.collector.numbers) == 0
    assert not collected(data).origin


def test_a_pilot_is_another_survey_in_another_folder(survey, tmp_path):
    data = tmp_path / "data"
    pilot = Service.open(survey, data, pilot=True)
    with background(pilot) as url:
        answer(url, tmp_path)
        piloted = pilot.collector.design_id
    assert [path.name for path in data.iterdir()] == ["pilot"]
    assert (data / "pilot" / FILE).exists()
    service = Service.open(survey, data)
    with background(service) as url:
        assert results(service.collector).reports == 0
        assert piloted not in service.store.designs()
        answer(url, tmp_path)  # the same device: to it this is another survey
        assert service.store.total(service.collector.number) == 1
        assert found_there(service, data) == []
    with pytest.raises(InputError, match="leave --database and --issuer out"):
        Service.open(survey, data, "postgresql://localhost/s", pilot=True)


def test_whoever_has_the_link_may_try_a_survey_by_invitation():
    invited = replace(exams(), admission="invited")
    tried = pilot_of(invited)
    assert (tried.name, tried.admission, tried.closes) == ("exams-pilot", "open", None)
    assert tried.title["de"] == "Pilot: Prüfungen"
    assert tried.design == invited.design  # what is promised is what will be promised


def test_what_a_folder_holds_is_said_when_it_is_served(survey, tmp_path):
    data = tmp_path / "data"
    first = Service.open(survey, data)
    with background(first) as url:
        assert found_there(first, data) == []
        answer(url, tmp_path)
    survey.write_text(EXAMS.replace("DESIGN", "").replace("epsilon = 2.0", "epsilon = 3.0"), encoding="utf-8")
    second = Service.open(survey, data)
    others, changed = found_there(second, data)
    second.collector.close()
    assert f"deniable estimate {data} --design {first.collector.design_id[:12]}" in others
    assert "its own --data" in others
    assert "epsilon was 2 when people answered 'exams' before, and is 3 now" in changed
    assert "Put `epsilon` back" in changed


def test_a_collector_that_does_not_say_is_not_simulated_at(survey, tmp_path):
    class Mute:
        def __init__(self, url):
            self._http = Http(url)

        def request(self, method, path, body=None, *, most):
            return self._http.request(method, "/v1/nothing" if path == "/v1/simulated" else path, body, most=most)

    with background(Service.open(survey, tmp_path / "data")) as url:
        crowd = Crowd(url, transport=Mute(url))
        with pytest.raises(CollectorError, match="does not say"):
            _ = crowd.is_among_others
        crowd._transport._http.close()

"""Before a survey is served its operator is told what could not work."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime

from click.testing import CliRunner

from deniable.cli.app import app
from deniable.cli.collect.serve import _announce, preflight
from deniable.collection.survey_messages import LOOPBACK
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service
from exams import EXAMS, TOGETHER, exams

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def test_a_survey_in_order_needs_no_word():
    assert preflight(exams(), NOW) == []


def test_a_date_that_is_over_is_said():
    (told,) = preflight(replace(exams(), closes=datetime(2029, 12, 31, tzinfo=UTC)), NOW)
    assert "closed on 2029-12-31" in told
    assert "Move `closes`" in told


def test_an_epsilon_that_devices_refuse_is_said():
    generous = parse_survey(EXAMS.replace("DESIGN", TOGETHER).replace("epsilon = 2.0", "epsilon = 6.0"))
    (told,) = preflight(generous, NOW)
    assert "above 5" in told
    assert "Lower `epsilon`" in told


def test_a_blind_survey_does_not_start_without_what_signs_for_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    path = tmp_path / "exams.toml"
    path.write_text(EXAMS.replace("DESIGN", 'admission = "blind"'), encoding="utf-8")
    ran = CliRunner().invoke(app, ["serve", str(path), "--data", str(tmp_path / "data"), "--port", "0"])
    assert ran.exit_code != 0
    assert "pip install 'deniable[tokens]'" in ran.output
    assert not (tmp_path / "data").exists()


def test_what_is_served_elsewhere_is_not_recommended_for_here(tmp_path, capsys):
    path = tmp_path / "exams.toml"
    path.write_text(EXAMS.replace("DESIGN", ""), encoding="utf-8")
    there = "https://survey.example.org"
    for urls, origins in (((), LOOPBACK), ((there,), (there,))):
        service = Service.open(path, tmp_path / "data", origins=origins)
        _announce(service, "http://127.0.0.1:8123", tmp_path, urls, None)
        service.collector.close()
        told = capsys.readouterr().out
        assert f"answered at {there if urls else 'http://127.0.0.1:8123 (this machine; --url for others)'}\n" in told
        assert ("deniable simulate" in told) is not bool(urls)

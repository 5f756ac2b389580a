"""Designs and reports of versions that this program does not know: refused by name, wherever they turn up."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from deniable.cli.new import example_text
from deniable.collection.collector import Collector
from deniable.collection.load_reports import collected, stored_reports
from deniable.collection.survey_messages import design_body
from deniable.designs.registry import design_from_dict
from deniable.device.client import Client
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.http_transport import Http, Response
from deniable.device.protocol.messages import Report, design_id
from deniable.device.verify import verify
from deniable.errors import DesignError, RefusedDesignError
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service

NOW = design_body(parse_survey(example_text()))
IN_BLOCKS = """
format = 1
name = "blocks"
title = "Blocks"
epsilon = 1.5
design = { kind = "blocks", k = 1, block_size = 100 }
questions = [{ name = "a", text = "?", kind = "yes-no" }, { name = "b", text = "?", choices = ["x", "y", "z"] }]
"""
SENTENCE = "of version {}, and this program reads version 3: open the survey anew, in an empty folder"


def of(version):
    """A design that says it is of a version, and its name."""
    body = NOW.replace(b'"version":3', b'"version":%d' % version)
    return body, design_id(body)


@pytest.fixture(params=[1, 2], ids=["version 1", "version 2"])
def foreign(request):
    return *of(request.param), SENTENCE.format(request.param)


def test_a_design_of_another_version_is_refused_by_name(foreign):
    body, name, sentence = foreign
    with pytest.raises(RefusedDesignError, match=sentence) as caught:
        verify(body, name)
    assert caught.value.code == "unknown-version"


def test_a_design_of_a_later_version_asks_for_an_upgrade():
    with pytest.raises(RefusedDesignError, match=r"of version 4, .*: upgrade deniable"):
        verify(*of(4))


def test_a_device_draws_nothing_for_it(collector, tmp_path, foreign):
    body, name, sentence = foreign

    class Foreign(Http):
        def request(self, method, path, sent=None, *, most):
            if path == "/v1/survey":
                return Response(200, encode({"version": 2, "design": name, "opens": None, "closes": None}))
            return Response(200, body) if "designs" in path else super().request(method, path, sent, most=most)

    client = Client(collector.url, tmp_path / "device", transport=Foreign(collector.url))
    with pytest.raises(RefusedDesignError, match=sentence):
        client.answer({})
    assert client._state.ledger().spent == 1


def test_a_folder_that_holds_one_is_not_served_and_not_read(tmp_path, survey_text, foreign):
    body, name, sentence = foreign
    path = tmp_path / "survey.toml"
    path.write_text(survey_text, encoding="utf-8")
    with closing(SqliteStore(tmp_path / "data" / "reports.sqlite")) as store:
        store.register(name, body)
        for read in (lambda: Collector(parse_survey(survey_text), store), lambda: stored_reports(store, name)):
            with pytest.raises(RefusedDesignError, match=sentence):
                read()
    for read in (lambda: Service.open(path, tmp_path / "data"), lambda: collected(tmp_path / "data")):
        with pytest.raises(RefusedDesignError, match=sentence):
            read()


def test_a_file_of_reports_to_one_is_refused_by_name():
    fields = json.loads(design_body(parse_survey(IN_BLOCKS)))
    del fields["texts"], fields["replaces"]
    assert design_from_dict(fields).to_dict() == fields
    for version in (1, 2):
        with pytest.raises(DesignError, match=f"this design is of version {version}, and this program reads version 3"):
            design_from_dict(fields | {"version": version})


def test_a_report_of_another_version_is_refused(collector):
    report = Report(2, "ab" * 32, collector.collector.design_id, 0, (0,), None, (0,))
    for version in (1, 3):
        body = encode(report).replace(b'"version":2', b'"version":%d' % version)
        answer = Http(collector.url).request("POST", "/v1/reports", body, most=1000)
        assert answer.status == 400
        assert b"unknown-version" in answer.body

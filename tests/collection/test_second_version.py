"""Designs of version 2, which nothing that was released wrote: refused by name, wherever they turn up."""

from __future__ import annotations

import pytest

from deniable.collection.form import design_body
from deniable.device.client import Client
from deniable.device.messages import design_id
from deniable.device.transport import Http, Response
from deniable.device.verify import verify, verify_stored
from deniable.device.wire import encode
from deniable.errors import RefusedDesignError
from deniable.surveys.example import example_text
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service

BODY = design_body(parse_survey(example_text())).replace(b'"version":3', b'"version":2')
NAME = design_id(BODY)
SENTENCE = "of version 2, and this program reads version 3: open the survey anew, in an empty folder"


@pytest.mark.parametrize("read", [verify, verify_stored])
def test_a_design_of_version_2_is_refused_by_name(read):
    with pytest.raises(RefusedDesignError, match=SENTENCE) as caught:
        read(BODY, NAME)
    assert caught.value.code == "unknown-version"


def test_a_design_of_a_later_version_asks_for_an_upgrade():
    later = BODY.replace(b'"version":2', b'"version":4')
    with pytest.raises(RefusedDesignError, match=r"of version 4, .*: upgrade deniable"):
        verify(later, design_id(later))


def test_a_device_draws_nothing_for_it(collector, tmp_path):
    class Old(Http):
        def request(self, method, path, body=None, *, most):
            if path == "/v1/survey":
                return Response(200, encode({"version": 2, "design": NAME, "opens": None, "closes": None}))
            return Response(200, BODY) if "designs" in path else super().request(method, path, body, most=most)

    client = Client(collector.url, tmp_path / "device", transport=Old(collector.url))
    with pytest.raises(RefusedDesignError, match=SENTENCE):
        client.answer({})
    assert client._state.ledger().spent == 1


def test_a_folder_that_holds_one_is_not_served(tmp_path, survey_text):
    path = tmp_path / "survey.toml"
    path.write_text(survey_text, encoding="utf-8")
    service = Service.open(path, tmp_path / "data")
    service.collector.store.register(NAME, BODY)
    service.collector.store.close()
    with pytest.raises(RefusedDesignError, match=SENTENCE):
        Service.open(path, tmp_path / "data")

"""A device's tickets: one for each survey, also where the same address serves one after another."""

from __future__ import annotations

from urllib.parse import urlsplit

from deniable.device.client import Client
from deniable.web.serve import Service, background

SURVEY = """
format = 1
name = "{name}"
title = "Twice"
epsilon = 1.0
admission = "blind"
[[questions]]
name = "a"
text = "?"
kind = "yes-no"
"""


def test_another_survey_at_the_same_address_needs_another_ticket(tmp_path):
    port = 0
    for name in ("one", "two"):
        (tmp_path / "survey.toml").write_text(SURVEY.format(name=name), encoding="utf-8")
        service = Service.open(tmp_path / "survey.toml", tmp_path / "data")
        with background(service, port=port) as url:
            port = urlsplit(url).port
            (invitation,) = service.collector.entrance.invite(1)
            with Client(url, tmp_path / "device", invitation=invitation) as client:
                assert client.answer({"a": "yes"}).delivered
                assert client.answer({"a": "yes"}).delivered  # the same bytes

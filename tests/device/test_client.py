"""What a client says of itself and how it ends; what it does with answers is in tests/collection."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from deniable.collection.survey_messages import announcement, design_body, form_body
from deniable.device.client import Ballot, Client, Sent
from deniable.device.origins import fingerprint
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.http_transport import Response
from deniable.device.protocol.messages import Report, design_id
from deniable.errors import CollectorError
from deniable.surveys.survey import parse_survey

SURVEY = """
format = 1
name = "smoking"
title = "Smoking"
epsilon = 1.0
{tail}
[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
"""
PUBLIC = '[[public]]\nname = "region"\ntext = "Where?"\nchoices = ["north", "south"]\n'


class Served:
    """Serves a survey, and nothing else; a page can be replaced."""

    def __init__(self, tail="", **pages):
        survey = parse_survey(SURVEY.format(tail=tail))
        self.body = design_body(survey)
        self.pages = {
            "survey": encode(announcement(survey, design_id(self.body))),
            "designs": self.body,
            "forms": form_body(survey),
            **pages,
        }

    def request(self, method, path, body=None, *, most):  # noqa: ARG002 - pages are small
        return Response(200, self.pages[path.split("/")[2]])


def test_what_a_client_hands_out_never_changes():
    report = Report(2, "i" * 64, "d" * 64, None, 0, (1,), (), None, None)
    for value, field in ((Ballot("d", 0, ("smokes",)), "number"), (Sent(report, 1.0, delivered=True), "epsilon")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field, 0)


def test_it_says_what_it_has_left():
    assert repr(Client("http://localhost/", transport=Served())) == (
        "<Client of http://localhost: 5.0000 of epsilon 5 left>"
    )


def test_leaving_it_closes_the_state_and_its_own_connection(tmp_path, monkeypatch):
    hung_up = []

    def noted(connection):
        hung_up.append(connection)

    monkeypatch.setattr("deniable.device.protocol.http_transport.Http.close", noted)
    with Client("http://localhost", tmp_path / "device") as client:
        assert client.remaining == 5.0
        hung_up.clear()
    assert len(hung_up) == 1
    with pytest.raises(Exception, match="closed"):
        _ = client.remaining


def test_after_sending_the_line_is_hung_up(monkeypatch):
    """What comes later over the same connection would plainly be the same device's."""
    hung_up = []
    client = Client("http://localhost", transport=Served(reports=b""))
    monkeypatch.setattr(client._line, "hang_up", lambda: hung_up.append(True))
    assert client.send() == 0
    assert hung_up == [True]


def test_a_collector_that_does_not_say_what_it_serves_is_named():
    client = Client("http://localhost", transport=Served(survey=b"<html>a portal</html>"))
    with pytest.raises(CollectorError, match="http://localhost does not say which design it serves"):
        _ = client.design


@pytest.mark.parametrize(
    ("tail", "clear"), [("", "Nothing travels in clear."), (PUBLIC, "In clear, outside epsilon: 'region'.")]
)
def test_what_is_served_is_described(tail, clear):
    served = Served(tail)
    notes = Client("http://localhost", transport=served).describe().notes
    assert notes[0] == clear
    assert notes[1].startswith("Admission: open. Reports may go to 'http://localhost")
    told = "the same for everybody, or somebody is being told apart."
    assert notes[2] == f"Design {fingerprint(design_id(served.body))}: {told}"


@pytest.mark.parametrize(("more", "sums"), [("", 1), (', "smokes"', 2)])
def test_a_channel_made_for_some_numbers_says_what_it_tells(more, sums):
    asked = f'wanted = ["association(smokes, drinks)"{more}]\n[design]\nkind = "optimal"\n'
    drinks = '[[questions]]\nname = "drinks"\ntext = "Do you drink?"\nkind = "yes-no"\n'
    served = Served(asked + drinks)
    notes = Client("http://localhost", transport=served).describe().notes
    design = parse_survey(SURVEY.format(tail=asked + drinks)).design
    (question,) = design.questions
    # The second way: the rank of its matrix, which the constant is part of.
    assert question.channel.sums == np.linalg.matrix_rank(question.channel.matrix()) - 1 == sums
    said = f"tell {sums} of the 3 independent sums of its shares, and nobody can learn the others from them."
    said = f"Reports to {question.name} {said}"
    assert notes[0] == said
    assert said in design.describe().notes

"""What a panel repeats: one disguise, paid for once, of which every report is made anew. Nothing else is repeated."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import msgspec
import numpy as np
import pytest

from chequered import one_of
from deniable.channels.krr import KRR
from deniable.collection.survey_messages import announcement, design_body, form_body, form_of
from deniable.device.client import Client
from deniable.device.ledger_events import Asked, Replayed
from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.http_transport import Response
from deniable.device.protocol.messages import Correction, Form, Report, design_id
from deniable.device.protocol.word_corrections import changes_between, texts_of
from deniable.errors import OverdrawnError, PrivacyError, RefusedDesignError
from deniable.surveys.survey import parse_survey

SURVEY = """
format = 1
name = "{name}"
title = "Smoking"
epsilon = {epsilon}
admission = "invited"
panel = {{ name = "{panel}", people = {people}, repeats = ["smokes"], again = {again} }}
{keys}
[[questions]]
name = "smokes"
text = "Do you smoke?"
{asked}
{tail}
"""
DRINKS = '[[questions]]\nname = "drinks"\ntext = "How many?"\nkind = "number"\nbins = [1, 8]'
LOUD = 20  # a second level that turns one answer in 4e8: what is sent is what is kept


def text_of(name="wave", *, epsilon=1.0, panel="p", people=100, again=LOUD, keys="", asked='kind = "yes-no"', tail=""):
    fields = {"name": name, "epsilon": epsilon, "panel": panel, "people": people, "again": again}
    return SURVEY.format(**fields, keys=keys, asked=asked, tail=tail)


def survey_of(name="wave", **more):
    return parse_survey(text_of(name, **more))


class Server:
    """A collector without a network: serves a survey, and takes what it is sent."""

    def __init__(self, survey, *, form=None, **more):
        self.body = design_body(survey, form=form, **more)
        self.form = form_body(survey) if form is None else encode(form)
        self.announced = encode(announcement(survey, design_id(self.body)))
        self.received = []

    def request(self, method, path, body=None, *, most):  # noqa: ARG002 - it answers in few bytes
        if method == "GET":
            found = {"survey": self.announced, "forms": self.form, "designs": self.body}
            return Response(200, found[path.split("/")[2]])
        self.received.append(decode(body, Report, most=10_000))
        return Response(204, b"", stored=True)


def device(server, state=None, **options):
    return Client("http://localhost", state, transport=server, invitation="Mmmm", **options)


def answer(client, value="yes", **more):
    return client.answer({"smokes": value, **more}, accept=["panel"])


def follow(client, server):
    """The same device, at the next wave."""
    for name in ("form", "design"):
        vars(client).pop(name, None)
    client._line.transport = server
    return client


RATIO = KRR(2, 1.0).ratio


@pytest.mark.parametrize("value", ["yes", "no"])
def test_charge_and_refusal_are_the_same_whatever_the_answer(tmp_path, value):
    spent = []
    for wave in range(4):
        client = device(Server(survey_of(f"wave-{wave}")), tmp_path / "device", limit=1.5)
        answer(client, value)
        spent.append(client._state.ledger().spent)
    assert spent == [RATIO] * 4
    with pytest.raises(OverdrawnError):
        answer(device(Server(survey_of("other", epsilon=0.9)), tmp_path / "device"), value)


def test_however_often_a_panel_is_asked_one_disguise_is_kept_and_paid_for():
    client, seen = device(Server(survey_of("first"))), set()
    for wave in range(100):
        server = Server(survey_of(f"wave-{wave}"))
        answer(follow(client, server), "yes" if wave < 50 else "no")
        (report,) = server.received  # every wave got one
        seen.add(report.answers)
    assert len(seen) == 1
    events = client._state.ledger().events
    assert isinstance(events[0], Asked)
    assert all(isinstance(event, Replayed) for event in events[1:])
    assert client._state.ledger().spent == RATIO


MONTH = 'kind = "scale"\nfirst = 1\nlast = 12'


@pytest.mark.parametrize("channel", one_of(2, ["krr", "unary", "subset"]))
def test_reports_of_a_panel_tell_no_more_than_what_is_kept(channel):
    n, client, kept, sent = 300, None, set(), []
    keys = f'design = {{ kind = "joint", channel = "{channel}" }}'
    wave_of = partial(survey_of, keys=keys, asked=MONTH, again=0.7, people=100_000)
    for wave in range(n):
        server = Server(wave_of(f"wave-{wave}"))
        client = device(server) if client is None else follow(client, server)
        answer(client, "3" if wave < 150 else "9")
        (report,) = server.received
        sent.append(report.answers[0])
        kept |= set(client._state._db.execute("SELECT question, answer FROM remembered").fetchall())
    # One disguise was ever drawn, though the answer changed, and it was paid for once.
    ((_, only),) = kept
    channel_ = client.design.questions[0].channel
    assert client._state.ledger().spent == channel_.first.ratio == channel_.ratio
    assert all(isinstance(event, Replayed) for event in client._state.ledger().events[1:])
    # Each report is made of it by coins of its own, so that means lie around what is kept, and around nothing else:
    # with 300 reports each is 7 standard errors off with probability below 1e-8 (of binomials with p from .07 to .88),
    # and 36 of them are looked at.
    turned = channel_.again.other / (1 << channel_.again.bits)
    for v in range(12):
        holds = [report == v if channel == "krr" else report >> v & 1 for report in sent]
        is_kept = only == v if channel == "krr" else only >> v & 1
        expected = (1 - 11 * turned if channel == "krr" else 1 - turned) if is_kept else turned
        assert abs(np.mean(holds) - expected) < 7 * (expected * (1 - expected) / n) ** 0.5


def test_outside_of_a_panel_the_same_question_is_drawn_and_charged_anew(tmp_path):
    wave_of = partial(text_of, epsilon=0.5)
    bare = "\n".join(line for line in wave_of("{wave}").splitlines() if not line.startswith("panel"))
    sent = []
    for wave in range(8):
        server = Server(parse_survey(bare.replace("{wave}", f"wave-{wave}")))
        client = device(server, tmp_path / "device", limit=20.0)
        sent.append(client.answer({"smokes": "yes"}).report.answers)
    assert client._state.ledger().spent == KRR(2, 0.5).ratio ** 8
    assert client._state._db.execute("SELECT count(*) FROM remembered").fetchone() == (0,)


def test_another_panel_address_channel_wording_or_category_is_another_question_and_is_charged(tmp_path):
    waves = [
        Server(survey_of("a")),
        Server(survey_of("b", panel="another")),
        Server(survey_of("c"), audience=["http://localhost", "https://survey.example.org"]),
        Server(survey_of("d", again=18)),
        Server(parse_survey(text_of("e").replace("Do you smoke?", "Have you been to prison?"))),
        Server(survey_of("f", asked='choices = ["none", "cigarettes"]')),
        Server(survey_of("g", asked='choices = ["cigarettes", "none"]')),
    ]
    for number, server in enumerate(waves, start=1):
        client = device(server, tmp_path / "device", limit=20.0)
        answer(client, "none" if number > 5 else "no")
        assert client._state.ledger().spent == RATIO**number
    # All of them are kept: whichever comes again costs nothing.
    answer(device(Server(survey_of("h", panel="another")), tmp_path / "device"))
    assert client._state.ledger().spent == RATIO ** len(waves)


def test_the_first_level_is_part_of_what_is_asked(tmp_path):
    answer(device(Server(survey_of("a")), tmp_path / "device"))
    client = device(Server(survey_of("b", epsilon=0.9)), tmp_path / "device")
    answer(client)
    assert client._state.ledger().spent == RATIO * KRR(2, 0.9).ratio


def test_of_a_ballot_only_what_is_not_kept_is_charged_again(tmp_path):
    wave_of = partial(survey_of, keys='design = { kind = "independent" }', tail=DRINKS, people=1000, again=2)
    for wave in range(3):
        client = device(Server(wave_of(f"wave-{wave}")), tmp_path / "device")
        answer(client, drinks=0)
    smokes, drinks = (question.ratio for question in client.design.questions)
    assert client._state.ledger().spent == smokes * drinks**3


def test_a_panel_is_agreed_to_and_said(tmp_path):
    client = device(Server(survey_of(people=123, again=2)), tmp_path / "device")
    found = client.design.found_again
    assert found == 2 * Fraction(KRR(2, 2.0).keep, 1 << KRR(2, 2.0).bits) / 123
    large = device(Server(survey_of(people=2_000_000_000, again=2)))
    assert large.design.found_again == found * 123 / 1000  # whatever larger number is said
    assert "If at least 1000 people take part, at most 0.18 in 100 of them" in str(large.describe())
    assert "of 100 people, 1.77 in 100." in str(large.describe())
    for accept in ((), ["deniability"], "blocks"):
        with pytest.raises(PrivacyError, match=r"at most 1\.44 in 100 .* accept=\['panel'\]"):
            client.answer({"smokes": "yes"}, accept=accept)
    assert client._state.ledger().events == ()
    assert "If at least 123 people take part, at most 1.44 in 100 of them" in str(client.describe())
    assert "of fewer, more: of 12 people, 14.68 in 100." in str(client.describe())
    assert answer(client).delivered


# -- corrected words --------------------------------------------------------------------------------------------------


def reworded(first, text):
    """The survey of a server under other words, which replaces it."""
    found = parse_survey(text_of().replace("Do you smoke?", text))
    changes = changes_between(texts_of(decode(first.form, Form, most=10_000)), texts_of(form_of(found)))
    if not changes:
        return first
    replaces = design_id(first.body)
    form = msgspec.structs.replace(form_of(found), corrections=(Correction(replaces, "a misprint", changes),))
    return Server(found, form=form, replaces=replaces)


def test_a_correction_between_draw_and_answer_buys_no_second_disguise(tmp_path):
    state = tmp_path / "device"
    answer(device(Server(survey_of("before")), state))
    first = Server(survey_of())
    device(first, state).draw()  # what is kept goes on: nothing is charged
    assert device(first, state)._state.ledger().spent == RATIO
    # Other words make another question of it, whose disguise is drawn anew and paid for; asked again, it is the same.
    second = reworded(first, "Two?")
    client = device(second, state)
    for _ in range(3):
        client.draw()
    sent = answer(client, "no")
    assert client._state.ledger().spent == RATIO**2
    later = Server(parse_survey(text_of("later").replace("Do you smoke?", "Two?")))
    assert answer(device(later, state), "yes").report.answers == sent.report.answers
    assert client._state.ledger().spent == RATIO**2
    # Nor is a correction answered that the account does not allow.
    poor = tmp_path / "poor"
    answer(device(Server(survey_of("before")), poor, limit=1.5))
    device(first, poor).draw()
    with pytest.raises(OverdrawnError):
        answer(device(second, poor))


def test_corrections_never_charge_more_than_the_question_costs(tmp_path):
    answer(device(Server(survey_of("before")), tmp_path / "device"))
    first = Server(survey_of())
    device(first, tmp_path / "device").draw()  # nothing is charged
    # However often the words change before anything is disguised, and whichever come again, one disguise is paid for.
    for text in ("One?", "Two?", "One?", "Do you smoke?", "Three?", "Two?"):
        client = device(reworded(first, text), tmp_path / "device")
        client.draw()
        assert client._state.ledger().spent == RATIO**2
    answer(client, "no")
    assert client._state.ledger().spent == RATIO**2


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((b'"admission":"invited"', b'"admission":"open"'), "wrong-panel"),
        ((b'"people":100', b'"people":30'), "pseudonym"),
        ((b'"repeats":["smokes"]', b'"repeats":["sleeps"]'), "wrong-panel"),
    ],
)
def test_a_device_refuses_what_the_survey_file_could_not_say(change, code):
    server = Server(survey_of())
    server.body = server.body.replace(*change)
    server.announced = encode(announcement(survey_of(), design_id(server.body)))
    client = device(server)
    with pytest.raises(RefusedDesignError) as caught:
        answer(client)
    assert caught.value.code == code
    assert client._state.ledger().events == ()

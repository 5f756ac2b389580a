"""The client trusts nobody, pays before it asks, disguises once, and leaves no answer behind."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import msgspec
import numpy as np
import pytest

from deniable.channels.krr import KRR
from deniable.collection.survey_messages import announcement, design_body, form_body, form_of
from deniable.device.client import Client
from deniable.device.origins import fingerprint
from deniable.device.protocol import messages
from deniable.device.protocol.answer_encoding import codes_of, read_answers
from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.http_transport import Http, Response
from deniable.device.protocol.messages import Correction, Form, Report, design_id
from deniable.device.protocol.problem_details import PROBLEMS, problem
from deniable.device.protocol.word_corrections import changes_between, texts_of
from deniable.errors import (
    CollectorError,
    InputError,
    OverdrawnError,
    PrivacyError,
    RefusedDesignError,
    RejectedError,
    UnreachableError,
)
from deniable.surveys.survey import parse_survey

SURVEY = """
format = 1
name = "{name}"
title = "Smoking"
epsilon = {epsilon}
{keys}
[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
{tail}
"""
PROBLEM = "application/problem+json"
DRINKS = '[[questions]]\nname = "drinks"\ntext = "How many?"\nkind = "number"\nbins = [1, 8]\nprefer_not_to_say = true'


def survey_of(name="wave", *, epsilon=1.0, keys="", tail=""):
    return parse_survey(SURVEY.format(name=name, epsilon=epsilon, keys=keys, tail=tail))


class Server:
    """A collector without a network: serves a survey, keeps what it is sent, and can fail in every way."""

    def __init__(self, survey, *, body=None, form=None):
        self.body = design_body(survey) if body is None else body
        self.form = form_body(survey) if form is None else form
        self.announced = encode(announcement(survey, design_id(self.body)))
        self.received, self.requests = [], []
        self.failing = []

    def request(self, method, path, body=None, *, most):  # noqa: ARG002 - it answers in few bytes
        self.requests.append((method, path, body))
        if method == "GET":
            found = {"survey": self.announced, "forms": self.form, "designs": self.body}
            return Response(200, found[path.split("/")[2]])
        if self.failing:
            failure = self.failing.pop(0)
            if isinstance(failure, Exception):
                raise failure
            if failure == "lost reply":
                self.received.append(body)
                raise UnreachableError("the reply was lost")
            if isinstance(failure, Response):
                return failure
            return Response(PROBLEMS[failure][0], encode(problem(failure)), 0.0, "application/problem+json")
        self.received.append(body)
        return Response(204, b"", stored=True)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)


def reports(server):
    return [decode(body, Report, most=10_000) for body in server.received]


def device(server, state=None, **options):
    return Client("http://localhost", state, transport=server, **options)


# -- the whole way ----------------------------------------------------------------------------------------------


def test_an_answer_is_disguised_and_sent(collector, tmp_path):
    client = Client(collector.url, state=tmp_path / "device")
    sent = client.answer({"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}, public=["region"])
    assert sent.delivered
    assert sent.epsilon <= 1.0
    assert sent.report.public == (1,)
    assert sum(collector.collector.store.counts(1).values()) == 1
    assert client.remaining < 4.01


def test_asking_again_sends_the_same_bytes_and_costs_nothing(collector, tmp_path):
    person = {"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}
    first = Client(collector.url, state=tmp_path / "device").answer(person, public=["region"])
    client = Client(collector.url, state=tmp_path / "device")
    again = client.answer({**person, "smokes": "no", "sleep": "badly", "drinks": 0}, public=["region"])
    assert again.report == first.report
    assert sum(collector.collector.store.counts(1).values()) == 1
    assert client.remaining > 3.99


def test_numbers_skips_and_hidden_questions_become_codes():
    public = '[[public]]\nname = "region"\ntext = "?"\nchoices = ["a", "b"]\n'
    well = '[[questions]]\nname = "well"\ntext = "?"\nkind = "yes-no"\nshow_if = { region = "a" }\n'
    server = Server(survey_of(keys='design = { kind = "independent" }', tail=public + DRINKS + "\n" + well))
    client = device(server)

    def codes(**values):
        return codes_of(client.design.asked_coded, client.design.public_coded, values)

    assert codes(smokes="no", drinks=7.5, region="b", well="yes") == {"smokes": 0, "drinks": 1, "region": 1, "well": 2}
    assert codes(smokes="no", drinks=None, region="a", well="yes") == {"smokes": 0, "drinks": 3, "region": 0, "well": 1}
    with pytest.raises(InputError, match="no answer about 'region'"):
        codes(smokes="no", drinks=1, well="yes")
    with pytest.raises(InputError, match="not one of its"):
        codes(smokes="no", drinks=1, region="a", well="does not apply")


@pytest.mark.parametrize("missing", ["smokes", "drinks"])
def test_every_answer_is_needed_whichever_ballot_would_be_drawn(tmp_path, missing):
    server = Server(survey_of(tail=DRINKS))
    client = device(server, tmp_path / "device")
    person = {"smokes": "no", "drinks": 3}
    del person[missing]
    with pytest.raises(InputError, match="no answer about"):
        client.answer(person)
    assert client._state.ledger().events == ()
    assert {method for method, _, _ in server.requests} == {"GET"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), [1], {"a": 1}, b"yes"])
def test_what_can_never_be_an_answer_is_refused_before_the_first_request(value):
    server = Server(survey_of())
    with pytest.raises(InputError):
        device(server).answer({"smokes": value})
    assert server.requests == []


def test_reports_follow_the_channel():
    # 500 devices that all say yes: reports of "yes" are binomial(500, p).
    server, n = Server(survey_of()), 500
    for _ in range(n):
        device(server).answer({"smokes": "yes"})
    found = Counter(report.answers for report in reports(server))
    p = KRR(2, 1.0).p
    # The OS draws the bits, so the bound is the one for a fresh draw: 5.5 sd has probability 4e-8.
    assert abs(found[1,] - n * p) < 5.5 * (n * p * (1 - p)) ** 0.5
    assert len({report.id for report in reports(server)}) == n


# -- privacy ------------------------------------------------------------------------------------------------------


def test_a_design_that_breaks_its_promise_is_refused_before_anything_is_drawn(tmp_path):
    survey = survey_of()
    tampered = design_body(survey).replace(b'"epsilon":"1"', b'"epsilon":"0.9"')
    client = device(Server(survey, body=tampered), tmp_path / "device")
    with pytest.raises(RefusedDesignError) as caught:
        client.answer({"smokes": "yes"})
    assert caught.value.code == "epsilon-exceeded"
    assert client._state.ledger().events == ()


def test_a_server_that_swaps_the_design_is_found_out():
    server = Server(survey_of())
    server.body = server.body.replace(b"wave", b"trap")
    with pytest.raises(RefusedDesignError) as caught:
        device(server).answer({"smokes": "yes"})
    assert caught.value.code == "wrong-hash"


def test_the_ballot_is_charged_and_on_disk_before_it_is_shown(tmp_path):
    tail = DRINKS
    server = Server(survey_of(tail=tail))
    ballot = device(server, tmp_path / "device").draw()
    # Another program, or the same after a crash: the same ballot, and paid for already.
    later = device(server, tmp_path / "device")
    assert later.remaining < 4.01
    assert [later.draw() for _ in range(20)] == [ballot] * 20
    assert len(later._state.ledger().events) == 1


def test_an_answer_without_a_code_is_refused_under_a_pinned_design(tmp_path):
    server = Server(survey_of())
    client = device(server, tmp_path / "device")
    with pytest.raises(InputError) as caught:
        client.answer({"smokes": "perhaps"}, design=design_id(server.body))
    assert client.remaining == 5.0
    assert "perhaps" not in str(caught.value)
    assert {method for method, _, _ in server.requests} == {"GET"}


KINDS = """
[[questions]]
name = "mood"
text = "How are you?"
choices = ["low", {value = "fine", text = "I am fine"}, {value = "high", text = "Very well"}]

[[questions]]
name = "sleep"
text = "How well do you sleep?"
kind = "scale"
first = 1
last = 5

"""


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ({"smokes": True}, {"smokes": "yes"}),
        ({"smokes": np.bool_(False)}, {"smokes": "no"}),
        ({"smokes": "Yes"}, {"smokes": "yes"}),
        ({"sleep": 3}, {"sleep": "3"}),
        ({"sleep": np.int64(3)}, {"sleep": "3"}),
        ({"sleep": 3.0}, {"sleep": "3"}),
        ({"mood": "Very well"}, {"mood": "high"}),
        ({"mood": np.str_("low")}, {"mood": "low"}),
        ({"drinks": np.float32(0.5)}, {"drinks": Decimal("0.5")}),
        ({"drinks": None}, {"drinks": None}),
    ],
)
def test_what_programs_hand_over_is_understood(values, meant):
    client = device(Server(survey_of(tail=KINDS + DRINKS)))
    assert read_answers(client.design, client.form, values) == meant


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mood": 7}, "'mood' is a int"),
        ({"mood": True}, "'mood' is a bool"),
        ({"smokes": 1.5}, "'smokes' is a float"),
        ({"sleep": False}, "'sleep' is a bool"),
        ({"drinks": True}, "'drinks' is a bool"),
        ({"on": True}, "nothing called 'on'"),
        ({"moood": "low"}, "did you mean 'mood'"),
    ],
)
def test_names_and_types_are_checked_before_anything_is_drawn(tmp_path, wrong, said):
    server = Server(survey_of(tail=KINDS + DRINKS))
    client = device(server, tmp_path / "device")
    person = {"smokes": "yes", "mood": "low", "sleep": 3, "drinks": 2}
    with pytest.raises(InputError, match=said):
        client.answer({**person, **wrong})
    assert client.remaining == 5.0
    assert client._state.drawn(client.design.plan_id) is None
    assert {method for method, _, _ in server.requests} == {"GET"}
    assert client.answer(person).delivered


@pytest.mark.parametrize("value", ["perhaps", None, "does not apply"])
def test_an_answer_without_a_code_is_replaced_by_one_drawn_evenly_where_the_collector_chose_the_categories(value):
    # With k-RR at epsilon 1 a fair coin reports yes half of the time; 256 of them are 5.5 standard deviations off, 44
    # reports, with probability 4e-8. The requests are those of everybody else, and the caller is told afterwards.
    server, told = Server(survey_of()), 0
    for _ in range(256):
        with pytest.raises(InputError, match="drawn evenly") as caught:
            device(server).answer({"smokes": value})
        told += caught.value.sent.delivered
        assert "perhaps" not in str(caught.value)
    assert told == len(server.received) == 256
    assert abs(sum(report.answers[0] for report in reports(server)) - 128) < 44
    honest = Server(survey_of())
    device(honest).answer({"smokes": "yes"})
    assert {tuple(request[:2]) for request in server.requests} == {tuple(request[:2]) for request in honest.requests}


def test_the_lifetime_limit_holds_over_all_surveys(tmp_path):
    state = tmp_path / "device"
    for wave in range(2):
        device(Server(survey_of(f"wave-{wave}")), state, limit=2.5).answer({"smokes": "yes"})
    server = Server(survey_of("wave-2"))
    client = device(server, state)
    with pytest.raises(OverdrawnError):
        client.answer({"smokes": "yes"})
    assert server.received == []
    assert client._state.drawn(client.design.plan_id) is None
    with pytest.raises(PrivacyError, match="cannot be changed"):
        device(server, state, limit=100)


# -- what the caller decides ------------------------------------------------------------------------------------------

REGION = '[[public]]\nname = "hiv"\ntext = "?"\nchoices = ["a", "b"]\n'


def test_only_what_the_caller_names_leaves_in_clear(tmp_path):
    server = Server(survey_of(tail=REGION))
    client = device(server, tmp_path / "device")
    person = {"smokes": "yes", "hiv": "b"}
    for named in ((), ["smokes"], "region"):
        with pytest.raises(PrivacyError, match="in clear"):
            client.answer(person, public=named)
    assert server.received == []
    assert client._state.ledger().events == ()
    assert client.answer(person, public=["hiv", "region"]).report.public == (1,)


def test_a_design_can_be_pinned_and_its_epsilon_capped():
    server = Server(survey_of())
    client = device(server)
    with pytest.raises(PrivacyError, match="you expect"):
        client.answer({"smokes": "yes"}, design="0" * 64)
    with pytest.raises(PrivacyError, match=r"more than the 0\.5 you allow"):
        client.answer({"smokes": "yes"}, epsilon=0.5)
    assert client._state.ledger().events == ()
    assert client.answer({"smokes": "yes"}, design=design_id(server.body), epsilon=1).delivered


def test_a_pinned_issuer_refuses_every_other_admission():
    for keys in ("", 'admission = "invited"'):
        client = device(Server(survey_of(keys=keys)), issuer="0" * 64, invitation="x")
        with pytest.raises(PrivacyError, match="you expect"):
            client.answer({"smokes": "yes"})
        assert client._state.ledger().events == ()


def test_somebody_elses_design_gets_nothing():
    server = Server(survey_of())
    client = Client("https://copycat.example", transport=server)
    with pytest.raises(RefusedDesignError) as caught:
        client.answer({"smokes": "yes"})
    assert caught.value.code == "not-for-here"
    assert {method for method, _, _ in server.requests} == {"GET"}


def test_a_caller_is_told_before_anything_is_drawn(tmp_path):
    client = device(Server(survey_of(tail=REGION)), tmp_path / "device")
    told = str(client.describe())
    assert "factor of at most 2.71" in told
    assert "In clear, outside epsilon: 'hiv'" in told
    assert fingerprint(client.design.id) in told
    assert client._state.ledger().events == ()


# -- amendments -------------------------------------------------------------------------------------------------------


def amended(survey, server, text="Do you smoke at all?"):
    """The survey with its question reworded, as a collector that served it before would serve it."""
    found, before = parse_survey(survey.replace("Do you smoke?", text)), decode(server.form, Form, most=10_000)
    changes = changes_between(texts_of(before), texts_of(form_of(found)))
    if not changes:
        return server
    replaces = design_id(server.body)
    form = msgspec.structs.replace(form_of(found), corrections=(Correction(replaces, "a misprint", changes),))
    return Server(found, body=design_body(found, replaces=replaces, form=form), form=encode(form))


PLAIN = SURVEY.format(name="wave", epsilon=1.0, keys="", tail="")


def test_who_answered_before_a_correction_is_not_asked_again(tmp_path):
    first = Server(parse_survey(PLAIN))
    device(first, tmp_path / "device").answer({"smokes": "yes"})
    second = amended(PLAIN, first)
    client = device(second, tmp_path / "device")
    with pytest.raises(RefusedDesignError) as caught:
        client.answer({"smokes": "yes"})
    assert caught.value.code == "answered"
    assert second.received == []
    assert len(client._state.ledger().events) == 1


def test_who_drew_before_a_correction_answers_the_corrected_question_and_pays_once(tmp_path):
    first = Server(parse_survey(PLAIN))
    ballot = device(first, tmp_path / "device").draw()
    second = amended(PLAIN, first)
    client = device(second, tmp_path / "device")
    sent = client.answer({"smokes": "yes"})
    assert (sent.report.ballot, sent.report.design) == (ballot.number, design_id(second.body))
    assert len(client._state.ledger().events) == 1


def test_a_collector_does_not_hold_the_devices_state(tmp_path):
    server = Server(survey_of("a"))
    slow = device(server, tmp_path / "device")
    asked = []

    class Slow:
        def request(self, method, path, body=None, *, most):
            if "forms" in path:  # while the words are on their way, another survey can be answered
                asked.append(device(Server(survey_of("b")), tmp_path / "device").answer({"smokes": "yes"}).delivered)
            return server.request(method, path, body, most=most)

    slow._line.transport = Slow()
    slow.draw()
    assert asked == [True]


def test_only_the_survey_that_was_answered_is_sent(tmp_path):
    first = Server(survey_of("a"))
    first.failing = [UnreachableError("gone")] * 5
    with pytest.raises(UnreachableError):
        device(first, tmp_path / "device").answer({"smokes": "yes"})
    second = Server(survey_of("b"))
    client = device(second, tmp_path / "device")
    client.answer({"smokes": "yes"})
    assert len(second.received) == 1
    assert client.send() == 1


def test_words_that_are_not_the_designs_are_refused():
    server = Server(survey_of())
    server.form = server.form.replace(b"Do you smoke?", b"Do you cheat?")
    with pytest.raises(RefusedDesignError) as caught:
        device(server).form  # noqa: B018 - reading it is the test
    assert caught.value.code == "wrong-texts"


def test_what_changes_is_charged_anew(tmp_path):
    state = tmp_path / "device"
    for wave in range(3):
        client = device(Server(survey_of(f"wave-{wave}")), state)
        client.answer({"smokes": "yes"})
    assert client._state.ledger().spent == Fraction(KRR(2, 1.0).ratio) ** 3


def test_no_answer_is_written_to_disk_or_sent(tmp_path):
    tail = '[[questions]]\nname = "secret"\ntext = "?"\nchoices = ["sentinel-one", "sentinel-two", "sentinel-three"]'
    server = Server(survey_of(keys='design = { kind = "independent" }', tail=tail))
    device(server, tmp_path / "device").answer({"smokes": "yes", "secret": "sentinel-two"})
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    sent = b"".join(body for _, _, body in server.requests if body)
    assert b"sentinel" not in stored + sent
    assert (tmp_path / "device").stat().st_mode & 0o777 == 0o600
    # What is stored about the person is the report, byte for byte what the collector has.
    assert server.received[0] in stored


# -- sending ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", ["busy", "unavailable", "full", "failed", "lost reply", UnreachableError("gone")])
def test_a_retry_sends_the_same_bytes(failure):
    server = Server(survey_of())
    server.failing = [failure, failure]
    assert device(server).answer({"smokes": "yes"}).delivered
    assert len({body for method, _, body in server.requests if method == "POST"}) == 1


def test_a_report_that_cannot_be_delivered_is_kept_for_later(tmp_path):
    server = Server(survey_of())
    server.failing = [UnreachableError("gone")] * 5
    with pytest.raises(UnreachableError):
        device(server, tmp_path / "device").answer({"smokes": "yes"})
    client = device(server, tmp_path / "device")
    assert client.send() == 1
    assert client.send() == 0
    assert len({body for method, _, body in server.requests if method == "POST"}) == 1


def test_a_report_refused_for_good_is_not_sent_for_ever():
    server = Server(survey_of())
    server.failing = ["conflict"]
    client = device(server)
    with pytest.raises(RejectedError):
        client.answer({"smokes": "yes"})
    assert client.send() == 0


PORTALS = {
    "a page in the place of everything": Response(200, b"<html>Sign in</html>", None, "text/html"),
    "an empty 204": Response(204, b""),
    "a redirection": Response(302, b""),
    "a page that forbids": Response(403, b"<html>Forbidden</html>", None, "text/html"),
    "a page that is not found": Response(404, b"{}", None, "application/json"),
    "a proxy with a limit": Response(413, b"too large", None, "text/plain"),
    "a problem of something else": Response(404, b'{"type":"about:blank","title":"x","status":404}', None, PROBLEM),
    "a code that is not on the list": Response(
        410, b'{"type":"urn:deniable:problem:gone","title":"x","status":410}', None, PROBLEM
    ),
    "another status": Response(403, encode(problem("conflict")), None, PROBLEM),
    "a status that is not the code's": Response(
        403, encode(problem("conflict")).replace(b"409", b"403"), None, PROBLEM
    ),
    "a problem as a page": Response(409, encode(problem("conflict")), None, "text/html"),
    "a field too many": Response(
        409, encode(problem("conflict")).replace(b'"status"', b'"portal":1,"status"'), None, PROBLEM
    ),
    "closed for now": Response(403, encode(problem("closed")), None, PROBLEM),
}


@pytest.mark.parametrize("answer", PORTALS.values(), ids=PORTALS)
def test_only_the_protocols_own_answer_settles_a_report(tmp_path, answer):
    server = Server(survey_of())
    server.failing = [answer] * 5
    with pytest.raises(CollectorError) as caught:
        device(server, tmp_path / "device").answer({"smokes": "yes"})
    assert "Sign in" not in str(caught.value)
    server.failing = []
    client = device(server, tmp_path / "device")
    assert client.send() == 1
    assert len({body for method, _, body in server.requests if method == "POST"}) == 1


def test_words_of_a_server_never_reach_the_respondent():
    server = Server(survey_of())
    said = encode(problem("conflict")).replace(b"Another report", b"Call this number: another report")
    server.failing = [Response(409, said, None, PROBLEM)]
    with pytest.raises(RejectedError) as caught:
        device(server).answer({"smokes": "yes"})
    assert "Call this number" not in str(caught.value)


def test_reports_of_several_surveys_leave_one_by_one(tmp_path):
    for wave in range(3):
        server = Server(survey_of(f"wave-{wave}"))
        client = device(server, tmp_path / "device")
        assert not client.answer({"smokes": "yes"}, send=False).delivered
        assert server.received == []
    assert client.send() == 3
    assert len({report.design for report in reports(server)}) == 3


def test_two_programs_with_one_state_take_turns(tmp_path):
    server = Server(survey_of())
    first, second = device(server, tmp_path / "device"), device(server, tmp_path / "device")
    assert first.draw() == second.draw()
    assert first.answer({"smokes": "yes"}).report == second.answer({"smokes": "no"}).report


def test_no_connection_is_one_error_and_no_address_another():
    with pytest.raises(UnreachableError):
        Client("http://127.0.0.1:9").design  # noqa: B018 - the discard port: nobody listens
    with pytest.raises(InputError, match="begins with"):
        Http("ftp://collector")


def test_an_answer_that_is_cut_short_is_none():
    # The server died while it wrote. What came must not be taken for the whole: it would be a design with another hash.
    with socket.create_server(("127.0.0.1", 0)) as server:

        def die():
            for _ in range(2):
                connection, _ = server.accept()
                connection.recv(65536)
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}"
                )
                connection.close()

        thread = threading.Thread(target=die)
        thread.start()
        http = Http(f"http://127.0.0.1:{server.getsockname()[1]}")
        for _ in range(2):
            with pytest.raises(UnreachableError):
                http.request("GET", "/v1/survey", most=1000)
        thread.join()


def test_an_answer_without_end_is_cut_off(collector):
    with pytest.raises(CollectorError, match="more than 10 bytes"):
        Http(collector.url).request("GET", "/v1/survey", most=10)


def test_the_client_stays_small():
    script = (
        "import sys\nfrom deniable.device.client import Client\nClient('http://collector')\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert not {"scipy", "pyarrow", "pandas", "narwhals", "starlette", "httpx", "uvicorn"} & set(done.stdout.split())


def test_a_design_is_read_up_to_a_size():
    assert messages.MOST_DESIGN_BYTES >= 1 << 20

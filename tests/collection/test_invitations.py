"""Admission: one report an invitation, only hashes at rest, and no way from a blind token back to its invitation."""

from __future__ import annotations

import hashlib
import http.client
import json
import secrets
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.invitations import digest
from deniable.collection.simulate_respondents import Crowd
from deniable.collection.token_issuer import LocalIssuer, SecretKey, read_key
from deniable.device.client import Client
from deniable.device.origins import fingerprint
from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol.admission_token import _key, report_id, token_id
from deniable.device.protocol.blind_signature import PublicKey
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.http_transport import Http, Response
from deniable.device.protocol.messages import Application, Issuer, Report, Signed
from deniable.errors import InputError, PrivacyError, RejectedError

PERSON = {"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}


@pytest.fixture
def text(survey_text):
    return lambda kind: survey_text.replace("epsilon = 1.0", f'epsilon = 1.0\nadmission = "{kind}"')


@pytest.fixture
def invited(serve, text):
    with serve(text("invited")) as running:
        yield running


@pytest.fixture
def blinded(serve, text):
    with serve(text("blind")) as running:
        yield running


def post(running, path, message):
    connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=300)
    try:
        connection.request("POST", path, message if isinstance(message, bytes) else encode(message))
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body) if body else None
    finally:
        connection.close()


def code(answer):
    return answer[1]["type"].rpartition(":")[2]


def codes_of(running, number):
    return running.collector.entrance.invite(number)


def stored(running):
    return sum(running.collector.store.counts(1).values())


def report(running, identity, answers=(3,), **proof):
    design = running.collector.design_id
    return Report(version=2, id=identity, design=design, ballot=0, answers=answers, public=(1,), **proof)


def signed_token(issuer, invitation):
    """A token and its signature, as a device gets them."""
    key = PublicKey(int(json.loads(issuer.message)["n"], 16))
    token = blind.prepare(secrets.token_bytes(32))
    made = blind.blind(key, token)
    answer = issuer.sign(encode(Application(1, invitation, made.message.hex())))
    assert isinstance(answer, Signed)
    return token, blind.finalize(key, token, bytes.fromhex(answer.signature), made.inverse)


# -- plain invitations -----------------------------------------------------------------------------------------------


def test_an_invitation_lets_one_report_in(invited, tmp_path):
    first, second = codes_of(invited, 2)
    assert Client(invited.url, tmp_path / "one", invitation=first).answer(PERSON, public=["region"]).delivered
    # The same device again: the same bytes. Another device with the same invitation: too late.
    assert Client(invited.url, tmp_path / "one", invitation=first).answer(PERSON, public=["region"]).delivered
    assert stored(invited) == 1
    assert post(invited, "/v1/reports", report(invited, report_id(second)))[0] == 204
    again = Report(
        version=2, id=report_id(second), design=invited.collector.design_id, ballot=1, answers=(0,), public=(0,)
    )
    assert code(post(invited, "/v1/reports", again)) == "conflict"
    assert stored(invited) == 2


def test_nobody_else_is_let_in(invited, tmp_path):
    client = Client(invited.url, tmp_path / "device", invitation="a guess")
    with pytest.raises(RejectedError, match="by invitation"):
        client.answer(PERSON, public=["region"])
    with pytest.raises(InputError, match="by invitation"):
        Client(invited.url).answer(PERSON, public=["region"])
    good = report_id(codes_of(invited, 1)[0])
    batch = [report(invited, secrets.token_hex(32)), report(invited, good), report(invited, secrets.token_hex(32))]
    status, receipt = post(invited, "/v1/reports", batch)
    assert (status, receipt["accepted"]) == (200, 1)
    assert [failure["index"] for failure in receipt["failures"]] == [0, 2]
    assert invited.collector.rejections.total()["not-invited"] == 3
    assert stored(invited) == 1
    assert code(post(invited, "/v1/tokens", Application(1, "x", "00"))) == "not-invited"


def test_what_is_stored_does_not_hold_the_invitation(invited):
    made = codes_of(invited, 3)
    Client(invited.url, invitation=made[0]).answer(PERSON, public=["region"])
    held = b"".join(path.read_bytes() for path in invited.data.rglob("*") if path.is_file())
    for secret in made:
        assert secret.encode() not in held
        assert bytes.fromhex(report_id(secret)) not in held
        assert report_id(secret).encode() not in held
    assert digest(report_id(made[1])) in held


# -- blind tokens ----------------------------------------------------------------------------------------------------


def test_a_blind_token_lets_one_report_in(blinded, tmp_path):
    made = codes_of(blinded, 2)
    client = Client(blinded.url, tmp_path / "device", invitation=made[0])
    client.enter()
    sent = Client(blinded.url, tmp_path / "device", invitation=made[0]).answer(PERSON, public=["region"])
    assert sent.delivered
    assert Client(blinded.url, tmp_path / "device").answer(PERSON, public=["region"]).report == sent.report
    with pytest.raises(RejectedError, match="used for another token"):
        Client(blinded.url, invitation=made[0]).answer(PERSON, public=["region"])
    with pytest.raises(RejectedError, match="by invitation"):
        Client(blinded.url, invitation="a guess").answer(PERSON, public=["region"])
    assert stored(blinded) == 1


class Listed(Http):
    """Notes what is posted where."""

    def __init__(self, url):
        super().__init__(url)
        self.posted = []

    def request(self, method, path, body=None, *, most):
        if method == "POST":
            self.posted.append(path)
        return super().request(method, path, body, most=most)


def test_a_token_is_fetched_when_one_enters_and_not_again(blinded, tmp_path):
    made = codes_of(blinded, 1)[0]
    first, second = Listed(blinded.url), Listed(blinded.url)
    Client(blinded.url, tmp_path / "device", transport=first, invitation=made).enter()
    assert first.posted == ["/v1/tokens"]
    told = Client(blinded.url, tmp_path / "device", transport=second).answer(PERSON, public=["region"])
    assert told.delivered
    assert second.posted == ["/v1/reports"]


def test_where_there_are_no_tokens_nothing_is_fetched_by_entering(invited, collector, tmp_path):
    for running, invitation in ((invited, codes_of(invited, 1)[0]), (collector, None)):
        transport = Listed(running.url)
        Client(running.url, transport=transport, invitation=invitation).enter()
        assert transport.posted == []


def test_the_issuer_s_key_can_be_compared(blinded):
    client = Client(blinded.url)
    told = client.describe().notes[2]
    assert f"; the issuer's key {fingerprint(client.design.message.issuer)}: the same for everybody" in told


def test_the_server_never_sees_token_and_invitation_together(blinded, tmp_path):
    seen = []

    class Watched(Http):
        def request(self, method, path, body=None, *, most):
            answer = super().request(method, path, body, most=most)
            seen.append((path, body or b"", answer.body))
            return answer

    made = codes_of(blinded, 1)[0]
    transport = Watched(blinded.url)
    client = Client(blinded.url, tmp_path / "device", transport=transport, invitation=made)
    sent = client.answer(PERSON, public=["region"])
    paths = [path for path, body, _ in seen if body]
    assert paths == ["/v1/tokens", "/v1/reports"]
    signing, reporting = [body + answer for _, body, answer in seen if body]
    report = wire.decode(seen[-1][1], Report, most=10_000)
    assert made.encode() in signing
    for part in (report.token, report.signature, report.id):
        assert part.encode() not in signing
    assert made.encode() not in reporting
    assert report == sent.report
    assert report.id == token_id(bytes.fromhex(report.token))
    # Nor does the device keep what would undo the blinding.
    ticket = json.loads(client._state.noted(f"ticket:{client.design.plan_id}"))
    assert ticket["inverse"] is None
    held = b"".join(path.read_bytes() for path in blinded.data.rglob("*") if path.is_file())
    for secret in (made.encode(), bytes.fromhex(report.token), bytes.fromhex(report.signature)):
        assert secret not in held


def test_every_token_could_belong_to_every_invitation(blinded):
    # For any blinded message and any token there is a blinding that leads from one to the other, so that what the
    # issuer saw rules nothing out. Computed with the issuer's own secret key: not even that tells.
    key = read_key(blinded.collector.entrance.issuer._slots.secret)
    n, e = key.public.n, key.public.e
    d = pow(e, -1, (key.p - 1) * (key.q - 1))
    shown = [blind.blind(key.public, blind.prepare(b"token")).message for _ in range(3)]
    token = int.from_bytes(blind.encode(blind.prepare(b"token"), key.public, bytes(48)), "big")
    for message in shown:
        number = int.from_bytes(message, "big")
        factor = pow(number * pow(token, -1, n) % n, d, n)
        assert token * pow(factor, e, n) % n == number


def test_a_lost_reply_costs_nothing(blinded, tmp_path):
    class Lossy(Http):
        lost = 0

        def request(self, method, path, body=None, *, most):
            answer = super().request(method, path, body, most=most)
            if path in ("/v1/tokens", "/v1/reports") and self.lost < 4:
                self.lost += 1
                return Response(503, b"")
            return answer

    made = codes_of(blinded, 1)[0]
    client = Client(blinded.url, tmp_path / "device", transport=Lossy(blinded.url), invitation=made)
    assert client.answer(PERSON, public=["region"]).delivered
    assert stored(blinded) == 1


def test_forged_tokens_and_bad_applications(blinded):
    other = SecretKey.generate(2048)
    token = blind.prepare(bytes(32))
    forged = blind.blind(other.public, token)
    signature = blind.finalize(other.public, token, other.sign(forged.message), forged.inverse)
    bad = report(blinded, token_id(token), token=token.hex(), signature=signature.hex())
    assert code(post(blinded, "/v1/reports", bad)) == "not-invited"
    assert code(post(blinded, "/v1/reports", report(blinded, token_id(token)))) == "unfit"
    made = codes_of(blinded, 1)[0]
    assert code(post(blinded, "/v1/tokens", Application(1, made, "ff" * 384))) == "malformed"
    assert code(post(blinded, "/v1/tokens", b"{}")) == "malformed"
    assert code(post(blinded, "/v1/tokens", b" " * 20_000)) == "too-large"
    assert post(blinded, "/v1/entries", b"{}")[0] == 404
    assert stored(blinded) == 0
    # What could not be signed has cost nothing.
    assert Client(blinded.url, invitation=made).answer(PERSON, public=["region"]).delivered


def test_a_token_admits_the_report_that_its_id_names_and_no_other(blinded):
    token, signature = signed_token(blinded.collector.entrance.issuer, codes_of(blinded, 1)[0])
    proof = {"token": token.hex(), "signature": signature.hex()}
    assert code(post(blinded, "/v1/reports", report(blinded, "ab" * 32, **proof))) == "not-invited"
    good = report(blinded, token_id(token), **proof)
    assert [post(blinded, "/v1/reports", good)[0] for _ in range(2)] == [204, 204]
    other = report(blinded, token_id(token), (2,), **proof)
    assert code(post(blinded, "/v1/reports", other)) == "conflict"
    assert stored(blinded) == 1


def test_the_same_blinded_token_gets_the_same_signature(blinded):
    (made,) = codes_of(blinded, 1)
    key = PublicKey(int(json.loads(blinded.collector.entrance.issuer.message)["n"], 16))
    first, second = (blind.blind(key, blind.prepare(b"token")).message.hex() for _ in range(2))
    answers = [post(blinded, "/v1/tokens", Application(1, made, first)) for _ in range(3)]
    assert answers[0][0] == 200
    assert answers[0] == answers[1] == answers[2]
    assert code(post(blinded, "/v1/tokens", Application(1, made, second))) == "used"
    assert post(blinded, "/v1/tokens", Application(1, made, first)) == answers[0]


def test_a_key_of_ones_own_is_found_out(blinded):
    made = codes_of(blinded, 1)[0]
    shown = hashlib.sha256(blinded.collector.entrance.issuer.message).hexdigest()
    with pytest.raises(PrivacyError, match="issuer's key"):
        Client(blinded.url, invitation=made, issuer="ab" * 32).answer(PERSON, public=["region"])
    assert Client(blinded.url, invitation=made, issuer=shown).answer(PERSON, public=["region"]).delivered


def test_a_weak_key_is_refused(blinded):
    class Weak(Http):
        def request(self, method, path, body=None, *, most):
            if path == "/v1/issuer":
                return Response(200, encode(Issuer(1, "c1" * 128, 65537)))
            return super().request(method, path, body, most=most)

    # The design names another one; were it to name this one, it would still be too short.
    with pytest.raises(PrivacyError, match="2048"):
        _key(encode(Issuer(1, "c1" * 128, 65537)))
    with pytest.raises(PrivacyError, match="not the design's"):
        Client(blinded.url, transport=Weak(blinded.url), invitation="x").answer(PERSON, public=["region"])


def test_programs_share_the_issuer_s_key(blinded):
    again = LocalIssuer(blinded.collector.entrance.issuer._slots.path)
    assert again.message == blinded.collector.entrance.issuer.message
    (made,) = again.invite(1)
    assert signed_token(blinded.collector.entrance.issuer, made)
    again.close()


# -- one plan ---------------------------------------------------------------------------------------------------------

ANOTHER = 'name = "drinking"'


def test_a_token_for_one_survey_admits_to_no_other(serve, text, tmp_path):
    with serve(text("blind")) as first:
        token, signature = signed_token(first.collector.entrance.issuer, codes_of(first, 1)[0])
    proof = {"token": token.hex(), "signature": signature.hex()}
    for changed in (
        text("blind").replace('name = "smoking"', ANOTHER),  # another survey in the same folder
        text("blind").replace('"badly"', '"poorly"'),  # the same one with another answer to choose from
    ):
        with serve(changed) as second:
            assert second.collector.entrance.issuer.message != first.collector.entrance.issuer.message
            answer = post(second, "/v1/reports", report(second, token_id(token), **proof))
            assert code(answer) == "not-invited"
    with serve(text("blind")) as again:  # the first one, served again
        assert post(again, "/v1/reports", report(again, token_id(token), **proof))[0] == 204


def test_an_invitation_to_one_survey_admits_to_no_other(serve, text):
    with serve(text("invited")) as first:
        made = codes_of(first, 2)
    for changed in (
        text("invited").replace('name = "smoking"', ANOTHER),
        text("invited").replace('"badly"', '"poorly"'),
    ):
        with serve(changed) as second:
            assert code(post(second, "/v1/reports", report(second, report_id(made[0])))) == "not-invited"
    # Corrected words: the same invitations.
    with serve(text("invited").replace("Do you smoke?", "Do you smoke at all?")) as again:
        assert post(again, "/v1/reports", report(again, report_id(made[0])))[0] == 204


def test_a_survey_that_is_not_served_takes_nobody_s_reports(serve, text):
    with serve(text("invited")) as first:
        (made,) = codes_of(first, 1)
        stranger, guest = report(first, secrets.token_hex(32)), report(first, report_id(made))
        first.collector.end()
        assert code(post(first, "/v1/reports", guest)) == "closed"
    with serve(text("open").replace('name = "smoking"', ANOTHER)) as second:
        assert code(post(second, "/v1/reports", stranger)) == "closed"
        assert code(post(second, "/v1/reports", guest)) == "closed"
        assert post(second, "/v1/reports", report(second, secrets.token_hex(32)))[0] == 204
        assert second.collector.is_open
    with serve(text("invited")) as again:
        assert not again.collector.is_open
        assert code(post(again, "/v1/reports", guest)) == "closed"


# -- making them -----------------------------------------------------------------------------------------------------


def test_invite_writes_a_table_once(tmp_path, text, serve):
    path = tmp_path / "survey.toml"
    path.write_text(text("invited"), encoding="utf-8")
    options = ["--data", str(tmp_path / "data")]
    made = CliRunner().invoke(app, ["invite", str(path), "--n", "3", "--url", "https://x.example/", *options])
    assert made.exit_code == 0, made.output
    lines = made.output.splitlines()
    assert lines[0] == "invitation,link"
    codes = [line.split(",")[0] for line in lines[1:]]
    assert [line.split(",")[1] for line in lines[1:]] == [f"https://x.example/#invitation={one}" for one in codes]
    with serve(text("invited"), tmp_path / "data") as running:
        crowd = Crowd(running.url, batch=2, invitations=codes)
        for _ in codes:
            crowd.answer(PERSON)
        crowd.flush()
        assert stored(running) == 3


def test_an_open_survey_has_no_invitations(tmp_path, text):
    path = tmp_path / "survey.toml"
    path.write_text(text("open"), encoding="utf-8")
    refused = CliRunner().invoke(app, ["invite", str(path), "--n", "3", "--data", str(tmp_path / "data")])
    assert (refused.exit_code, "everybody may answer" in refused.output) == (3, True)

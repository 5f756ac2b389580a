"""The issuer: no order in its files, one signature an invitation, and what is left of it when a survey is closed."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import secrets
import socket
import threading
from contextlib import closing as closed
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.collector import Collector
from deniable.collection.first_words import first_mark
from deniable.collection.invitations import digest, name_of
from deniable.collection.token_issuer import DistantIssuer, LocalIssuer, SecretKey, issuer_path, key_bytes, public_key
from deniable.device.client import Client
from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol.admission_token import report_id, token_id
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Application, Issuer, Problem, Signed
from deniable.errors import InputError
from deniable.storage.sqlite import SqliteStore
from deniable.storage.token_slots import FREE, Slots
from deniable.surveys.survey import parse_survey
from deniable.web.api.issuer_service import IssuerService
from deniable.web.http.limits_and_timeouts import Limits
from deniable.web.serve import Service, background, read_public_key
from waiting import until

PERSON = {"smokes": "yes", "sleep": "well", "drinks": 3, "region": "south"}
KEY = SecretKey.generate(2048)  # one for all tests that do not need their own: making one takes a while


def names(number):
    return [hashlib.sha256(str(n).encode()).digest() for n in range(number)]


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def slots(folder):
    return Slots(folder / "issuer.sqlite", lambda: (b"public" * 50, b"secret" * 50))


@pytest.fixture
def text(survey_text):
    return survey_text.replace("epsilon = 1.0", 'epsilon = 1.0\nadmission = "blind"')


def ask(issuer, invitation):
    """A token, and what the issuer answered to it blinded."""
    key = public_key(issuer.message)
    token = blind.prepare(secrets.token_bytes(32))
    made = blind.blind(key, token)
    answer = issuer.sign(encode(Application(1, invitation, made.message.hex())))
    return token, made, answer


# -- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_the_files_do_not_know_in_which_order_tokens_were_issued(tmp_path, share):
    number = 300
    made, used = [], names(number)[: int(share * number)]
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        one = slots(folder)
        one.add(names(number)[:100])  # the rest comes later
        one.add(names(number)[100:])
        order = list(used)
        random.Random(seed).shuffle(order)  # noqa: S311 - repeats, hides nothing
        for name in order:
            assert one.use(name, hashlib.sha256(name).digest()) == hashlib.sha256(name).digest()
        made.append(files(folder))  # while it runs
        one.close()
        made.append(files(folder))
    assert made[0] == made[1] == made[2] == made[3]
    assert made[0]["issuer.sqlite-journal"] == b""


def test_the_order_in_which_invitations_are_made_is_not_in_the_files(tmp_path):
    made = []
    for order in (names(50), names(50)[::-1]):
        folder = tmp_path / str(len(made))
        one = slots(folder)
        one.add(order)
        one.close()
        made.append(files(folder))
    assert made[0] == made[1]


def test_a_slot_keeps_its_first_value(tmp_path):
    one = slots(tmp_path)
    one.add(names(3))
    first, second = b"1" * 32, b"2" * 32
    assert one.use(names(3)[1], first) == first
    one.add(names(5))  # a new file, and nothing is forgotten
    assert one.use(names(3)[1], second) == first
    assert one.use(names(3)[1], first) == first
    assert one.use(names(6)[5], first) is None
    assert (one.has(names(5)[4]), one.has(names(6)[5]), one.issued()) == (True, False, 1)
    one.close()


def test_what_is_issued_while_invitations_are_added_is_not_lost(tmp_path):
    one, other = slots(tmp_path), slots(tmp_path)
    one.add(names(100))

    def add():
        for start in range(100, 200, 10):
            other.add(names(200)[start : start + 10])

    adding = threading.Thread(target=add)
    adding.start()
    for name in names(100):
        one.use(name, hashlib.sha256(name).digest())
    adding.join()
    assert (one.issued(), other.issued()) == (100, 100)
    assert all(one.has(name) for name in names(200))
    one.close()
    other.close()


def test_only_the_owner_reads_the_file(tmp_path):
    one = slots(tmp_path / "folder")
    one.add(names(2))
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "folder").iterdir()} == {0o600}
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o700
    one.close()


def test_commits_are_synced_and_the_journal_is_truncated(tmp_path):
    one = slots(tmp_path)
    with one._steady() as db:
        found = [
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "secure_delete")
        ]
    assert found == ["truncate", 2, 1]
    one.close()


def test_something_else_is_refused(tmp_path):
    (tmp_path / "issuer.sqlite").write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(InputError, match="not an issuer's file"):
        _ = slots(tmp_path).public
    SqliteStore(tmp_path / "reports.sqlite").close()
    with pytest.raises(InputError, match="not an issuer's file"):
        _ = Slots(tmp_path / "reports.sqlite", lambda: (b"", b"")).public


def test_what_a_killed_program_left_of_an_issuers_file_is_removed(tmp_path):
    one = slots(tmp_path)
    one.add(names(2))
    one.close()
    content = (tmp_path / "issuer.sqlite").read_bytes()
    for name in ("issuer.sqlite.new", "issuer.sqlite.123456.new"):
        (tmp_path / name).write_bytes(content)
    slots(tmp_path).close()
    assert sorted(files(tmp_path)) == ["issuer.lock", "issuer.sqlite"]


# -- closing ----------------------------------------------------------------------------------------------------------


def test_closing_marks_every_invitation_and_deletes_the_key(tmp_path):
    one = slots(tmp_path)
    one.add(names(40))
    for name in names(10):
        one.use(name, hashlib.sha256(name).digest())
    before = one.public
    one.end()
    assert (one.secret, one.public, one.issued()) == (None, before, 40)
    held = b"".join(files(tmp_path).values())
    assert b"secretsecret" not in held
    assert not any(hashlib.sha256(name).digest() in held for name in names(10))
    one.end()  # again: nothing happens
    assert one.issued() == 40
    one.close()


def closed_traces(folder, message, used):
    """What an intruder finds of an issuer that was closed: whether the key is gone, and how many slots are full."""
    (path,) = folder.glob("issuer-*.sqlite")
    found = Slots(path, lambda: (b"", b""))
    try:
        return found.secret is None and found.public == message, found.issued(), found.has(digest(used))
    finally:
        found.close()


def test_the_button_closes_the_issuer_and_seals_the_reports(serve, text, tmp_path):
    with serve(text) as running:
        made = running.collector.entrance.invite(5)
        Client(running.url, invitation=made[0]).answer(PERSON, public=["region"])
        message = running.collector.entrance.issuer.message
        assert list(running.data.glob("reports.tail-*"))
        running.collector.end()
        until((running.data / "reports.sealed.sqlite").exists)
        assert closed_traces(running.data, message, made[0]) == (True, 5, True)
        _, _, answer = ask(running.collector.entrance.issuer, made[1])
        assert (isinstance(answer, Problem), answer.code) == (True, "closed")
    with pytest.raises(InputError, match="nobody can be invited"), serve(text) as again:
        again.collector.entrance.invite(1)


def test_the_date_closes_the_survey_for_good(serve, text):
    clock = SimpleNamespace(now=datetime(2030, 1, 1, tzinfo=UTC))
    dated = text.replace("epsilon = 1.0", "epsilon = 1.0\ncloses = 2030-06-01T00:00:00Z")
    with serve(dated, now=lambda: clock.now) as running:
        made = running.collector.entrance.invite(5)
        Client(running.url, invitation=made[0]).answer(PERSON, public=["region"])
        message = running.collector.entrance.issuer.message
        clock.now += timedelta(days=365)
        until(lambda: running.collector.entrance.is_ended)
        until((running.data / "reports.sealed.sqlite").exists)
        assert closed_traces(running.data, message, made[0]) == (True, 5, True)
        clock.now -= timedelta(days=365)  # the clock is set back
        assert not running.collector.is_open


def test_a_date_by_mistake_costs_nothing_while_nobody_took_part(serve, text):
    over = text.replace("epsilon = 1.0", "epsilon = 1.0\ncloses = 2020-06-01T00:00:00Z")
    with serve(over) as running:
        (made,) = running.collector.entrance.invite(1)
        assert not running.collector.is_open
    with serve(text) as running:
        assert Client(running.url, invitation=made).answer(PERSON, public=["region"]).delivered


def test_the_command_closes_a_survey_that_runs(serve, text, tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    with serve(text) as running:
        made = running.collector.entrance.invite(5)
        Client(running.url, invitation=made[0]).answer(PERSON, public=["region"])
        message = running.collector.entrance.issuer.message
        done = CliRunner().invoke(app, ["close", str(path), "--data", str(running.data)])
        assert done.exit_code == 0, done.output
        assert "secret key is deleted" in done.output
        assert closed_traces(running.data, message, made[0]) == (True, 5, True)
        assert (running.data / "reports.sealed.sqlite").exists()
        until(lambda: not running.collector.is_open)
    for was, is_ in (('"badly"', '"poorly"'), ('admission = "blind"', 'admission = "invited"')):
        assert was in text
        path.write_text(text.replace(was, is_), encoding="utf-8")
        changed = CliRunner().invoke(app, ["close", str(path), "--data", str(running.data)])
        assert (changed.exit_code, "was never served from here" in changed.output) == (3, True)
    nothing = CliRunner().invoke(app, ["close", str(path), "--data", str(tmp_path / "nowhere")])
    assert (nothing.exit_code, "neither reports nor an issuer" in nothing.output) == (3, True)


def test_a_survey_that_was_never_served_is_refused_before_anything_is_deleted(tmp_path, text):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    SqliteStore(tmp_path / "data" / "reports.sqlite").close()  # of another survey
    where = ["--data", str(tmp_path / "data")]
    assert CliRunner().invoke(app, ["invite", str(path), "--n", "1", *where]).exit_code == 0
    refused = CliRunner().invoke(app, ["close", str(path), *where])
    assert (refused.exit_code, "was never served from here" in refused.output) == (3, True)
    issuer = LocalIssuer(issuer_path(tmp_path / "data", "smoking", name_of(parse_survey(text))))
    assert not issuer.is_over
    issuer.close()


# -- a program of its own ---------------------------------------------------------------------------------------------


class Routed:
    """What a proxy does: two addresses go to the issuer, all others to the collector."""

    def __init__(self, collector, issuer):
        from deniable.device.protocol.http_transport import Http

        self._collector, self._issuer = Http(collector), Http(issuer)

    def request(self, method, path, body=None, *, most):
        chosen = self._issuer if path in ("/v1/issuer", "/v1/tokens") else self._collector
        return chosen.request(method, path, body, most=most)


def get(url, path, method="GET", body=None):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=300)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("pinned", ["address", "file"])
def test_an_issuer_on_another_machine(tmp_path, text, pinned):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    apart = ["--data", str(tmp_path / "issuer")]
    invited = CliRunner().invoke(app, ["invite", str(path), "--n", "2", *apart])
    assert invited.exit_code == 0, invited.output
    made = invited.output.split()[1:]
    issuing = IssuerService.open(path, tmp_path / "issuer")
    with background(issuing) as issuer:
        key = read_public_key(issuer)
        (tmp_path / "issuer.json").write_bytes(key)
        place = issuer if pinned == "address" else str(tmp_path / "issuer.json")
        service = Service.open(path, tmp_path / "data", issuer=place)
        with background(service) as url:
            client = Client(url, invitation=made[0], transport=Routed(url, issuer))
            assert client.answer(PERSON, public=["region"]).delivered
            assert service.store.total(1) == 1
            assert get(url, "/v1/issuer") == (200, key)
            status, body = get(url, "/v1/tokens", "POST", encode(Application(1, made[1], "ab" * 384)))
            assert (status, "another program" in json.loads(body)["detail"]) == (404, True)
            with pytest.raises(InputError, match="where its issuer is"):
                service.collector.entrance.invite(1)
        assert get(issuer, "/health")[0] == 200
        assert get(issuer, "/v1/reports", "POST", b"{}")[0] == 404
        assert get(issuer, "/v1/tokens")[0] == 405
        assert get(issuer, "/v1/tokens", "POST", b" " * 20_000)[0] == 413
    # Neither machine has the other's half.
    assert not list((tmp_path / "data").glob("issuer-*"))
    assert not list((tmp_path / "issuer").glob("reports*"))
    closed = CliRunner().invoke(app, ["close", str(path), *apart])
    assert closed.exit_code == 0, closed.output
    assert "takes no more reports" not in closed.output
    assert closed_traces(tmp_path / "issuer", key, made[0]) == (True, 2, True)


def test_another_key_than_before_is_refused(tmp_path, text):
    store = SqliteStore(tmp_path / "reports.sqlite")
    first, second = (key_bytes(key)[0] for key in (KEY, SecretKey.generate(2048)))
    Collector(parse_survey(text), store, issuer=DistantIssuer(first))
    with pytest.raises(InputError, match="another key until now"):
        Collector(parse_survey(text), store, issuer=DistantIssuer(second))
    store.close()


def test_keys_that_devices_refuse_are_refused_here(tmp_path, text, survey_text):
    for bad in (b"{}", encode(Issuer(1, "c1" * 128, 65537)), encode(Issuer(1, "c1" * 256, 3))):
        with pytest.raises(InputError, match="issuer's key"):
            DistantIssuer(bad)
    store = SqliteStore(tmp_path / "reports.sqlite")
    with pytest.raises(InputError, match="for blind tokens"):
        Collector(parse_survey(survey_text), store, issuer=DistantIssuer(key_bytes(KEY)[0]))
    store.close()


def test_the_issuer_closes_by_date(tmp_path, text, monkeypatch):
    path = tmp_path / "survey.toml"
    path.write_text(text.replace("epsilon = 1.0", "epsilon = 1.0\ncloses = 2030-06-01T00:00:00Z"), encoding="utf-8")
    service = IssuerService.open(path, tmp_path)
    clock = SimpleNamespace(now=datetime(2030, 1, 1, tzinfo=UTC))
    service.now = lambda: clock.now
    made = service.issuer.invite(3)
    with background(service) as url:
        message = service.issuer.message
        assert isinstance(ask(service.issuer, made[0])[2], Signed)
        clock.now += timedelta(days=365)
        until(lambda: service.issuer.is_over)
        assert get(url, "/v1/tokens", "POST", b"{}")[0] == 403
    assert closed_traces(tmp_path, message, made[0]) == (True, 3, True)


def test_the_issuer_keeps_limits_tells_problems_and_speaks_to_pages_from_elsewhere(tmp_path, text, monkeypatch):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    service = IssuerService.open(path, tmp_path)
    app = service.app
    monkeypatch.setattr(service, "app", lambda: app(Limits(body=0.01)))
    with background(service) as url, httpx.Client(base_url=url, timeout=300) as client:
        asked = {"Origin": "https://elsewhere.example.org", "Access-Control-Request-Method": "POST"}
        assert client.get("/v1/issuer").headers["access-control-allow-origin"] == "*"
        assert client.options("/v1/tokens", headers=asked).status_code == 204
        monkeypatch.setattr(service.issuer, "sign", lambda _body: 1 // 0)
        failed = client.post("/v1/tokens", content=b"{}")
        assert (failed.status_code, failed.json()["type"]) == (500, "urn:deniable:problem:failed")
        slow = socket.create_connection(tuple(urlsplit(url).netloc.split(":")), timeout=300)
        with closed(slow):
            slow.sendall(b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            assert slow.recv(100).startswith(b"HTTP/1.1 408")


def test_nothing_of_issuing_is_in_the_database(tmp_path, text, database):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    service = Service.open(path, tmp_path / "data", database)
    made = service.collector.entrance.invite(3)
    before = service.store.saved_under(""), service.store.tokens("admitted"), service.store.tokens("invitation")
    with background(service) as url:
        assert Client(url, invitation=made[0]).answer(PERSON, public=["region"]).delivered
        # Under which words the plan was answered first, and no more.
        first = first_mark(service.collector.plan_id)
        assert service.store.saved_under("").keys() == before[0].keys() | {first}
        assert (service.store.tokens("admitted"), service.store.tokens("invitation")) == ([], []) == before[1:]


def test_the_name_of_an_issuer_s_file(tmp_path, text):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    service = IssuerService.open(path, tmp_path)
    expected = issuer_path(tmp_path, "smoking", name_of(service.survey))
    assert [found.name for found in tmp_path.glob("issuer-*.sqlite")] == [expected.name]
    assert bytes(32) == FREE
    assert report_id("x") != token_id(b"x")
    service.issuer.close()

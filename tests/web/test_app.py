"""The protocol over HTTP: every address, every refusal in one shape, and nothing about the sender."""

from __future__ import annotations

import csv
import http.client
import io
import json
import secrets
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chequered import times
from deniable.collection.simulate_respondents import Crowd
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import FEWEST_TOGETHER, MOST_BATCH_BYTES, Report
from deniable.device.protocol.problem_details import PROBLEMS
from deniable.errors import StoreError
from deniable.web.api.app import Api, create_app
from deniable.web.api.openapi import document
from deniable.web.site import site


def ask(running, method, path, body=None, *, source=None, **headers):
    """One request; header names with underscores for dashes."""
    connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=300, source_address=source)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


def report(running, **fields):
    given = {"version": 2, "design": running.collector.design_id, "ballot": 0, "answers": (3,), "public": (1,)}
    return encode(Report(**{"id": secrets.token_hex(32), **given, **fields}))


def stored(running):
    store = running.collector.store
    assert store.counts(1) == store.recount(1)
    return sum(store.counts(1).values())


def problem(answer):
    """The code of a problem, which must have its shape."""
    status, headers, body = answer
    assert headers["content-type"] == "application/problem+json"
    found = json.loads(body)
    assert found["status"] == status
    code = found["type"].rpartition(":")[2]
    assert PROBLEMS[code] == (status, found["title"])
    return code


def test_a_report_is_taken_once_however_often_it_comes(collector):
    body = report(collector)
    assert [ask(collector, "POST", "/v1/reports", body)[0] for _ in range(3)] == [204] * 3
    assert stored(collector) == 1


def test_another_body_under_the_same_id_is_a_conflict(collector):
    assert ask(collector, "POST", "/v1/reports", report(collector, id="ab" * 32))[0] == 204
    other = report(collector, id="ab" * 32, answers=(2,))
    assert problem(ask(collector, "POST", "/v1/reports", other)) == "conflict"
    assert stored(collector) == 1


def test_a_batch_answers_its_failures_in_order_and_takes_the_rest(collector):
    good = [report(collector) for _ in range(3)]
    bodies = [
        good[0],
        b"{}",
        good[1],
        report(collector, ballot=9),
        good[0],
        report(collector, id=json.loads(good[1])["id"], answers=(0,)),
        good[2],
    ]
    status, _, body = ask(collector, "POST", "/v1/reports", b"[" + b", ".join(bodies) + b"]")
    receipt = json.loads(body)
    assert (status, receipt["accepted"]) == (200, 4)
    assert [(failure["index"], failure["problem"]["status"]) for failure in receipt["failures"]] == [
        (1, 400),
        (3, 422),
        (5, 409),
    ]
    assert stored(collector) == 3
    assert json.loads(ask(collector, "POST", "/v1/reports", b"[]")[2]) == {"version": 1, "accepted": 0, "failures": []}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed"),
        (b"[" * 10_000, "malformed"),
        (b"\xff", "malformed"),
        (b"[1, 2", "malformed"),
        (b" " * (MOST_BATCH_BYTES + 1), "too-large"),
        (b"[" + b",".join([b"{}"] * 1001) + b"]", "too-large"),
    ],
)
def test_bad_bodies(collector, body, code):
    assert problem(ask(collector, "POST", "/v1/reports", body)) == code
    assert stored(collector) == 0


def test_a_body_that_says_it_is_small_and_is_not(collector):
    connection = http.client.HTTPConnection(urlsplit(collector.url).netloc, timeout=300)
    chunks = (b" " * 65536 for _ in range(40))
    try:
        connection.request("POST", "/v1/reports", chunks, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server hung up before the end, which is as good
    finally:
        connection.close()
    assert ask(collector, "GET", "/health")[0] == 200


@settings(max_examples=times(150, 60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(st.sampled_from([*Report.__struct_fields__, "x"]), inner, max_size=6)
            ),
            max_leaves=12,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_no_body_makes_the_server_fail(collector, body):
    status, _, _ = ask(collector, "POST", "/v1/reports", body)
    assert status in {200, 400, 404, 413, 422}
    assert stored(collector) == 0


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/v1/reports", "method-not-allowed"),
        ("DELETE", "/v1/survey", "method-not-allowed"),
        ("GET", "/v1/nowhere", "not-found"),
        ("GET", "/v1/designs/" + "0" * 64, "unknown-design"),
        ("GET", "/v1/designs/%ff", "unknown-design"),
        ("GET", "/v1/designs/..%2f..%2fetc", "not-found"),
        ("GET", "/v1/results", "unauthorized"),
        ("GET", "/v1/results.csv", "unauthorized"),
    ],
)
def test_other_refusals_have_the_same_shape(collector, method, path, code):
    assert problem(ask(collector, method, path)) == code


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer wrong", "Basic eDp5", "Bearer \xff"])
def test_only_the_token_opens_the_results(collector, value):
    assert problem(ask(collector, "GET", "/v1/results", Authorization=value)) == "unauthorized"
    assert ask(collector, "GET", "/v1/results", Authorization=f"Bearer {collector.token}")[0] == 200


def test_the_token_is_kept_as_a_hash_only(collector):
    collector.collector.store.compact()
    assert all(collector.token.encode() not in path.read_bytes() for path in collector.data.iterdir())


def test_results_say_what_the_reports_say(collector):
    crowd = Crowd(collector.url, batch=100)
    for number in range(600):
        person = {"smokes": "no" if number % 5 else "yes", "sleep": "well", "drinks": 0, "region": "north"}
        crowd.answer(person)
    crowd.flush()
    collector.show_all()
    found = json.loads(ask(collector, "GET", "/v1/results", Authorization=f"Bearer {collector.token}")[2])
    assert found["reports"] == 600
    assert [table["attributes"] for table in found["tables"]] == [
        ["smokes"],
        ["sleep"],
        ["drinks"],
        ["smokes", "sleep"],
    ]
    for table in found["tables"]:
        assert sum(cell["estimate"] for cell in table["cells"]) == pytest.approx(1)
        for cell in table["cells"]:
            if cell["low"] is not None:  # nobody has some of them, and fewer than chance explains may say so
                assert 0 <= cell["low"] <= cell["estimate"] <= cell["high"] <= 1
            assert cell["unclipped_low"] <= cell["efficient"] <= cell["unclipped_high"]
    # Around 300 reports about smoking: the estimate of .2 has a standard error near .06. 6 of them: 2e-9.
    (smokes,) = [cell for cell in found["tables"][0]["cells"] if cell["categories"] == ["yes"]]
    assert abs(smokes["efficient"] - 0.2) < 6 * smokes["std_error"]
    one = ask(collector, "GET", "/v1/results?table=smokes", Authorization=f"Bearer {collector.token}")
    assert [table["attributes"] for table in json.loads(one[2])["tables"]] == [["smokes"]]
    bad = ask(collector, "GET", "/v1/results?table=nothing", Authorization=f"Bearer {collector.token}")
    assert problem(bad) == "unfit"
    _, headers, body = ask(collector, "GET", "/v1/results.csv", Authorization=f"Bearer {collector.token}")
    assert headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert sum(row["estimate"] != "" for row in rows) == 2 + 2 + 3 + 4
    assert found["nearness"] in (row["categories"] for row in rows)
    assert float(rows[0]["estimate"]) == found["tables"][0]["cells"][0]["estimate"]


def test_an_address_takes_the_parameters_that_it_names_and_refuses_every_other(collector):
    asked = {"Authorization": f"Bearer {collector.token}"}
    for name in ("by", "wanted", "tables", "level%20", ""):
        assert problem(ask(collector, "GET", f"/v1/results?table=smokes&{name}=x", **asked)) == "unknown-parameter"
    detail = json.loads(ask(collector, "GET", "/v1/results?by=region", **asked)[2])["detail"]
    assert detail == "There is no parameter 'by' here; known are 'table', 'level'."
    assert problem(ask(collector, "GET", "/v1/results?level=0.5&level=0.9", **asked)) == "unknown-parameter"
    assert ask(collector, "GET", "/v1/results?table=smokes&table=drinks&level=0.5", **asked)[0] == 200
    routes = create_app(collector.collector, site(collector.collector)).routes
    paths = [route.path for route in routes if "GET" in route.methods]
    assert {"/openapi.json", "/analyst/tables", "/v1/designs/{design}/blocks"} <= set(paths)
    pages = {path for path in paths if path == "/" or path.startswith("/static/")}  # links to which others add marks
    for path in set(paths) - pages:
        assert problem(ask(collector, "GET", f"{path}?strange", **asked)) == "unknown-parameter", path
    for strange in ("simulated=1", "simulatd", "simulated&x", "&"):
        assert problem(ask(collector, "POST", f"/v1/reports?{strange}", report(collector))) == "unknown-parameter"
    assert stored(collector) == 0
    described = json.loads(ask(collector, "GET", "/openapi.json")[2])["paths"]
    for operation in (each for path in described.values() for each in path.values()):
        assert "`unknown-parameter`" in operation["responses"]["400"]["description"]


def test_a_level_asks_for_other_intervals(collector):
    asked = {"Authorization": f"Bearer {collector.token}"}
    for at in range(80):
        ask(collector, "POST", "/v1/reports", report(collector, answers=(at % 4,)))
    collector.show_all()
    half, most = (
        json.loads(ask(collector, "GET", f"/v1/results?table=smokes&level={level}", **asked)[2])
        for level in (0.5, 0.99)
    )
    assert (half["level"], most["level"]) == (0.5, 0.99)
    for narrow, wide in zip(half["tables"][0]["cells"], most["tables"][0]["cells"], strict=True):
        assert wide["unclipped_low"] < narrow["unclipped_low"] < narrow["unclipped_high"] < wide["unclipped_high"]
    for wrong in ("0", "1", "nan", "95%25", ""):
        assert problem(ask(collector, "GET", f"/v1/results?level={wrong}", **asked)) == "unfit"


def test_few_reports_are_counted_in_their_place_and_equal_ones_have_an_error_that_is_not_zero(collector):
    asked = {"Authorization": f"Bearer {collector.token}"}
    ask(collector, "POST", "/v1/reports", report(collector))
    collector.show_all()
    few = json.loads(ask(collector, "GET", "/v1/results", **asked)[2])["tables"]
    told = ["1 of 30 answers needed", "1 of 30 answers needed", "0 of 30 answers needed", "1 of 30 answers needed"]
    assert [table["refused"] for table in few] == told
    for _ in range(29):
        ask(collector, "POST", "/v1/reports", report(collector))
    collector.show_all()
    found = json.loads(ask(collector, "GET", "/v1/results", **asked)[2])["tables"]
    shown = [table for table in found if "refused" not in table]
    assert [table["attributes"] for table in shown] == [["smokes"], ["sleep"], ["smokes", "sleep"]]
    assert all(cell["std_error"] > 0.01 for table in shown for cell in table["cells"])
    rows = ask(collector, "GET", "/v1/results.csv", **asked)[2].decode().splitlines()
    assert "drinks,0 of 30 answers needed,0,,,,,,,," in rows


def test_a_store_that_does_not_answer_is_unavailable_to_analysts_too(collector, monkeypatch):
    def fail(*_):
        raise StoreError("the database went away")

    monkeypatch.setattr(collector.collector.store, "has_token", fail)
    asked = ("GET", "/v1/results"), ("GET", "/v1/results.csv")
    found = [ask(collector, *one, Authorization=f"Bearer {collector.token}") for one in asked]
    found.append(ask(collector, "POST", "/analyst/login", f"token={collector.token}"))
    assert [problem(answer) for answer in found] == ["unavailable"] * 3
    assert all("retry-after" in headers for _, headers, _ in found)


def test_what_is_turned_away_is_counted_by_reason(collector):
    seen = []
    for number in range(3 * FEWEST_TOGETHER):
        ask(collector, "POST", "/v1/reports", b"{}" if number % 3 else report(collector, ballot=9))
        found = json.loads(ask(collector, "GET", "/v1/results", Authorization=f"Bearer {collector.token}")[2])
        if found["rejected"] not in seen:
            seen.append(found["rejected"])
    assert seen == [{}, {"malformed": 13, "unfit": 7}, {"malformed": 26, "unfit": 14}]  # as they were a step before
    assert collector.collector.rejections.total() == {"malformed": 40, "unfit": 20}
    assert all(table["cells"] == [] for table in found["tables"])


def test_a_survey_takes_reports_only_while_it_is_open(serve, survey_text):
    hours = "epsilon = 1.0\nopens = 2030-01-01T00:00:00Z\ncloses = 2030-02-01T00:00:00Z"
    now = [datetime(2029, 1, 1, tzinfo=UTC)]
    with serve(survey_text.replace("epsilon = 1.0", hours), now=lambda: now[0]) as running:
        assert problem(ask(running, "POST", "/v1/reports", report(running))) == "closed"
        now[0] = datetime(2030, 1, 5, tzinfo=UTC)
        assert ask(running, "POST", "/v1/reports", report(running))[0] == 204
        now[0] = datetime(2030, 2, 1, tzinfo=UTC)
        assert problem(ask(running, "POST", "/v1/reports", report(running))) == "closed"
        assert ask(running, "GET", "/v1/survey")[0] == 200


def test_reports_to_a_design_served_earlier_are_still_taken(serve, survey_text):
    with serve() as first:
        late = report(first)
    with serve(survey_text.replace("epsilon = 1.0", "epsilon = 1.2")) as second:
        assert ask(second, "POST", "/v1/reports", late)[0] == 204
        assert ask(second, "GET", f"/v1/designs/{json.loads(late)['design']}")[0] == 200


def test_too_many_waiting_reports_are_turned_away_for_a_moment(serve):
    with serve(most_waiting=10) as running:
        bodies = [report(running) for _ in range(11)]
        answer = ask(running, "POST", "/v1/reports", b"[" + b",".join(bodies) + b"]")
        assert problem(answer) == "busy"
        assert int(answer[1]["retry-after"]) >= 1
        assert ask(running, "POST", "/v1/reports", bodies[0])[0] == 204


def test_a_full_disk_is_said_and_passes(serve):
    with serve() as running:
        first = report(running)
        assert ask(running, "POST", "/v1/reports", first)[0] == 204
        db = running.collector.store._reports._tails[-1].db
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        batches = [b"[" + b",".join(report(running) for _ in range(200)) + b"]" for _ in range(3)]
        full = [answer for batch in batches if (answer := ask(running, "POST", "/v1/reports", batch))[0] != 200]
        assert full
        assert {problem(answer) for answer in full} == {"full"}
        kept = stored(running)
        answer = ask(running, "GET", "/health")
        assert (problem(answer), json.loads(answer[2])["detail"]) == (
            "unavailable",
            "There is no space left to store reports in.",
        )
        assert ask(running, "GET", "/health/live")[0] == 200
        db.execute("PRAGMA max_page_count = 1000000")
        assert all(ask(running, "POST", "/v1/reports", batch)[0] == 200 for batch in batches)
        assert ask(running, "GET", "/health")[0] == 200
        assert (kept % 200, stored(running)) == (1, 601)


def test_nothing_about_the_sender_is_kept(serve, capfd):
    sentinels = {"User_Agent": "Sentinel/7.5", "X_Forwarded_For": "203.0.113.77", "Referer": "http://sentinel.example"}
    with serve() as running:
        for _ in range(5):
            # The whole of 127/8 is loopback: this is the sender's real address.
            assert ask(running, "POST", "/v1/reports", report(running), source=("127.0.0.77", 0), **sentinels)[0] == 204
        ask(running, "POST", "/v1/reports", b"{}", source=("127.0.0.77", 0), **sentinels)
        during = b"".join(path.read_bytes() for path in running.data.iterdir())
    after = b"".join(path.read_bytes() for path in running.data.iterdir())
    printed = "".join(capfd.readouterr()).encode()
    assert b"[null,0,[3],[1]]" in during  # what is kept would be found
    assert b"[null,0,[3],[1]]" in after
    for trace in (b"Sentinel", b"203.0.113", b"sentinel.example", b"127.0.0.77", bytes([127, 0, 0, 77])):
        assert trace not in during + after + printed


def test_the_document_lists_exactly_what_is_served(collector):
    served = {route.path for route in Api(collector.collector).routes()} - {"/openapi.json"}
    assert set(document()["paths"]) == served
    status, _, body = ask(collector, "GET", "/openapi.json")
    assert (status, json.loads(body)) == (200, json.loads(json.dumps(document())))
    text = json.dumps(document())
    names = set(document()["components"]["schemas"])
    assert {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]} <= names


def test_a_fault_of_ours_is_a_problem_too_and_says_nothing_of_the_report(serve, monkeypatch, capfd):
    with serve() as running:
        body = report(running)

        async def fail(_body, **_said):
            raise RuntimeError("a fault of ours")

        with monkeypatch.context() as patch:
            patch.setattr(running.collector, "receive", fail)
            assert problem(ask(running, "POST", "/v1/reports", body, source=("127.0.0.78", 0))) == "failed"
        assert ask(running, "POST", "/v1/reports", body)[0] == 204
    printed = capfd.readouterr().err
    assert "RuntimeError" in printed  # what happened and where, in no words that could hold a report
    assert json.loads(body)["id"] not in printed
    assert "127.0.0.78" not in printed


def test_a_design_may_be_cached_for_ever_and_results_never(collector):
    _, design, _ = ask(collector, "GET", f"/v1/designs/{collector.collector.design_id}")
    assert "immutable" in design["cache-control"]
    _, results, _ = ask(collector, "GET", "/v1/results", Authorization=f"Bearer {collector.token}")
    assert results["cache-control"] == "no-store"
    assert "server" not in {name.lower() for name in results}

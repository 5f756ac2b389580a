"""What a collector answers: canonical bytes, what becomes of reports, results, the API's description, the page.

Reports are written here, byte for byte: nothing in them is drawn.
"""

from __future__ import annotations

import hashlib
import json

import httpx
import pytest
from stored import normal, sha256, shortened

from small_survey import public, question, survey_file

N = 300  # less than a block
WHOLE = ("views", "optimal")  # whose answers are stored however long

QUESTIONS = (
    public("region", ["north", "south"], "Where do you live?"),
    question("smokes", "Do you smoke?", "yes-no"),
    question("sleep", "How do you sleep?", choices=["badly", "well", "very well"]),
    question("drinks", "How many drinks a week?", "number", bins=[1, 8]),
)
DESIGNS = {
    "independent": '{ kind = "independent" }',
    "joint": '{ kind = "joint" }',
    "clusters": '{ kind = "clusters", clusters = [["smokes", "sleep"], ["drinks"]] }',
    "sampled": '{ kind = "sampled" }',
    "views": '{ kind = "views", k = 2 }',
    "unary": '{ kind = "views", k = 2, channel = "unary" }',
    "optimal": '{ kind = "optimal" }',
    "blocks": '{ kind = "blocks", k = 2, block_size = 400 }',
}


def survey(design):
    tables = None if design == "sampled" else [["smokes", "sleep"]]
    return survey_file("stored", *QUESTIONS, design=DESIGNS[design], tables=tables)


def answer(channel, at):
    """One of a channel's reports: all come, the last one more often than others."""
    kind, k = channel["kind"], channel.get("k") or channel["cells"]
    if kind == "unary":
        return 1 << min(at % (k + 2), k - 1) | (1 if at % 5 else 3)
    reports = len(channel["large"]) if kind == "patterns" else k
    return min(at % (reports + 2), reports - 1)


def reports(name, design, block):
    """N of them, of every ballot and region."""
    plan = design["plan"]
    for at in range(N):
        ballot = at % len(plan["ballots"])
        channels = [plan["questions"][index]["channel"] for index in plan["ballots"][ballot]]
        answers = [answer(channel, at // 3 + at // 5 * place) for place, channel in enumerate(channels)]
        key = hashlib.sha256(b"%d" % at).hexdigest()
        head = {"version": 2, "id": key, "design": name, "block": block, "ballot": ballot}
        yield head | {"answers": answers, "public": [at % 2], "token": None, "signature": None}


def canonical(message):
    return json.dumps(message, sort_keys=True, separators=(",", ":")).encode()


def exchange(running, web):
    """What is asked of a collector, one after the other, and what it answers."""
    announced = web.get("/v1/survey")
    yield "announcement", announced.text
    name = announced.json()["design"]
    design = web.get(f"/v1/designs/{name}")
    assert hashlib.sha256(design.content).hexdigest() == name
    yield "design", f"{len(design.content)} bytes {shortened(design.text)}"
    form = web.get(f"/v1/forms/{design.json()['texts']}")
    yield "form", f"{len(form.content)} bytes {form.text}"
    block = None
    if design.json()["blocks"]:
        body = web.get(f"/v1/designs/{name}/block")
        yield "block", body.text
        block = hashlib.sha256(body.content).hexdigest()
    made = list(reports(name, design.json(), block))
    yield "reports", sha256(b"".join(map(canonical, made)))
    one = web.post("/v1/reports", content=canonical(made[0]))
    yield "one report", f"{one.status_code} {one.headers['Deniable']}"
    many = web.post("/v1/reports", content=canonical([*made, {**made[0], "public": [1]}, {**made[1], "id": "0"}]))
    yield "all, a conflict and a wrong one", many.text
    running.show_all()
    said = {"Authorization": f"Bearer {running.token}"}
    yield "refused without a token", web.get("/v1/results").text
    for path in ("/v1/results", "/v1/results.csv", "/v1/results?table=sleep&table=sleep,drinks"):
        yield path, web.get(path, headers=said).text


@pytest.mark.parametrize("design", DESIGNS)
def test_a_collector_answers_what_it_answered(stored, serve, design):
    with serve(survey(design)) as running, httpx.Client(base_url=running.url, timeout=60) as web:
        answers = {name: normal(text).replace('{"', '\n{"') for name, text in exchange(running, web)}
    kept = str if design in WHOLE else shortened
    stored.holds(design, "".join(f"-- {name}\n{kept(text)}\n" for name, text in answers.items()))


def test_the_description_and_the_page_are_what_they_were(stored, serve):
    with serve(survey("joint")) as running, httpx.Client(base_url=running.url, timeout=60) as web:
        described, page = web.get("/openapi.json").json(), web.get("/")
    described["info"]["version"] = "VERSION"
    parts = {name: each for name, each in described.items() if name not in ("paths", "components")}
    parts |= described["paths"] | described["components"]["schemas"]
    told = [f"-- {name}\n{shortened(json.dumps(each, sort_keys=True), 400)}" for name, each in parts.items()]
    stored.holds("openapi", "\n".join(told))
    headers = sorted(f"{name}: {value}" for name, value in page.headers.items() if name not in ("date", "server"))
    bytes_ = f"{len(page.content)} bytes, SHA-256 {hashlib.sha256(page.content).hexdigest()}"
    stored.holds("page", "\n".join([bytes_, *headers]))


def test_nothing_else_is_stored(stored):
    stored.holds_no_more_than([*DESIGNS, "openapi", "page"])

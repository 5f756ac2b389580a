"""Everything that leaves a survey, walked: commands, formats, pages. A new one joins, or is named with its reason.

A question and a group that too few have answered have that said in their place in each of them, and stop nothing else.
Reports of a simulation, or of a pilot, say so in every one.
"""

from __future__ import annotations

import io
import json
import re
import secrets
from pathlib import Path
from urllib.parse import quote

import click
import httpx
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.collection.collector import Collector
from deniable.collection.report_cells import encode_cell
from deniable.collection.simulated_marks import mark
from deniable.files import write_files as files
from deniable.reporting.scripts.write_script import SCRIPTS
from deniable.storage.open_store import FILE
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey, pilot_of
from deniable.web.dashboard.dashboard import Dashboard
from deniable.web.serve import Service, background

SURVEY = (
    """
format = 1
name = "walked"
title = "Walked"
epsilon = 3.0
design = { kind = "views", k = 2 }
tables = [["a", "b"]]
"""
    + "".join(f'[[questions]]\nname = "{name}"\ntext = "Did you {name}?"\nkind = "yes-no"\n' for name in "abc")
    + """
[[public]]
name = "region"
text = "Where?"
choices = ["islands", "north", "south"]
"""
)
SAME = {"Origin": "http://testserver", "Host": "testserver"}
ISLANDS, C = "24 of 30 answers needed", "27 of 30 answers needed"


class Survey:
    """A survey whose question c 27 have answered, in whose islands 24 have; or a simulation of it, or its pilot."""

    def __init__(self, folder: Path, kind: str = "") -> None:
        self.folder = folder
        self.survey = pilot_of(parse_survey(SURVEY)) if kind == "pilot" else parse_survey(SURVEY)
        self.store = SqliteStore(folder / FILE)
        self.collector = Collector(self.survey, self.store)
        ballots = {design_names(self.survey.design, ballot): ballot for ballot in range(3)}
        rows = [(ballots["ab"], cell, region) for region, n in enumerate((24, 300, 276)) for cell in cells(n)]
        rows += [(ballots["ac"], cell, 1) for cell in cells(15)] + [(ballots["bc"], cell, 2) for cell in cells(12)]
        # Twenty with the lowest keys are held back while a survey runs: here none of the thin region.
        self.keys = [bytes([not 24 <= place < 44]) + secrets.token_bytes(15) for place in range(len(rows))]
        if kind == "simulated":
            mark(self.store, self.keys)
        self.store.add(
            [
                Row(key, 1, encode_cell(None, ballot, (cell,), (region,)))
                for key, (ballot, cell, region) in zip(self.keys, rows, strict=True)
            ]
        )


def cells(n):
    """Answers of n people to a pair, some of every combination."""
    return [(0, 0, 0, 1, 2, 3)[i % 6] for i in range(n)]


def design_names(design, ballot):
    (index,) = design.ballots[ballot]
    return "".join(sorted(design.questions[index].attributes))


@pytest.fixture(scope="module")
def thin(tmp_path_factory):
    return Survey(tmp_path_factory.mktemp("thin"))


# -- what there is ----------------------------------------------------------------------------------------------------

QUICK = ("--replicates", "19")
COMMANDS = {
    "estimate": [
        ("--by", "region"),
        ("--by", "region", "--json"),
        (),
        ("--json",),
        ("--by", "region", "--plot", "x.svg"),
    ],
    "test": [("a", "b", "--by", "region", *QUICK), ("a", "b", "--by", "region", "--json", *QUICK), QUICK],
    "report": [("-o", "r.html", *QUICK), ("-o", "r.md", *QUICK), ("-o", "r.md", "--methods")],
    "export": [
        *(("-o", f"x{kind}") for kind in (*files._WRITERS, *files._SHEETS, *SCRIPTS, ".json")),
        *(("-o", f"x{kind}", "--labelled") for kind in files._WRITERS),
    ],
    "clusters": [(), ("--json",)],
    "synthesize": [("-o", "s.csv"), ("-o", "s.parquet"), ("-o", "t.csv", "--json")],
}
NOTHING_OF_REPORTS = {
    "demo": "says in every sentence that its people are known",
    "new": "a survey file",
    "plan": "no reports yet",
    "serve": "addresses and tokens; its pages are walked below",
    "invite": "invitations",
    "issuer": "signatures",
    "close": "closes",
    "delete": "deletes",
    "backup": "a store, which is a place like the first",
    "verify-page": "hashes",
    "verify": "whether what is stored is whole",
    "simulate": "the truth about made-up people",
    "compare": "errors among simulated people",
    "randomize": "reports of people in a table",
    "audit": "of a channel",
    "graph": "of a graph",
}
PAGES = {
    "/analyst": ["/analyst"],
    "/analyst/tables": ["/analyst/tables?of=a&of=b", "/analyst/tables?of=c", "/analyst/tables?of=a&by=region"],
    "/analyst/associations": ["/analyst/associations"],
    "/analyst/privacy": ["/analyst/privacy"],
    "/analyst/chart.{kind}": ["/analyst/chart.svg?of=a", "/analyst/chart.svg?of=a&by=region"],
    "/analyst/associations.{kind}": ["/analyst/associations.svg"],
    "/analyst/results.json": ["/analyst/results.json"],
    "/analyst/results.csv": ["/analyst/results.csv"],
    "/analyst/reports.{kind}": [f"/analyst/reports.{kind}" for kind in ("parquet", "csv", "sav", "dta")],
    "/analyst/analysis.{kind}": [f"/analyst/analysis.{kind}" for kind in ("R", "py")],
}
NOTHING_SHOWN = {"/analyst/progress", "/analyst/login", "/analyst/logout", "/analyst/close"}


def test_every_command_is_walked_or_shows_nothing_of_reports():
    assert isinstance(app, click.Group)
    assert {*app.list_commands(click.Context(app))} == {*COMMANDS, *NOTHING_OF_REPORTS}


def test_every_page_is_walked_or_shows_nothing_of_reports(thin):
    paths = {route.path for route in Dashboard(thin.collector).routes() if route.path.startswith("/analyst")}
    assert paths == {*PAGES, *NOTHING_SHOWN}


def outputs(place, folder, monkeypatch, command):
    """What a command leaves behind of the reports at a place: how it was called, and all texts it has made."""
    for number, options in enumerate(COMMANDS[command]):
        inside = folder / str(number)
        inside.mkdir()
        monkeypatch.chdir(inside)
        done = CliRunner().invoke(app, [command, str(place), *options], env={"COLUMNS": "200"})
        assert done.exit_code == 0, (command, options, done.output)
        made = {path.name: path.read_bytes() for path in sorted(inside.iterdir())}
        yield " ".join((command, *options)), {"stdout": done.stdout.encode(), **made}


def looked_at(survey):
    """What an analyst sees of a survey."""
    token = new_token(survey.store, ANALYST)
    service = Service(survey.collector, survey.store, token)
    with background(service) as url, httpx.Client(base_url=url, timeout=300) as web:
        assert web.post("/analyst/login", data={"token": token}, headers=SAME).status_code == 303
        return {path: web.get(path) for paths in PAGES.values() for path in paths}


@pytest.fixture(scope="module")
def pages(thin):
    return looked_at(thin)


# -- what too few have answered ---------------------------------------------------------------------------------------

NO_TABLES = ("clusters", "synthesize")  # the pairs that enough have answered, and records of all


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in NO_TABLES])
def test_thin_parts_stand_in_their_place_in_what_commands_write(thin, tmp_path, monkeypatch, command):
    for called, made in outputs(thin.folder, tmp_path, monkeypatch, command):
        told = "".join(body.decode("utf-8", "replace") for body in made.values())
        if "--by" in called or "report" in called:
            assert (ISLANDS in told) != ("--methods" in called), called
        if "--by" not in called and called.startswith(("estimate", "report", "export -o x.R", "export -o x.py")):
            assert (C in told) != ("--methods" in called), called


def test_a_report_shows_what_enough_have_answered(thin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for more, groups in (((), True), (("--no-groups",), False)):
        done = CliRunner().invoke(app, ["report", str(thin.folder), "-o", "r.md", *QUICK, *more])
        assert done.exit_code == 0, done.output
        text = Path("r.md").read_text(encoding="utf-8")
        assert f"### Did you c? (c)\n\n{C}." in text
        assert text.count("612 reports about b") == 1  # b; a 615
        assert "Did you b? (b); Did you c? (c): 12 of 30 answers needed." in text
        assert ("## By group" in text) == groups
    told = CliRunner().invoke(app, ["report", str(thin.folder), "-o", "r.md", "--by", "region", "--no-groups"])
    assert told.exit_code == 3
    assert "leave one of them out" in told.output


def test_thin_parts_stand_in_their_place_in_json(thin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["estimate", str(thin.folder), "--by", "region", "--json"])
    tables = {(*table["attributes"], table.get("region")): table for table in json.loads(done.stdout)["tables"]}
    assert (tables["a", "islands"]["refused"], tables["a", "islands"]["n"]) == (ISLANDS, 24)
    assert [len(tables["a", region]["cells"]) for region in ("islands", "north", "south")] == [0, 2, 2]
    assert tables["c", None]["refused"].startswith("no group of 'region' can be shown")


def test_thin_parts_stand_in_their_place_on_pages(pages):
    assert {answer.status_code for answer in pages.values()} == {200}
    assert C in pages["/analyst"].text
    assert pages["/analyst"].text.count("<article") == 3
    assert pages["/analyst"].text.count("<figure") == 2
    assert C in pages["/analyst/tables?of=c"].text
    assert pages["/analyst/tables?of=a&by=region"].text.count(ISLANDS) == 1
    assert ISLANDS in pages["/analyst/chart.svg?of=a&by=region"].text
    assert C in pages["/analyst/results.csv"].text
    found = {tuple(table["attributes"]): table for table in pages["/analyst/results.json"].json()["tables"]}
    assert [("refused" in table) for table in found.values()] == [False, False, True, False]
    assert C in pages["/analyst/analysis.R"].text
    assert quote("a") in pages["/analyst/associations"].text


# -- what is no result ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["simulated", "pilot"])
def tried(request, tmp_path_factory):
    return request.param, Survey(tmp_path_factory.mktemp(request.param), request.param)


def words(name, body):
    """What a file says, where its bytes are no text."""
    if name.endswith(".parquet"):
        table = pq.read_table(io.BytesIO(body))
        said = {key: value for key, value in (table.schema.metadata or {}).items() if key == b"deniable.origin"}
        return repr(said) + repr(table.column("dn_origin")[0] if "dn_origin" in table.column_names else "")
    if name.endswith((".sav", ".dta")):
        return "pilot" if b"Pilot: Walked" in body else body[:400].decode("utf-8", "replace")
    return body.decode("utf-8", "replace")


def says(kind, text):
    """Whether a text says so by itself: not only in the survey's name, hash or title."""
    told = text.replace("walked-pilot", "").replace("Pilot: Walked", "")
    if kind == "pilot":
        return re.search(r"pilot(?!\W*(false|:false))", told, re.IGNORECASE) is not None
    return re.search(r"simulated(?!\W*0\b)", told, re.IGNORECASE) is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_everything_a_command_writes_says_that_it_is_no_result(tried, command, tmp_path, monkeypatch):
    kind, survey = tried
    for called, made in outputs(survey.folder, tmp_path, monkeypatch, command):
        files_made = {name: text for name, text in made.items() if name != "stdout"} or {"stdout": made["stdout"]}
        for name, body in files_made.items():
            assert says(kind, words(name, body)), (called, name)


def test_every_page_and_download_says_that_it_is_no_result(tried, tmp_path):
    kind, survey = tried
    for path, answer in looked_at(survey).items():
        assert answer.status_code == 200, path
        assert says(kind, words(path, answer.content)), path


def test_a_survey_that_people_answered_says_nothing_of_the_kind(thin, pages, tmp_path, monkeypatch):
    said = {path: words(path, answer.content) for path, answer in pages.items()}
    for command in COMMANDS:
        folder = tmp_path / command
        folder.mkdir()
        for called, made in outputs(thin.folder, folder, monkeypatch, command):
            said |= {(called, name): words(name, body) for name, body in made.items()}
    for kind in ("simulated", "pilot"):
        assert [where for where, told in said.items() if says(kind, told)] == []

"""What a survey is made for, and how near its design is to the best for it, is one sentence in every output.

No output is given the survey file: the store knows it, and so does every file that is written from there.
"""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.collection.collector import Collector
from deniable.collection.load_reports import collected
from deniable.collection.simulate_respondents import Crowd
from deniable.designs.distance_to_best import nearness
from deniable.engines.read_reports import read_header
from deniable.files.header import Header
from deniable.storage.open_store import FILE
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey
from deniable.web.api.results_endpoint import results
from deniable.web.serve import Service, background
from small_survey import BLOCKS

QUESTIONS = """
[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"

[[questions]]
name = "sleep"
text = "How do you sleep?"
choices = ["badly", "so-so", "well"]

[[questions]]
name = "stress"
text = "How much stress do you have?"
kind = "scale"
first = 0
last = 4
"""
CASES = {
    "independent, nothing said": ("", '{ kind = "independent" }'),
    "views, a table and a mean": (
        'tables = [["smokes", "sleep"]]\nwanted = ["mean(stress) weight 0.123456789"]',
        '{ kind = "views", k = 2 }',
    ),
    "joint, a distribution": ('wanted = ["cdf(stress)", "quantiles(stress; 0.25 0.5)"]', '{ kind = "joint" }'),
    "sampled, ranges": ('wanted = ["ranges(stress; 0..1, 3..4)"]', '{ kind = "sampled" }'),
    "tables, a difference": (
        'tables = [["smokes", "stress"]]\nwanted = ["difference(stress by smokes; scores 0 1 2 3 4)"]',
        '{ kind = "tables" }',
    ),
    "optimal, at a guess": (
        'wanted = ["mean(stress)", "association(smokes, sleep)"]',
        '{ kind = "optimal", guess = { smokes = [0.8, 0.2] } }',
    ),
    "blocks, of which nobody knows": ("", BLOCKS),
    "pairs, of which nobody knows": (
        "",
        '{ kind = "paired", p = 0.7, rho = -0.1, accept = "a partner who knows the coin" }',
    ),
}


def survey_text(aims, design):
    """A survey file; one in pairs asks yes or no alone."""
    asked = QUESTIONS.partition('[[questions]]\nname = "sleep"')[0] if "paired" in design else QUESTIONS
    return f'format = 1\nname = "one"\ntitle = "One"\nepsilon = 2.0\n{aims}\ndesign = {design}\n{asked}'


def said(*arguments):
    ran = CliRunner().invoke(app, list(map(str, arguments)))
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def found(text):
    """The sentences of a text that say it."""
    plain = " ".join(re.sub(r"[\\`*]|^[#%]|\n[#%]", " ", unescape(text)).split())
    return set(re.findall(r"For .*?, this design .*? at (?:even shares|your guess)\.", plain))


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def served(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sentence")
    path, data = folder / "survey.toml", folder / "data"
    path.write_text(survey_text(*request.param), encoding="utf-8")
    service = Service.open(path, data)
    survey, rng = service.collector.survey, np.random.default_rng(3)
    with background(service) as url, httpx.Client(base_url=url, timeout=300) as client:
        crowd = Crowd(url, batch=240)
        for _ in range(240):
            crowd.answer({name: str(rng.choice(variable.categories)) for name, variable in survey.domain.items()})
        crowd.flush()
        assert client.post("/analyst/login", data={"token": service.token}, headers={"Origin": url}).status_code == 303
        page, shown, lines = (client.get(f"/analyst{path}") for path in ("", "/results.json", "/results.csv"))
        yield survey, folder, (page.text, shown.json(), lines.text)


def test_every_output_says_the_same(served):
    survey, folder, (page, shown, lines) = served
    sentence, data, path = nearness(survey.design, survey.aims, survey.guess), folder / "data", folder / "survey.toml"
    assert bool(sentence) is (survey.design.kind not in ("blocks", "paired"))
    expected = {" ".join(sentence.replace("*", " ").split())} if sentence else set()
    wanted = list(map(str, survey.aims))

    assert found(page) == expected
    assert (shown["nearness"], shown["wanted"]) == (sentence, wanted)
    assert [line[1] for line in csv.reader(io.StringIO(lines)) if "this design" in line[1]] == (
        [sentence] if sentence else []
    )

    parquet, beside = folder / "reports.parquet", folder / "design.json"
    said("export", data, "-o", parquet)
    said("export", data, "-o", folder / "reports.csv")
    said("export", data, "-o", beside)
    for file in (parquet, folder / "reports.csv", beside):
        header = Header.from_json(file.read_bytes(), "it") if file == beside else read_header(file)
        assert list(header.words.aims) == wanted
        assert dict(header.words.guess) == dict(survey.guess or {})
        assert list(header.remarks) == ([sentence] if sentence else [])
    assert sentence in json.loads(pq.read_schema(parquet).metadata.get(b"deniable.remarks", b'[""]'))
    for source in (data, parquet):
        told = json.loads(said("estimate", source, "--table", "smokes", "--json"))
        assert (told["nearness"], told["wanted"]) == (sentence, wanted)
    words = ["--words", path] if survey.design.kind == "joint" else []  # which change nothing
    said("report", data, "-o", folder / "store.md", "--replicates", 19, *words)
    said("report", parquet, "-o", folder / "file.html", "--replicates", 19)
    for name in ("store.md", "file.html"):
        assert found((folder / name).read_text("utf-8")) == expected
    if survey.design.kind not in ("joint", "paired"):
        said("export", data, "-o", folder / "analysis.py")
        assert found((folder / "analysis.py").read_text("utf-8")) == expected
    planned = json.loads(said("plan", path, "--n", 500, "--json"))
    assert planned["wanted"] == wanted
    assert planned["own_nearness"] == sentence
    own = next((one for one in planned["candidates"] if one["name"] == "as in the file"), None)
    if sentence:  # the table beside the sentence, rounded up as there
        assert f"{np.ceil(own['times_the_best'] * 100 - 1e-6) / 100:.2f} times" in sentence


def test_where_a_file_changed_the_store_says_what_it_was_last_served_for(tmp_path):
    for wanted in ("mean(stress)", "cdf(stress)", "cdf(stress)", "mean(stress)"):
        survey = parse_survey(survey_text(f'wanted = ["{wanted}"]', '{ kind = "independent" }'))
        collector = Collector(survey, SqliteStore(tmp_path / FILE))
        assert results(collector).wanted[0] == wanted
        collector.close()
    assert collected(tmp_path).labels.aims[0] == "mean(stress)"
    store = SqliteStore(tmp_path / FILE)
    assert len(store.saved_under("aims ")) == 3  # what it was once made for is not forgotten
    store.close()


def test_reports_that_nobody_said_anything_of_say_nothing(tmp_path):
    people = {"smokes": ["no", "yes"] * 50}
    dn.Joint({"smokes": ["no", "yes"]}, 1.0).randomize(people, source=dn.Seeded(1)).write(tmp_path / "r.parquet")
    told = json.loads(said("estimate", tmp_path / "r.parquet", "--json"))
    assert (told["wanted"], told["nearness"]) == ([], "")
    # What they were made for may be said then.
    said("report", tmp_path / "r.parquet", "-o", tmp_path / "r.md", "--wanted", "smokes", "--replicates", 19)
    assert len(found((tmp_path / "r.md").read_text("utf-8"))) == 1

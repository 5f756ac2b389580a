"""`export`, `estimate`, `test` and `report` take what a collector has stored where they take a file of reports."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.collection.collector import Collector
from deniable.collection.simulate_respondents import Crowd
from deniable.storage.open_store import open_store
from deniable.storage.store import Row, key_of
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service, background
from small_survey import BLOCKS, PAIRED, small_survey

HEAD = 'format = 1\nname = "s"\ntitle = "S"\nepsilon = 4.0\n'
PUBLIC = '[[public]]\nname = "region"\ntext = "?"\nchoices = ["north", "south"]\n'
SURVEYS = {
    "independent": small_survey() + PUBLIC,
    "blocks": small_survey(BLOCKS),
    "paired": small_survey(PAIRED),
}
N = 120


def collect(folder, survey, database=None):
    """Let respondents answer a survey, who all say yes to the first question and no to the second."""
    collector = Collector(parse_survey(survey), open_store(folder, database))
    with background(Service(collector, collector.store, None)) as url:
        crowd = Crowd(url, batch=10)
        person = {"a": "yes", "b": "no"} | ({"region": "north"} if crowd.design.public else {})
        for _ in range(N):
            crowd.answer(person)
        crowd.flush()
        crowd._transport.close()
    return collector.design_id


@pytest.fixture(params=["folder", "file", "postgres"])
def place(request, tmp_path):
    """A store of an independent survey, named in each of the three ways."""
    database = request.getfixturevalue("database") if request.param == "postgres" else None
    collect(tmp_path / "data", SURVEYS["independent"], database)
    if request.param == "file":
        copied = CliRunner().invoke(app, ["backup", str(tmp_path / "data"), str(tmp_path / "copy.db")])
        assert copied.exit_code == 0, copied.output
    return {"folder": "data", "file": "copy.db", "postgres": database}[request.param]


def test_a_pilot_alone_is_called_so(tmp_path, run):
    collect(tmp_path / "data" / "pilot", SURVEYS["independent"])
    refused = run("estimate", "data")
    assert refused.exit_code != 0
    assert "holds the reports of a pilot and no others yet" in " ".join(refused.stderr.split())
    assert run("estimate", str(Path("data") / "pilot")).exit_code == 0


def test_every_command_takes_a_store(place, run):
    exported = run("export", place, "-o", "r.parquet", "--json")
    assert exported.exit_code == 0, exported.output
    made_up = {"stamp": "Simulated", "simulated": N, "seeded": False, "pilot": False}
    told = {"output": "r.parquet", "reports": N, "origin": made_up, "scores": 4}
    assert json.loads(exported.stdout) == told
    assert run("export", place, "-o", "r.csv").exit_code == 0
    one, two = dn.read_reports("r.parquet"), dn.read_reports("r.csv")
    assert one.design == two.design
    assert np.array_equal(one.answers, two.answers)
    assert b"deniable.design" in pq.read_schema("r.parquet").metadata
    assert run("export", place, "-o", "d.json").stdout == "The design in d.json\n"
    assert json.loads(Path("d.json").read_text(encoding="utf-8"))["sha256"] == one.design.id
    # What is estimated from the store is what is estimated from the file.
    for command in (("estimate", "--by", "region"), ("test", "a", "b")):
        name, *rest = command
        found = [run(name, source, *rest, "--json") for source in (place, "r.parquet")]
        assert [result.exit_code for result in found] == [0, 0], found[0].output
        numbers, same = (json.loads(result.stdout) for result in found)
        assert numbers == same
    made = run("report", place, "-o", "r.md", "--replicates", "19")
    assert made.exit_code == 0, made.output
    text = Path("r.md").read_text(encoding="utf-8")
    assert f"{N} in " in text
    assert "SHA-256 of" not in text  # a store changes; a file does not
    assert "postgresql://" not in text


@pytest.mark.parametrize("kind", ["blocks", "paired"])
def test_reports_in_blocks_and_pairs_survive_the_file(kind, run, tmp_path):
    collect(tmp_path / "data", SURVEYS[kind])
    assert run("export", "data", "-o", "r.parquet").exit_code == 0
    assert run("export", "data", "-o", "r.csv").exit_code == 0
    results = [run("estimate", source, "--json") for source in ("data", "r.parquet", "r.csv")]
    assert [result.exit_code for result in results] == [0, 0, 0], [result.output for result in results]
    tables = [json.loads(result.stdout)["tables"] for result in results]
    assert tables[0] == tables[1] == tables[2]
    assert len({hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in ("r.parquet", "r.csv")}) == 2


def test_one_of_several_designs_is_chosen_by_its_hash(run, tmp_path):
    first = collect(tmp_path / "data", SURVEYS["independent"])
    second = collect(tmp_path / "data", SURVEYS["independent"].replace("4.0", "3.0"))
    asked = run("estimate", "data")
    assert asked.exit_code == 3
    assert "2 designs" in asked.stderr
    assert all(name[:12] in asked.stderr for name in (first, second))
    for name, epsilon in ((first, 4.0), (second, 3.0)):
        found = json.loads(run("estimate", "data", "--design", name[:8], "--json").stdout)
        assert epsilon * 0.99 < found["epsilon"] <= epsilon
    assert "0 designs whose hash begins with 'zz'" in run("export", "data", "-o", "x.csv", "--design", "zz").stderr
    assert "a file of reports has only one" in run("estimate", "in/reports.parquet", "--design", "ab").stderr


def test_places_that_hold_no_store(run, tmp_path):
    Path("empty").mkdir()
    for place in ("nowhere", "empty"):
        assert run("estimate", place).exit_code == 3
    db = sqlite3.connect("other.db")
    db.execute("CREATE TABLE t (x)")
    db.execute("PRAGMA user_version = 77")
    db.commit()
    db.close()
    assert "other.db is a store of format 77" in run("estimate", "other.db").stderr
    refused = run("estimate", "postgresql://me:secret@127.0.0.1:1/survey")
    assert refused.exit_code == 3
    assert "secret" not in refused.output


def test_a_database_without_a_store_is_called_so_and_left_as_it_is(run, cluster):
    Path("survey.toml").write_text(small_survey('{ kind = "optimal" }'), encoding="utf-8")
    assert dn.read_survey("survey.toml").searched  # what was found for it is looked up in the database too
    commands = [
        ("estimate",),
        ("test", "a", "b"),
        ("clusters",),
        ("report", "-o", "r.html"),
        ("export", "-o", "r.parquet"),
        ("synthesize", "-o", "s.csv"),
    ]
    with cluster.database() as address:
        name = address.partition("?")[0].rpartition("/")[2]
        for command, *more in commands:
            refused = run(command, address, *more)
            assert refused.exit_code == 3, refused.output
            assert f"there is no store in the database {name} at " in refused.stderr
            assert "begin with deniable serve" in refused.stderr
        assert "holds no reports" in run("backup", address, "copy.sqlite").stderr
        for command, *more in (("delete", "--confirm", "small"), ("close",)):
            refused = run(command, "survey.toml", "--data", "data", "--database", address, *more)
            assert refused.exit_code == 3, refused.output
            assert f"{name} at " in refused.stderr
            assert "holds neither reports nor an issuer" in refused.stderr
        made = cluster.run("SELECT nspname FROM pg_namespace WHERE nspname = 'deniable'", name)
        assert made == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_order_of_an_export_tells_nothing_about_the_order_of_arrival(kind, run, tmp_path, request):
    n = 1000
    # One question of a thousand answers, each given once: the answer says which report it is.
    scale = '[[questions]]\nname = "a"\ntext = "?"\nkind = "scale"\nfirst = 1\nlast = 1000\n'
    came = np.random.default_rng(8).permutation(n).tolist()
    cluster = request.getfixturevalue("cluster") if kind == "postgres" else None
    exported = {}
    for name, order in (("forwards", came), ("backwards", came[::-1])):
        with cluster.database() if cluster else nullcontext(str(tmp_path / name)) as place:
            store = open_store(place, place if cluster else None)
            collector = Collector(parse_survey(HEAD + scale), store)
            for start in range(0, n, 100):
                some = order[start : start + 100]
                store.add([Row(key_of(store.salt, f"{answer:064x}"), 1, f"[null,0,[{answer}],[]]") for answer in some])
            collector.close()
            assert run("export", place, "-o", f"{name}.parquet").exit_code == 0
        exported[name] = Path(f"{name}.parquet").read_bytes()
    assert exported["forwards"] == exported["backwards"]
    answers = dn.read_reports("forwards.parquet").answers[:, 0].tolist()
    when = {answer: moment for moment, answer in enumerate(came)}
    # Under independence sqrt(N) r is close to a standard normal; the permutation is fixed.
    correlation = np.corrcoef([when[answer] for answer in answers], np.arange(n))[0, 1]
    assert abs(correlation) < 4 / n**0.5

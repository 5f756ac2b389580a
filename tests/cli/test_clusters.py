"""`deniable clusters` and `deniable synthesize`: the library's answers, from a file of reports, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deniable as dn


@pytest.fixture
def pilot(run):
    arguments = ("--domain", "in/domain.toml", "--epsilon", "6", "--design", "independent", "-o", "pilot.parquet")
    assert run("randomize", "in/people.parquet", *arguments).exit_code == 0
    return dn.read_reports("pilot.parquet")


def test_clusters_are_those_of_the_library_and_can_be_given_to_randomize(pilot, run):
    found = dn.find_clusters(pilot, least_dependence=0.2)
    result = run("clusters", "pilot.parquet", "--least", "0.2")
    assert result.exit_code == 0, result.output
    lines = [f"--cluster {','.join(cluster)}" for cluster in found]
    assert result.stdout.splitlines() == [f"{len(found)} clusters of 3 attributes, from 4000 reports:", *lines]
    # Sex and income are made dependent, age is not: V is near .33 and 0, each within .1 of it at epsilon 6.
    assert found == [["sex", "income"], ["age"]]
    data = json.loads(run("clusters", "pilot.parquet", "--least", "0.2", "--json").stdout)
    assert data == {"clusters": found, "reports": 4000}
    options = [part for line in lines for part in line.split()]
    arguments = ("--domain", "in/domain.toml", "--epsilon", "2", "--design", "clusters", *options, "-o", "out.parquet")
    assert run("randomize", "in/people.parquet", *arguments, "--again").exit_code == 0


def test_records_have_the_tables_of_the_reports(pilot, run):
    result = run(
        "synthesize", "pilot.parquet", "-n", "500", "--attribute", "sex", "--attribute", "income", "-o", "r.csv"
    )
    assert result.stdout == "500 made-up records in r.csv, dealt from the tables that 4000 reports tell.\n"
    rows = Path("r.csv").read_text().splitlines()
    assert rows[0] == '"sex","income"'
    assert len(rows) == 501
    women = sum(row.startswith('"F"') for row in rows[1:]) / 500
    assert women == pytest.approx(dn.estimate(pilot, ["sex"]).values[0], abs=0.01)
    data = json.loads(run("synthesize", "in/reports.parquet", "-o", "all.parquet", "--json").stdout)
    assert data == {"output": "all.parquet", "records": 4000, "reports": 4000}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("clusters", "in/reports.parquet", "sex"), "at least two attributes"),
        (("clusters", "in/reports.parquet", "sex", "nothing"), "there is no attribute 'nothing'"),
        (("synthesize", "in/reports.parquet", "-o", "r.txt"), "a .parquet or .csv file"),
        (("synthesize", "in/reports.parquet", "--attribute", "nothing", "-o", "r.csv"), "there is no attribute"),
        (("synthesize", "in/reports.parquet", "-o", "in/people.csv"), "already there"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, told, run):
    result = run(*arguments)
    assert result.exit_code == 3
    assert told in result.stderr

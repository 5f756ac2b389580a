"""`deniable compare`: the library's comparison, of the people of a file, by the words of `randomize`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DOMAIN = ("--domain", "in/domain.toml")
USUAL = ("compare", "in/people.parquet", *DOMAIN, "--epsilon", "2", "--repeats", "2", "--n", "300")


def test_designs_are_tried_on_the_people_of_a_file(run):
    found = run(*USUAL, "--design", "joint", "--design", "views --answer all --k 2", "--table", "sex,income")
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    for name in ("undisguised", "joint", "views --answer all"):
        assert [line for line in lines if line.strip().startswith(name)], found.stdout
    assert "sex x income" in found.stdout
    assert "means over 2 draws of 300 simulated people" in found.stdout
    assert max(map(len, lines[:6])) <= 80
    assert not [path for path in Path().iterdir() if path.suffix in (".parquet", ".svg")]  # nothing is written


def test_what_is_printed_for_programs_and_drawn(run):
    options = ("--design", "sampled", "--method", "inversion", "--method", "mle", "--distance", "l2", "--plot", "p.svg")
    found = run(*USUAL, *options, "--table", "sex", "--json")
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    assert (data["n"], data["repeats"], data["distance"]) == (300, 2, "l2")
    assert [(row["design"], row["method"]) for row in data["rows"]] == [
        ("undisguised", "counted"),
        ("sampled", "inversion"),
        ("sampled", "mle"),
    ]
    assert all(row["distance"] >= 0 for row in data["rows"])
    assert "<svg" in Path("p.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--design", "oracle"), 3, "'oracle' is not one of"),
        (("--design", "views --answer some"), 3, "'some' is not one of 'one', 'all'"),
        (("--design", "joint 'open"), 3, "No closing quotation"),
        (("--design", "clusters"), 3, "needs --cluster"),
        (("--design", "joint", "--design", "joint --channel krr"), 3, "'joint' is there twice"),
        (("--design", "joint --cluster sex,age"), 3, "belongs to --design clusters"),
        (("--design", "joint", "--table", "shoe"), 3, "shoe"),
        (("--design", "joint", "--method", "magic"), 3, "magic"),
        (("--design", "joint", "--plot", "p.png"), 3, ".svg files"),
        ((), 2, "--design"),
    ],
)
def test_mistakes_are_answered(run, arguments, code, told):
    found = run(*USUAL, *arguments)
    assert found.exit_code == code, found.output
    assert told in found.output


def test_columns_of_a_csv_file_are_read_as_the_categories_are(run):
    Path("d.toml").write_text('ward = ["01", "02"]\nsmokes = [false, true]\n')
    Path("p.csv").write_text("ward,smokes\n" + "01,true\n02,false\n" * 20)
    found = run("compare", "p.csv", "--domain", "d.toml", "--epsilon", "2", "--design", "joint", "--repeats", "2")
    assert found.exit_code == 0, found.output

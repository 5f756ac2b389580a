"""`deniable graph`: an edge list in, reports out, degrees and triangles from them."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.core.randomness import Seeded
from deniable.graphs import randomize, read_noisy_graph, write_graph, write_noisy_graph
from deniable.graphs.graph_files import clustered_graph

TRUTH = clustered_graph(60, 200, closing=0.8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_graph(TRUTH, "friends.edges")
    (tmp_path / "people.txt").write_text("# everybody\n" + "\n".join(map(str, range(60))) + "\n\n")
    write_noisy_graph(randomize(TRUTH, 4.0, source=Seeded(3)), "seeded.npz")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["graph", *arguments], prog_name="deniable")


@pytest.mark.parametrize("nodes", ["people.txt", "60"])
@pytest.mark.parametrize("output", ["reports.npz", "reports.edges"])
def test_an_edge_list_becomes_reports(folder, nodes, output):
    result = run("friends.edges", "--nodes", nodes, "--epsilon", "3", "-o", output)
    assert result.exit_code == 0, result.output
    assert "epsilon of an edge: 2.99" in result.output
    assert "Public: the list of nodes" in result.output
    noisy = read_noisy_graph(folder / output)
    assert len(noisy.nodes) == 60
    assert 2.9 < noisy.epsilon <= 3.0


def test_both_ends_cost_twice(folder):
    result = run("friends.edges", "--epsilon", "1", "--reported-by", "both", "-o", "r.npz", "--json")
    told = json.loads(result.stdout)
    assert told["epsilon"] == pytest.approx(2, abs=0.01)
    assert told["person_epsilon"] == pytest.approx(59 * told["epsilon"])
    assert any("being on the public list of nodes" in line for line in told["statement"])
    assert read_noisy_graph(folder / "r.npz").epsilon == told["epsilon"]


@pytest.mark.parametrize("what", ["degrees", "triangles"])
def test_estimates_are_the_library_s(folder, what):
    noisy = read_noisy_graph(folder / "seeded.npz")
    expected = noisy.degrees() if what == "degrees" else noisy.triangles()
    told = json.loads(run("seeded.npz", "--of", what, "--top", "5", "--json").stdout)
    assert told["total"]["value"] == pytest.approx(expected.total.value)
    assert told["total"]["std_error"] == pytest.approx(expected.total.std_error)
    largest = sorted(expected.values)[::-1][:5]
    assert [row["estimate"] for row in told["largest"]] == pytest.approx(largest)
    shown = run("seeded.npz", "--of", what, "--csv", "all.csv")
    assert shown.exit_code == 0, shown.output
    assert f"standard error {expected.total.std_error:.1f}" in shown.output
    assert "95% intervals go from low to high" in shown.output
    first = expected.summary().rows()[int(np.argmax(expected.values))]
    assert re.search(r"^ *" + " +".join(map(re.escape, first.values())) + " *$", shown.output, re.MULTILINE)
    with (folder / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert np.allclose([float(row[expected.name]) for row in rows], expected.values)
    assert np.allclose([float(row["std_error"]) for row in rows], expected.std_error)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("friends.edges", "--epsilon", "2"), "say where the reports go"),
        (("seeded.npz", "--nodes", "60"), "give --epsilon as well"),
        (("seeded.npz", "-o", "x.npz"), "give --epsilon as well"),
        (("seeded.npz", "--reported-by", "both"), "--reported-by does not belong to an estimate"),
        (("friends.edges", "--epsilon", "2", "-o", "x.npz", "--of", "triangles"), "--of does not belong to disguising"),
        (("friends.edges",), "is an edge list: to disguise it, give --epsilon"),
        (("friends.edges", "--epsilon", "2", "--nodes", "nobody.txt", "-o", "x.npz"), "nobody.txt"),
        (("friends.edges", "--epsilon", "2", "--nodes", "10", "-o", "x.npz"), "friends.edges"),
        (("none.npz",), "none.npz"),
    ],
)
def test_what_does_not_fit_is_refused(folder, arguments, told):
    result = run(*arguments)
    assert result.exit_code == 3
    assert told in result.output
    assert not (folder / "x.npz").exists()

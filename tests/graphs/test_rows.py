"""Rows that people disguise themselves: as from `randomize` of the whole, each pair once, and what is refused."""

import json
from math import isclose

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import deniable as dn
from deniable import graphs
from deniable.cli.app import app
from deniable.errors import DesignError, InputError, PrivacyError
from deniable.graphs.graph_files import clustered_graph
from deniable.graphs.pair_sets import endpoints

PEOPLE = ["ann", "bob", "cem", "dan"]


def rows_of(truth, epsilon, seed):
    """Everybody's own row; each is drawn from a stream of its own, as on devices of their own."""
    names, source = list(truth.nodes), np.random.default_rng(seed)
    known = {name: [] for name in names}
    for one, other in truth.edges():
        known[one].append(other)
        known[other].append(one)
    return [
        graphs.randomize_row(name, known[name], truth.nodes, epsilon, source=dn.Seeded(int(source.integers(1 << 60))))
        for name in names
    ]


@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_rows_of_500_clients_tell_what_the_whole_tells(epsilon):
    truth = clustered_graph(500, 1500, closing=0.7)
    merged = graphs.merge_rows(rows_of(truth, epsilon, 3), truth.nodes)
    whole = graphs.randomize(truth, epsilon, source=dn.Seeded(4))
    assert (merged.channel, merged.nodes, merged.epsilon) == (whole.channel, whole.nodes, whole.epsilon)
    for found in (merged, whole):
        degrees, triangles = found.degrees(), found.triangles()
        # Totals lie within 5.5 of their standard errors: a false alarm below 4e-8 each.
        assert abs(degrees.total.value - 1500) < 5.5 * degrees.total.std_error
        assert abs(triangles.total.value - truth.triangles().sum() / 3) < 5.5 * triangles.total.std_error
        scores = (degrees.values - truth.degrees()) / degrees.std_error
        assert (
            abs(np.mean(scores**2) - 1) < 5.5 * (2 / 500) ** 0.5 * 1.5
        )  # neighbours share a coin: half as many at worst
    clustering = [3 * f.triangles().total.value / (f.degrees().values.clip(0) ** 2).sum() for f in (merged, whole)]
    assert all(np.isfinite(clustering))


def test_every_pair_is_flipped_with_the_coin_that_is_stated():
    n = 300
    for edges, chance in (([], "q"), ([(i, j) for i in range(n) for j in range(i)], "p")):
        truth = graphs.Graph(edges, n)
        merged = graphs.merge_rows(rows_of(truth, 1.0, 7), n)
        said = len(merged.reports[0])
        expected = getattr(merged.channel, chance)
        pairs = n * (n - 1) // 2
        # Exact binomial tails of 1e-9 on either side.
        assert binom.ppf(1e-9, pairs, expected) <= said <= binom.isf(1e-9, pairs, expected)
        (numbers,) = merged.reports[0].numbers()
        first, last = endpoints(numbers, n)
        counts = np.bincount(first, minlength=n)
        tail = 1e-9 / n
        lengths = n - 1 - np.arange(n)
        assert (counts >= binom.ppf(tail, lengths, expected)).all()
        assert (counts <= binom.isf(tail, lengths, expected)).all()
        assert (last > first).all()


def test_a_row_speaks_of_later_nodes_only_and_its_size_of_the_place_only():
    coin = dn.KRR(2, epsilon=12.0)  # hardly a lie
    for name, friends, expected in (
        ("ann", ["bob", "dan"], [1, 3]),
        ("bob", ["ann", "cem"], [2]),  # ann answers for ann and bob
        ("dan", PEOPLE[:3], []),  # the last one answers for nobody
    ):
        row = graphs.randomize_row(name, friends, PEOPLE, channel=coin, source=dn.Seeded(2))
        assert row.linked.tolist() == expected
    draws = []
    for friends in ([], ["cem"], PEOPLE[1:]):
        source = dn.Seeded(9)
        graphs.randomize_row("ann", friends, PEOPLE, 1.0, source=source)
        draws.append(source.stream().generator().integers(1 << 60))
    assert len(set(draws)) == 1  # as many random bits are drawn whoever is linked


def test_who_sent_nothing_is_missed_or_left_out():
    truth = graphs.Graph([("ann", "bob"), ("cem", "dan"), ("bob", "dan")], PEOPLE)
    coin = dn.KRR(2, epsilon=12.0)
    known = {"ann": ["bob"], "bob": ["ann", "dan"], "cem": ["dan"], "dan": ["cem", "bob"]}
    rows = [graphs.randomize_row(one, known[one], PEOPLE, channel=coin, source=dn.Seeded(1)) for one in PEOPLE]
    assert {frozenset(edge) for edge in graphs.merge_rows(rows, PEOPLE).edges()} == {
        frozenset(edge) for edge in truth.edges()
    }
    assert len(graphs.merge_rows(rows[:3], PEOPLE).nodes) == 4  # the last one has nothing to say
    with pytest.raises(InputError, match=r"1 node sent no row \('bob'\).*missing=\"drop\""):
        graphs.merge_rows([rows[0], *rows[2:]], PEOPLE)
    part = graphs.merge_rows([rows[0], *rows[2:]], PEOPLE, missing="drop")
    assert list(part.nodes) == ["ann", "cem", "dan"]
    assert list(part.edges()) == [("cem", "dan")]
    assert "Of 4 nodes 3 sent their rows" in str(part.describe())


def test_bad_rows_are_refused():
    row = graphs.randomize_row("ann", [], PEOPLE, 1.0, source=dn.Seeded(1))
    with pytest.raises(InputError, match="two rows of node 'ann'"):
        graphs.merge_rows([row, row], PEOPLE)
    with pytest.raises(InputError, match="another list of nodes"):
        graphs.merge_rows([row], PEOPLE[::-1])
    other = graphs.randomize_row("bob", [], PEOPLE, 2.0, source=dn.Seeded(1))
    with pytest.raises(InputError, match="different channels"):
        graphs.merge_rows([row, other], PEOPLE)
    with pytest.raises(InputError, match="there is no row"):
        graphs.merge_rows([], PEOPLE)
    for arguments, told in (
        (("eve", [], PEOPLE, 1.0), "not on the list of nodes: 1;"),
        (("ann", ["eve"], PEOPLE, 1.0), "not on the list of nodes"),
        (("ann", ["ann"], PEOPLE, 1.0), "linked with themselves"),
        (("ann", "bob", PEOPLE, 1.0), "are a list"),
        (("ann", [], [*PEOPLE, "ann"], 1.0), "listed twice"),
    ):
        with pytest.raises(InputError, match=told):
            graphs.randomize_row(*arguments)
    with pytest.raises(DesignError, match="either an epsilon"):
        graphs.randomize_row("ann", [], PEOPLE)


def test_rows_travel_as_lines(tmp_path):
    rows = [graphs.randomize_row(name, [], PEOPLE, 1.0, source=dn.Seeded(1)) for name in PEOPLE]
    for row, name in zip(rows, PEOPLE, strict=True):
        graphs.write_row(row, tmp_path / f"{name}.json")
    (tmp_path / "readme.txt").touch()
    again = graphs.read_rows(tmp_path)
    assert graphs.merge_rows(again, PEOPLE).reports == graphs.merge_rows(rows, PEOPLE).reports
    (tmp_path / "all.jsonl").write_text("\n".join(row.to_json() for row in rows))
    assert len(graphs.read_rows(tmp_path / "all.jsonl")) == 4
    with pytest.raises(PrivacyError, match="already there"):
        graphs.write_row(rows[1], tmp_path / "ann.json")
    good = json.loads(rows[0].to_json())
    for change, told in (
        ({"format": 2}, "format 2"),
        ({"place": -1}, "come after its own"),
        ({"linked": [2, 1]}, "ascending"),
        ({"linked": [0]}, "come after its own"),
        ({"channel": {"kind": "krr"}}, "two-category|channel|field"),
        ({"extra": 1}, "extra"),
    ):
        (tmp_path / "bad.jsonl").write_text(json.dumps(good | change))
        with pytest.raises((InputError, DesignError), match=told):
            graphs.read_rows(tmp_path / "bad.jsonl")
    (tmp_path / "bad.jsonl").write_text("[" * (1 << 21))
    with pytest.raises(InputError, match="a line of more than 1048576 bytes"):
        graphs.read_rows(tmp_path / "bad.jsonl")
    (tmp_path / "bad.jsonl").write_text(json.dumps(good | {"linked": [7]}))
    stray = graphs.read_rows(tmp_path / "bad.jsonl")
    with pytest.raises(InputError, match="a list of 4"):
        graphs.merge_rows(stray, PEOPLE)


def test_on_the_command_line_a_row_each_and_all_of_them_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, ["graph", *arguments])

    (tmp_path / "people.txt").write_text("\n".join(PEOPLE))
    (tmp_path / "rows").mkdir()
    (tmp_path / "friends.txt").write_text("bob\ncem\n")
    for name in PEOPLE:
        (tmp_path / "friends.txt").write_text("\n".join(one for one in PEOPLE if one != name))
        done = run("friends.txt", "--row", name, "--nodes", "people.txt", "--epsilon", "4", "-o", f"rows/{name}.json")
        assert done.exit_code == 0, done.output
        assert "epsilon of a link: 4.0" in done.output or "epsilon of a link: 3.99" in done.output
    done = run("rows", "--rows", "--nodes", "people.txt", "-o", "all.npz")
    assert done.exit_code == 0, done.output
    assert "Every pair was reported by one of its two ends" in " ".join(done.output.split())
    found = json.loads(run("all.npz", "--json").output)
    assert found["nodes"] == 4
    assert isclose(found["epsilon"], graphs.read_noisy_graph("all.npz").epsilon)
    (tmp_path / "rows" / "bob.json").unlink()
    assert "sent no row" in run("rows", "--rows", "--nodes", "people.txt", "-o", "some.npz").output
    done = run("rows", "--rows", "--nodes", "people.txt", "-o", "some.npz", "--drop-missing")
    assert done.exit_code == 0, done.output
    ann = ("friends.txt", "--row", "ann", "--nodes", "people.txt", "--epsilon", "4", "-o", "x.json")
    for arguments, told in (
        (("friends.txt", "--row", "ann", "--nodes", "people.txt", "-o", "x.json"), "--epsilon 4"),
        (("rows", "--rows", "-o", "y.npz"), "--rows takes the list"),
        (("rows", "--rows", "--nodes", "4", "--epsilon", "1", "-o", "y.npz"), "--epsilon does not belong to --rows"),
        (("rows", "--rows", "--nodes", "4", "-o", "y.npz", "--csv", "y.csv"), "--csv does not belong to --rows"),
        ((*ann, "--again"), "--again does not belong to --row"),
        ((*ann, "--reported-by", "both"), "--reported-by does not belong to --row"),
        (("all.npz", "--drop-missing"), "belongs to --rows"),
        (("friends.txt", "--row", "ann", "--nodes", "4", "--epsilon", "1", "-o", "x.json"), "0, 1, 2"),
        (("friends.txt", "--row", "dan", "--nodes", "people.txt", "--epsilon", "4", "-o", "all.npz"), "already there"),
    ):
        done = run(*arguments)
        assert done.exit_code != 0
        assert told in " ".join(done.output.split())

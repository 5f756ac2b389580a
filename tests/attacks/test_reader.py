"""The reader of the files: has one disguise of a table or a graph, and looks for a second, or for a part of one.

Nothing here rests on chance: what is compared are bytes, and what is refused is refused always.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import csv

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks

import deniable as dn
from deniable.cli.app import app
from deniable.device.privacy_statement import rounded_up
from deniable.engines.randomize_job import randomize_table
from deniable.engines.sealed_parts import seal
from deniable.errors import PrivacyError
from deniable.graphs import randomize, read_noisy_graph, write_graph, write_noisy_graph
from deniable.graphs.graph_files import clustered_graph

N = 2000
ASK = ("--domain", "domain.toml", "--epsilon", "1", "--design")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A table of people and a graph, where commands are run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = {"ill": rng.choice(["no", "yes"], N), "sex": rng.choice(["F", "M"], N), "age": rng.integers(18, 90, N)}
    pq.write_table(pa.table(table), "people.parquet", row_group_size=500)
    Path("domain.toml").write_text('ill = ["no", "yes"]\nsex = ["F", "M"]\n')
    write_graph(clustered_graph(50, 120), "friends.edges")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), prog_name="deniable")


@breaks(
    "A table is disguised once on an account, whatever it and its reports are called by then, wherever they lie, in "
    "whatever format and into whatever bins, unless its holder says `--again`."
)
@pytest.mark.parametrize("kind", ["joint", "blocks"])
def test_no_name_and_no_format_gets_a_second_disguise(kind):
    assert run("randomize", "people.parquet", *ASK, kind, "-o", "r.parquet").exit_code == 0
    first = Path("r.parquet").read_bytes()
    table = pq.read_table("people.parquet")
    Path("away").mkdir()
    csv.write_csv(table, "people.csv")
    pq.write_table(table.select(["sex", "ill"]), "away/others.parquet", compression="gzip")
    os.link("people.parquet", "linked.parquet")
    Path("named.parquet").symlink_to("people.parquet")
    Path("r.parquet").rename("away/r.parquet")
    os.utime("people.parquet", ns=(1, 1))
    for source in ("people.parquet", "people.csv", "away/others.parquet", "linked.parquet", "named.parquet"):
        for target in ("r.parquet", "s.parquet", "away/s.parquet"):
            told = run("randomize", source, *ASK, "joint", "-o", target)
            assert (told.exit_code, "disguised before" in told.stderr) == (6, True), (source, target, told.output)
            assert not Path(target).exists()
    assert Path("away/r.parquet").read_bytes() == first
    with pytest.raises(PrivacyError, match="disguised before"):
        randomize_table("people.csv", "t.parquet", dn.Joint({"ill": ["yes", "no"], "sex": ["M", "F"]}, 9.0))


@breaks(
    "A table is disguised once on an account, whatever it and its reports are called by then, wherever they lie, in "
    "whatever format and into whatever bins, unless its holder says `--again`."
)
def test_no_bins_get_a_second_disguise():
    table = pq.read_table("people.parquet")
    csv.write_csv(table, "people.csv")
    pq.write_table(table.select(["age", "ill"]), "less.parquet")
    asked = {}
    for number, bins in enumerate(("[0, 40, 60, 100]", "[0, 30, 50, 100]", "[0, 100]", "[0.5, 55, 99.5]")):
        Path(f"{number}.toml").write_text(f'ill = ["no", "yes"]\nage = {{ bins = {bins} }}\n')
        asked[number] = ("--domain", f"{number}.toml", "--epsilon", "1", "--design", "joint", "-o")
    assert run("randomize", "people.csv", *asked[0], "r.parquet").exit_code == 0
    for number in (1, 2, 3):
        told = run("randomize", "less.parquet", *asked[number], "s.parquet")
        assert (told.exit_code, "disguised before" in told.stderr) == (6, True), told.output
        assert not Path("s.parquet").exists()


@breaks(
    "The edges of a graph are disguised once on an account, in whatever order a file lists them and whatever nodes are "
    "called that edges tell apart, unless their holder says `--again`."
)
def test_no_order_of_edges_gets_a_second_disguise():
    ask = ("--nodes", "50", "--epsilon", "1", "-o")
    assert run("graph", "friends.edges", *ask, "r.npz").exit_code == 0
    first = read_noisy_graph("r.npz").reports
    Path("r.npz").rename("moved.npz")
    lines = Path("friends.edges").read_text().splitlines()
    Path("turned.tsv").write_text("\n".join("\t".join(line.split()[::-1]) for line in lines[::-1]))
    renamed = [" ".join(f"p{97 * int(node) % 101}" for node in line.split()) for line in lines]
    Path("renamed.edges").write_text("\n".join(sorted(renamed)))
    everybody = ("--nodes", "50")
    for source, nodes in (
        ("friends.edges", everybody),
        ("turned.tsv", everybody),
        ("friends.edges", ("--nodes", "60")),
        ("renamed.edges", ()),
    ):
        for target in ("r.npz", "r.edges"):
            told = run("graph", source, *nodes, *ask[2:], target)
            assert (told.exit_code, "disguised before" in told.stderr) == (6, True), told.output
            assert not Path(target).exists()
    assert read_noisy_graph("moved.npz").reports == first


@breaks("Whoever said `--again` has the sum of all epsilons in the statement of the reports.")
def test_the_sum_stands_in_the_file():
    spent = 0.0
    for number, (kind, epsilon) in enumerate((("joint", "1"), ("blocks", "0.5"), ("views", "2"))):
        again = ["--again"] if number else []
        ask = ("--domain", "domain.toml", "--epsilon", epsilon, "--design", kind)
        told = run("randomize", "people.parquet", *ask, "-o", f"r{number}.parquet", *again)
        assert told.exit_code == 0, told.output
        reports = dn.read_reports(f"r{number}.parquet")
        spent += reports.design.epsilon
        sentence = f"together these disguises tell epsilon {rounded_up(spent)} a respondent"
        assert (sentence in str(reports.describe())) == (sentence in told.stdout) == (number > 0)


PROGRAM = "import sys; from deniable.cli.app import app; print('ready', flush=True); sys.stdin.readline(); app()"


@breaks(
    "Of two programs that disguise one source, or into one file, at the same time, one is refused before its first row."
)
@pytest.mark.parametrize("same", ["source", "target"])
def test_two_at_once_are_one_disguise_and_one_refusal(same, folder):
    table = pq.read_table("people.parquet")
    pq.write_table(table.slice(1), "others.parquet")
    pairs = {"source": [("people.parquet", "r.parquet"), ("people.parquet", "s.parquet")],
             "target": [("people.parquet", "r.parquet"), ("others.parquet", "r.parquet")]}[same]  # fmt: skip
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "randomize", source, *ASK, "blocks", "-o", goal], text=True, **pipes
        )
        for source, goal in pairs
    ]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    told = [one.communicate()[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 6], told
    assert len(list(folder.glob("[rs].parquet"))) == 1
    assert not list(folder.glob("*.unfinished"))


@breaks(
    "What can be read of a disguise that was interrupted at any moment, byte for byte, is what its next run writes."
)
def test_of_a_part_no_byte_can_be_read_before_all_of_it_is_there(folder):
    """Here one part, at each of its bytes; tests/faults/test_once.py kills whole jobs at each of their steps."""
    plain = bytes(range(64)) * 64

    for written in (1, 63, 2048, 4096):
        with suppress(KeyboardInterrupt), seal(folder / "part") as file:
            file.write(plain[:written])
            file._file.flush()
            assert [path.name for path in folder.glob("part*")] == ["part.sealed"]
            assert (folder / "part.sealed").stat().st_size == written
            raise KeyboardInterrupt
        assert not list(folder.glob("part*"))
    # The same key is never used again: of two tries at a part nothing cancels out.
    sealed = []
    for _ in range(2):
        with seal(folder / "part") as file:
            file.write(plain)
        sealed.append((folder / "part.sealed").read_bytes())
        (folder / "part.key").unlink()
    mixed = np.frombuffer(sealed[0], np.uint8) ^ np.frombuffer(sealed[1], np.uint8)
    assert (mixed == 0).mean() < 0.02  # 1/256 each: 4112 of them are above 82 with probability below 1e-30


@breaks("Reports are never written over other reports, nor over anything else.")
@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.sav", "r.dta", "r.npz", "r.edges"])
@pytest.mark.parametrize("there", ["reports", "a text", "a folder", "a link to nothing"])
def test_nothing_is_written_over(name, there, folder):
    is_graph = name in ("r.npz", "r.edges")
    made = [
        randomize(clustered_graph(20, 40), 1.0)
        if is_graph
        else dn.Joint({"a": ["x", "y"]}, 1.0).randomize({"a": ["x"] * 99})
        for _ in range(2)
    ]

    def write(which):
        return write_noisy_graph(made[which], name) if is_graph else made[which].write(name)

    place = folder / name
    if there == "reports":
        write(0)
    elif there == "a text":
        place.write_text("mine")
    elif there == "a folder":
        place.mkdir()
    else:
        place.symlink_to(folder / "nothing")
    before = sorted((path.name, path.read_bytes() if path.is_file() else None) for path in folder.iterdir())
    with pytest.raises(PrivacyError, match="already there"):
        write(1)
    after = sorted((path.name, path.read_bytes() if path.is_file() else None) for path in folder.iterdir())
    assert after == before or (
        there == "a link to nothing" and [one for one in after if ".design.json" not in one[0]] == before
    )

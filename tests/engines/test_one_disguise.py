"""One source, one disguise: whatever it is called by then, whoever is at it, and whatever is said of a second one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import deniable as dn
from chequered import black
from deniable.core.randomness import Seeded
from deniable.device.privacy_statement import rounded_up
from deniable.engines import disguise_record as record
from deniable.engines import randomize_job as job
from deniable.engines import source_marks as marks
from deniable.engines.disguise_record import Record, record_folder
from deniable.engines.randomize_job import randomize_table
from deniable.errors import InputError, PrivacyError
from deniable.files import publish_file as publish
from deniable.graphs import read_graph, read_noisy_graph, write_graph
from deniable.graphs.graph_files import clustered_graph
from deniable.graphs.graph_job import randomize_graph

DOMAIN = dn.Domain({"sex": ["F", "M"], "smokes": ["no", "yes"]})
DESIGNS = {
    "joint": dn.Joint(DOMAIN, 1.0),
    "sets": dn.Independent(DOMAIN, channels={"sex": dn.Unary(2, 0.5), "smokes": dn.LocalHashing(2, 0.5)}),
    "blocks": dn.Blocks(DOMAIN, 1, 1.0, block_size=50),
    "paired": dn.Paired({"sex": ["F", "M"]}, 0.7, -0.1),
}
JOINT = DESIGNS["joint"]


def table(rows=600, seed=1):
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(values, rows) for name, values in (("sex", ["F", "M"]), ("smokes", ["no", "yes"]))}
    return pa.table({**columns, "town": rng.integers(0, 5, rows)})


@pytest.fixture
def people(tmp_path):
    pq.write_table(table(), tmp_path / "people.parquet", row_group_size=100)
    return tmp_path / "people.parquet"


@pytest.fixture
def friends(tmp_path):
    write_graph(clustered_graph(40, 100), tmp_path / "friends.edges")
    return tmp_path / "friends.edges"


def moved(path):
    path.parent.joinpath("elsewhere").mkdir()
    return path.rename(path.parent / "elsewhere" / "others.parquet")


def touched(path):
    os.utime(path, ns=(1, 1))
    return path


def packed(path):
    pq.write_table(pq.read_table(path), path.with_name("q.parquet"), compression="zstd", row_group_size=37)
    return path.with_name("q.parquet")


def text(path):
    csv.write_csv(pq.read_table(path), path.with_suffix(".csv"))
    return path.with_suffix(".csv")


def narrower(path):
    pq.write_table(pq.read_table(path, columns=["smokes", "sex"]), path.with_name("q.parquet"))
    return path.with_name("q.parquet")


@pytest.mark.parametrize("again", [moved, touched, packed, text, narrower], ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", DESIGNS)
def test_a_second_disguise_of_the_same_source_is_refused(kind, again, people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", DESIGNS[kind])
    (tmp_path / "r.parquet").unlink()  # moved away, lost, or read and deleted
    before = sorted(tmp_path.iterdir())
    source = again(people)
    with pytest.raises(PrivacyError, match=r"disguised before, into .*r\.parquet.* say --again"):
        randomize_table(source, tmp_path / "r.parquet", DESIGNS[kind])
    with pytest.raises(PrivacyError, match="disguised before"):
        randomize_table(source, tmp_path / "s.parquet", dn.Joint(DESIGNS[kind].domain, 0.1))
    assert not [left for left in set(tmp_path.iterdir()) - set(before) if left not in (source, source.parent)]


def test_a_long_table_that_grew_is_known_by_its_first_rows(people, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "MARKED", 600)
    randomize_table(people, tmp_path / "r.parquet", JOINT)
    pq.write_table(pa.concat_tables([table(), table(50, seed=2)]), tmp_path / "q.parquet", row_group_size=70)
    with pytest.raises(PrivacyError, match="holds the same answers"):
        randomize_table(tmp_path / "q.parquet", tmp_path / "s.parquet", JOINT)


def test_names_of_columns_and_categories_do_not_hide_a_source(people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", JOINT)
    renamed = pq.read_table(people).rename_columns(["a", "b", "c"])
    labels = pa.array(["ja" if value == "yes" else "nein" for value in renamed["b"].to_pylist()])
    pq.write_table(renamed.set_column(1, "b", labels), tmp_path / "q.parquet")
    design = dn.Joint({"b": ["ja", "nein", "vielleicht"], "a": ["M", "F"]}, 1.0)
    with pytest.raises(PrivacyError, match=r"holds the same answers, row by row.*other people who answered alike"):
        randomize_table(tmp_path / "q.parquet", tmp_path / "s.parquet", design)


AGES = ({"bins": [20, 40, 60]}, {"bins": [0, 30, 50, 100]}, {"bins": [0, 10.5, 100]}, list(range(100)))


@pytest.mark.parametrize(
    ("kind", "age"),
    [
        *product(["int64", "float64", "dictionary", "decimal"], AGES[1:3]),
        *product(["int64", "float64", "dictionary"], AGES[3:]),
        ("text", AGES[0]),
    ],
)
def test_the_same_numbers_in_other_bins_are_the_same_answers(age, kind, tmp_path):
    years = pa.array(np.random.default_rng(3).integers(20, 60, 300))
    sex = table(300)["sex"]
    csv.write_csv(pa.table({"sex": sex, "age": years, "town": years}), tmp_path / "a.csv")
    made = {"decimal": pa.decimal128(20, 0), "dictionary": pa.int32(), "text": pa.int64()}.get(kind, kind)
    column = years.cast(made)
    if kind == "dictionary":
        column = column.dictionary_encode()
    if kind == "text":  # the holder put them into the first bins
        column = pa.array(["20 to < 40" if each < 40 else "40 to < 60" for each in years.to_pylist()])
    pq.write_table(pa.table({"age": column, "sex": sex}), tmp_path / "less.parquet")
    randomize_table(tmp_path / "a.csv", tmp_path / "r.parquet", dn.Joint({"sex": ["F", "M"], "age": AGES[0]}, 1.0))
    with pytest.raises(PrivacyError, match="holds the same answers"):
        randomize_table(
            tmp_path / "less.parquet", tmp_path / "s.parquet", dn.Joint({"sex": ["F", "M"], "age": age}, 1.0)
        )


def test_other_numbers_in_the_same_bins_are_the_same_answers_to_whoever_is_asked_for_bins(tmp_path):
    design = dn.Joint({"age": {"bins": [0, 50, 100]}}, 1.0)
    rng = np.random.default_rng(4)
    ages = rng.integers(0, 100, 200)
    pq.write_table(pa.table({"age": ages}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": ages // 50 * 50 + rng.integers(0, 50, 200)}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"age": rng.integers(0, 100, 200)}), tmp_path / "c.parquet")
    randomize_table(tmp_path / "a.parquet", tmp_path / "r.parquet", design)
    with pytest.raises(PrivacyError, match="holds the same answers"):
        randomize_table(tmp_path / "b.parquet", tmp_path / "s.parquet", design)
    assert randomize_table(tmp_path / "c.parquet", tmp_path / "s.parquet", design) == 200


def test_the_same_file_asked_for_something_else_is_a_second_disguise(people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", dn.Joint({"sex": ["F", "M"]}, 1.0))
    with pytest.raises(PrivacyError, match="was disguised before"):
        randomize_table(people, tmp_path / "s.parquet", dn.Joint({"smokes": ["no", "yes"]}, 1.0))


def test_other_people_are_no_second_disguise(people, tmp_path):
    for number, other in enumerate(
        (table(), table(seed=2), table().slice(1), table(599), table().take(list(range(599, -1, -1))))
    ):
        pq.write_table(other, people)
        assert randomize_table(people, tmp_path / f"r{number}.parquet", JOINT) == len(other)


def test_again_states_the_sum(people, tmp_path):
    for number, times in enumerate((None, "once", "2 times")):
        target = tmp_path / f"r{number}.parquet"
        randomize_table(people, target, JOINT, again=number > 0)
        said = str(dn.read_reports(target).describe())
        assert ("The same file was disguised" in said) == (number > 0)
        if times:
            total = rounded_up((number + 1) * JOINT.epsilon)
            assert f"disguised {times} before; together these disguises tell epsilon {total}" in said


def test_an_edit_in_place_with_the_old_time_is_not_taken_up(people, tmp_path, monkeypatch):
    times = people.stat()
    original, calls = job.Disguise.__call__, []

    def stopping(self, batch):
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(job.Disguise, "__call__", stopping)
        with pytest.raises(KeyboardInterrupt):
            randomize_table(people, tmp_path / "r.parquet", JOINT)
    edited = table().to_pydict()
    edited["smokes"][0], edited["smokes"][1] = edited["smokes"][1], edited["smokes"][0]
    assert edited["smokes"] != table().to_pydict()["smokes"]
    pq.write_table(pa.table(edited, schema=table().schema), people, row_group_size=100)
    os.utime(people, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(PrivacyError, match="as it was before it changed"):
        randomize_table(people, tmp_path / "r.parquet", JOINT)


def test_an_unfinished_run_goes_on_where_its_folder_was_moved_to_and_nowhere_else(people, tmp_path, monkeypatch):
    calls, original = [], job.Disguise.__call__
    with monkeypatch.context() as patch:
        patch.setattr(
            job.Disguise, "__call__", lambda *given: calls.append(1) or (original(*given) if len(calls) < 3 else 1 / 0)
        )
        with pytest.raises(ZeroDivisionError):
            randomize_table(people, tmp_path / "r.parquet", JOINT, again=True)
    with pytest.raises(
        PrivacyError, match=r"r\.parquet\.unfinished is unfinished; run again as it was begun, it goes on"
    ):
        randomize_table(people, tmp_path / "s.parquet", JOINT)
    (tmp_path / "moved").mkdir()
    (tmp_path / "r.parquet.unfinished").rename(tmp_path / "moved" / "r.parquet.unfinished")
    with pytest.raises(PrivacyError, match="disguised before") as told:
        randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert "it goes on" not in str(told.value)
    assert randomize_table(people, tmp_path / "moved" / "r.parquet", JOINT) == 600
    assert len(Record().claims()) == 1


def test_what_a_user_puts_into_the_folder_stays(people, tmp_path):
    folder = tmp_path / "r.parquet.unfinished"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (tmp_path / ".r.parquet.unfinished.parquet").write_text("mine too")
    randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]
    assert (tmp_path / ".r.parquet.unfinished.parquet").read_text() == "mine too"


OWN = (
    "part-mine.sealed",
    "part-mine.key",
    "part-1.sealed",
    "whole-lot.csv",
    ".whole.txt",
    ".job.json.bak",
    "part-000009.txt",
)


def test_no_file_is_deleted_that_no_run_has_made(people, tmp_path, monkeypatch):
    folder = tmp_path / "r.parquet.unfinished"
    folder.mkdir()
    for name in OWN:
        (folder / name).write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(job, "_in_pieces", lambda *_given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            randomize_table(people, tmp_path / "r.parquet", JOINT)
    with monkeypatch.context() as patch:
        patch.setattr(job, "_assemble", lambda *_given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert (folder / "part-000000.key").exists()
    randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert sorted(file.name for file in folder.iterdir()) == sorted(OWN)
    assert {file.read_text() for file in folder.iterdir()} == {"mine"}


@pytest.mark.parametrize("name", ["part-000000.sealed", "part-000007.key", "part-000007.sealed", "whole.parquet"])
def test_what_would_be_written_over_bars_the_run(name, people, tmp_path):
    folder = tmp_path / "r.parquet.unfinished"
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(InputError, match=rf"holds '{name}', and job\.json is gone"):
        randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert (folder / name).read_text() == "mine"
    assert Record().claims() == {}


PROGRAM = """
import importlib.util
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[2]).parents[1])]
spec = importlib.util.spec_from_file_location("here", sys.argv[2])
here = importlib.util.module_from_spec(spec)
spec.loader.exec_module(here)
print("ready", flush=True)
sys.stdin.readline()
if sys.argv[3] == "graph":
    here.randomize_graph(sys.argv[4], sys.argv[5], 1.0)
else:
    here.randomize_table(sys.argv[4], sys.argv[5], here.DESIGNS[sys.argv[3]])
"""


def test_a_few_people_who_answer_alike_are_not_taken_for_each_other(tmp_path):
    """Batches of a few rows, day after day, have the same answers by chance; the same file is the same file."""
    for number, rows in enumerate((0, 1, 1, 2, 60)):
        pq.write_table(table(rows).set_column(1, "smokes", pa.array(["no"] * rows)), tmp_path / f"{number}.parquet")
        extra = pq.read_table(tmp_path / f"{number}.parquet").append_column("id", pa.array([number] * rows))
        pq.write_table(extra, tmp_path / f"{number}.parquet")
        assert randomize_table(tmp_path / f"{number}.parquet", tmp_path / f"r{number}.parquet", JOINT) == rows
        with pytest.raises(PrivacyError, match="was disguised before"):
            randomize_table(tmp_path / f"{number}.parquet", tmp_path / "s.parquet", JOINT)


def test_no_part_is_finished_of_a_table_that_was_changed_meanwhile(people, tmp_path, monkeypatch):
    calls, original, before = [], job.Disguise.__call__, people.read_bytes()

    def changing(self, batch):
        calls.append(batch)
        if len(calls) == 3:
            pq.write_table(table(seed=2), people, row_group_size=100)
        return original(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(job.Disguise, "__call__", changing)
        with pytest.raises(PrivacyError, match="was changed while it was disguised"):
            randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert len(list((tmp_path / "r.parquet.unfinished").glob("*.key"))) == 2
    people.write_bytes(before)
    assert randomize_table(people, tmp_path / "r.parquet", JOINT) == 600
    assert len(calls) == 3


@pytest.mark.parametrize("there", ["a folder", "a link to nothing", "a file"])
def test_whatever_has_the_name_bars_it_before_anything_is_drawn(there, people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    if there == "a folder":
        target.mkdir()
    elif there == "a file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "nothing")
    monkeypatch.setattr(job.Disguise, "__call__", lambda *_given: pytest.fail("disguised"))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(PrivacyError, match="already there"):
        randomize_table(people, target, JOINT)
    assert sorted(tmp_path.iterdir()) == before
    assert Record().claims() == {}


@pytest.mark.parametrize("lacks", ["links", "files without names", "both"])
def test_on_lesser_file_systems_nothing_is_written_over_either(lacks, people, tmp_path, monkeypatch):
    def refused(*_given, **_options):
        raise OSError(95, "Operation not supported")

    if lacks != "files without names":
        monkeypatch.setattr(os, "link", refused)
    if lacks != "links":
        monkeypatch.setattr(publish, "_OPEN", tmp_path / "nowhere")
    target = tmp_path / "r.parquet"
    assert randomize_table(people, target, JOINT) == 600
    reports = dn.read_reports(target)
    reports.write(tmp_path / "s.parquet")
    reports.write(tmp_path / "s.parquet")
    with pytest.raises(PrivacyError, match="already there"):
        JOINT.randomize(table()).write(target)
    assert {path.name for path in tmp_path.iterdir()} == {"people.parquet", "r.parquet", "s.parquet"}
    assert dn.read_reports(tmp_path / "s.parquet").answers.tolist() == reports.answers.tolist()


PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


@pytest.mark.parametrize(("targets", "kind"), black([("r", "r"), ("r", "s")], ["blocks", "graph"]))
def test_of_two_that_run_at_once_one_is_refused(kind, targets, people, friends, tmp_path):
    ending = "npz" if kind == "graph" else "parquet"
    goals = [tmp_path / f"{name}.{ending}" for name in targets]
    source = str(friends if kind == "graph" else people)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), __file__, kind, source]
    both = [subprocess.Popen([*command, str(goal)], text=True, **PIPES) for goal in goals]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    told = [one.communicate()[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 1], told
    assert "PrivacyError" in "".join(told)
    assert len([goal for goal in set(goals) if goal.exists()]) == 1
    assert not list(tmp_path.glob("*.unfinished"))
    assert len(Record().claims()) == 1


def test_where_the_system_refuses_to_lock_nothing_is_disguised(people, tmp_path, monkeypatch):
    def refused(*_given):
        raise OSError(37, "No locks available")

    Record()
    with monkeypatch.context() as patch:
        patch.setattr(record.fcntl, "flock", refused)
        with pytest.raises(InputError, match=r"cannot be kept in .*No locks available"):
            randomize_table(people, tmp_path / "r.parquet", JOINT)
        with pytest.raises(InputError, match=r"cannot be locked \(No locks available\)"), record.held(tmp_path / "x"):
            pass
    assert not (tmp_path / "r.parquet.unfinished").exists()


# -- graphs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["npz", "edges"])
def test_a_graph_is_disguised_once(ending, friends, tmp_path):
    target = tmp_path / f"r.{ending}"
    noisy = randomize_graph(friends, target, 1.0, nodes=40)
    assert noisy.reports == read_noisy_graph(target).reports
    before = target.read_bytes()
    with pytest.raises(PrivacyError, match="already there"):
        randomize_graph(friends, target, 1.0, nodes=40)
    assert target.read_bytes() == before
    target.unlink()
    lines = friends.read_text().splitlines()
    turned = tmp_path / "turned.csv"
    turned.write_text("# the same\n" + "\n".join(",".join(reversed(line.split())) for line in reversed(lines)))
    for source, nodes in ((friends, 50), (turned, None)):
        with pytest.raises(PrivacyError, match="disguised before"):
            randomize_graph(source, target, 1.0, nodes=nodes)
    twice = randomize_graph(turned, target, 0.5, reported_by="both", again=True)
    assert "disguised once before; together these disguises tell epsilon 1.99" in str(twice.describe())
    assert list(tmp_path.glob("*.unfinished")) == []


def test_a_graph_is_known_by_other_names_of_its_nodes(friends, tmp_path):
    randomize_graph(friends, tmp_path / "r.npz", 1.0, nodes=40)
    rng, edges = np.random.default_rng(5), [line.split() for line in friends.read_text().splitlines()]
    names = [f"p{number}" for number in rng.permutation(40)]
    renamed = [(names[int(b)], names[int(a)]) for a, b in edges]
    others = clustered_graph(40, 100, source=Seeded(2))
    for number, (graph, is_known) in enumerate(((dn.graphs.Graph(renamed), True), (others, False))):
        write_graph(graph, tmp_path / f"{number}.edges")
        if is_known:
            with pytest.raises(PrivacyError, match="the same edges, whatever its nodes are called"):
                randomize_graph(tmp_path / f"{number}.edges", tmp_path / "s.npz", 1.0)
            twice = randomize_graph(tmp_path / f"{number}.edges", tmp_path / "s.npz", 1.0, again=True)
            assert "The same edges were disguised once before" in str(twice.describe())
        else:
            randomize_graph(tmp_path / f"{number}.edges", tmp_path / "t.npz", 1.0)


def test_a_graph_whose_nodes_look_alike_is_known_by_their_names_only(tmp_path):
    for number, first in enumerate((0, 100)):
        ring = dn.graphs.Graph([(first + node, first + (node + 1) % 50) for node in range(50)])
        write_graph(ring, tmp_path / f"{number}.edges")
        randomize_graph(tmp_path / f"{number}.edges", tmp_path / f"r{number}.npz", 1.0)
    write_graph(ring, tmp_path / "again.edges")
    with pytest.raises(PrivacyError, match="disguised before"):
        randomize_graph(tmp_path / "again.edges", tmp_path / "s.npz", 1.0)


@pytest.mark.parametrize("edges", [0, 1, 3000])
def test_the_mark_of_a_graph_is_the_same_by_any_names_and_in_any_order(edges):
    rng = np.random.default_rng(edges)
    pairs = np.unique(np.sort(rng.integers(0, 500, (edges, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    mark = marks.of_graph(pairs[:, 0], pairs[:, 1], b"key")
    assert (mark == "") == (edges < 2)
    names = rng.permutation(10**6)[:500]
    for _ in range(5):
        other = names[pairs][rng.permutation(len(pairs))]
        other[::2] = other[::2, ::-1]
        assert marks.of_graph(other[:, 0], other[:, 1], b"key") == mark
    if mark:
        assert marks.of_graph(pairs[1:, 0], pairs[1:, 1], b"key") != mark
        assert marks.of_graph(pairs[:, 0], pairs[:, 1], b"another") != mark


def test_a_graph_that_cannot_be_disguised_claims_nothing(friends, tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        randomize_graph(tmp_path / "nobody.edges", tmp_path / "r.npz", 1.0)
    with pytest.raises(dn.errors.DesignError, match="reported_by"):
        randomize_graph(friends, tmp_path / "r.npz", 1.0, reported_by="nobody")
    assert Record().claims() == {}
    assert randomize_graph(friends, tmp_path / "r.npz", 1.0).nodes == read_graph(friends).nodes


# -- the record --------------------------------------------------------------------------------------------------------


def test_where_the_record_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("DENIABLE_RECORD", str(tmp_path / "team"))
    assert record_folder() == tmp_path / "team"
    monkeypatch.delenv("DENIABLE_RECORD")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert record_folder() == tmp_path / "state" / "deniable" / "disguised"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(record.Path, "home", lambda: tmp_path / "me")
    assert record_folder() == tmp_path / "me" / ".local" / "state" / "deniable" / "disguised"

    def homeless():
        raise RuntimeError

    monkeypatch.setattr(record.Path, "home", homeless)
    with pytest.raises(InputError, match="no home folder: set DENIABLE_RECORD"):
        record_folder()


def test_without_a_record_nothing_is_disguised(people, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("in the way")
    monkeypatch.setenv("DENIABLE_RECORD", str(tmp_path / "a file" / "record"))
    with pytest.raises(InputError, match=r"cannot be kept in .*Set DENIABLE_RECORD to a folder that you can write to"):
        randomize_table(people, tmp_path / "r.parquet", JOINT)
    assert not list(tmp_path.glob("r.*"))


def test_the_record_is_the_users_own_and_tells_nothing_without_its_key(people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", JOINT)
    kept = Record()
    assert kept.folder.stat().st_mode & 0o077 == 0
    (claim,) = kept.claims().values()
    shutil.rmtree(kept.folder)
    randomize_table(people, tmp_path / "s.parquet", JOINT)
    (other,) = Record().claims().values()
    assert (claim.source, claim.answers) != (other.source, other.answers)
    (Record().folder / "key").unlink()
    with pytest.raises(InputError, match="without which the record beside it means nothing"):
        randomize_table(people, tmp_path / "t.parquet", JOINT)


def test_a_claim_that_is_none_is_refused(people, tmp_path):
    (Record().folder / "0123.json").write_text("{")
    with pytest.raises(InputError, match=r"0123\.json cannot be read"):
        randomize_table(people, tmp_path / "r.parquet", JOINT)


def test_an_unfinished_run_of_another_account_is_left_alone(people, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(job, "_assemble", lambda *_given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            randomize_table(people, tmp_path / "r.parquet", JOINT)
    monkeypatch.setenv("DENIABLE_RECORD", str(tmp_path / "another"))
    with pytest.raises(PrivacyError, match="knows nothing of"):
        randomize_table(people, tmp_path / "r.parquet", JOINT)
    (tmp_path / "r.parquet.unfinished" / "job.json").unlink()
    with pytest.raises(InputError, match=r"job\.json is gone"):
        randomize_table(people, tmp_path / "r.parquet", JOINT)

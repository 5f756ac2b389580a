"""Disguising a table: whatever interrupts it, no row is disguised twice and nothing half-made looks whole."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import one_disguise as once
from deniable.engines import randomize_job as job
from deniable.engines.domain_file import infer_domain
from deniable.engines.one_disguise import FOLDER
from deniable.engines.randomize_job import randomize_table, recognisable
from deniable.engines.sealed_parts import unseal
from deniable.errors import InputError, MissingColumnError, MissingValueError, PrivacyError, UnknownCategoryError
from waiting import until

DOMAIN = dn.Domain({"sex": ["F", "M"], "children": [0, 1, 2], "smokes": ["no", "yes"]})
VIEWS = dn.Views(DOMAIN, 2, 2.0)
GROUPS, ROWS = 6, 500


def table(rows=GROUPS * ROWS):
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "sex": rng.choice(["F", "M"], rows),
            "children": rng.integers(0, 3, rows),
            "smokes": rng.choice(["no", "yes"], rows),
            "region": rng.choice(["north", "south"], rows),
            "row": np.arange(rows),
        }
    )


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(table(), path, row_group_size=ROWS)
    return path


def test_it_is_the_same_format_as_reports_write(people, tmp_path):
    target = tmp_path / "some" / "out" / "r.parquet"
    assert randomize_table(people, target, VIEWS, ["region"]) == GROUPS * ROWS
    read = dn.read_reports(target)
    assert read.design == VIEWS
    assert read.n == GROUPS * ROWS
    assert "disguised by whoever held the table" in str(read.describe())
    assert read.public["region"].to_list() == table()["region"].to_pylist()
    assert list(target.parent.iterdir()) == [target]
    written = VIEWS.randomize(pq.read_table(people), keep=["region"]).write(tmp_path / "w.parquet")
    assert pq.read_schema(target).names == pq.read_schema(written).names
    assert pq.read_schema(target).types == pq.read_schema(written).types
    assert pq.read_metadata(target).metadata.keys() >= pq.read_metadata(written).metadata.keys() - {b"ARROW:schema"}


def faithful(k):
    """A channel that changes an answer in at most k of 2^32 draws: what it reports is the truth."""
    return dn.KRR(k, other=1, bits=32)


def truthful(domain):
    return dn.Independent(domain, channels={name: faithful(len(v)) for name, v in dn.Domain(domain).items()})


@pytest.mark.parametrize("design", [truthful(DOMAIN), dn.Joint(DOMAIN, channel=faithful(12))], ids=lambda d: d.kind)
def test_what_is_disguised_is_the_truth(design, people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", design)
    truth = dn.Table.count(pq.read_table(people), DOMAIN)
    for names in (["sex", "children"], ["smokes"]):
        found = dn.estimate(dn.open_reports(tmp_path / "r.parquet"), names, method="inversion")
        assert np.abs(found.values - truth.project(names).normalize().values).max() < 1e-6


def test_texts_that_arrow_keeps_as_views_are_texts(tmp_path):
    """The columns that ride along too: in a file, in a frame, and in a frame as a dictionary."""
    whole = table().drop(["row"])
    views = pa.schema([(f.name, pa.string_view() if pa.types.is_string(f.type) else f.type) for f in whole.schema])
    assert [f.name for f in views if pa.types.is_string_view(f.type)] == ["sex", "smokes", "region"]
    pq.write_table(whole.cast(views), tmp_path / "p.parquet", row_group_size=ROWS)
    randomize_table(tmp_path / "p.parquet", tmp_path / "r.parquet", truthful(DOMAIN), ["region"])
    assert recognisable(tmp_path / "r.parquet", ["region"]) is None
    assert infer_domain(tmp_path / "p.parquet", ["sex"]) == dn.Domain({"sex": ["F", "M"]})
    region = whole["region"].combine_chunks().dictionary_encode()
    region = pa.DictionaryArray.from_arrays(region.indices, region.dictionary.cast(pa.string_view()))
    for name, frame in (
        ("frame.parquet", whole.cast(views)),
        ("packed.parquet", whole.cast(views).set_column(3, "region", region)),
    ):
        dn.Blocks(DOMAIN, 1, 2.0).randomize(frame, keep=["region"]).write(tmp_path / name)
    for name in ("r.parquet", "frame.parquet", "packed.parquet"):
        assert [value for value, _ in dn.open_reports(tmp_path / name).groups("region")] == ["north", "south"]
        assert dn.read_reports(tmp_path / name).public["region"].to_list() == whole["region"].to_pylist()


@pytest.mark.parametrize("rows", [0, 1])
def test_small_tables(rows, tmp_path):
    pq.write_table(table(rows), tmp_path / "p.parquet")
    assert randomize_table(tmp_path / "p.parquet", tmp_path / "r.parquet", VIEWS) == rows
    assert recognisable(tmp_path / "r.parquet", []) is None  # nobody is recognised by nothing


def test_csv_columns_are_read_as_the_domain_says(tmp_path):
    (tmp_path / "p.csv").write_text("code,yes\n" + "01,true\n02,false\n" * 50)
    design = truthful({"code": ["01", "02"], "yes": ["true", "false"]})
    assert randomize_table(tmp_path / "p.csv", tmp_path / "r.parquet", design) == 100
    assert dn.read_reports(tmp_path / "r.parquet").answers[:2].tolist() == [[0, 0], [1, 1]]


def test_csv_in_pieces_is_taken_up_again(tmp_path, monkeypatch):
    monkeypatch.setattr("deniable.engines.table_chunks._CSV_BYTES", 200)
    monkeypatch.setattr("deniable.engines.table_chunks._CSV_BLOCKS", 2)
    (tmp_path / "p.csv").write_text("smokes\n" + "no\nyes\n" * 500)
    design = truthful({"smokes": ["no", "yes"]})
    interrupt(monkeypatch, after=7)
    with pytest.raises(KeyboardInterrupt):
        randomize_table(tmp_path / "p.csv", tmp_path / "r.parquet", design)
    assert randomize_table(tmp_path / "p.csv", tmp_path / "r.parquet", design) == 1000
    assert dn.read_reports(tmp_path / "r.parquet").answers[:, 0].tolist() == [0, 1] * 500


def interrupt(monkeypatch, after):
    """Stop the program in the middle of a batch, after so many of them; the next use runs through."""
    calls = []
    original = job.Disguise.__call__

    def counted(self, batch):
        calls.append(batch)
        if len(calls) == after:
            monkeypatch.setattr(job.Disguise, "__call__", original)
            raise KeyboardInterrupt
        return original(self, batch)

    monkeypatch.setattr(job.Disguise, "__call__", counted)


def parts(target):
    """What can be read of a run that was interrupted, a table a part."""
    found = {}
    for key in sorted(target.with_name(target.name + FOLDER).glob("*.key")):
        with unseal(key.with_suffix("")) as file:
            found[key.stem] = pa.ipc.open_stream(file).read_all()
    return found


def test_interrupted_it_goes_on_and_keeps_the_first_disguise(people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    interrupt(monkeypatch, after=4)
    with pytest.raises(KeyboardInterrupt):
        randomize_table(people, target, VIEWS, ["row"])
    assert not target.exists()
    first = parts(target)
    assert len(first) == 3
    seen = []
    original = job.Disguise.__call__
    monkeypatch.setattr(job.Disguise, "__call__", lambda self, batch: seen.append(batch) or original(self, batch))
    told = []
    randomize_table(people, target, VIEWS, ["row"], progress=lambda done, rows: told.append((done, rows)))
    assert (told[0], told[-1]) == ((3 * ROWS, GROUPS * ROWS), (GROUPS * ROWS, GROUPS * ROWS))
    again = [row for batch in seen for row in batch.column("row").to_pylist()]
    assert again == list(range(3 * ROWS, GROUPS * ROWS))
    whole = pq.read_table(target)
    kept = pa.concat_tables(first.values())
    assert whole.slice(0, 3 * ROWS).equals(kept, check_metadata=False)
    assert whole["row"].to_pylist() == list(range(GROUPS * ROWS))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.parquet", "r.parquet"]


@pytest.mark.parametrize("moment", ["assemble", "clear"])
def test_interrupted_at_the_end_it_is_finished_without_disguising_anything(moment, people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"

    def stop(*_args, keep=False):
        if not keep:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job if moment == "assemble" else once, f"_{moment}", stop)
        with pytest.raises(KeyboardInterrupt):
            randomize_table(people, target, VIEWS)
    assert target.exists() == (moment == "clear")
    first = list(parts(target).values())
    monkeypatch.setattr(job.Disguise, "__call__", stop)
    randomize_table(people, target, VIEWS)
    assert pq.read_table(target).equals(pa.concat_tables(first), check_metadata=False)
    assert not target.with_name(target.name + FOLDER).exists()


def interrupted_before(removed, people, target, monkeypatch):
    """Disguise, up to where a file of that name would be cleared up."""
    unlink = Path.unlink

    def unlinked(path, **options):
        if path.name == removed:
            raise KeyboardInterrupt
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlinked)
        with pytest.raises(KeyboardInterrupt):
            randomize_table(people, target, VIEWS)


@pytest.mark.parametrize("removed", ["part-000000.sealed", "job.json"])
def test_reports_that_were_moved_before_all_was_cleared_up_are_the_same_or_none(removed, people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    interrupted_before(removed, people, target, monkeypatch)
    moved = target.rename(tmp_path / "moved.parquet")
    monkeypatch.setattr(job.Disguise, "__call__", lambda *_args: pytest.fail("disguised a second time"))
    if removed == "job.json":
        with pytest.raises(PrivacyError, match="disguised before"):
            randomize_table(people, target, VIEWS)
        assert not target.exists()
    else:
        assert randomize_table(people, target, VIEWS) == GROUPS * ROWS
        assert target.read_bytes() == moved.read_bytes()
    assert not target.with_name(target.name + FOLDER).exists()


def test_interrupted_before_the_last_file_is_cleared_up_nothing_is_disguised_again(people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    folder = target.with_name(target.name + FOLDER)
    interrupted_before("job.json", people, target, monkeypatch)
    assert [left.name for left in folder.iterdir()] == ["job.json"]
    first = target.read_bytes()
    monkeypatch.setattr(job.Disguise, "__call__", lambda *_args: pytest.fail("disguised a second time"))
    with pytest.raises(PrivacyError, match="unfinished run"):
        randomize_table(people, target, dn.Views(DOMAIN, 2, 2.5))
    assert randomize_table(people, target, VIEWS) == GROUPS * ROWS
    assert not folder.exists()
    assert target.read_bytes() == first


def test_two_programs_that_begin_at_once_disguise_once(people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    original = once.held

    def late(folder):
        """The other program begins and ends just before this one holds the folder."""
        monkeypatch.setattr(once, "held", original)
        randomize_table(people, target, VIEWS)
        return original(folder)

    monkeypatch.setattr(once, "held", late)
    with pytest.raises(PrivacyError, match="already there"):
        randomize_table(people, target, dn.Views(DOMAIN, 2, 2.5))
    assert dn.read_reports(target).design == VIEWS
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.parquet", "r.parquet"]


def test_half_written_files_are_not_taken_for_parts(people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    interrupt(monkeypatch, after=3)
    with pytest.raises(KeyboardInterrupt):
        randomize_table(people, target, VIEWS)
    folder = target.with_name(target.name + FOLDER)
    finished = [f"part-00000{number}.{ending}" for number in (0, 1) for ending in ("key", "sealed")]
    assert sorted(p.name for p in folder.iterdir()) == ["job.json", *finished]
    (folder / "part-000002.sealed").write_bytes(b"what a killed program leaves")
    (folder / "part-000002.key").touch()  # and a machine that goes down
    with pytest.raises(InputError):
        dn.read_reports(folder)
    randomize_table(people, target, VIEWS)
    assert dn.read_reports(target).n == GROUPS * ROWS


@pytest.mark.parametrize("damage", ["a bit", "an end", "the key", "half a key", "the part"])
def test_a_part_that_was_changed_is_refused(damage, people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    interrupt(monkeypatch, after=3)
    with pytest.raises(KeyboardInterrupt):
        randomize_table(people, target, VIEWS)
    part = target.with_name(target.name + FOLDER) / "part-000001.sealed"
    content, key = bytearray(part.read_bytes()), part.with_suffix(".key")
    if damage == "the part":
        part.unlink()
    elif "key" in damage:
        key.write_bytes(bytes(32) if damage == "the key" else key.read_bytes()[:16])
    else:
        content[len(content) // 2] ^= 1
        part.write_bytes(content if damage == "a bit" else content[:-8])
    for _ in range(2):
        with pytest.raises(InputError, match="was changed or cut short since it was written"):
            randomize_table(people, target, VIEWS)
    assert not target.exists()


CHILD = """
import sys
import deniable as dn
from deniable.engines import randomize_job as job
from deniable.engines.domain_file import infer_domain
domain = dn.Domain({"sex": ["F", "M"], "children": [0, 1, 2], "smokes": ["no", "yes"]})
original, done = job.Disguise.__call__, []
def halting(self, batch):
    done.append(batch)
    if len(done) == 5:
        sys.stdin.read()  # until it is killed
    return original(self, batch)
job.Disguise.__call__ = halting
job.randomize_table(sys.argv[1], sys.argv[2], dn.Views(domain, 2, 2.0), ["row"])
"""


def test_killed_it_goes_on(people, tmp_path):
    target = tmp_path / "r.parquet"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(people), str(target)], stdin=subprocess.PIPE)
    folder = target.with_name(target.name + FOLDER)
    until(lambda: child.poll() is not None or (folder / "part-000001.key").exists())
    assert child.poll() is None
    with pytest.raises(PrivacyError, match="another program is at work"):
        randomize_table(people, target, VIEWS, ["row"])
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    first = parts(target)
    assert not target.exists()
    assert 2 <= len(first) < GROUPS
    assert randomize_table(people, target, VIEWS, ["row"]) == GROUPS * ROWS
    kept = pa.concat_tables(first.values())
    assert pq.read_table(target).slice(0, len(kept)).equals(kept, check_metadata=False)
    assert pq.read_table(target)["row"].to_pylist() == list(range(GROUPS * ROWS))


@pytest.mark.parametrize("other", ["design", "keep", "table", "notes"])
def test_an_unfinished_run_is_not_taken_up_under_other_terms(other, people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    interrupt(monkeypatch, after=3)
    with pytest.raises(KeyboardInterrupt):
        randomize_table(people, target, VIEWS)
    before = parts(target)
    if other == "table":
        pq.write_table(table().slice(10), people, row_group_size=ROWS)
    design = dn.Views(DOMAIN, 2, 2.5) if other == "design" else VIEWS
    notes = ["another"] if other == "notes" else []
    with pytest.raises(PrivacyError, match="unfinished run"):
        randomize_table(people, target, design, ["region"] if other == "keep" else [], notes=notes)
    assert parts(target) == before


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_run_that_failed_before_its_first_finished_part_does_not_bar_the_corrected_table(ending, tmp_path):
    whole, target, path = table().drop(["row"]), tmp_path / "r.parquet", tmp_path / f"p.{ending}"
    write = pq.write_table if ending == "parquet" else pa.csv.write_csv
    smokes = pa.array(["no", None, *whole["smokes"].to_pylist()[2:]])
    write(whole.set_column(2, "smokes", smokes), path)
    with pytest.raises(MissingValueError):
        randomize_table(path, target, VIEWS)
    folder = target.with_name(target.name + FOLDER)
    assert not folder.exists()
    write(whole, path)
    other = dn.Views(DOMAIN, 2, 2.5)
    assert randomize_table(path, target, other, ["region"]) == GROUPS * ROWS
    assert dn.read_reports(target).design == other
    assert not folder.exists()


@pytest.mark.parametrize("left", ["part-000000.key", "whole.parquet"])
def test_whatever_could_have_been_seen_bars_other_terms(left, people, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    interrupt(monkeypatch, after=2)
    with pytest.raises(KeyboardInterrupt):
        randomize_table(people, target, VIEWS)
    folder = target.with_name(target.name + FOLDER)
    described = (folder / "job.json").read_bytes()
    (folder / "part-000000.key").rename(folder / left)
    monkeypatch.setattr(job.Disguise, "__call__", lambda *_args: pytest.fail("disguised a second time"))
    with pytest.raises(PrivacyError, match="unfinished run"):
        randomize_table(people, target, dn.Views(DOMAIN, 2, 2.5))
    assert (folder / "job.json").read_bytes() == described


def test_an_empty_table_that_changes_meanwhile_is_refused(tmp_path, monkeypatch):
    """It makes no part, and yet its run does not take what came meanwhile for its own."""
    path = tmp_path / "p.parquet"
    pq.write_table(table(0), path)
    make = job._in_pieces

    def changed(*arguments):
        done = make(*arguments)
        pq.write_table(table(), path)
        return done

    monkeypatch.setattr(job, "_in_pieces", changed)
    with pytest.raises(PrivacyError, match="as it was before it changed"):
        randomize_table(path, tmp_path / "r.parquet", VIEWS)


def test_a_second_disguise_of_the_same_file_is_refused(people, tmp_path):
    target = tmp_path / "r.parquet"
    randomize_table(people, target, VIEWS)
    before = target.read_bytes()
    with pytest.raises(PrivacyError, match="a second time"):
        randomize_table(people, target, VIEWS)
    assert target.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.parquet", "r.parquet"]


def test_reports_of_a_table_are_parquet_and_nothing_else(people, tmp_path):
    with pytest.raises(InputError, match=r"written to a \.parquet file, not to 'r\.csv'"):
        randomize_table(people, tmp_path / "r.csv", VIEWS)
    assert randomize_table(people, tmp_path / "R.PARQUET", VIEWS) == GROUPS * ROWS


def test_a_table_without_an_attribute_is_refused(tmp_path):
    (tmp_path / "p.csv").write_text("smokes\n" + "no\nyes\n" * 5)
    with pytest.raises(MissingColumnError, match="sex"):
        randomize_table(
            tmp_path / "p.csv", tmp_path / "r.parquet", truthful({"smokes": ["no", "yes"], "sex": ["F", "M"]})
        )


@pytest.mark.parametrize("content", [b"{", b'{"claim":"c","more":1}'])
def test_a_description_that_is_none_is_refused(content, people, tmp_path):
    folder = tmp_path / f"r.parquet{FOLDER}"
    folder.mkdir()
    (folder / "job.json").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        randomize_table(people, tmp_path / "r.parquet", VIEWS)
    assert not (tmp_path / "r.parquet").exists()


def test_codes_are_packed_and_what_rides_along_is_compressed(people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", VIEWS, ["region"])
    group = pq.read_metadata(tmp_path / "r.parquet").row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    assert {column.path_in_schema: column.compression for column in columns} == {
        "dn_ballot": "UNCOMPRESSED",
        "dn_answer_0": "UNCOMPRESSED",
        "region": "SNAPPY",
    }


def test_where_nothing_can_be_locked_it_still_works(people, tmp_path, monkeypatch):
    monkeypatch.setattr("deniable.engines.disguise_record.fcntl", None)
    assert randomize_table(people, tmp_path / "r.parquet", VIEWS) == GROUPS * ROWS


def test_rows_are_grouped_as_they_are_written(people, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "GROUP", 200)
    randomize_table(people, tmp_path / "r.parquet", VIEWS)
    written = pq.read_metadata(tmp_path / "r.parquet")
    assert max(written.row_group(index).num_rows for index in range(written.num_row_groups)) == 200


def test_a_strange_value_late_in_the_table_stops_it_and_nothing_is_readable(tmp_path):
    pq.write_table(table(), tmp_path / "p.parquet", row_group_size=ROWS)
    narrow = dn.Views({"sex": ["F", "M"], "row": range(ROWS * 2)}, 2, 2.0)
    with pytest.raises(UnknownCategoryError, match="row"):
        randomize_table(tmp_path / "p.parquet", tmp_path / "r.parquet", narrow)
    assert not (tmp_path / "r.parquet").exists()


def test_progress_counts_all_rows(people, tmp_path):
    told = []
    randomize_table(people, tmp_path / "r.parquet", VIEWS, progress=lambda done, rows: told.append((done, rows)))
    assert told[0] == (0, GROUPS * ROWS)
    assert told[-1] == (GROUPS * ROWS, GROUPS * ROWS)


def test_there_is_no_argument_for_a_seed():
    assert not {"source", "seed"} & set(inspect.signature(randomize_table).parameters)


def test_public_columns_that_single_people_out_are_told(people, tmp_path):
    randomize_table(people, tmp_path / "r.parquet", VIEWS, ["region", "row"])
    assert f"{GROUPS * ROWS} combinations" in recognisable(tmp_path / "r.parquet", ["region", "row"])
    assert recognisable(tmp_path / "r.parquet", ["region"]) is None
    assert recognisable(tmp_path / "r.parquet", []) is None


def test_a_handful_is_fewer_than_ten(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "GROUP", 7)  # groups are added up over batches
    pq.write_table(table(39).append_column("place", [["a"] * 10 + ["b"] * 9 + ["c"] * 20]), tmp_path / "p.parquet")
    randomize_table(tmp_path / "p.parquet", tmp_path / "r.parquet", VIEWS, ["place"])
    assert recognisable(tmp_path / "r.parquet", ["place"]).startswith("1 combinations of the public columns 'place'")


def test_a_damaged_row_group_is_named(people, tmp_path):
    content = bytearray(people.read_bytes())
    content[4:400] = bytes(396)
    Path(people).write_bytes(content)
    with pytest.raises(InputError, match="row group 0"):
        randomize_table(people, tmp_path / "r.parquet", VIEWS)

"""Claims, hidden folders and silent tasks, without a Spark: what decides about them is ours. `on_spark` has one."""

from __future__ import annotations

import threading
import traceback
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines.spark import disguise
from deniable.engines.spark_target import LocalDisk, Target
from deniable.errors import InputError, MissingValueError, PrivacyError, UnknownCategoryError
from deniable.files.header import Header

DESIGN = dn.Independent({"status": ["negative", "positive"], "age": {"bins": [30, 60]}}, 2.0)
SENTINEL = "Zwyntarquist"


def at_once(claims):
    """Claim by so many threads at once; what each of them met."""
    met, ready = [], threading.Barrier(len(claims))

    def run(target):
        ready.wait()
        try:
            target.claim("A thread")
            met.append(None)
        except PrivacyError as error:
            met.append(str(error))

    threads = [threading.Thread(target=run, args=[target]) for target in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return met


def disguised():
    """What a task makes of a hundred people."""
    table = pa.table({"status": ["negative"] * 100, "age": [1] * 100})
    return pa.Table.from_batches(list(disguise(DESIGN.canonical())(iter(table.to_batches()))))


def write_some(folder):
    """What a run leaves that was killed: a whole file of reports, below a folder of the job."""
    place = folder / "_temporary" / "0" / "attempt_0"
    place.mkdir(parents=True)
    pq.write_table(disguised(), place / "part-0.parquet")


@pytest.mark.parametrize("round_", range(20))
def test_of_claims_at_once_one_is_given(round_, tmp_path):
    met = at_once([Target(LocalDisk(tmp_path), f"r{round_}") for _ in range(8)])
    assert met.count(None) == 1
    assert all("has not ended" in each and "delete" in each for each in met if each)


def test_a_run_that_was_killed_is_not_begun_again_before_somebody_looked(tmp_path):
    place = tmp_path / "reports"
    Target(LocalDisk(tmp_path), "reports").claim("The application app-1")
    write_some(tmp_path / "_reports.unfinished")
    assert "app-1" in (tmp_path / "_reports.claim").read_text(encoding="utf-8")
    for _ in range(2):
        with pytest.raises(PrivacyError, match="wait for it") as caught:
            Target(LocalDisk(tmp_path), "reports").claim("Another")
    for name in ("_reports.claim", "_reports.unfinished"):
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(InputError, match="there is no file"):
        dn.open_reports(place)
    # Without the claim what was written still stands for people whose first disguise somebody may have.
    (tmp_path / "_reports.claim").unlink()
    with pytest.raises(PrivacyError, match="its claim is gone"):
        Target(LocalDisk(tmp_path), "reports").claim("Another")
    assert not (tmp_path / "_reports.claim").exists()


def test_what_is_finished_appears_whole_with_its_design(tmp_path):
    target = Target(LocalDisk(tmp_path / "new"), "reports")
    target.claim("The application app-1")
    (tmp_path / "new" / "_reports.unfinished").mkdir()
    pq.write_table(disguised(), tmp_path / "new" / "_reports.unfinished" / "part-0.parquet")
    target.finish("_design.json", Header(DESIGN.canonical()).json())
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"reports"}
    assert dn.open_reports(tmp_path / "new" / "reports").n == 100
    with pytest.raises(PrivacyError, match="already there"):
        Target(LocalDisk(tmp_path / "new"), "reports").claim("Another")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        Target(LocalDisk(tmp_path / "file" / "below"), "reports").claim("The application app-1")


HIDDEN = [
    "_temporary/0/attempt_0/part-0.parquet",
    ".part-0.parquet.unfinished.parquet",
    "north/_old/part-0.parquet",
    ".trash/a/b.parquet",
    "_part-0.parquet",
]


@pytest.mark.parametrize("read", [
    dn.open_reports, partial(dn.open_reports, engine="duckdb"), dn.read_reports,
], ids=["bincount", "duckdb", "read_reports"])  # fmt: skip
def test_no_reader_takes_what_is_hidden(read, tmp_path):
    folder = tmp_path / "_ours" / ".reports"  # what somebody names is not hidden from them
    (folder / "north").mkdir(parents=True)
    people = pa.table({"status": ["negative", "positive"] * 50, "age": np.arange(100) % 90})
    reports = DESIGN.randomize(people, source=dn.Seeded(1))
    table = reports.to_frame()  # of pyarrow, as people were
    for name in ("part-0.parquet", "north/part_1.parquet", *HIDDEN):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name)
    (folder / "_design.json").write_bytes(reports.header.json())
    (folder / "_SUCCESS").touch()
    found = read(folder)
    assert found.n == len(found.answers) == 200
    assert sum(each.counts.sum() for each in found.tabulate(["status"])) == 200


BAD = {
    "unknown": (UnknownCategoryError, {"status": ["negative", SENTINEL, SENTINEL], "age": [1, 2, 3]}, "2 values"),
    "missing": (MissingValueError, {"status": [SENTINEL, None, None], "age": [1, 2, 3]}, "2 values"),
    "text for a number": (UnknownCategoryError, {"status": ["negative"] * 3, "age": [SENTINEL] * 3}, "'age'"),
    "lists": (Exception, {"status": [[SENTINEL]] * 3, "age": [1, 2, 3]}, ""),
    "structs": (Exception, {"status": [{"a": SENTINEL}] * 3, "age": [1, 2, 3]}, ""),
    "bytes": (Exception, {"status": [SENTINEL.encode()] * 3, "age": [1, 2, 3]}, ""),
    "dictionary": (Exception, {"status": pa.array([SENTINEL] * 3).dictionary_encode(), "age": [1, 2, 3]}, ""),
}


@pytest.mark.parametrize("case", BAD)
def test_a_task_that_fails_says_which_column_and_never_a_value(case):
    kind, columns, told = BAD[case]
    with pytest.raises(kind) as caught:
        list(disguise(DESIGN.canonical())(iter(pa.table(columns).to_batches())))
    error = caught.value
    # What Spark writes down: the traceback, with all that led to it; and what pickling would carry along.
    logged = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.__context__)
    assert SENTINEL not in logged
    assert told in str(error)

"""Files are measured side by side, and both sides do the same work."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.speed import files


def test_it_measures_every_contender(monkeypatch):
    monkeypatch.setattr(files, "resident", lambda *_: 1.0)
    found = files.measure(20_000, repeats=1)
    assert [claim.what.partition(":")[0] for claim in found.claims] == [
        "disguise, independent",
        "disguise, views",
        "memory of disguising",
        "count",
    ]
    assert len(found.rows["what"]) == 7


def test_copies_and_counts_are_what_they_say(tmp_path):
    people, other, reports = (tmp_path / f"{name}.parquet" for name in ("people", "other", "reports"))
    files.write_people(people, 5000)
    for dictionaries in (False, True):
        files.copy(people, other, dictionaries=dictionaries)
        assert pq.read_table(other).to_pydict() == pq.read_table(people).to_pydict()
    files.disguise(people, reports, "independent")
    assert files.by_hand(reports).sum() == 5000
    assert np.array_equal(files.by_hand(reports), files.count(reports))
    assert np.array_equal(files.by_hand(reports), files.count(reports, "duckdb"))


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_memory_is_that_of_a_process_of_its_own(tmp_path):
    files.write_people(tmp_path / "p.parquet", 1000)
    assert 20 < files.resident(tmp_path / "p.parquet", tmp_path / "r.parquet", "views") < files.MEGABYTES

"""What rides along in clear is the column that was named: nothing that the file says beside it."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines.randomize_job import randomize_table
from deniable.files.column_types import rebuilt

TOLD_NOBODY = "HIV-positive-sentinel"
DOMAIN = {"smokes": ["no", "yes"]}


@pytest.fixture
def people(tmp_path):
    region = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, None] * 50, pa.int8()), ["north", TOLD_NOBODY, "south"])
    place = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int8()), pa.array([f"one of {TOLD_NOBODY}"]))
    schema = pa.schema(
        [
            pa.field("smokes", pa.string(), metadata={"note": TOLD_NOBODY}),
            pa.field("region", region.type, metadata={"note": TOLD_NOBODY}),
            pa.field("age", pa.int64(), metadata={"note": TOLD_NOBODY}),
            pa.field("place", place.type),
        ],
        metadata={"note": TOLD_NOBODY},
    )
    table = pa.table([pa.array(["no", "yes"] * 100), region, pa.array([30] * 200), place], schema=schema)
    pq.write_table(table, tmp_path / "people.parquet")
    assert TOLD_NOBODY.encode() in (tmp_path / "people.parquet").read_bytes()
    return tmp_path / "people.parquet"


@pytest.mark.parametrize("design", [dn.Joint(DOMAIN, epsilon=1.0), dn.Paired(DOMAIN, 0.7, -0.1)])
def test_no_metadata_and_no_unused_category_is_kept(people, tmp_path, design):
    randomize_table(people, tmp_path / "r.parquet", design, keep=["region", "age"])
    assert TOLD_NOBODY.encode() not in (tmp_path / "r.parquet").read_bytes()
    written = pq.read_table(tmp_path / "r.parquet")
    assert written["region"].to_pylist() == ["north", "south", "north", None] * 50
    assert [field.metadata for field in written.schema] == [None] * 3
    assert all(key.startswith(b"deniable.") for key in written.schema.metadata)


@pytest.mark.parametrize("kind", [".parquet", ".csv", ".sav", ".dta"])
def test_neither_do_frames_in_memory(people, tmp_path, kind):
    table = pq.read_table(people)
    frame = table.to_pandas()
    for name, each in (("arrow", table), ("pandas", frame)):
        reports = dn.Joint(DOMAIN, epsilon=1.0).randomize(each, keep=["region", "age"])
        reports.write(tmp_path / f"r{name}{kind}")
        for file in tmp_path.glob("r*"):
            assert TOLD_NOBODY.encode() not in file.read_bytes(), file


def test_categories_keep_their_order():
    grade = pd.Categorical(["good", None, "bad"], categories=["bad", "never", "good"], ordered=True)
    made = rebuilt(pa.Table.from_pandas(pd.DataFrame({"grade": grade})))
    assert made.schema.metadata is None
    assert made["grade"].chunk(0).dictionary.to_pylist() == ["bad", "good"]
    assert (made["grade"].to_pylist(), made["grade"].type.ordered) == (["good", None, "bad"], True)
    assert rebuilt(pa.table({"a": pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))})).num_rows == 0

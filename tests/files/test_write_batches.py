"""Files of many rows are written in batches: whatever their size, the file is the same, and little is held."""

from __future__ import annotations

import gc
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import deniable as dn
from chequered import black, is_tried
from deniable.core.csv_injection import plain_table
from deniable.designs.reports.debiased_columns import by_themselves
from deniable.designs.reports.labelled_table import labelled_batches
from deniable.errors import InputError
from deniable.files import write_batches as batches
from deniable.files.column_types import rebuilt
from deniable.files.reserved_columns import ORIGIN
from deniable.files.write_batches import Batches, of_frame, write_csv, write_parquet
from every_design import answered, every_design

N = 70
DOMAIN = dn.Domain({"a": ["n", "y"], "b": ["x", "=y", "z"], "c": ["n", "y"]})
DESIGNS = every_design(DOMAIN, N, block_size=20)
RIDING = {
    "=text": ['a "b", c', "=1", "x\ny", None, "ä", "", "'-5"] * 10,
    "late": [None] * 60 + ["z"] * 10,
    "whole": pd.array([None, *range(34)] * 2, dtype="Int64"),
    "weight": np.arange(N) / 7,
    "told": [True, None] * 35,
    "group": pd.Categorical(["q", "r"] * 35, categories=["z", "r", "q"]),
}
SIZES = [1, 7, 35, 1000]  # of batches: one, an odd one, half of all, more than all


def sized(monkeypatch, rows):
    monkeypatch.setattr(batches, "CELLS", 1 << 30)
    monkeypatch.setattr(batches, "_MOST", rows)


def reports_to(design, n=N, public=("region", "weight")):
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(v.categories, n).tolist() for name, v in DOMAIN.items()}
    columns |= {"region": rng.choice(["@north", "south"], n).tolist(), "weight": np.arange(n) % 2 / 7}
    return design.randomize(answered(pa.table(columns), design), keep=list(public), source=dn.Seeded(2))


def in_one_go(reports, scored):
    """The table that a file has, as frames in memory have it."""
    scores = reports.debiased(*scored).drop([ORIGIN, *reports.public_names])
    table = reports.to_frame().drop([ORIGIN])
    for name in scores.column_names:
        table = table.append_column(name, scores[name])
    return rebuilt(table)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_file_is_the_same_in_batches_of_any_size(name, tmp_path, monkeypatch):
    reports = reports_to(DESIGNS[name])
    scored = by_themselves(reports.design)
    whole = in_one_go(reports, scored)
    stamped = whole.append_column(ORIGIN, pa.array([reports.origin.column] * N))
    csv.write_csv(plain_table(stamped), tmp_path / "whole.csv")
    for rows in (size for place, size in enumerate(SIZES) if is_tried(list(DESIGNS).index(name), place)):
        sized(monkeypatch, rows)
        reports.write(tmp_path / f"{rows}.csv", debiased=scored)
        assert (tmp_path / f"{rows}.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
        reports.write(tmp_path / f"{rows}.parquet", debiased=scored)
        assert pq.read_table(tmp_path / f"{rows}.parquet").replace_schema_metadata(None).equals(whole)
        assert pq.read_metadata(tmp_path / f"{rows}.parquet").num_row_groups == -(-N // rows)
        assert np.array_equal(dn.read_reports(tmp_path / f"{rows}.parquet").answers, reports.answers)


@pytest.mark.parametrize(("name", "rows"), black(DESIGNS, SIZES))
def test_so_are_tables_of_categories(name, rows, tmp_path, monkeypatch):
    reports = reports_to(DESIGNS[name])
    try:
        whole = rebuilt(reports.labelled())
    except InputError as refused:
        with pytest.raises(InputError, match="are not categories"):
            labelled_batches(reports, in_words=False)
        assert "are not categories" in str(refused)  # noqa: PT017 - which designs have none is not said here
        return
    sized(monkeypatch, rows)
    made = labelled_batches(reports, in_words=False)
    check(made, whole, tmp_path)


@pytest.mark.parametrize("ending", ["sav", "dta"])
@pytest.mark.parametrize("name", DESIGNS)
def test_so_are_sheets(name, ending, tmp_path, monkeypatch):
    reports = reports_to(DESIGNS[name])
    reports.write(tmp_path / f"whole.{ending}")
    for cells in (1, 40, 1 << 30):  # of one row, of an odd number of them, of all
        monkeypatch.setattr("deniable.files.labelled_columns._CELLS", cells)
        reports.write(tmp_path / f"{cells}.{ending}")
        assert (tmp_path / f"{cells}.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()


def check(made, whole, folder):
    for name, kind in zip(whole.column_names, whole.schema.types, strict=True):
        if pa.types.is_dictionary(kind):  # of categories in an order of their own, those that are there
            assert made.make(0, 1)[name].chunk(0).dictionary.equals(whole[name].chunk(0).dictionary)
    csv.write_csv(plain_table(whole), folder / "whole.csv")
    write_csv(made, folder / "made.csv", {})
    assert (folder / "made.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    write_parquet(made, folder / "made.parquet", {})
    pq.write_table(whole, folder / "whole.parquet")
    found, expected = pq.read_table(folder / "made.parquet"), pq.read_table(folder / "whole.parquet")
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert found.to_pydict() == expected.to_pydict()


@pytest.mark.parametrize(("library", "rows"), black(["pandas", "pyarrow", "polars"], SIZES))
def test_so_are_columns_that_ride_along(library, rows, tmp_path, monkeypatch):
    frame = pd.DataFrame(RIDING)
    if library == "pandas":  # its labels are no column
        frame = frame.sample(frac=1, random_state=3)
    given = {"pandas": frame, "pyarrow": pa.Table.from_pandas(frame), "polars": pl.from_pandas(frame)}[library]
    whole = {
        "pandas": pa.table({name: pa.array(frame[name], from_pandas=True) for name in frame}),
        "pyarrow": given,
        "polars": given.to_arrow() if library == "polars" else None,
    }[library]
    sized(monkeypatch, rows)
    check(of_frame(given), rebuilt(whole), tmp_path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_of_no_rows_there_are_names(ending, tmp_path):
    nobody = pd.DataFrame(RIDING).head(0)
    {"csv": write_csv, "parquet": write_parquet}[ending](of_frame(nobody), tmp_path / f"r.{ending}", {})
    read = csv.read_csv if ending == "csv" else pq.read_table
    names = read(tmp_path / f"r.{ending}").column_names
    assert names == [("'" if ending == "csv" and name[0] == "=" else "") + name for name in RIDING]


def test_a_batch_has_fewer_rows_the_more_columns_there_are():
    wide = Batches(10**9, lambda start, stop: pa.table({str(i): np.broadcast_to(0.0, stop - start) for i in range(99)}))
    assert len(next(iter(wide))) * 99 <= batches.CELLS


def held_at_most(write):
    """Bytes that were held at once while something was written, by Python, NumPy and Arrow."""
    gc.collect()
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        write()
        return tracemalloc.get_traced_memory()[1] + pool.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


@pytest.mark.parametrize(
    ("name", "ending"), black(["views", "blocks", "independent", "unary", "paired"], ["csv", "parquet"])
)
def test_what_is_held_does_not_grow_with_the_rows(name, ending, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "CELLS", 1 << 14)
    monkeypatch.setattr("deniable.extensions.blocks.block_reports._PART", 1 << 11)
    write = {"csv": write_csv, "parquet": write_parquet}[ending]
    reported, labelled = [], []
    for n in (1_000, 8_000, 24_000):  # the first only loads what writing takes
        # A block's fakes are held with the reports, so there are as many blocks of both.
        design = every_design(DOMAIN, n, block_size=n // 20)[name]
        reports = reports_to(design, n, ["region"])
        file = tmp_path / f"{n}.{ending}"
        reported.append(held_at_most(partial(reports.write, file, debiased=by_themselves(design))))
        if name not in ("unary", "paired"):
            made = partial(labelled_batches, reports, in_words=False)
            labelled.append(held_at_most(lambda made=made, n=n: write(made(), tmp_path / f"labelled {n}.{ending}", {})))
    for held in filter(None, (reported, labelled)):
        assert held[2] - held[1] < 16_000, held  # a byte a row; one number of each row would be eight

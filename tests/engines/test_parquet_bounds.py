"""Parquet files that ask for more than anybody has: refused before it is built, whoever reads them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.errors import InputError
from deniable.files import parquet
from deniable.files.parquet import HELD, PORTION, STREAMED, TIMES, ParquetFile, portions, spelt_out
from deniable.files.parquet_pages import pages


def shared_text(path, rows=2_000_000, length=100_000):
    """One text that all rows share: 5 kB, and 200 GB once it is spelt out."""
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))
    pq.write_table(pa.table({"smokes": one}), path, compression="zstd")
    return path


def test_one_text_for_all_rows(tmp_path):
    file = ParquetFile(shared_text(tmp_path / "p.parquet"))
    assert (tmp_path / "p.parquet").stat().st_size < 10_000
    assert file.rows == 2_000_000
    before = pa.total_allocated_bytes()
    for read in (lambda: list(file.batches(["smokes"])), file.table, lambda: [*map(list, file.by_group(["smokes"]))]):
        with pytest.raises(InputError, match="would become more than"):
            read()
    assert pa.total_allocated_bytes() - before < PORTION


def test_many_rows_that_are_one(tmp_path):
    rows = HELD // 8 + 1
    schema = pa.schema([("n", pa.int64())])
    with pq.ParquetWriter(tmp_path / "p.parquet", schema) as out:
        batch = pa.table({"n": np.zeros(1 << 22, np.int64)})
        for _ in range(-(-rows // (1 << 22))):
            out.write_table(batch, row_group_size=1 << 22)
    size = (tmp_path / "p.parquet").stat().st_size
    assert size * TIMES < HELD
    with pytest.raises(InputError, match=f"more than {HELD} bytes"):
        ParquetFile(tmp_path / "p.parquet").table()
    assert next(ParquetFile(tmp_path / "p.parquet").batches(["n"])).num_rows == parquet.ROWS  # streamed, it may be more


def test_texts_are_spelt_out_in_portions(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PORTION", 1 << 16)
    file = ParquetFile(shared_text(tmp_path / "p.parquet", 1000, 1000))
    batches = list(file.batches(["smokes"]))
    assert sum(batch.num_rows for batch in batches) == 1000
    assert max(batch.nbytes for batch in batches) < 1 << 17
    assert {value for batch in batches for value in batch["smokes"].to_pylist()} == {"x" * 1000}
    assert [one.num_rows for one in portions(batches[0])] == [batches[0].num_rows]
    assert spelt_out(batches[0]) == 1000 * batches[0].num_rows


def forged(path, unpacked):
    """A file whose page says that it unpacks to so many bytes."""
    pq.write_table(pa.table({"n": pa.array(np.arange(1000))}), path, compression="zstd", use_dictionary=False)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    body = bytearray(path.read_bytes())
    with path.open("rb") as file:
        (page,) = pages(file, chunk.data_page_offset, chunk.total_compressed_size, str(path))
    at = body.index(varint(page.unpacked), chunk.data_page_offset)
    body[at : at + len(varint(page.unpacked))] = varint(unpacked)
    path.write_bytes(body)
    return path


def varint(number):
    """A whole number as Thrift writes it."""
    left, made = number << 1, b""
    while left >= 128:
        made, left = made + bytes([left & 127 | 128]), left >> 7
    return made + bytes([left])


def test_a_page_that_says_it_is_larger_than_any(tmp_path):
    # As long as the number that stood there, or nothing behind it can be read.
    file = ParquetFile(forged(tmp_path / "p.parquet", 16_383))
    with pytest.raises(InputError, match=r"row group 0 of .* cannot be read"):
        list(file.batches(["n"]))
    file._size = 1
    with pytest.raises(InputError, match="has a page of 1000 values that would become 16383 bytes"):
        list(file.batches(["n"], most=STREAMED))


def test_pages_add_up(tmp_path):
    table = pa.table({"text": ["no", "yes", None, "so"] * 5000, "number": np.arange(20_000)})
    for options in ({}, {"data_page_version": "2.0"}, {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}):
        chosen = table.select(["text"]) if "column_encoding" in options else table
        pq.write_table(chosen, tmp_path / "p.parquet", data_page_size=1 << 12, **options)
        about = pq.ParquetFile(tmp_path / "p.parquet").metadata
        with (tmp_path / "p.parquet").open("rb") as file:
            for place in range(about.num_columns):
                chunk = about.row_group(0).column(place)
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                found = list(pages(file, start, chunk.total_compressed_size, "p"))
                dictionary = found[0].values if chunk.has_dictionary_page else 0
                assert sum(page.values for page in found) == 20_000 + dictionary
        assert ParquetFile(tmp_path / "p.parquet").table().equals(chosen)


def test_texts_that_begin_alike_are_read_few_at_a_time(tmp_path):
    texts = ["x" * length for length in range(2000)]
    pq.write_table(
        pa.table({"text": texts}), tmp_path / "p.parquet", use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY"
    )
    file = ParquetFile(tmp_path / "p.parquet")
    assert file.table()["text"].to_pylist() == texts
    assert file._look_at(0, ["text"]) <= (1 << 28) // 2000


def test_columns_that_nest_are_refused(tmp_path):
    pq.write_table(pa.table({"a": [[1], [2, 3]], "b": ["x", "y"]}), tmp_path / "p.parquet")
    with pytest.raises(InputError, match=r"column 'a' .* holds list"):
        ParquetFile(tmp_path / "p.parquet").table()
    assert sum(batch.num_rows for batch in ParquetFile(tmp_path / "p.parquet").batches(["b"])) == 2


def test_reports_are_read_within_the_same_bounds(tmp_path):
    reports = dn.Joint({"smokes": ["no", "yes"]}, epsilon=1.0).randomize(
        pa.table({"smokes": ["no", "yes"] * 100}), source=dn.Seeded(1)
    )
    reports.write(tmp_path / "r.parquet")
    table = pq.read_table(tmp_path / "r.parquet").take(pa.array(np.zeros(100_000, np.int64)))
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(table), np.int32)), pa.array(["x" * 100_000]))
    pq.write_table(table.append_column("region", shared), tmp_path / "r.parquet", compression="zstd")
    with pytest.raises(InputError, match="would become more than"):
        dn.read_reports(tmp_path / "r.parquet")
    opened = dn.open_reports(tmp_path / "r.parquet")
    assert opened.n == 100_000
    assert dn.estimate(opened, "smokes").n == 100_000  # whatever is in a column that nobody asks about
    with pytest.raises(InputError, match="would become more than"):
        list(opened.groups("region"))

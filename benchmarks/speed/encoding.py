"""From a data frame to reports: what reading the frame costs, and what disguising it costs on top.

Texts are the dear part of disguising a table, not the disguise. They are compared once where the frame has them as a
dictionary (Parquet files, pandas' and Polars' categories); plain texts are compared row by row, and Python's own
objects have to be turned into texts first. Of many attributes only those are looked at that a question asks.

Codes of 64 bits are disguised as those of 8 are, once they were looked at and narrowed: each of these is one pass over
eight times as many bytes. Both passes are measured beside it by NumPy alone, for that is what there is between the two.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.benchmark import Claim, Measurement, side_by_side
from deniable import KRR, Domain, Independent, Views

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 2_000_000
PORTION = 1 << 17  # as many as are disguised at a time
FEW, MANY = 4, 37
TWICE, SAVED, GATHERED = 2.0, 4.0, 1.5


def people(rows: int, attributes: int) -> tuple[Domain, pa.Table]:
    """Made-up texts, as Parquet keeps them: a dictionary a column."""
    domain = Domain({f"question {n}": [f"answer {m} to question {n}" for m in range(5)] for n in range(attributes)})
    codes = np.random.default_rng(0).integers(0, 5, (rows, attributes))
    return domain, pa.table({name: column.dictionary_encode() for name, column in domain.decode(codes).items()})


def written_out(table: pa.Table) -> pa.Table:
    """The same with every text at its place."""
    return table.cast(pa.schema([(name, pa.string()) for name in table.column_names]))


def all_columns(design: Views, codes: np.ndarray[Any, np.dtype[Any]]) -> None:
    """Disguise with every respondent's whole row copied for each ballot, as one writes it down first."""
    drawn = np.random.default_rng(1).integers(0, len(design.ballots), len(codes))
    for ballot, (index,) in enumerate(design.ballots):
        truth = design.joint_codes(codes[np.flatnonzero(drawn == ballot)], design.questions[index])
        design.questions[index].channel.randomize(truth)


def narrowed(codes: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Look whether every code is small, and make it so: what codes of 8 bits are spared, by portions as large."""
    for start in range(0, len(codes), PORTION):
        part = codes[start : start + PORTION]
        part.view(np.uint64).max()
        part.astype(np.uint8)


def measure(rows: int = ROWS) -> Measurement:
    """Measure all of it on so many rows."""
    domain, table = people(rows, FEW)
    design = Independent(domain, 4.0)
    texts = written_out(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        pq.write_table(texts, path)
        ways: dict[str, Callable[[], object]] = {
            "read the file": partial(pq.read_table, path),
            "disguise the frame, texts": partial(design.randomize, texts),
            "disguise the frame, dictionaries": partial(design.randomize, table),
            "encode texts": partial(domain.encode, texts),
            "encode dictionaries": partial(domain.encode, table),
        }
        taken = side_by_side(ways, repeats=5)
    wide, many = people(rows // 10, MANY)
    views, codes = Views(wide, 2, 1.0), wide.encode(many)
    taken |= side_by_side(
        {"views, whole rows": partial(all_columns, views, codes), "views": partial(views.randomize_codes, codes)},
        repeats=3,
    )
    small = np.random.default_rng(2).integers(0, 4, rows, dtype=np.uint8)
    channel, wide_codes = KRR(4, 1.0), small.astype(np.int64)
    taken |= side_by_side(
        {
            "codes of 8 bits": partial(channel.randomize, small),
            "codes of 64 bits": partial(channel.randomize, wide_codes),
            "codes of 64 bits, looked at and narrowed only": partial(narrowed, wide_codes),
        },
        repeats=7,
    )
    sizes = {name: rows // 10 if name.startswith("views") else rows for name in taken}
    read = taken["read the file"]
    saved = taken["encode texts"] / taken["encode dictionaries"]
    gathered = taken["views, whole rows"] / taken["views"]
    return Measurement(
        title=f"From a frame to reports: {rows:,} rows of {FEW} texts; Views of {MANY} attributes, {rows // 10:,} rows",
        rows={"what": list(taken), "ns a row": [f"{1e9 * spent / sizes[name]:.3g}" for name, spent in taken.items()]},
        claims=[
            Claim("disguise a frame / read it", taken["disguise the frame, texts"] / read, TWICE, at_most=True),
            Claim("encode texts / dictionaries", saved, SAVED),
            Claim("whole rows / needed columns", gathered, GATHERED),
            Claim("codes of 64 bits / of 8", taken["codes of 64 bits"] / taken["codes of 8 bits"], TWICE, at_most=True),
        ],
    )


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

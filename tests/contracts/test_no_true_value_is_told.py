"""A true value is planted in every kind of input, wrong in every way: no message, cause, warning or log repeats it."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.engines.domain_file import infer_domain
from deniable.engines.randomize_job import randomize_table
from deniable.errors import DeniableError
from deniable.graphs import Graph, read_graph

VALUE, NUMBER = "HIV-positive-sentinel", 7_654_321
TEXTS = dn.Domain({"status": ["no", "yes"], "region": ["north", "south"]})
NUMBERS = dn.Domain({"status": [1, 2], "region": ["north", "south"]})
BINS = dn.Domain({"status": {"bins": [18, 65]}, "region": ["north", "south"]})
REGION = ["north", "south", "north"]
# What stands in the column that is to be disguised, and the domain that it does not fit.
WRONG = {
    "unknown": (["no", "yes", VALUE], TEXTS),
    "all unknown": ([VALUE, VALUE + "2", VALUE + "3"], TEXTS),
    "text for number": (["1", "2", VALUE], NUMBERS),
    "text for bins": (["1", "2", VALUE], BINS),
    "number for text": ([1, 2, NUMBER], TEXTS),
    "unknown number": ([1, 2, NUMBER], NUMBERS),
    "decimal": ([1.0, 2.0, NUMBER + 0.5], NUMBERS),
    "missing": ([VALUE, None, VALUE], TEXTS),
    "mixed": ([VALUE, 2, NUMBER], TEXTS),
    "mixed numbers": ([1, VALUE, NUMBER], NUMBERS),
    "bytes": ([VALUE.encode(), b"no", b"yes"], TEXTS),
    "lists": ([[VALUE], ["no"], [VALUE]], TEXTS),
    "too large": ([1, 2, NUMBER * 10**30], NUMBERS),
}


def told(error):
    """Everything that hangs on an exception."""
    seen, left = [], [error]
    while left:
        one = left.pop()
        seen.append(repr(one) + str(one) + repr(getattr(one, "details", "")))
        left += [each for each in (one.__cause__, one.__context__) if each is not None]
    return "\n".join(seen)


def frames(values):
    """The same people in every kind of frame that takes them."""
    yield "columns", lambda: {"status": values, "region": REGION}
    yield "people", lambda: [{"status": one, "region": other} for one, other in zip(values, REGION, strict=True)]
    yield "pandas", lambda: pd.DataFrame({"status": pd.Series(values, dtype=object), "region": REGION})
    yield "categorical", lambda: pd.DataFrame({"status": pd.Categorical(values), "region": REGION})
    yield "polars", lambda: pl.DataFrame({"status": values, "region": REGION}, strict=True)
    yield "objects", lambda: pl.DataFrame({"status": pl.Series(values, dtype=pl.Object), "region": REGION})
    yield "arrow", lambda: pa.table({"status": values, "region": REGION})
    yield "dictionary", lambda: pa.table({"status": pa.array(values).dictionary_encode(), "region": REGION})
    yield "series", lambda: {"status": pd.Series(values, dtype=object), "region": pd.Series(REGION)}
    yield "array", lambda: {"status": np.array(values, dtype=object), "region": REGION}


def refused(call, caplog):
    """What is said where a call is refused by us."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as warned, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        with pytest.raises(DeniableError) as error:
            call()
    return told(error.value) + caplog.text + "".join(str(one.message) for one in warned)


@pytest.mark.parametrize("how", WRONG)
def test_frames(how, caplog):
    values, domain = WRONG[how]
    tried = 0
    for kind, make in frames(values):
        try:
            frame = make()
        except Exception:  # noqa: BLE001, S112 - the library takes no such column
            continue
        for design in (dn.Joint(domain, 1.0), dn.Views(domain, 1, 1.0), dn.Blocks(domain, 1, 1.0)):
            said = refused(lambda design=design, frame=frame: design.randomize(frame), caplog)
            assert VALUE not in said, (kind, said)
            assert str(NUMBER) not in said, (kind, said)
            tried += 1
    assert tried >= 6


def files(values, folder):
    """The same people in files."""
    rows = "".join(f"{'' if one is None else one},{other}\n" for one, other in zip(values, REGION, strict=True))
    head = "status,region\n"
    texts = {
        "head": head + rows,
        "no head": rows,
        "half a head": f"status,{VALUE}\n{rows}",
        "a head twice": f"status,{VALUE},{VALUE}\n{rows}",
        "ragged": f"{head}{rows}{VALUE},{NUMBER},x,y\n",
        "late": head + "1,north\n" * 600_000 + rows,
        "short": f"{head}no,north\n{VALUE}\n",
        "quote": f'{head}{rows}no,"{VALUE}\n' + "x\n" * 3_000_000,
    }
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        yield folder / f"{name}.csv"
    (folder / "bytes.csv").write_bytes(f"status,region\nno,north\n{VALUE}".encode() + b"\xff\xfe,north\n")
    yield folder / "bytes.csv"
    try:
        table = pa.table({"status": values, "region": REGION})
    except (pa.ArrowException, OverflowError):
        return
    pq.write_table(table, folder / "plain.parquet")
    yield folder / "plain.parquet"


@pytest.mark.parametrize("how", ["unknown", "text for number", "text for bins", "unknown number", "missing"])
def test_files(how, tmp_path, caplog):
    values, domain = WRONG[how]
    (tmp_path / "domain.toml").write_text(
        'region = ["north", "south"]\nstatus = '
        + {TEXTS: '["no", "yes"]', NUMBERS: "[1, 2]", BINS: "{ bins = [18, 65] }"}[domain]
    )
    target = tmp_path / "out.parquet"
    for place in files(values, tmp_path):
        for design in (dn.Joint(domain, 1.0), dn.Paired(domain, 0.7, -0.1)):
            said = refused(lambda design=design, place=place: randomize_table(place, target, design), caplog)
            assert VALUE not in said, (place.name, said)
            assert str(NUMBER) not in said, (place.name, said)
            assert place.name in said or "first row name" in said, said
        command = ["randomize", place, "--domain", tmp_path / "domain.toml", "--epsilon", "1", "-o", target]
        done = CliRunner().invoke(app, [*map(str, command)])
        assert done.exit_code == 3, done.output
        for text in (done.output, told(done.exception)):
            assert VALUE not in text
            assert str(NUMBER) not in text


def test_the_message_names_file_row_and_column(tmp_path):
    (tmp_path / "p.csv").write_text("status,region\n" + "no,north\n" * 5 + f"{VALUE},north\nno,south\n{VALUE},south\n")
    with pytest.raises(DeniableError, match=r"p\.csv: column 'status' holds .* in 2 of 8 rows, the first in row 6"):
        randomize_table(tmp_path / "p.csv", tmp_path / "out.parquet", dn.Joint(TEXTS, 1.0))
    (tmp_path / "q.csv").write_text(f"status,region\nno,north\n{VALUE},north,south\n")
    with pytest.raises(DeniableError, match=r"q\.csv cannot be read .* row 2, 3 columns where its head names 2"):
        randomize_table(tmp_path / "q.csv", tmp_path / "out.parquet", dn.Joint(TEXTS, 1.0))


def test_categories_that_are_read_off_the_data(tmp_path, caplog):
    pq.write_table(pa.table({"status": [VALUE, None]}), tmp_path / "p.parquet")
    pq.write_table(pa.table({"status": [f"{VALUE}{number}" for number in range(2000)]}), tmp_path / "q.parquet")
    for name in ("p", "q"):
        assert VALUE not in refused(lambda name=name: infer_domain(tmp_path / f"{name}.parquet"), caplog)


def test_who_is_linked_to_whom(tmp_path, caplog):
    pairs = [("ann", VALUE), (VALUE, "ann")]
    assert VALUE not in refused(lambda: Graph(pairs), caplog)
    assert VALUE not in refused(lambda: Graph([("ann", "bob", VALUE)]), caplog)
    for text in (f"ann bob {VALUE}\n", f"ann {VALUE}\n{VALUE} ann\n"):
        (tmp_path / "g.edges").write_text(text)
        assert VALUE not in refused(lambda: read_graph(tmp_path / "g.edges"), caplog)
    (tmp_path / "g.edges").write_text(f"1 {VALUE}\n")
    assert VALUE not in refused(lambda: read_graph(tmp_path / "g.edges", 5), caplog)

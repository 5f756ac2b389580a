"""What is written is what is read: numbers, the order of everything, and types, through every format and library."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn
from deniable.device.protocol.messages import MOST_DESIGN_BYTES
from deniable.engines.domain_file import read_domain, write_domain
from deniable.errors import DeniableError, InputError
from deniable.files.header import Header
from deniable.surveys.survey import parse_survey
from small_survey import small_survey

FORMATS = ["parquet", "csv", "sav", "dta"]
# In an order that is none by size or letter, and in types that a text may be taken for.
CATEGORIES = {
    "texts": ("yes", "no", "Zürich, 8001", 'a "b"\nc', " x ", "=1+1", "NA", "nan", "null", ""),
    "digits": ("10", "9", "007", "1.0", "1e3"),
    "truths": (True, False),
    "words of truth": ("true", "false", "True"),
    "whole": (3, 1, 2, -7, 2**53 - 1),
    "decimals": (0.5, 0.1, 1.0, -2.0, 1e300, 5e-324),
    "dates": ("2024-02-01", "2024-01-01"),
}
DAY, NOW = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 5, 123000)  # noqa: DTZ001 - without a zone on purpose
PUBLIC = {
    "texts": pa.array(["yes", "", None, "NA", 'a "b"\nc, d', "=1+1", "'=2", "nan", " x "]),
    "digits": pa.array(["007", "1", "2", None, "1e3", "1.0", "7", "08", "-"]),
    "truths": pa.array([True, False, None, True, False, True, True, False, False]),
    "words of truth": pa.array(["true", "false", None] * 3),
    "whole": pa.array([1, None, 3, -7, 2**53 - 1, 0, 1, 2, 3], pa.int64()),
    "small": pa.array([1, 2, 3, 255, None, 0, 0, 0, 1], pa.uint8()),
    "decimals": pa.array([0.1, 1.0, None, 1e300, -5e-324, 2.0, 3.0, -1.5, 1 / 3]),
    "short decimals": pa.array([0.1, 1.0, None] * 3, pa.float32()),
    "days": pa.array([DAY, None, DAY + dt.timedelta(1)] * 3),
    "times": pa.array([NOW, None, NOW + dt.timedelta(1)] * 3, pa.timestamp("ms")),
    "times somewhere": pa.array([NOW, None, NOW + dt.timedelta(1)] * 3, pa.timestamp("us", tz="UTC")),
    "money": pa.array([Decimal("1.20"), None, Decimal("-3.00")] * 3, pa.decimal128(9, 2)),
    "nothing": pa.nulls(9),
}
N = 9


def made(**public):
    """Nine reports beside some public columns."""
    return dn.Joint({"a": ["n", "y"], "b": [0, 1, 2]}, 2.0).randomize(
        pa.table({"a": ["n", "y", "y"] * 3, "b": [0, 1, 2] * 3, **public}), keep=list(public), source=dn.Seeded(1)
    )


@pytest.mark.parametrize("kind", CATEGORIES)
@pytest.mark.parametrize("suffix", FORMATS)
def test_categories_keep_their_order_and_type(kind, suffix, tmp_path):
    categories = CATEGORIES[kind]
    domain = dn.Domain({"first": categories, "second": categories[::-1]})
    frame = pa.table({"first": list(categories) * 3, "second": list(categories) * 3})
    reports = dn.Independent(domain, 4.0).randomize(frame, source=dn.Seeded(1))
    back = dn.read_reports(reports.write(tmp_path / f"r.{suffix}"))
    for name in domain:
        assert [(type(c), c) for c in back.design.domain[name].categories] == [
            (type(c), c) for c in domain[name].categories
        ]
    assert back.design.id == reports.design.id
    assert np.array_equal(back.answers, reports.answers)
    assert np.array_equal(dn.estimate(back, "first").values, dn.estimate(reports, "first").values)


@pytest.mark.parametrize("kind", CATEGORIES)
def test_a_domain_file_keeps_them_too(kind, tmp_path):
    domain = dn.Domain({"first": CATEGORIES[kind], "of the second": CATEGORIES[kind][::-1]})
    (tmp_path / "d.toml").write_text(write_domain(domain), encoding="utf-8")
    back = read_domain(tmp_path / "d.toml")
    assert back == domain
    assert list(map(type, back["first"].categories)) == list(map(type, domain["first"].categories))


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
@pytest.mark.parametrize("kind", PUBLIC)
@pytest.mark.parametrize("suffix", FORMATS)
def test_public_columns_keep_their_values_gaps_and_type(kind, suffix, tmp_path):
    reports = made(p=PUBLIC[kind], q=PUBLIC[kind][::-1])
    back = dn.read_reports(reports.write(tmp_path / f"r.{suffix}"))
    for name in ("p", "q"):
        (one, two) = (pa.chunked_array(r.public[name].to_arrow()) for r in (back, reports))
        assert one.type == two.type
        assert one.to_pylist() == two.to_pylist()
    assert back.public_names == ("p", "q")
    assert np.array_equal(back.answers, reports.answers)


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
@pytest.mark.parametrize("suffix", ["csv", "sav", "dta"])
def test_what_a_format_cannot_keep_is_refused_before_anything_is_written(suffix, tmp_path):
    for column in (
        pa.array([1] * N, pa.duration("s")),
        pa.array([b"x"] * N),
        pa.array([2**53 + 1] * N) if suffix != "csv" else None,
    ):
        if column is not None:
            with pytest.raises(InputError, match="Parquet"):
                made(p=column).write(tmp_path / f"r.{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_without_a_row_keeps_types(suffix, tmp_path):
    reports = dn.Reports(pa.table(made(p=PUBLIC["digits"], w=PUBLIC["whole"]).to_frame()).slice(0, 0), made().design)
    back = dn.read_reports(reports.write(tmp_path / f"r.{suffix}"))
    assert back.n == 0
    assert [str(back.public[name].to_arrow().type) for name in ("p", "w")] == ["string", "int64"]


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
def test_a_chain_through_every_format_loses_nothing(tmp_path):
    """With words, scores, notes, and public columns of every type; the last file says what the first did."""
    first = made(**PUBLIC).with_notes("A note.")
    reports, path = first, tmp_path
    for step, suffix in enumerate(["csv", "sav", "parquet", "dta", "csv", "parquet"]):
        path = reports.write(tmp_path / f"{step}.{suffix}", debiased=["a", ["a", "b"]])
        reports = dn.read_reports(path)
    assert path.stat().st_size
    assert reports.to_frame().equals(first.to_frame())
    assert (reports.notes, reports.design, reports.labels) == (first.notes, first.design, first.labels)


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
def test_headers_survive_json_and_the_metadata_of_parquet():
    blocks = dn.Blocks({"a": ["n", "y"], "b": [0, 1]}, 2, 2.0, block_size=5).randomize(
        {"a": ["n", "y"] * 6, "b": [0, 1] * 6}, source=dn.Seeded(1)
    )
    pairs = dn.Paired({"a": ["n", "y"]}, 0.75, -0.2).randomize({"a": ["n", "y"] * 6}, source=dn.Seeded(1))
    labels = parse_survey(small_survey()).labels
    for header in (
        blocks.header,
        pairs.header,
        replace(made().header, words=labels, notes=('ü, \n"',)),
        replace(
            made().header, types={"p": "int64"}, scores={"dn_share_a_y": "a = y"}, columns=(("x", "y", (True, "a")),)
        ),
    ):
        assert Header.from_json(header.json(), "a file") == header
        metadata = {key.encode(): text.encode() for key, text in header.metadata().items()}
        assert Header.from_metadata(metadata, "a file") == header


# -- groups ------------------------------------------------------------------------------------------------------------

LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]
GROUPS = {
    "decimals": [1.0, 2.5, float("nan"), None],
    "texts": ["north", "south", None, None],
    "numbers with gaps": [1.0, 2.0, None, float("nan")],
}


@pytest.mark.parametrize("kind", GROUPS)
def test_nobody_is_in_a_group_without_a_name(kind, tmp_path):
    """NaN and None alike: left out and said, whatever library or file they come by and whoever counts."""
    values = GROUPS[kind] * 30
    design, answers = dn.Joint({"a": ["n", "y"]}, 2.0), ["n", "y", "y", "n"] * 30
    found = []
    for place, library in enumerate(LIBRARIES):
        frame = library({"a": answers, "g": values})
        reports = design.randomize(frame, keep=["g"], source=dn.Seeded(1))
        path = reports.write(tmp_path / f"{place}.parquet")
        again = dn.Reports(library({"dn_answer_a": reports.answers[:, 0], "g": values}), design)
        csv = dn.read_reports(reports.write(tmp_path / f"{place}.csv"))
        for each in (
            reports,
            again,
            csv,
            dn.read_reports(path),
            dn.open_reports(path, engine="duckdb"),
            dn.open_reports(path),
        ):
            made = dn.estimate(each, "a", by="g")
            assert list(made) == GROUPS[kind][:2]
            assert "60 reports without a value of g are in no group." in made.warnings()
            found.append([made[group].values.tolist() for group in made])
    assert all(each == found[0] for each in found)


def test_stored_reports_that_hold_nan_are_grouped_alike(tmp_path):
    """Whoever else wrote the file may have left NaN in it."""
    import pyarrow.parquet as pq

    design = dn.Joint({"a": ["n", "y"]}, 2.0)
    reports = design.randomize(pa.table({"a": ["n", "y"] * 60}), source=dn.Seeded(1))
    table = pa.table(reports.to_frame()).append_column("g", pa.array([1.0, float("nan"), None, 2.0] * 30))
    pq.write_table(table.replace_schema_metadata(reports.header.metadata()), tmp_path / "r.parquet")
    for each in (dn.read_reports, dn.open_reports, lambda path: dn.open_reports(path, engine="duckdb")):
        made = dn.estimate(each(tmp_path / "r.parquet"), "a", by="g")
        assert (list(made), made.unknown) == ([1.0, 2.0], 60)


# -- surveys -----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
def test_a_survey_s_words_and_order_survive_every_format(tmp_path):
    survey = parse_survey(
        small_survey()
        + """
[[questions]]
name = "mood"
text = "How are you?"
choices = ["well", "ill", { value = "007", text = "so so" }, "1"]
prefer_not_to_say = true
[[public]]
name = "region"
text = "Where?"
choices = ["2", "10", "true"]
"""
    )
    frame = pa.table(
        {"a": ["no", "yes"] * 60, "b": ["no"] * 120, "mood": ["1", "007", "ill"] * 40, "region": ["true", "2"] * 60}
    )
    reports = survey.design.randomize(frame, keep=["region"], source=dn.Seeded(1)).with_labels(survey.labels)
    for suffix in FORMATS:
        back = dn.read_reports(reports.write(tmp_path / f"r.{suffix}"))
        assert back.labels == reports.labels
        assert back.design.domain == survey.domain
        assert back.public["region"].to_list() == frame["region"].to_pylist()
        assert list(dn.estimate(back, "mood", by="region")) == ["2", "true"]


@pytest.mark.parametrize("number", [float("inf"), float("nan"), -float("inf")])
def test_categories_that_json_cannot_hold_are_refused(number):
    with pytest.raises(DeniableError, match="finite"):
        dn.Domain({"a": [0.5, number]})


def test_whole_numbers_of_any_size_survive_or_are_refused(tmp_path):
    for large in (2**63 - 1, 2**63, 2**64, -(2**70)):
        try:
            domain = dn.Domain({"a": [0, large]})
        except DeniableError:
            continue
        design = dn.Joint(domain, 1.0)
        assert len(design.canonical()) < MOST_DESIGN_BYTES
        assert dn.design_from_dict(design.to_dict()).domain == domain
        path = dn.Reports(pa.table({"dn_answer_a": [0, 1]}), design).write(tmp_path / f"{large}.parquet")
        assert dn.read_reports(path).design.domain == domain

"""The columns that reports have of their own: no attribute and no public column can be taken for one of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.core.provenance import PEOPLE
from deniable.engines.randomize_job import randomize_table, recognisable
from deniable.errors import DesignError, InputError, SurveyError
from deniable.surveys.survey import parse_survey
from every_design import answered, every_design
from small_survey import small_survey

DOMAIN = dn.Domain({"a": ["n", "y"], "b": ["x", "y", "z"], "c": ["n", "y"]})
# What columns were called before, what they are called in SPSS, and what is counted under some name on the way.
STRANGE = [
    "ballot",
    "block",
    "answer_0",
    "answer_a",
    "question_0",
    "respondents",
    "count_all",
    "size",
    "a_b",
    "A",
    "v_a",
]
N = 240


def people(library=pa.table, **more):
    rng = np.random.default_rng(1)
    return library({name: rng.choice(v.categories, N).tolist() for name, v in DOMAIN.items()} | more)


@pytest.mark.parametrize("name", every_design(DOMAIN, N, block_size=60))
@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
def test_public_columns_of_any_name_change_nothing(name, tmp_path):
    """Each holds ones where reports hold codes: an answer or a ballot that is read from it shows."""
    design = every_design(DOMAIN, N, block_size=60)[name]
    frame = answered(people(**dict.fromkeys(STRANGE, [1] * N)), design)
    reports = design.randomize(frame, keep=STRANGE, source=dn.Seeded(2))
    for suffix in ("parquet", "csv", "sav", "dta"):
        back = dn.read_reports(reports.write(tmp_path / f"r.{suffix}"))
        assert np.array_equal(back.answers, reports.answers), suffix
        assert np.array_equal(back.ballots, reports.ballots), suffix
        assert list(back.public_names) == STRANGE
        assert [back.public[each].to_list() for each in STRANGE] == [[1] * N] * len(STRANGE)
    if design.one_by_one:
        stored = dn.open_reports(tmp_path / "r.parquet", engine="duckdb")
        one, two = ([o.counts for o in r.tabulate(["a"])] for r in (stored, reports))
        assert all(map(np.array_equal, one, two))


RESERVED = ["dn_ballot", "DN_answer_0", "dn_block", "dn_", "dn_words", "dn_origin"]
READ = {"dn_words": ["words 1"] * N, "dn_origin": ["Simulated"] * N}  # what files and frames of reports may have


@pytest.mark.parametrize("taken", [*RESERVED, "a*b", "a"])
def test_every_door_refuses_a_public_column_that_is_called_like_one_of_the_reports(taken, tmp_path):
    design, told = (
        dn.Clusters(DOMAIN, [["a", "b"], ["c"]], 2.0),
        "cannot be named|both in clear and disguised|in no frame",
    )
    frame = people(**{taken: ["n", "y"] * (N // 2)})
    for library in (pa.table, pd.DataFrame, pl.DataFrame):
        with pytest.raises(InputError, match=told):
            design.randomize(library(frame.to_pydict()), keep=[taken])
    pq.write_table(frame, tmp_path / "p.parquet")
    with pytest.raises(InputError, match=told):
        randomize_table(tmp_path / "p.parquet", tmp_path / "r.parquet", design, [taken])
    if taken in READ:
        return
    held = pa.table(design.randomize(people(), source=dn.Seeded(1)).with_origin(PEOPLE).to_frame())
    widened = held.append_column(taken, pa.array([1] * N))
    with pytest.raises(InputError, match=told):
        dn.Reports(widened, design)
    pq.write_table(widened.replace_schema_metadata(dn.Reports(held, design).header.metadata()), tmp_path / "w.parquet")
    for read in (dn.read_reports, dn.open_reports):
        with pytest.raises(InputError, match=told):
            read(tmp_path / "w.parquet")


@pytest.mark.parametrize("taken", RESERVED)
def test_every_door_refuses_an_attribute_that_is_called_like_a_column_of_the_reports(taken):
    with pytest.raises(DesignError, match="kept for the columns of reports"):
        dn.Domain({taken: ["n", "y"]})
    for entry, choices in (("questions", 'kind = "yes-no"'), ("public", 'choices = ["n", "y"]')):
        with pytest.raises(SurveyError, match=rf"{entry}\[\d\]\.name: names that begin with 'dn_'"):
            parse_survey(f'{small_survey()}[[{entry}]]\nname = "{taken}"\ntext = "?"\n{choices}\n')


def test_questions_of_the_same_name_stay_apart(tmp_path):
    """An attribute may be called a*b; and the same may be asked in two ways."""
    domain = dn.Domain({"a": ["n", "y"], "b": ["n", "y"], "a*b": ["n", "y", "z"]})
    both = dn.Clusters(domain, [["a", "b"], ["a*b"]], 4.0)
    twice = dn.Design(domain, [dn.Question(("a",), dn.KRR(2, 1.0)), dn.Question(("a",), dn.Warner(0.8))], [[0], [1]])
    frame = pa.table({"a": ["n", "y"] * 90, "b": ["y", "n"] * 90, "a*b": ["z", "y", "n"] * 60})
    for design in (both, twice):
        reports = design.randomize(frame, source=dn.Seeded(1))
        for suffix in ("parquet", "csv", "sav", "dta"):
            back = dn.read_reports(reports.write(tmp_path / f"{design.kind}.{suffix}"))
            assert np.array_equal(back.answers, reports.answers), suffix
    assert None not in reports.labelled()["a"].to_pylist()


def test_a_kept_column_may_have_the_name_that_counts_have_in_arrow(tmp_path):
    pq.write_table(people(count_all=[1] * (N - 1) + [2]), tmp_path / "p.parquet")
    randomize_table(tmp_path / "p.parquet", tmp_path / "r.parquet", dn.Joint(DOMAIN, 1.0), ["count_all"])
    assert "1 combinations" in recognisable(tmp_path / "r.parquet", ["count_all"])


def test_reports_in_blocks_are_no_frame_alone():
    blocks = dn.Blocks(DOMAIN, 2, 2.0, block_size=60).randomize(people(), source=dn.Seeded(1))
    with pytest.raises(InputError, match=r"made in blocks.*read_reports"):
        dn.Reports(blocks.to_frame(), blocks.design)


def test_what_a_collector_wrote_is_read():
    design = dn.Clusters(DOMAIN, [["a", "b"], ["c"]], 2.0)
    frame = pa.table(design.randomize(people()).to_frame())
    for name, column in READ.items():
        frame = frame.append_column(name, pa.array(column))
    read = dn.Reports(frame, design)
    assert read.public_names == ("dn_words",)
    assert read.origin.stamp == "Simulated"

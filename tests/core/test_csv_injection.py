"""Labels that a spreadsheet would run: marked in every CSV file that is written, and read back as they were."""

from __future__ import annotations

import csv
import io

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.core.csv_injection import original, original_table, plain, plain_table
from deniable.core.provenance import PEOPLE
from deniable.files.write_batches import of_frame
from deniable.files.write_files import write_table
from deniable.web.api.results_endpoint import Results, ResultTable, results_csv

HOSTILE = ["=1+1", "+1+cmd|' /C calc'!A0", "-1+2", "@SUM(1)", "\t=1", "\r=1", "'=1", "''@x"]
HARMLESS = ["yes", "", "'tis", "5", "a=b", "ß", " =1"]
NUMBERS = ["-5", "+7", "-1.5e3", "-inf"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_would_be_run_is_marked(text):
    assert plain(text) == "'" + text
    assert original(plain(text)) == text


@pytest.mark.parametrize("text", [*HARMLESS, *NUMBERS])
def test_words_and_numbers_stay_as_they_are(text):
    assert plain(text) == original(text) == text


@given(st.text(alphabet="'=+-@\t\r1a", max_size=6))
def test_every_text_comes_back(text):
    assert original(plain(text)) == text
    assert plain(text) in (text, "'" + text)


def test_tables_are_marked_and_come_back_with_their_numbers():
    table = pa.table(
        {
            "=name": pa.array(["=1", None, "yes"]),
            "codes": pa.array([-1, 2, 3]),
            "shares": pa.array([-0.5, 1.0, None]),
            "sorts": pa.array(["@a", "b", "@a"]).dictionary_encode(),
            "large": pa.array(["+a", "b", "c"], pa.large_string()),
        }
    )
    marked = plain_table(table)
    assert marked.column_names[0] == "'=name"
    assert marked.to_pydict() == {
        "'=name": ["'=1", None, "yes"],
        "codes": [-1, 2, 3],
        "shares": [-0.5, 1.0, None],
        "sorts": ["'@a", "b", "'@a"],
        "large": ["'+a", "b", "c"],
    }
    assert original_table(marked).to_pydict() == table.to_pydict()


def test_exports_are_marked_and_read_back(tmp_path):
    people = pa.table({"habit": ["=1+1", "no"] * 50, "where": ["@north", "south"] * 50})
    design = dn.Independent({"habit": ["=1+1", "no"]}, epsilon=2.0)
    reports = design.randomize(people, keep=["where"], source=dn.Seeded(3))
    reports.write(tmp_path / "reports.csv")
    assert "'@north" in (tmp_path / "reports.csv").read_text()
    assert dn.read_reports(tmp_path / "reports.csv").to_frame().to_pydict() == reports.to_frame().to_pydict()
    write_table(of_frame(reports.labelled()), tmp_path / "labelled.csv")
    with (tmp_path / "labelled.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["habit"] for row in rows} == {"'=1+1", "no"}


def test_results_are_marked_and_their_numbers_are_numbers():
    cell = {"categories": ["=1+1", -5], "estimate": -0.25, "unbiased": -0.25, "std_error": 0.1, "low": -1.0, "high": 1}
    cell |= dict.fromkeys(("efficient", "unclipped_low", "unclipped_high"), -0.25)
    made = {"attributes": ["@a", "b"], "reports": 9, "method": "mle", "reason": "", "gap": None, "notes": []}
    table = msgspec.convert({**made, "cells": [cell, {**cell, "categories": [-5]}]}, ResultTable)
    told = {"survey": "s", "design": "d", "epsilon": 1.0, "reports": 9, "origin": PEOPLE.told, "level": 0.95}
    told |= {"open": True, "rejected": {}, "corrections": [], "tables": [], "wanted": [], "nearness": ""}
    told |= {"alarms": []}
    numbers = [{"wanted": "=mean(a)", "which": "", "reports": 9, "estimate": -2.5, "low": None, "high": 1.0}]
    read = msgspec.convert({**told, "numbers": numbers, "number_notes": ["=1+1"]}, Results)
    found = msgspec.structs.replace(read, tables=(table,))
    _, first, second, number, note = csv.reader(results_csv(found).splitlines())
    assert first[:4] == ["'@a * b", "'=1+1 * -5", "9", "-0.25"]
    assert second[1] == "-5"
    assert number[:7] == ["'=mean(a)", "", "9", "-2.5", "", "", "1.0"]
    assert note[:4] == ["", "'=1+1", "9", ""]


def cells_of(text):
    return {row[0] for row in csv.reader(io.StringIO(text, newline=""))}


def test_every_way_to_csv_marks_alike_and_keeps_a_text_in_its_row(tmp_path):
    # `to_csv` left a carriage return without quotes: what followed it was a row of its own, and a formula in it ran.
    texts = [*HOSTILE, *HARMLESS, *NUMBERS, "a\r=1+1", "a\n=1+1", 'a "b", c']
    reports = dn.Joint({"=x": texts}, 8.0).randomize({"=x": texts * 40}, source=dn.Seeded(1))
    write_table(of_frame(reports.labelled()), tmp_path / "labelled.csv")
    with (tmp_path / "labelled.csv").open(newline="") as file:
        written = cells_of(file.read())
    assert cells_of(dn.estimate(reports, "=x").to_csv()) == written == {"'=x", *map(plain, texts)}

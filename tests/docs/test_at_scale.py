"""The page on what large surveys cost computes from figures of the benchmark page, and from no older ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BENCHMARKS = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
PAGE = (DOCS / "explanation" / "at-scale.md").read_text(encoding="utf-8")


def ingest(server, batch):
    """Reports a CPU-second of the server, and the database's CPU beside it."""
    (row,) = re.findall(rf"^{server}, group commit +{batch} +([\d,]+) +[\d.]+ +([\d.]+|-) ", BENCHMARKS, re.MULTILINE)
    return row


def test_reports_a_day_are_those_of_the_measured_servers():
    (single, beside), (hundred, beside_hundred) = ingest("PostgreSQL", 1), ingest("PostgreSQL", 100)
    told = " ".join(PAGE.split())
    assert f"one report a request {single} with {beside}, a hundred a request {hundred} with {beside_hundred}" in told
    for rate, database in ((single, beside), (hundred, beside_hundred)):
        assert f"reports / {rate.replace(',', '_')} * (1 + {database}) / 86_400" in PAGE
    rate, _ = ingest("SQLite", 1)
    a_day = int(rate.replace(",", "")) * 86_400
    assert f"{rate} single reports a CPU-second there are {a_day / 1e9:.2f} billion a day" in told


@pytest.mark.parametrize("what", ["independent", "views"])
def test_rows_are_those_of_the_measured_files(what):
    (rate,) = re.findall(rf"^disguise, {what} +([\d.]+) ", BENCHMARKS, re.MULTILINE)
    assert f"{rate} million rows a CPU-second" in PAGE or f"{rate} with views" in PAGE

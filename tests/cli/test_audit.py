"""`deniable audit`: a bound on a file's design; a broken promise has its own exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deniable as dn

# An honest design is convicted with probability at most 1 - confidence.
ALMOST_SURE = ("--runs", "100000", "--confidence", "0.9999999")


@pytest.mark.parametrize("source", ["in/reports.parquet", "in/reports.csv", "in/reports.csv.design.json"])
def test_a_design_that_keeps_its_promise(source, run):
    result = run("audit", source, *ALMOST_SURE)
    assert result.exit_code == 0, result.output
    assert "is not contradicted" in result.stdout


def test_json(run):
    data = json.loads(run("audit", "in/reports.parquet", *ALMOST_SURE, "--json").stdout)
    assert 0 < data["lower_bound"] < data["epsilon"] <= 2
    assert data["violated"] is False


def test_a_broken_promise_has_its_exit_code(run, monkeypatch):
    monkeypatch.setattr(dn.Views, "epsilon", 0.1)
    result = run("audit", "in/reports.parquet", "--runs", "20000")
    assert result.exit_code == 6
    assert "VIOLATED" in result.stdout


def test_the_design_alone_will_do(run):
    Path("d.json").write_bytes(dn.read_reports("in/reports.parquet").design.canonical())
    assert run("audit", "d.json", *ALMOST_SURE).exit_code == 0

"""`deniable test`: the library's test, for one pair or all."""

from __future__ import annotations

import json

import pytest

import deniable as dn


def test_one_pair(run):
    result = run("test", "in/reports.parquet", "sex", "income", "--method", "wald", "--json")
    assert result.exit_code == 0, result.output
    found = dn.independence(dn.read_reports("in/reports.parquet"), "sex", "income", method="wald")
    assert json.loads(result.stdout)["pvalue"] == found.pvalue
    assert "p-value" in run("test", "in/reports.parquet", "sex", "income", "--method", "wald").stdout


def test_every_pair(run):
    result = run("test", "in/reports.parquet", "--method", "wald", "--json")
    pairs = json.loads(result.stdout)["pairs"]
    assert [(p["a"], p["b"]) for p in pairs] == [("sex", "income"), ("sex", "age"), ("income", "age")]
    assert pairs[0]["adjusted"] < 0.001
    assert "adjusted by holm" in run("test", "in/reports.parquet", "--method", "wald").stdout


def test_tests_that_do_not_hold_are_refused(run):
    result = run("test", "in/reports.parquet", "sex", "income", "--method", "pearson_raw")
    assert result.exit_code == 5
    assert "always rejects" in result.stderr


def test_weighted_tests_are_rao_and_scott_s(run):
    drawn = ("--weights", "weight", "--strata", "region", "--clusters", "block")
    assert "no public column 'block'" in run("test", "in/reports.parquet", "sex", "income", *drawn).output
    drawn = ("--weights", "weight", "--clusters", "school")
    found = json.loads(run("test", "in/reports.parquet", "sex", "income", *drawn, "--json").stdout)
    direct = dn.independence(
        dn.read_reports("in/reports.parquet"), "sex", "income", weights="weight", clusters="school"
    )
    assert found["pvalue"] == pytest.approx(direct.pvalue)
    assert "Rao and Scott" in found["method"]
    pairs = json.loads(run("test", "in/reports.parquet", *drawn, "--json").stdout)["pairs"]
    assert len(pairs) == 3
    refused = run("test", "in/reports.parquet", "sex", "income", "--method", "lrt", *drawn)
    assert "takes respondents for independent draws" in refused.output

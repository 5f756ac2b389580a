"""`deniable test`: the library's test, for one pair or all."""

from __future__ import annotations

import json

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

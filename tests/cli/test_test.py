"""`deniable test`: the library's test, for one pair or all."""

from __future__ import annotations

import json

import pytest

import deniable as dn
from exams import TOGETHER, answered


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


def test_groups_are_compared_or_tested_one_by_one(run):
    reports = answered(TOGETHER)
    reports.write("exams.parquet")
    compared = json.loads(run("test", "exams.parquet", "cheated", "--by", "faculty", "--json").stdout)
    assert compared["pvalue"] == dn.homogeneity(reports, "cheated", by="faculty").pvalue
    shown = run("test", "exams.parquet", "cheated", "--by", "faculty", "--language", "de").stdout
    assert shown.startswith("Haben Sie in einer Prüfung betrogen? (cheated); Ihre Fakultät (faculty)\n")
    each = json.loads(run("test", "exams.parquet", "cheated", "stress", "--by", "faculty", "--json").stdout)
    for row, (group, part) in zip(each["groups"], reports.groups("faculty"), strict=True):
        assert row["faculty"] == group
        assert row["pvalue"] == dn.independence(part, "cheated", "stress").pvalue
    assert "adjusted by holm" in run("test", "exams.parquet", "cheated", "stress", "--by", "faculty").stdout


def test_what_is_public_makes_groups(run):
    answered(TOGETHER).write("exams.parquet")
    assert "cheated --by faculty" in run("test", "exams.parquet", "cheated", "faculty").stderr
    assert "--by goes with one attribute or two" in run("test", "exams.parquet", "--by", "faculty").stderr


def test_the_same_reports_give_the_same_p(run):
    answered('[design]\nkind = "joint"').write("exams.parquet")
    one, again = (run("test", "exams.parquet", "cheated", "stress", "--replicates", "99").stdout for _ in range(2))
    assert one == again

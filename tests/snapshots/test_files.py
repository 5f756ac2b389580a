"""What the command line makes of a file of reports: estimates, a report, scripts, files for other programs.

CSV is what is read and written, because its bytes are the reports and nothing else: a Parquet file has its library's
version in it, and a file for SPSS the time.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pyreadstat
import pytest
from command_line import deniable
from people import DESIGNS, file_name, reports_of
from stored import normal, sha256, shortened

WHOLE, READ = "views", ("estimate", "report.md", "export -o analysis.R")  # what is stored however long
SCRIPTS = ("analysis.R", "analysis.py", "analysis.do", "analysis.ipynb")


def read(name):
    return Path(name).read_text(encoding="utf-8")


def outputs(design):
    """What each command prints or writes, by name, in an empty folder."""
    reports_of(design).write("reports.csv")
    yield "reports.csv", read("reports.csv")
    yield "reports.csv.design.json", read("reports.csv.design.json")
    for said in (["--json"], ["--by", "z", "--table", "a", "--json"], []):
        yield " ".join(["estimate", *said]), deniable("estimate", "reports.csv", *said)
    deniable("report", "reports.csv", "-o", "report.md", "--by", "z", "--replicates", "19")
    yield "report.md", read("report.md")
    yield "export -o design.json", exported("design.json")
    yield "export -o labelled.csv --labelled", exported("labelled.csv", "--labelled")
    yield "export -o scored.csv", exported("scored.csv")
    for script in SCRIPTS:
        yield f"export -o {script}", exported(script)


def exported(name, *options):
    refused = deniable("export", "reports.csv", "-o", name, *options).startswith("exit")
    return deniable("export", "reports.csv", "-o", name, *options) if refused else read(name)


@pytest.mark.parametrize("design", DESIGNS)
def test_every_output_is_what_it_was(stored, design, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    for name, text in outputs(design):
        is_whole = design == WHOLE and name.startswith(READ)
        told.append(f"-- {name}\n{normal(text) if is_whole else shortened(normal(text))}\n")
    stored.holds(file_name(design), "".join(told))


def test_files_of_other_programs_hold_what_they_held(stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reports_of(WHOLE).write("reports.csv")
    told = []
    for name, reader in (("a.sav", pyreadstat.read_sav), ("a.dta", pyreadstat.read_dta)):
        deniable("export", "reports.csv", "-o", name)
        rows, about = reader(name)
        told += [name, normal(rows.describe().to_csv()), json.dumps(about.column_names_to_labels, indent=1)]
        told += [json.dumps(about.variable_value_labels, indent=1), read(f"{name}.design.json")]
    deniable("export", "reports.csv", "-o", "a.parquet")
    table = pq.read_table("a.parquet")
    told += ["a.parquet", str(table.schema.remove_metadata()), normal(table.to_pandas().describe().to_csv())]
    told += [
        f"{name.decode()}: {sha256(normal(text.decode()))}" for name, text in sorted(table.schema.metadata.items())
    ]
    stored.holds("other-programs", "\n".join(told))


def test_nothing_else_is_stored(stored):
    stored.holds_no_more_than([*map(file_name, DESIGNS), "other-programs"])

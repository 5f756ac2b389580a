"""Broken files and flags, one after the other: each gets the message a person needs, and no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn

TO = ("--domain", "in/domain.toml", "--epsilon", "2", "-o", "out.parquet")


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")


def cut_short():
    content = Path("in/people.parquet").read_bytes()
    Path("cut.parquet").write_bytes(content[: len(content) // 2])


def ragged_csv():
    write("ragged.csv", "sex,income,age\nF,<=50K,young\nF,<=50K\n")


def empty_csv():
    write("empty.csv", "")


def renamed_column():
    pq.write_table(pq.read_table("in/people.parquet").rename_columns({"sex": "Sex"}), "p.parquet")


def gap():
    frame = pd.read_parquet("in/people.parquet")
    frame.loc[3, "income"] = None
    frame.to_parquet("p.parquet")


def stranger():
    frame = pd.read_parquet("in/people.parquet")
    frame.loc[3, "income"] = "none of your business"
    frame.to_parquet("p.parquet")


def wrong_type():
    frame = pd.read_parquet("in/people.parquet")
    frame["income"] = range(len(frame))
    frame.to_parquet("p.parquet")


def no_design():
    pq.write_table(pq.read_table("in/reports.parquet").replace_schema_metadata(None), "r.parquet")


def edited_design():
    table = pq.read_table("in/reports.parquet")
    metadata = dict(table.schema.metadata)
    metadata[b"deniable.design"] = metadata[b"deniable.design"].replace(b"young", b"child")
    pq.write_table(table.replace_schema_metadata(metadata), "r.parquet")


def newer_file():
    table = pq.read_table("in/reports.parquet")
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"deniable.format": b"9"}), "r.parquet")


def impossible_codes():
    table = pq.read_table("in/reports.parquet")
    codes = pa.array([77] * len(table), pa.uint8())
    pq.write_table(table.set_column(1, "dn_answer_0", codes), "r.parquet")


def lone_csv():
    write("r.csv", Path("in/reports.csv").read_text())


def broken_sidecar():
    lone_csv()
    write("r.csv.design.json", "{")


def half_a_design():
    fields = json.loads(Path("in/reports.csv.design.json").read_text())
    del fields["sha256"]
    lone_csv()
    write("r.csv.design.json", json.dumps(fields))


def latin1_domain():
    Path("d.toml").write_bytes('größe = ["klein", "groß"]'.encode("latin-1"))


def text_domain():
    write("d.toml", 'sex = "F, M"')


def lonely_category():
    write("d.toml", 'sex = ["F"]')


def taken_name():
    Path("out.parquet").write_bytes(b"something else")


def broken_form():
    write("form.json", '{"pages": [')


def other_json():
    write("form.json", '{"name": "a package"}')


def free_text_form():
    write("form.json", '{"elements": [{"type": "comment", "name": "why"}]}')


def choices_no_list():
    write("form.json", '{"elements": [{"type": "radiogroup", "name": "smokes", "choices": "yes, no"}]}')


def broken_excel():
    write("form.xlsx", "no Excel")


def excel_without_survey():
    import openpyxl

    openpyxl.Workbook().save("form.xlsx")


def existing_survey():
    write("survey.toml", "precious")
    write("form.json", '{"elements": [{"type": "boolean", "name": "smokes"}]}')


def broken_survey():
    write("survey.toml", 'format = 1\nquestions = "none"\n')


def folder():
    Path("folder").mkdir()


def nothing():
    pass


def no_reports():
    pq.write_table(pq.read_table("in/reports.parquet").slice(0, 0), "r.parquet")


CASES = [
    (
        no_reports,
        ("estimate", "r.parquet"),
        5,
        "sex: 0 of 30 answers needed; income: 0 of 30 answers needed; age: 0 of 30 answers needed",
    ),
    (no_reports, ("test", "r.parquet", "sex", "age"), 5, "there are no reports about 'sex', 'age' here"),
    (nothing, ("randomize", "nobody.parquet", *TO), 3, "there is no file nobody.parquet"),
    (nothing, ("randomize", "in/domain.toml", *TO), 3, "a .parquet or a .csv file"),
    (cut_short, ("randomize", "cut.parquet", *TO), 3, "cut.parquet is not a readable Parquet file"),
    (ragged_csv, ("randomize", "ragged.csv", *TO), 3, "row 2, 2 columns where its head names 3"),
    (empty_csv, ("randomize", "empty.csv", *TO), 3, "Empty CSV file"),
    (folder, ("randomize", "folder", *TO), 3, "is a folder"),
    (renamed_column, ("randomize", "p.parquet", *TO), 3, "no column 'sex', but one called 'Sex'"),
    (gap, ("randomize", "p.parquet", *TO), 3, "prefer not to say"),
    (stranger, ("randomize", "p.parquet", *TO), 3, "Add the category to the domain"),
    (wrong_type, ("randomize", "p.parquet", *TO), 3, "not among its categories '<=50K', '>50K'"),
    (taken_name, ("randomize", "in/people.parquet", *TO), 6, "already there"),
    (
        nothing,
        ("randomize", "in/people.parquet", *TO, "--keep", "planet"),
        3,
        "nothing to keep under that name: no column 'planet'",
    ),
    (nothing, ("randomize", "in/people.parquet", *TO, "--keep", "sex"), 3, "both in clear and disguised"),
    (nothing, ("randomize", "in/people.parquet", *TO, "--attribute", "shoe"), 3, "no attribute 'shoe'"),
    (nothing, ("randomize", "in/people.parquet", *TO, "--infer-domain"), 3, "and not both"),
    (nothing, ("randomize", "in/people.parquet", "--epsilon", "2", "-o", "o.parquet"), 3, "give --domain"),
    (nothing, ("randomize", "in/people.parquet", *TO[:3], "-1", *TO[4:]), 4, "it must be above 0"),
    (nothing, ("randomize", "in/people.parquet", *TO[:3], "much", *TO[4:]), 2, "not a valid float"),
    (nothing, ("randomize", "in/people.parquet", *TO[:3], "40", *TO[4:]), 4, "or choose another --design"),
    (nothing, ("randomize", "in/people.parquet", *TO[:-1], "out.csv"), 3, "a .parquet file, not to 'out.csv'"),
    (nothing, ("randomize", "in/people.parquet", *TO, "--design", "oracle"), 2, "'oracle' is not one of"),
    (nothing, ("randomize", "in/people.parquet", *TO, "--design", "clusters"), 3, "needs --cluster: The attributes"),
    (nothing, ("randomize", "in/people.parquet", *TO, "--cluster", "sex,age"), 3, "belongs to --design clusters"),
    (nothing, ("randomize", "in/people.parquet", *TO, "--seed", "1"), 2, "No such option"),
    (latin1_domain, ("plan", "d.toml", "--epsilon", "1", "--n", "9"), 3, "d.toml is not a TOML file"),
    (text_domain, ("plan", "d.toml", "--epsilon", "1", "--n", "9"), 3, 'such as sex = ["no", "yes"]'),
    (lonely_category, ("plan", "d.toml", "--epsilon", "1", "--n", "9"), 4, "at least two are needed"),
    (no_design, ("estimate", "r.parquet"), 3, "does not say by which design"),
    (edited_design, ("estimate", "r.parquet"), 4, "the design was altered"),
    (newer_file, ("estimate", "r.parquet"), 3, "Upgrade with pip"),
    (impossible_codes, ("estimate", "r.parquet"), 3, "Is it the design these reports were made by?"),
    (lone_csv, ("estimate", "r.csv"), 3, "Put the two files side by side"),
    (broken_sidecar, ("estimate", "r.csv"), 3, "r.csv.design.json cannot be read"),
    (half_a_design, ("estimate", "r.csv"), 3, "does not give its design's hash"),
    (nothing, ("estimate", "in/people.parquet"), 3, "does not say by which design"),
    (nothing, ("estimate", "in/reports.parquet", "--table", "sex,shoe"), 3, "no attribute 'shoe'"),
    (nothing, ("estimate", "in/reports.parquet", "--table", "sex,,age"), 3, "with commas between them"),
    (nothing, ("estimate", "in/reports.parquet", "--table", "sex,sex"), 4, "named twice"),
    (nothing, ("estimate", "in/reports.parquet", "--by", "planet"), 3, "no public column 'planet'"),
    (nothing, ("estimate", "in/reports.parquet", "--method", "guess"), 3, "there is no method 'guess'"),
    (nothing, ("estimate", "in/reports.parquet", "--level", "95"), 2, "not in the range"),
    (nothing, ("estimate", "in/reports.parquet", "--plot", "p.png"), 3, "written to .svg files"),
    (nothing, ("test", "in/reports.parquet", "sex"), 3, "at least two attributes"),
    (nothing, ("test", "in/reports.parquet", "sex", "shoe"), 3, "no attribute 'shoe'"),
    (nothing, ("audit", "in/reports.parquet", "--runs", "5"), 2, "not in the range"),
    (nothing, ("export", "in/reports.parquet", "-o", "r.xlsx"), 3, "reports are written to"),
    (folder, ("estimate", "folder"), 3, "_design.json"),
    (nothing, ("new", "--from", "form.json"), 3, "there is no file form.json"),
    (nothing, ("new", "--from", "in/people.csv"), 3, "from .json (SurveyJS) or .xlsx (XLSForm)"),
    (broken_form, ("new", "--from", "form.json"), 3, "form.json is not JSON"),
    (other_json, ("new", "--from", "form.json"), 3, "not a SurveyJS questionnaire: it has neither pages"),
    (free_text_form, ("new", "--from", "form.json"), 3, "offer a list of answers"),
    (choices_no_list, ("new", "--from", "form.json"), 3, "'choices' of 'smokes' must be a list"),
    (broken_excel, ("new", "--from", "form.xlsx"), 3, "form.xlsx is not a readable Excel file"),
    (excel_without_survey, ("new", "--from", "form.xlsx"), 3, "no sheet named survey"),
    (existing_survey, ("new",), 3, "is not overwritten; choose another name, or say --force"),
    (existing_survey, ("new", "--from", "form.json"), 3, "survey.toml is there already"),
    (existing_survey, ("new", "--from", "form.json", "-o", "s.toml", "--epsilon", "-1"), 3, "epsilon"),
    (nothing, ("new", "a.toml", "-o", "b.toml"), 3, "two files to write"),
    (nothing, ("new", "--epsilon", "1"), 3, "--epsilon goes with --from"),
    (nothing, ("new", "no-such-folder/survey.toml"), 3, "No such file or directory"),
    (nothing, ("plan", "in/domain.toml", "--n", "100"), 3, "say it, as --epsilon 2"),
    (nothing, ("plan", "nothing.toml", "--n", "100", "--epsilon", "1"), 3, "there is no domain file nothing.toml"),
    (nothing, ("plan", "in/domain.toml", "--n", "0", "--epsilon", "1"), 2, "not in the range"),
    (nothing, ("plan", "in/domain.toml", "--n", "9", "--epsilon", "1", "--error", "0"), 3, "is above 0"),
    (nothing, ("plan", "in/domain.toml", "--n", "9", "--epsilon", "1", "--plot", "a.png"), 3, "written to .svg"),
    (broken_survey, ("plan", "survey.toml", "--n", "9"), 3, "questions"),
    (nothing, ("serve", "nothing.toml"), 3, "nothing.toml cannot be read"),
    (nothing, ("simulate", "http://127.0.0.1:9"), 8, "127.0.0.1:9"),
    (nothing, ("report", "in/reports.parquet", "-o", "in/people.csv/r.html"), 3, "people.csv"),
]


ADDRESS = "s3://me:hidden@bucket/x"
ON_THIS_MACHINE = [
    (("report", "in/reports.parquet", "-o", f"{ADDRESS}.html"), "-o"),
    (("estimate", "in/reports.parquet", "--plot", f"{ADDRESS}.svg"), "--plot"),
    (("estimate", "in/reports.parquet", "--words", f"{ADDRESS}.toml"), "--words"),
    (("plan", "in/domain.toml", "--n", "9", "--epsilon", "1", "--plot", f"{ADDRESS}.svg"), "--plot"),
    (("plan", f"{ADDRESS}.toml", "--n", "9"), "FILE"),
    (("new", f"{ADDRESS}.toml"), "PATH"),
    (("graph", "in/people.csv", "--csv", f"{ADDRESS}.csv"), "--csv"),
    (("backup", "in", f"{ADDRESS}.sqlite"), "FILE"),
    (("serve", "survey.toml", "--data", "postgresql://me:hidden@host/x"), "--data"),
    (("randomize", "postgresql://me:hidden@host/x", *TO), "TABLE"),
    (("audit", "https://me:hidden@host/x.parquet"), "FILE"),
    (("synthesize", "in/reports.parquet", "-o", "https://me:hidden@host/x.csv"), "-o"),
    (("export", "in/reports.parquet", "-o", "postgresql://me:hidden@host/x.csv"), "-o"),
]


@pytest.mark.parametrize(("arguments", "parameter"), ON_THIS_MACHINE)
def test_an_address_is_not_taken_for_a_folder_of_that_name(arguments, parameter, run):
    result = run(*arguments)
    assert result.exit_code == 3, result.output
    assert f"Error: {parameter} lies on this machine" in result.stderr
    assert "Name a path here" in result.stderr
    assert "hidden" not in result.output
    assert [path.name for path in Path().iterdir()] == ["in"]


@pytest.mark.parametrize(("prepare", "arguments", "code", "told"), CASES, ids=range(len(CASES)))
def test_the_message_says_what_to_do(prepare, arguments, code, told, run):
    prepare()
    result = run(*arguments)
    assert result.exit_code == code, (result.exit_code, result.output)
    assert told in " ".join(result.stderr.split()), result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)


def test_there_are_at_least_twenty_kinds():
    assert len(CASES) >= 20


def test_no_half_made_file_is_left_where_a_whole_one_should_be(run):
    stranger()
    run("randomize", "p.parquet", *TO)
    assert not Path("out.parquet").exists()
    with pytest.raises(dn.DeniableError):
        dn.read_reports("out.parquet")

"""Every output of the same reports states the same numbers, intervals and warnings, whatever the design."""

from __future__ import annotations

import csv
import io
import json
import warnings
from functools import cache
from html import escape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from msgspec import structs

import deniable as dn
from chequered import is_tried
from deniable.cli.app import app
from deniable.core.labels import Labels
from deniable.core.provenance import PEOPLE
from deniable.core.rows import NUMBERS, SHOWN
from deniable.core.summary import Ends, number
from deniable.errors import DeniableError, InputError
from deniable.estimation.notes.refused import Refused, shown
from deniable.inference.numbers.aim_estimates import told_aims, wanted_numbers
from deniable.reporting.markdown import markdown
from deniable.reporting.report_file import document
from deniable.reporting.scripts.write_script import script_tables, write_script
from deniable.reporting.survey_results import survey
from deniable.web.api.results_endpoint import ResultOrigin, result_table, results_csv
from deniable.web.dashboard.page_data import table_of
from every_design import answered, every_design

N = 240
DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
DESIGNS = every_design(DOMAIN, N, block_size=60)
AIMS = {
    "b": ("mean(b)", "quantiles(b; 0.25 0.5)", "cdf(b)", "ranges(b; 1..2)"),
    "a": ("mean(a; scores 0 1)",),
}
TOLD = ("estimate", "low", "high")


@cache
def collected(name):
    """Reports, as people sent them; what the library says of every attribute that they tell, and of wanted numbers."""
    design, rng = DESIGNS[name], np.random.default_rng(2)
    a, b = rng.integers(0, 2, N), rng.integers(0, 3, N)
    people = pa.table({"a": np.array(["no", "yes"])[a], "b": b, "c": np.array(["no", "yes"])[a ^ (b > 1)]})
    people = people.select([column for column in people.column_names if column in design.domain])
    aims = [dn.read_wanted(aim) for attribute, some in AIMS.items() if attribute in design.domain for aim in some]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reports = design.randomize(answered(people, design), source=dn.Seeded(1)).with_origin(PEOPLE)
        reports = reports.with_labels(Labels(aims=tuple(map(str, aims))))
    found = {}
    for attribute in design.domain:
        try:
            found[attribute] = dn.estimate(reports, attribute)
        except DeniableError:
            assert not design.covers([attribute]), attribute
    told = {one: shown(reports, one.attributes, lambda one=one: wanted_numbers(reports, [one])) for one in aims}
    return SimpleNamespace(reports=reports, found=found, aims=told)


@pytest.fixture(params=[name for place, name in enumerate(DESIGNS) if is_tried(place, 0)])
def case(request, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return collected(request.param)


def said(found):
    """What must be known of an estimate, but for how many reports there are."""
    return [str(note) for note in found.notes()[1:]]


def stated(rows, names=NUMBERS):
    return [[*row.numbers(names).values()] for row in rows]


def test_results_and_their_csv_state_what_the_library_says(case):
    tables = tuple(result_table(found, 0.95) for found in case.found.values())
    nothing = {"numbers": (), "number_notes": (), "nearness": "", "alarms": (), "corrections": ()}
    origin = ResultOrigin(**PEOPLE.told)
    sent = SimpleNamespace(origin=origin, tables=tables, reports=N, **nothing)
    lines = list(csv.DictReader(io.StringIO(results_csv(sent))))
    for table, (name, found) in zip(tables, case.found.items(), strict=True):
        assert [[structs.asdict(cell)[each] for each in NUMBERS] for cell in table.cells] == stated(found.rows())
        assert list(table.notes[1:-1]) == said(found)
        own = [line for line in lines if line["attributes"] == name]
        numbers = [[float(line[each]) if line[each] else None for each in NUMBERS] for line in own if line["estimate"]]
        assert numbers == stated(found.rows())
        assert [line["categories"] for line in own if not line["estimate"]] == said(found)


def test_the_dashboard_states_what_the_library_says(case):
    for found in case.found.values():
        view = table_of(case.reports, found)
        assert [[getattr(cell, each) for each in SHOWN] for cell in view.rows] == stated(found.rows(), SHOWN)
        assert list(view.notes[1 : 1 + len(said(found))]) == said(found)
        own = found.summary().rows()
        assert [{heading: row[heading] for heading in own[0]} for row in view.summary(0.95).rows()] == own


def test_the_command_line_states_what_the_library_says(case):
    case.reports.write("reports.parquet")
    done = CliRunner().invoke(app, ["estimate", "reports.parquet", "--json"])
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    tables = {table["attributes"][0]: table for table in made["tables"]}
    for name, found in case.found.items():
        table = tables[name]
        assert [[cell[each] for each in NUMBERS] for cell in table["cells"]] == stated(found.rows())
        assert table["notes"] == said(found)
    for one, told in case.aims.items():
        own = [row for row in made["numbers"] if row["wanted"] == str(one)]
        if isinstance(told, Refused):
            assert [row["refused"] for row in own] == [told.reason]
        else:
            assert [[row[each] for each in TOLD] for row in own] == stated(told.rows, TOLD)
            assert all(row.get("notes", []) == list(map(str, told.notes)) for row in own)


def test_reports_notebooks_and_frames_state_what_the_library_says(case):
    estimates, about = survey(case.reports, [[name] for name in case.found], replicates=19)
    text = markdown(document("Same", case.reports.design, estimates, **about)).replace("\\", "")
    assert [one.attributes[0] for one in estimates if not isinstance(one, Refused)] == list(case.found)
    for found in case.found.values():
        frame, page = found.to_frame(), found._repr_html_()
        for row in found.summary().rows():
            assert all(each in text and escape(each) in page for each in row.values())
        np.testing.assert_array_equal(
            np.array([frame[name].to_numpy() for name in NUMBERS]).T, np.array(stated(found.rows()), dtype=float)
        )
        assert all(escape(note) in page for note in said(found))
        assert all(note in text for note in found.notes(looked_at=len(case.found))[1:])
    for told in case.aims.values():
        rows = [told.reason] if isinstance(told, Refused) else [number(row.estimate) for row in told.rows]
        rows += [] if isinstance(told, Refused) else [str(Ends(row.low, row.high)) for row in told.rows]
        assert all(each in text for each in rows)


def test_scripts_state_what_the_library_says(case):
    try:
        made, _ = script_tables(case.reports)
    except InputError:  # no report by itself tells a cell: nothing is written then
        return
    for table in made:
        found = case.found[table.attributes[0]]
        own = [[row.estimate, row.efficient, row.std_error, row.low, row.high] for row in found.rows()]
        # They climb further, to digits that others can check; shares are shown in tenths of a percent.
        np.testing.assert_allclose(table.found, own, atol=1e-3)
        assert list(table.notes) == said(found)
    for file in (Path("x.R"), Path("x.py")):
        write_script(case.reports, file)
        text = file.read_text("utf-8")
        assert all(note in text for table in made for note in table.notes)
        assert all(f"# {line}" in text for line in told_aims(case.reports).lines)

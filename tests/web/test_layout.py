"""One layout: terminal, notebook, report and dashboard show the same columns and the same texts of a result."""

from __future__ import annotations

import html
import re
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

import deniable as dn
from deniable.cli.terminal import laid_out
from deniable.core.labels import UNKNOWN
from deniable.reporting.report_file import report
from deniable.web.dashboard.dashboard import templates
from deniable.web.dashboard.page_data import table_of

DOMAIN = dn.Domain({"smokes": ["no", "yes"], "low": ["<here>", "there"]})
TRUTH = dn.Table(DOMAIN, np.array([[0.6, 0.399], [0.0005, 0.0005]]))
DESIGN = dn.Joint(DOMAIN, epsilon=2.0)


@pytest.fixture(scope="module")
def reports():
    codes = np.random.default_rng(3).choice(4, size=900, p=TRUTH.values.ravel())
    people = {name: codes // size % 2 for name, size in (("smokes", 2), ("low", 1))}
    labelled = {name: np.array(DOMAIN[name].categories)[column].tolist() for name, column in people.items()}
    import pyarrow as pa

    return DESIGN.randomize(pa.table(labelled), source=dn.Seeded(4))


@pytest.fixture(scope="module")
def found(reports):
    return dn.estimate(reports, ["smokes", "low"])


def on_the_terminal(_reports, found):
    out = StringIO()
    Console(file=out, width=200).print(laid_out(found.summary()))
    return out.getvalue()


def in_a_notebook(_reports, found):
    return found._repr_html_()


def in_print(_reports, found):
    return str(found)


def in_a_report(_reports, found):
    return report("A title", DESIGN, [found])


def on_the_dashboard(reports, found):
    page = templates().from_string('{% from "macros.html" import shares %}{{ shares(table, 0.95, labels) }}')
    return page.render(table=table_of(reports, found), labels=UNKNOWN)


@pytest.mark.parametrize("view", [on_the_terminal, in_a_notebook, in_print, in_a_report, on_the_dashboard])
def test_every_view_shows_the_summary(reports, found, view):
    between = r"\s{2,}|\n" if view in (on_the_terminal, in_print) else r"<[^>]*>"
    shown = [html.unescape(word).strip() for word in re.split(between, view(reports, found))]
    summary = found.summary()
    assert list(summary.columns) == ["smokes", "low", "estimate", "std_error", "95% interval"]
    assert [name for name in summary.columns if name not in shown] == []
    for row in summary.rows():
        assert [text for text in row.values() if text not in shown] == []

"""A number has one definition: what the command line tells by a text is what the library's function says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.aims.aim import AIMS
from deniable.cli.app import app
from deniable.core.provenance import PEOPLE
from deniable.device.protocol.answer_encoding import SKIPPED

DOMAIN = dn.Domain(
    {
        "mood": [1, 2, 3, 4],
        "age": ["18 to < 30", "30 to < 50", "50 to < 90"],
        "open": ["< 20", "20 to < 40", ">= 40"],
        "trust": ["low", "some", "full", SKIPPED],
        "falls": ["3", "2", "1", SKIPPED],
    }
)
COUNTS = {"trust": [0, 1, 2, None], "open": [10, 30, 50]}  # what categories count as that nobody gave a number
# A text, and the library's number with its interval.
TEXTS = {
    **{f"mean({name})": lambda r, n=name: dn.mean(r, n, scores=COUNTS.get(n)) for name in DOMAIN},
    "mean(trust; scores 1 2 4 8)": lambda r: dn.mean(r, "trust", scores=[1, 2, 4, 8]),
    **{
        f"quantiles({name}; 0.25 0.5)": lambda r, n=name: dn.quantile(
            r, [0.25, 0.5], n, scores=COUNTS["trust"] if n == "trust" else None
        )
        for name in DOMAIN
    },
    "quantiles(open; 0.5; edges 0 20 40 90)": lambda r: dn.quantile(r, [0.5], "open", edges=[0, 20, 40, 90]),
    "quantiles(mood; 0.3; edges 0 1 2 3 4)": lambda r: dn.quantile(r, [0.3], "mood", edges=[0, 1, 2, 3, 4]),
    **{f"cdf({name})": lambda r, n=name: dn.cdf(r, n) for name in DOMAIN},
    "ranges(mood; 2..3)": None,
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    rng, n = np.random.default_rng(5), 900
    people = {name: rng.choice(np.array(v.categories, dtype=object), n).tolist() for name, v in DOMAIN.items()}
    sent = dn.Views(DOMAIN, 1, 2.0).randomize(people, source=dn.Seeded(1)).with_origin(PEOPLE)
    path = tmp_path_factory.mktemp("wanted") / "reports.parquet"
    sent.write(path)
    return sent, path


def told(path, text):
    ran = CliRunner().invoke(app, ["estimate", str(path), "--table", text, "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)["numbers"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_command_line_says_what_the_library_says(text, reports):
    sent, path = reports
    rows = told(path, text)
    if TEXTS[text] is None:  # no function tells a range: the estimate does
        found = dn.estimate(sent, "mood")
        assert rows[0]["estimate"] == pytest.approx(found.values[1:3].sum(), abs=1e-9)
        assert 0 <= rows[0]["low"] <= rows[0]["estimate"] <= rows[0]["high"] <= 1
        return
    found = TEXTS[text](sent)
    low, high = found.interval()
    values = [found.value] if hasattr(found, "value") else found.values
    for key, expected in (("estimate", values), ("low", low), ("high", high)):
        finite = [None if np.isinf(end) else end for end in np.ravel(expected).tolist()]  # as JSON has them
        assert [row[key] for row in rows] == pytest.approx(finite, abs=1e-9)


def test_every_kind_of_number_is_tried():
    assert {text.split("(")[0] for text in TEXTS} == {kind for kind in AIMS if AIMS[kind].estimator}


def test_what_categories_count_as_is_said(reports):
    _, path = reports
    printed = CliRunner().invoke(app, ["estimate", str(path), "--table", "quantiles(trust; 0.5)"]).stdout
    assert "0.5 (some)" in printed
    assert "low counts as 0, some counts as 1, full counts as 2" in " ".join(printed.split())

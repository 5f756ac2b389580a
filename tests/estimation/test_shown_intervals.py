"""One point and one interval: together, in the range, and the same wherever an estimate is shown."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.cli.estimate import _table as command_line
from deniable.core.rows import SHOWN
from deniable.core.summary import share
from deniable.reporting.report_file import _shares as report
from deniable.reporting.scripts.write_script import script_tables as script
from deniable.web.api.results_endpoint import result_table as results
from deniable.web.dashboard.page_data import table_of as dashboard

DOMAIN = dn.Domain({"smokes": ["no", "yes"]})


def reports(yes, n=50):
    """Disguised answers as they came, so many of them "yes"."""
    return dn.Reports(pa.table({"dn_answer_smokes": [0] * (n - yes) + [1] * yes}), dn.Joint(DOMAIN, 1.0))


@pytest.mark.parametrize("yes", [0, 1, 11, 13, 25, 37, 50])
def test_every_medium_shows_the_same_point_and_interval(yes):
    collected = reports(yes)
    found = dn.estimate(collected, "smokes")
    rows = found.rows()
    shown = [[getattr(row, name) for row in rows] for name in SHOWN]
    there = [share(rows[1].estimate), share(rows[1].std_error, 2), rows[1].interval]
    assert found.summary().rows()[1] == {
        "smokes": "yes",
        **dict(zip(("estimate", "std_error", "95% interval"), map(str, there), strict=True)),
    }
    frame = found.to_frame()
    views = [
        [msgspec.to_builtins(cell) for cell in each]
        for each in (results(found, 0.95).cells, dashboard(collected, found).rows)
    ]
    cells = [*views, command_line(found, 0.95)["cells"]]
    for name, values in zip(SHOWN, shown, strict=True):
        np.testing.assert_array_equal(frame.column(name).to_numpy(), values)
        for medium in cells:
            assert [cell[name] for cell in medium] == [None if np.isnan(value) else value for value in values]
    assert report(found, 0.95)[1] == f"{there[0]} ({there[2]})"
    np.testing.assert_allclose(script(collected)[0][0].found[:, [0, 2, 3, 4]].T, shown, atol=1e-6)
    grouped = dn.estimate([collected, collected], "smokes")
    assert (grouped.std_error < found.std_error).all()


@pytest.mark.parametrize("method", ["mle", "norm_sub", "wls", "shrink"])
@pytest.mark.parametrize("yes", range(0, 51, 5))
def test_the_point_lies_in_the_interval_and_both_in_the_range(yes, method):
    found = dn.estimate(reports(yes), "smokes", method)
    (low, high), unclipped = found.interval(), found.interval(clip=False)
    outside = unclipped.high < 0, unclipped.low > 1
    np.testing.assert_array_equal(np.isnan(low), outside[0] | outside[1])
    seen = ~np.isnan(low)
    assert ((low >= 0) & (low <= found.values) & (found.values <= high) & (high <= 1))[seen].all()
    kept = seen & (unclipped.low > 0) & (unclipped.low < found.values)
    assert (low[kept] == unclipped.low[kept]).all()
    # Reports that are all alike, or nearly, have errors too: those of a share of nobody.
    q = 1 / (1 + np.e)
    assert (found.std_error > 0.8 * np.sqrt(q * (1 - q) / 50) / (1 - 2 * q)).all()
    assert ("none is shown" in str(found)) == (~seen).any()
    told = {True: "the interval would end below 0%", False: "the interval would begin above 100%"}
    reasons = ["" if there else told[bool(below)] for there, below in zip(seen, outside[0], strict=True)]
    assert [(row.n, row.reason, row.stamp) for row in found.rows()] == [(50, reason, "") for reason in reasons]
    # Of 50 honest reports so few yes come in less than one survey of a thousand, of two categories looked at.
    assert ("than chance alone explains" in str(found)) == (binom.cdf(min(yes, 50 - yes), 50, q) * 2 < 1e-3)


def test_what_is_not_clipped_is_the_inverse_of_the_reports_and_its_score_interval():
    found = dn.estimate(reports(5), "smokes")
    plain = dn.estimate(reports(5), "smokes", "inversion")
    assert found.unbiased.values.min() < 0
    np.testing.assert_allclose(found.unbiased.values, plain.values)
    np.testing.assert_allclose([*found.interval(clip=False)], [*plain.interval()])
    assert plain.interval().contains(plain.values).all()
    assert "negative" in str(plain)


def test_a_mean_and_a_distribution_keep_to_their_ranges():
    domain = dn.Domain({"mood": [1, 2, 3]})
    found = dn.estimate(dn.Observation(domain, dn.KRR(3, 1.0), [20, 6, 4]), "mood")
    mean, function = dn.mean(found), dn.cdf(found)
    low, high = mean.interval()
    assert mean.unbiased < 1 == mean.value == low < high < 3
    assert mean.std_error > 0.1
    assert mean.interval(clip=False).contains(mean.unbiased)
    assert function.interval().contains(function.values).all()
    assert (function.interval().high <= 1).all()
    assert (function.std_error > 0.1).all()
    assert (function.interval(clip=False).high > 1).any()

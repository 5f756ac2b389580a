"""The measurement of growth runs on a small size; what it finds there depends on the machine."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.speed import store_growth
from benchmarks.speed.servers import SQLITE
from benchmarks.speed.store_growth import BLOCKS, SURVEYS, Window, begun, exponent, grow, windows, yardstick


def test_windows_double_and_end_where_they_should():
    assert [window.until for window in windows(70_000)] == [5000, 10_000, 20_000, 40_000, 70_000]
    assert [window.until for window in windows(1)] == [5000]


@pytest.mark.parametrize(("power", "found"), [(0.0, 1.0), (1.0, 2.0)])
def test_the_exponent_is_that_of_all_reports_together(power, found):
    # n^a reports cost n^(a + 1) together, if the cost of one grows like the number of those before it to the power a.
    made, before = windows(640_000), 0
    for window in made:
        window.reports = window.until - before
        window.beside = [2.0, 1.0, 2.0, 9.0, 2.0]  # the median counts
        window.ours = 2.0 * (window.until ** (power + 1) - before ** (power + 1))
        before = window.until
    made[0].add(made[0])  # of two servers: what a report costs is the same
    assert exponent(made) == pytest.approx(found, abs=1e-9)


def test_what_was_put_off_is_waited_for(monkeypatch):
    spent = iter([1.0, 2.0, 2.5, 2.515, 9.0])
    pauses = []
    monkeypatch.setattr(store_growth, "_spent", lambda *_: next(spent))
    monkeypatch.setattr(store_growth.time, "sleep", pauses.append)
    store_growth.settled(0, None, 500_000)
    assert pauses == [4.0, 4.0, 4.0]  # the last one found it at rest
    assert next(spent) == 9.0


@pytest.mark.slow
def test_reports_in_blocks_are_taken_and_told_by_the_window(monkeypatch):
    monkeypatch.setattr(store_growth, "FIRST", 200)
    monkeypatch.setattr(store_growth, "CHUNK", 200)
    survey = SURVEYS[BLOCKS].replace("block_size = 5000", "block_size = 150")
    monkeypatch.setattr(store_growth, "WARM", 200)
    monkeypatch.setattr(store_growth, "LEAST_PAUSE", 0.05)
    rng = np.random.default_rng(0)
    with yardstick(survey, rng) as beside:
        found, apart = grow(SQLITE, survey, 400, rng, None, beside=beside, alone=60)
        monkeypatch.setattr(store_growth, "STARTS", 2)
        few, few_alone = begun(SQLITE, survey, rng, beside, alone=60)
    assert [(window.until, window.reports) for window in found] == [(200, 200), (400, 200)]
    assert [(window.until, window.reports) for window in apart] == [(200, 60), (400, 60)]
    assert [(window.until, window.reports) for window in [*few, *few_alone]] == [(200, 400), (400, 400), (200, 120)]
    assert all(window.ours >= 0 and window.beside for window in [*found, *apart, *few, *few_alone])
    assert isinstance(found[0], Window)

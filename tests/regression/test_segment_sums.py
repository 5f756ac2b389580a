"""Products by place are the same as row by row, however long the runs are."""

import numpy as np
import pytest

from deniable.regression.segment_sums import LONG, TOGETHER, Places

RUNS = {
    "one row": [1],
    "one place": [3 * LONG],
    "each row by itself": [1] * (2 * TOGETHER + 17),
    "short": [3, 1, 5, LONG - 1] * 5,
    "long": [LONG, 2 * LONG, LONG + 1],
    "short before long": [2, 3, LONG, 1, 1, 4 * LONG],
    "long before short": [LONG, 1, 1],
    "many short between long": [LONG, *[7] * 1500, LONG, *[2] * 40],
}


@pytest.fixture(params=RUNS)
def runs(request):
    return np.array(RUNS[request.param])


@pytest.fixture
def places(runs):
    # Neighbours differ in one column or in the other.
    first = np.repeat(np.arange(len(runs)) // 2, runs)
    second = np.repeat(np.arange(len(runs)) % 2, runs)[:, None] * np.ones(2)
    return Places.of([first, second])


def test_places_are_runs_of_rows_that_are_alike(runs, places):
    assert places.rows == runs.sum()
    np.testing.assert_array_equal(places.starts, np.cumsum(runs) - runs)


def test_products_are_those_of_each_row(runs, places):
    rng = np.random.default_rng(0)
    rows, table = rng.normal(size=(runs.sum(), 3)), rng.normal(size=(len(runs), 3, 4))
    expected = np.einsum("rk,rkn->rn", rows, np.repeat(table, runs, axis=0))
    np.testing.assert_allclose(places.times(rows, table), expected, rtol=1e-12, atol=1e-12)


def test_crossed_are_sums_over_the_rows_of_a_place(runs, places):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(runs.sum(), 3)), rng.normal(size=(runs.sum(), 4))
    expected = np.zeros((len(runs), 3, 4))
    np.add.at(expected, np.repeat(np.arange(len(runs)), runs), left[:, :, None] * right[:, None, :])
    np.testing.assert_allclose(places.crossed(left, right), expected, rtol=1e-12, atol=1e-12)


def test_every_row_is_in_one_portion(runs, places):
    rows = [row for _, mine in places._portions for row in range(mine.start, mine.stop)]
    assert rows == list(range(runs.sum()))
    assert all(
        mine.stop - mine.start < TOGETHER + LONG for many, mine in places._portions if many.stop - many.start > 1
    )

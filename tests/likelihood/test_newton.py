import numpy as np
import pytest

from deniable.channels.krr import KRR
from deniable.likelihood import newton as peak
from deniable.likelihood.em import water_fill
from deniable.numerics.batched import packed_places, solve_each, solve_packed, times


def test_small_systems_are_solved_as_one_by_one():
    rng = np.random.default_rng(1)
    systems, right = rng.normal(size=(7, 5, 9)), rng.normal(size=(5, 7))
    systems = systems @ systems.transpose(0, 2, 1)
    expected = np.linalg.solve(systems, right.T[:, :, None])[:, :, 0].T
    assert solve_each(np.moveaxis(systems, 0, -1), right) == pytest.approx(expected, rel=1e-6)


def test_directions_that_a_system_lacks_are_left_out():
    assert solve_each(np.ones((3, 3, 1)), np.ones((3, 1)))[:, 0].tolist() == [1, 0, 0]
    assert solve_each(np.zeros((2, 2, 1)), np.ones((2, 1)))[:, 0].tolist() == [0, 0]


@pytest.mark.parametrize("replicates", [9, 300])
def test_unknowns_that_stay_zero_are_left_out_with_their_equations(replicates):
    rng = np.random.default_rng(3)
    systems, right = rng.normal(size=(replicates, 5, 9)), rng.normal(size=(5, replicates))
    systems = np.moveaxis(systems @ systems.transpose(0, 2, 1), 0, -1)
    without = rng.random((5, replicates)) < 0.4
    found = solve_packed(systems[np.triu_indices(5)], right, without)
    assert (found[without] == 0).all()
    for k in range(replicates):
        free = np.flatnonzero(~without[:, k])
        assert systems[:, :, k][np.ix_(free, free)] @ found[free, k] == pytest.approx(right[free, k], abs=1e-8)
    whole = systems[np.triu_indices(5)][packed_places(5)]
    assert (whole == systems).all()
    assert solve_each(systems, right) == pytest.approx(solve_packed(systems[np.triu_indices(5)], right), rel=1e-9)


def test_products_in_pieces_are_products():
    rng = np.random.default_rng(4)
    for shape in ((27, 9), (81, 27), (300, 400)):  # the last is too large to be cut
        matrix, columns = rng.normal(size=shape), rng.normal(size=(shape[1], 1500))
        np.testing.assert_allclose(times(matrix, columns), matrix @ columns, rtol=0, atol=1e-9)


def test_replicates_that_take_longer_go_on_together(monkeypatch):
    channel, rng = KRR(6, epsilon=1.0), np.random.default_rng(5)
    y = rng.multinomial(200, channel.apply(np.array([0.7, 0.2, 0.1, 0, 0, 0])), 300).T.astype(float)
    _, expected, _, _ = peak.peaks(channel.matrix(), y, 1e-9)
    monkeypatch.setattr(peak, "_SOON", 1)
    monkeypatch.setattr(peak, "_AT_ONCE", 2000)
    _, loglik, left, _ = peak.peaks(channel.matrix(), y, 1e-9)
    assert (left <= 1e-9).all()
    assert loglik == pytest.approx(expected, abs=1e-8)


def test_peaks_are_those_of_the_closed_form():
    channel, rng = KRR(6, epsilon=1.0), np.random.default_rng(2)
    y = rng.multinomial(200, channel.apply(np.array([0.7, 0.2, 0.1, 0, 0, 0])), 300).T.astype(float)
    tables, loglik, left, _ = peak.peaks(channel.matrix(), y, 1e-9)
    best = water_fill(y, channel.affine()[1])
    assert loglik == pytest.approx((y * np.log(best)).sum(axis=0), abs=1e-8)
    assert (left <= 1e-9).all()
    assert tables.min() >= 0
    assert tables.sum(axis=0) == pytest.approx(1)
    # Whatever lies beside does not matter beyond rounding, and replicates that wait for others keep their place.
    alone = np.concatenate([peak.peaks(channel.matrix(), y[:, [k]], 1e-9)[0] for k in range(20)], axis=1)
    assert tables[:, :20] == pytest.approx(alone, abs=1e-6)


def test_reports_that_never_came_and_cells_told_apart_by_none():
    rows = np.array([[0.5, 0.5, 0.1], [0.5, 0.5, 0.9]])  # the first two cells look alike
    y = np.array([[10.0, 0.0, 7.0], [0.0, 12.0, 3.0]])
    _, loglik, left, _ = peak.peaks(rows, y, 1e-6)
    share = np.clip(y[0] / y.sum(axis=0), 0.1, 0.5)
    assert (left <= 1e-6).all()
    assert loglik == pytest.approx((y * np.log([share, 1 - share])).sum(axis=0), abs=1e-5)

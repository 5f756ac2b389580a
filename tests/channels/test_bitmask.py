"""The bit mask is a channel like any other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from deniable.channels.bitmask import MOST_CATEGORIES, Bitmask
from deniable.channels.integer_weights import largest_ratio
from deniable.channels.krr import KRR
from deniable.core.randomness import Seeded
from deniable.errors import DesignError, InputError


@pytest.fixture(params=[(2, 1.0), (3, 0.1), (5, 2.0), (8, 0.5)], ids=str)
def channel(request):
    k, epsilon = request.param
    return Bitmask(k, KRR(2, epsilon))


def exact_matrix(channel):
    p = Fraction(channel.bit.keep, 1 << channel.bit.bits)
    rows = []
    for report in range(channel.outputs):
        row = []
        for truth in range(channel.inputs):
            share = Fraction(1)
            for bit in range(channel.inputs):
                share *= p if (report >> bit & 1) == (bit == truth) else 1 - p
            row.append(share)
        rows.append(row)
    return rows


def test_its_matrix_is_the_product_of_its_bits(channel):
    exact = exact_matrix(channel)
    assert all(sum(column) == 1 for column in zip(*exact, strict=True))
    np.testing.assert_allclose(channel.matrix(), np.array(exact, dtype=float), rtol=1e-12)
    assert channel.ratio == largest_ratio(exact)


def test_the_inverse_undoes_it_and_the_adjoints_fit(channel):
    rng = np.random.default_rng(1)
    x, y = rng.random(channel.inputs), rng.random(channel.outputs)
    x /= x.sum()
    np.testing.assert_allclose(channel.solve(channel.apply(x)), x, atol=1e-10)
    assert channel.apply(x) @ y == pytest.approx(x @ channel.adjoint(y))
    assert channel.solve(y) @ x == pytest.approx(y @ channel.solve_adjoint(x))
    q = np.stack([channel.solve(row) for row in np.eye(channel.outputs)], axis=1)
    np.testing.assert_allclose(channel.solve_squared(y), q**2 @ y)
    diagonal, sums = channel.spread()
    d = q**2 @ channel.matrix()
    np.testing.assert_allclose(diagonal, np.diagonal(d))
    np.testing.assert_allclose(sums, d.sum(axis=1))


def test_every_report_comes_as_often_as_it_should():
    channel, n, source = Bitmask(3, KRR(2, 0.8)), 40_000, Seeded(5)
    for truth in range(3):
        reports = channel.randomize(np.full(n, truth), source=source)
        expected = channel.matrix()[:, truth] * n
        # Chi-square with 7 degrees of freedom, three times; a right program fails with probability below 1e-6.
        assert ((np.bincount(reports, minlength=8) - expected) ** 2 / expected).sum() < chi2.isf(3e-7, 7)


def test_what_it_refuses():
    with pytest.raises(DesignError, match="categories"):
        Bitmask(MOST_CATEGORIES + 1, KRR(2, 1.0))
    with pytest.raises(DesignError, match="categories"):
        Bitmask(3, KRR(3, 1.0))
    channel = Bitmask(3, KRR(2, 1.0))
    with pytest.raises(DesignError, match="bit by bit"):
        channel.weights()
    for codes in ([0, 3], [-1, 0], [0.5]):
        with pytest.raises(InputError):
            channel.randomize(codes)

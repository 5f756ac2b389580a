"""The closed form is the best there is, and says when there is nothing to gain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InputError
from deniable.extensions.paired.optimal_coins import allowed_at, coin_epsilon, corner, paired_optimum, truthfulness
from deniable.extensions.paired.pairing import count_variance


def best_on_the_line(optimum, coins):
    """The smallest variance at many correlations, each with the largest p that the claimed epsilon allows."""
    rho = -np.linspace(0, 1, 300)
    low, high = np.full(rho.shape, 0.5), np.full(rho.shape, 1 - 1e-12)
    for _ in range(60):
        middle = (low + high) / 2
        allowed = allowed_at(
            middle,
            rho,
            epsilon=optimum.epsilon,
            respondents=optimum.respondents,
            colluders=optimum.colluders,
            coins=coins,
        )
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    good = low > 0.5 + 1e-6
    n = optimum.respondents
    return sum(count_variance(low[good], rho[good], n, share * n) for share in optimum.shares).min()


@given(
    st.floats(0.05, 4),
    st.integers(4, 100_000),
    st.floats(0, 0.4),
    st.one_of(st.floats(0, 1), st.lists(st.floats(0.01, 1), min_size=3, max_size=6)),
)
def test_nothing_between_the_ends_is_better(epsilon, n, colluding, shares):
    share = shares if isinstance(shares, float) else [part / sum(shares) for part in shares]
    optimum = paired_optimum(epsilon, n, int(colluding * (n - 2)), share)
    assert best_on_the_line(optimum, 1 if isinstance(shares, float) else 2) >= optimum.variance * (1 - 1e-8)
    assert optimum.gain <= 1
    assert optimum.pays == (optimum.gain < 1)


@pytest.mark.parametrize("coins", [1, 2])
@pytest.mark.parametrize(("epsilon", "n", "m"), [(1, 10_000, 500), (0.1, 10_000, 3), (2, 50, 5), (1, 10_000, 0)])
def test_the_corner_meets_the_claimed_epsilon_exactly(epsilon, n, m, coins):
    p = corner(epsilon, n, m, coins)
    others = n - 1 - m
    assert (m + others * p**coins) / (others * (1 - p) ** coins) == pytest.approx(math.exp(epsilon))


def test_the_integers_do_not_exceed_the_claimed_epsilon():
    for m in (0, 100, 500):
        optimum = paired_optimum(1.0, 10_000, m, 0.02)
        claimed = optimum.coins.privacy(10_000, m).claimed_epsilon
        assert 1 - 1e-6 < claimed <= 1
        assert optimum.coins.is_corner


def test_it_says_when_there_is_nothing_to_gain():
    even = paired_optimum(1.0, 10_000, 500, 0.5)
    assert (even.rho, even.gain, even.p) == (0, 1, truthfulness(1.0))
    assert "gains nothing" in str(even)
    crowd = paired_optimum(0.1, 100, 60, 0.0)
    assert math.isinf(crowd.corner_variance)
    assert "so many colluders" in str(crowd)
    assert "Pairing pays" in str(paired_optimum(1.0, 1000))


def test_two_categories_are_one_question():
    assert paired_optimum(1.0, 1000, 0, [0.9, 0.1]) == paired_optimum(1.0, 1000, 0, 0.1)


@pytest.mark.parametrize(
    "arguments",
    [
        (0, 100),
        (math.inf, 100),
        (1, 1),
        (1, 10, 9),
        (1, 10, -1),
        (1, 10, 0, 1.5),
        (1, 10, 0, [0.5, 0.2, 0.1]),
        (1, 9, 0, []),
    ],
)
def test_what_it_refuses(arguments):
    with pytest.raises(InputError):
        paired_optimum(*arguments)


@pytest.mark.parametrize("colluders", [0, 500])
def test_the_heat_map_is_blank_where_nothing_is_allowed_and_marks_the_best(colluders):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    optimum = paired_optimum(1.0, 10_000, colluders, 0.02)
    ax = optimum.plot()
    mesh = ax.collections[0].get_array()
    assert mesh.mask.any()
    assert float(mesh.min()) >= optimum.variance * (1 - 1e-9)
    assert float(mesh.min()) <= optimum.variance * 1.02
    star = next(line for line in ax.lines if line.get_marker() == "*")
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (optimum.p, optimum.rho)
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("share", "colluders", "coin"), [(0.02, 0, 3.0), (0.02, 500, 2.0), (0.3, 0, 1.2), ([0.9, 0.05, 0.05], 300, 2.5)]
)
def test_within_a_bound_on_the_coin_no_grid_finds_anything_better(share, colluders, coin):
    n, epsilon = 10_000, 1.0
    found = paired_optimum(epsilon, n, colluders, share, coin=coin)
    coins = 1 if isinstance(share, float) else 2
    assert coin_epsilon(found.p, found.rho, coins) <= coin + 1e-9
    p, rho = np.meshgrid(np.linspace(0.51, 0.75, 241), np.linspace(-0.4, 0, 401))
    allowed = allowed_at(p, rho, epsilon=epsilon, respondents=n, colluders=colluders, coins=coins)
    d = np.sqrt(-rho * p * (1 - p))
    with np.errstate(divide="ignore", invalid="ignore"):
        allowed &= (1 - p - d > 1e-9) & (coins * np.log((p + d) / (1 - p - d)) <= coin)
    shares = [share] if coins == 1 else share
    variance = sum(count_variance(p, rho, n, part * n) for part in shares)
    assert found.variance <= variance[allowed].min() * (1 + 1e-9)
    assert found.variance >= paired_optimum(epsilon, n, colluders, share).variance * (1 - 1e-12)

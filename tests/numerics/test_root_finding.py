"""Roots lie where a function changes its sign, never beyond; elements that do not change it have their outer end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.errors import ConvergenceError
from deniable.numerics.root_finding import bracketed_root, root

RNG = np.random.default_rng(1)
WANTED = RNG.uniform(0.01, 4.0, 500)


@pytest.mark.parametrize("power", [1, 2, 3, 9])
@pytest.mark.parametrize("inside", [0.0, 5.0])
def test_what_holds_inside_holds_at_every_root(power, inside):
    outside = 5.0 - inside
    sign = 1.0 if inside < outside else -1.0

    def left(x, wanted):
        return sign * (wanted**power - x**power)

    found = bracketed_root(left, np.full(500, inside), outside, WANTED)
    assert np.abs(found - WANTED).max() < 1e-14 * 5
    assert (left(found, WANTED) >= 0).all()
    alone = np.array([root(lambda x, w=wanted: left(x, w), inside, outside) for wanted in WANTED])
    assert np.abs(alone - WANTED).max() < 1e-14 * 5
    assert (left(alone, WANTED) >= 0).all()


def test_without_a_change_of_sign_it_is_the_outer_end():
    assert bracketed_root(lambda x: x + 1, [0.0, 0.0], [2.0, 3.0]).tolist() == [2.0, 3.0]
    assert root(lambda x: x + 1, 0.0, 2.0) == 2.0


def test_an_end_may_be_the_root():
    assert bracketed_root(lambda x: x, [0.0, -1.0], [1.0, 0.0]).tolist() == [0.0, 0.0]
    assert root(lambda x: x, 0.0, 1.0) == root(lambda x: x, -1.0, 0.0) == 0.0


def test_how_near_is_said():
    calls = []

    def left(x):
        calls.append(x)
        return 2 - x**2

    assert root(left, 1.0, 2.0, 1e-3) == pytest.approx(math.sqrt(2), abs=4e-3)
    rough = len(calls)
    root(left, 1.0, 2.0)
    assert rough < len(calls) - rough
    assert bracketed_root(lambda x: 2 - x**2, 1.0, 2.0, close=1e-3) == pytest.approx(math.sqrt(2), abs=2e-3)


@pytest.mark.parametrize("gap", [(1.9, 1.99), (1.5, 2.5)])
def test_a_function_without_a_value_is_refused(gap):
    low, high = gap
    with pytest.raises(ConvergenceError, match="no value between the ends"):
        bracketed_root(lambda x: np.where(x < low, 1.0, np.where(x > high, -1.0, np.nan)), [1.0], 2.0)

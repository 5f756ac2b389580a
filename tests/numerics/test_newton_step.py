"""Newton's step leads up where a function is not concave; steps of many climbs are shortened one by one."""

from __future__ import annotations

import numpy as np

from deniable.numerics.newton_step import backtracked, newton_step


def test_a_concave_quadratic_is_solved_in_one_step_whatever_its_units():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 4)) * np.array([1e-3, 1.0, 1e2, 1e4])
    hessian, top = -(root.T @ root), rng.normal(size=4)
    step, concave = newton_step(-hessian @ top, hessian)
    assert concave
    np.testing.assert_allclose(step, top, rtol=1e-6)


def test_at_a_saddle_the_step_leads_up_in_every_direction():
    gradient, hessian = np.array([1.0, 1.0]), np.diag([-2.0, 4.0])
    step, concave = newton_step(gradient, hessian)
    assert not concave
    np.testing.assert_allclose(step, [0.5, 0.25])


def heights(x):
    return -(np.abs(x[0]) ** 1.5)


def test_only_those_that_lose_are_shortened():
    asked = []

    def evaluate(x, some):
        asked.append(np.arange(4)[some].tolist())
        return x, heights(x)

    start = np.full((1, 4), 1.0)
    move = np.array([[-1.0, -1.9, -3.0, 1.0]])
    (there, height), losing, used = backtracked(evaluate, start, move, heights(start), (0.5, 0.25))
    assert asked == [[0, 1, 2, 3], [2, 3], [3]]
    assert there[0, :3].tolist() == [0.0, 1.0 - 1.9, -0.5]
    np.testing.assert_array_equal(height, heights(there))
    assert (losing.tolist(), used) == ([3], 3)


def test_a_height_that_is_no_number_is_a_loss():
    def evaluate(x, _):
        return (np.where(x < 0, np.nan, -x)[0],)

    (height,), losing, _ = backtracked(evaluate, np.ones((1, 1)), np.array([[-4.0]]), np.array([-1.0]), (0.25,))
    assert (height.tolist(), losing.tolist()) == ([0.0], [])

"""Column generation for the best channel of one question: patterns are added while some would still help.

With F^-1 and the prices y of the best use of the patterns at hand (`master`), G = F^-1 V', another pattern x helps by
|x'G|^2 - y . x if that is positive, and nothing helps by more than the largest of these. Up to 16 answers all 2^t
patterns are looked at, so that the search ends with a certificate. Beyond, a pattern is improved by turning over the
answer that helps most, a few times, from each pattern at hand; there the closed form is the bound.

The first patterns of a large question are where random combinations of what is wanted are largest: those that the
closed form's equality would need.

The master problem, the best use of given patterns, is a convex program over their probabilities, solved by Newton's
method with a barrier:

    minimise  tr(K F(p)^-1) - mu sum log p    subject to  sum p x = 1,       F(p) = sum p x x',  K = V'V

The gradient is -x'Ax with A = F^-1 K F^-1; the Hessian is the elementwise product of two Gram matrices, 2 (x'Ay)
(x'F^-1 y). With mu above zero every pattern keeps some probability, so F is invertible whatever is wanted; as mu falls,
the loss comes within (number of patterns) mu of the best. Steps are scaled by p, and may start where the sum is not yet
1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.errors import ConvergenceError, InputError
from deniable.optimal.certificate import MOST_ANSWERS, Certificate, all_patterns, certify
from deniable.optimal.channel_problem import Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FAR = 0.9  # of the way to where the first probability would be zero
_CLOSE = 1e-3
_SUMS_TO_ONE = 1e-10


class Point(NamedTuple):
    """Probabilities, the prices y of the answers, and what follows: F^-1 and the loss tr(K F^-1)."""

    p: NDArray[np.float64]
    y: NDArray[np.float64]
    inverse: NDArray[np.float64]
    loss: float


def descend(
    x: NDArray[np.float64],
    gram: NDArray[np.float64],
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    mu: float,
    steps: int,
) -> Point:
    """Go to the minimum for this mu, which is a share of the loss and divided among the patterns."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    barrier = mu * _loss(x, gram, p)[0] / len(p)
    for _ in range(steps):
        _, inverse = _loss(x, gram, p)
        curved = x @ (inverse @ gram @ inverse)
        scaled = x * p[:, None]
        hessian = 2 * (curved @ x.T) * (x @ inverse @ x.T) * np.outer(p, p)
        hessian[np.diag_indices_from(hessian)] += barrier
        gradient = -p * (curved * x).sum(axis=1) - barrier
        missing = 1 - scaled.sum(axis=0)
        try:
            factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
        except LinAlgError:
            break  # nothing is left of mu in double precision
        solved = cho_solve(factor, np.column_stack([gradient, scaled]), check_finite=False)
        y = np.linalg.solve(scaled.T @ solved[:, 1:], -missing - scaled.T @ solved[:, 0])
        step = -(solved[:, 0] + solved[:, 1:] @ y)
        decrement = float(step @ -(gradient + scaled @ y))
        p = p * (1 + min(1.0, _FAR / max(float(-step.min()), _FAR)) * step)
        if decrement < _CLOSE**2 * barrier * len(p) and np.abs(missing).max() < _SUMS_TO_ONE:
            break
    loss, inverse = _loss(x, gram, p)
    return Point(p, y, inverse, loss)


def _loss(
    x: NDArray[np.float64], gram: NDArray[np.float64], p: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    inverse = np.asarray(np.linalg.inv((x * p[:, None]).T @ x), dtype=np.float64)
    return float((gram * inverse).sum()), inverse


LARGEST = 256  # answers
_GAP = 5e-7  # between the loss and the bound, as a share
_ROUNDS = 120
_MANY_ROUNDS = 50
_STEPS = 15
_FIRST, _FALL = 1e-2, 0.3  # the barrier, as a share of the loss
_PATTERNS = 8  # of a large question, for each answer; at most:
_MOST_PATTERNS = 1400
_FLIPS = 3
_PROGRESS = 1e-3


class Solution(NamedTuple):
    """Patterns and their probabilities, with what shows how good they are."""

    patterns: NDArray[np.bool_]
    point: Point


def certified(wanted: ArrayLike, epsilon: float, truth: ArrayLike | None = None) -> Certificate:
    """The certificate for the least loss of a question with at most 16 possible answers.

    >>> krr = certified([[1, 0], [0, 1]], 1.0)
    >>> round(krr.bound, 3)  # what k-RR of two answers has: twice lambda (1 - lambda) / (p - q)^2
    2.341
    """
    problem = Problem.of(wanted, epsilon, truth)
    if problem.answers > MOST_ANSWERS:
        raise InputError(
            f"a certificate looks at every pattern, so at {MOST_ANSWERS} possible answers at most, not "
            f"{problem.answers}; the floor holds for any number",
            answers=problem.answers,
        )
    _, point = solution(problem)
    return certify(problem, point.inverse @ problem.centred.T, point.y)


def solution(problem: Problem) -> Solution:
    """The patterns of the best channel; the same content is solved once."""
    if problem.answers > LARGEST:
        raise InputError(
            f"optimal channels are made for at most {LARGEST} possible answers, not {problem.answers}; join "
            f'neighbouring answers, or use channel="least_variance"',
            answers=problem.answers,
        )
    shape = problem.wanted.shape
    return _solved(problem.wanted.tobytes(), shape, problem.shares.tobytes(), problem.epsilon)


@lru_cache(maxsize=64)
def _solved(wanted: bytes, shape: tuple[int, int], shares: bytes, epsilon: float) -> Solution:
    problem = Problem(np.frombuffer(wanted).reshape(shape), np.frombuffer(shares), epsilon)
    return _among_all(problem) if problem.answers <= MOST_ANSWERS else _among_many(problem)


def _among_all(problem: Problem) -> Solution:
    t = problem.answers
    every = all_patterns(t)[:-1]  # all large says what none large says
    x_every = problem.rows(every)
    answers = np.arange(t)
    used = np.zeros(len(every), dtype=bool)
    used[[0, *(1 << answers), *((1 << t) - 1 - (1 << answers))]] = True
    used[[(1 << k) - 1 for k in range(1, t)] + [(1 << t) - (1 << k) for k in range(1, t)]] = True
    p = np.where(used, _even(every, problem), 0.0)
    y, mu = np.zeros(t), _FIRST
    p /= (p @ x_every).mean()
    for _ in range(_ROUNDS):
        point = descend(x_every[used], problem.gram, p[used], y, mu=mu, steps=_STEPS)
        y = point.y
        gains = _gains(x_every, problem, point)
        bound = point.loss**2 / (y.sum() + max(float(gains.max()), 0.0))
        if bound >= point.loss * (1 - _GAP):
            return Solution(every[used], point)
        p[used] = point.p
        worst = np.argsort(-gains, kind="stable")[: max(30, 2 * t)]
        new = worst[(gains[worst] > 0) & ~used[worst]]
        p[new] = 2 * _FIRST / max(len(new), 1)
        used[new] = True
        mu = min(mu, _FALL * max(1 - bound / point.loss, _GAP))
    raise ConvergenceError(
        f"no certificate within {_GAP:g} of the loss was found in {_ROUNDS} rounds; the best has {bound:g} of "
        f"{point.loss:g}",
        bound=bound,
    )


def _among_many(problem: Problem) -> Solution:
    t = problem.answers
    most = min(_PATTERNS * t + 300, _MOST_PATTERNS)
    patterns = _first(problem, most // 2)
    p, y, mu, last = _even(patterns, problem), np.zeros(t), _FIRST, np.inf
    p /= (p @ problem.rows(patterns)).mean()
    for _ in range(_MANY_ROUNDS):
        point = descend(problem.rows(patterns), problem.gram, p, y, mu=mu, steps=_STEPS)
        used, y = patterns, point.y
        if point.loss > last * (1 - _PROGRESS):
            if mu < _FIRST * _FALL**2:
                break
            mu *= _FALL
        last = point.loss
        new = _turned(problem, point, patterns, most // 4)
        kept = np.sort(np.argsort(-point.p, kind="stable")[: most - len(new)])
        patterns = np.concatenate([patterns[kept], new])
        p = np.concatenate([point.p[kept], np.full(len(new), _FIRST / max(len(new), 1))])
    # What the barrier still takes is given back, with these patterns.
    x = problem.rows(used)
    last_point = descend(x, problem.gram, point.p, y, mu=_FIRST**2, steps=2 * _STEPS)
    if np.abs(last_point.p @ x - 1).max() > _PROGRESS**2:
        raise ConvergenceError(f"no channel for {t} answers at epsilon {problem.epsilon:g} was found by the search")
    return Solution(used, last_point)


def _even(patterns: NDArray[np.bool_], problem: Problem) -> NDArray[np.float64]:
    """Probabilities of patterns that are all used alike."""
    return np.where(patterns, problem.large, 1.0) @ problem.truth


def _gains(x: NDArray[np.float64], problem: Problem, point: Point) -> NDArray[np.float64]:
    curved = point.inverse @ problem.gram @ point.inverse
    return np.asarray(((x @ curved) * x).sum(axis=1) - x @ point.y)


def _first(problem: Problem, count: int) -> NDArray[np.bool_]:
    t = problem.answers
    root = np.sqrt(np.maximum(problem.truth, 1e-12))
    _, singular, right = np.linalg.svd(problem.centred * root, full_matrices=False)
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(count // 4, len(singular))) @ (np.sqrt(singular)[:, None] * right / root)
    order = np.argsort(-mixed, axis=1, kind="stable")
    size = max(1, round(t / (problem.large + 1)))
    top, bottom = np.zeros(mixed.shape, dtype=bool), np.zeros(mixed.shape, dtype=bool)
    np.put_along_axis(top, order[:, :size], values=True, axis=1)
    np.put_along_axis(bottom, order[:, -size:], values=True, axis=1)
    one, upto = np.eye(t, dtype=bool), np.tril(np.ones((t - 1, t), dtype=bool))
    return np.unique(np.concatenate([one, ~one, upto, ~upto, top, ~top, bottom, ~bottom]), axis=0)


def _turned(problem: Problem, point: Point, patterns: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Patterns that would help, each found from one at hand by turning answers over; the best first."""
    curved = point.inverse @ problem.gram @ point.inverse
    found = patterns.copy()
    rows = np.arange(len(found))
    gain = np.zeros(len(found))
    for _ in range(_FLIPS):
        z = np.where(found, problem.large, 1.0)
        image, mass, price = z @ curved, z @ problem.truth, z @ point.y
        turn = np.where(found, 1 - problem.large, problem.large - 1)
        squared = (image * z).sum(axis=1)[:, None] + turn * (2 * image + turn * np.diag(curved))
        masses = mass[:, None] + turn * problem.truth
        offered = squared / masses**2 - (price[:, None] + turn * point.y) / masses
        best = offered.argmax(axis=1)
        gain = (image * z).sum(axis=1) / mass**2 - price / mass
        better = offered[rows, best] > gain
        found[rows[better], best[better]] ^= True
        gain = np.maximum(gain, offered[rows, best])
    known = {row.tobytes() for row in patterns}
    fresh: list[NDArray[np.bool_]] = []
    for place in np.argsort(-gain, kind="stable"):
        if gain[place] <= _PROGRESS * _FIRST * point.loss or len(fresh) == most:
            break
        if (key := found[place].tobytes()) not in known:
            known.add(key)
            fresh.append(found[place])
    return np.array(fresh, dtype=bool).reshape(-1, problem.answers)

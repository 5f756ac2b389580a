"""Published mechanisms, written anew: what each would need, as losses that can be set beside the floor.

A loss is n times the summed variance of the wanted numbers, at even shares, of the best unbiased estimate from the
mechanism's reports (so no mechanism is blamed for a poor estimator). Mechanisms of one ordered question are channels,
given by their matrix; those of many attributes by what a report tells about the contrasts of each set of attributes:
with g_T the information of a question T and w_T how often it is asked,

    loss = sum over sets S of  (squared length of the wanted contrasts of S) / (sum over T containing S of w_T g_T).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb, exp, expm1
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.accuracy.many_categories import least
from deniable import KRR, HadamardResponse, LocalHashing, Unary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable import Domain
    from deniable.channels.sets.support import Support
    from deniable.optimal.channel_problem import Problem

    Array = NDArray[np.float64]

# -- one ordered question --------------------------------------------------------------------------------------------


def square_wave(t: int, epsilon: float, outputs: int | None = None) -> Array:
    """The square wave mechanism (Li et al. 2020) on t bins of [0, 1], its report read to 1 / outputs of its range.

    A report lies within b of the truth with density p, else within [-b, 1 + b] with density q, p / q = e^epsilon.

    >>> square_wave(8, 1.0).sum(axis=0).round(12).tolist() == [1.0] * 8
    True
    """
    e = exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    q = 1 / (2 * b * e + 1)
    edges = np.linspace(-b, 1 + b, (outputs or 4 * t) + 1)
    middles = (np.arange(t) + 0.5) / t
    low, high = np.maximum(edges[:-1, None], middles - b), np.minimum(edges[1:, None], middles + b)
    near = np.maximum(high - low, 0.0)
    return q * np.diff(edges)[:, None] + q * (e - 1) * near


def hierarchy(t: int, epsilon: float, branches: int = 4) -> Array:
    """Hierarchical intervals (Cormode et al. 2019): one level of a tree, drawn evenly, answered through k-RR.

    The reports of all levels stand behind each other: level and node.
    """
    sizes = [t]
    while sizes[-1] > branches:
        sizes.append(-(-sizes[-1] // branches))
    rows = []
    for size in sizes:
        node = np.arange(t) * size // t
        rows.append(KRR(size, epsilon).matrix()[:, node] / len(sizes))
    return np.concatenate(rows)


def factorization(problem: Problem, steps: int = 200, seed: int = 0) -> float:
    """The optimised factorisation of McKenna et al. (2020), in short: projected gradient, channels of 4 t outputs.

    Every column is kept within z <= q <= e^epsilon z. Here z stays what it starts as, the same for every output, and
    the step is halved where it does not help. They change z as well, so theirs may be better than this one.
    """
    t, e, rng = problem.answers, problem.large, np.random.default_rng(seed)
    z = (1 + 1 / e) / (8 * t)
    q = _bounded(rng.uniform(z, e * z, (4 * t, t)), z, e * z)
    loss, slope = _slope(q, problem.gram)
    rate = 0.1 * z / float(np.abs(slope).max())
    for _ in range(steps):
        moved = _bounded(q - rate * slope, z, e * z)
        found, steeper = _slope(moved, problem.gram)
        if found < loss:
            q, loss, slope, rate = moved, found, steeper, 1.5 * rate
        else:
            rate /= 2
    return loss


def _slope(q: Array, gram: Array) -> tuple[float, Array]:
    """The loss tr(X^-1 V) / t of a channel at even shares, X = Q' diag(Q 1)^-1 Q, and its derivative by Q."""
    t, even = q.shape[1], q / q.sum(axis=1, keepdims=True)
    inverse = np.linalg.inv(q.T @ even)
    weighted = inverse @ gram @ inverse
    pull = even @ weighted
    slope = (pull * even).sum(axis=1, keepdims=True) - 2 * pull
    return float(np.trace(inverse @ gram)) / t, slope / t


def _bounded(q: Array, low: float, high: float) -> Array:
    """The nearest columns that sum to one within the bounds: one shift a column, found by halving."""
    left, right = low - q.max(axis=0), high - q.min(axis=0)
    for _ in range(60):
        middle = (left + right) / 2
        over = np.clip(q + middle, low, high).sum(axis=0) > 1
        left, right = np.where(over, left, middle), np.where(over, middle, right)
    return np.clip(q + left, low, high)


def duchi(t: int, epsilon: float) -> float:
    """The loss of the mean of 0 .. t - 1 by Duchi's one bit: a report is +-(e + 1) / (e - 1), on the scale -1 .. 1."""
    scale = (exp(epsilon) + 1) / (exp(epsilon) - 1)
    return float(scale**2 * ((t - 1) / 2) ** 2)


def piecewise(t: int, epsilon: float) -> float:
    """The loss of the mean of 0 .. t - 1 by the piecewise mechanism (Wang et al. 2019), on the scale -1 .. 1.

    Var(report | x) = x^2 / (r - 1) + (r + 3) / (3 (r - 1)^2) with r = e^(epsilon / 2).
    """
    r, x = exp(epsilon / 2), np.linspace(-1, 1, t)
    noise = x**2 / (r - 1) + (r + 3) / (3 * (r - 1) ** 2)
    return float((noise.mean() + x.var()) * ((t - 1) / 2) ** 2)


def alike(told: float, problem: Problem) -> float:
    """The loss through a channel that tells as much about every contrast of the answers."""
    return float(np.trace(problem.gram)) / (problem.answers * told)


# -- what one report tells about every contrast of k cells -----------------------------------------------------------


def told_by_krr(cells: int, epsilon: float) -> float:
    """((e - 1) / (e + k - 1))^2."""
    return float((expm1(epsilon) / (exp(epsilon) + cells - 1)) ** 2)


@cache
def told_by_best_sets(cells: int, epsilon: float) -> float:
    """Through sets of the best size, or a block design as good as they are."""
    return (cells - 1) / (cells * least(cells, epsilon))


def told_by_sets(channel: Support) -> float:
    """1 / (k c), with c the variance of a contrast of unit length of the estimate that one report makes."""
    c0, _, d0, c = channel.moment_coefficients
    return 1 / (channel.inputs * (d0 - c0 + c / channel.inputs))


@cache
def told_by_oue(cells: int, epsilon: float) -> float:
    """Of optimised unary encoding (Wang et al. 2017)."""
    return told_by_sets(Unary(cells, epsilon))


@cache
def told_by_olh(cells: int, epsilon: float) -> float:
    """Of optimised local hashing (Wang et al. 2017)."""
    return told_by_sets(LocalHashing(cells, epsilon))


@cache
def told_by_hadamard(cells: int, epsilon: float) -> float:
    """Of Hadamard response (Acharya et al. 2019), by the variance of the shares at even shares."""
    channel = HadamardResponse(cells, epsilon)
    even = np.full(cells, 1 / cells)
    return (cells - 1) / cells / float(channel.variance(even, 1).sum())


# -- many attributes -------------------------------------------------------------------------------------------------


def mixed(
    squares: Mapping[tuple[str, ...], float], asked: Mapping[tuple[str, ...], float], told: Callable[..., float]
) -> float:
    """The loss where question T is asked with frequency asked[T] and tells `told(T)` about its contrasts."""
    heard = dict.fromkeys(squares, 0.0)
    for question, often in asked.items():
        value = often * told(question)
        for size in range(1, len(question) + 1):
            for part in combinations(question, size):
                if part in heard:
                    heard[part] += value
    if min(heard.values()) <= 0:
        return float("nan")  # something wanted is never told
    return sum(length / heard[part] for part, length in squares.items())


def cells_of(domain: Domain, names: Sequence[str]) -> int:
    """How many cells a question has."""
    return int(np.prod([len(domain[name]) for name in names]))


def squares_of(domain: Domain, tables: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
    """For every set of attributes, the squared length that the wanted tables give to its contrasts, all together."""
    found: dict[tuple[str, ...], float] = {}
    for table in tables:
        for size in range(1, len(table) + 1):
            for part in combinations(table, size):
                contrasts = float(np.prod([len(domain[name]) - 1 for name in part]))
                found[part] = found.get(part, 0.0) + contrasts / cells_of(domain, table)
    return found


def asked_one(questions: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
    """Everybody is asked one of the questions, drawn evenly."""
    return {question: 1 / len(questions) for question in questions}


def calm(squares: Mapping[tuple[str, ...], float], domain: Domain, epsilon: float, order: int) -> float:
    """CALM (Zhang et al. 2018): one of the sets of a size that covers what is wanted, drawn evenly; the best size.

    Sets as large as the wanted tables, or one or two attributes more; all sets of the size stand for a covering of
    them, and reports are pooled by how much they tell, which CALM's averaging is not better than.
    """
    names, losses = list(domain), []
    for size in range(order, min(len(names), order + 2) + 1):
        if comb(len(names), size) > _MOST_QUESTIONS:
            break
        asked = asked_one(list(combinations(names, size)))
        losses.append(mixed(squares, asked, lambda question: _best_told(domain, question, epsilon)))
    return min(losses)


_MOST_QUESTIONS = 20_000


def _best_told(domain: Domain, question: tuple[str, ...], epsilon: float) -> float:
    cells = cells_of(domain, question)
    return max(told_by_krr(cells, epsilon), told_by_best_sets(cells, epsilon))


def input_hadamard(squares: Mapping[tuple[str, ...], float], domain: Domain, epsilon: float) -> float:
    """InpHT (Cormode et al. 2018): one parity of yes/no attributes, drawn evenly, through a coin of two sides.

    Not a number where an attribute has more than two categories.
    """
    if any(len(variable) > 2 for variable in domain.values()):
        return float("nan")
    told = told_by_krr(2, epsilon) / len(squares)
    return sum(length / told for length in squares.values())


def split(squares: Mapping[tuple[str, ...], float], domain: Domain, epsilon: float, order: int) -> float:
    """RRBA with every combination of a view answered: disjoint tables that share the budget, each through k-RR."""
    names = list(domain)
    parts = len(names) // order
    asked = {question: parts / comb(len(names), order) for question in combinations(names, order)}
    return mixed(squares, asked, lambda question: told_by_krr(cells_of(domain, question), epsilon / parts))


def independent(squares: Mapping[tuple[str, ...], float], domain: Domain, epsilon: float) -> float:
    """RR-Ind-Joint: every attribute through k-RR with its share of the budget; tables by inverting the product."""
    budget = epsilon / len(domain)
    single = {name: told_by_krr(len(domain[name]), budget) for name in domain}
    return sum(length / float(np.prod([single[name] for name in part])) for part, length in squares.items())


def random_sampling_fake_data(squares: Mapping[tuple[str, ...], float], domain: Domain, epsilon: float) -> float:
    """RS+FD (Arcolezi et al. 2021): one attribute through k-RR, evenly drawn fakes for the others, all sent.

    At its true epsilon: whoever differs in every attribute is told apart by the whole report as well as by the k-RR of
    one, so the larger epsilon that the sampling is claimed to allow is not used. It tells single attributes; not a
    number where a table of several is wanted.
    """
    if any(len(part) > 1 for part in squares):
        return float("nan")
    told = {name: told_by_krr(len(domain[name]), epsilon) / len(domain) ** 2 for name in domain}
    return sum(length / told[part[0]] for part, length in squares.items())

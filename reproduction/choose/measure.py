"""Every method on the same population at the same total true epsilon: distances of one- and two-way tables.

Reports are drawn as counts, estimates are the unbiased ones projected to the simplex, and a distance is the total
variation from the population, averaged over the tables (all of them, or a random choice) and over trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb, expm1
from typing import TYPE_CHECKING

import numpy as np

from deniable import KRR, Kronecker, Mixture, Seeded
from reproduction.adult_counts import adult_codes
from reproduction.item import Reproduced, Run
from reproduction.simulated_counts import projected_rows, sampled, tally
from reproduction.wang.cholesterol import laplace_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

EPSILONS = (1.0, 4.0)
N = 20_000
_RECORDS = 100_000
_MOST_TABLES = 60
_HALF = 0.5  # of the fakes stay even: the default floor

PAIRS = (
    "one pair, k-RR (Views)",
    "one pair, k-RR, shrunk to the product of margins (Views)",
    "one pair, fakes learned (RRBA with a floor)",
    "all pairs of a view, budget split (RRBA's views)",
    "every attribute, budget split, joint (RR-Ind-Joint)",
    "every attribute, budget split, product (RR-Ind)",
    "one attribute, product of margins (Sampled)",
)
ONES = (
    "one attribute, k-RR (Sampled)",
    "every attribute, budget split (Independent)",
    "one attribute, Laplace on category numbers",
    "one pair, summed (Views)",
)


@dataclass(frozen=True, eq=False)
class Population:
    """Codes of many records, and the number of categories of every attribute."""

    codes: NDArray[np.integer]
    shape: tuple[int, ...]

    @property
    def d(self) -> int:
        """How many attributes."""
        return len(self.shape)

    def table(self, *axes: int) -> NDArray[np.float64]:
        """Shares of some attributes' table."""
        shape = tuple(self.shape[axis] for axis in axes)
        return tally(self.codes[:, list(axes)], shape) / len(self.codes)


@cache
def population(name: str) -> Population:
    """A network's records, or UCI Adult itself."""
    if name == "adult":
        codes, domain = adult_codes()
        return Population(codes, domain.shape)
    from deniable.datasets import network

    source = network(name)
    return Population(source.codes(_RECORDS, Seeded(1)), source.domain.shape)


def compare(name: str) -> Callable[[Run], Reproduced]:
    """Make the function that measures one population."""

    def compute(run: Run) -> Reproduced:
        people = population(name)
        out = Reproduced()
        rng = run.rng
        every = list(combinations(range(people.d), 2))
        axes = range(people.d)
        pairs = [every[i] for i in rng.permutation(len(every))[: 6 if run.smoke else _MOST_TABLES]]
        found: dict[tuple[str, str, float], list[NDArray[np.float64]]] = {}
        for epsilon in EPSILONS:
            for pair in run.track(pairs):
                for method, each in two_way(people, pair, epsilon, run):
                    found.setdefault(("pairs", method, epsilon), []).append(each)
            for axis in run.some(axes, 8):
                for method, each in one_way(people, axis, epsilon, run):
                    found.setdefault(("margins", method, epsilon), []).append(each)
        for (what, method, epsilon), measured in found.items():
            means = np.array([trials.mean() for trials in measured])
            # Which tables were measured is part of the error where not all of them were.
            error = float(means.std(ddof=1)) / len(means) ** 0.5
            out.line(f"{what}, epsilon {epsilon:g}: {method}", float(means.mean()), error=error)
            out.row(tables=what, epsilon=epsilon, method=method, distance=float(means.mean()))
        out.notes.append(f"{people.d} attributes, {N} respondents; total variation from the population, on average.")
        return out

    return compute


def apart(estimates: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Total variation of projected estimates (trials last) from the truth."""
    flat = projected_rows(estimates.reshape(truth.size, -1).T)
    return np.abs(flat - truth.ravel()).sum(axis=1) / 2


def through(run: Run, channel: Channel, pi: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Unbiased estimates from n respondents, trials last."""
    count = max(2, round(n))
    return channel.solve(sampled(run.rng, channel, pi.ravel(), count, run.trials) / count)


@cache
def krr(t: int, epsilon: float) -> KRR:
    """Made once: the same few channels serve thousands of tables."""
    return KRR(t, epsilon=epsilon)


def two_way(
    people: Population, pair: tuple[int, int], epsilon: float, run: Run
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Distances of one pair's table by method."""
    pi, d = people.table(*pair), people.d
    t, asked = pi.size, N / comb(d, 2)
    channel = krr(t, epsilon)
    alone = through(run, channel, pi, asked).reshape(*pi.shape, -1)
    yield PAIRS[0], apart(alone, pi)
    target = product(*(pooled_margin(people, axis, epsilon, run) for axis in pair))
    yield PAIRS[1], apart(shrunk(alone, target, float(channel.variance(pi.ravel(), round(asked)).sum())), pi)
    odds = _HALF * expm1(epsilon)
    keep = odds / (t + odds)
    yield PAIRS[2], apart(through(run, Mixture(keep, (0.5 / t + 0.5 * pi.ravel()).tolist()), pi, asked), pi)
    rounds = d - 1 if d % 2 == 0 else d
    yield PAIRS[3], apart(through(run, krr(t, epsilon / (d // 2)), pi, N / rounds), pi)
    own = Kronecker([krr(size, epsilon / d) for size in pi.shape])
    raw = own.solve(sampled(run.rng, own, pi, N, run.trials) / N)
    yield PAIRS[4], apart(raw, pi)
    yield PAIRS[5], apart(product(raw.sum(axis=1), raw.sum(axis=0)), pi)
    margins = [through(run, krr(len(x), epsilon), x, N / d) for x in (pi.sum(axis=1), pi.sum(axis=0))]
    yield PAIRS[6], apart(product(*margins), pi)


def one_way(people: Population, axis: int, epsilon: float, run: Run) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Distances of one attribute's shares by method."""
    pi, d = people.table(axis), people.d
    t = len(pi)
    yield ONES[0], apart(through(run, krr(t, epsilon), pi, N / d), pi)
    yield ONES[1], apart(through(run, krr(t, epsilon / d), pi, N), pi)
    yield ONES[2], apart(through(run, laplace_at(t, epsilon), pi, N / d), pi)
    yield ONES[3], apart(pooled_margin(people, axis, epsilon, run), pi)


def pooled_margin(people: Population, axis: int, epsilon: float, run: Run) -> NDArray[np.float64]:
    """An attribute's shares from the reports about all pairs that it is in, weighted by their precision."""
    pi, d = people.table(axis), people.d
    parts, weights = [], []
    for size in (size for other, size in enumerate(people.shape) if other != axis):
        summed = krr(len(pi) * size, epsilon).collapse((len(pi), size), (0,))
        assert summed is not None
        parts.append(through(run, summed, pi, N / comb(d, 2)))
        weights.append(1 / float(summed.variance(np.full(len(pi), 1 / len(pi)), 1).sum()))
    return np.average(parts, axis=0, weights=weights)


def shrunk(tables: NDArray[np.float64], target: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    """James and Stein's weight between unbiased tables and a product of margins, trials last."""
    apart_by = ((tables - target) ** 2).sum(axis=(0, 1))
    return target + np.maximum(0.0, 1 - variance / apart_by) * (tables - target)


def product(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products of projected margins, trials last."""
    rows, columns = projected_rows(a.T), projected_rows(b.T)
    return (rows[:, :, None] * columns[:, None, :]).transpose(1, 2, 0)

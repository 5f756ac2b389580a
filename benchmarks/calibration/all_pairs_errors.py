"""Errors of all pair tables at once, from simulated reports of a design whose ballots are single questions.

People with even shares are asked by the design: ballots are drawn and answers disguised by the integers that are run.
Every report is unbiased for the table of its question T. The parts of that table on a set S of one or two attributes
inside T are averaged over all T, each as much as it tells: with z_T the sum of the unbiased tables of n_T reports,

    part on S = sum over T containing S of g_T (part of z_T on S)  /  sum over T containing S of g_T n_T,

which at even shares is the efficient estimate, as a test shows. The parts of a pair are orthogonal, so its squared
error is the sum of theirs.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable import Reports, Seeded
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable import Design
    from deniable.channels.channel import Channel

    Parts = dict[tuple[str, ...], NDArray[np.float64]]

_PAIR = 2


def asked(design: Design, n: int, rng: np.random.Generator, source: Seeded) -> Reports:
    """Reports of n people whose answers are even and independent."""
    codes = np.column_stack([rng.integers(0, size, n) for size in design.domain.shape])
    ballots, answers = design.randomize_codes(codes, source=source)
    return Reports.of_codes(design, ballots, answers, None, "pyarrow")


def parts(reports: Reports) -> Parts:
    """The estimated part of every set of one or two attributes that some question holds."""
    design = reports.design
    above: dict[tuple[str, ...], NDArray[np.float64]] = {}
    below: dict[tuple[str, ...], float] = {}
    order = {name: place for place, name in enumerate(design.domain)}
    for ballot, (index,) in enumerate(design.ballots):
        question = design.questions[index]
        told = reports.told(ballot, question.attributes)
        n = len(reports.rows_of(ballot))
        if told is None or not n:
            continue
        if not told.channel.treats_alike:
            raise InputError(f"{question.name} goes through a channel made for some numbers; this is for whole tables")
        tells = _information(told.channel)
        counts = reports.count(ballot, told).astype(np.float64).reshape(told.channel.output_shape)
        table = told.channel.solve(counts).reshape(told.domain.shape)
        inside = sorted(told.domain, key=order.__getitem__)
        for names in (names for size in range(1, _PAIR + 1) for names in combinations(inside, size)):
            others = tuple(axis for axis, name in enumerate(told.domain) if name not in names)
            held = table.sum(axis=others)
            if [name for name in told.domain if name in names] != list(names):
                held = held.T
            above[names] = above.get(names, np.zeros(held.shape)) + tells * held
            below[names] = below.get(names, 0.0) + tells * n
    return {names: _centred(above[names] / below[names]) for names in above}


def _information(channel: Channel) -> float:
    """What one report tells about every contrast of a question, through a channel that treats all cells alike."""
    k = channel.inputs
    return (k - 1) / (k * float(channel.variance(np.full(k, 1 / k), 1).sum()))


def _centred(table: NDArray[np.float64]) -> NDArray[np.float64]:
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def squared_error(found: Parts, pairs: Sequence[tuple[str, str]]) -> float:
    """Summed over the cells of all pairs, where the truth is even: there nothing has a part."""
    squares = {names: float((part**2).sum()) for names, part in found.items()}
    total = 0.0
    for first, second in pairs:
        k, m = found[first, second].shape
        total += squares[first, second] + squares[first,] / m + squares[second,] / k
    return total


def simulated(design: Design, pairs: Sequence[tuple[str, str]], n: int, surveys: int, seed: int) -> float:
    """Return n times the summed squared error of all pairs, on average over some surveys of n people."""
    rng, source = np.random.default_rng(seed), Seeded(seed)
    errors = [squared_error(parts(asked(design, n, rng, source)), pairs) for _ in range(surveys)]
    return n * float(np.mean(errors))

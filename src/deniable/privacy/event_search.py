"""Find the event that tells two truths apart best: the search half of an audit.

An event is a set of reports S. Whoever sees a report in S learns  ln Pr(S | v) - ln Pr(S | v')  about the truth, at
least. By Neyman and Pearson the best S of its size holds the reports of the largest likelihood ratio, so only
prefixes of that order are tried. The order comes from one sample and the score from another one: a prefix that
merely collects what one sample happened to contain scores nothing. A third sample chooses among the few best.

Nothing here has to be right for the audit to be valid; it has to be good for the audit to be strong. The bound is
computed from fresh runs, in `audit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Draw: TypeAlias = Callable[[Ints], Ints]
"""Truth codes in, reports out: one row a report, one column a part of it."""

MOST_OUTPUTS = 1024
"""Only so many different reports, the most frequent ones, are candidates for the event."""

MOST_COLUMNS = 64
"""Only so many columns of a wide report are looked at one by one."""

_FEW = 1 << 16
"""So many different reports are told apart by a table of all that there could be."""

_HOPEFUL = 0.5
"""Standard errors that are taken off a ratio, where what was seen a few times is to be followed up."""


_STRICT = 2.0
"""The same where only what is sure is to be found: events that many reports fall into."""


@dataclass(frozen=True, eq=False)
class Event:
    """The reports whose `columns` read like one of the rows of `outputs`, telling truth `first` from `second`."""

    first: int
    second: int
    columns: tuple[int, ...]
    outputs: Ints
    score: float

    def contains(self, reports: Ints) -> npt.NDArray[np.bool_]:
        """Say of each report whether it lies in the event."""
        seen = reports[:, list(self.columns)]
        different, ids = _identify(np.concatenate([self.outputs, seen]))
        inside = np.zeros(len(different), dtype=np.bool_)
        inside[ids[: len(self.outputs)]] = True
        return inside[ids[len(self.outputs) :]]


def most_telling_event(draw: Draw, truths: Ints, *, runs: int, z: float, proof: int) -> Event:
    """Spend half of the runs on finding pairs of truths, the other half on the event that parts one of these best.

    Args:
        draw: The randomizer.
        truths: Two or more truth codes.
        runs: How many reports may be drawn.
        z: How many standard errors the bound will lie below its estimate.
        proof: How many reports of each truth the bound will be made of.
    """
    reports, labels = _sample(draw, truths, runs // 2)
    width = reports.shape[1]
    whole = tuple(range(width))
    singles = [(column,) for column in _some_columns(width)] if width > 1 else []
    # A pair that is surely told apart, and one that may be told apart far better, if what was seen a few times holds.
    careful = _Score(proof, z, careful=True)
    views = (*singles, whole)
    coarse = [_best_event(reports[:, list(view)], labels, truths, view, careful) for view in views]
    surely = max(coarse, key=lambda event: event.score)
    hopeful = max(
        _seen_of_one(reports[:, list(view)], labels, truths, _Score(proof, z, careful=False)) for view in views
    )
    pairs = dict.fromkeys([(surely.first, surely.second), hopeful[1:]])
    left = runs - runs // 2
    strict = _Score(proof, z, careful=True, errors=_STRICT)
    found = [
        event for pair in pairs for event in _part(draw, pair, (left - left // 3) // len(pairs), (careful, strict))
    ]
    # The best of thousands of events owes some of its score to luck, a rare one most of it: fresh runs choose.
    return max(found, key=lambda event: _again(draw, event, left // 3 // (2 * len(found)), careful))


def _again(draw: Draw, event: Event, each: int, score: _Score) -> float:
    """The score of an event by reports that had no part in finding it."""
    labels = np.tile(np.array([event.first, event.second], dtype=np.int64), max(each, 1))
    inside = event.contains(draw(labels))
    hits, misses = inside[0::2].sum(keepdims=True), inside[1::2].sum(keepdims=True)
    return float(score(hits, misses, max(each, 1), max(each, 1))[0])


def _part(draw: Draw, pair: tuple[int, int], runs: int, scores: tuple[_Score, ...]) -> list[Event]:
    """The events that part two truths best, by every score."""
    truths = np.array(pair, dtype=np.int64)
    reports, labels = _sample(draw, truths, runs)
    width = reports.shape[1]
    whole = tuple(range(width))
    singles = [(column,) for column in _some_columns(width)] if width > 1 else []
    found = []
    for score in scores:
        fine = [_best_event(reports[:, list(view)], labels, truths, view, score) for view in singles]
        # The two or three most telling columns together: what a unary encoding says about two truths stands in two
        # bits, and the whole row has too many values to be counted.
        ranked = sorted(fine, key=lambda event: -event.score)
        together = [tuple(sorted(event.columns[0] for event in ranked[:many])) for many in (2, 3) if many < width]
        fine += [_best_event(reports[:, list(view)], labels, truths, view, score) for view in (*together, whole)]
        found.append(max(fine, key=lambda event: event.score))
    return found


def _seen_of_one(seen: Ints, labels: Ints, truths: Ints, score: _Score) -> tuple[float, int, int]:
    """Of all reports, the one that most looks as if a single truth made it: how much, that truth and another."""
    outputs, ids = _identify(seen)
    counts = _counts(labels, ids, len(truths), len(outputs))
    n = len(labels) // len(truths)
    found = score(counts, counts.sum(axis=0) - counts, n, n * (len(truths) - 1))
    first, output = (int(index) for index in np.unravel_index(np.argmax(found), found.shape))
    others = np.where(np.arange(len(truths)) == first, np.iinfo(np.int64).max, counts[:, output])
    return float(found[first, output]), int(truths[first]), int(truths[np.argmin(others)])


@dataclass(frozen=True)
class _Score:
    """What bound an event would get from `proof` fresh reports of each truth, foreseen from a sample.

    Shares of hits and misses are taken a little on the safe side, or as they are where not `careful`.
    Bounds are Clopper and Pearson's, by Wilson and Hilferty's cube of a normal: right also for a handful of hits and
    for none, where a normal for ln(hits / misses) gives up.
    """

    proof: int
    z: float
    careful: bool
    errors: float = 0.5

    def __call__(self, hits: Ints, misses: Ints, n: int, missing: int) -> Floats:
        """Of so many hits among n reports, and misses among `missing` others."""
        a, b = (hits + 0.5) / (n + 1), (misses + 0.5) / (missing + 1)
        if self.careful:
            a, b = _below(n * a, n, self.errors) / n, b + 2 * self.errors * np.sqrt(misses) / missing
        foreseen: Floats = np.log(
            np.maximum(_below(self.proof * a, self.proof, self.z), 1e-9) / _above(self.proof * b, self.proof, self.z)
        )
        return foreseen


def _below(hits: Floats, n: int, z: float) -> Floats:
    """A lower bound of the expected number of hits."""
    some = np.maximum(hits, 1e-9)
    root = 1 - 1 / (9 * some) - z * np.sqrt(np.maximum(1 - some / n, 0) / some) / 3
    return np.asarray(some * np.maximum(root, 0) ** 3)


def _above(misses: Floats, n: int, z: float) -> Floats:
    """An upper bound of the expected number of misses."""
    one_more = np.minimum(misses + 1, n)
    root = 1 - 1 / (9 * one_more) + z * np.sqrt(np.maximum(1 - one_more / n, 0) / one_more) / 3
    return np.asarray(np.minimum(one_more * root**3, n))


def _sample(draw: Draw, truths: Ints, runs: int) -> tuple[Ints, Ints]:
    """Draw equally many reports for every truth, an even number; with each report the index of its truth."""
    each = 2 * max(1, runs // (2 * len(truths)))
    labels = np.tile(np.arange(len(truths)), each)
    return draw(truths[labels]), labels


def _some_columns(width: int) -> list[int]:
    # Evenly spread, with the first and the last one: that is where off-by-one errors live.
    spread = np.linspace(0, width - 1, min(width, MOST_COLUMNS)).round().astype(int)
    return [int(column) for column in spread]


def _best_event(seen: Ints, labels: Ints, truths: Ints, view: tuple[int, ...], score: _Score) -> Event:
    outputs, ids = _identify(seen)
    kept = np.argsort(-np.bincount(ids), kind="stable")[:MOST_OUTPUTS]
    # Reports come in rounds of one per truth; the first half of the rounds ranks, the second half scores.
    half = len(labels) // 2
    ranking = _counts(labels[:half], ids[:half], len(truths), len(outputs))[:, kept]
    counts = _counts(labels[half:], ids[half:], len(truths), len(outputs))[:, kept]
    best, first, second, prefix = _best_prefix(ranking, counts, half // len(truths), score)
    return Event(int(truths[first]), int(truths[second]), view, outputs[kept[prefix]], best)


def _best_prefix(ranking: Ints, counts: Ints, n: int, score: _Score) -> tuple[float, int, int, Ints]:
    """Over all ordered pairs of truths: the prefix of reports, by likelihood ratio, with the best lower bound.

    Args:
        ranking: Counts of the ranking sample, one row a truth, one column an output.
        counts: Counts of the scoring sample, likewise.
        n: Reports per truth in the scoring sample.
        score: How good an event is.
    """
    best = (-np.inf, 0, 1, np.zeros(1, dtype=np.int64))
    # Twice: reports seen a few times come late in one order, early in the other.
    for first, errors in product(range(len(ranking)), (score.z, _HOPEFUL)):
        order = np.argsort(-_telling(ranking[first], ranking, errors), axis=1, kind="stable")
        hits = np.cumsum(counts[first][order], axis=1)
        misses = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1)
        found = score(hits, misses, n, n)
        found[first] = -np.inf
        second, last = (int(index) for index in np.unravel_index(np.argmax(found), found.shape))
        if found[second, last] > best[0]:
            best = (float(found[second, last]), first, second, order[second, : last + 1])
    return best


def _telling(hits: Ints, misses: Ints, errors: float) -> Floats:
    """Return ln((hits + 1) / (misses + 1)), the smoothed likelihood ratio, less some of its standard errors.

    Smoothing gives an output never seen under the other truth a large ratio, not an infinite one; the standard errors
    keep outputs seen three times from ranking above those seen a thousand times.
    """
    below: Floats = np.log((hits + 1) / (misses + 1)) - errors * np.sqrt(1 / (hits + 1) + 1 / (misses + 1))
    return below


def _counts(labels: Ints, ids: Ints, truths: int, outputs: int) -> Ints:
    flat = np.bincount(labels * outputs + ids, minlength=truths * outputs)
    return flat.reshape(truths, outputs).astype(np.int64)


def _identify(rows: Ints) -> tuple[Ints, Ints]:
    """Return the different rows, and for each row which of them it is."""
    low = rows.min(axis=0)
    sizes = [int(most) - int(least) + 1 for most, least in zip(rows.max(axis=0), low, strict=True)]
    if math.prod(sizes) < 1 << 62:  # as digits of one number: much faster than the general case
        numbers = np.zeros(len(rows), dtype=np.int64)
        for column, size in enumerate(sizes):
            numbers = numbers * size + (rows[:, column] - low[column])
        if math.prod(sizes) <= max(len(rows), _FEW):  # faster still: nothing has to be sorted
            seen = np.zeros(math.prod(sizes), dtype=np.bool_)
            seen[numbers] = True
            ids = (np.cumsum(seen) - 1)[numbers]
            places = np.empty(np.count_nonzero(seen), dtype=np.int64)
            places[ids] = np.arange(len(rows))
            return rows[places], ids
        _, places, ids = np.unique(numbers, return_index=True, return_inverse=True)
        return rows[places], _flat(ids)
    different, ids = np.unique(rows, axis=0, return_inverse=True)
    return different, _flat(ids)


def _flat(ids: npt.NDArray[Any]) -> Ints:
    # NumPy 2.0 returned the inverse of unique(axis=0) as a column.
    return ids.reshape(-1).astype(np.int64)

"""Find the event that tells two truths apart best: the search half of an audit.

An event is a set of reports S. Whoever sees a report in S learns  ln Pr(S | v) - ln Pr(S | v')  about the truth, at
least. By Neyman and Pearson the best S of its size holds the reports of the largest likelihood ratio, so only
prefixes of that order are tried. The order comes from one sample and the score from another one: a prefix that
merely collects what one sample happened to contain scores nothing.

Nothing here has to be right for the audit to be valid; it has to be good for the audit to be strong. The bound is
computed from fresh runs, in `audit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
        _, ids = _identify(np.concatenate([self.outputs, seen]))
        return np.isin(ids[len(self.outputs) :], ids[: len(self.outputs)])


def most_telling_event(draw: Draw, truths: Ints, *, runs: int, z: float) -> Event:
    """Spend half of the runs on finding the pair of truths, the other half on the event that parts this pair.

    Args:
        draw: The randomizer.
        truths: Two or more truth codes.
        runs: How many reports may be drawn.
        z: How many standard errors a score lies below its estimate.
    """
    reports, labels = _sample(draw, truths, runs // 2)
    width = reports.shape[1]
    whole = tuple(range(width))
    singles = [(column,) for column in _some_columns(width)] if width > 1 else []
    coarse = [_best_event(reports[:, list(view)], labels, truths, view, z) for view in (*singles, whole)]
    first = max(coarse, key=lambda event: event.score)

    pair = np.array([first.first, first.second], dtype=np.int64)
    reports, labels = _sample(draw, pair, runs - runs // 2)
    fine = [_best_event(reports[:, list(view)], labels, pair, view, z) for view in singles]
    # The two or three most telling columns together: what a unary encoding says about two truths stands in two bits,
    # and the whole row has too many values to be counted.
    ranked = sorted(fine, key=lambda event: -event.score)
    together = [tuple(sorted(event.columns[0] for event in ranked[:many])) for many in (2, 3) if many < width]
    fine += [_best_event(reports[:, list(view)], labels, pair, view, z) for view in (*together, whole)]
    return max(fine, key=lambda event: event.score)


def _sample(draw: Draw, truths: Ints, runs: int) -> tuple[Ints, Ints]:
    """Draw equally many reports for every truth, an even number; with each report the index of its truth."""
    each = 2 * max(1, runs // (2 * len(truths)))
    labels = np.tile(np.arange(len(truths)), each)
    return draw(truths[labels]), labels


def _some_columns(width: int) -> list[int]:
    # Evenly spread, with the first and the last one: that is where off-by-one errors live.
    spread = np.linspace(0, width - 1, min(width, MOST_COLUMNS)).round().astype(int)
    return [int(column) for column in spread]


def _best_event(seen: Ints, labels: Ints, truths: Ints, view: tuple[int, ...], z: float) -> Event:
    outputs, ids = _identify(seen)
    kept = np.argsort(-np.bincount(ids), kind="stable")[:MOST_OUTPUTS]
    # Reports come in rounds of one per truth; the first half of the rounds ranks, the second half scores.
    half = len(labels) // 2
    ranking = _counts(labels[:half], ids[:half], len(truths), len(outputs))[:, kept]
    counts = _counts(labels[half:], ids[half:], len(truths), len(outputs))[:, kept]
    score, first, second, prefix = _best_prefix(ranking, counts, half // len(truths), z)
    return Event(int(truths[first]), int(truths[second]), view, outputs[kept[prefix]], score)


def _best_prefix(ranking: Ints, counts: Ints, n: int, z: float) -> tuple[float, int, int, Ints]:
    """Over all ordered pairs of truths: the prefix of reports, by likelihood ratio, with the best lower bound.

    Args:
        ranking: Counts of the ranking sample, one row a truth, one column an output.
        counts: Counts of the scoring sample, likewise.
        n: Reports per truth in the scoring sample.
        z: How many standard errors a score lies below its estimate.
    """
    best = (-np.inf, 0, 1, np.zeros(1, dtype=np.int64))
    for first in range(len(ranking)):
        order = np.argsort(-_telling(ranking[first], ranking, z), axis=1, kind="stable")
        hits = np.cumsum(counts[first][order], axis=1)
        misses = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1)
        score = _log_ratio_below(hits, misses, n, z)
        score[first] = -np.inf
        second, last = (int(index) for index in np.unravel_index(np.argmax(score), score.shape))
        if score[second, last] > best[0]:
            best = (float(score[second, last]), first, second, order[second, : last + 1])
    return best


def _telling(hits: Ints, misses: Ints, z: float) -> Floats:
    """Return ln((hits + 1) / (misses + 1)), the smoothed likelihood ratio, less z of its standard errors.

    Smoothing gives an output never seen under the other truth a large ratio, not an infinite one; the standard error
    keeps outputs seen three times from ranking above those seen a thousand times.
    """
    below: Floats = np.log((hits + 1) / (misses + 1)) - z * np.sqrt(1 / (hits + 1) + 1 / (misses + 1))
    return below


def _log_ratio_below(hits: Ints, misses: Ints, n: int, z: float) -> Floats:
    """Return ln(a / b) less z standard errors, by the delta method, with half a count added to each."""
    a, b = (hits + 0.5) / (n + 1), (misses + 0.5) / (n + 1)
    below: Floats = np.log(a / b) - z * np.sqrt(((1 - a) / a + (1 - b) / b) / n)
    return below


def _counts(labels: Ints, ids: Ints, truths: int, outputs: int) -> Ints:
    flat = np.bincount(labels * outputs + ids, minlength=truths * outputs)
    return flat.reshape(truths, outputs).astype(np.int64)


def _identify(rows: Ints) -> tuple[Ints, Ints]:
    """Return the different rows, and for each row which of them it is."""
    if rows.shape[1] == 1:  # much faster than the general case
        values, ids = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], _flat(ids)
    different, ids = np.unique(rows, axis=0, return_inverse=True)
    return different, _flat(ids)


def _flat(ids: npt.NDArray[Any]) -> Ints:
    # NumPy 2.0 returned the inverse of unique(axis=0) as a column.
    return ids.reshape(-1).astype(np.int64)

"""What most items need: counts of reports drawn at once, projections, distances between tables, means with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel


def sampled(
    rng: np.random.Generator, channel: Channel, pi: NDArray[np.float64], n: int, trials: int
) -> NDArray[np.float64]:
    """Counts of the reports of n people drawn from pi, `trials` times along the last axis."""
    lam = channel.apply(pi.reshape(channel.input_shape)).ravel()
    drawn = rng.multinomial(n, lam / lam.sum(), size=trials).T
    return drawn.reshape(*channel.output_shape, trials).astype(np.float64)


def disguised(
    rng: np.random.Generator, channel: Channel, counts: NDArray[np.integer], trials: int
) -> NDArray[np.float64]:
    """Counts of the reports of given people (their truths counted), `trials` times along the last axis."""
    matrix = channel.matrix()
    total = np.zeros((trials, channel.outputs), dtype=np.int64)
    for truth, people in enumerate(counts.ravel().astype(np.int64)):
        if people:
            total += rng.multinomial(people, matrix[:, truth] / matrix[:, truth].sum(), size=trials)
    return total.T.reshape(*channel.output_shape, trials).astype(np.float64)


def tally(codes: NDArray[np.integer], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Count rows of codes into a table.

    >>> tally(np.array([[0, 1], [0, 1], [1, 0]]), (2, 2)).tolist()
    [[0, 2], [1, 0]]
    """
    cells = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def projected_rows(rows: NDArray[np.float64], total: float = 1.0) -> NDArray[np.float64]:
    """The nearest distribution to every row ("Norm-Sub"): less one number, and nothing below zero.

    >>> projected_rows(np.array([[0.6, 0.5, -0.1]])).round(3).tolist()
    [[0.55, 0.45, 0.0]]
    """
    ordered = -np.sort(-rows, axis=1)
    excess = (ordered.cumsum(axis=1) - total) / np.arange(1, rows.shape[1] + 1)
    kept = (ordered > excess).sum(axis=1, keepdims=True)  # the largest cells, which stay above zero
    return np.maximum(rows - np.take_along_axis(excess, kept - 1, axis=1), 0.0)


def each_mean(values: NDArray[np.float64], truth: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """Mean over the cells of |estimate - truth|^power, one a trial (the last axis)."""
    apart = np.abs(values - truth[..., None]) ** power
    return apart.reshape(-1, values.shape[-1]).mean(axis=0)


def mean_error(values: ArrayLike) -> tuple[float, float]:
    """The mean of trials and its standard error.

    >>> mean_error([1.0, 2.0, 3.0])
    (2.0, 0.57735)
    """
    array = np.asarray(values, dtype=np.float64)
    spread = float(array.std(ddof=1)) if len(array) > 1 else 0.0
    return float(array.mean()), spread / len(array) ** 0.5


def ratio_error(top: ArrayLike, bottom: ArrayLike) -> tuple[float, float]:
    """The ratio of two means of trials and its standard error by the delta method; trials are matched.

    >>> ratio_error([2.0, 4.0], [1.0, 2.0])
    (2.0, 0.0)
    """
    a, b = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    ratio = float(a.mean() / b.mean())
    _, error = mean_error((a - ratio * b) / b.mean())
    return ratio, error


def spread_error(values: ArrayLike) -> tuple[float, float]:
    """The standard deviation of trials and its own standard error, from the fourth moment."""
    array = np.asarray(values, dtype=np.float64)
    centred = array - array.mean()
    variance = float((centred**2).sum() / (len(array) - 1))
    error = float((centred**2).std(ddof=1)) / len(array) ** 0.5
    return variance**0.5, error / (2 * variance**0.5) if variance else 0.0


def phi_squared(table: NDArray[np.float64]) -> float:
    """Pearson's chi-square of a two-way table of shares, a respondent."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    return float(((table - expected) ** 2)[expected > 0] @ (1 / expected[expected > 0]))


def cramers_v(table: NDArray[np.float64]) -> float:
    """Cramer's V of a two-way table of shares."""
    return (phi_squared(table) / (min(table.shape) - 1)) ** 0.5


def jensen_shannon(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Jensen-Shannon distance of distributions along the first axis: square root of the divergence, natural log."""
    middle = (p + q) / 2

    def half(x: NDArray[np.float64]) -> NDArray[np.float64]:
        terms = np.zeros(np.broadcast_shapes(x.shape, middle.shape))
        inside = np.broadcast_to(x > 0, terms.shape)
        np.divide(x, middle, out=terms, where=inside)
        np.log(terms, out=terms, where=inside)
        return (terms * x).sum(axis=0) / 2

    return np.sqrt(np.maximum(half(p) + half(q), 0.0))

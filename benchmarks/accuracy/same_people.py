"""One ordered question, the same simulated people, every mechanism: how far off its distribution function and mean are.

In every survey the same people answer through each mechanism, and squared errors are averaged over surveys, times n:
what `against` says of unbiased estimates in closed form, and what smoothed, biased ones reach beside them.

Mechanisms that are channels get the same estimator: generalised least squares, weighted at even shares and once more at
what that found, so that none is blamed for its authors' estimator. The square wave gets its authors' as well: EM with
smoothing (EMS), which keeps to smooth distributions and is right where the truth is one.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.accuracy import rivals
from deniable import KRR, BlockDesign, optimal_channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

POINTS = 11
RESPONDENTS = 10_000
_MIXED = 0.01  # of even shares, in what reports are weighted at
_ROUNDS = 2000


def populations(t: int = POINTS) -> dict[str, Array]:
    """Some truths: even, falling from the first answer on, two peaks, and one answer that most give."""
    place = np.arange(t)
    made = {
        "even": np.ones(t),
        "falling": 0.7**place,
        "two peaks": np.exp(-((place - 2) ** 2) / 3) + 0.5 * np.exp(-((place - 8) ** 2) / 2),
        "one spike": np.where(place == 4, 30.0, 1.0),
    }
    return {name: shares / shares.sum() for name, shares in made.items()}


def drawn(matrix: Array, people: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Counts of the reports of some people: (reports, surveys) from (truths, surveys)."""
    counts = np.zeros((len(matrix), people.shape[1]))
    for shares, many in zip(matrix.T / matrix.sum(axis=0)[:, None], people, strict=True):
        counts += rng.multinomial(many, shares).T
    return counts


def least_squares(matrix: Array, counts: Array) -> Array:
    """Shares (truths, surveys) by generalised least squares, weighted at even shares, then at what that found."""
    n, t = counts.sum(axis=0), matrix.shape[1]
    likely = np.full((t, counts.shape[1]), 1 / t)
    for _ in range(2):
        lam = matrix @ likely
        information = np.einsum("ua,us,ub->sab", matrix, 1 / lam, matrix, optimize=True)
        pulled = np.einsum("ua,us->sa", matrix, counts / n / lam, optimize=True)
        # Where not all shares are told, those of the least length: what is wanted is told.
        found = np.einsum("sab,sb->as", np.linalg.pinv(information, rcond=1e-10, hermitian=True), pulled)
        likely = _MIXED / t + (1 - _MIXED) * _projected(found)
    return np.asarray(found)


def _projected(shares: Array) -> Array:
    """The nearest distribution to every column: less one number, and nothing below zero."""
    ordered = -np.sort(-shares, axis=0)
    excess = (ordered.cumsum(axis=0) - 1) / np.arange(1, len(shares) + 1)[:, None]
    kept = (ordered > excess).sum(axis=0)[None]  # the largest shares, which stay above zero
    return np.maximum(shares - np.take_along_axis(excess, kept - 1, axis=0), 0.0)


def smoothed(matrix: Array, counts: Array, epsilon: float) -> Array:
    """EM with smoothing (Li et al. 2020): after every step each share is averaged with its neighbours, 1 : 2 : 1.

    It stops where the log-likelihood rises by less than e^epsilon / 1000, as its authors have it.
    """
    t, surveys = matrix.shape[1], counts.shape[1]
    shares, last = np.full((t, surveys), 1 / t), np.full(surveys, -np.inf)
    for _ in range(_ROUNDS):
        lam = matrix @ shares
        loglik = (counts * np.log(lam)).sum(axis=0)
        going = loglik - last > exp(epsilon) / 1000
        if not going.any():
            break
        last = np.maximum(loglik, last)
        step = shares * (matrix.T @ (counts / lam))
        padded = np.concatenate([step[:1], step, step[-1:]])
        step = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
        shares = np.where(going, step / step.sum(axis=0), shares)
    return shares


def measure(epsilon: float, truth: Array, surveys: int, seed: int) -> dict[str, tuple[float, float]]:
    """N times the squared error of the distribution function and of the mean (of 0 .. 1), by mechanism."""
    rng, t = np.random.default_rng(seed), len(truth)
    people = rng.multinomial(RESPONDENTS, truth, size=surveys).T
    found = {name: least_squares(p, drawn(p, people, rng)) for name, p in _channels(t, epsilon).items()}
    wave = rivals.square_wave(t, epsilon)
    found["square wave, EMS"] = smoothed(wave, drawn(wave, people, rng), epsilon)
    errors = {name: _errors(shares, truth) for name, shares in found.items()}
    mean = optimal_channel(np.arange(t) / (t - 1), epsilon)
    made = least_squares(mean.matrix(), drawn(mean.matrix(), people, rng))
    true = float(truth @ np.arange(t)) / (t - 1)
    nan = float("nan")
    errors["ours: optimal for the mean"] = nan, _errors(made, truth)[1]
    for name, bits in _means(t, epsilon, people, rng).items():
        errors[name] = nan, RESPONDENTS * float(((bits - true) ** 2).mean())
    return errors


def _channels(t: int, epsilon: float) -> Mapping[str, Array]:
    cdf = np.tril(np.ones((t, t)))[:-1]
    return {
        "ours: optimal for the cdf": optimal_channel(cdf, epsilon).matrix(),
        "ours: block design": BlockDesign(t, epsilon).matrix(),
        "ours: k-RR": KRR(t, epsilon).matrix(),
        "square wave, unbiased": rivals.square_wave(t, epsilon),
        "hierarchical intervals": rivals.hierarchy(t, epsilon),
    }


def _errors(shares: Array, truth: Array) -> tuple[float, float]:
    away = shares - truth[:, None]
    scores = np.arange(len(truth)) / (len(truth) - 1)
    cdf = (np.cumsum(away, axis=0)[:-1] ** 2).sum(axis=0)
    return RESPONDENTS * float(cdf.mean()), RESPONDENTS * float(((scores @ away) ** 2).mean())


def _means(t: int, epsilon: float, people: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Array]:
    """The means, on the scale 0 .. 1, that mechanisms for means alone find in every survey."""
    x = np.linspace(-1, 1, t)
    e, r = exp(epsilon), exp(epsilon / 2)
    likely = 0.5 + x * (e - 1) / (2 * e + 2)
    ups = rng.binomial(people, likely[:, None]).sum(axis=0)
    n = people.sum(axis=0)
    duchi = (2 * ups - n) / n * (e + 1) / (e - 1)
    c, total = (r + 1) / (r - 1), np.zeros(people.shape[1])
    for v, each in zip(x, people, strict=True):
        left = (c + 1) / 2 * v - (c - 1) / 2
        survey = np.repeat(np.arange(len(each)), each)
        near = rng.random(len(survey)) < r / (r + 1)
        inside, outside = left + rng.random(len(survey)) * (c - 1), -c + rng.random(len(survey)) * (c + 1)
        outside += np.where(outside >= left, c - 1, 0.0)
        total += np.bincount(survey, np.where(near, inside, outside), minlength=len(each))
    return {"Duchi": (duchi + 1) / 2, "piecewise": (total / n + 1) / 2}


def compared(epsilons: Sequence[float], surveys: int, seed: int = 3) -> dict[str, dict[float, dict[str, float]]]:
    """For every truth, number and epsilon: squared errors over those of the channel of ours made for the number."""
    found: dict[str, dict[float, dict[str, float]]] = {}
    for number, (name, truth) in enumerate(populations().items()):
        for epsilon in epsilons:
            errors = measure(epsilon, truth, surveys, seed + number)
            for which, wanted in enumerate(("cdf", "mean")):
                least = errors[f"ours: optimal for the {wanted}"][which]
                told = {mechanism: both[which] / least for mechanism, both in errors.items()}
                found.setdefault(f"{wanted}, {name}", {})[epsilon] = told
    return found

"""Surveys of few clusters, drawn again and again: do intervals hold what they promise, and tests their level?

Eight villages of very different sizes, and four villages in two strata. Villages differ in how common every answer is:
their shares of the cells are Dirichlet, with an intraclass correlation of a twentieth before the disguise.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable import (
    Domain,
    Independent,
    Joint,
    MadeFor,
    Optimal,
    Reports,
    Seeded,
    estimate,
    independence,
    mean,
    mean_difference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable import Design, Measure

SURVEYS = 1000
SIZE = (0.0, 0.09)  # where the size of a test at level .05 must lie: four clusters seldom tell anything
_ALIKE = 19.0  # sum of the Dirichlet's parameters: an intraclass correlation of 1 / (1 + 19)
_FIRST, _SECOND = np.array([0.6, 0.4]), np.array([0.5, 0.3, 0.2])
DOMAIN = Domain({"a": range(2), "b": range(3), "c": range(2)})
DESIGNS: dict[str, Design] = {
    "Joint, epsilon 3": Joint(DOMAIN.project(["a", "b"]), 3.0),
    "Independent, epsilon 2 each": Independent(DOMAIN.project(["a", "b"]), 4.0),
    "Optimal, epsilon 3": Optimal(DOMAIN, [["a", "b"], ["b", "c"]], 3.0),
    "made for a mean and a pair, epsilon 3": Joint(DOMAIN, 3.0, channel=MadeFor(["mean(b)", "a*b"])),
}


class Sample(NamedTuple):
    """How people are drawn: the people of each cluster, its stratum, and where the coverage of intervals must lie."""

    sizes: NDArray[np.int64]
    stratum: NDArray[np.int64]
    covered: tuple[float, float]


SAMPLES = {
    "8 unequal": Sample(np.array([20, 30, 40, 50, 60, 80, 100, 200]), np.zeros(8, dtype=np.int64), (0.90, 0.99)),
    "4 in 2 strata": Sample(np.array([140, 140, 140, 140]), np.array([0, 0, 1, 1]), (0.93, 0.99)),
}


def few_clusters(
    surveys: int, seed: int, designs: Sequence[str] = tuple(DESIGNS)
) -> Iterator[tuple[str, str, str, list[int], tuple[float, float]]]:
    """Design, clusters, what; in how many surveys each interval of it holds the truth, or its test rejects; bounds."""
    truth = np.outer(_FIRST, _SECOND)
    for design, (drawn, sample) in product(designs, SAMPLES.items()):
        rng = np.random.default_rng([seed, list(DESIGNS).index(design), len(drawn)])
        hits: dict[str, list[NDArray[np.bool_]]] = {}
        for survey in range(surveys):
            reports, home = drawn_survey(DESIGNS[design], sample, truth, rng, Seeded(seed * surveys + survey))
            for what, held in _held(reports, sample.stratum[home], home, truth).items():
                hits.setdefault(what, []).append(np.atleast_1d(held))
        for what, each in hits.items():
            yield design, drawn, what, np.sum(each, axis=0).tolist(), SIZE if what == "size" else sample.covered


def drawn_survey(
    design: Design, sample: Sample, truth: NDArray[np.float64], rng: np.random.Generator, source: Seeded
) -> tuple[Reports, NDArray[np.int64]]:
    """The reports of a survey's people, and the village of each."""
    home = np.repeat(np.arange(len(sample.sizes)), sample.sizes)
    own = rng.dirichlet(_ALIKE * truth.ravel(), size=len(sample.sizes)).cumsum(axis=1)[home]
    cell = (rng.random(len(home))[:, None] > own[:, :-1]).sum(axis=1)
    codes = np.stack([*np.divmod(cell, truth.shape[1]), rng.integers(0, 2, len(home))][: len(design.domain)], axis=1)
    return Reports.of_codes(design, *design.randomize_codes(codes, source=source)), home


def _held(
    reports: Reports, stratum: NDArray[np.int64], home: NDArray[np.int64], truth: NDArray[np.float64]
) -> dict[str, NDArray[np.bool_]]:
    """What is found out of one survey: whether it is true."""
    found = estimate(reports, ["a", "b"], strata=stratum, clusters=home)
    one = estimate(reports, "b", strata=stratum, clusters=home)
    scores = np.arange(truth.shape[1])
    test = independence(reports, "a", "b", strata=stratum, clusters=home)
    return {
        "cells": found.interval().contains(truth).ravel(),
        "shares": one.interval().contains(truth.sum(axis=0)),
        "mean": _inside(mean(one), float(scores @ truth.sum(axis=0))),
        "difference of means": _inside(mean_difference(found, "b", "a"), 0.0),
        "size": np.array(test.pvalue <= 0.05),
    }


def _inside(measure: Measure, value: float) -> NDArray[np.bool_]:
    low, high = measure.interval()
    return np.array(low <= value <= high)

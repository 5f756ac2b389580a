"""Every function that answers with an interval, of few clusters, with strata and weights: does it hold the truth?

The villages are those of `few_clusters`; besides, 24 villages in three strata whose people have uneven weights. Nothing
is related to anything, so that what every function has to find is known.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.few_clusters import DOMAIN, SAMPLES, SIZE, Sample, drawn_survey
from deniable import (
    Clusters,
    Independent,
    Joint,
    Optimal,
    Sampled,
    Seeded,
    Views,
    cdf,
    correlation,
    cramers_v,
    difference,
    entropy,
    estimate,
    goodness_of_fit,
    independence,
    logit,
    mean,
    mean_difference,
    means_by,
    median,
    odds_ratio,
    risk_ratio,
)
from deniable.errors import DivergenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from deniable import Design, Estimate, Measure, Reports
    from deniable.inference.numbers.functionals_of_reports import Options

    Held = NDArray[np.bool_]

SURVEYS = 200
FIRST, SECOND = np.array([0.6, 0.4]), np.array([0.5, 0.3, 0.2])
TRUTH = np.outer(FIRST, SECOND)
WEIGHTS = np.array([0.5, 1.0, 2.0])
WEIGHTED = "24 in 3 strata, weighted"
DRAWN = {
    **SAMPLES,
    WEIGHTED: Sample(np.tile([15, 25, 30, 50], 6), np.repeat(np.arange(3), 8), (0.93, 0.99)),
}
_PAIR = DOMAIN.project(["a", "b"])
DESIGNS: dict[str, Design] = {
    "Joint, epsilon 3": Joint(_PAIR, 3.0),
    "Independent, epsilon 2 each": Independent(_PAIR, 4.0),
    "Views of two, epsilon 3": Views(DOMAIN, 2, 3.0),
    "Clusters, epsilon 5": Clusters(DOMAIN, [["a", "b"], ["c"]], 5.0),
    "Sampled, epsilon 3": Sampled(_PAIR, 3.0),
    "Optimal, epsilon 3": Optimal(DOMAIN, [["a", "b"], ["b", "c"]], 3.0),
    "subset selection, epsilon 3": Joint(_PAIR, 3.0, channel="subset"),
    "hashes, epsilon 3": Joint(_PAIR, 3.0, channel="hashing"),
}


def clustered(
    surveys: int,
    seed: int,
    designs: Sequence[str] = tuple(DESIGNS),
    samples: Sequence[str] = tuple(DRAWN),
) -> Iterator[tuple[str, str, str, list[int], tuple[float, float]]]:
    """Design, clusters, function; in how many surveys each of its intervals holds the truth, or a test rejects; bounds.

    What a design does not tell, such as a pair of which nobody was asked both, is left out.
    """
    for name, drawn in product(designs, samples):
        design, sample = DESIGNS[name], DRAWN[drawn]
        rng = np.random.default_rng([seed, list(DESIGNS).index(name), list(DRAWN).index(drawn)])
        hits: dict[str, list[Held]] = {}
        for survey in range(surveys):
            reports, home = drawn_survey(design, sample, TRUTH, rng, Seeded(seed * surveys + survey))
            options: Options = {"strata": sample.stratum[home], "clusters": home}
            if drawn == WEIGHTED:
                options["weights"] = WEIGHTS[rng.integers(0, len(WEIGHTS), len(home))]
            for what, held in answers(reports, options).items():
                hits.setdefault(what, []).append(np.atleast_1d(held))
        for what, each in hits.items():
            yield name, drawn, what, np.sum(each, axis=0).tolist(), _bounds(what, sample)


def _bounds(what: str, sample: Sample) -> tuple[float, float]:
    if what in SIZES:
        return SIZE
    return sample.covered[0], 1.0  # few clusters make some intervals longer than need be


def answers(reports: Reports, options: Options) -> dict[str, Held]:
    """What every function finds out of one survey: whether it is true."""
    one = estimate(reports, "b", **options)
    found = {what: function(one) for what, function in OF_ONE.items()}
    found["goodness of fit"] = np.array(goodness_of_fit(reports, "b", SECOND, **options).pvalue <= _LEVEL)
    if not reports.design.covers(["a", "b"]):
        return found
    both = estimate(reports, ["a", "b"], **options)
    found |= {what: function(both) for what, function in OF_TWO.items()}
    found["independence"] = np.array(independence(reports, "a", "b", **options).pvalue <= _LEVEL)
    found["slopes of logit"] = _slopes(reports, options)
    return found


def _slopes(reports: Reports, options: Options) -> Held:
    """Whether both slopes of the outcome by b hold 0; a fit that is refused, with its reason, has no wrong interval."""
    try:
        fit = logit("a ~ C(b)", reports, **options)  # type: ignore[arg-type]
    except DivergenceError:
        return np.ones(len(SECOND) - 1, dtype=np.bool_)
    low, high = (np.asarray(end)[1:] for end in fit.interval())
    return np.asarray((low <= 0) & (high >= 0))


def _inside(measure: Measure, value: float) -> Held:
    low, high = measure.interval()
    return np.array(low - _ROUNDING <= value <= high + _ROUNDING)


_LEVEL, _ROUNDING = 0.05, 1e-12
_MEAN = float(np.arange(len(SECOND)) @ SECOND)
OF_ONE: dict[str, Callable[[Estimate], Held]] = {
    "shares": lambda one: one.interval().contains(SECOND),
    "mean": lambda one: _inside(mean(one), _MEAN),
    "median": lambda one: _inside(median(one, edges=[0, 1, 2, 3]), 1.0),
    "distribution": lambda one: np.array(cdf(one).interval().contains(np.cumsum(SECOND)[:-1]).all()),
    "entropy": lambda one: _inside(entropy(one), float(-(SECOND * np.log(SECOND)).sum())),
}
OF_TWO: dict[str, Callable[[Estimate], Held]] = {
    "cells": lambda both: both.interval().contains(TRUTH).ravel(),
    "means by group": lambda both: np.array([_inside(one, _MEAN) for one in means_by(both, "b", "a").measures]),
    "difference of means": lambda both: _inside(mean_difference(both, "b", "a"), 0.0),
    "difference of shares": lambda both: _inside(difference(both, outcome=0), 0.0),
    "risk ratio": lambda both: _inside(risk_ratio(both, outcome=0), 1.0),
    "odds ratio": lambda both: _inside(odds_ratio(both, outcomes=(0, 1)), 1.0),
    "correlation": lambda both: _inside(correlation(both), 0.0),
    "Cramer's V": lambda both: _inside(cramers_v(both), 0.0),
}
SIZES = ("goodness of fit", "independence")

"""Stratified cluster samples, drawn again and again: do weighted intervals cover, and weighted tests hold their level?

Four strata of a population are drawn from unevenly, so that weights matter; clusters of a stratum differ. The first
attribute differs between strata and clusters, the second is the same everywhere: they are independent.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from benchmarks.calibration.pooled_errors import STATED
from benchmarks.calibration.regression_coverage import COVERED
from deniable import Domain, Independent, Joint, Reports, Seeded, Views, estimate, independence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable import Design

SURVEYS = 2000
HELD = (0.02, 0.06)  # where the size of a test at level .05 must lie
_FALSE = 1e-4  # the chance that sizes within these are found outside, all designs together
_SMALL = Domain({"a": range(2), "b": range(2), "c": range(2)})
_LARGE = Domain({"a": range(3), "b": range(4), "c": range(2)})
_STRATA = np.array([0.1, 0.2, 0.3, 0.4])  # of the population; as many clusters are drawn in each
_EACH = 25  # respondents of a cluster
DESIGNS: dict[str, tuple[Design, int]] = {
    "Joint, epsilon 2": (Joint(_SMALL, 2.0), 40),
    "Views, epsilon 2": (Views(_SMALL, 2, 2.0), 40),
    "Views, sets, epsilon 3": (Views(_LARGE, 2, 3.0, channel="subset"), 80),
    "Independent, epsilon 2 each": (Independent(_LARGE, 6.0), 80),
}


def weighted(surveys: int, seed: int) -> Iterator[tuple[str, int, list[int], float, int]]:
    """Of every design: name, clusters, 95% intervals of each cell that hold it, stated over actual errors, rejections.

    The table looked at is that of the first two attributes.
    """
    for place, (name, (design, clusters)) in enumerate(DESIGNS.items()):
        rng = np.random.default_rng([seed, place])
        first, second, third = design.domain.shape
        by_stratum = rng.dirichlet(np.full(first, 3.0), size=len(_STRATA))
        other = rng.dirichlet(np.full(second, 4.0))
        truth = np.outer(_STRATA @ by_stratum, other)
        held, rejected, values, variances = np.zeros(truth.size, dtype=np.int64), 0, [], []
        for survey in range(surveys):
            stratum = np.repeat(np.arange(len(_STRATA)), clusters // len(_STRATA))
            own = np.stack([rng.dirichlet(12 * by_stratum[h]) for h in stratum])  # clusters differ
            home = np.repeat(np.arange(len(stratum)), _EACH)
            codes = np.stack(
                [
                    _pick(own[home], rng),
                    rng.choice(second, len(home), p=other),
                    rng.integers(0, third, len(home)),
                ],
                axis=1,
            )
            sent = Reports.of_codes(design, *design.randomize_codes(codes, source=Seeded(seed * surveys + survey)))
            drawn: dict[str, Any] = {"weights": _STRATA[stratum[home]], "strata": stratum[home], "clusters": home}
            found = estimate(sent, ["a", "b"], "norm_sub", **drawn)
            low, high = found.interval(clip=False)
            held += ((low <= truth) & (truth <= high)).ravel()
            values.append(found.efficient.values)
            variances.append(found.covariance.variances)
            rejected += independence(sent, "a", "b", **drawn).pvalue <= 0.05
        ratio = np.sqrt(np.mean(variances, axis=0).sum() / np.var(values, axis=0, ddof=1).sum())
        yield name, clusters, held.tolist(), float(ratio), rejected


def allowed(surveys: int) -> tuple[float, float]:
    """Where the share of rejections may be found in so many surveys if the size is as it must be: exactly binomial.

    >>> [round(end, 3) for end in allowed(2000)]
    [0.009, 0.084]
    """
    from scipy.stats import binom

    miss = _FALSE / (2 * len(DESIGNS))
    low, high = HELD
    return float(binom.ppf(miss, surveys, low)) / surveys, float(binom.isf(miss, surveys, high)) / surveys


def _pick(shares: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A category for every row of shares."""
    past = rng.random(len(shares))[:, None] > np.cumsum(shares, axis=1)[:, :-1]
    return np.asarray(past.sum(axis=1), dtype=np.int64)


def measure(surveys: int = SURVEYS, seed: int = 6) -> Measurement:
    """Simulate, and compare the least and the largest numbers with the bounds."""
    names, clusters, hits, ratios, rejected = zip(*weighted(surveys, seed), strict=True)
    held, sizes = [sum(each) / len(each) / surveys for each in hits], [each / surveys for each in rejected]
    rows = {"design": names, "clusters": clusters, "coverage": held, "stated / actual": ratios, "size": sizes}
    claims = [
        Claim("least coverage", min(held), COVERED[0], ""),
        Claim("largest coverage", max(held), COVERED[1], "", at_most=True),
        Claim("least stated / actual", min(ratios), STATED[0], ""),
        Claim("largest stated / actual", max(ratios), STATED[1], "", at_most=True),
        Claim("largest size", max(sizes), allowed(surveys)[1], "", at_most=True),
    ]
    return Measurement(f"Stratified cluster samples, weighted, {surveys} surveys", rows, claims)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

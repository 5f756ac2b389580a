"""Surveys whose tables are pooled from all reports: are the stated errors those that repeated surveys have?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from benchmarks.calibration.regression_coverage import COVERED
from deniable import Domain, Independent, Reports, Seeded, Views, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable import Design

SURVEYS = 2000
STATED = (0.95, 1.05)  # where stated standard errors over actual ones must lie
_YES_NO = Domain({f"x{i}": ["no", "yes"] for i in range(8)})
_THREE = Domain({"x0": range(2), "x1": range(3), "x2": range(4)})
DESIGNS: dict[str, tuple[Design, int]] = {
    "Views, 8 yes/no, epsilon 1": (Views(_YES_NO, 2, 1.0), 2_000),
    "Views, 8 yes/no, epsilon 3": (Views(_YES_NO, 2, 3.0), 20_000),
    "Views, sets, epsilon 1": (Views(_THREE, 2, 1.0, channel="subset"), 2_000),
    "Views, unary, epsilon 3": (Views(_THREE, 2, 3.0, channel="unary"), 2_000),
    "Views, Hadamard, epsilon 2": (Views(_THREE, 2, 2.0, channel="hadamard"), 2_000),
    "Independent, epsilon 1 each": (Independent(_THREE, 3.0), 2_000),
}


def pooled(surveys: int, seed: int) -> Iterator[tuple[str, int, list[int], float]]:
    """Of every design: its name, n, how many 95% score intervals of each cell hold it, stated over actual errors.

    Respondents are drawn from a skewed table of all attributes; the table looked at is that of the first two.
    """
    for place, (name, (design, n)) in enumerate(DESIGNS.items()):
        rng = np.random.default_rng([seed, place])
        shares = rng.dirichlet(np.full(design.domain.cells, 0.5))
        pair = design.domain.names[:2]
        truth = shares.reshape(*design.domain.project(pair).shape, -1).sum(axis=-1)
        held, values, variances = np.zeros(truth.size, dtype=np.int64), [], []
        for survey in range(surveys):
            cells = rng.choice(len(shares), n, p=shares)
            codes = np.stack(np.unravel_index(cells, design.domain.shape), axis=1)
            sent = design.randomize_codes(codes, source=Seeded(seed * surveys + survey))
            found = estimate(Reports.of_codes(design, *sent), pair, "norm_sub")
            low, high = found.interval(clip=False)
            held += ((low <= truth) & (truth <= high)).ravel()
            values.append(found.efficient.values)
            variances.append(found.covariance.variances)
        ratio = np.sqrt(np.mean(variances, axis=0).sum() / np.var(values, axis=0, ddof=1).sum())
        yield name, n, held.tolist(), float(ratio)


def measure(surveys: int = SURVEYS, seed: int = 5) -> Measurement:
    """Simulate, and compare the least and the largest numbers with the bounds."""
    names, sizes, hits, ratios = zip(*pooled(surveys, seed), strict=True)
    held = [sum(each) / len(each) / surveys for each in hits]
    rows = {"design": names, "n": sizes, "coverage": held, "stated / actual": ratios}
    claims = [
        Claim("least coverage", min(held), COVERED[0], ""),
        Claim("largest coverage", max(held), COVERED[1], "", at_most=True),
        Claim("least stated / actual", min(ratios), STATED[0], ""),
        Claim("largest stated / actual", max(ratios), STATED[1], "", at_most=True),
    ]
    return Measurement(f"A pair of attributes from every report that speaks of either, {surveys} surveys", rows, claims)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

"""Coverage of 95% intervals of measures that cannot be negative: Cramer's V and mutual information.

Those of mutual information hold the truth more often than they say where a cell could be empty: their limit is that of
the worst case, in which all such cells are, and the largest information is looked for among all tables about as likely.
So no upper bound of their coverage is asked for there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.report_section import Section
from benchmarks.calibration.sizes_of_tests import TESTED
from deniable import KRR, Observation, estimate
from deniable.inference.measures.information_interval import SURE, with_likely
from deniable.inference.measures.inverted_intervals import Inverted
from deniable.inference.measures.phi_squared import information, phi_squared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

COVERED = (0.93, 0.97)
# Where there is no association an interval from zero misses one side only; and next to empty cells see above.
AT_LEAST = (0.93, 1.0)
_DOUBTED = SURE + 1  # errors from zero, below which a cell is in many surveys less than SURE of its errors from it


def _moved(rows: list[float], columns: list[float], shift: float) -> Array:
    table = np.outer(rows, columns)
    table[:2, :2] += shift * np.array([[1, -1], [-1, 1]])
    return table


TABLES = {
    "2x2, V .167": (_moved([0.5, 0.5], [0.5, 0.5], 0.04175), ((1.0, 500), (1.0, 1000), (1.0, 4000))),
    "uneven 2x2, V .167": (_moved([0.6, 0.4], [0.7, 0.3], 0.0375), ((1.0, 1000), (1.0, 4000))),
    "3x4, V .177": (_moved([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1], 0.045), ((1.0, 5000), (2.0, 5000))),
    "2x2, V .556, 10% each": (_moved([0.1, 0.9], [0.1, 0.9], 0.05), ((0.5, 500), (1.0, 500))),
    "2x2, V .220, 5% by half": (_moved([0.05, 0.95], [0.5, 0.5], 0.024), ((1.0, 500), (3.0, 500))),
    "2x3, V .302, one empty": (np.array([[0.5, 0.3, 0.0], [0.05, 0.15, 0.0]]), ((1.0, 500),)),
    "3x4, V 0": (_moved([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1], 0.0), ((1.0, 5000), (2.0, 5000))),
}


def _in_doubt(pi: Array, epsilon: float, n: int) -> bool:
    """Whether in many surveys some cell could be empty."""
    counts = np.rint(n * KRR(pi.size, epsilon).apply(pi.ravel())).astype(np.int64)
    found = estimate(Observation(["a", "b"], KRR(pi.size, epsilon), counts.reshape(pi.shape)), ["a", "b"])
    return bool((pi < _DOUBTED * found.std_error).any())


def covered(surveys: int, seed: int) -> Iterator[tuple[str, str, float, int, int, tuple[float, float]]]:
    """What, the table, epsilon, n, how many intervals of so many surveys hold the truth, and where that must lie."""
    rng = np.random.default_rng(seed)
    for name, (pi, cases) in TABLES.items():
        v = float(np.sqrt(max(float(phi_squared(pi)), 0.0) / (min(pi.shape) - 1)))
        shared = float(information(pi))
        for epsilon, n in cases:
            channel, held = KRR(pi.size, epsilon), np.zeros(2, dtype=np.int64)
            for counts in rng.multinomial(n, channel.apply(pi.ravel()), size=surveys):
                found = estimate(Observation(["a", "b"], channel, counts.reshape(pi.shape)), ["a", "b"])
                # The intervals of cramers_v and mutual_information, without what else these find.
                tested = Inverted(found, information, squared=False)
                both = Inverted(found, phi_squared)(0.95), (with_likely(tested) or tested)(0.95)
                for k, ((low, high), t) in enumerate(zip(both, (float(phi_squared(pi)), shared), strict=True)):
                    held[k] += low <= t + 1e-9 and t <= high + 1e-9
            where = COVERED if v > 1e-6 else AT_LEAST
            yield "Cramer's V", name, epsilon, n, int(held[0]), where
            where = AT_LEAST if _in_doubt(pi, epsilon, n) else where
            yield "mutual information", name, epsilon, n, int(held[1]), where


def strengths(count: int, seed: int) -> Section:
    """Coverage of measures that cannot be negative."""
    surveys = min(count, TESTED)
    section = Section(
        "Coverage of measures that cannot be negative",
        f"95% intervals that invert a test, those of mutual information from the least to the largest among likely "
        f"tables where a cell could be empty; k-RR of the pair, {surveys} surveys. At least 93% is required, at most "
        f"97% where there is an association; of mutual information not where a cell is less than {_DOUBTED:g} of its "
        f"errors from empty: its intervals allow for all such cells being empty, and are too wide where they are not.",
        ("measure", "table", "epsilon", "n", "coverage", "required", "met"),
        [],
    )
    for what, name, epsilon, n, hits, where in covered(surveys, seed + 7):
        section.judge([what, name, f"{epsilon:g}", n], hits, surveys, where)
    return section

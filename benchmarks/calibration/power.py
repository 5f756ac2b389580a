"""Power of the default association test beside Wald's, on the cases of an independent simulation.

That simulation stated powers (2x2 and 3x4 tables, n from 5,000 to 20,000, total epsilon 1) but not the associations.
They are recovered from Wald's: its power depends on an association only through one number, the noncentrality, which
grows with n, so one strength a table must give Wald's stated power in every column. At that strength the likelihood
ratio must have the power of the best test there. On the sparse table the best test had .21 at a size of .061: there,
powers are compared at the level that gives our test this size.

`--write FILE` puts the table between the marks of a Markdown page.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.compared_tests import MONTE_CARLO
from benchmarks.calibration.report_section import Section, write
from benchmarks.calibration.simulated_surveys import ALPHA, SHIFTS, TABLES, associated, surveys, wald_rejects
from deniable import KRR, Seeded
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

START, END = "<!-- power: made by python -m benchmarks.calibration.power -->", "<!-- end of power -->"


@dataclass(frozen=True)
class Case:
    """A table and a number of respondents; the power stated for Wald's test and the best one, and that one's size."""

    table: str
    n: int
    wald: float
    best: float
    size: float | None = None  # where sizes differ too much for powers at the same level to be compared


CASES = (
    Case("2x2", 5_000, 0.54, 0.54),
    Case("2x2", 10_000, 0.82, 0.82),
    Case("3x4", 5_000, 0.27, 0.27),
    Case("3x4", 10_000, 0.53, 0.53),
    Case("3x4", 20_000, 0.88, 0.88),
    Case("sparse 3x4", 20_000, 0.14, 0.21, size=0.061),
)


def moments(channel: Channel, pi: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The residuals pi_ij - pi_i pi_j (last row and column left out) and the covariance of their estimates, n = 1."""
    rows, columns = pi.sum(axis=1), pi.sum(axis=0)
    kept = np.zeros(pi.shape, dtype=bool)
    kept[:-1, :-1] = True
    lam, inverse = channel.apply(pi.ravel()), np.linalg.inv(channel.matrix())
    own, other = (np.eye(size) for size in pi.shape)
    # How pi_ij - pi_i pi_j moves with every cell.
    moves = np.kron(own, other) - np.kron(own, np.outer(columns, np.ones(len(columns))))
    slope = (moves - np.kron(np.outer(rows, np.ones(len(rows))), other))[kept.ravel()] @ inverse
    return (pi - np.outer(rows, columns))[kept], slope @ (np.diag(lam) - np.outer(lam, lam)) @ slope.T


def asymptotic(channel: Channel, pi: NDArray[np.float64], n: int) -> float:
    """Wald's power for large n: the tail of a noncentral chi-square."""
    from scipy.stats import chi2, ncx2

    d, v = moments(channel, pi)
    return float(ncx2.sf(chi2.isf(ALPHA, len(d)), len(d), n * float(d @ np.linalg.solve(v, d))))


def measure(count: int = 10_000, seed: int = 1) -> Section:
    """Sizes and powers of both tests on the same surveys."""
    section = Section(
        "Power beside the best test elsewhere",
        f"Size / power of {count} simulated surveys, total epsilon 1, both answers disguised together; the standard "
        f"error of a power is at most {0.5 / count**0.5:.3f}. The association moves the stated share of the "
        f"respondents into two cells and out of two others, so much that Wald's test has the power that an independent "
        f"simulation stated for it. Required of the likelihood ratio is the power of the best test there, less "
        f"{MONTE_CARLO:g} for the errors of both simulations. On the sparse table the best test had .21 at a size of "
        f".061; our test is therefore also run at the level that gives it that size.",
        (
            "table",
            "n",
            "moved",
            "level",
            "Wald, stated",
            "Wald, large n",
            "Wald",
            "likelihood ratio",
            "best test, stated",
            "met",
        ),
        [],
    )
    source = Seeded(seed + 5)
    for case in CASES:
        rng = source.stream().generator()
        pi = TABLES[case.table]
        channel, moved = KRR(pi.size, epsilon=1.0), associated(case.table)
        null, other = (surveys(channel, truth, case.n, count, rng) for truth in (pi, moved))
        wald = [float(wald_rejects(found).mean()) for found in (null, other)]
        ratios = [independence_ratio(f.evidence, "a", "b").warp_speed(f.reports, rng) for f in (null, other)]
        levels = [ALPHA] if case.size is None else [ALPHA, _level(*ratios[0], case.size)]
        for level in levels:
            size, power = (float((o > np.quantile(r, 1 - level)).mean()) for o, r in ratios)
            judged = level == levels[-1]
            met = power >= case.best - MONTE_CARLO
            section.met &= met or not judged
            section.rows.append(
                [
                    case.table,
                    case.n,
                    f"{SHIFTS[case.table]:.2%}",
                    f"{level:.3f}",
                    f"{case.wald:.2f}",
                    f"{asymptotic(channel, moved, case.n):.2f}",
                    f"{wald[0]:.3f} / {wald[1]:.2f}",
                    f"{size:.3f} / {power:.3f}",
                    f"{case.best:.2f}" if judged else "",
                    ("yes" if met else "NO") if judged else "",
                ]
            )
    return section


def _level(observed: NDArray[np.float64], reference: NDArray[np.float64], size: float) -> float:
    """The level at which the test rejects the given share of surveys without association."""
    return float((reference > np.quantile(observed, 1 - size)).mean())


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print; 0 when our test has the power of the best one in every case."""
    parser = argparse.ArgumentParser(prog="power", description=__doc__)
    parser.add_argument("--replicates", type=int, default=10_000, help="simulated surveys a case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a Markdown page with the marks to write the table between")
    options = parser.parse_args(arguments)
    section = measure(options.replicates, options.seed)
    sys.stdout.write(f"{section.markdown()}\n")
    if options.write is not None:
        write(options.write, [section], (START, END))
    return 0 if section.met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

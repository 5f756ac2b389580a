"""Coverage of the intervals that are shown of the recommended design, from few respondents and from many.

What `plan` recommends is what most people will use. Its simulations are drawn as counts and, fewer of them, as the
disguised answers of people one by one: both must hold the truth as often as they say.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.report_section import Section
from deniable import Domain, Reports, Seeded, Table, estimate, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable import Design
    from deniable.designs.reports.tallies import Tallies

SURVEYS, SINGLY = 2000, 200  # drawn as counts, and report by report
SIZES = (100, 200, 500, 2000)
EPSILONS = (1.0, 3.0)
HELD = (0.93, 0.98)  # with reports that are rarely expected, more than 97% may be
DOMAIN = Domain({"a": ["no", "yes"], "b": ["no", "yes"], "c": ["x", "y", "z"]})
TABLES: tuple[Sequence[str], ...] = (["a"], ["c"], ["a", "b"])
SHARES = np.multiply.outer(np.array([[0.75, 0.1], [0.07, 0.08]]), [0.6, 0.35, 0.05])


def held(design: Design, n: int, surveys: int, seed: int, *, singly: bool) -> NDArray[np.int64]:
    """In how many surveys each cell of the tables lies in the interval that is shown."""
    truth, found = Table(DOMAIN, SHARES), []
    for survey in range(surveys):
        source = Seeded(seed * surveys + survey)
        sent: Reports | Tallies = _randomized(design, n, source) if singly else design.simulate(truth, n, source=source)
        shown = [estimate(sent, table).interval().contains(truth.project(table).values).ravel() for table in TABLES]
        found.append(np.concatenate(shown))
    return np.sum(found, axis=0)


def _randomized(design: Design, n: int, source: Seeded) -> Reports:
    cells = source.stream().generator().choice(SHARES.size, n, p=SHARES.ravel())
    codes = np.stack(np.unravel_index(cells, SHARES.shape), axis=1)
    return Reports.of_codes(design, *design.randomize_codes(codes, source=source))


def recommended(count: int, seed: int) -> Section:
    """Coverage of shares and of a pair, for a few sizes."""
    section = Section(
        "Coverage of the recommended design",
        f"Share of {min(count, SURVEYS)} surveys (counts) and of {min(count, SINGLY)} (one report after the other) in "
        f"which the truth lies in the 95% intervals that are shown: shares of two attributes and of a pair, the rarest "
        f"of them 5%.",
        ("design", "n", "drawn", "least and largest of the cells", "required", "met"),
        [],
    )
    for epsilon, n in product(EPSILONS, SIZES):
        design = plan(DOMAIN, epsilon, TABLES, n).recommended
        for how, most in (("counts", SURVEYS), ("singly", SINGLY)):
            surveys = min(count, most)
            hits = held(design, n, surveys, seed, singly=how == "singly").tolist()
            section.judge([f"{design.kind}, epsilon {epsilon:g}", n, how], hits, surveys, HELD)
    return section

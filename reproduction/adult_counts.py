"""UCI Adult as counts."""

from __future__ import annotations

import csv
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import Domain, Table
from deniable.datasets import adult, adult_path
from reproduction.simulated_counts import tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

AGES = Domain({"age": ("to 20", "to 40", "to 60", "to 80", "above"), "sex": ("Female", "Male")})


@cache
def adult_codes() -> tuple[NDArray[Any], Domain]:
    """The records as codes, read once."""
    frame, domain = adult()
    return domain.encode(frame), domain


def adult_counts(attributes: Sequence[str]) -> Table:
    """Count the records by some attributes."""
    codes, domain = adult_codes()
    part = domain.project(attributes)
    return Table(part, tally(codes[:, list(domain.axes(part))], part.shape))


def ages() -> Table:
    """Count the records by age, in five bins of twenty years, and sex."""
    counts = np.zeros(AGES.shape)
    with adult_path().open(newline="", encoding="utf-8") as lines:
        for row in csv.reader(lines, skipinitialspace=True):
            if row:
                counts[min((int(row[0]) - 1) // 20, 4), int(row[9] == "Male")] += 1
    return Table(AGES, counts)

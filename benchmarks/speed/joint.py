"""What a joint table of independently disguised attributes costs: mode by mode, and against the explicit matrix."""

from __future__ import annotations

import sys
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.benchmark import Claim, Measurement, peak_memory, side_by_side
from deniable import KRR, Kronecker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EPSILON = 1.0  # for each attribute
EXPLICIT = 1000  # how many times faster than forming the matrix and solving
TABLES = 6  # peak memory, in tables


def product(shape: Sequence[int]) -> tuple[Kronecker, NDArray[np.float64]]:
    """k-RR of every attribute, and some distribution of reports."""
    channel = Kronecker([KRR(k, epsilon=EPSILON) for k in shape])
    weights = np.random.default_rng(0).random(channel.output_shape)
    return channel, weights / weights.sum()


def explicit_matrix(channel: Kronecker) -> NDArray[np.float64]:
    """P1 x ... x Pm, written out."""
    whole: NDArray[Any] = np.ones((1, 1))
    for part in channel.channels:
        whole = np.kron(whole, part.matrix())
    return whole


def _name(shape: Sequence[int]) -> str:
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else " x ".join(map(str, shape))


def measure(
    tables: Sequence[Sequence[int]] = ((16,) * 5, (2,) * 20), against: Sequence[int] = (2,) * 13, *, repeats: int = 7
) -> Measurement:
    """Invert each of `tables` with its variances, and `against` both ways."""
    rows: dict[str, list[object]] = {"table": [], "cells": [], "what": [], "CPU ms": [], "peak memory": []}
    claims = []

    def add(shape: Sequence[int], what: str, seconds: float, peak: float) -> None:
        row = (_name(shape), prod(shape), what, f"{seconds * 1e3:.3g}", f"{peak:.3g} tables")
        for column, value in zip(rows.values(), row, strict=True):
            column.append(value)

    for shape in [*tables, against]:
        channel, reports = product(shape)
        tasks = {
            "inverse, mode by mode": partial(channel.solve, reports),
            "second moments, mode by mode": partial(channel.solve_squared, reports),
        }
        best = side_by_side(tasks, repeats)
        peaks = {what: peak_memory(task) / reports.nbytes for what, task in tasks.items()}
        for what in tasks:
            add(shape, what, best[what], peaks[what])
        if shape is not against:
            claims.append(Claim(f"{_name(shape)}: peak memory", max(peaks.values()), TABLES, "tables", at_most=True))
    # `channel`, `reports` and `best` are now those of `against`. The matrix takes long, so each of its steps runs once.
    built: list[NDArray[np.float64]] = []
    build = side_by_side({"build": lambda: built.append(explicit_matrix(channel))}, 1)["build"]
    solve = side_by_side({"solve": lambda: np.linalg.solve(built[0], reports.ravel())}, 1)["solve"]
    size = built[0].nbytes / reports.nbytes
    ours = best["inverse, mode by mode"]
    add(against, "explicit matrix: forming it", build, size)
    add(against, "explicit matrix: solving", solve, 2 * size)
    claims += [
        Claim(f"{_name(against)}: over forming and solving", (build + solve) / ours, EXPLICIT),
        Claim(f"{_name(against)}: over solving alone", solve / ours, EXPLICIT),
    ]
    notes = [
        "Peak memory counts the result and not the input; for the matrix it is computed: P, then P and its factors."
    ]
    return Measurement("joint tables out of independently disguised attributes", rows, claims, notes)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

"""Measurements, one a file: each `main()` prints what was measured beside what was required, and returns 0 or 1.

Only ratios are required, and both sides of a ratio are measured in the same run, in turns: absolute times belong to a
machine and to its load. Times are CPU time, the best of several repeats.
"""

from __future__ import annotations

import math
import sys
import tracemalloc
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Claim:
    """One measured number and the bound it has to keep."""

    what: str
    measured: float
    required: float
    unit: str = "x"
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Whether the bound is kept."""
        return self.measured <= self.required if self.at_most else self.measured >= self.required


@dataclass(frozen=True)
class Measurement:
    """What one measurement found: rows to read, claims to check, remarks."""

    title: str
    rows: Mapping[str, Sequence[object]]
    claims: Sequence[Claim]
    notes: Sequence[str] = ()

    @property
    def met(self) -> bool:
        """Whether every claim holds."""
        return all(claim.met for claim in self.claims)

    def __str__(self) -> str:
        claims = {
            "claim": [claim.what for claim in self.claims],
            "required": [f"{'<=' if c.at_most else '>='} {c.required:g} {c.unit}" for c in self.claims],
            "measured": [f"{claim.measured:.4g} {claim.unit}" for claim in self.claims],
            "met": ["yes" if claim.met else "NO" for claim in self.claims],
        }
        return "\n".join([self.title, "", text_table(self.rows), "", text_table(claims), *self.notes])

    def show(self) -> int:
        """Print it; 0 when every claim is met, else 1."""
        sys.stdout.write(f"{self}\n")
        return 0 if self.met else 1


def number(value: object) -> str:
    """Write a value short enough for a table.

    >>> number(0.123456), number(12), number(2.5e7)
    ('0.1235', '12', '2.500e+07')
    """
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if value == 0 or 1e-4 <= abs(value) < 1e6 else f"{value:.3e}"


def text_table(columns: Mapping[str, Sequence[object]]) -> str:
    """Lay columns out as plain text, numbers to the right.

    >>> print(text_table({"by": ["ours", "plain"], "rate": [0.25, 0.75]}))
    by       rate
    ours   0.2500
    plain  0.7500
    """
    made = []
    for heading, values in columns.items():
        texts = [heading, *map(number, values)]
        width, right = max(map(len, texts)), all(isinstance(value, int | float) for value in values)
        made.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    return "\n".join("  ".join(row).rstrip() for row in zip(*made, strict=True))


def side_by_side(tasks: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Run all tasks in turns and return the least CPU seconds of each."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            start = process_time()
            task()
            best[name] = min(best[name], process_time() - start)
    return best


def peak_memory(task: Callable[[], object]) -> int:
    """The most bytes that a task holds at once, its result included, beyond what was there before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        task()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()

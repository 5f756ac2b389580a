"""Channels for many categories: respondents over the fewest possible, and what a report costs to count.

The fewest possible is the variance of the best channel there is for the shares of k categories, which subset selection
with the best set size has (no channel has less). Decoding is counted in steps for a million reports (`steps`), and the
largest case is timed: k 1e5, n 1e6.
"""

from __future__ import annotations

import sys
from math import exp
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement, peak_memory
from deniable import KRR, BlockDesign, DeniableError, HadamardResponse, LocalHashing, Seeded, SubsetSelection, Unary
from deniable.channels.best_channel import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.channels.channel import Channel

CATEGORIES = (16, 50, 500, 50_000)
EPSILONS = (1.0, 2.0, 4.0)
REPORTS = 1_000_000
_MOST_WRITTEN = 4096  # categories of sets that are written out

MAKERS: dict[str, Callable[[int, float], Channel]] = {
    "KRR": KRR,
    "SubsetSelection": SubsetSelection,
    "Unary": Unary,
    "LocalHashing": LocalHashing,
    "LocalHashing, all values": lambda k, epsilon: LocalHashing(k, epsilon, g=min(k, round(exp(epsilon)) + 1)),
    "HadamardResponse": HadamardResponse,
    "BlockDesign": BlockDesign,
}


def least(k: int, epsilon: float) -> float:
    """The summed variance of the shares of k categories from one report, at even shares, of the best channel.

    min over m of (m e + k - m)^2 (k - 1)^2 / (k m (k - m) (e - 1)^2), e = e^epsilon.

    >>> round(least(16, 1.0), 2)
    51.91
    """
    odds, sizes = exp(epsilon), np.arange(1, k)
    losses = (sizes * odds + k - sizes) ** 2 * (k - 1) ** 2 / (k * sizes * (k - sizes) * (odds - 1) ** 2)
    return float(losses.min())


def factor(channel: Channel, epsilon: float) -> float:
    """The variance of a channel over the least, at even shares: how many times the fewest respondents it needs."""
    even = np.full(channel.inputs, 1 / channel.inputs)
    return float(channel.variance(even, 1).sum()) / least(channel.inputs, epsilon)


def factors(k: int, epsilons: Sequence[float] = EPSILONS) -> dict[str, list[str]]:
    """A row a channel: factors at each epsilon, and the steps of decoding a million reports.

    >>> from benchmarks.benchmark import text_table
    >>> print(text_table(factors(16, [1.0])))
    channel                   epsilon 1  steps
    KRR                       1.922      1.0e+06
    SubsetSelection           1.000      2.0e+06
    Unary                     1.172      2.0e+06
    LocalHashing              1.179      1.6e+07
    LocalHashing, all values  1.179      1.6e+07
    HadamardResponse          1.443      1.0e+06
    BlockDesign               1.000      1.0e+06
    """
    columns: dict[str, list[str]] = {"channel": [], **{f"epsilon {e:g}": [] for e in epsilons}, "steps": []}
    for name, make in MAKERS.items():
        if name in ("SubsetSelection", "Unary") and k > _MOST_WRITTEN:
            continue
        columns["channel"].append(name)
        work = ""
        for epsilon in epsilons:
            try:
                made = make(k, epsilon)
                columns[f"epsilon {epsilon:g}"].append(f"{factor(made, epsilon):.3f}")
                work = f"{steps(made, REPORTS):.1e}"
            except DeniableError:
                columns[f"epsilon {epsilon:g}"].append("-")
        columns["steps"].append(work)
    return columns


def from_end_to_end(k: int = 100_000, n: int = REPORTS, epsilon: float = 1.0) -> tuple[float, int]:
    """CPU seconds and bytes to disguise, count and estimate n answers of k categories."""
    codes = Seeded(1).stream().generator().integers(0, k, n)
    seconds = 0.0

    def run() -> None:
        nonlocal seconds
        start = process_time()
        channel = BlockDesign(k, epsilon)
        counts = channel.tally(channel.randomize(codes, source=Seeded(2)))
        channel.solve(counts / n)
        seconds = process_time() - start

    memory = peak_memory(run)
    return seconds, memory


def measure(categories: Sequence[int] = CATEGORIES, k: int = 100_000, n: int = REPORTS) -> Measurement:
    """Compute all factors, time the largest case, and compare with what is required."""
    tables = {many: factors(many) for many in categories}
    columns: dict[str, list[str]] = {"categories": []}
    for many, found in tables.items():
        for heading, values in found.items():
            columns.setdefault(heading, []).extend(values)
        columns["categories"] += [str(many)] * len(found["channel"])
    seconds, memory = from_end_to_end(k, n)
    claims = [
        Claim(f"k {k:g}: block design over the least variance", factor(BlockDesign(k, 1.0), 1.0), 1.05, at_most=True),
        Claim(f"k {k:g}, n {n:g}: disguise, count, estimate", seconds, 30, "CPU-s", at_most=True),
        Claim(f"k {k:g}, n {n:g}: memory", memory / 2**30, 1, "GiB", at_most=True),
    ]
    return Measurement("Respondents over the fewest possible, and steps to count a million reports", columns, claims)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

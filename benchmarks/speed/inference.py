"""How long a bootstrap test, the tests of all pairs of a survey and an exact sample size take.

Here the promise is a time a person waits at the keyboard, so seconds are required, not ratios: CPU seconds, the best of
several repeats.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement, side_by_side
from deniable import (
    KRR,
    Observation,
    Optimal,
    Seeded,
    Views,
    Warner,
    all_pairs,
    goodness_of_fit,
    independence,
    sample_size,
    sample_size_for_width,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable import Reports

REPLICATES = 999
LIMITS = {
    f"likelihood ratio, {REPLICATES} replicates, 3x4, epsilon 1, n 10,000": 0.5,
    f"the same on a sparse 3x4 table, {REPLICATES} replicates": 0.5,
    f"goodness of fit, {REPLICATES} draws, 3x4": 0.5,
    "all 666 pairs of 37 yes/no attributes, Views, epsilon 1, n 20,000": 10.0,
    "all 666 pairs of 37 attributes of 2 to 4 categories, 105 in all": 10.0,
    "the same through an optimal design for all pairs": 60.0,
    "exact sample size, Warner(0.6), prevalence 2%": 1.0,
    "exact sample size, k-RR at epsilon 0.1, prevalence 1%": 1.0,
    "sample size for a width, Warner(0.8)": 1.0,
}


def table(rows: list[float], columns: list[float], n: int = 10_000) -> Observation:
    """Reports of n respondents about two independent attributes, through one k-RR channel at epsilon 1."""
    pi = np.outer(rows, columns)
    channel = KRR(pi.size, epsilon=1.0)
    drawn = np.random.default_rng(1).multinomial(n, channel.apply(pi.ravel()))
    return Observation(["a", "b"], channel, drawn.reshape(pi.shape))


def asked(sizes: Sequence[int], n: int, *, optimal: bool = False) -> Reports:
    """Reports of n respondents asked two attributes each, of so many categories; every fifth shares a cause.

    Or asked what an optimal design for all pairs asks: thousands of questions, answered by sets.
    """
    rng = np.random.default_rng(3)
    cause, people = rng.random(n), {}
    for place, size in enumerate(sizes):
        own = rng.choice(size, n, p=rng.dirichlet(np.full(size, 2.0)))
        shared = (place % 5 == 0) & (rng.random(n) < 0.4)
        people[f"a{place:02d}"] = np.where(shared, (cause * size).astype(int), own).tolist()
    domain = {name: list(range(size)) for name, size in zip(people, sizes, strict=True)}
    pairs = list(combinations(domain, 2))
    design = Optimal(domain, pairs, epsilon=1.0) if optimal else Views(domain, k=2, epsilon=1.0)
    return design.randomize(people, source=Seeded(1))


def measure(replicates: int = REPLICATES, repeats: int = 5, attributes: int = 37, n: int = 20_000) -> Measurement:
    """Time each task; all pairs once, since they take longest."""
    mixed = np.random.default_rng(7).permutation([2] * 13 + [3] * 17 + [4] * 7).tolist()
    several = [asked(sizes[:attributes], n) for sizes in ([2] * 37, mixed)]
    several.append(asked(mixed[:attributes], n, optimal=True))
    even = table([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    sparse = table([0.9, 0.08, 0.02], [0.7, 0.2, 0.09, 0.01])
    found: dict[str, object] = {}

    def tested(name: str, observation: Observation) -> None:
        found[name] = independence(observation, "a", "b", replicates=replicates, source=Seeded(1)).pvalue

    def fitted(name: str) -> None:
        share = np.full((3, 4), 1 / 12)
        found[name] = goodness_of_fit(even, ["a", "b"], share, replicates=replicates, source=Seeded(1)).pvalue

    def sized(name: str, n: int) -> None:
        found[name] = int(n)

    def paired(name: str, reports: Reports) -> None:
        tests = all_pairs(reports, replicates=replicates)
        found[name] = int((tests.adjusted < 0.05).sum())

    lrt, rare, fit, *many, large, huge, wide = LIMITS
    seconds = side_by_side(
        {
            lrt: lambda: tested(lrt, even),
            rare: lambda: tested(rare, sparse),
            fit: lambda: fitted(fit),
            large: lambda: sized(large, sample_size(Warner(0.6), 0.02)),
            huge: lambda: sized(huge, sample_size(KRR(2, epsilon=0.1), 0.01)),
            wide: lambda: sized(wide, sample_size_for_width(Warner(0.8), 0.1, 0.01)),
        },
        repeats,
    ) | side_by_side({name: partial(paired, name, reports) for name, reports in zip(many, several, strict=True)}, 1)
    rows: dict[str, list[object]] = {
        "task": list(LIMITS),
        "CPU seconds": [seconds[name] for name in LIMITS],
        "answer": [found[name] for name in LIMITS],
    }
    claims = [Claim(name, seconds[name], limit, "s", at_most=True) for name, limit in LIMITS.items()]
    return Measurement("Tests by bootstrap and exact sample sizes", rows, claims)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

"""How long a bootstrap test and an exact sample size take.

Here the promise is a time a person waits at the keyboard, so seconds are required, not ratios: CPU seconds, the best of
several repeats.
"""

from __future__ import annotations

import sys

import numpy as np

from deniable.bench import Claim, Measurement, side_by_side
from deniable.channels.devices import Warner
from deniable.channels.krr import KRR
from deniable.designs.observation import Observation
from deniable.inference.association import independence
from deniable.inference.goodness import goodness_of_fit
from deniable.planning.power import sample_size
from deniable.planning.width import sample_size_for_width
from deniable.randomness import Seeded

REPLICATES = 999
LIMITS = {
    f"likelihood ratio, {REPLICATES} replicates, 3x4, epsilon 1, n 10,000": 0.5,
    f"the same on a sparse 3x4 table, {REPLICATES} replicates": 0.5,
    f"goodness of fit, {REPLICATES} draws, 3x4": 0.5,
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


def measure(replicates: int = REPLICATES, repeats: int = 5) -> Measurement:
    """Time each task."""
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

    lrt, rare, fit, large, huge, wide = LIMITS
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
    )
    rows: dict[str, list[object]] = {
        "task": list(LIMITS),
        "CPU seconds": list(seconds.values()),
        "answer": [found[name] for name in LIMITS],
    }
    claims = [Claim(name, seconds[name], limit, "s", at_most=True) for name, limit in LIMITS.items()]
    return Measurement("Tests by bootstrap and exact sample sizes", rows, claims)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())

"""Power of the test of an association, simulated on counts: the test that `independence` would make."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.designs.observation import Observation
from deniable.errors import InputError
from deniable.inference.association import chi_square, chosen_test, independence, independence_ratio
from deniable.inference.wald import BootstrapWald, Independent
from deniable.planning.expected import expected_observations
from deniable.planning.respondents import SampleSize
from deniable.randomness import Seeded, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.base import Design
    from deniable.tables.table import Table

_ROUGH_POINTS, _ROUGHLY = 8, 800  # of a curve that is simulated to be drawn: its sizes, and the replicates of each


def simulated(
    design: Design,
    n: int,
    table: Table | None,
    attributes: Sequence[str] | None,
    alpha: float,
    *,
    replicates: int,
    source: Source,
) -> tuple[float, str]:
    """The share of simulated surveys in which the test rejects, and the test in words."""
    from scipy.special import chdtri

    if table is None:
        raise InputError("power of an association test needs a design and table=, the assumed joint distribution")
    names = tuple(table.attributes if attributes is None else attributes)
    if len(names) != 2:
        raise InputError(f"name two attributes, not {names!r}")
    observations = expected_observations(design, table, n, names)
    rng = source.stream().generator()
    counts = [o.channel.draw(o.channel.solve(o.shares), o.n, rng, replicates) for o in observations]
    chosen = chosen_test("auto", observations, *names)
    if chosen == "wald":
        found = [_one(observations, counts, i, names) for i in range(replicates)]
        return float(np.mean([p < alpha for p in found])), f"Wald on the unbiased table at level {alpha:g}, n = {n}"
    if chosen == "wald_bootstrap":
        x, y = observations[0].domain.axes(names)
        observed, reference = BootstrapWald([observations], Independent(x, y)).warp_speed([counts], rng)
        told = f"bootstrap Wald at level {alpha:g}, n = {n}"
        return float((observed > np.quantile(reference, 1 - alpha)).mean()), told
    if chosen == "pearson":
        tests = [chi_square(counts[0][..., i]) for i in range(replicates)]
        rejected = [df > 0 and statistic > float(chdtri(df, alpha)) for statistic, df in tests]
        return float(np.mean(rejected)), f"Pearson on the disguised table at level {alpha:g}, n = {n}"
    observed, reference = independence_ratio(observations, *names).warp_speed(counts, rng)
    told = f"bootstrap likelihood ratio at level {alpha:g}, n = {n}"
    return float((observed > np.quantile(reference, 1 - alpha)).mean()), told


def _one(
    observations: Sequence[Observation], counts: Sequence[NDArray[np.float64]], replicate: int, names: Sequence[str]
) -> float:
    """The p-value of one simulated survey by Wald's test."""
    drawn = [Observation(o.domain, o.channel, y[..., replicate]) for o, y in zip(observations, counts, strict=True)]
    a, b = names
    return independence(drawn, a, b, "wald").pvalue


def simulated_size(
    design: Design,
    table: Table | None,
    attributes: Sequence[str] | None,
    target: float,
    alpha: float,
    *,
    replicates: int,
    source: Source,
) -> SampleSize:
    """Bisect the simulated power on a logarithmic scale, to 2%."""

    def reached(n: float) -> tuple[float, str]:
        return simulated(design, round(n), table, attributes, alpha, replicates=replicates, source=source)

    low, high = 50.0, 200.0
    while reached(high)[0] < target:
        low, high = high, 4 * high
        if high > 1e9:
            raise InputError("more than 1e9 respondents would be needed; is there any association in the table?")
    while high / low > 1.02:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if reached(middle)[0] >= target else (middle, high)
    n = round(high)
    value, told = reached(n)
    return SampleSize(
        n,
        first=n,
        normal=None,
        reached=value,
        test=f"{told} (simulated, good to a few percent)",
        wanted=target,
        curve=partial(rough, design, table, attributes, alpha),
    )


def rough(
    design: Design, table: Table | None, attributes: Sequence[str] | None, alpha: float, n: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The simulated power as a function of n, good enough to be drawn: few sizes, few replicates, lines between."""
    some = np.unique(np.linspace(n.min(), n.max(), _ROUGH_POINTS).astype(np.int64))
    found = [
        simulated(design, int(size), table, attributes, alpha, replicates=_ROUGHLY, source=Seeded(0))[0]
        for size in some
    ]
    return np.interp(n, some, found)

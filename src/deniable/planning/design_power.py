"""Power of the test of an association, simulated on counts: the test that `independence` would make.

Power of a test of one share through a whole design, from the errors that the efficient estimate would have.

Every ballot that speaks of the attribute counts, each as it deserves. With v_0 and v_1 the variance of the efficient
estimate, n = 1, under the null and under the assumed prevalence,

    power = Phi((|prevalence - null| sqrt(n) - z sqrt(v_0)) / sqrt(v_1)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.randomness import Seeded, Source
from deniable.core.table import Table
from deniable.errors import InputError
from deniable.inference.attribute_pairs import one
from deniable.inference.hypothesis_tests.choose_test import chosen_test, covering
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio
from deniable.inference.hypothesis_tests.pearson_and_wald import chi_squares
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.em import fit
from deniable.likelihood.quasi_likelihood import countable
from deniable.planning.expected_reports import expected_evidence, expected_observations
from deniable.planning.sample_size import SampleSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.design import Design

    Array = NDArray[np.float64]
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Category

_GAP = 1e-3  # nats left to gain by the assumed table
_NEAR, _AROUND = 1.3, 7  # how near a bisection comes, and how many sizes are then tried around there
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
    evidence = covering(observations, names)
    seen = countable(evidence)
    rng = source.stream().generator()
    # Expected counts are those of the assumed table, so that the best fit is that table.
    counts = seen.again(fit(seen, gap=_GAP, strict=False).pi, rng, replicates)
    if chosen_test("auto", evidence) == "pearson":
        shape = evidence.groups[0].said.channel.output_shape
        statistic, df = chi_squares(counts.reshape(*shape, replicates))
        rejected = (df > 0) & (statistic > chdtri(np.maximum(df, 1), alpha))
        return float(np.mean(rejected)), f"Pearson on the disguised table at level {alpha:g}, n = {n}"
    observed, reference = independence_ratio(seen, *seen.asked.names).warp_speed(counts, rng)
    told = f"bootstrap likelihood ratio at level {alpha:g}, n = {n}"
    return float((observed > np.quantile(reference, 1 - alpha)).mean()), told


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
    """Bisect the simulated power on a logarithmic scale, then take the size from a curve through powers around it.

    A single simulated power is off by chance, and the size at which a bisection ends is one at which it was high; the
    curve is of all of them.
    """

    def reached(n: float) -> tuple[float, str]:
        return simulated(design, round(n), table, attributes, alpha, replicates=replicates, source=source)

    low, high = 50.0, 200.0
    while reached(high)[0] < target:
        low, high = high, 4 * high
        if high > 1e9:
            raise InputError("more than 1e9 respondents would be needed; is there any association in the table?")
    while high / low > _NEAR:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if reached(middle)[0] >= target else (middle, high)
    sizes = np.round(np.geomspace(low / _NEAR, high * _NEAR, _AROUND))
    told = [reached(size) for size in sizes]
    n, value = _where(sizes, np.array([power for power, _ in told]), target, replicates)
    test = told[0][1].replace(f"n = {round(sizes[0])}", f"n = {n}")
    return SampleSize(
        n,
        first=n,
        normal=None,
        reached=value,
        test=f"{test} (simulated, good to a few percent)",
        wanted=target,
        curve=partial(rough, design, table, attributes, alpha),
    )


def _where(sizes: Array, powers: Array, target: float, replicates: int) -> tuple[int, float]:
    """The first size at which a curve through simulated powers meets the target, and what the curve is there.

    The probit of a power is nearly a line in the root of the size: fitted by weighted least squares.
    """
    from scipy.special import ndtr, ndtri
    from scipy.stats import norm

    known = np.clip(powers, 0.5 / replicates, 1 - 0.5 / replicates)
    heights = ndtri(known)
    weights = norm.pdf(heights) / np.sqrt(known * (1 - known))  # one over the standard error of a height
    slope, start = np.polyfit(np.sqrt(sizes), heights, 1, w=weights)
    wanted = ((ndtri(target) - start) / slope) ** 2 if slope > 0 else np.inf
    n = int(np.ceil(np.clip(wanted, sizes[0], sizes[-1])))
    return n, float(ndtr(start + slope * np.sqrt(n)))


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


_N = 1_000_000  # respondents at which variances are computed; they are proportional to one over it


@dataclass(frozen=True)
class Pooled:
    """The test of one share of a design's attribute: its difference, its sds for n = 1, its critical value."""

    difference: float
    null: float
    apart: float
    z: float
    told: str

    def power(self, n: ArrayLike) -> NDArray[np.float64]:
        """Pr(reject) for every n."""
        from scipy.special import ndtr

        return np.asarray(ndtr((self.difference * np.sqrt(n) - self.z * self.null) / self.apart))

    def normal(self, power: float) -> float:
        """The n that reaches a power."""
        from scipy.special import ndtri

        return float(((self.z * self.null + ndtri(power) * self.apart) / self.difference) ** 2)


def pooled_test(
    design: Design,
    attributes: Sequence[str] | None,
    prevalence: float,
    null: float,
    alpha: float,
    *,
    alternative: str,
    category: Category | None,
) -> Pooled:
    """Set the test up: the other categories share the rest evenly."""
    from scipy.special import ndtri

    names = [attributes] if isinstance(attributes, str) else list(attributes or ())
    if len(names) != 1:
        raise InputError("name the attribute whose prevalence is tested: attributes=['smokes']")
    for what, value in (("prevalence", prevalence), ("null", null)):
        if not 0 <= value <= 1:
            raise InputError(f"{what} must lie between 0 and 1, not {value!r}")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha!r}")
    if prevalence == null:
        raise InputError(f"prevalence and null are both {null:g}: there is nothing to detect")
    if alternative not in ("greater", "less", "two-sided"):
        raise InputError(f'alternative must be "greater", "less" or "two-sided", not {alternative!r}')
    if alternative != "two-sided" and (prevalence > null) != (alternative == "greater"):
        raise InputError(f"a prevalence of {prevalence:g} lies on the other side of the null {null:g}")
    domain = design.domain.project(names)
    variable = domain[names[0]]
    code = one(variable, category, "category")
    spreads = []
    for share in (null, prevalence):
        shares = np.full(domain.cells, (1 - share) / (domain.cells - 1))
        shares[code] = share
        evidence, truth = expected_evidence(design, Table(domain, shares), _N, names)
        likely = np.maximum(truth.values.ravel(), 1e-9)
        found = efficient_from(evidence, likely / likely.sum())
        variance = float((evidence.margin @ found.inverse @ evidence.margin.T)[code, code])
        spreads.append(float(np.sqrt(_N * variance)))
    tail = alpha / 2 if alternative == "two-sided" else alpha
    words = {"greater": "above", "less": "below", "two-sided": "different from"}[alternative]
    told = (
        f"normal test of the efficient estimate at level {alpha:g} that the prevalence of {variable.name} "
        f"{variable.categories[code]} is {words} {null:g}, when it is {prevalence:g}, from all reports of "
        f"{type(design).__name__} about it"
    )
    return Pooled(abs(prevalence - null), spreads[0], spreads[1], float(ndtri(1 - tail)), told)

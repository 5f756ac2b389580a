"""Power of a test of one share through a whole design, from the errors that the efficient estimate would have.

Every ballot that speaks of the attribute counts, each as it deserves. With v_0 and v_1 the variance of the efficient
estimate, n = 1, under the null and under the assumed prevalence,

    power = Phi((|prevalence - null| sqrt(n) - z sqrt(v_0)) / sqrt(v_1)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.table import Table
from deniable.errors import InputError
from deniable.inference.attribute_pairs import one
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.planning.expected_reports import expected_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Category
    from deniable.designs.design import Design

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

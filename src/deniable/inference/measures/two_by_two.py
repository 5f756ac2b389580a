"""Measures of two groups and one outcome: difference of proportions, risk ratio and odds ratio.

The risk ratio has the interval of a ratio whose denominator may be nearly nothing (Fieller 1954).

That a risk ratio is rho says: A - rho B = 0, with A = x_bk x_a. and B = x_ak x_b. (a cell and the other group's share
each). Whether that could be is asked of A - rho B, which is smooth whatever the cells are, with its own variance:

    (A - rho B)^2  <=  z^2 (Var A - 2 rho Cov(A, B) + rho^2 Var B).

The interval holds every rho of which it is true. Where B could be zero it has no upper end; where both could, it holds
everything. A normal interval for log(A / B) misses there, on one side, however many reports there are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.several_sources import Averaged
from deniable.inference.attribute_pairs import contrast, pair, two_way, versus
from deniable.inference.measures.delta_method import (
    EMPTY,
    How,
    Measure,
    Resampled,
    close_to_zero,
    derived,
    floored,
    gradient,
    nearest,
    plugged,
    simplex,
)
from deniable.inference.measures.profile_likelihood import evidence_of, odds_ratio_interval, stretched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.core.randomness import Source
    from deniable.estimation.estimate import Estimate


@stamped
def difference(
    estimate: Estimate,
    *,
    groups: Sequence[Category] | None = None,
    outcome: Category | None = None,
    method: How = "delta",
    **more: Unpack[Resampled],
) -> Measure:
    """Difference of proportions: Pr(outcome | second group) - Pr(outcome | first group).

    The first attribute holds the groups, the second the outcome. Of an attribute with two categories the groups are
    both, the outcome is the second; else they must be named.
    """
    a, b, k, cells = contrast(estimate, groups, outcome)

    def less(x: NDArray[Any]) -> Any:
        return x[b, k] / x[b].sum() - x[a, k] / x[a].sum()

    return _between(estimate, less, f"difference of proportions ({cells})", "plain", method=method, **more)


@stamped
def risk_ratio(
    estimate: Estimate,
    *,
    groups: Sequence[Category] | None = None,
    outcome: Category | None = None,
    method: How = "delta",
    **more: Unpack[Resampled],
) -> Measure:
    """Risk ratio: Pr(outcome | second group) / Pr(outcome | first group); arguments as for `difference`.

    Its interval is Fieller's, which exists also where the outcome may not occur in the first group.
    """
    a, b, k, cells = contrast(estimate, groups, outcome)

    def ratio(x: NDArray[Any]) -> Any:
        return (x[b, k] / x[b].sum()) / (x[a, k] / x[a].sum())

    found = _between(estimate, ratio, f"risk ratio ({cells})", "log", method=method, **more)
    return (
        found
        if method == "bootstrap"
        else replace(found, ends=risk_ratio_ends(estimate, a, b, k), method="Fieller's interval")
    )


@stamped
def odds_ratio(
    estimate: Estimate,
    *,
    groups: Sequence[Category] | None = None,
    outcomes: Sequence[Category] | None = None,
    method: str = "profile",
    replicates: int = 999,
    source: Source | None = None,
) -> Measure:
    """Odds ratio x_00 x_11 / (x_01 x_10) of two groups and two outcomes, named beyond two categories.

    Method "profile" (default): the interval holds every psi that the likelihood ratio does not reject, with all tables
    of that odds ratio considered. It exists always, also where a cell is zero and the plug-in value is 0, infinite or
    undefined. Of weighted reports the ratio is divided by the design effect of the log odds ratio. "delta" and
    "bootstrap" work on the logarithm of the plug-in value.
    """
    two_way(estimate)
    rows, columns = estimate.table.domain.values()
    i, k = pair(rows, groups)
    j, m = pair(columns, outcomes, "outcomes")
    name = f"odds ratio ({versus(columns, (j, m))}, {versus(rows, (i, k))})"

    def f(x: NDArray[Any]) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(x[i, j] * x[k, m], x[i, m] * x[k, j])

    table = simplex(estimate)
    if method == "bootstrap":
        more: dict[str, Any] = {"method": "bootstrap", "replicates": replicates, "source": source}
        return derived(estimate, lambda x: f(nearest(x)), name=name, at=table, scale="log", **more)
    value = float(f(table))
    four = estimate.efficient.values[np.ix_((i, k), (j, m))]
    usable = np.isfinite(value) and value > 0 and four.min() > 0
    told = close_to_zero(estimate)
    plain = derived(estimate, f, name=name, at=table, scale="log") if usable else None
    error = plain.error if plain else np.nan
    if method == "delta" or (method == "profile" and isinstance(estimate.dispersion, Averaged)):  # of no one likelihood
        return plain or Measure(
            name,
            value,
            error,
            "delta method",
            (*told, f"{EMPTY} Until then the interval holds everything."),
            "log",
        )
    if method != "profile":
        raise InputError(f'method must be "profile", "delta" or "bootstrap", not {method!r}', method=method)
    ends = odds_ratio_interval(evidence_of(estimate), (i, k), (j, m))
    if not np.isinf(estimate.covariance.df):
        ends = stretched(ends, estimate, gradient(lambda x: np.log(f(x)), floored(table, estimate)))
    return Measure(name, value, error, "profile likelihood", () if usable else (EMPTY,), "log", ends)


def _between(estimate: Estimate, f: Any, name: str, scale: Any, **more: Any) -> Measure:
    told = close_to_zero(estimate) if scale == "log" else ()

    def usable(x: NDArray[np.float64]) -> bool:
        # A group that hardly anybody is in may have a share outside of 0 to 1.
        return bool((x > 0).all() if scale == "log" else (x.sum(axis=1) > 0).all() and abs(float(f(x))) <= 1)

    within = (0.0, np.inf) if scale == "log" else (-1.0, 1.0)
    return plugged(estimate, f, usable, name=name, scale=scale, warnings=told, **more).kept(*within)


def fieller(a: float, b: float, cov: NDArray[np.float64], z2: float, *, least: float = -np.inf) -> tuple[float, float]:
    """The least and the largest ratio A / B, for a squared critical value; `least` is 0 where neither is negative.

    >>> fieller(2.0, 1.0, np.diag([0.01, 0.0]), 4.0)
    (1.8, 2.2)
    >>> fieller(4.0, 0.1, np.eye(2), 4.0, least=0.0)[1]
    inf
    """
    # c2 rho^2 - 2 c1 rho + c0 <= 0
    c2, c1, c0 = b**2 - z2 * float(cov[1, 1]), a * b - z2 * float(cov[0, 1]), a**2 - z2 * float(cov[0, 0])
    root = float(np.sqrt(max(c1**2 - c2 * c0, 0.0)))
    if c2 > 0 and (b > 0 or least < 0):  # B is surely not zero: what lies between two roots
        low, high = (c1 - root) / c2, (c1 + root) / c2
        return (max(low, least), high) if high > least else (least, np.inf)
    if least == 0 and c2 <= 0 < c0 and a > 0:  # A surely is: all above the larger of two roots, the other is below zero
        return c0 / (c1 + root), np.inf
    return least, np.inf


def risk_ratio_ends(estimate: Estimate, a: int, b: int, k: int) -> Callable[[float], tuple[float, float]]:
    """A function from the level to the interval of Pr(k | b) / Pr(k | a), of the efficient cells."""
    table = estimate.efficient.values
    top, bottom = table[b, k] * table[a].sum(), table[a, k] * table[b].sum()
    slopes = []
    for own, other in ((b, a), (a, b)):
        slope = np.zeros(table.shape)
        slope[own, k] += table[other].sum()
        slope[other] += table[own, k]
        slopes.append(slope)
    of = estimate.covariance
    both = ((of @ slopes[0]) * slopes[1]).sum()
    cov = np.array([[of.quadratic(slopes[0]), both], [both, of.quadratic(slopes[1])]])

    def ends(level: float) -> tuple[float, float]:
        z2 = float(critical_value(1 - level, of.df)) ** 2
        return fieller(float(top), float(bottom), cov, z2, least=0.0)

    return ends

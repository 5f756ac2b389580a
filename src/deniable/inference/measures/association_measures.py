"""Measures of a table, each with its standard error: entropy, association, correlation.

Measures of association estimated by plugging noisy cells in are too large: noise looks like association. At
independence n phi^2 has the mean

    prod over attributes j of [ sum_v ((Q_j o Q_j) lambda_j)_v / pi_jv - 1 ]

for independently disguised attributes ((r - 1)(c - 1) without a disguise, thousands with a strong one), and in general
n sum Var(d_ij) / (pi_i pi_j), d_ij = pi_ij - pi_i pi_j. It is subtracted, so that chi2 estimates n phi^2 of the
population and is zero on average where there is no association. The delta method can be trusted once n phi^2 is at
least four times that mean; below, an error is at least that of n phi^2 at independence, sqrt(2 tr W^2) for the
covariance W whose trace that mean is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError
from deniable.estimation.notes.denominators import refuse_unknown_askings
from deniable.estimation.notes.stamped import stamped
from deniable.inference.attribute_pairs import two_way
from deniable.inference.measures.delta_method import (
    How,
    Measure,
    Resampled,
    close_to_zero,
    derived,
    floored,
    nearest,
    plugged,
    simplex,
)
from deniable.inference.measures.information_interval import with_likely
from deniable.inference.measures.inverted_intervals import Inverted
from deniable.inference.measures.phi_squared import information, null_mean, null_spread, phi_squared
from deniable.inference.numbers.ordered_attribute import all_left_out, sizes_of
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from deniable.estimation.estimate import Estimate
    from deniable.inference.numbers.ordered_attribute import Scores

TRUST = 4.0  # n phi^2 over its mean at independence, from which on the delta method can be trusted


@stamped
def entropy(
    estimate: Estimate,
    unit: str = "nats",
    *,
    method: How = "delta",
    replicates: int = 999,
    source: Source | None = None,
) -> Measure:
    """Shannon's entropy -sum pi log pi, in nats (natural logarithm) or bits (base 2).

    A cell of zero has an infinite slope; the gradient is taken where every cell is at least one standard error.
    """
    if unit not in ("nats", "bits"):
        raise InputError(f'unit must be "nats" or "bits", not {unit!r}')
    per = 1.0 if unit == "nats" else float(np.log(2))

    def f(x: NDArray[Any]) -> Any:
        return -(x * np.log(np.where(x == 0, 1, x))).sum() / per

    table = simplex(estimate)
    if method == "bootstrap":
        return derived(
            estimate,
            lambda x: f(nearest(x)),
            name=f"entropy ({unit})",
            method=method,
            replicates=replicates,
            source=source,
        )
    slope_at = floored(table, estimate)
    return derived(estimate, f, name=f"entropy ({unit})", at=table, slope_at=slope_at)


# -- association ------------------------------------------------------------------------------------------------------


@stamped
def chi2(estimate: Estimate, *, correct: bool = True, method: How = "delta", **more: Unpack[Resampled]) -> Measure:
    """The population's chi-square, n phi^2: less its mean at independence unless `correct=False` (see above).

    Corrected values come from the efficient cells. Where noise explains all of it and more, the value is 0, that of no
    association to be seen, and `unbiased` is what was left, below 0.
    """
    return _association(estimate, phi_squared, "chi2", float(estimate.n), 1.0, correct=correct, method=method, **more)


@stamped
def g2(estimate: Estimate, *, correct: bool = True, method: How = "delta", **more: Unpack[Resampled]) -> Measure:
    """The likelihood-ratio chi-square 2 n I, I the mutual information in nats; corrected like chi2."""
    return _association(estimate, information, "G2", 2.0 * estimate.n, 1.0, correct=correct, method=method, **more)


@stamped
def mutual_information(
    estimate: Estimate, unit: str = "nats", *, correct: bool = True, method: How = "delta", **more: Unpack[Resampled]
) -> Measure:
    """Mutual information in nats or bits, less its mean at independence (that of chi2 / 2n) unless `correct=False`."""
    if unit not in ("nats", "bits"):
        raise InputError(f'unit must be "nats" or "bits", not {unit!r}')
    per = 1.0 if unit == "nats" else float(np.log(2))
    name = f"mutual information ({unit})"
    share = 1 / (2 * estimate.n * per)
    return _association(estimate, information, name, 1 / per, share, correct=correct, method=method, **more)


def _association(
    estimate: Estimate,
    f: Any,
    name: str,
    scale: float,
    share: float,
    *,
    correct: bool,
    method: How,
    **more: Unpack[Resampled],
) -> Measure:
    """Estimate scale x f - share x its mean at independence, with the warning where the delta method breaks."""
    two_way(estimate)
    refuse_unknown_askings(estimate.table.domain)
    mean = null_mean(estimate) if correct else 0.0
    table, told = _cells(estimate, positive=f is information) if correct else (simplex(estimate), ())
    slope_at = floored(table, estimate) if f is information else table
    strength = estimate.n * float(np.real(phi_squared(table)))
    around = 0.0
    if correct and strength < TRUST * mean:
        # To first order there is no noise where there is no association: the second order is what is left.
        around = share * null_spread(estimate, mean)
        weak = (
            f"n phi^2 = {strength:.4g} is below {TRUST:g} x {mean:.4g}, its mean at independence: noise alone could "
            f"explain most of it. Test with independence()."
        )
        told = (*told, weak)
    told = (*told, *close_to_zero(estimate)) if f is information else told

    def corrected(x: NDArray[Any]) -> Any:
        return scale * f(x) - share * mean

    few = min(estimate.values.shape)
    largest = scale * (float(np.log(few)) if f is information else few - 1.0)
    if share * mean >= largest:
        too_few = (
            f"Too few reports to tell how strong the association is: noise alone would show {share * mean:.4g} of at "
            f"most {largest:.4g}."
        )
        told = (too_few, *told)
    if method == "bootstrap":
        again = derived(estimate, lambda x: corrected(nearest(x)), name=name, at=table, method=method, **more)
        return again.kept(0.0, largest)
    inverted = Inverted(estimate, f, squared=f is phi_squared) if estimate.values.size <= DENSE_CELLS else None
    told = told if inverted is None else (*told, *inverted.warnings)
    found = derived(estimate, corrected, name=name, at=table, slope_at=slope_at, warnings=told, **more)
    found = replace(found, error=max(found.error, around)).kept(0.0, largest)
    if inverted is None:  # too large a table for it
        return found
    likely = with_likely(inverted) if f is information else None
    if likely is not None:
        return replace(found, ends=_scaled(likely, scale), method="profile likelihood")
    return replace(found, ends=_scaled(inverted, scale), method="inverted test")


def _scaled(ends: Callable[[float], tuple[float, float]], scale: float) -> Callable[[float], tuple[float, float]]:
    """The ends of an interval, of so many times what they are of."""

    def of(level: float) -> tuple[float, float]:
        low, high = ends(level)
        return scale * low, scale * high

    return of


def _cells(estimate: Estimate, *, positive: bool) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The efficient cells if the measure is defined there, else the nearest table without negative ones."""
    two_way(estimate)
    table = estimate.efficient.values
    fine = (table > 0).all() if positive else all((table.sum(axis=axis) > 0).all() for axis in (0, 1))
    if fine:
        return table, ()
    told = (
        "Some estimated cells are negative, where the measure has no value: the nearest table without them was used, "
        "and the correction for noise is then only rough."
    )
    return norm_sub(table), (told,)


@stamped
def cramers_v(estimate: Estimate, *, correct: bool = True, method: How = "delta", **more: Unpack[Resampled]) -> Measure:
    """Cramer's V: sqrt(phi^2 / (min(r, c) - 1)), phi^2 less its mean at independence unless `correct=False`.

    Where noise leaves nothing of phi^2, V is 0 and its error is that of the square root of the error of phi^2.
    """
    table = two_way(estimate)
    size = min(table.shape) - 1
    squared = chi2(estimate, correct=correct, method=method, **more)
    n = estimate.n * size
    v = float(np.sqrt(max(squared.value, 0.0) / n))
    # d sqrt(x) = dx / 2 sqrt(x); next to zero the square root of the error itself is the larger truth.
    error = min(squared.error / n / (2 * v), float(np.sqrt(squared.error / n))) if v else 0.0
    error = min(error or float(np.sqrt(squared.error / n)), 1.0)  # V lies between 0 and 1

    def ends(level: float) -> tuple[float, float]:
        return tuple(float(np.sqrt(max(float(end), 0.0) / n)) for end in squared.interval(level))  # type: ignore[return-value]

    return Measure("Cramer's V", v, error, squared.method, squared.warnings, "plain", ends, within=(0.0, 1.0))


@stamped
def correlation(
    estimate: Estimate,
    scores: Sequence[Scores | None] | None = None,
    *,
    method: How = "delta",
    replicates: int = 999,
    source: Source | None = None,
) -> Measure:
    """Pearson's r of two attributes.

    Args:
        estimate: a two-way table.
        scores: a number for every category of the first and of the second attribute, None for one that takes no part;
            None for all takes what categories count as: numbers as themselves, bins as their middles, else 0, 1, 2, ...
            of those that answer.
        method: "delta" or "bootstrap".
        replicates: for "bootstrap".
        source: for "bootstrap".
    """
    two_way(estimate)
    variables = list(estimate.table.domain.values())
    given = [None, None] if scores is None else list(scores)
    if len(given) != 2:
        raise InputError(f"scores are given for both attributes, or None for one of them; not {scores!r}")
    scored = [sizes_of(variable, part) for variable, part in zip(variables, given, strict=True)]
    counting = [np.flatnonzero(~np.isnan(each)) for each in scored]
    (u, v), inner = (each[places] for each, places in zip(scored, counting, strict=True)), np.ix_(*counting)
    whole = [len(places) for places in counting] == [len(variable) for variable in variables]

    def among(x: NDArray[Any]) -> Any:
        """The table of those whose categories both have a score."""
        return x if whole else x[inner] / x[inner].sum()

    def r(x: NDArray[Any]) -> Any:
        x = among(x)
        rows, columns = x.sum(axis=1), x.sum(axis=0)
        a, b = rows @ u, columns @ v
        return (u @ x @ v - a * b) / np.sqrt((rows @ u**2 - a**2) * (columns @ v**2 - b**2))

    def usable(x: NDArray[np.float64]) -> bool:
        """Whether both variances are positive, and r therefore defined."""
        x = among(x) if x[inner].sum() > 0 else np.zeros((len(u), len(v)))
        spreads = [float(m @ s**2 - (m @ s) ** 2) for m, s in ((x.sum(axis=1), u), (x.sum(axis=0), v))]
        return min(spreads) > 0

    more: dict[str, Any] = {"replicates": replicates, "source": source, "method": method, "warnings": ()}
    found = plugged(estimate, r, usable, name="Pearson's r", scale="atanh", **more)
    notes = all_left_out(variables, counting, simplex(estimate), estimate.n)
    return replace(found, warnings=tuple(dict.fromkeys((*notes, *found.warnings))))


@stamped
def phi(estimate: Estimate, *, method: How = "delta", replicates: int = 999, source: Source | None = None) -> Measure:
    """The phi coefficient of a two-by-two table: Pearson's r of the codes, with its sign."""
    if estimate.values.shape != (2, 2):
        raise InputError(f"phi is for two-by-two tables, not {estimate.values.shape}; use cramers_v or correlation")
    r = correlation(estimate, [(0, 1), (0, 1)], method=method, replicates=replicates, source=source)
    return Measure("phi", r.value, r.error, r.method, r.warnings, r.scale, r.ends, r.df)

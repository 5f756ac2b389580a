"""Self-protective "no": some respondents say "no" to every item, whatever the device tells them.

With several items the all-"no" pattern is more frequent than the devices and any moderate dependence between items
explain. For patterns u of reports, with K the product of the items' channels and p(v) the honest respondents' truths:

    Pr(u) = (1 - theta) sum over v of K[u, v] p(v)  +  theta [u = no to everything].

p is log-linear with interactions up to a given order: 1 means independent items, 2 all pairs.

References:
    U. Boeckenholt and P. G. M. van der Heijden (2007), Item randomized-response models for measuring noncompliance,
    Psychometrika 72(2), 245-262.
    M. J. L. F. Cruyff, A. van den Hout, P. G. M. van der Heijden and U. Boeckenholt (2007), Log-linear
    randomized-response models taking self-protective response behavior into account, Sociological Methods & Research
    36(2), 266-282.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from deniable.compliance.compliance_result import Compliance, one_sided
from deniable.compliance.device_groups import binary, sampling_for
from deniable.compliance.device_groups import items as items_of
from deniable.core.results import TestResult
from deniable.errors import (
    ConvergenceError,
    DesignError,
    DivergenceError,
    InputError,
    NotIdentifiedError,
    TooFewReportsError,
)
from deniable.regression.likelihood.covariance import inverse
from deniable.regression.likelihood.maximize import Optimum, ascend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.compliance.device_groups import Weighted
    from deniable.sampling.read_sampling import Column

    Array = NDArray[np.float64]

_MOST_ITEMS = 10


@dataclass(frozen=True)
class _Patterns:
    """The log-likelihood of pattern counts; the last parameter is theta, unless it is fixed at 0."""

    counts: Array
    channel: Array
    design: Array
    protective: bool

    def _parts(self, params: Any) -> tuple[Any, Any]:
        """Pr(u) and its derivatives; works on complex numbers too."""
        own = params[: self.design.shape[1]]
        power = np.exp(self.design @ own)
        share = power / power.sum()
        slopes = share[:, None] * (self.design - share @ self.design)
        lam, first = self.channel @ share, self.channel @ slopes
        if not self.protective:
            return lam, first
        theta = params[-1]
        all_no = np.zeros(len(self.counts))
        all_no[0] = 1.0
        return (1 - theta) * lam + theta * all_no, np.concatenate(
            [(1 - theta) * first, (all_no - lam)[:, None]], axis=1
        )

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Value, gradient, and the Hessian by complex steps of the gradient, exact to rounding."""
        with np.errstate(all="ignore"):
            lam, first = self._parts(params)
            value = float(self.counts @ np.log(lam)) if lam.min() > 0 else -np.inf
            hessian = np.empty((len(params), len(params)))
            for place in range(len(params)):
                moved = params.astype(complex)
                moved[place] += 1e-20j
                lam_i, first_i = self._parts(moved)
                hessian[place] = ((self.counts / lam_i) @ first_i).imag / 1e-20
            return value, (self.counts / lam) @ first, (hessian + hessian.T) / 2

    def reach(self, step: Array) -> float:
        """The largest change of a log-linear predictor."""
        return float(np.abs(self.design @ step[: self.design.shape[1]]).max())


def self_protective(
    reports: ArrayLike,
    channels: Sequence[Channel],
    *,
    order: int = 1,
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Estimate the share of self-protective "no"-sayers from several items, and prevalences among all others.

    theta is not clipped: a negative estimate says that there are fewer all-"no" patterns than expected. `compliance`
    tests theta = 0 by a one-sided likelihood ratio, `fit` the whole model by G2 with 2^items - 2 - parameters degrees
    of freedom where that is positive.

    Args:
        reports: one row per respondent, one column per item, codes 0 (no) and 1 (yes).
        channels: each item's device; report 0 is the "no" that protects.
        order: the highest interaction between honest truths: 1 independent items, 2 all pairs.
        weights: survey weights, one a respondent, or what `rake` returns; the fit is then not tested.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.
    """
    codes, channels = items_of(binary(reports), channels)
    _require_order(order)
    items = len(channels)
    if not 2 <= items <= _MOST_ITEMS:
        raise NotIdentifiedError(
            f"between 2 and {_MOST_ITEMS} items are needed to tell self-protection apart, not {items}"
        )
    if any((channel.inputs, channel.outputs) != (2, 2) for channel in channels):
        raise DesignError("every item must have two truths and two reports")
    truths = np.stack(np.unravel_index(np.arange(2**items), (2,) * items), axis=1)
    sets = [members for size in range(1, order + 1) for members in combinations(range(items), size)]
    design = np.stack([truths[:, list(members)].prod(axis=1) for members in sets], axis=1).astype(np.float64)
    free = 2**items - 1 - len(sets) - 1
    if free < 0:
        raise NotIdentifiedError(
            f"{items} items give {2**items - 1} frequencies for {len(sets) + 1} parameters; use a lower order",
            order=order,
        )
    pattern = np.ravel_multi_index(tuple(codes.T), (2,) * items)
    sampling = sampling_for(reports, weights, strata, clusters)
    counts = np.bincount(pattern, None if sampling is None else sampling.scaled, 2**items).astype(np.float64)
    if counts[0] == 0:
        raise TooFewReportsError(
            "nobody said no to every item, so there is no self-protection to estimate; analyse the items without it",
            n=0,
        )
    whole: Array = np.ones((1, 1))
    for channel in channels:
        whole = np.kron(whole, channel.matrix()).astype(np.float64)
    start = np.full(len(sets), -0.5)
    with_it = _ascend(_Patterns(counts, whole, design, protective=True), np.append(start, 0.05))
    without = _ascend(_Patterns(counts, whole, design, protective=False), start, beside=True)
    bread = inverse(-with_it.hessian)
    covariance = bread
    if sampling is not None:
        lam, first = _Patterns(counts, whole, design, protective=True)._parts(with_it.params)
        covariance = bread @ sampling.covariance((pattern, first / lam[:, None])) @ bread
    theta = float(with_it.params[-1])
    power = np.exp(design @ with_it.params[:-1])
    share = power / power.sum()
    prevalence = truths.T @ share
    slopes = truths.T @ (share[:, None] * (design - share @ design))
    # Rounding may fall below a variance of nothing.
    spread = np.sqrt(np.maximum(np.diagonal(slopes @ covariance[:-1, :-1] @ slopes.T), 0.0))
    names = ["self-protective", *(f"item {place + 1} among the others" for place in range(items))]
    values = [theta, *prevalence.tolist()]
    # The best fit without self-protection takes over where the estimate is negative.
    plain = np.exp(design @ without.params)
    without_it = (truths.T @ (plain / plain.sum())).tolist()
    constrained = values if theta >= 0 else [0.0, *without_it]
    full = float(np.sum(counts[counts > 0] * np.log(counts[counts > 0] / counts.sum())))
    g2 = 2 * (full - with_it.value)
    ratio = 2 * (with_it.value - without.value) if theta > 0 else 0.0
    return Compliance(
        f"self-protective no, {items} items, interactions up to order {order}",
        dict(zip(names, values, strict=True)),
        dict(zip(names, [float(np.sqrt(max(covariance[-1, -1], 0.0))), *spread.tolist()], strict=True)),
        dict(zip(names, constrained, strict=True)),
        with_it.value,
        len(codes),
        fit=TestResult(g2, float(stats.chi2.sf(g2, free)), free, "goodness of fit (G2)")
        if free and sampling is None
        else None,
        compliance=one_sided(
            ratio,
            "nobody protects themselves (one-sided likelihood ratio)",
            float(covariance[-1, -1] / bread[-1, -1]),
            np.inf if sampling is None else sampling.df,
        ),
        notes=("The estimated share of self-protection is negative: there is no sign of it.",) if theta < 0 else (),
        naive=dict(zip(names[1:], without_it, strict=True)),
        df=np.inf if sampling is None else sampling.df,
    )


def _require_order(order: Any) -> None:
    if not isinstance(order, int) or order < 1:
        raise InputError(f"order is the number of items that interact, a whole number from 1 on, not {order!r}")


def _ascend(objective: _Patterns, start: Array, *, beside: bool = False) -> Optimum:
    """The maximum; of the model beside which ours stands, its supremum will do where a share runs to 0 or 1."""
    try:
        end = ascend(objective, start)
    except ConvergenceError as error:
        raise ConvergenceError(f"{error.message}. Use a lower order, or more respondents") from None
    if end.diverged and not beside:
        raise DivergenceError(
            "the likelihood keeps rising towards a share of 0 or 1 for some item: its reports are at the edge of what "
            "the device can produce. Leave the item out, or use a lower order",
            loglik=end.value,
        )
    return end

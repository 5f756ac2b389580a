"""Three published estimators by their names, each a line on top of `estimate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimation.estimator import Evidence, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.estimation.estimate import Estimate


def rr_independent(reports: Evidence, attributes: Iterable[str]) -> Estimate:
    """RR-Independent (Domingo-Ferrer & Soria-Comas): the product of the estimated marginals."""
    result: Estimate = estimate(reports, attributes, method="product")
    return result


def rr_joint(reports: Evidence, attributes: Iterable[str]) -> Estimate:
    """RR-Joint: inversion of one channel over the whole tuple (reports of a `Joint` design)."""
    result: Estimate = estimate(reports, attributes, method="inversion")
    return result


def rr_ind_joint(reports: Evidence, attributes: Iterable[str]) -> Estimate:
    """RR-Ind-Joint (Kikuchi & Domingo-Ferrer): Kronecker inversion of independently randomized attributes."""
    result: Estimate = estimate(reports, attributes, method="inversion")
    return result

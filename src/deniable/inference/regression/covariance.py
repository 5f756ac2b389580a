"""Covariances of estimates.

With H the Hessian and s_i the weighted score of row i at the estimate:

    hessian    (-H)^-1                                    the model is right; weights repeat rows
    expected   I^-1, I averaged over all reports that could have come: see `expected`
    opg        (sum s_i s_i')^-1                          the same, from first derivatives
    sandwich   H^-1 (sum s_i s_i') H^-1                   also right for survey weights and wrong error laws
    cluster    G/(G-1) H^-1 (sum_g s_g s_g') H^-1         s_g = the sum of s_i over cluster g of G
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError, NotIdentifiedError, TooFewReportsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.inference.regression.likelihood import Likelihood

    Array = NDArray[np.float64]

KINDS = ("hessian", "expected", "opg", "sandwich", "cluster")


def covariance(
    kind: str, likelihood: Likelihood, params: Array, hessian: Array, clusters: NDArray[np.intp] | None
) -> Array:
    """The covariance of all parameters; for "expected", `hessian` is minus the expected information."""
    if kind not in KINDS:
        raise InputError(f"covariance is one of {', '.join(KINDS)}, not {kind!r}")
    if (kind == "cluster") != (clusters is not None):
        raise InputError("covariance='cluster' goes together with clusters=, the column that names each row's cluster")
    bread = inverse(-hessian)
    if kind in {"hessian", "expected"}:
        return bread
    scores = likelihood.scores(params)
    if kind == "opg":
        return inverse(scores.T @ scores)
    factor = 1.0
    if clusters is not None:
        groups = int(clusters.max()) + 1
        if groups < 2:
            raise TooFewReportsError("all rows are in one cluster; errors between clusters need at least two of them")
        scores = np.stack([np.bincount(clusters, column, groups) for column in scores.T], axis=1)
        factor = groups / (groups - 1)
    return factor * (bread @ (scores.T @ scores) @ bread)


def inverse(information: Array) -> Array:
    """Invert an information matrix, or say that it determines too little."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    if not values[0] > 1e-10 * values[-1]:
        raise NotIdentifiedError(
            "at the maximum the likelihood is flat in some direction: different coefficients give the reports the same "
            "distribution. Possible causes: (a) the channel carries next to no information; (b) the model for a "
            "disguised predictor has too many terms for these reports; (c) a parameter is at its boundary. Use fewer "
            "terms, more reports, or a channel with less noise",
            eigenvalues=values,
        )
    half = scale[:, None] * vectors / np.sqrt(values)
    return np.asarray(half @ half.T)

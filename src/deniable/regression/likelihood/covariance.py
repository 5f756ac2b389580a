"""Covariances of estimates.

With H the Hessian and s_i the weighted score of row i at the estimate:

    hessian    (-H)^-1                                    the model is right; weights repeat rows
    expected   I^-1, I averaged over all reports that could have come: see `expected`
    opg        (sum s_i s_i')^-1                          the same, from first derivatives
    sandwich   H^-1 (sum s_i s_i') H^-1                   also right for wrong error laws
    survey     H^-1 G H^-1                                also for weights, strata and clusters: G is the covariance of
                                                          the sum of the s_i by the sampling, see `sampling`
    cluster    the same; it asks for clusters

With clusters alone G = g / (g - 1) sum of s_c s_c', s_c the sum of s_i over cluster c of g; with weights alone it is
n / (n - 1) times the sandwich.

Expected information: what reports say on average, whichever of them came.

    I = sum over respondents i, and over all reports u that could have come, of  (d lambda_iu)(d lambda_iu)' / lambda_iu

The observed Hessian is the same with only the report that did come. Where reports are few the expected one is steadier;
it trusts the model more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError, NotIdentifiedError
from deniable.likelihood.report_likelihoods import Counted
from deniable.regression.likelihood.identifiability import complete
from deniable.regression.likelihood.jeffreys_prior import Jeffreys
from deniable.regression.likelihood.mixture_likelihood import Likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]
    from deniable.regression.data_source import Source
    from deniable.regression.likelihood.hidden_predictor import Laid
    from deniable.regression.likelihood.posterior import Heard

SURVEY = ("survey", "cluster")
KINDS = ("hessian", "expected", "opg", "sandwich", *SURVEY)


def covariance(kind: str, likelihood: Likelihood, params: Array, hessian: Array, drawn: Drawn | None) -> Array:
    """The covariance of all parameters; for "expected", `hessian` is minus the expected information."""
    if kind not in KINDS:
        raise InputError(f"covariance is one of {', '.join(KINDS)}, not {kind!r}")
    clustered = drawn is not None and "clusters" in drawn.sampling.told
    if (kind == "cluster" and not clustered) or (kind == "survey" and drawn is None):
        wanted = "clusters=" if kind == "cluster" else "weights=, strata= or clusters="
        raise InputError(f"covariance={kind!r} goes together with {wanted}, which say how rows were drawn")
    if clustered and kind not in SURVEY:
        raise InputError(f"covariance={kind!r} takes rows for independent; with clusters= leave it out")
    bread = inverse(-hessian)
    if kind in {"hessian", "expected"}:
        return bread
    scores = likelihood.scores(params)
    if kind == "opg":
        return inverse(scores.T @ scores)
    if kind == "sandwich" or drawn is None:
        return bread @ (scores.T @ scores) @ bread
    return bread @ drawn.covariance(scores) @ bread


@dataclass(frozen=True)
class Drawn:
    """How the rows of a regression were drawn, those that say nothing included.

    Attributes:
        sampling: of all rows.
        rows: those that are fitted.
    """

    sampling: Sampling
    rows: NDArray[np.intp]

    def covariance(self, scores: Array) -> Array:
        """The covariance of the sum of weighted scores, a row each of the fitted rows."""
        weight = self.sampling.scaled[self.rows]
        each = np.divide(scores, weight[:, None], out=np.zeros_like(scores), where=weight[:, None] > 0)
        place = np.full(self.sampling.n, -1)
        place[self.rows] = np.arange(len(self.rows))
        return self.sampling.covariance((place, each))


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


_ENTRIES = 1 << 22  # of the derivatives that are held at a time


def expected_information(source: Source, laid: Laid, likelihood: Likelihood, params: Array) -> Array:
    """The information of all parameters."""
    outcome, heard = source.outcome.disguised, source.heard
    if heard is not None and heard.outcome is not None:
        return _of_reports(laid, heard, likelihood, params) - likelihood.steady_curvature(params)
    if heard is None and outcome is not None and len(likelihood.cells) == 1:
        return Jeffreys(likelihood, outcome).information(params)
    raise InputError(
        "covariance='expected' averages over the reports of a disguised outcome; with an open outcome, or with "
        "predictors of a frame named in rr=, use covariance='hessian'"
    )


def _of_reports(laid: Laid, heard: Heard, likelihood: Likelihood, params: Array) -> Array:
    total = np.zeros((likelihood.size, likelihood.size))
    for number, group in enumerate(heard.groups):
        if not isinstance(group.said, Counted) or group.said.matrix is None:
            raise InputError(
                f"the reports through {group.said.channel.name} that could have come are too many to average over; use "
                f"covariance='hessian'"
            )
        chance = group.said.matrix[:, group.cell]
        members = np.flatnonzero(heard.group == number)
        step = max(1, _ENTRIES // (max(chance.shape) * likelihood.size))
        for start in range(0, len(members), step):
            rows = members[start : start + step]
            part = Likelihood(complete(laid, heard, rows), likelihood.weights[rows], likelihood.size)
            shares, changes = part.cells_at(params)
            lam = chance @ shares
            moved = np.tensordot(chance, changes, axes=1)  # reports, rows, parameters
            weight = np.divide(part.weights, lam, out=np.zeros_like(lam), where=lam > 0)
            total += np.einsum("uip,ui,uiq->pq", moved, weight, moved, optimize=True)
    return total

"""Expected information: what reports say on average, whichever of them came.

    I = sum over respondents i, and over all reports u that could have come, of  (d lambda_iu)(d lambda_iu)' / lambda_iu

The observed Hessian is the same with only the report that did come. Where reports are few the expected one is steadier;
it trusts the model more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError
from deniable.likelihood.report_likelihoods import Counted
from deniable.regression.likelihood.identifiability import complete
from deniable.regression.likelihood.jeffreys_prior import Jeffreys
from deniable.regression.likelihood.mixture_likelihood import Likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.regression.data_source import Source
    from deniable.regression.likelihood.hidden_predictor import Laid
    from deniable.regression.likelihood.posterior import Heard

    Array = NDArray[np.float64]

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

"""Weighted shares of reports in groups of respondents, with their covariance by linearization.

The share of report u in group g is a ratio of totals, lambda_gu = sum w [report u, group g] / sum w [group g], whose
linear part is z_gu = w [group g] ([report u] - lambda_gu) / W_g. With equal weights and neither strata nor clusters its
variance is lambda (1 - lambda) / (n - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import TooFewReportsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.sampling.sampling import Sampling


@dataclass(frozen=True)
class Shares:
    """Weighted shares of the reports by group, shape (groups, reports), and the covariance of all of them."""

    values: NDArray[np.float64]
    covariance: NDArray[np.float64]
    df: float


def weighted_shares(
    codes: NDArray[np.integer],
    reports: int,
    groups: NDArray[np.int64],
    sampling: Sampling,
    names: Sequence[Any],
    *,
    apart: bool = False,
) -> Shares:
    """Shares of the reports in every group (numbered from 0), with their linearized covariance.

    Groups are parts of one sample, as R's survey package has it; where they are samples of their own (`apart`: each was
    given another device), every mean costs a respondent, and equal weights give lambda (1 - lambda) / (n_g - 1).
    `names` are the groups' own, for a refusal.
    """
    many = int(groups.max()) + 1
    cell = groups * reports + codes
    by_cell = np.bincount(cell, sampling.scaled, many * reports).reshape(many, reports)
    whole = by_cell.sum(axis=1)
    if (whole <= 0).any():
        empty = names[int(np.argmax(whole <= 0))]
        raise TooFewReportsError(
            f"nobody in group {empty!r} has any weight, so no share can be estimated in it. Join this group with "
            f"another one, or drop it",
            group=empty,
            n=0,
        )
    shares = by_cell / whole[:, None]
    sizes = np.bincount(groups[sampling.within], minlength=many)
    linear = np.zeros((many * reports, many * reports))
    for g, size in enumerate(sizes.tolist()):
        part = slice(g * reports, (g + 1) * reports)
        k = np.sqrt((1 - 1 / sampling.n) / (1 - 1 / size)) if apart and size > 1 else 1.0
        linear[part, part] = k * (np.eye(reports) - shares[g][None, :]) / whole[g]
    return Shares(shares, sampling.covariance((cell.astype(np.int64), linear)), sampling.df)

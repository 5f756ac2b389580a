"""Replicate weights: columns of weights with which everything is estimated again, as statistical offices publish them.

With theta_r the estimate of replicate r of R and m their mean, Cov = scale x sum over r of r_r (theta_r - m)(...)'.
What scale and r_r are depends on how replicates were made, as in R's survey package:

    jk1        one cluster left out at a time, no strata     scale (R - 1) / R, r_r = 1
    jkn        the same within strata                        scale 1, r_r = (n_h - 1) / n_h: give them
    brr        balanced halves                               scale 1 / R
    fay        halves weighted 2 - rho and rho               scale 1 / (R (1 - rho)^2)
    bootstrap  clusters drawn anew                           scale 1 / (R - 1)

Replicated: weights with which everything is estimated again, and how far each estimate counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from deniable.core.input_coercion import by_row, in_order
from deniable.errors import InputError
from deniable.frozen import Frozen
from deniable.sampling.read_sampling import column, index_of, named, one_by_one
from deniable.sampling.sampling import Sampling
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.designs.reports.reports import Reports
    from deniable.sampling.read_sampling import Column

_SAME = 1e-10  # squared: how near a replicate lies to a combination of others to be one


@dataclass(frozen=True, eq=False)
class Replicated(Frozen):
    """Replicate weights: (respondents, replicates), and how far each replicate counts."""

    weights: Array
    each: Array  # scale x r_r

    def rank(self, rows: NDArray[np.bool_]) -> int:
        """How many replicates of some respondents are linearly independent: R's survey package takes one less as df.

        Two hundred bootstrap replicates of eight clusters in four strata still know no more than those clusters.
        """
        w = self.weights[rows]
        size = np.sqrt((w**2).sum(axis=0))
        unit = w[:, size > 0] / size[size > 0]
        return int((np.linalg.eigvalsh(unit.T @ unit) > _SAME * unit.shape[1]).sum())

    def covariance(self, estimates: Array) -> Array:
        """The covariance of estimates that were made with each of the weights: a row a replicate."""
        away = estimates - estimates.mean(axis=0)
        return np.asarray((away * self.each[:, None]).T @ away)


Kind = Literal["jk1", "jkn", "brr", "fay", "bootstrap"]


def replicate_weights(
    reports: Reports | Sequence[Reports],
    replicates: ArrayLike | Sequence[str],
    kind: Kind,
    *,
    weights: str | Column,
    scales: ArrayLike | None = None,
    rho: float | None = None,
) -> Sampling:
    """Take replicate weights, for `weights=` of any analysis.

    Args:
        reports: what respondents sent.
        replicates: a column of weights a replicate: an array with a row a respondent, or names of public columns.
        kind: how they were made: "jk1", "jkn", "brr", "fay" or "bootstrap"; see `sampling.replicate_weights`.
        weights: the weights of the whole sample: one a respondent, or the name of a public column.
        scales: for "jkn", the factor r_r of every replicate.
        rho: for "fay", how far halves that are left out still count.
    """
    if kind not in get_args(Kind):
        raise InputError(f"there are no replicate weights of kind {kind!r}; choose from {listed(get_args(Kind))}")
    sources = one_by_one(reports)
    n = sum(source.n for source in sources)
    table = _table(replicates, sources, n)
    count = table.shape[1]
    if (kind == "jkn") != (scales is not None) or (kind == "fay") != (rho is not None):
        raise InputError('scales= goes with "jkn" replicates and rho= with "fay", and they need them')
    if rho is not None and not 0 <= rho < 1:
        raise InputError(f"rho lies between 0 and 1, not {rho!r}")
    scale = {
        "jk1": (count - 1) / count,
        "jkn": 1.0,
        "brr": 1 / count,
        "fay": 1 / (count * (1 - (rho or 0.0)) ** 2),
        "bootstrap": 1 / (count - 1),
    }[kind]
    each = np.full(count, scale) if scales is None else scale * in_order(scales, "scales of replicates").ravel()
    if each.shape != (count,) or not np.isfinite(each).all() or (each < 0).any():
        raise InputError(f"scales= must be {count} numbers from 0, one a replicate")
    whole = named(weights, sources, "weights", n).astype(np.float64)
    nobody = np.zeros(n, dtype=np.int64)
    told = ("weights", f"{kind} replicate weights")
    return Sampling(whole, nobody, np.arange(n), told, replicated=Replicated(table, each))


def _table(replicates: Any, sources: Sequence[Reports], n: int) -> Array:
    names = isinstance(replicates, list | tuple) and all(isinstance(name, str) for name in replicates)
    if names:
        table = np.stack([named(name, sources, name, n) for name in replicates], axis=1)
    else:
        table = np.asarray(by_row(replicates, index_of(sources), "replicates"))
    if table.ndim != 2 or len(table) != n or table.shape[1] < 2:
        raise InputError(
            f"replicate weights are two or more columns with a row for each of the {n} respondents; got an array of "
            f"shape {table.shape}",
            rows=n,
        )
    checked = [column(part, f"replicate {place + 1}", n) for place, part in enumerate(table.T)]
    out = np.stack(checked, axis=1)
    if out.dtype.kind not in "iuf" or not np.isfinite(out).all() or (out < 0).any():
        raise InputError("replicate weights must be numbers from 0 upwards")
    return out.astype(np.float64)

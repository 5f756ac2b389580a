"""Distances between two tables of the same attributes: Euclidean, total variation, Jensen-Shannon, Hellinger, ...

With x and y the values of t cells, and p = x / sum x, q = y / sum y their shares:

==============  =============================================  ========================================================
`"l2"`          sqrt(sum (x - y)^2)                            Euclidean
`"ese"`         sum (x - y)^2                                  its mean over surveys is the expected squared error
`"mse"`         sum (x - y)^2 / t                              mean squared error of a cell
`"mae"`         sum |x - y| / t                                mean absolute error of a cell
`"chi2"`        sum (x - y)^2 / y                              Pearson's, y what is expected; infinite where y is 0
`"tv"`          sum |p - q| / 2                                total variation
`"js"`          sqrt((KL(p, m) + KL(q, m)) / 2), m = (p+q)/2   Jensen-Shannon, natural logarithm; as SciPy has it
`"hellinger"`   sqrt(1 - sum sqrt(p q))                        Hellinger
==============  =============================================  ========================================================

The first five take tables as they are, counts with counts or shares with shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from deniable.errors import InputError
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

Distance: TypeAlias = Literal["l2", "ese", "mse", "mae", "chi2", "tv", "js", "hellinger"]
_NEAR_ONE, _MANY = 0.1, 2.0  # a total of shares, estimated or not, and one of counts


def distance_between(x: NDArray[np.float64], y: NDArray[np.float64], kind: Distance) -> float:
    """The distance of the values x from the values y, cell by cell.

    >>> distance_between(np.array([0.5, 0.5]), np.array([0.3, 0.7]), "tv")
    0.2
    """
    if kind not in get_args(Distance):
        raise InputError(f"there is no distance {kind!r}; there are {listed(get_args(Distance))}", kind=kind)
    totals = float(x.sum()), float(y.sum())
    if kind in ("tv", "js", "hellinger"):
        if min(totals) <= 0:
            raise InputError(f"shares are compared, and the total of a table is {min(totals):g}", kind=kind)
        return _of_shares(x / totals[0], y / totals[1], kind)
    if abs(min(totals) - 1) < _NEAR_ONE and max(totals) >= _MANY:
        raise InputError(
            f"one table holds shares and the other counts: their totals are {totals[0]:g} and {totals[1]:g}. "
            f"Compare .normalize() of both, or multiply the shares by the number of respondents",
            totals=totals,
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a table has a cell without a value, and no distance from another; compare complete tables")
    apart = x - y
    if kind == "mae":
        return float(np.abs(apart).mean())
    if kind == "chi2":
        if y.min() < 0:
            raise InputError("what is expected of a cell is not below 0; compare with a table without negative cells")
        parts = np.divide(apart**2, y, out=np.where(apart == 0, 0.0, np.inf), where=y > 0)
        return float(parts.sum())
    squares = float((apart**2).sum())
    return {"l2": squares**0.5, "ese": squares, "mse": squares / apart.size}[kind]


def _of_shares(p: NDArray[np.float64], q: NDArray[np.float64], kind: Distance) -> float:
    if kind == "tv":
        return float(np.abs(p - q).sum()) / 2
    if min(p.min(), q.min()) < 0:
        raise InputError(
            f'{kind!r} is between distributions, and a table has a negative cell, as unbiased estimates may: take "tv" '
            f'or "l2", or an estimate without negative shares (method="mle" or "norm_sub")',
            kind=kind,
        )
    if kind == "hellinger":
        return float(max(1 - np.sqrt(p * q).sum(), 0.0) ** 0.5)
    from scipy.special import rel_entr

    middle = (p + q) / 2
    return float(max(rel_entr(p, middle).sum() + rel_entr(q, middle).sum(), 0.0) / 2) ** 0.5

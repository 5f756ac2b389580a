"""Newton's method for any table without negative cells: few steps where EM creeps, a thousand replicates at a time.

The log-likelihood l(pi) = sum_u y_u log (P pi)_u grows by n log s if pi is scaled by s, so that its best table that
sums to one is the best of l(pi) - n sum(pi) over all pi >= 0: only signs are left to mind. At a table with gradient
g = P' (y / lambda) and curvature H = P' diag(y / lambda^2) P, which gives H pi = g, Newton's method goes to the table x
with H x = 2 g - n on the cells that are free; those at zero with g < n stay there, those that would fall below zero are
put there and the others solved for again. H is linear in y / lambda^2, so that the curvatures of all replicates are one
matrix product, of which the upper triangle is enough. A step that does not gain is shortened, and at last replaced by
one of EM, which never loses. l is concave: max(g) - n bounds what is left.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.numerics.batched import packed_places, solve_packed, times
from deniable.numerics.newton_step import backtracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_CELLS = 36  # of tables that are fitted by it
_MOST, _SOON = 40, 6  # steps, and those after which only few replicates go on
_SHORTER = (0.5, 0.2, 0.05)  # how much of a step that does not gain is tried instead
_PASSES = 3  # times that cells which would fall below zero are put there
_RIDGE = 1e-9  # of the mean curvature: lets directions rest that no report speaks of
_TINY = 1e-300
_AT_ONCE = 1 << 17  # numbers of curvatures that are worked on together: as many as stay near the processor


def peaks(rows: Array, y: Array, gap: float) -> tuple[Array, Array, Array, int]:
    """The likeliest table of every replicate.

    Args:
        rows: P, the probabilities of reports given the cells, (reports, cells).
        y: counts, (reports, replicates).
        gap: nats that may be left to gain.

    Returns:
        The tables (cells, replicates), their log-likelihoods, what is at most left to gain, and the evaluations made.
    """
    cells = rows.shape[1]
    upper = np.triu_indices(cells)
    known = rows, np.ascontiguousarray(rows.T[upper[0]] * rows.T[upper[1]])
    step = max(1, _AT_ONCE // len(known[1]))
    even, soon = np.full((cells, step), 1 / cells), min(_SOON, _MOST)
    parts = []
    for begin in range(0, y.shape[1], step):
        some = y[:, begin : begin + step]
        parts.append(_peaks(known, some, even[:, : some.shape[1]], gap, soon))
    tables, logliks, lefts, used = zip(*parts, strict=True)
    pi, loglik, left, steps = np.concatenate(tables, axis=1), np.concatenate(logliks), np.concatenate(lefts), sum(used)
    late = np.flatnonzero(~(left <= gap))  # few of each part: they go on together
    for begin in range(0, len(late), step):
        here = late[begin : begin + step]
        pi[:, here], loglik[here], left[here], more = _peaks(known, y[:, here], pi[:, here], gap, _MOST - soon)
        steps += more
    return pi, loglik, left, steps


def _peaks(known: tuple[Array, Array], y: Array, pi: Array, gap: float, most: int) -> tuple[Array, Array, Array, int]:
    """From given tables so many steps; P and the products of its columns are known."""
    (rows, products), (cells, replicates) = known, pi.shape
    done, logliks, lefts = np.empty((cells, replicates)), np.empty(replicates), np.empty(replicates)
    going, n = np.arange(replicates), y.sum(axis=0)
    lam, loglik = _at(rows, pi, y)
    used = 1
    for turn in range(most + 1):
        pull = y / lam
        gradient = times(rows.T, pull)
        left = gradient.max(axis=0) - n
        rest = (left <= gap) | (turn == most)
        if rest.any():
            here, keep = going[rest], np.flatnonzero(~rest)
            done[:, here], logliks[here], lefts[here] = pi[:, rest], loglik[rest], left[rest]
            if not len(keep):
                break
            going, n, y, loglik = going[keep], n[keep], y[:, keep], loglik[keep]
            pi, lam, pull, gradient = pi[:, keep], lam[:, keep], pull[:, keep], gradient[:, keep]
        pull /= lam
        whole = _best(times(products, pull), gradient, n, pi)
        more = np.nextafter(loglik, np.inf)
        found, worse, tried = backtracked(partial(_moved, rows, y), pi, whole - pi, more, _SHORTER)
        (there, lam, now), used = found, used + tried
        if len(worse):
            there[:, worse], lam[:, worse], now[worse] = _moved(rows, y, (pi * gradient)[:, worse], worse)
            used += 1
        pi, loglik = there, now
    return done, logliks, lefts, used


def _at(rows: Array, pi: Array, y: Array) -> tuple[Array, Array]:
    lam = np.maximum(times(rows, pi), _TINY)
    return lam, np.einsum("ur,ur->r", y, np.log(lam))


def _moved(rows: Array, y: Array, pi: Array, some: NDArray[np.int64] | slice) -> tuple[Array, Array, Array]:
    """Tables of some replicates, brought to a sum of one, which never loses."""
    total = pi.sum(axis=0)
    table = np.where(total > 0, pi, 1.0) / np.where(total > 0, total, len(pi))
    return table, *_at(rows, table, y[:, some])


def _best(curvature: Array, gradient: Array, n: Array, pi: Array) -> Array:
    """The best table without negative cells, as far as the curvature (its upper triangle, row by row) tells."""
    diagonal = np.diagonal(packed_places(len(pi)))
    ridge = _RIDGE * curvature[diagonal].mean(axis=0) + _TINY
    curvature[diagonal] += ridge
    right = 2 * gradient - n + ridge * pi
    zero = (pi <= 0) & (gradient <= n)
    table = solve_packed(curvature.copy(), right, zero)
    for _ in range(_PASSES):
        below = table < 0
        again = np.flatnonzero(below.any(axis=0))
        if not len(again):
            break
        zero |= below
        table[:, again] = solve_packed(curvature[:, again], right[:, again], zero[:, again])
    return np.maximum(table, 0.0)

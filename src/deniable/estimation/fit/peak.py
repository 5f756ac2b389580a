"""Newton's method for any table without negative cells: few steps where EM creeps, a thousand replicates at a time.

The log-likelihood l(pi) = sum_u y_u log (P pi)_u grows by n log s if pi is scaled by s, so that its best table that
sums to one is the best of l(pi) - n sum(pi) over all pi >= 0: only signs are left to mind. At a table with gradient
g = P' (y / lambda) and curvature H = P' diag(y / lambda^2) P the step d solves H d = g - n on the cells that are free;
those at zero with g < n stay there, those that would fall below zero are put there and the others solved for again.
H is linear in y / lambda^2, so that the curvatures of all replicates are one matrix product. A step that does not gain
is shortened, and at last replaced by one of EM, which never loses. l is concave: max(g) - n bounds what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.fit.elimination import solve_each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_CELLS = 36  # of tables that are fitted by it
_MOST = 40  # steps
_SHORTER = (0.5, 0.2, 0.05)  # how much of a step that does not gain is tried instead
_PASSES = 3  # times that cells which would fall below zero are put there
_RIDGE = 1e-9  # of the mean curvature: lets directions rest that no report speaks of
_TINY = 1e-300
_AT_ONCE = 1 << 18  # numbers of curvatures that are worked on together: as many as stay near the processor


def peaks(rows: Array, y: Array, gap: float) -> tuple[Array, Array, Array, int]:
    """The likeliest table of every replicate.

    Args:
        rows: P, the probabilities of reports given the cells, (reports, cells).
        y: counts, (reports, replicates).
        gap: nats that may be left to gain.

    Returns:
        The tables (cells, replicates), their log-likelihoods, what is at most left to gain, and the evaluations made.
    """
    products = (rows.T[:, None] * rows.T[None]).reshape(-1, len(rows))
    step = max(1, _AT_ONCE // len(products))
    parts = [_peaks(rows, products, y[:, begin : begin + step], gap) for begin in range(0, y.shape[1], step)]
    tables, logliks, lefts, used = zip(*parts, strict=True)
    return np.concatenate(tables, axis=1), np.concatenate(logliks), np.concatenate(lefts), sum(used)


def _peaks(rows: Array, products: Array, y: Array, gap: float) -> tuple[Array, Array, Array, int]:
    cells, replicates = rows.shape[1], y.shape[1]
    done, logliks, lefts = np.empty((cells, replicates)), np.empty(replicates), np.empty(replicates)
    going, n = np.arange(replicates), y.sum(axis=0)
    pi = np.full((cells, replicates), 1 / cells)
    lam, loglik = _at(rows, pi, y)
    used = 1
    for turn in range(_MOST + 1):
        pull = y / lam
        gradient = rows.T @ pull
        left = gradient.max(axis=0) - n
        rest = (left <= gap) | (turn == _MOST)
        if rest.any():
            here, keep = going[rest], ~rest
            done[:, here], logliks[here], lefts[here] = pi[:, rest], loglik[rest], left[rest]
            if rest.all():
                break
            going, n, y, loglik = going[keep], n[keep], y[:, keep], loglik[keep]
            pi, lam, pull, gradient = pi[:, keep], lam[:, keep], pull[:, keep], gradient[:, keep]
        curvature = (products @ (pull / lam)).reshape(cells, cells, -1)
        whole = pi + _step(curvature, gradient - n, pi)
        there, lam, now = _moved(rows, whole, y)
        used += 1
        worse = ~(now > loglik)
        for share in _SHORTER:
            if not worse.any():
                break
            other = pi[:, worse] + share * (whole - pi)[:, worse]
            there[:, worse], lam[:, worse], now[worse] = _moved(rows, other, y[:, worse])
            used += 1
            worse = ~(now > loglik)
        if worse.any():
            there[:, worse], lam[:, worse], now[worse] = _moved(rows, (pi * gradient)[:, worse], y[:, worse])
            used += 1
        pi, loglik = there, now
    return done, logliks, lefts, used


def _at(rows: Array, pi: Array, y: Array) -> tuple[Array, Array]:
    lam = np.maximum(rows @ pi, _TINY)
    return lam, (y * np.log(lam)).sum(axis=0)


def _moved(rows: Array, pi: Array, y: Array) -> tuple[Array, Array, Array]:
    """A table brought to a sum of one, which never loses."""
    total = pi.sum(axis=0)
    table = np.where(total > 0, pi, 1.0) / np.where(total > 0, total, len(pi))
    return table, *_at(rows, table, y)


def _step(curvature: Array, slope: Array, pi: Array) -> Array:
    """The best step to a table without negative cells, as far as the curvature tells."""
    place = np.arange(len(pi))
    curvature[place, place] += _RIDGE * curvature[place, place].mean(axis=0) + _TINY
    fixed = (pi <= 0) & (slope <= 0)
    step = _among(curvature, slope, pi, fixed)
    for _ in range(_PASSES):
        below = pi + step < 0
        if not (below & ~fixed).any():
            break
        again = (below & ~fixed).any(axis=0)
        fixed = fixed | below
        step[:, again] = _among(curvature[:, :, again], slope[:, again], pi[:, again], fixed[:, again])
    return np.maximum(step, -pi)


def _among(curvature: Array, slope: Array, pi: Array, fixed: NDArray[np.bool_]) -> Array:
    """The step where some cells go to zero."""
    if not fixed.any():
        return solve_each(curvature, slope)
    given, free = np.where(fixed, -pi, 0.0), (~fixed).astype(np.float64)
    right = np.where(fixed, given, slope - np.einsum("ijr,jr->ir", curvature, given))
    system = curvature * free[:, None]
    system *= free
    place = np.arange(len(pi))
    system[place, place] += fixed
    return solve_each(system, right)

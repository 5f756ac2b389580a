"""Fisher scoring for log-linear tables seen through channels: Newton's method with the expected information.

Let log pi = X beta + constant, lambda = A pi the probabilities of all reports and n_r the number of reports of the
observation that report r belongs to. With D = diag(pi) - pi pi' and B = A D X,

    score s = X'(pi o A'(counts / lambda) - n pi),     information J = B' diag(n_r / lambda) B,     step beta += J^-1 s.

s' J^-1 s / 2 is what is left to gain in log-likelihood, to second order: the certificate at which iteration stops. EM
crawls when a report says little about the truth; this does not care. A cell that wants to be zero sends its logarithm
downwards a unit a step, while what is left to gain falls by a factor e. Where all but one cell want to be zero both s
and J vanish and their quotient is rounding; there another bound holds, which no table whatever exceeds:

    max over cells of (A'(counts / lambda))  -  n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.numerics.newton_step import backtracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_RIDGE = 1e-9  # of the mean information: lets directions rest that no report speaks of
_LONGEST = 4.0  # no cell's logarithm moves further in one step
_MOST = 200
_HALVINGS = tuple(0.5**k for k in range(1, 31))  # of a step that loses, what is tried
_TINY = 1e-300


def fisher_scoring(
    reporting: Array,
    counts: Array,
    asked: Array,
    basis: Array,
    *,
    theta: Array,
    gap: float,
) -> tuple[Array, Array, Array, int]:
    """Climb from theta = log pi (cells, replicates), which must lie in the model.

    Args:
        reporting: A, from cells to reports.
        counts: of the reports, a column a replicate.
        asked: n_r for every report, likewise.
        basis: X, a column a parameter.
        theta: where to start.
        gap: how many nats of log-likelihood may be left to gain.

    Returns:
        theta, the log-likelihoods, what is left to gain (more than the gap where it gave up), and the evaluations made.
    """
    n = counts.sum(axis=0)

    def evaluate(theta: Array, some: NDArray[np.int64] | slice) -> tuple[Array, Array, Array, Array]:
        pi = np.exp(theta - theta.max(axis=0))
        pi /= pi.sum(axis=0)
        lam = np.maximum(reporting @ pi, _TINY)
        return theta, pi, lam, (counts[:, some] * np.log(lam)).sum(axis=0)

    _, pi, lam, loglik = evaluate(theta, slice(None))
    used = 1
    for _ in range(_MOST):
        pull = reporting.T @ (counts / lam)
        score = basis.T @ (pi * pull - n * pi)
        # (replicates, reports, parameters), each row scaled so that its square is the information.
        moved = pi.T[:, :, None] * (basis[None] - (pi.T @ basis)[:, None, :])
        b = (reporting @ moved) * np.sqrt(asked / lam).T[:, :, None]
        information = np.swapaxes(b, 1, 2) @ b
        mean = np.trace(information, axis1=1, axis2=2) / basis.shape[1]
        information += (_RIDGE * mean + _TINY)[:, None, None] * np.eye(basis.shape[1])
        step = np.linalg.solve(information, score.T[:, :, None])[:, :, 0].T
        left = np.minimum((score * step).sum(axis=0) / 2, pull.max(axis=0) - n)
        if left.max() <= gap:
            return theta, loglik, left, used
        move = basis @ step
        move *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(move).max(axis=0), _TINY))
        move[:, left <= gap] = 0.0  # replicates that have arrived wait for the others
        (theta, pi, lam, loglik), _, tried = backtracked(evaluate, theta, move, loglik, _HALVINGS)
        used += tried
    return theta, loglik, left, used

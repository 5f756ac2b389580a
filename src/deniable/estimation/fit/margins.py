"""Fisher scoring for independence of two attributes: Newton's method on the logarithms of the two margins.

With pi = a b', lambda_u = sum_ij P[u, ij] a_i b_j and logarithms of a and b as parameters (each up to a constant), the
probabilities of reports move by

    B[u, i] = a_i (sum_j P[u, ij] b_j - lambda_u),      B[u, j] = b_j (sum_i P[u, ij] a_i - lambda_u),

so that score = B' (y / lambda), information = B' diag(n / lambda) B, and score' information^-1 score / 2 is what is
left to gain, to second order. Steps are clipped, and shortened until they gain. EM crawls where reports say little
about the truth; this takes some ten steps, and a thousand replicates take them together. Where each cell has a report
of its own (k-RR, mixtures: lambda_ij = s_ij a_i b_j + o_ij), B need not be written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.estimation.fit.said import Counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.fit.evidence import Evidence

    Array = NDArray[np.float64]

_FIRST = 4  # steps from every start, after which only the best climb goes on
_MOST = 60
_LONGEST = 4.0  # no logarithm moves further in one step
_LOWEST = -40.0  # of a margin's logarithm, beside the largest
_RIDGE = 1e-7  # of the mean information: lets directions rest that no report speaks of
_SHORTER = (4.0, 4.0, 8.0, 8.0, 16.0, 64.0, 256.0)  # how steps that lose are shortened
_TINY = 1e-300
_AT_ONCE = 1 << 22  # numbers that are worked on together


class _Reports(Protocol):
    """Probabilities of reports and how they move with the margins."""

    def probabilities(self, a: Array, b: Array) -> Array:
        """lambda, (reports, replicates)."""
        ...

    def slopes(self, a: Array, b: Array, lam: Array, y: Array) -> tuple[Array, Array]:
        """The score (parameters, replicates) and the information (replicates, parameters, parameters)."""
        ...


@dataclass(frozen=True, eq=False)
class _Own:
    """Each cell has a report of its own: lambda = scale a b' + offset."""

    scale: Array  # over the cells, (rows, columns, 1)
    offset: Array

    def probabilities(self, a: Array, b: Array) -> Array:
        lam = self.scale * a[:, None] * b[None] + self.offset
        return lam.reshape(-1, a.shape[1])

    def slopes(self, a: Array, b: Array, lam: Array, y: Array) -> tuple[Array, Array]:
        r, c = len(a), len(b)
        moved = self.scale * a[:, None] * b[None]  # by the logarithm of a_i, before a's sum to one is kept
        there, seen = lam.reshape(moved.shape), y.reshape(moved.shape)
        pull = seen / there * moved
        total = pull.sum(axis=(0, 1))
        score = np.concatenate([pull.sum(axis=1) - a * total, pull.sum(axis=0) - b * total])
        w = y.sum(axis=0) * moved**2 / there
        by_row, by_column, whole = w.sum(axis=1).T, w.sum(axis=0).T, w.sum(axis=(0, 1))[:, None, None]
        at, bt = a.T, b.T
        information = np.empty((a.shape[1], r + c, r + c))
        information[:, :r, :r] = _centred(by_row, at, whole)
        information[:, r:, r:] = _centred(by_column, bt, whole)
        cross = np.moveaxis(w, -1, 0) + whole * at[:, :, None] * bt[:, None, :]
        cross = cross - at[:, :, None] * by_column[:, None, :] - by_row[:, :, None] * bt[:, None, :]
        information[:, :r, r:], information[:, r:, :r] = cross, np.swapaxes(cross, 1, 2)
        return score, information


def _centred(weight: Array, margin: Array, whole: Array) -> Array:
    """diag(w) - w m' - m w' + (sum w) m m', a matrix a replicate."""
    out = whole * margin[:, :, None] * margin[:, None, :]
    out -= weight[:, :, None] * margin[:, None, :] + margin[:, :, None] * weight[:, None, :]
    place = np.arange(weight.shape[1])
    out[:, place, place] += weight
    return out


@dataclass(frozen=True, eq=False)
class _Any:
    """Any reports: P as a matrix."""

    by_column: Array  # (reports, rows, columns)
    by_row: Array  # (reports, columns, rows)
    first: NDArray[np.int64]  # where the groups of reports begin
    sizes: NDArray[np.int64]  # how many reports each group lists
    every: NDArray[np.bool_]  # whether a report's group lists all that are possible, (reports, 1)

    def _halves(self, a: Array, b: Array) -> tuple[Array, Array]:
        u, r, c = self.by_column.shape
        given_b = (self.by_column.reshape(u * r, c) @ b).reshape(u, r, -1)
        return given_b, (self.by_row.reshape(u * c, r) @ a).reshape(u, c, -1)

    def probabilities(self, a: Array, b: Array) -> Array:
        u, r, c = self.by_column.shape
        cells = (a[:, None] * b[None]).reshape(r * c, -1)
        lam: Array = self.by_column.reshape(u, r * c) @ cells
        return lam

    def slopes(self, a: Array, b: Array, lam: Array, y: Array) -> tuple[Array, Array]:
        given_b, given_a = self._halves(a, b)
        moved = np.concatenate([a * (given_b - lam[:, None]), b * (given_a - lam[:, None])], axis=1)
        score = np.einsum("ukr,ur->kr", moved, y / lam)
        # Of reports that did not come nothing is known where they cannot be listed: there the observed information.
        n = np.repeat(np.add.reduceat(y, self.first, axis=0), self.sizes, axis=0)
        weight = np.where(self.every, n / lam, y / lam**2)
        scaled = np.moveaxis(moved * np.sqrt(weight)[:, None], -1, 0)
        return score, np.swapaxes(scaled, 1, 2) @ scaled


def _reports(evidence: Evidence) -> _Reports:
    shape = evidence.domain.shape
    said = evidence.likely[0].said
    if len(evidence.likely) == 1 and isinstance(said, Counted) and said.part.names == evidence.domain.names:
        affine = said.channel.affine() if said.codes is None else None
        if affine is not None and said.channel.outputs == said.channel.inputs and (affine[0] > 0).all():
            scale, offset = (np.asarray(x, dtype=np.float64).reshape(*shape, 1) for x in affine)
            if np.ptp(scale) <= 1e-12 * scale.max():
                return _Own(scale, offset)
    rows = evidence.matrix().reshape(-1, *shape)
    sizes = np.array([len(group.counts) for group in evidence.likely])
    every = np.repeat([isinstance(group.said, Counted) for group in evidence.likely], sizes)[:, None]
    by_row = np.ascontiguousarray(rows.transpose(0, 2, 1))
    return _Any(np.ascontiguousarray(rows), by_row, np.cumsum(sizes) - sizes, sizes, every)


def score_margins(
    evidence: Evidence, y: Array, starts: Sequence[Array], gap: float, most: int = _MOST
) -> tuple[Array, Array, Array, int]:
    """Fit independence to every replicate of the counts y.

    Args:
        evidence: about two attributes, with a likelihood.
        y: counts, (reports, replicates).
        starts: tables of the model, replicates last; the climb that is highest after a few steps goes on.
        gap: nats that may be left to gain.
        most: steps before giving up.

    Returns:
        The tables, their log-likelihoods, what is left to gain, and the evaluations made.
    """
    known, (r, c) = _reports(evidence), evidence.domain.shape
    step = max(1, _AT_ONCE // (len(y) * (r + c)))
    parts = []
    for begin in range(0, y.shape[1], step):
        here = slice(begin, begin + step)
        climbs = [_climb(known, y[:, here], _logs(start[..., here]), r=r, gap=gap, most=_FIRST) for start in starts]
        first = climbs[0]
        if len(climbs) > 1:
            best = np.stack([climb[1] for climb in climbs]).argmax(axis=0)
            chosen = np.stack([climb[0] for climb in climbs])[best, :, np.arange(len(best))].T
            first = (chosen, *climbs[0][1:3], sum(climb[3] for climb in climbs))
        theta, loglik, left, used = _climb(known, y[:, here], first[0], r=r, gap=gap, most=most)
        a, b = _shares(theta[:r]), _shares(theta[r:])
        parts.append((a[:, None] * b[None], loglik, left, used + first[3]))
    tables, logliks, lefts, evaluations = zip(*parts, strict=True)
    return np.concatenate(tables, axis=-1), np.concatenate(logliks), np.concatenate(lefts), sum(evaluations)


def _logs(table: Array) -> Array:
    margins = [table.sum(axis=1), table.sum(axis=0)]
    return np.concatenate([np.log(np.maximum(m, np.exp(_LOWEST))) for m in margins])


def _shares(logs: Array) -> Array:
    weights = np.exp(logs - logs.max(axis=0))
    return weights / weights.sum(axis=0)


def _climb(
    known: _Reports, y: Array, theta: Array, *, r: int, gap: float, most: int
) -> tuple[Array, Array, Array, int]:
    """One climb of all replicates; those that have arrived rest."""

    def loglik_at(logs: Array, counts: Array) -> tuple[Array, Array]:
        lam = np.maximum(known.probabilities(_shares(logs[:r]), _shares(logs[r:])), _TINY)
        return lam, (counts * np.log(lam)).sum(axis=0)

    replicates = y.shape[1]
    done, logliks, lefts = np.empty_like(theta), np.empty(replicates), np.empty(replicates)
    going = np.arange(replicates)
    lam, loglik = loglik_at(theta, y)
    used = 1
    for turn in range(most + 1):
        score, information = known.slopes(_shares(theta[:r]), _shares(theta[r:]), lam, y)
        place = np.arange(len(theta))
        information[:, place, place] += (_RIDGE * information[:, place, place].mean(axis=1) + _TINY)[:, None]
        move = np.linalg.solve(information, score.T[:, :, None])[:, :, 0].T
        left = (score * move).sum(axis=0) / 2
        rest = (left <= gap) | (turn == most)
        here = going[rest]
        done[:, here], logliks[here], lefts[here] = theta[:, rest], loglik[rest], left[rest]
        if rest.all():
            break
        keep = ~rest
        going, theta, y, loglik, move = going[keep], theta[:, keep], y[:, keep], loglik[keep], move[:, keep]
        move = move * np.minimum(1.0, _LONGEST / np.maximum(np.abs(move).max(axis=0), _TINY))
        for shorter in _SHORTER:
            there = _lifted(theta + move, r)
            lam, now = loglik_at(there, y)
            used += 1
            worse = ~(now >= loglik)
            if not worse.any():
                break
            move = np.where(worse, move / shorter, move)
        else:
            # No step gains: rounding is all that is left.
            there = np.where(worse, theta, there)
            lam, now = loglik_at(there, y)
        theta, loglik = there, now
    return done, logliks, lefts, used


def _lifted(theta: Array, r: int) -> Array:
    """The same margins, the largest logarithm of each 0 and none below the lowest."""
    halves = [half - half.max(axis=0) for half in (theta[:r], theta[r:])]
    return np.maximum(np.concatenate(halves), _LOWEST)

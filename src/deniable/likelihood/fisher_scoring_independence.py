"""Fisher scoring for independence of two attributes: Newton's method on the logarithms of the two margins.

With pi = a b', lambda_u = sum_ij P[u, ij] a_i b_j and logarithms of a and b as parameters (each up to a constant), the
probabilities of reports move by

    B[u, i] = a_i (sum_j P[u, ij] b_j - lambda_u),      B[u, j] = b_j (sum_i P[u, ij] a_i - lambda_u),

so that score = B' (y / lambda), information = B' diag(n / lambda) B, and score' information^-1 score / 2 is what is
left to gain, to second order. Steps are clipped, and shortened until they gain. EM crawls where reports say little
about the truth; this takes some ten steps, and a thousand replicates take them together. Where each cell has a report
of its own in every group (k-RR, mixtures: lambda_ij = s a_i b_j + o_ij, lambda_i = s a_i + o_i), B need not be written
out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.likelihood.report_likelihoods import Counted
from deniable.numerics.batched import solve_each, times
from deniable.numerics.newton_step import backtracked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.likelihood.evidence import Evidence

    Array = NDArray[np.float64]

_FIRST = 4  # steps from other starts, after which only climbs go on that may end higher than the first
_MET = 0.05  # of a margin's largest share: climbs so near to each other, with
_LITTLE = 0.5  # no more nats to gain than this, end at the same place
_FEW = 1e-3  # a share that is next to nothing
_ROUGH = 1e-4  # nats: who wants less left to gain than this is given the nearest of all climbs
_MOST = 60
_LONGEST = 4.0  # no logarithm moves further in one step
_LOWEST = -40.0  # of a margin's logarithm, beside the largest
_RIDGE = 1e-7  # of the mean information: lets directions rest that no report speaks of
_SHORTER = (2.0**-2, 2.0**-4, 2.0**-7, 2.0**-10, 2.0**-14, 2.0**-20, 2.0**-28, 0.0)  # of steps that lose, what is tried
_TINY = 1e-300
_MANY = 64  # replicates
_AT_ONCE = 1 << 18  # numbers that are worked on together: as many as stay near the processor


class _Reports(Protocol):
    """Probabilities of reports and how they move with the margins."""

    def probabilities(self, a: Array, b: Array) -> Array:
        """lambda, (reports, replicates)."""
        ...

    def slopes(self, a: Array, b: Array, lam: Array, y: Array) -> tuple[Array, Array]:
        """The score (parameters, replicates) and the information (parameters, parameters, replicates)."""
        ...

    def one_hill(self, y: Array) -> NDArray[np.bool_]:
        """Of which replicates it is certain that no other hill is there to climb."""
        ...


@dataclass(frozen=True, eq=False)
class _Part:
    """Reports of one group, each cell with one of its own: lambda = scale m + offset, m of one margin or of both."""

    here: slice  # where they stand among all reports
    axes: tuple[int, ...]  # the margins that they speak of
    scale: Array  # over their cells, replicates last
    offset: Array

    def moved(self, a: Array, b: Array) -> Array:
        """Scale m: by how much lambda moves with the logarithm of m."""
        m = a[:, None] * b[None] if len(self.axes) == 2 else (a, b)[self.axes[0]]
        return self.scale * m


@dataclass(frozen=True, eq=False)
class _Own:
    """Each cell has a report of its own, in every group."""

    parts: Sequence[_Part]

    def probabilities(self, a: Array, b: Array) -> Array:
        found = [(part.moved(a, b) + part.offset).reshape(-1, a.shape[1]) for part in self.parts]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def slopes(self, a: Array, b: Array, lam: Array, y: Array) -> tuple[Array, Array]:
        r, c = len(a), len(b)
        margins = (a, b)
        pulls, weights = [np.zeros_like(a), np.zeros_like(b)], [np.zeros_like(a), np.zeros_like(b)]
        cross = np.zeros((r, c, a.shape[1]))
        for part in self.parts:
            moved = part.moved(a, b)
            there, seen = lam[part.here].reshape(moved.shape), y[part.here].reshape(moved.shape)
            pull, w = seen / there * moved, y[part.here].sum(axis=0) * moved**2 / there
            if len(part.axes) == 1:
                pulls[part.axes[0]] += pull
                weights[part.axes[0]] += w
                continue
            by_row, by_column, whole = w.sum(axis=1), w.sum(axis=0), w.sum(axis=(0, 1))
            cross += w + whole * a[:, None] * b[None] - a[:, None] * by_column[None] - by_row[:, None] * b[None]
            for axis, weight in enumerate((by_row, by_column)):
                pulls[axis] += pull.sum(axis=1 - axis)
                weights[axis] += weight
        score = np.concatenate([pull - m * pull.sum(axis=0) for pull, m in zip(pulls, margins, strict=True)])
        information = np.empty((r + c, r + c, a.shape[1]))
        information[:r, :r] = _centred(weights[0], a)
        information[r:, r:] = _centred(weights[1], b)
        information[:r, r:], information[r:, :r] = cross, np.swapaxes(cross, 0, 1)
        return score, information

    def one_hill(self, y: Array) -> NDArray[np.bool_]:
        """Where reports of one attribute bend the log-likelihood more than those of both can bend it back.

        Along (u, v), reports of one attribute bend it by -sum_i A_i u_i^2, A_i >= sum y_i (s / (s + o_i))^2, and those
        of both by at most 2 sum_ij C_ij |u_i v_j|, C_ij = y_ij s / o_ij. It is concave in (a, b) if the matrix
        C_ij / sqrt(A_i B_j) has a norm below one; its Frobenius norm is no smaller.
        """
        bends: list[Array] = [np.zeros((1, 1)), np.zeros((1, 1))]
        back: Array = np.zeros((1, 1, 1))
        for part in self.parts:
            seen = y[part.here].reshape(*part.scale.shape[:-1], -1)
            if len(part.axes) == 1:
                axis = part.axes[0]
                bends[axis] = bends[axis] + seen * (part.scale / (part.scale + part.offset)) ** 2
            else:
                back = back + seen * (part.scale / np.maximum(part.offset, _TINY))
        held = bends[0][:, None] * bends[1][None]
        norm = np.divide(back**2, held, out=np.where(back > 0, np.inf, 0.0), where=held > 0).sum(axis=(0, 1))
        return np.broadcast_to(norm < 1, y.shape[1])


def _centred(weight: Array, margin: Array) -> Array:
    """diag(w) - w m' - m w' + (sum w) m m', a matrix a replicate."""
    out = weight.sum(axis=0) * margin[:, None] * margin[None]
    out -= weight[:, None] * margin[None] + margin[:, None] * weight[None]
    place = np.arange(len(weight))
    out[place, place] += weight
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
        given_b = times(self.by_column.reshape(u * r, c), b).reshape(u, r, -1)
        return given_b, times(self.by_row.reshape(u * c, r), a).reshape(u, c, -1)

    def probabilities(self, a: Array, b: Array) -> Array:
        u, r, c = self.by_column.shape
        cells = (a[:, None] * b[None]).reshape(r * c, -1)
        return times(self.by_column.reshape(u, r * c), cells)

    def slopes(self, a: Array, b: Array, lam: Array, y: Array) -> tuple[Array, Array]:
        given_b, given_a = self._halves(a, b)
        moved = np.concatenate([a * (given_b - lam[:, None]), b * (given_a - lam[:, None])], axis=1)
        score = np.einsum("ukr,ur->kr", moved, y / lam)
        # Of reports that did not come nothing is known where they cannot be listed: there the observed information.
        n = np.repeat(np.add.reduceat(y, self.first, axis=0), self.sizes, axis=0)
        weight = np.where(self.every, n / lam, y / lam**2)
        information = np.empty((moved.shape[1], *moved.shape[1:]))
        for k in range(len(information)):
            information[k, k:] = np.einsum("ur,ulr->lr", moved[:, k] * weight, moved[:, k:])
            information[k:, k] = information[k, k:]
        return score, information

    def one_hill(self, y: Array) -> NDArray[np.bool_]:
        """Of none: nobody has looked."""
        return np.zeros(y.shape[1], dtype=np.bool_)


def _own(evidence: Evidence) -> _Own | None:
    """The groups, if each cell has a report of its own in all of them."""
    parts = []
    for group, here in zip(evidence.likely, evidence.places, strict=True):
        said = group.said
        if not isinstance(said, Counted) or said.codes is not None:
            return None
        axes = evidence.domain.axes(said.part)
        if list(axes) != sorted(axes):
            return None
        affine = said.channel.affine()
        if affine is None or said.channel.outputs != said.channel.inputs or not (affine[0] > 0).all():
            return None
        scale, offset = (np.asarray(x, dtype=np.float64).reshape(*said.part.shape, 1) for x in affine)
        if np.ptp(scale) > 1e-12 * scale.max():
            return None
        parts.append(_Part(here, axes, scale, offset))
    return _Own(parts)


def _reports(evidence: Evidence, replicates: int) -> _Reports:
    shape = evidence.domain.shape
    # Groups one after the other pay off for many replicates only.
    own = _own(evidence) if len(evidence.likely) == 1 or replicates >= _MANY else None
    if own is not None:
        return own
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
    known, (r, c) = _reports(evidence, y.shape[1]), evidence.domain.shape
    step = max(1, _AT_ONCE // (len(y) * (r + c)))
    parts = []
    for begin in range(0, y.shape[1], step):
        here = slice(begin, begin + step)
        logs = [_logs(start[..., here]) for start in starts]
        theta, loglik, left, used = _highest(known, y[:, here], logs, r=r, gap=gap, most=most)
        a, b = _shares(theta[:r]), _shares(theta[r:])
        parts.append((a[:, None] * b[None], loglik, left, used))
    tables, logliks, lefts, evaluations = zip(*parts, strict=True)
    return np.concatenate(tables, axis=-1), np.concatenate(logliks), np.concatenate(lefts), sum(evaluations)


def _highest(
    known: _Reports, y: Array, starts: Sequence[Array], *, r: int, gap: float, most: int
) -> tuple[Array, Array, Array, int]:
    """The highest of the climbs from several starts: one to its end, of the others those that promise more.

    Where there is one hill, the first climb ends on it, as near to its top as is wanted; others end a little nearer.
    """
    theta, loglik, left, used = _climb(known, y, starts[0], r=r, gap=gap, most=most)
    sure = known.one_hill(y) & (left <= gap) & (gap >= _ROUGH) & _settled(known, y, theta, r=r, gap=gap)
    unsure = np.flatnonzero(~sure)
    many = len(starts) - 1
    if not many or not len(unsure):
        return theta, loglik, left, used
    others, heights, more, tried = _climb(
        known,
        np.tile(y[:, unsure], many),
        np.concatenate([start[:, unsure] for start in starts[1:]], axis=1),
        r=r,
        gap=gap,
        most=_FIRST,
        met=np.tile(theta[:, unsure], many),
    )
    promised = (heights + more).reshape(many, -1)
    best = promised.argmax(axis=0)
    better = np.flatnonzero(promised[best, np.arange(len(best))] > loglik[unsure] + gap)
    if len(better):
        again, there = unsure[better], others.reshape(len(theta), many, -1)[:, best[better], better]
        found = _climb(known, y[:, again], there, r=r, gap=gap, most=most)
        higher = found[1] > loglik[again]
        here = again[higher]
        theta[:, here], loglik[here], left[here] = found[0][:, higher], found[1][higher], found[2][higher]
        tried += found[3]
    return theta, loglik, left, used + tried


def _settled(known: _Reports, y: Array, theta: Array, *, r: int, gap: float) -> NDArray[np.bool_]:
    """Whether no share would grow that is next to nothing, where logarithms move but slowly."""
    margins = np.concatenate([_shares(theta[:r]), _shares(theta[r:])])
    settled = margins.min(axis=0) >= _FEW
    near = np.flatnonzero(~settled)
    if len(near):
        shares, counts = margins[:, near], y[:, near]
        lam = np.maximum(known.probabilities(shares[:r], shares[r:]), _TINY)
        score, _ = known.slopes(shares[:r], shares[r:], lam, counts)
        settled[near] = ((score <= gap * shares) | (shares >= _FEW)).all(axis=0)
    return settled


def _logs(table: Array) -> Array:
    margins = [table.sum(axis=1), table.sum(axis=0)]
    return np.concatenate([np.log(np.maximum(m, np.exp(_LOWEST))) for m in margins])


def _shares(logs: Array) -> Array:
    weights = np.exp(logs - logs.max(axis=0))
    return weights / weights.sum(axis=0)


def _climb(
    known: _Reports, y: Array, theta: Array, *, r: int, gap: float, most: int, met: Array | None = None
) -> tuple[Array, Array, Array, int]:
    """One climb of all replicates; those that have arrived rest, and those that meet where others have (`met`)."""

    def loglik_at(logs: Array, counts: Array) -> tuple[Array, Array]:
        lam = np.maximum(known.probabilities(_shares(logs[:r]), _shares(logs[r:])), _TINY)
        return lam, (counts * np.log(lam)).sum(axis=0)

    def lifted_at(counts: Array, logs: Array, some: NDArray[np.int64] | slice) -> tuple[Array, Array, Array]:
        there = _lifted(logs, r)
        return there, *loglik_at(there, counts[:, some])

    replicates = y.shape[1]
    done, logliks, lefts = np.empty_like(theta), np.empty(replicates), np.empty(replicates)
    going = np.arange(replicates)
    kept = _kept(theta, r)
    there_before = None if met is None else np.exp(_lifted(met, r))
    lam, loglik = loglik_at(theta, y)
    used = 1
    for turn in range(most + 1):
        score, information = known.slopes(_shares(theta[:r]), _shares(theta[r:]), lam, y)
        move = _move(score, information, kept, r)
        left = (score * move).sum(axis=0) / 2
        rest = (left <= gap) | (turn == most)
        if there_before is not None and turn:
            near = np.abs(np.exp(theta) - there_before[:, going]).max(axis=0) <= _MET
            rest |= near & (left <= _LITTLE)
            left = np.where(near & (left <= _LITTLE), 0.0, left)
        here = going[rest]
        done[:, here], logliks[here], lefts[here] = theta[:, rest], loglik[rest], left[rest]
        if rest.all():
            break
        keep = ~rest
        going, theta, y, loglik, move = going[keep], theta[:, keep], y[:, keep], loglik[keep], move[:, keep]
        move = move * np.minimum(1.0, _LONGEST / np.maximum(np.abs(move).max(axis=0), _TINY))
        # Where no step gains, rounding is all that is left: the last share is none of it.
        (theta, lam, loglik), _, tried = backtracked(partial(lifted_at, y), theta, move, loglik, _SHORTER)
        used += tried
    return done, logliks, lefts, used


def _kept(theta: Array, r: int) -> NDArray[np.int64]:
    """All logarithms but one of each margin, the largest on average: only their differences mean anything."""
    means = theta.mean(axis=1)
    return np.delete(np.arange(len(theta)), [means[:r].argmax(), r + means[r:].argmax()])


def _move(score: Array, information: Array, kept: NDArray[np.int64], r: int) -> Array:
    """The step information^-1 score, each margin's logarithms moving by zero on average."""
    some, place = information[kept[:, None], kept], np.arange(len(kept))
    some[place, place] += _RIDGE * some[place, place].mean(axis=0) + _TINY
    move = np.zeros_like(score)
    move[kept] = solve_each(some, score[kept])
    move[:r] -= move[:r].mean(axis=0)
    move[r:] -= move[r:].mean(axis=0)
    return move


def _lifted(theta: Array, r: int) -> Array:
    """The same margins, the largest logarithm of each 0 and none below the lowest."""
    halves = [half - half.max(axis=0) for half in (theta[:r], theta[r:])]
    return np.maximum(np.concatenate(halves), _LOWEST)

"""The engine: maximum likelihood of any model from any evidence, many replicates at once.

With lambda = forward(pi) the probabilities of all reports and y their counts, the gradient is g = backward(y / lambda);
EM goes from pi to the model's best table for the complete counts pi g. EM creeps; SQUAREM (Varadhan & Roland 2008)
takes two such steps, leaps along them, and takes the leap back for the replicates that it does not help. A replicate
rests once the model's gap says that little enough is left to gain. Reports to one question through k-RR or a mixture
need no iteration: `water_fill`. Independence of two attributes is fitted by Fisher scoring: `margins`.

How little is enough: a gap of g nats moves no functional by more than about sqrt(2 g) standard errors, and on average
over d positive cells by sqrt(2 g / d). So tables may stop at .005 d, tests at 1e-3.

Maximum likelihood on the simplex, stopped by a certificate.

The log-likelihood of reports is concave in pi, so its gradient bounds how much is left to gain: with

    g = sum over observations of M' P' (counts / P M pi),     sum(pi g) = n,

no distribution has a log-likelihood more than max(g) - n above that of pi. `fit` climbs until that is little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.table import Table
from deniable.errors import ConvergenceError, EstimationError
from deniable.likelihood.evidence import Evidence
from deniable.likelihood.fisher_scoring_independence import score_margins
from deniable.likelihood.hypothesis_models import TINY, Independence, Model, Saturated
from deniable.likelihood.newton import MOST_CELLS as PEAK_CELLS
from deniable.likelihood.newton import peaks
from deniable.likelihood.report_likelihoods import Counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.likelihood.stacked_evidence import Stack

    Array = NDArray[np.float64]

TEST_GAP = 1e-3  # nats left to gain, for tests
_TABLE_GAP, _PER_CELL = 1e-3, 0.005
MOST_CELLS = 1 << 20
_MATRIX = 1 << 22  # entries up to which the reports' probabilities are written out for scoring
_FLOOR = 1e-3  # a leap may shrink a cell at most this much at once: EM never revives a zero
_LIFTED = 1e-3  # share of the even table where leaps go on from a table that has zeros
_LONGEST = 64.0  # the longest leap in log pi


@dataclass(frozen=True, eq=False)
class Fitted:
    """Tables of a model with a last axis of replicates.

    Attributes:
        pi: the tables.
        loglik: each replicate's log-likelihood (multinomial coefficients left out).
        gap: how many nats each may be short of the best, as the model certifies it.
        evaluations: how often the reports were gone through.
        finished: which replicates reached the gap that was wanted.
    """

    pi: Array
    loglik: Array
    gap: Array
    evaluations: int
    finished: NDArray[np.bool_]


def enough(pi: Array) -> Array:
    """The gap at which a table need not be sharper: max(1e-3, .005 d), d its cells that are not empty."""
    cells = tuple(range(pi.ndim - 1))
    return np.maximum(_TABLE_GAP, _PER_CELL * (pi > 1e-9).sum(axis=cells))


def fit(
    evidence: Evidence | Stack,
    model: Model | None = None,
    counts: Array | None = None,
    *,
    starts: Sequence[Array | None] = (None,),
    gap: float | None = None,
    most: int = 100_000,
    strict: bool = True,
    accelerate: bool = True,
    progress: Callable[[int, float], None] | None = None,
    newton: bool = False,
) -> Fitted:
    """Fit a model to every replicate of `counts`.

    Args:
        evidence: what the reports say.
        model: the hypothesis; any table by default.
        counts: other counts in the place of the observed ones, (reports, replicates).
        starts: tables to start from, replicates last (one will do for all); None is the even table. Of several, each
            replicate keeps the best: give the data and their replicates the same ones.
        gap: nats that may be left to gain; by default as few as a table needs, see `enough`.
        most: evaluations before giving up.
        strict: raise where a replicate did not get there; otherwise it is marked in `finished`.
        accelerate: leap, or take what a closed form gives; plain EM otherwise (for comparison).
        progress: called with the evaluations made and the largest gap left.
        newton: fit small tables of any kind by Newton's method (`peak`), as far as it gets, from the even table.
    """
    if not evidence.has_likelihood:
        names = sorted({g.said.channel.name for g in evidence.groups if g not in evidence.likely})
        raise EstimationError(
            f"reports through {names[0]} are known by their moments alone (counts of what sets hold, or too many "
            f'attributes at once), which have no likelihood to maximize. Use method="wls" for tables, '
            f'"lrt" for tests, or give the reports themselves',
            channel=names[0],
        )
    if evidence.cells > MOST_CELLS:
        raise EstimationError(
            f"a table of {evidence.cells} cells is too large for maximum likelihood (at most {MOST_CELLS}); ask for "
            f'fewer attributes or use method="inversion" or "norm_sub"',
            cells=evidence.cells,
        )
    hypothesis = Saturated() if model is None else model
    y = evidence.counts if counts is None else counts
    exact = _exact(evidence, hypothesis, y) if accelerate else None
    if exact is not None:
        none = np.zeros(y.shape[1])
        return Fitted(exact, evidence.evaluate(exact, y)[0], none, 1, none == 0)
    if newton and gap is not None and isinstance(hypothesis, Saturated) and isinstance(evidence, Evidence):
        climb = _Climb(evidence, gap, most, accelerate=True, progress=None)
        best = _newton(climb, evidence, y, gap)
    elif isinstance(evidence, Evidence) and _is_two_way(evidence, hypothesis) and accelerate:
        best = _margins(evidence, hypothesis, y, starts, TEST_GAP if gap is None else gap)
    else:
        climb = _Climb(evidence, gap, most, accelerate=accelerate, progress=progress)
        climbs = [climb.run(hypothesis, y, start) for start in starts]
        best = climbs[0] if len(climbs) == 1 else _best(climbs)
    if strict and not best.finished.all():
        left = float(best.gap[~best.finished].max())
        raise ConvergenceError(
            f"maximum likelihood stopped after {best.evaluations} evaluations with {left:.3g} nats left to gain (in "
            f"{int((~best.finished).sum())} of {len(best.finished)} fits): there are too many cells for the reports at "
            f"hand. Raise the gap, or ask for fewer attributes",
            gap=left,
        )
    return best


def _is_two_way(evidence: Evidence, model: Model) -> bool:
    """Whether it is independence of two attributes and nothing else, small enough to be scored."""
    small = len(evidence.counts) * evidence.cells <= _MATRIX
    return isinstance(model, Independence) and not model.given and len(evidence.shape) == 2 and small


def _margins(evidence: Evidence, model: Model, y: Array, starts: Sequence[Array | None], gap: float) -> Fitted:
    whole = (*evidence.shape, y.shape[1])
    even = np.full(whole, 1 / evidence.cells)
    tables = [even if start is None else model.maximize(np.broadcast_to(start, whole)) for start in starts]
    pi, loglik, left, used = score_margins(evidence, y, tables, gap)
    return Fitted(pi, loglik, left, used, left <= gap)


def _newton(climb: _Climb, evidence: Evidence, y: Array, gap: float) -> Fitted:
    """Newton's method where the table is small; whatever it leaves unfinished goes on by leaps."""
    model = Saturated()
    if evidence.cells > PEAK_CELLS or len(evidence.counts) * evidence.cells**2 > _MATRIX:
        return climb.run(model, y, None)
    flat, loglik, left, used = peaks(evidence.matrix(), y, gap)
    pi = flat.reshape(*evidence.shape, -1)
    short = ~(left <= gap)
    if short.any():
        lifted = _LIFTED / evidence.cells + (1 - _LIFTED) * pi[..., short]
        more = climb.run(model, y[:, short], lifted)
        pi[..., short], loglik[short], left[short], used = more.pi, more.loglik, more.gap, used + more.evaluations
    return Fitted(pi, loglik, left, used, left <= gap)


def _best(climbs: Sequence[Fitted]) -> Fitted:
    """Of several climbs, each replicate's highest."""
    logliks = np.stack([climb.loglik for climb in climbs])
    first = np.where(np.isnan(logliks), -np.inf, logliks).argmax(axis=0)
    pick = np.arange(logliks.shape[1])
    tables = np.stack([climb.pi for climb in climbs], axis=-2)
    return Fitted(
        tables[..., first, pick],
        logliks[first, pick],
        np.stack([climb.gap for climb in climbs])[first, pick],
        sum(climb.evaluations for climb in climbs),
        np.stack([climb.finished for climb in climbs])[first, pick],
    )


class _Climb:
    """Climbs of all replicates; those that have arrived rest."""

    def __init__(
        self,
        evidence: Evidence | Stack,
        gap: float | None,
        most: int,
        *,
        accelerate: bool,
        progress: Callable[[int, float], None] | None,
    ) -> None:
        self.evidence, self.gap, self.most = evidence, gap, most
        self.accelerate, self.progress, self.used = accelerate, progress, 0

    def evaluate(self, pi: Array, y: Array) -> tuple[Array, Array]:
        self.used += 1
        return self.evidence.evaluate(pi, y)

    def wanted(self, pi: Array) -> Array | float:
        return enough(pi) if self.gap is None else self.gap

    def run(self, model: Model, y: Array, start: Array | None) -> Fitted:
        """One climb; what it used is counted from here on."""
        self.used = 0
        replicates, shape = y.shape[1], self.evidence.shape
        even = np.full((*shape, replicates), 1 / self.evidence.cells)
        pi = model.maximize(even) if start is None else np.broadcast_to(start, even.shape).copy()
        loglik, gradient = self.evaluate(pi, y)
        done = Fitted(even, np.empty(replicates), np.empty(replicates), 0, np.ones(replicates, dtype=bool))
        waiting, cap = np.arange(replicates), np.full(replicates, np.inf)
        while True:
            left = model.gap(pi, gradient)
            if self.progress is not None:
                self.progress(self.used, float(left.max()))
            going = ~(left <= self.wanted(pi))  # so that a NaN goes on and is found out
            over = self.used >= self.most
            rest = ~going | over
            here = waiting[rest]
            done.pi[..., here], done.loglik[here], done.gap[here] = pi[..., rest], loglik[rest], left[rest]
            done.finished[here] = ~going[rest]
            if rest.all():
                return Fitted(done.pi, done.loglik, done.gap, self.used, done.finished)
            if rest.any():
                waiting, pi, loglik, gradient = waiting[going], pi[..., going], loglik[going], gradient[..., going]
                y, cap, model, left = y[:, going], cap[going], model.among(going), left[going]
            if self.accelerate:
                pi, loglik, gradient, cap = self.cycle(model, y, (pi, gradient), cap)
            else:
                pi = model.step(pi, gradient)
                loglik, gradient = self.evaluate(pi, y)

    def cycle(self, model: Model, y: Array, at: tuple[Array, Array], cap: Array) -> tuple[Array, Array, Array, Array]:
        """One SQUAREM cycle: two steps, a leap, and for replicates that the leap made worse the plain second step."""
        pi, gradient = at
        cells = tuple(range(pi.ndim - 1))
        first = model.step(pi, gradient)
        at_first, slope = self.evaluate(first, y)
        second = model.step(first, slope)
        a, b, c = (np.log(x) for x in (pi, first, second)) if model.logarithmic else (pi, first, second)
        r, v = b - a, c - 2 * b + a
        length, stride = np.sqrt((v**2).sum(axis=cells)), np.sqrt((r**2).sum(axis=cells))
        alpha = np.maximum(1.0, np.divide(stride, length, out=np.ones_like(stride), where=length > 0))
        alpha = np.minimum(alpha, np.minimum(cap, _LONGEST if model.logarithmic else np.inf))
        leap = a + 2 * alpha * r + alpha**2 * v
        if model.logarithmic:
            leap = np.exp(leap - leap.max(axis=cells))
            leap = np.maximum(leap / leap.sum(axis=cells), TINY)
        else:
            leap = model.maximize(np.maximum(leap, _FLOOR * second))
        loglik, gradient = self.evaluate(leap, y)
        # Where there is one hill, a leap may fall by a nat while more than that is left to gain: leaps that never lose
        # are short, and take far longer.
        allowed = np.minimum(1.0, model.gap(first, slope)) if model.concave else 0.0
        worse = ~(loglik >= at_first - allowed)
        if worse.any():
            # Plain steps never lose; a leap that did is not tried as far again.
            leap[..., worse] = second[..., worse]
            loglik[worse], gradient[..., worse] = self.evaluate(second[..., worse], y[:, worse])
        return leap, loglik, gradient, np.where(worse, np.maximum(1.0, alpha / 4), np.minimum(cap * 4, 1e9))


def _exact(evidence: Evidence | Stack, model: Model, y: Array) -> Array | None:
    """The best table in closed form, where each cell has a report of its own: pi_v = (lambda_v - o_v) / s."""
    if not isinstance(evidence, Evidence):
        return None
    said = evidence.groups[0].said
    if len(evidence.groups) > 1 or not isinstance(model, Saturated) or not isinstance(said, Counted):
        return None
    affine = said.channel.affine() if said.codes is None else None
    if affine is None or said.part.names != evidence.domain.names:
        return None
    scale, offset = affine
    flat = y
    if len(scale) == 2 and scale[0] < 0:
        # A device that turns answers round (crosswise with p < 1/2): count each report under the other's name.
        scale, offset, flat = -scale, 1 - offset, flat[::-1]
    if scale[0] <= 0 or np.ptp(scale) > 1e-12:
        return None
    return ((water_fill(flat, offset) - offset[:, None]) / scale[0]).reshape(*evidence.domain.shape, -1)


def water_fill(counts: Array, floor: Array) -> Array:
    """Maximize sum c_u log x_u over x_u >= floor_u, sum x = 1, for every replicate (last axis).

    The best x is max(floor, c / mu) with mu such that it sums to one. With the cells in descending order of
    c_u / floor_u, the first j lie above their floors: mu = (c_1 + ... + c_j) / (1 - floor_{j+1} - ...), for the largest
    j that keeps cell j above its floor.

    >>> water_fill(np.array([[90.0], [10.0], [0.0]]), np.array([0.2, 0.2, 0.2])).ravel().round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    low = floor[:, None]
    # Without a floor a cell lies above it if it has any count at all.
    above = np.divide(counts, low, out=np.where(counts > 0, np.inf, -1.0), where=low > 0)
    order = np.argsort(-above, axis=0)
    c, f = np.take_along_axis(counts, order, axis=0), floor[order]
    mu = np.cumsum(c, axis=0) / (1 - f.sum(axis=0) + np.cumsum(f, axis=0))
    last = (c > mu * f).sum(axis=0) - 1  # the condition holds for the first cells and for no later one
    return np.maximum(low, counts / np.take_along_axis(mu, last[None, :], axis=0))


__all__ = ["GAP", "MOST_CELLS", "Fit", "likelihood", "maximum_likelihood"]

GAP = 1e-3  # nats left to gain, for estimates


@dataclass(frozen=True, eq=False)
class Fit:
    """A maximum-likelihood table, and the certificate that it is one."""

    table: Table
    loglik: float
    gap: float
    evaluations: int


def maximum_likelihood(
    evidence: Evidence,
    *,
    gap: float | None = GAP,
    most: int = 100_000,
    accelerate: bool = True,
    progress: Callable[[int, float], None] | None = None,
) -> Fit:
    """Fit the asked table to everything reported at once; where attributes ride along, it is projected.

    Args:
        evidence: what the reports say.
        gap: how many nats of log-likelihood may be left to gain; None for as many as do not show in any cell.
        most: how many evaluations to make before giving up.
        accelerate: leap (SQUAREM), or take what a closed form gives; plain EM otherwise (for comparison).
        progress: called with the evaluations made and the gap reached.
    """
    found = fit(evidence, gap=gap, most=most, accelerate=accelerate, progress=progress)
    pi = found.pi[..., 0]
    table = Table(evidence.domain, pi / pi.sum()).project(evidence.asked.names)
    return Fit(table, float(found.loglik[0]), float(found.gap[0]), found.evaluations)


def likelihood(evidence: Evidence, table: Table) -> tuple[float, NDArray[np.float64]]:
    """The log-likelihood of a distribution (multinomial coefficients left out) and its gradient."""
    loglik, gradient = evidence.evaluate(table.values[..., None])
    return float(loglik[0]), gradient[..., 0]

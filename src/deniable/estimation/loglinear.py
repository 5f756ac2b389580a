"""The log-linear model without the interactions that nobody was asked about, fitted through the channels.

Were pairs asked and a triple is wanted, many joint tables have the observed pairs. The one of largest entropy has no
three-way interaction of its own: log pi is a sum of functions of the observed sets of attributes (the generators). Its
parameters are found by maximum likelihood *of the reports*, by EM:

* E-step: given pi, each report says how likely each cell was; summed over reports these are expected counts e / n.
* M-step: fit the model to them, i.e. match the generators' margins: pi <- pi e_G / pi_G for every G in turn (one sweep
  of iterative proportional fitting; every sweep raises the likelihood, so one is enough).

There is always such a table, however inconsistent or negative the observed tables look one by one. Log-linear tables
are a linear space in log pi, so SQUAREM's extrapolation is made there and never leaves the model. Small tables are
finished by Fisher scoring (see `scoring`), which climbs the same hill in far fewer steps.

Everything carries a last axis of replicates: a bootstrap is fitted in one go.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.domain import Domain
from deniable.errors import ConvergenceError, EstimationError
from deniable.estimation.em import GAP, refuse_sets
from deniable.estimation.fit.fold import Fold
from deniable.estimation.scoring import fisher_scoring
from deniable.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation

MOST_CELLS = 1 << 20
_TINY = 1e-200  # cells may shrink, but never to a zero that no step could leave
_LONGEST = 64.0  # the longest extrapolation
_WARM = 5  # EM steps before Fisher scoring
_PARAMETERS = 400  # up to this many, Fisher scoring
_STRICTER = 0.1  # EM has its distance fall before its likelihood has risen
_MATRIX = 1 << 22  # up to this many entries, all channels together are one matrix


@dataclass(frozen=True, eq=False)
class LoglinearFit:
    """A fitted table, and how it was reached.

    Attributes:
        table: over the asked attributes (one table; replicates are in `tables`).
        generators: the sets of attributes whose interactions the model has.
        loglik: of the reports, without multinomial coefficients; one number a replicate.
        gap: nats of log-likelihood left to gain, to second order; after EM alone, the chi-square distance between the
            generators' margins fitted and expected.
        evaluations: how many times the reports were gone through.
    """

    table: Table
    tables: NDArray[np.float64]
    generators: tuple[tuple[str, ...], ...]
    loglik: NDArray[np.float64]
    gap: float
    evaluations: int


def generators(observations: Iterable[Observation], domain: Domain) -> tuple[tuple[str, ...], ...]:
    """The largest sets of the domain's attributes that were asked together.

    >>> from deniable.channels.krr import KRR
    >>> from deniable.designs.observation import Observation
    >>> pair = lambda *names: Observation(names, KRR(4, 1.0), np.zeros((2, 2)))
    >>> generators([pair("a", "b"), pair("b", "c")], Domain({name: [0, 1] for name in "abc"}))
    (('a', 'b'), ('b', 'c'))
    """
    asked = {frozenset(o.domain) & frozenset(domain) for o in observations} - {frozenset()}
    largest = [s for s in asked if not any(s < other for other in asked)]
    ordered = [tuple(name for name in domain if name in s) for s in largest]
    return tuple(sorted(ordered, key=domain.axes))


def fit_loglinear(
    observations: Sequence[Observation],
    domain: Domain,
    *,
    sets: Sequence[tuple[str, ...]] | None = None,
    counts: Sequence[NDArray[np.float64]] | None = None,
    gap: float = GAP,
    scoring: bool | None = None,
    most: int = 20_000,
) -> LoglinearFit:
    """Fit the table over `domain` to everything observed inside it.

    Args:
        observations: category counts with their channels.
        domain: the asked attributes.
        sets: the model's generators, where they should not be all that was asked together.
        counts: other counts in the observations' place, with a last axis of replicates (for a bootstrap).
        gap: how many nats of log-likelihood may be left to gain.
        scoring: finish by Fisher scoring; by default where the model is small enough.
        most: how many EM evaluations to make before giving up.
    """
    refuse_sets(observations)
    extra = {v.name: v for o in observations for v in o.domain.values() if v.name not in domain}
    whole = Domain([*domain.values(), *extra.values()])
    if whole.cells > MOST_CELLS:
        raise EstimationError(
            f"a table of {whole.cells} cells is too large for the log-linear fit (at most {MOST_CELLS}); ask for fewer "
            f'attributes, or use method="graphical"',
            cells=whole.cells,
        )
    given = [o.counts[..., None] for o in observations] if counts is None else list(counts)
    model = _Model(observations, whole, given, generators(observations, whole) if sets is None else tuple(sets))
    matrix = model.reporting.matrix
    small = matrix is not None and parameters(whole, model.generators) <= _PARAMETERS
    quick = small if scoring is None else scoring
    replicates = given[0].shape[-1]
    theta = np.full((*whole.shape, replicates), -np.log(whole.cells))
    now = model.step(theta)
    if quick:
        assert matrix is not None
        basis = loglinear_basis(whole, model.generators)
        for _ in range(_WARM):
            theta, now = now.following, model.step(now.following)
        start = theta.reshape(-1, replicates)
        found = [
            fisher_scoring(matrix, model.counts[:, i], model.asked[:, i], basis, theta=start[:, i], gap=gap)
            for i in _chunks(replicates, len(matrix) * basis.shape[1])
        ]
        theta = np.concatenate([part[0] for part in found], axis=1).reshape(theta.shape)
        theta -= theta.max(axis=model.cells)
        loglik, left = (np.concatenate([part[i] for part in found]) for i in (1, 2))
        model.evaluations += sum(part[3] for part in found)
    else:
        while now.distance.max() > gap * _STRICTER:
            if model.evaluations >= most:
                raise ConvergenceError(
                    f"the log-linear fit stopped after {model.evaluations} evaluations at distance "
                    f"{now.distance.max():.3g} (wanted {gap * _STRICTER:g}). Ask for fewer attributes",
                    gap=float(now.distance.max()),
                )
            theta, now = _squarem(model, theta, now)
        loglik, left = now.loglik, now.distance
    pi = np.exp(theta)
    asked = (pi / pi.sum(axis=model.cells)).reshape(*domain.shape, -1, replicates).sum(axis=len(domain))
    return LoglinearFit(
        Table(domain, asked[..., 0]), asked, model.generators, loglik, float(left.max()), model.evaluations
    )


def _inside(sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every non-empty set of attributes inside a generator: the model's interactions and main effects."""
    return sorted({s for names in sets for k in range(1, len(names) + 1) for s in combinations(names, k)})


def parameters(domain: Domain, sets: Sequence[tuple[str, ...]]) -> int:
    """How many free parameters the model has.

    >>> parameters(Domain({"a": range(2), "b": range(3)}), [("a", "b")])
    5
    """
    return sum(prod(len(domain[name]) - 1 for name in s) for s in _inside(sets))


def loglinear_basis(domain: Domain, sets: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
    """The model's design matrix: a column for each S inside a generator and each choice of its non-first categories."""
    columns = []
    for s in _inside(sets):
        block = np.ones((1,) * len(domain) + (1,))
        for axis in domain.axes(s):
            size = domain.shape[axis]
            indicator = np.eye(size)[:, 1:].reshape(
                [size if i == axis else 1 for i in range(len(domain))] + [1, size - 1]
            )
            block = (block[..., None] * indicator).reshape(
                *np.broadcast_shapes(block.shape[:-1], indicator.shape[:-2]), -1
            )
        columns.append(np.broadcast_to(block, (*domain.shape, block.shape[-1])).reshape(domain.cells, -1))
    return np.concatenate(columns, axis=1)


def _chunks(replicates: int, size: int) -> list[slice]:
    """Slices of the replicates, so that each one's working arrays of `size` numbers fit into memory together."""
    step = max(1, _MATRIX // size)
    return [slice(start, start + step) for start in range(0, replicates, step)]


@dataclass(frozen=True, eq=False)
class _Step:
    """One evaluation at theta = log pi: where a step leads, the log-likelihood and how far from settled it is."""

    following: NDArray[np.float64]
    loglik: NDArray[np.float64]
    distance: NDArray[np.float64]


class Reporting:
    """The map from tables over a domain to the probabilities of all reports of all observations, replicates last.

    Small ones are one matrix; large ones go through the channels, one observation after the other.
    """

    def __init__(self, observations: Sequence[Observation], domain: Domain, *, dense: bool | None = None) -> None:
        self.domain = domain
        self._parts = []
        for o in observations:
            axes = domain.axes(o.domain)
            # Kept axes stand in the table's order: how to bring them into the observation's, and back.
            there = np.argsort(np.argsort(axes)).tolist()
            back = np.argsort(there).tolist()
            kept = [size for axis, size in enumerate(domain.shape) if axis in axes]
            self._parts.append((o, Fold(domain, o.domain), kept, [*there, len(axes)], [*back, len(axes)]))
        self.matrix: NDArray[np.float64] | None = None
        outputs = sum(o.channel.outputs for o in observations)
        if outputs * domain.cells <= _MATRIX if dense is None else dense:
            self.matrix = self.forward(np.eye(domain.cells).reshape(*domain.shape, -1))

    def forward(self, pi: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the reports, all observations behind each other: (reports, replicates)."""
        if self.matrix is not None:
            return self.matrix @ pi.reshape(self.domain.cells, -1)
        rows = []
        for o, fold, kept, there, _ in self._parts:
            own = fold.down(pi).reshape(*kept, -1).transpose(there)
            rows.append(o.channel.apply(own.reshape(*o.channel.input_shape, -1)).reshape(o.channel.outputs, -1))
        return np.concatenate(rows)

    def backward(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The adjoint: from (reports, replicates) to tables."""
        if self.matrix is not None:
            return (self.matrix.T @ y).reshape(*self.domain.shape, -1)
        total: NDArray[np.float64] = np.zeros((*self.domain.shape, y.shape[1]))
        done = 0
        for o, fold, _, _, back in self._parts:
            own = y[done : done + o.channel.outputs].reshape(*o.channel.output_shape, -1)
            done += o.channel.outputs
            pulled = o.truth_shape(o.channel.adjoint(own)).transpose(back)
            folded = total.reshape(*fold.shape, -1)  # a view: adding to it adds to the table
            folded += pulled.reshape(*fold.spread, -1)
        return total


class _Model:
    """Reports, and the margins that a step matches."""

    def __init__(
        self,
        observations: Sequence[Observation],
        domain: Domain,
        counts: list[NDArray[np.float64]],
        sets: tuple[tuple[str, ...], ...],
    ) -> None:
        self.generators = sets
        self.cells = tuple(range(len(domain)))
        self.evaluations = 0
        self.reporting = Reporting(observations, domain)
        flat = [c.reshape(-1, c.shape[-1]) for c in counts]
        self.counts = np.concatenate(flat)
        self.asked = np.concatenate([np.broadcast_to(c.sum(axis=0), c.shape) for c in flat])  # n, for every report
        self._n = self.counts.sum(axis=0)
        self._margins = [Fold(domain, names) for names in self.generators]

    def step(self, theta: NDArray[np.float64]) -> _Step:
        self.evaluations += 1
        pi = np.exp(theta)
        lam = np.maximum(self.reporting.forward(pi), _TINY)
        loglik = (self.counts * np.log(lam)).sum(axis=0)
        expected = pi * self.reporting.backward(self.counts / lam) / self._n
        following, distance = pi, np.zeros(pi.shape[-1])
        for fold in self._margins:
            target, have = fold.down(expected), fold.down(pi)
            far = (target - have) ** 2 / np.maximum(have, _TINY)
            distance = np.maximum(distance, far.reshape(-1, pi.shape[-1]).sum(axis=0))
            scale = target / np.maximum(fold.down(following), _TINY)
            following = (following.reshape(*fold.shape, -1) * scale).reshape(pi.shape)
        following = following / following.sum(axis=self.cells)
        return _Step(np.log(np.maximum(following, _TINY)), loglik, self._n * distance)


def _squarem(model: _Model, theta: NDArray[np.float64], now: _Step) -> tuple[NDArray[np.float64], _Step]:
    """One SQUAREM cycle in log pi; a replicate whose likelihood the leap would lower takes plain steps instead."""
    first = now.following
    at_first = model.step(first)
    second = at_first.following
    r, v = first - theta, second - first - (first - theta)
    length = np.sqrt((v**2).sum(axis=model.cells))
    alpha = np.sqrt((r**2).sum(axis=model.cells)) / np.maximum(length, _TINY)
    alpha = np.clip(np.where(length > 0, alpha, 1.0), 1.0, _LONGEST)
    leap = theta + 2 * alpha * r + alpha**2 * v
    leap -= np.log(np.exp(leap - leap.max(axis=model.cells)).sum(axis=model.cells)) + leap.max(axis=model.cells)
    leap = np.maximum(leap, np.log(_TINY))
    at_leap = model.step(leap)
    worse = ~(at_leap.loglik >= at_first.loglik)
    if not worse.any():
        return leap, at_leap
    at_second = model.step(second)
    return (
        np.where(worse, second, leap),
        _Step(
            np.where(worse, at_second.following, at_leap.following),
            np.where(worse, at_second.loglik, at_leap.loglik),
            np.where(worse, at_second.distance, at_leap.distance),
        ),
    )

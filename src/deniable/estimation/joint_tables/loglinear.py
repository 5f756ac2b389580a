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

from deniable.core.table import Table
from deniable.errors import ConvergenceError, EstimationError
from deniable.likelihood.em import GAP, MOST_CELLS, Fitted, fit
from deniable.likelihood.fisher_scoring_loglinear import fisher_scoring
from deniable.likelihood.hypothesis_models import Loglinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.likelihood.evidence import Evidence

_WARM = 5  # EM steps before Fisher scoring
_SECOND, _CLOSE = 5000, 1e-6  # evaluations at most, and nats left, where EM climbs once more
_PARAMETERS = 400  # up to this many, Fisher scoring
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


def generators(evidence: Evidence, whole: Domain | None = None) -> tuple[tuple[str, ...], ...]:
    """The largest sets of the asked attributes (or of the whole table's) that were asked together.

    >>> from deniable.channels.krr import KRR
    >>> from deniable.designs.observation import Observation
    >>> from deniable.likelihood.evidence import of_counts
    >>> pair = lambda *names: Observation(names, KRR(4, 1.0), np.zeros((2, 2)))
    >>> generators(of_counts([pair("a", "b"), pair("b", "c")]))
    (('a', 'b'), ('b', 'c'))
    """
    domain = evidence.asked if whole is None else whole
    asked = {frozenset(group.said.part) & frozenset(domain) for group in evidence.groups} - {frozenset()}
    largest = [s for s in asked if not any(s < other for other in asked)]
    ordered = [tuple(name for name in domain if name in s) for s in largest]
    return tuple(sorted(ordered, key=domain.axes))


def fit_loglinear(
    evidence: Evidence,
    *,
    sets: Sequence[tuple[str, ...]] | None = None,
    counts: Sequence[NDArray[np.float64]] | None = None,
    gap: float = GAP,
    scoring: bool | None = None,
    most: int = 20_000,
) -> LoglinearFit:
    """Fit the asked table to everything that reports say of it.

    Args:
        evidence: counts of categories with their channels.
        sets: the model's generators, where they should not be all that was asked together.
        counts: other counts in the place of each group's, with a last axis of replicates (for a bootstrap).
        gap: how many nats of log-likelihood may be left to gain.
        scoring: finish by Fisher scoring; by default where the model is small enough.
        most: how many EM evaluations to make before giving up.
    """
    domain, whole, replicates = evidence.asked, evidence.domain, 1 if counts is None else counts[0].shape[-1]
    if whole.cells > MOST_CELLS:
        raise EstimationError(
            f"a table of {whole.cells} cells is too large for the log-linear fit (at most {MOST_CELLS}); ask for fewer "
            f'attributes, or use method="graphical"',
            cells=whole.cells,
        )
    y = evidence.counts if counts is None else np.concatenate([c.reshape(-1, replicates) for c in counts])
    model = Loglinear(whole, generators(evidence, whole) if sets is None else tuple(sets))
    if can_score(evidence, model) if scoring is None else scoring:
        found = score_loglinear(evidence, model, y, gap)
        if not found.finished.all():
            raise ConvergenceError(
                f"the log-linear fit stopped with {found.gap.max():.3g} nats left to gain (wanted {gap:g}): there is "
                f"too much noise for so many cells. Ask for fewer attributes at once, or more respondents",
                gap=float(found.gap.max()),
            )
    else:
        found = fit(evidence, model, y, gap=gap, most=most)
    asked = found.pi.reshape(*domain.shape, -1, replicates).sum(axis=len(domain))
    gained = float(found.gap.max())
    return LoglinearFit(Table(domain, asked[..., 0]), asked, model.generators, found.loglik, gained, found.evaluations)


def can_score(evidence: Evidence, model: Loglinear) -> bool:
    """Whether a model is small enough for Fisher scoring."""
    small = len(evidence.counts) * evidence.cells <= _MATRIX
    return small and parameters(evidence.domain, model.generators) <= _PARAMETERS


def score_loglinear(evidence: Evidence, model: Loglinear, y: NDArray[np.float64], gap: float) -> Fitted:
    """A few steps of EM, then Fisher scoring; replicates that it gave up on are marked."""
    start = fit(evidence, model, y, gap=0.0, most=_WARM, strict=False, accelerate=False)
    matrix, basis = evidence.matrix(), loglinear_basis(evidence.domain, model.generators)
    theta = np.log(start.pi).reshape(evidence.cells, -1)
    n = np.concatenate([np.broadcast_to(y[here].sum(axis=0), y[here].shape) for here in evidence.places])
    found = [
        fisher_scoring(matrix, y[:, i], n[:, i], basis, theta=theta[:, i], gap=gap)
        for i in _chunks(y.shape[1], len(matrix) * basis.shape[1])
    ]
    theta = np.concatenate([part[0] for part in found], axis=1)
    pi = np.exp(theta - theta.max(axis=0))
    loglik, left = (np.concatenate([part[i] for part in found]) for i in (1, 2))
    used = start.evaluations + sum(part[3] for part in found)
    scored = Fitted((pi / pi.sum(axis=0)).reshape(start.pi.shape), loglik, left, used, left <= gap)
    return scored if scored.finished.all() else _seconded(evidence, model, y, scored, gap)


def _seconded(evidence: Evidence, model: Loglinear, y: NDArray[np.float64], scored: Fitted, gap: float) -> Fitted:
    """What scoring gave up on, climbed to by EM as well: where both end at one height, they are there.

    In a corner of the model, where cells are empty, score and information vanish, so that scoring cannot tell how much
    is left to gain.
    """
    short = np.flatnonzero(~scored.finished)
    other = fit(evidence, model, y[:, short], gap=min(gap, _CLOSE), most=_SECOND, strict=False)
    higher = other.loglik > scored.loglik[short]
    apart = np.abs(other.loglik - scored.loglik[short])
    pi, loglik, left = scored.pi.copy(), scored.loglik.copy(), scored.gap.copy()
    pi[..., short[higher]], loglik[short[higher]] = other.pi[..., higher], other.loglik[higher]
    left[short] = np.where(other.finished & (higher | (apart <= gap)), np.minimum(apart, gap), left[short])
    return Fitted(pi, loglik, left, scored.evaluations + other.evaluations, left <= gap)


def _inside(sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every non-empty set of attributes inside a generator: the model's interactions and main effects."""
    return sorted({s for names in sets for k in range(1, len(names) + 1) for s in combinations(names, k)})


def parameters(domain: Domain, sets: Sequence[tuple[str, ...]]) -> int:
    """How many free parameters the model has.

    >>> from deniable.core.domain import Domain
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

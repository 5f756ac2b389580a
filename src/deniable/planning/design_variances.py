"""What a design would achieve: the variances of every wanted number, from its channels; nothing is simulated."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.aims.contrasts import Contrasts, subsets
from deniable.designs.distance_to_best import asked_through
from deniable.errors import NotCoveredError, UnknownAttributeError
from deniable.estimation.estimator import estimate
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.optimal.pooled_loss import told_of_sets
from deniable.planning.expected_reports import expected_evidence, expected_observations, expected_variances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Population
    from deniable.designs.design import Design
    from deniable.designs.observation import Observation
    from deniable.designs.request import Request


class Judged(NamedTuple):
    """One wanted item under one design.

    Attributes:
        variances: of each of its numbers, in their own unit; NaN where nobody would tell it.
        reports: how many respondents answer about all of its attributes.
        cost: how many times as many respondents it needs as direct questions to everybody.
        gain: for paired respondents, the variance over that of the same coins unpaired; else 1.
        loss: n times the summed variance of its numbers as they are weighed.
    """

    variances: NDArray[np.float64]
    reports: float
    cost: float
    gain: float
    loss: float

    @property
    def error(self) -> float:
        """The root mean square of its standard errors."""
        return float(np.sqrt(np.mean(self.variances)))

    @property
    def worst(self) -> float:
        """The largest standard error."""
        return float(np.sqrt(np.max(self.variances)))


_ALIKE = ("krr", "subset", "block_design")  # whose reports tell about all cells alike, and no more by a likelihood
_NOTHING = Judged(np.array([np.nan]), 0.0, np.nan, np.nan, np.nan)


def judged(design: Design, request: Request) -> list[Judged]:
    """Every wanted item: at even shares, or over all populations of the guess, each with its weight."""
    told = _told(design, request)
    return [
        _closed(design, request, one, told) if told and one.is_table else _one(design, request, one)
        for one in request.aims
    ]


def _told(design: Design, request: Request) -> dict[tuple[str, ...], float] | None:
    """What reports tell of every set of attributes, where that is all there is to know: closed forms follow."""
    channels = {question.channel for question in design.questions}
    small = len(design.ballots) == 1 or max(channel.inputs for channel in channels) <= DENSE_CELLS
    if request.guess is not None or design.correlated or not small or any(c.kind not in _ALIKE for c in channels):
        return None
    tables = tuple(one for one in request.aims if one.is_table and set(one.attributes) <= set(design.domain))
    return told_of_sets(Contrasts(design.domain, tables), asked_through(design), design.chances) if tables else None


def _closed(design: Design, request: Request, one: Wanted, told: Mapping[tuple[str, ...], float]) -> Judged:
    """At even shares all cells of a table have the same variance, a sum over the sets inside it."""
    if not set(one.attributes) <= set(design.domain):
        return _NOTHING
    sizes = {name: len(design.domain[name]) for name in design.domain if name in one.attributes}
    cells, sets = prod(sizes.values()), list(subsets(tuple(sizes)))
    if min(told[names] for names in sets) <= 0:
        return _NOTHING
    summed = sum(prod(sizes[name] - 1 for name in names) / told[names] for names in sets) / cells
    together = [set(one.attributes) <= {n for names, _ in ballot for n in names} for ballot in asked_through(design)]
    variances = np.full(cells, summed / cells / request.n)
    reports = float(request.n * design.chances[together].sum())
    return Judged(variances, reports, summed / (1 - 1 / cells), 1.0, one.weight * summed)


def _one(design: Design, request: Request, one: Wanted) -> Judged:
    """One wanted item, from what all reports together say on average."""
    if request.guess is None:
        return _at(design, request, one, None)
    each = [_at(design, request, one, population) for population in request.guess.populations]
    variances, *others = (
        np.average(column, axis=0, weights=request.guess.weights) for column in zip(*each, strict=True)
    )
    reports, cost, gain, loss = map(float, others)
    return Judged(np.asarray(variances), reports, cost, gain, loss)


def _at(design: Design, request: Request, one: Wanted, truth: Population | None) -> Judged:
    names = one.attributes
    try:
        observations = expected_observations(design, truth, request.n, names)
    except (NotCoveredError, UnknownAttributeError):
        return _NOTHING
    if design.correlated:
        return _paired(design, request, one, observations) if one.is_table and len(names) == 1 else _NOTHING
    evidence, population = expected_evidence(design, truth, request.n, names)
    shares = population.project(names).values.ravel()
    rows, own = one.rows(design.domain, shares) / np.sqrt(one.weight), one.own_rows(design.domain, shares)
    if evidence.cells <= DENSE_CELLS:
        both = expected_variances(evidence, population.values, np.concatenate([rows, own]))
        variances = None if both is None else both[: len(rows)]
    elif one.is_table:
        # Too many cells to be pooled: those of the reports that cover the table.
        variances = estimate(observations, names, method="inversion").dispersion.variances.ravel()
        both = np.concatenate([variances, variances])
    else:
        variances = both = None
    if variances is None or both is None:
        return _NOTHING
    centred = rows - (rows @ shares)[:, None]
    direct = float((centred**2 @ shares).mean()) / request.n
    loss = request.n * one.weight * float(np.sum(variances))
    reports = float(sum(o.n for o in observations))
    return Judged(both[len(rows) :], reports, float(np.mean(variances)) / direct, 1.0, loss)


def _paired(design: Design, request: Request, one: Wanted, observations: Sequence[Observation]) -> Judged:
    """The same where coins are shared: the variance gains what pairing adds, and there is no floor."""
    found = estimate(observations, one.attributes, method="inversion")
    shares, plain = found.unbiased.values, found.dispersion.variances
    variances = plain + design.added_variance(one.attributes[0], shares, request.n)
    direct = float((shares * (1 - shares)).mean() / request.n)
    mean = float(variances.mean())
    return Judged(variances, float(found.n), mean / direct, mean / float(plain.mean()), np.nan)

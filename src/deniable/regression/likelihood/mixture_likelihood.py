"""The likelihood: a sum, for each row, over what the hidden predictors could be.

A row's likelihood is  sum over cells c of  exp(l_c),  l_c = log chance_c + sum over factors of log L_f(eta_f). With no
disguised predictor there is one cell. With tau_c the posterior of cell c, s_c and h_c the derivatives of l_c:

    score = sum tau_c s_c,     Hessian = sum tau_c (h_c + s_c s_c') - score score'       (Louis' identity).

Everything runs over blocks of rows, so that the scratch space stays in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.regression.likelihood.responses import Curve, Response

    Array = NDArray[np.float64]
    Place = slice | NDArray[np.intp]

BLOCK = 1 << 12  # rows at a time
_NARROW = 16  # columns of a design whose squares are written out
STEADY = 0.01  # of a report: the weight of each row that keeps shares nobody asked for inside


@dataclass(frozen=True, eq=False)
class Factor(Frozen):
    """One response with its data, one design matrix per equation, and where its coefficients are.

    Attributes:
        response: how rows contribute.
        data: what the response is told of each row (n, anything).
        designs: one matrix (n, q) per equation.
        places: where each equation's coefficients are: a slice of the parameter vector, or places in it.
    """

    response: Response
    data: Array
    designs: tuple[Array, ...]
    places: tuple[Place, ...]

    def eta(self, params: Array, rows: Place) -> Array:
        """The linear predictors of some rows."""
        if len(self.designs) == 1:
            return (self.designs[0][rows] @ params[self.places[0]])[:, None]
        own = [design[rows] @ params[place] for design, place in zip(self.designs, self.places, strict=True)]
        return np.array(own).T

    @cached_property
    def shares_design(self) -> bool:
        """Whether all of several equations have one design, a narrow one: their curvature is then one product."""
        first = self.designs[0]
        return len(self.designs) > 1 and first.shape[1] <= _NARROW and all(d is first for d in self.designs)

    def add_curve(self, hessian: Array, curve: Curve, weight: Array, rows: slice) -> None:
        """Add  sum over rows of weight h_kl x x'  for all equations k and l at once."""
        block = curve.shared(weight, self.designs[0][rows])
        if isinstance(self.places[0], slice) and self._neighbours:
            at: Any = slice(self.places[0].start, self.places[0].start + len(block))
            hessian[at, at] += block
            return
        at = np.concatenate([_numbers(place) for place in self.places])
        hessian[np.ix_(at, at)] += block

    @cached_property
    def _neighbours(self) -> bool:
        """Whether the equations' coefficients follow each other."""
        ends = [(place.start, place.stop) for place in self.places if isinstance(place, slice)]
        return len(ends) == len(self.places) and all(a[1] == b[0] for a, b in pairwise(ends))

    def take(self, rows: NDArray[np.intp]) -> Factor:
        """The same factor for some rows only; equations that share a design still do."""
        taken = {id(design): readonly(design[rows]) for design in self.designs}
        return replace(
            self, data=readonly(self.data[rows]), designs=tuple(taken[id(design)] for design in self.designs)
        )


@dataclass(frozen=True, eq=False)
class Cell(Frozen):
    """One thing the hidden predictors could be: its factors, and log Pr(its reports | this cell)."""

    factors: tuple[Factor, ...]
    log_chance: Array | None = None


@dataclass(frozen=True, eq=False)
class Likelihood(Frozen):
    """A weighted log-likelihood with exact first and second derivatives.

    `steady` are factors of rows that nobody reported, each with a weight of `STEADY`: what no report can tell and what
    would run to a share of zero stays finite, and everything else is moved by far less than its standard error.
    """

    cells: tuple[Cell, ...]
    weights: Array
    size: int
    steady: tuple[Factor, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.weights)

    def take(self, rows: NDArray[np.intp]) -> Likelihood:
        """The likelihood of some rows."""
        cells = tuple(
            Cell(
                tuple(factor.take(rows) for factor in cell.factors),
                None if cell.log_chance is None else cell.log_chance[rows],
            )
            for cell in self.cells
        )
        return replace(self, cells=cells, weights=self.weights[rows])

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """The log-likelihood, its gradient and its Hessian."""
        total, gradient, hessian = 0.0, np.zeros(self.size), np.zeros((self.size, self.size))
        with np.errstate(all="ignore"):  # a step too far gives log 0, and is then taken back
            for rows in self._blocks():
                weight = self.weights[rows]
                logs, scores, curves = self._cells(params, rows)
                if len(logs) == 1:
                    total += float(weight @ logs[0])
                    gradient += weight @ scores[0]
                    self._add_curves(hessian, self.cells[0], curves[0], weight, rows)
                    continue
                row_logs, posterior = _mix(logs)
                total += float(weight @ row_logs)
                for share, curve, cell in zip(posterior, curves, self.cells, strict=True):
                    self._add_curves(hessian, cell, curve, weight * share, rows)
                mean, spread = _moments(posterior, scores, weight)
                gradient += weight @ mean
                hessian += spread
            for factor in self.steady:
                total += self._add_steady(factor, params, gradient, hessian)
        return total, gradient, hessian

    def value(self, params: Array) -> float:
        """The log-likelihood alone."""
        total = 0.0
        with np.errstate(all="ignore"):
            for rows in self._blocks():
                logs = [self._log(cell, params, rows) for cell in self.cells]
                total += float(self.weights[rows] @ (logs[0] if len(logs) == 1 else _mix(logs)[0]))
            for factor in self.steady:
                every = slice(None)
                total += STEADY * float(factor.response.parts(factor.eta(params, every), factor.data)[0].sum())
        return total

    def _log(self, cell: Cell, params: Array, rows: slice) -> Array:
        log = np.zeros(len(self.weights[rows])) if cell.log_chance is None else cell.log_chance[rows].copy()
        for factor in cell.factors:
            log += factor.response.parts(factor.eta(params, rows), factor.data[rows])[0]
        return log

    def _add_steady(self, factor: Factor, params: Array, gradient: Array, hessian: Array) -> float:
        every, weight = slice(None), np.full(len(factor.data), STEADY)
        logs, slope, curve = factor.response.parts(factor.eta(params, every), factor.data)
        for equation, (design, place) in enumerate(zip(factor.designs, factor.places, strict=True)):
            gradient[place] += (weight * slope[:, equation]) @ design
        self._add_curves(hessian, Cell((factor,)), [curve], weight, every)
        return float(weight @ logs)

    def add_steady(self, params: Array, gradient: Array) -> float:
        """The value of what keeps shares inside, its gradient added to another."""
        hessian = np.zeros((self.size, self.size))
        return sum(self._add_steady(factor, params, gradient, hessian) for factor in self.steady)

    def steady_curvature(self, params: Array) -> Array:
        """The Hessian of what keeps shares inside, alone."""
        gradient, hessian = np.zeros(self.size), np.zeros((self.size, self.size))
        for factor in self.steady:
            self._add_steady(factor, params, gradient, hessian)
        return hessian

    def cells_at(self, params: Array) -> tuple[Array, Array]:
        """The probability of every cell (cells, rows), and its derivatives (cells, rows, size); for few rows."""
        logs, scores, _ = self._cells(params, slice(None))
        shares = np.exp(np.stack(logs))
        return shares, shares[:, :, None] * np.stack(scores)

    def posterior(self, params: Array) -> Array:
        """How likely each cell is, given what every row reported: (cells, rows)."""
        with np.errstate(all="ignore"):
            return np.asarray(np.stack(list(_mix(self._cells(params, slice(None))[0])[1])))

    def loglik(self, params: Array) -> float:
        """The log-likelihood of what was reported alone."""
        return replace(self, steady=()).value(params)

    def scores(self, params: Array) -> Array:
        """The weighted gradient of every row (n, size)."""
        found = np.empty((self.rows, self.size))
        for rows in self._blocks():
            logs, scores, _ = self._cells(params, rows)
            _, posterior = _mix(logs)
            found[rows] = sum(share[:, None] * score for share, score in zip(posterior, scores, strict=True))
        return found * self.weights[:, None]

    def reach(self, step: Array) -> float:
        """The largest change that a step makes to any row's linear predictors."""
        farthest = 0.0
        for rows in self._blocks():
            for cell in self.cells:
                for factor in cell.factors:
                    farthest = max(farthest, float(np.abs(factor.eta(step, rows)).max(initial=0.0)))
        return farthest

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, self.rows, BLOCK):
            yield slice(start, start + BLOCK)

    def _cells(self, params: Array, rows: slice) -> tuple[list[Array], list[Array], list[list[Curve]]]:
        """For every cell: l_c (n), s_c (n, size), and the factors' Hessians in eta."""
        logs, scores, curves = [], [], []
        for cell in self.cells:
            log = np.zeros(len(self.weights[rows])) if cell.log_chance is None else cell.log_chance[rows].copy()
            score = np.zeros((len(log), self.size))
            curve = []
            for factor in cell.factors:
                part, slope, second = factor.response.parts(factor.eta(params, rows), factor.data[rows])
                log += part
                for equation, (design, place) in enumerate(zip(factor.designs, factor.places, strict=True)):
                    score[:, place] = slope[:, equation, None] * design[rows]
                curve.append(second)
            logs.append(log)
            scores.append(score)
            curves.append(curve)
        return logs, scores, curves

    @staticmethod
    def _add_curves(hessian: Array, cell: Cell, curves: list[Curve], weight: Array, rows: slice) -> None:
        """Add  sum over rows of weight h_kl x_k x_l'  for every pair of equations of every factor."""
        for factor, curve in zip(cell.factors, curves, strict=True):
            if factor.shares_design:
                factor.add_curve(hessian, curve, weight, rows)
                continue
            for k, (left, at) in enumerate(zip(factor.designs, factor.places, strict=True)):
                for m in range(k, len(factor.designs)):
                    block = curve.summed(weight, left[rows], factor.designs[m][rows], (k, m))
                    to = factor.places[m]
                    hessian[_corner(at, to)] += block
                    if m > k:
                        hessian[_corner(to, at)] += block.T


def _moments(shares: Array, scores: list[Array], weight: Array) -> tuple[Array, Array]:
    """The mean of each row's scores over its cells, and the weighted sum over rows of their covariance.

    Of two cells the covariance is  t_0 t_1 (s_0 - s_1)(s_0 - s_1)'.
    """
    if len(scores) == 2:
        apart = scores[1] - scores[0]
        return scores[0] + shares[1][:, None] * apart, _squares(apart, weight * shares[0] * shares[1])
    mean = sum((share[:, None] * score for share, score in zip(shares, scores, strict=True)), np.zeros(()))
    spread = sum((_squares(s, weight * share) for share, s in zip(shares, scores, strict=True)), np.zeros(()))
    return mean, spread - _squares(mean, weight)


def _squares(rows: Array, weight: Array) -> Array:
    """Sum of  weight x x'  over rows x: of a matrix and itself, which takes half of a product."""
    scaled = np.sqrt(weight)[:, None] * rows
    return np.asarray(scaled.T @ scaled)


def _numbers(place: Place) -> NDArray[np.intp]:
    """Places one by one: what `np.r_` says, without what it does besides."""
    return np.arange(place.start, place.stop) if isinstance(place, slice) else place


def _corner(at: Place, to: Place) -> Any:
    """Where a block of the Hessian is."""
    return (at, to) if isinstance(at, slice) or isinstance(to, slice) else np.ix_(at, to)


def _mix(logs: list[Array]) -> tuple[Array, Array]:
    """Log sum exp over cells, and the posterior share of each cell."""
    stacked = np.array(logs)
    highest = stacked.max(axis=0)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    shares = np.exp(stacked - highest)
    total = shares.sum(axis=0)
    return highest + np.log(total), shares / total

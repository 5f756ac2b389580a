"""The likelihood of many different reports from respondents who differ little in public, cell by cell of the truth.

Respondents with the same public values g share the probabilities p_c(g) of all cells c of the truth (x, y and u of
`heard`), and only their reports' rows r_i differ:

    log L = sum of w_i log lambda_i,    lambda_i = r_i' p,
    q = sum of w_i r_i / lambda_i,      M = sum of w_i r_i r_i' / lambda_i^2      over the respondents of one g.

With s_c and h_c the first two derivatives of log p_c in the parameters,

    gradient = sum over g, c of  q_c p_c s_c,
    Hessian  = sum over g of  s' (diag(q p) - diag(p) M diag(p)) s  +  sum over g, c of  q_c p_c h_c.

It is the same function as `Likelihood`; a respondent costs the square of the cells here, whatever the parameters, and
there the square of the parameters times what the hidden predictors could be. Sets, which come differently from nearly
everybody and let all attributes of their question ride along, have many parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import readonly
from deniable.regression.likelihood.identifiability import complete
from deniable.regression.likelihood.mixture_likelihood import BLOCK, Cell, Likelihood
from deniable.regression.likelihood.responses import Softmax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.regression.likelihood.hidden_predictor import Laid
    from deniable.regression.likelihood.posterior import Heard
    from deniable.regression.likelihood.responses import Curve

    Array = NDArray[np.float64]

_ENTRIES = 1 << 21  # of the derivatives of all cells that are held at a time
_A_GROUP = 100_000  # operations that it takes to begin with another group


@dataclass(frozen=True, eq=False)
class Tabled:
    """The log-likelihood of reports, with exact first and second derivatives.

    Attributes:
        truths: the model of each cell of the truth, at the public values of each group: nothing is hidden in any.
        along: how many cells in a row differ only in what rides along; the last factor of each is theirs.
        chance: Pr(report | cell), a row for each different report of each group, group by group.
        weights: of these rows.
        ends: where each group's rows end.
        size: how many parameters there are.
        beside: the same for no report at all: what keeps shares inside.
    """

    truths: Likelihood
    along: int
    chance: Array
    weights: Array
    ends: NDArray[np.intp]
    size: int
    beside: Likelihood

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What could be, with the model of each."""
        return self.truths.cells

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.weights)

    def reach(self, step: Array) -> float:
        """The largest change that a step makes to any linear predictor."""
        return self.truths.reach(step)

    def loglik(self, params: Array) -> float:
        """The log-likelihood of what was reported alone."""
        return self.value(params) - self.beside.add_steady(params, np.zeros(self.size))

    def value(self, params: Array) -> float:
        """The log-likelihood without its derivatives: a respondent costs as much as there are cells."""
        total = self.beside.add_steady(params, np.zeros(self.size))
        with np.errstate(all="ignore"):
            shares = self._shares(params)
            for number, rows in self._pieces(0, len(self.ends)):
                total += float(self.weights[rows] @ np.log(self.chance[rows] @ shares[number]))
        return total

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """The log-likelihood, its gradient and its Hessian."""
        total, gradient, hessian = self.beside.evaluate(params)
        at_once = max(1, _ENTRIES // (self.chance.shape[1] * self.size))
        with np.errstate(all="ignore"):  # a step too far gives log 0, and is then taken back
            for first in range(0, len(self.ends), at_once):
                groups = slice(first, first + at_once)
                shares, scores, curves = self._cells(params, groups)
                value, pull, bend = self._reports(shares, first)
                total += value
                held = pull * shares  # (groups, cells)
                gradient += held.ravel() @ scores.reshape(-1, self.size)
                inside = -bend * shares[:, :, None] * shares[:, None, :]
                every = np.arange(shares.shape[1])
                inside[:, every, every] += held
                moved = (inside @ scores).reshape(-1, self.size)
                hessian += scores.reshape(-1, self.size).T @ moved
                for number, (cell, curve) in enumerate(curves):
                    weight = held[:, number * self.along : (number + 1) * self.along].sum(axis=1)
                    Likelihood._add_curves(hessian, cell, curve, weight, groups)
        return total, gradient, (hessian + hessian.T) / 2

    def _reports(self, shares: Array, first: int) -> tuple[float, Array, Array]:
        """The log-likelihood of some groups' reports, q and M."""
        total, cells = 0.0, shares.shape[1]
        pull, bend = np.zeros(shares.shape), np.zeros((len(shares), cells, cells))
        for number, rows in self._pieces(first, len(shares)):
            chance, weight = self.chance[rows], self.weights[rows]
            lam = chance @ shares[number]
            total += float(weight @ np.log(lam))
            pull[number] += (weight / lam) @ chance
            scaled = chance * (np.sqrt(weight) / lam)[:, None]
            bend[number] += scaled.T @ scaled
        return total, pull, bend

    def _pieces(self, first: int, count: int) -> Iterator[tuple[int, slice]]:
        """Rows of some groups, so many at a time that they stay in the cache: which group's, and where."""
        ends = [0, *self.ends.tolist()]
        for number in range(count):
            for start in range(ends[first + number], ends[first + number + 1], BLOCK):
                yield number, slice(start, min(start + BLOCK, ends[first + number + 1]))

    def _shares(self, params: Array) -> Array:
        """The shares p alone, (groups, cells)."""
        logs = np.zeros((len(self.ends), len(self.truths.cells) * self.along))
        for number, cell in enumerate(self.truths.cells):
            here, every = slice(number * self.along, (number + 1) * self.along), slice(None)
            for factor in cell.factors:
                eta = factor.eta(params, every)
                if self.along > 1 and factor is cell.factors[-1]:
                    logs[:, here] += _log_shares(eta)
                else:
                    logs[:, here] += factor.response.parts(eta, factor.data)[0][:, None]
        return np.exp(logs)

    def _cells(self, params: Array, groups: slice) -> tuple[Array, Array, list[tuple[Cell, list[Curve]]]]:
        """Shares p (groups, cells), the derivatives of log p (groups, cells, size), and h of cells that share one.

        Cells that differ in what rides along alone have one Hessian, -(diag(pi) - pi pi') in the shares of that.
        """
        count = len(self.ends[groups])
        logs = np.zeros((count, len(self.truths.cells) * self.along))
        scores = np.zeros((*logs.shape, self.size))
        curves = []
        for number, cell in enumerate(self.truths.cells):
            here = slice(number * self.along, (number + 1) * self.along)
            found = []
            for factor in cell.factors:
                eta = factor.eta(params, groups)
                if self.along > 1 and factor is cell.factors[-1]:
                    assert isinstance(factor.response, Softmax)
                    log, slope, second = _of_each(factor.response, eta)
                else:
                    part, steep, second = factor.response.parts(eta, factor.data[groups])
                    log, slope = part[:, None], steep[:, None]
                logs[:, here] += log
                for equation, (design, place) in enumerate(zip(factor.designs, factor.places, strict=True)):
                    scores[:, here, place] += slope[:, :, equation, None] * design[groups][:, None]
                found.append(second)
            curves.append((cell, found))
        return np.exp(logs), scores, curves


def _of_each(response: Softmax, eta: Array) -> tuple[Array, Array, Curve]:
    """Log pi_u (rows, u), its slopes (rows, u, equations), and the Hessian that they share."""
    _, slope, second = response.parts(eta, np.eye(response.categories)[:1] * np.ones((len(eta), 1)))
    prior = -slope  # the reference category has none of its own
    return _log_shares(eta), np.eye(response.categories)[None, :, 1:] - prior[:, None], second


def _log_shares(eta: Array) -> Array:
    full = np.concatenate([np.zeros((len(eta), 1)), eta], axis=1)
    highest = full.max(axis=1, keepdims=True)
    return np.asarray(full - highest - np.log(np.exp(full - highest).sum(axis=1, keepdims=True)))


def tabled(laid: Laid, heard: Heard, likelihood: Likelihood, place: NDArray[np.intp]) -> Tabled | None:
    """The likelihood over the cells of the truth, where that is far less work; None where it is not.

    Args:
        laid: the model.
        heard: what reports say.
        likelihood: the same, respondent by respondent.
        place: for every respondent, a number that those share who are the same in public.
    """
    groups, first, group = np.unique(place, return_index=True, return_inverse=True)
    cells, size = prod(heard.chance.shape[1:]), likelihood.size
    same = group.ravel().astype(np.int64) * (int(heard.alike.max(initial=0)) + 1) + heard.alike
    _, kept, row = np.unique(same, return_index=True, return_inverse=True)
    here = len(kept) * cells**2 + len(groups) * (cells * size * (cells + size) + _A_GROUP)
    if here > len(kept) * (len(likelihood.cells) + 1) * size**2 / 2:
        return None
    riding = heard.chance.shape[3] if heard.riding else 1
    truths = (
        tuple(Cell(tuple(factor.take(first) for factor in cell.factors)) for cell in laid.cells)
        if heard.riding
        else complete(laid, heard, first)
    )
    weights = np.bincount(row.ravel(), likelihood.weights, len(kept)).astype(np.float64)
    ends = np.searchsorted(group.ravel()[kept], np.arange(len(groups)), side="right")
    nobody: Array = np.zeros(0)
    beside = Likelihood((), nobody, size, likelihood.steady)
    return Tabled(
        Likelihood(truths, readonly(np.ones(len(groups))), size),
        riding,
        readonly(heard.chance.reshape(len(heard.rows), cells)[kept]),
        readonly(weights),
        ends,
        size,
        beside,
    )

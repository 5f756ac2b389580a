"""Where to start on reports: everybody's truth filled in by what the reports say, and the model fitted to that.

With the table of x, y and u that the reports make likeliest (see `Heard.table`), a respondent's truth is in cell c with
probability  tau_ic = table_c Pr(report_i | c) / sum.  The start maximises  sum of tau_ic log f_c  over some of the
respondents: one step of EM from the table, concave and soon done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import ConvergenceError
from deniable.regression.likelihood.identifiability import complete
from deniable.regression.likelihood.maximize import ascend
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.regression.likelihood.hidden_predictor import Laid
    from deniable.regression.likelihood.posterior import Heard

    Array = NDArray[np.float64]

_ROWS = 1000


@dataclass(frozen=True)
class Completed:
    """The log-likelihood of all cells, each with its share in every row."""

    likelihood: Likelihood
    shares: Array  # (cells, rows)

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Value, gradient, Hessian."""
        size = self.likelihood.size
        total, gradient, hessian = 0.0, np.zeros(size), np.zeros((size, size))
        with np.errstate(all="ignore"):  # a step too far gives log 0, and is then taken back
            for cell, share in zip(self.likelihood.cells, self.shares, strict=True):
                for factor in cell.factors:
                    total += _add(factor, share, params, gradient, hessian)
        return total, gradient, hessian

    def reach(self, step: Array) -> float:
        """The largest change of any linear predictor."""
        return self.likelihood.reach(step)


def _add(factor: Factor, weight: Array, params: Array, gradient: Array, hessian: Array) -> float:
    """Add one factor's weighted rows."""
    every = slice(None)
    logs, slopes, curves = factor.response.parts(factor.eta(params, every), factor.data)
    for equation, (design, place) in enumerate(zip(factor.designs, factor.places, strict=True)):
        gradient[place] += (weight * slopes[:, equation]) @ design
    Likelihood._add_curves(hessian, Cell((factor,)), [curves], weight, every)
    return float(weight @ logs)


def completed_start(laid: Laid, heard: Heard, weights: Array) -> Array:
    """The start; no relation at all where it cannot be found."""
    every = np.arange(len(heard.rows))
    rows = every if len(every) <= _ROWS else np.sort(np.random.default_rng(0).choice(every, _ROWS, replace=False))
    tau = heard.chance[rows] * heard.table
    size = len(laid.labels) - laid.riding
    if heard.riding:  # y is known in every cell; the shares of what rides along are the table's
        cells = tuple(Cell(tuple(factor.take(rows) for factor in cell.factors[:-1])) for cell in laid.cells)
        tau = tau.sum(axis=3)
    else:
        cells = complete(laid, heard, rows)
    tau = tau.reshape(len(rows), -1).T
    shares = tau / np.maximum(tau.sum(axis=0), 1e-300) * weights[rows]
    try:
        end = ascend(Completed(Likelihood(cells, weights[rows], size), shares), np.zeros(size))
    except ConvergenceError:
        return laid.start
    return laid.start if end.diverged else np.append(end.params, laid.start[size:])

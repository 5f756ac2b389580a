"""Jeffreys' prior as a penalty: estimates that exist whatever the reports.

The log-likelihood gains  log det I(beta) / 2,  I the information that reports (not truths) carry on average. Where
coefficients run to infinity the information vanishes, so the penalised likelihood has its maximum at a finite place
for every full-rank design. With a direct question and a logit link this is Firth's regression (1993); through a
channel the same prior is taken for the disguised outcome.

Reference:
    D. Firth (1993), Bias reduction of maximum likelihood estimates, Biometrika 80(1), 27-38.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from deniable.regression.likelihood.mixture_likelihood import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.regression.formula import Design
    from deniable.regression.likelihood.disguised_outcome import Disguised
    from deniable.regression.likelihood.mixture_likelihood import Factor, Likelihood
    from deniable.regression.likelihood.responses import Categorical

    Array = NDArray[np.float64]


_FEW = 30  # people with, or without, the outcome in a group: below that Wald's intervals are rough


def few_events(design: Design, shares: Array) -> tuple[str, ...]:
    """What to say where a group of the rows has few with the outcome, or without it; groups are columns of 0 and 1."""
    told = []
    for term, column in zip(design.terms, design.matrix.T, strict=True):
        if not np.isin(column, (0, 1)).all():
            continue
        expected = min(float(column @ shares), float(column @ (1 - shares)))
        if expected < _FEW:
            whom = "the rows" if term == "Intercept" else f"those with {term}"
            told.append(f"{whom} some {expected:.0f}")
    if not told:
        return ()
    note = (
        f"Few events: of {', of '.join(told)} have one of the two outcomes. The penalty keeps estimates finite; their "
        f"intervals are rough."
    )
    return (note,)


@dataclass(frozen=True)
class Jeffreys:
    """A likelihood with the penalty added.

    The penalty's slope is exact; its curvature, which only steers the steps, is differenced from the slope.
    """

    likelihood: Likelihood
    outcome: Disguised

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return self.likelihood.size

    @property
    def _factor(self) -> Factor:
        return self.likelihood.cells[0].factors[0]

    def reach(self, step: Array) -> float:
        """As the likelihood's."""
        return self.likelihood.reach(step)

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Penalised log-likelihood, gradient and Hessian."""
        value, gradient, hessian = self.likelihood.evaluate(params)
        information = self.information(params)
        sign, logdet = np.linalg.slogdet(information)
        if sign <= 0 or not np.isfinite(logdet):
            return -np.inf, gradient, hessian
        widths = 1e-4 / np.sqrt(np.maximum(np.diagonal(information), 1e-12))
        curvature = np.empty_like(hessian)
        for place, width in enumerate(widths):
            change = np.zeros(self.size)
            change[place] = width
            curvature[place] = (self._slope(params + change) - self._slope(params - change)) / (2 * width)
        return float(value + logdet / 2), gradient + self._slope(params), hessian + (curvature + curvature.T) / 2

    def information(self, params: Array) -> Array:
        """I = sum over rows and reports u of  w (d lambda_u)(d lambda_u)' / lambda_u."""
        factor, size = self._factor, self.size
        total = np.zeros((size, size))
        for rows, weight, matrix in self._blocks():
            lam, first, _ = self._reports(params, rows, matrix)
            inner = np.einsum("iuk,ium->ikm", first / lam[:, :, None], first)
            for k, at in enumerate(factor.places):
                for m, to in enumerate(factor.places):
                    left, right = factor.designs[k][rows], factor.designs[m][rows]
                    total[at, to] += left.T @ ((weight * inner[:, k, m])[:, None] * right)
        return total

    def _slope(self, params: Array) -> Array:
        """The gradient of log det I / 2  =  sum over rows of  tr(x' I^-1 x  dB) w / 2, B the row's information."""
        factor, slope = self._factor, np.zeros(self.size)
        inverse = np.linalg.inv(self.information(params))
        for rows, weight, matrix in self._blocks():
            lam, first, second = self._reports(params, rows, matrix)
            leverage = np.empty((len(weight), len(factor.places), len(factor.places)))
            for k, at in enumerate(factor.places):
                for m, to in enumerate(factor.places):
                    leverage[:, k, m] = np.einsum(
                        "ij,jl,il->i", factor.designs[k][rows], inverse[at, to], factor.designs[m][rows]
                    )
            # B_km = sum_u J_uk J_um / lam_u;  dB_km / d eta_j needs d J_uk / d eta_j = second, and d lam_u = J_uj.
            ratio = first / lam[:, :, None]
            change = np.einsum("ikm,iukj,ium->ij", leverage, second, ratio)
            change -= np.einsum("ikm,iuk,ium,iuj->ij", leverage, ratio, ratio, first) / 2
            for j, at in enumerate(factor.places):
                slope[at] += (weight * change[:, j]) @ factor.designs[j][rows]
        return slope

    def _reports(self, params: Array, rows: NDArray[np.intp], matrix: Array) -> tuple[Array, Array, Array]:
        """Lambda = P pi (n, U) with its derivatives in eta."""
        factor = self._factor
        eta = np.stack([d[rows] @ params[p] for d, p in zip(factor.designs, factor.places, strict=True)], axis=1)
        pi, first, second = cast("Categorical", factor.response).shares(eta)
        possible = matrix[matrix.max(axis=1) > 0]  # a report that never occurs carries no information
        lam = np.maximum(pi @ possible.T, 1e-300)
        return lam, np.einsum("uv,ivk->iuk", possible, first), np.einsum("uv,ivkj->iukj", possible, second)

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        for place, matrix in enumerate(self.outcome.matrices):
            members = np.flatnonzero(self.outcome.design == place)
            for start in range(0, len(members), BLOCK):
                rows = members[start : start + BLOCK]
                yield rows, self.likelihood.weights[rows], matrix

"""The likelihood of disguised yes-or-no answers whose groups share an unseen shift, the shift integrated out.

Group g shares a shift s b_g of the linear predictor, b_g normal with variance 1:

    L_g = integral of  prod over its rows of  R_i(b)  phi(b)  db,
    R_i(b) = sum over cells c of  a_ic Pr(report_i | c, x_ic'beta + s b).

Cells are what the hidden predictors (and attributes that ride along) could be, a_ic what else the model says of them;
without any there is one cell. The integral is taken by adaptive Gauss-Hermite quadrature: nodes are placed around each
group's mode m_g with its curvature's width w_g, so that a dozen of them do. Derivatives: by Fisher's identity, the
gradient is the posterior mean of the complete data's; the Hessian is its difference quotient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from deniable.frozen import readonly
from deniable.inference.regression.responses import Binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.inference.regression.likelihood import Likelihood
    from deniable.inference.regression.links import Link

    Array = NDArray[np.float64]

NODES = 25
_MODE_STEPS = 60  # to each group's mode; half a dozen are usual
_COMPARED = 1 << 24  # numbers up to which rows are compared, so that those that are alike are one


class Integrated(NamedTuple):
    """The integrals of all groups: their nodes, the posterior mass of each, and what rows are there.

    Attributes:
        b: the nodes, a row a group.
        mass: of each node given the group's reports; a row sums to one.
        value: the log-likelihood.
        moved: of every row at every node d log R / d eta_c, by cell.
        shares: each cell's share of R.
        slopes: of the cells' other factors.
    """

    b: Array
    mass: Array
    value: float
    moved: list[Array]
    shares: list[Array]
    slopes: list[list[Array]]


@dataclass(frozen=True)
class Marginal:
    """The log-likelihood of all parameters and log s, the random intercept integrated out.

    Attributes:
        likelihood: that of the rows, without groups; the first factor of every cell is the outcome's.
        groups: each row's group, numbered from 0.
        nodes: of the quadrature, per group.
    """

    likelihood: Likelihood
    groups: NDArray[np.intp]
    nodes: int = NODES

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @property
    def link(self) -> Link:
        """The outcome's link."""
        response = self.likelihood.cells[0].factors[0].response
        assert isinstance(response, Binary)
        return response.link

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        return special.roots_hermite(self.nodes)

    def integrate(self, params: Array) -> Integrated:
        """Take every group's integral at the parameters."""
        weights, scale = self.likelihood.weights, float(np.exp(params[-1]))
        prior, slopes, level = self._cells(params[:-1])
        etas = [cell.factors[0].eta(params, slice(None))[:, 0] for cell in self.likelihood.cells]
        mode, width = self._modes(prior, etas, scale)
        points, mass = self._points
        # b = m + sqrt(2) w t turns the integral of h(b) into  sqrt(2) w sum of weights e^(t^2) h(b).
        b = mode[:, None] + np.sqrt(2) * width[:, None] * points
        logs, moved, shares, _ = self._rows(prior, etas, scale * b[self.groups])
        inner = self._sum(weights[:, None] * logs) - b**2 / 2 - np.log(2 * np.pi) / 2 + points**2 + np.log(mass)
        highest = inner.max(axis=1, keepdims=True)
        parts = np.exp(inner - highest)
        total = parts.sum(axis=1)
        value = float((highest[:, 0] + np.log(total) + np.log(np.sqrt(2) * width)).sum() + weights @ level)
        return Integrated(b, parts / total[:, None], value, moved, shares, slopes)

    def value(self, params: Array) -> tuple[float, Array]:
        """The log-likelihood and its gradient."""
        weights, scale = self.likelihood.weights, float(np.exp(params[-1]))
        at = self.integrate(params)
        b, value = at.b, at.value
        posterior = weights[:, None] * at.mass[self.groups]
        gradient = np.zeros(len(params))
        for cell, eta_slope, share, slope in zip(self.likelihood.cells, at.moved, at.shares, at.slopes, strict=True):
            pulled = posterior * eta_slope
            factor = cell.factors[0]
            gradient[factor.places[0]] += pulled.sum(axis=1) @ factor.designs[0]
            gradient[-1] += (pulled * b[self.groups]).sum() * scale
            held = (posterior * share).sum(axis=1)
            for other, steep in zip(cell.factors[1:], slope, strict=True):
                for equation, (design, place) in enumerate(zip(other.designs, other.places, strict=True)):
                    gradient[place] += (held * steep[:, equation]) @ design
        value += self.likelihood.add_steady(params[:-1], gradient[:-1])
        return value, gradient

    def _cells(self, params: Array) -> tuple[list[Array], list[list[Array]], Array]:
        """a_ic over its largest in the row, the slopes of its factors, and the logarithm of that largest."""
        logs, slopes = [], []
        for cell in self.likelihood.cells:
            log = np.zeros(self.likelihood.rows) if cell.log_chance is None else cell.log_chance.copy()
            own = []
            for factor in cell.factors[1:]:
                part, slope, _ = factor.response.parts(factor.eta(params, slice(None)), factor.data)
                log += part
                own.append(slope)
            logs.append(log)
            slopes.append(own)
        highest = np.max(logs, axis=0)
        return [np.exp(log - highest) for log in logs], slopes, highest

    def _rows(
        self, prior: Sequence[Array], etas: Sequence[Array], shift: Array
    ) -> tuple[Array, list[Array], list[Array], Array]:
        """Of every row at every node: log R, d log R / d eta_c, each cell's share of R, and the second derivative."""
        chance, bend = np.zeros(shift.shape), np.zeros(shift.shape)
        moved, shares = [], []
        for cell, a, eta in zip(self.likelihood.cells, prior, etas, strict=True):
            low, high, density, slope = self.link.parts(eta[:, None] + shift)
            r0, r1 = a[:, None] * cell.factors[0].data[:, :1], a[:, None] * cell.factors[0].data[:, 1:]
            shares.append(r0 * low + r1 * high)
            moved.append((r1 - r0) * density)
            chance += shares[-1]
            bend += (r1 - r0) * slope
        chance = np.maximum(chance, 1e-300)
        moved = [each / chance for each in moved]
        return np.log(chance), moved, [share / chance for share in shares], bend / chance - sum(moved) ** 2

    def _sum(self, rows: Array) -> Array:
        """Add rows up within groups."""
        return np.stack([np.bincount(self.groups, column, self.count) for column in rows.T], axis=1)

    def _modes(self, prior: Sequence[Array], etas: Sequence[Array], scale: float) -> tuple[Array, Array]:
        """Where each group's integrand is highest, and how wide it is there (never wider than the prior)."""
        b, step, weights = np.zeros(self.count), np.zeros(self.count), self.likelihood.weights
        height, curve = np.full(self.count, -np.inf), np.ones(self.count)
        for _ in range(_MODE_STEPS):
            logs, moved, _, second = self._rows(prior, etas, (scale * (b + step)[self.groups])[:, None])
            there = self._sum(weights[:, None] * logs)[:, 0] - (b + step) ** 2 / 2
            # Where reports leave the integrand's flanks flat a step can lead down, and back, without end: it is halved.
            rises = there >= height - 1e-12 * np.abs(height)
            b, height = np.where(rises, b + step, b), np.where(rises, there, height)
            slope = scale * self._sum(weights[:, None] * sum(moved))[:, 0] - b
            # The prior alone has curvature 1, which is the least that is divided by.
            bend = np.maximum(1 - scale**2 * self._sum(weights[:, None] * second)[:, 0], 1.0)
            curve = np.where(rises, bend, curve)
            step = np.where(rises, np.clip(slope / bend, -2, 2), step / 2)
            if np.abs(step).max() < 1e-8:
                break
        return b, 1 / np.sqrt(curve)

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian."""
        value, gradient = self.value(params)
        hessian = np.empty((len(params), len(params)))
        for place in range(len(params)):
            change = np.zeros(len(params))
            change[place] = 1e-5
            hessian[place] = (self.value(params + change)[1] - self.value(params - change)[1]) / 2e-5
        return value, gradient, (hessian + hessian.T) / 2

    def compact(self) -> Marginal:
        """The same with rows of a group that are alike put together."""
        arrays = {id(self.groups): self.groups[:, None].astype(np.float64)}
        for cell in self.likelihood.cells:
            if cell.log_chance is not None:
                arrays[id(cell.log_chance)] = cell.log_chance[:, None]
            for factor in cell.factors:
                arrays |= {id(array): array for array in (factor.data, *factor.designs)}
        if sum(array.size for array in arrays.values()) > _COMPARED:
            return self
        whole = np.ascontiguousarray(np.concatenate(list(arrays.values()), axis=1))
        rows = whole.view(f"V{whole.itemsize * whole.shape[1]}").ravel()
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        weights = np.bincount(place.ravel(), self.likelihood.weights).astype(np.float64)
        taken = replace(self.likelihood.take(first), weights=readonly(weights))
        return replace(self, likelihood=taken, groups=self.groups[first])
